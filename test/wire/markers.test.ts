import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { MessageKind } from '../../src/wire/markers.ts';
import { countFrames, frameAt, splitMessage } from '../../src/wire/markers.ts';
import { fc } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';

/** Bytes that repeat every 251, of which 65000 is not a multiple: no two chunks are alike. */
function payloadOf(length: number): Buffer {
  const payload = Buffer.alloc(length);
  for (let i = 0; i < length; i++) payload[i] = i % 251;
  return payload;
}

/** Payload length, and the markers of its frames. What splitMessage() makes of them is in vectors/framing.json. */
const CUTS: [number, string][] = [
  [0, '00'],
  [65000, '00'],
  [65001, '0205'],
  [130000, '0205'],
  [195001, '02040405'],
];

test('creates the same frames one at a time', () => {
  for (const [length, markers] of CUTS) {
    const payload = payloadOf(length);
    assert.is(countFrames(length), markers.length / 2);
    Buffer.from(markers, 'hex').forEach((marker, index) => {
      const expected = Buffer.from([marker, ...payload.subarray(index * 65000, index * 65000 + 65000)]);
      assert.is(Buffer.compare(frameAt('json', payload, index), expected), 0);
    });
  }
});

test('leaves room for the tag behind a frame, zeroed', () => {
  const payload = payloadOf(65001);
  for (const index of [0, 1]) {
    const expected = Buffer.concat([frameAt('binary', payload, index), Buffer.alloc(16)]);
    assert.is(Buffer.compare(frameAt('binary', payload, index, 16), expected), 0);
  }
});

test('keeps every byte in its place, for any length', () => {
  fc.assert(
    fc.property(fc.constantFrom<MessageKind>('json', 'binary'), fc.nat(400000), (kind, length) => {
      const payload = payloadOf(length);
      const frames = splitMessage(kind, payload);
      assert.is(Buffer.compare(Buffer.concat(frames.map((frame) => frame.subarray(1))), payload), 0);
      assert.is(frames.length, Math.max(1, Math.ceil(length / 65000)));
    }),
    { numRuns: 30 },
  );
});

test('cuts a view, not the memory around it', () => {
  const view = Buffer.from([9, 1, 2, 9]).subarray(1, 3);
  assert.equal(splitMessage('binary', view), [new Uint8Array([0x01, 1, 2])]);
});

test('makes frames that share no memory with the payload', () => {
  const payload = new Uint8Array([1, 2, 3]);
  const [frame] = splitMessage('json', payload);
  payload.fill(9);
  assert.equal(frame, new Uint8Array([0x00, 1, 2, 3]));
});

test('refuses an unknown kind', () => {
  for (const kind of [undefined, null, '', 'JSON', 'text', 0]) {
    raisesLocal(() => splitMessage(kind as MessageKind, new Uint8Array(1)), 'bad-argument');
  }
});

test('refuses a payload that is not bytes', () => {
  for (const payload of [undefined, null, 'text', [1], new ArrayBuffer(1)]) {
    raisesLocal(() => splitMessage('json', payload as unknown as Uint8Array), 'bad-argument');
  }
});

test.run();
