// Frames are written out here: marker, then payload. Spec, "Data-plane transport framing".
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { RemoteCode } from '../../src/errors.ts';
import type { Reassembled } from '../../src/wire/frame-joiner.ts';
import { splitMessage } from '../../src/wire/markers.ts';
import { Reassembler } from '../../src/wire/reassembler.ts';
import { bothWays } from '../world/both-ways.ts';
import { fc } from '../world/property.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';

const both = bothWays(test);

const CAP = 33554432;

function frame(marker: number, payload: string | Uint8Array = ''): Uint8Array {
  return new Uint8Array(Buffer.concat([Buffer.from([marker]), Buffer.from(payload as string)]));
}

/** Pushes frames of which only the last may complete anything, and returns what that completes. */
function pushAll(reassembler: Reassembler, frames: Uint8Array[]): Reassembled | undefined {
  for (const each of frames.slice(0, -1)) assert.is(reassembler.push(each), undefined);
  return reassembler.push(frames[frames.length - 1]!);
}

function bytesOf(message: Reassembled | undefined): Buffer {
  assert.ok(message !== undefined && message.type === 'message' && message.kind === 'binary');
  return Buffer.from(message.bytes.buffer, message.bytes.byteOffset, message.bytes.length);
}

const isWorking = (reassembler: Reassembler): void => {
  assert.equal(reassembler.push(frame(0x00, 'on')), { type: 'message', kind: 'json', text: 'on' });
};

both('delivers JSON from one frame', () => {
  const message = new Reassembler().push(frame(0x00, '{"a":"hüb 🏠"}'));
  assert.equal(message, { type: 'message', kind: 'json', text: '{"a":"hüb 🏠"}' });
});

test('delivers bytes from one frame, as a view of it', () => {
  const only = new Uint8Array([0x01, 0xff, 0x00]);
  const message = new Reassembler().push(only);
  assert.equal(message, { type: 'message', kind: 'binary', bytes: new Uint8Array([0xff, 0x00]) });
  assert.is(bytesOf(message).buffer, only.buffer);
});

both('delivers JSON from chunks, even if one ends inside a character', () => {
  const [first, second] = [Buffer.from('a🏠').subarray(0, 3), Buffer.from('a🏠').subarray(3)];
  const message = pushAll(new Reassembler(), [frame(0x02, first), frame(0x05, second)]);
  assert.equal(message, { type: 'message', kind: 'json', text: 'a🏠' });
});

test('reassembles a hundred thousand chunks of one byte', () => {
  const reassembler = new Reassembler();
  const expected = Buffer.alloc(100_000, 'abcdefg');
  reassembler.push(frame(0x03));
  for (const byte of expected) reassembler.push(new Uint8Array([0x04, byte]));
  assert.is(Buffer.compare(bytesOf(reassembler.push(frame(0x05))), expected), 0);
});

test('does not change a delivered message, whatever follows', () => {
  const reassembler = new Reassembler();
  const first = pushAll(reassembler, [frame(0x03, 'abc'), frame(0x05, 'def')]);
  pushAll(reassembler, [frame(0x03, 'xyz'), frame(0x05)]);
  reassembler.push(frame(0x03, 'x'));
  reassembler.destroy();
  assert.is(bytesOf(first).toString(), 'abcdef');
});

test('keeps a copy of a chunk, not the chunk', () => {
  const reassembler = new Reassembler();
  const first = frame(0x02, 'ab');
  reassembler.push(first);
  first.fill(0);
  assert.equal(reassembler.push(frame(0x05, 'c')), { type: 'message', kind: 'json', text: 'abc' });
});

test('reassembles messages split in any way', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(fc.array(chunks, { maxLength: 4 }), (messages) => {
      const reassembler = new Reassembler();
      for (const parts of messages) {
        const frames = parts.map((part, i) =>
          frame(i === 0 ? 0x03 : i < parts.length - 1 ? 0x04 : 0x05, part),
        );
        assert.is(Buffer.compare(bytesOf(pushAll(reassembler, frames)), Buffer.concat(parts)), 0);
      }
    }),
  );
});

