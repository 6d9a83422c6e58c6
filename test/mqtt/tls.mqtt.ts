/** The effective URL decides about TLS: the broker's password never travels in the clear. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalError } from 'hub-protocol';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
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

for (const [scheme, tls, code] of [
  ['tcp', true, 'bad-endpoint'],
  ['tcp', false, 'bad-endpoint'],
  ['http', true, 'bad-endpoint'],
  ['mqtt', false, 'plaintext-endpoint'],
  ['ws', false, 'plaintext-endpoint'],
] as const) {
  test(`refuses ${scheme}:// with tls ${tls} before it connects`, async () => {
    const kiosk = new Kiosk();
    const wire = await Wire.open();
    const identity = kiosk.identity({ endpoint: `${scheme}://localhost:${wire.port}`, tls });
    let caught: unknown;
    try {
      kiosk.dial({ identity });
    } catch (error) {
      caught = error;
    }
    assert.instance(caught, Error);
    assert.is((caught as LocalError).code, code);
    await sleep(50);
    assert.equal(wire.began, []);
  });
}

test('sends nothing to a broker whose certificate is not trusted', async () => {
  const kiosk = new Kiosk();
  const { ca } = await localhostCertificate();
  const client = kiosk.dial({ socket: { ca } });
  const { reason, error } = await client.ended;
  assert.equal([reason, error.code], ['dropped', 'certificate-refused']);
  assert.equal(
    kiosk.seen.map(({ type }) => type),
    ['ended'],
  );
});

test.run();
