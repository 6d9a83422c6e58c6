/** What a client does with messages that are larger than its memory: a lower cap, streams, and opening in place. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { raisesLocal } from '../raises.ts';
import { newClient, readyPair, types } from './pair.ts';

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

test('opens messages in the arrays that they came in, where it is told to', () => {
  const inPlace = { crypto: nobleCrypto, inPlace: true };
  for (const options of [inPlace, { ...inPlace, streams: true }]) {
    const pair = readyPair({ client: options });
    const [sealed] = pair.hub.sendBinary(new Uint8Array([1, 2, 3]));
    const [event] = pair.client.receive(sealed!);
    assert.ok(event?.type === 'message' || event?.type === 'chunk');
    assert.ok('bytes' in event && event.bytes.buffer === sealed!.buffer);
    assert.equal([...event.bytes], [1, 2, 3]);
  }
});

test('leaves the arrays that messages come in as they were, unless it is told otherwise', () => {
  const pair = readyPair({ client: { crypto: nobleCrypto } });
  const [sealed] = pair.hub.sendBinary(new Uint8Array(100));
  const before = new Uint8Array(sealed!);
  assert.equal(types(pair.client.receive(sealed!)), ['message']);
  assert.equal(sealed, before);
});

test('puts a message of many chunks together that were opened in place', () => {
  const pair = readyPair({ client: { crypto: nobleCrypto, inPlace: true } });
  const bytes = new Uint8Array(150_000).map((_, i) => i % 251);
  assert.equal(pair.toClient(pair.hub.sendBinary(bytes)), [{ type: 'message', kind: 'binary', bytes }]);
});

test('knows cleartext that comes as bytes also where it opens in place', () => {
  const pair = readyPair({ client: { crypto: nobleCrypto, inPlace: true } });
  const [close] = pair.client.receive(Buffer.from('{"msg_type":"hello","payload":{"node_id":"hub-1"}}'));
  assert.is(close?.type === 'close' && close.error.code, 'text-after-ready');
});

test('refuses a cap and choices of streaming and place that are none', () => {
  raisesLocal(() => newClient({ maxMessage: -1 }), 'bad-argument');
  raisesLocal(() => newClient({ streams: 'yes' as unknown as boolean }), 'bad-argument');
  raisesLocal(() => newClient({ inPlace: 1 as unknown as boolean }), 'bad-argument');
});

test.run();
