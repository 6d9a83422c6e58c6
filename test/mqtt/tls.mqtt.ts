/** The effective URL decides about TLS: the broker's password never travels in the clear. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closeAll, startHub } from './broker.ts';
import { Kiosk } from './kiosk.ts';
import { Wire } from './wire.ts';

const test = suite('TLS to the broker');
test.after.each(closeAll);
const TLS_RECORD = 0x16;

for (const [scheme, tls] of [
  ['mqtts', undefined],
  ['mqtts', false],
  ['mqtt', true],
  ['ssl', undefined],
] as const) {
  test(`connects to ${scheme}:// with tls ${tls} over TLS only`, async () => {
    const kiosk = new Kiosk();
    await startHub([kiosk.name]);
    const wire = await Wire.open();
    const identity = kiosk.identity({ endpoint: `${scheme}://localhost:${wire.port}`, tls });
    await kiosk.connect({ identity });
    assert.equal(wire.began, [TLS_RECORD]);
  });
}

test.run();
