// The vectors of binary.json show what is read and refused. This is about the injected inflate, memory, and what callers may pass.
import { deflateSync, inflateSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeBinary, encodeBinary, type Inflate } from '../../src/binary.ts';
import { raisesAbout, raisesLocal, raisesRemote } from '../world/raises.ts';

const decode = decodeBinary as (bytes: unknown, options?: unknown) => unknown;
const inflate: Inflate = (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength });
const PLAIN = encodeBinary({ msg_type: 'bus', payload: { type: 'speak' } });

/** A compressed message, from the texts that it holds. */
function compressed(metadata: string, payload: string): Uint8Array {
  const [first, second] = [deflateSync(metadata), deflateSync(payload)];
  return Uint8Array.from([0x83, first.length, ...first, ...second]);
}

test('delivers bytes as a view of the message', () => {
  const message = encodeBinary({ msg_type: 'bin', metadata: { a: 1 }, payload: Uint8Array.of(7, 8, 9) });
  const { payload } = decodeBinary(message);
  assert.is((payload as Uint8Array).buffer, message.buffer);
  assert.equal(payload, Uint8Array.of(7, 8, 9));
});

test('reads a message in the middle of a larger array, and nothing around it', () => {
  const message = encodeBinary({ msg_type: 'bin', metadata: { a: 1 }, payload: Uint8Array.of(7, 8, 9) });
  const around = new Uint8Array(message.length + 20).fill(0xff);
  around.set(message, 10);
  const view = around.subarray(10, 10 + message.length);
  assert.equal(decodeBinary(view), decodeBinary(message));
  raisesRemote(() => decodeBinary(view.subarray(0, 6)), 'bad-binary-message');
});

test('refuses what HiveMind’s code reads', () => {
  const reserved = encodeBinary({ msg_type: 'bin', metadata: {}, payload: Uint8Array.of(1) });
  reserved[4]! |= 0x0f; // the type of the payload
  raisesRemote(() => decodeBinary(reserved), 'reserved-code');
  raisesRemote(() => decodeBinary(Uint8Array.of(0, ...PLAIN)), 'bad-binary-message');
  for (const metadata of ['[]', '1', 'null', '"a"']) {
    raisesRemote(() => decodeBinary(compressed(metadata, '{}'), { inflate }), 'bad-metadata');
  }
});

test('passes inflate each stream and the limit', () => {
  const calls: [number, number][] = [];
  const message = compressed('{"a":1}', '{"type":"speak"}');
  const read = decodeBinary(message, {
    maxInflated: 100,
    inflate(bytes, maxLength) {
      calls.push([bytes.length, maxLength]);
      return inflate(bytes, maxLength);
    },
  });
  assert.equal(read, { msg_type: 'bus', metadata: { a: 1 }, payload: { type: 'speak' } });
  assert.equal(calls, [
    [deflateSync('{"a":1}').length, 100],
    [deflateSync('{"type":"speak"}').length, 100],
  ]);
});

test('allows inflate to return 32 MiB by default', () => {
  const limits: number[] = [];
  decodeBinary(compressed('{}', '{}'), {
    inflate(bytes, maxLength) {
      limits.push(maxLength);
      return inflate(bytes, maxLength);
    },
  });
  assert.equal(limits, [33554432, 33554432]);
});

test('refuses a compressed message without inflate', () => {
  raisesRemote(() => decodeBinary(compressed('{}', '{}')), 'compressed');
});

test('does not blame the peer if the memory is full while inflate runs', () => {
  const full: Inflate = () => {
    throw new RangeError('Array buffer allocation failed');
  };
  raisesLocal(() => decodeBinary(compressed('{}', '{}'), { inflate: full }), 'out-of-memory');
});

test('blames the peer if inflate refuses a stream, whatever inflate throws', () => {
  const message = compressed('{}', '{}');
  for (const thrown of [new Error('damaged'), new RangeError('too long'), undefined]) {
    const refusing: Inflate = () => {
      throw thrown;
    };
    raisesRemote(() => decodeBinary(message, { inflate: refusing }), 'bad-compression');
  }
});

test('refuses more than the limit from an inflate that ignores it', () => {
  const careless: Inflate = (bytes) => inflateSync(bytes);
  const message = compressed('{}', '{"a":"bcd"}');
  decodeBinary(message, { inflate: careless, maxInflated: 11 });
  raisesRemote(() => decodeBinary(message, { inflate: careless, maxInflated: 10 }), 'bad-compression');
});

test('refuses an inflate that returns no bytes, such as one that is asynchronous', () => {
  for (const returned of [undefined, '{}', [0x7b, 0x7d], Promise.resolve(new Uint8Array(0))]) {
    const call = () => decode(compressed('{}', '{}'), { inflate: () => returned });
    raisesLocal(call, 'bad-argument');
    raisesAbout('inflate', call);
  }
});

test('does not call inflate for uncompressed messages', () => {
  const refusing: Inflate = () => {
    throw assert.unreachable();
  };
  decodeBinary(PLAIN, { inflate: refusing });
  decodeBinary(encodeBinary({ msg_type: 'bin', payload: new Uint8Array(9) }), { inflate: refusing });
});

test('refuses messages that are not a Uint8Array, unknown options, and limits out of range', () => {
  for (const bytes of [undefined, 'abc', [1, 2], PLAIN.buffer])
    raisesLocal(() => decode(bytes), 'bad-argument');
  for (const options of [null, 1, { unknown: 1 }, { inflate: 1 }, { inflate: null }]) {
    raisesLocal(() => decode(PLAIN, options), 'bad-argument');
  }
  for (const maxInflated of [-1, 0.5, 33554433, NaN, '1']) {
    raisesLocal(() => decode(PLAIN, { maxInflated }), 'bad-argument');
  }
});

test('names the argument that is wrong', () => {
  raisesAbout('bytes', () => decode('abc'));
  raisesAbout('options', () => decode(PLAIN, 7));
  raisesAbout('options.inflate', () => decode(PLAIN, { inflate: 7 }));
  raisesAbout('options.maxInflated', () => decode(PLAIN, { maxInflated: 7.5 }));
});

test('reads uncompressed messages with an inflate limit of zero', () => {
  assert.equal(decodeBinary(PLAIN, { maxInflated: 0 }), decodeBinary(PLAIN));
});

test.run();
