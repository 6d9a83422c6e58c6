import { deflateSync, inflateSync } from 'node:zlib';

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { binaryReader, encodeBinary, type Inflate } from '../../src/binary.ts';
import type { DeliveredEvent } from '../../src/wire/frame-joiner.ts';
import { find, Pair } from '../world/pair.ts';
import { raisesAbout, raisesLocal } from '../world/raises.ts';

const inflate: Inflate = (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength });
const readBinary = binaryReader({ inflate });
const SPEAK = { type: 'speak', data: { utterance: 'hello' }, context: {} };

/** Has the hub of a pair send bytes, and returns what the client makes of them. */
function received(bytes: Uint8Array, options: object): unknown[] {
  const pair = new Pair({ client: options }).run();
  return pair.hub.sendBinary(bytes).flatMap((data) => pair.client.receive(data));
}

test('a session delivers an envelope in binary form as JSON', () => {
  const bytes = encodeBinary({ msg_type: 'bus', payload: SPEAK });
  const [event] = received(bytes, { binarize: true, readBinary }) as [DeliveredEvent];
  assert.ok(event.kind === 'json');
  const { text, ...others } = event;
  assert.equal(others, { type: 'message', kind: 'json' });
  assert.equal(JSON.parse(text), { msg_type: 'bus', payload: SPEAK });
});

test('a session delivers a compressed envelope with its metadata as JSON', () => {
  const parts = ['{"query_id":"q1"}', JSON.stringify(SPEAK)].map((text) => deflateSync(text));
  const bytes = Uint8Array.from([0x83, parts[0]!.length, ...parts[0]!, ...parts[1]!]);
  const [event] = received(bytes, { readBinary }) as [DeliveredEvent];
  assert.ok(event.kind === 'json');
  assert.equal(JSON.parse(event.text), { msg_type: 'bus', metadata: { query_id: 'q1' }, payload: SPEAK });
});

test('a session delivers a payload of bytes with its type and its metadata', () => {
  const message = { msg_type: 'bin', bin_type: 'tts_audio', metadata: { lang: 'en' } } as const;
  assert.equal(received(encodeBinary({ ...message, payload: Uint8Array.of(1, 2, 3) }), { readBinary }), [
    {
      type: 'message',
      kind: 'binary',
      bytes: Uint8Array.of(1, 2, 3),
      bin_type: 'tts_audio',
      metadata: { lang: 'en' },
    },
  ]);
});

test('a hub reads binary messages, too', () => {
  const pair = new Pair({ hub: { readBinary } }).run();
  const [data] = pair.client.sendBinary(
    encodeBinary({ msg_type: 'bin', bin_type: 'raw_audio', payload: Uint8Array.of(9) }),
  );
  const [event] = pair.hub.receive(data!) as [DeliveredEvent];
  assert.ok(event.kind === 'binary');
  assert.is(event.bin_type, 'raw_audio');
});

test('a session drops unreadable messages, reports the reason, and goes on', () => {
  const bytes = deflateSync('no message');
  bytes[0] = 0;
  const [event] = received(bytes, { readBinary }) as [{ error: { code: string } }];
  assert.equal(
    { ...event, error: event.error.code },
    {
      type: 'dropped',
      kind: 'binary',
      bytes: bytes.length,
      reason: 'unreadable',
      error: 'bad-binary-message',
    },
  );
  assert.is(received(Uint8Array.of(0x83, 0), { readBinary: binaryReader() }).length, 1);
});

test('without a reader, a session delivers the message unchanged', () => {
  const bytes = encodeBinary({ msg_type: 'bus', payload: SPEAK });
  assert.equal(received(bytes, {}), [{ type: 'message', kind: 'binary', bytes }]);
});

test('a session that asks for binary messages needs a reader', () => {
  raisesAbout('readBinary', () => new Pair({ client: { binarize: true } }));
});

test('an inflate that returns no bytes ends the session as the fault of this side', () => {
  const reader = binaryReader({ inflate: (() => 'text') as never });
  const pair = new Pair({ client: { readBinary: reader } }).run();
  const stream = deflateSync('{}');
  const [data] = pair.hub.sendBinary(Uint8Array.from([0x83, stream.length, ...stream, ...stream]));
  assert.is(find(pair.client.receive(data!), 'close').error.code, 'bad-argument');
});

test('binaryReader() checks its options', () => {
  raisesLocal(() => binaryReader({ inflate: 'zlib' as never }), 'bad-argument');
  raisesLocal(() => binaryReader({ maxInflated: -1 }), 'bad-argument');
});

test('ready carries the hub’s name for the client, and whether the hub offers binary messages', () => {
  const ready = (hub: object): object => find(new Pair({ hub }).run().clientEvents, 'ready');
  const named = ready({ hello: { peer: 'kiosk-7::1' }, handshake: { binarize: true } }) as {
    peer: string;
    binarize: boolean;
  };
  assert.equal([named.peer, named.binarize], ['kiosk-7::1', true]);
  const bare = ready({ hello: { peer: 7 } }) as { peer: undefined; binarize: boolean };
  assert.equal([bare.peer, bare.binarize], [undefined, false]);
});

test.run();