test('reassembles the frames of splitMessage, at and around every limit', () => {
  const reassembler = new Reassembler();
  for (const length of [0, 1, 64999, 65000, 65001, 130000, 130001, 195000, 300000]) {
    const payload = Buffer.alloc(length, 'sixty-five thousand');
    const binary = pushAll(reassembler, splitMessage('binary', payload));
    assert.is(Buffer.compare(bytesOf(binary), payload), 0);
    const json = pushAll(reassembler, splitMessage('json', payload));
    assert.ok(json?.type === 'message' && json.kind === 'json' && json.text === payload.toString());
  }
});

both('drops JSON that is not UTF-8, from one frame and from chunks, and goes on', () => {
  const reassembler = new Reassembler();
  const one = reassembler.push(frame(0x00, new Uint8Array([0x61, 0xff])));
  assert.equal(one, { type: 'dropped', kind: 'json', bytes: 2, reason: 'not-utf8' });
  const cut = pushAll(reassembler, [frame(0x02, new Uint8Array([0xc3])), frame(0x05, 'abc')]);
  assert.equal(cut, { type: 'dropped', kind: 'json', bytes: 4, reason: 'not-utf8' });
  isWorking(reassembler);
});

/** The frames of a message of this many bytes, in which no chunk is like the next. */
function* framesOf(kind: 'json' | 'binary', length: number): Generator<Uint8Array> {
  for (let start = 0; start < length; start += 65000) {
    const chunk = new Uint8Array(1 + Math.min(65000, length - start)).fill((start / 65000) % 251);
    chunk[0] = start > 0 ? 0x04 : kind === 'json' ? 0x02 : 0x03;
    if (start + 65000 >= length) chunk[0] = 0x05;
    yield chunk;
  }
}

/** One breach for each rule. vectors/framing.json has all of them. */
const FATAL: [string, Uint8Array[], RemoteCode][] = [
  ['a plaintext without a marker', [frame(0x00).subarray(1)], 'empty-plaintext'],
  ['marker 6', [frame(0x06, 'a')], 'unknown-marker'],
  ['a middle chunk with nothing open', [frame(0x04, 'a')], 'chunk-without-start'],
  ['JSON while a message is open', [frame(0x02, 'a'), frame(0x00, 'b')], 'message-while-open'],
];
for (const [what, frames, code] of FATAL) {
  test(`refuses ${what}, and every later frame`, () => {
    const reassembler = new Reassembler();
    for (const each of frames.slice(0, -1)) reassembler.push(each);
    const error = raisesRemote(() => reassembler.push(frames[frames.length - 1]!), code);
    for (const next of [frame(0x00, 'a'), frame(0x02), frame(0x05), frame(0x06), new Uint8Array(0)]) {
      assert.is(
        raisesRemote(() => reassembler.push(next), code),
        error,
      );
    }
  });
}

test('refuses a frame that is not bytes, and goes on', () => {
  const reassembler = new Reassembler();
  reassembler.push(frame(0x02, 'a'));
  for (const value of [undefined, null, 'text', [0]]) {
    raisesLocal(() => reassembler.push(value as unknown as Uint8Array), 'bad-argument');
  }
  assert.equal(reassembler.push(frame(0x05, 'b')), { type: 'message', kind: 'json', text: 'ab' });
});

/** What is kept of the bytes of an unfinished message. */
const buffered = (reassembler: Reassembler): Uint8Array => {
  const frames = Reflect.get(reassembler, 'frames');
  const text = Reflect.get(frames, 'text');
  return text === undefined ? Reflect.get(frames, 'kept') : Reflect.get(text, 'buffer');
};
const isAllZero = (bytes: Uint8Array): boolean => bytes.length > 0 && bytes.every((byte) => byte === 0);

