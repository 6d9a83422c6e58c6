/** What a client does with messages that are larger than its memory: a lower cap, and streams. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newClient, readyPair, types } from './pair.ts';
import { raisesLocal } from './raises.ts';

test('drops a message that is longer than its cap, and goes on', () => {
  const pair = readyPair({ client: { maxMessage: 1000 } });
  const dropped = { type: 'dropped', kind: 'binary', bytes: 1001, reason: 'too-large' };
  assert.equal(pair.toClient(pair.hub.sendBinary(new Uint8Array(1001))), [dropped]);
  assert.equal(types(pair.toClient(pair.hub.sendBinary(new Uint8Array(1000)))), ['message']);
});

test('hands over what it gets in parts, where it streams', () => {
  const pair = readyPair({ client: { streams: true } });
  const events = pair.toClient(pair.hub.sendBinary(new Uint8Array(150_000)));
  assert.equal(
    events.map((event) => event.type === 'chunk' && [event.kind, event.bytes.length, event.last]),
    [
      ['binary', 65000, false],
      ['binary', 65000, false],
      ['binary', 20000, true],
    ],
  );
  const [text] = pair.toClient(pair.hub.sendJson({ a: 1 }));
  assert.ok(text?.type === 'chunk' && text.kind === 'json' && text.last);
  assert.is(Buffer.from(text.bytes).toString(), '{"a":1}');
});

test('refuses a cap and a choice of streaming that are none', () => {
  raisesLocal(() => newClient({ maxMessage: -1 }), 'bad-argument');
  raisesLocal(() => newClient({ streams: 'yes' as unknown as boolean }), 'bad-argument');
});

test.run();
