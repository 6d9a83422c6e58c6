import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { assertBytes } from '../../src/arguments.ts';
import {
  base64ToBytes,
  bytesToBase64,
  bytesToHex,
  copyBytes,
  equalBytes,
  hexDigit,
  hexToBytes,
  isBytes,
  isZero,
  wipe,
} from '../../src/bytes.ts';
import { bothWays } from '../world/both-ways.ts';
import { detached, revoked } from '../world/hostile.ts';
import { fc } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';

const both = bothWays(test);

const anyBytes = fc.uint8Array({ maxLength: 300 });

test('recognizes a Uint8Array of its own realm, of another realm, and a Buffer', () => {
  const foreign = runInNewContext('new Uint8Array(2)');
  assert.not.instance(foreign, Uint8Array);
  assert.equal([isBytes(new Uint8Array(0)), isBytes(Buffer.from('a')), isBytes(foreign)], [true, true, true]);
});

const NOT_BYTES = [undefined, null, 'ab', [1, 2], new ArrayBuffer(2), new DataView(new ArrayBuffer(2))];

test('recognizes no other value as bytes', () => {
  for (const value of [...NOT_BYTES, new Uint16Array(2), new Int8Array(2)]) assert.is(isBytes(value), false);
});

const IMPOSTORS = [
  Object.create(Uint8Array.prototype),
  { [Symbol.toStringTag]: 'Uint8Array', length: 2 },
  new Proxy(new Uint8Array(2), {}),
  revoked(new Uint8Array(2)),
  revoked([]),
];

test('does not recognize objects that only inherit from Uint8Array, or imitate one', () => {
  for (const value of IMPOSTORS) {
    assert.is(isBytes(value), false);
    raisesLocal(() => assertBytes(value, 'key'), 'bad-argument');
  }
});

test('recognizes bytes on an engine without ArrayBuffer.isView', () => {
  const { isView } = ArrayBuffer;
  try {
    ArrayBuffer.isView = undefined as unknown as typeof isView;
    assert.is(isBytes(new Uint8Array(1)), true);
    for (const value of NOT_BYTES) assert.is(isBytes(value), false);
  } finally {
    ArrayBuffer.isView = isView;
  }
});

test('copies bytes into memory of their own', () => {
  const original = Buffer.from([1, 2, 3]).subarray(1);
  const copy = copyBytes(original);
  original[0] = 9;
  assert.equal([...copy], [2, 3]);
  assert.is(copy.buffer.byteLength, 2);
});

test('finds equal bytes equal', () => {
  fc.assert(fc.property(anyBytes, (bytes) => assert.is(equalBytes(bytes, Buffer.from(bytes)), true)));
});

test('detects a difference of one bit', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.nat(7), (bytes, at, bit) => {
      const other = new Uint8Array(bytes);
      other[at % other.length]! ^= 1 << bit;
      assert.is(equalBytes(bytes, other), false);
    }),
  );
});

test('compares every byte, wherever the first difference is', () => {
  for (let at = 0; at < 4; at++) {
    let reads = 0;
    const counting = new Proxy(new Uint8Array(4), {
      get: (bytes, name) => {
        if (name === 'length') return 4;
        reads++;
        return Number(name) === at ? 1 : bytes[Number(name)];
      },
    });
    assert.is(equalBytes(counting, new Uint8Array(4)), false);
    assert.is(reads, 4);
  }
});

test('detects that one array is a prefix of the other', () => {
  assert.is(equalBytes(new Uint8Array(2), new Uint8Array(3)), false);
  assert.is(equalBytes(new Uint8Array(3), new Uint8Array(2)), false);
});

test('distinguishes all zeros from a single bit that is set', () => {
  assert.is(isZero(new Uint8Array(0)), true);
  assert.is(isZero(new Uint8Array(32)), true);
  for (let bit = 0; bit < 256; bit++) {
    const bytes = new Uint8Array(32);
    bytes[bit >> 3] = 1 << (bit & 7);
    assert.is(isZero(bytes), false, `bit ${bit}`);
  }
});

test('copies bytes into an ArrayBuffer made for them, which V8 keeps off its heap', () => {
  const original = ArrayBuffer;
  const made: number[] = [];
  try {
    globalThis.ArrayBuffer = new Proxy(original, {
      construct(target, args) {
        made.push(args[0]);
        return Reflect.construct(target, args);
      },
    });
    copyBytes(new Uint8Array(32));
  } finally {
    globalThis.ArrayBuffer = original;
  }
  assert.equal(made, [32]);
});

test('wipes every byte of a view and none beside it', () => {
  const all = new Uint8Array([1, 2, 3, 4]);
  wipe(all.subarray(1, 3));
  assert.equal([...all], [1, 0, 0, 4]);
});

test('wipes byte by byte on an engine without fill', () => {
  const bytes = new Uint8Array([1, 2, 3]);
  Object.defineProperty(bytes, 'fill', { value: undefined });
  wipe(bytes);
  assert.equal([...bytes], [0, 0, 0]);
});

test('wipe() ignores values that are not bytes', () => {
  for (const value of [undefined, null, 'secret', 7, detached(4), ...IMPOSTORS]) wipe(value as Uint8Array);
  const list = [1, 2];
  wipe(list as unknown as Uint8Array);
  assert.equal(list, [1, 2]);
});

both('encodes hex like Buffer, and decodes either case', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const text = Buffer.from(bytes).toString('hex');
      assert.is(bytesToHex(bytes), text);
      assert.equal(hexToBytes(text), bytes);
      assert.equal(hexToBytes(text.toUpperCase()), bytes);
    }),
  );
});

test('encodes base64 like Buffer', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => assert.is(bytesToBase64(bytes), Buffer.from(bytes).toString('base64'))),
  );
});

test('encodes every base64 digit, and pads one and two bytes', () => {
  const all = new Uint8Array(256).map((_, i) => i);
  for (let length = 254; length <= 256; length++) {
    const bytes = all.subarray(0, length);
    assert.is(bytesToBase64(bytes), Buffer.from(bytes).toString('base64'));
  }
});

test('decodes base64 with and without padding, and nothing else', () => {
  for (const text of ['QQ==', 'QQ', 'QUI=', 'QUI', 'QUJD', '+/+/'])
    assert.equal(base64ToBytes(text), new Uint8Array(Buffer.from(text, 'base64')), text);
  for (const text of ['Q', 'QUJDR', 'QQ*=', '*Q==', 'Q-==', 'Q Q=', 'Qé==', '=QQ='])
    assert.is(base64ToBytes(text), undefined, text);
});

test('refuses hex of an odd length', () => {
  assert.is(hexToBytes('a'), undefined);
  assert.is(hexToBytes('abc'), undefined);
});

both('refuses hex with an invalid character in either half of a byte', () => {
  for (const text of ['g0', '0g', '/0', '0:', '@0', '0G', '`0', ' 0', '0x', '-1', '0\u0130', '0\uff11']) {
    assert.is(hexToBytes(text), undefined, text);
  }
});

test('has values for exactly the 22 hex digits among all UTF-16 units', () => {
  const digits: string[] = [];
  for (let unit = 0; unit < 0x10000; unit++) {
    const value = hexDigit(unit);
    if (value === -1) continue;
    digits.push(String.fromCharCode(unit));
    assert.is(value, Number.parseInt(String.fromCharCode(unit), 16));
  }
  assert.is(digits.join(''), '0123456789ABCDEFabcdef');
});

test.run();