test('refuses every frame once it is destroyed', () => {
  const reassembler = new Reassembler();
  reassembler.push(new Uint8Array([3, 1, 2]));
  reassembler.destroy();
  raisesLocal(() => reassembler.push(new Uint8Array([5, 3])), 'wrong-state');
  raisesLocal(() => reassembler.push(new Uint8Array([1, 3])), 'wrong-state');
});

for (const [kind, first] of [
  ['binary', 0x03],
  ['JSON', 0x02],
] as const) {
  both(`wipes an unfinished message of ${kind} when it is destroyed`, () => {
    const reassembler = new Reassembler();
    reassembler.push(frame(first, 'secret'));
    const kept = buffered(reassembler);
    assert.is(isAllZero(kept), false);
    reassembler.destroy();
    assert.is(isAllZero(kept), true);
    assert.is(buffered(reassembler).length, 0);
  });

  both(`wipes an unfinished message of ${kind} when a frame breaks the rules`, () => {
    const reassembler = new Reassembler();
    reassembler.push(frame(first, 'secret'));
    const kept = buffered(reassembler);
    raisesRemote(() => reassembler.push(frame(0x00)), 'message-while-open');
    assert.is(isAllZero(kept), true);
  });
}

test('wipes a buffer that has become too small', () => {
  const reassembler = new Reassembler();
  reassembler.push(frame(0x03, 'secret'));
  const outgrown = buffered(reassembler);
  reassembler.push(frame(0x04, 'more of it'));
  assert.is.not(buffered(reassembler), outgrown);
  assert.is(isAllZero(outgrown), true);
});

test('buffers at most 32 MiB, and frees a message as soon as it is too long', () => {
  const reassembler = new Reassembler();
  let largest = 0;
  for (const each of [...framesOf('json', CAP + 1)].slice(0, -1)) {
    reassembler.push(each);
    largest = Math.max(largest, buffered(reassembler).length);
  }
  assert.is(largest, CAP);
  reassembler.push(frame(0x04, new Uint8Array(65000)));
  assert.is(buffered(reassembler).length, 0);
});

test('prints no part of an unfinished message', () => {
  const reassembler = new Reassembler();
  reassembler.push(frame(0x02, 'secret'));
  assert.is(inspect(reassembler, { depth: 9, showHidden: true }), '[Reassembler]');
  assert.is(JSON.stringify(reassembler), '"[Reassembler]"');
});

test('doubles its buffer when that is full, and makes it as long as the limit when that is near', () => {
  const reassembler = new Reassembler({ maxMessage: 1000 });
  for (let length = 1; length <= 1000; length++) {
    reassembler.push(frame(length === 1 ? 0x03 : 0x04, Buffer.alloc(1)));
    assert.is(buffered(reassembler).length, length > 512 ? 1000 : 2 ** Math.ceil(Math.log2(length)));
  }
});

test('respects a lower limit', () => {
  const reassembler = new Reassembler({ maxMessage: 1000 });
  assert.is(reassembler.push(frame(0x01, Buffer.alloc(1000)))?.type, 'message');
  reassembler.push(frame(0x03, Buffer.alloc(600)));
  reassembler.push(frame(0x04, Buffer.alloc(400)));
  assert.is(buffered(reassembler).length, 1000);
  reassembler.push(frame(0x04, Buffer.alloc(1)));
  assert.is(buffered(reassembler).length, 0);
});

test('refuses a limit that is not a number of bytes, or above 32 MiB', () => {
  for (const maxMessage of [-1, CAP + 1, Number.NaN, '5' as unknown as number]) {
    raisesLocal(() => new Reassembler({ maxMessage }), 'bad-argument');
  }
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  raisesLocal(() => new Reassembler(proxy), 'bad-argument');
  raisesLocal(() => new Reassembler(null as never), 'bad-argument');
  new Reassembler({ maxMessage: CAP });
  new Reassembler({ maxMessage: 0 });
});

test('has no field that enumerates', () => {
  assert.equal(Object.keys(new Reassembler()), []);
});

test.run();
