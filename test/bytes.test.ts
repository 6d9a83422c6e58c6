import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  assertBytes,
  assertText,
  bytesToBase64,
  bytesToHex,
  bytesToUtf8,
  concatBytes,
  copyBytes,
  equalBytes,
  forEachPiece,
  hexDigit,
  hexToBytes,
  isBytes,
  isZero,
  kindOf,
  utf8Length,
  utf8ToBytes,
  wipe,
} from '../src/bytes.ts';
import { raisesLocal } from './raises.ts';

const anyBytes = fc.uint8Array({ maxLength: 300 });
const wellFormed = fc.string({ unit: 'binary', maxLength: 400 });

/** What Node's decoder makes of bytes, or undefined where it refuses them. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

test('knows a Uint8Array of its own realm, of another, and a Buffer', () => {
  const foreign = runInNewContext('new Uint8Array(2)');
  assert.not.instance(foreign, Uint8Array);
  assert.equal([isBytes(new Uint8Array(0)), isBytes(Buffer.from('a')), isBytes(foreign)], [true, true, true]);
});

test('takes nothing else for bytes', () => {
  for (const value of [undefined, null, 'ab', [1, 2], new ArrayBuffer(2), new DataView(new ArrayBuffer(2))]) {
    assert.is(isBytes(value), false);
  }
  assert.is(isBytes(new Uint16Array(2)), false);
  assert.is(isBytes(new Int8Array(2)), false);
});

test('accepts bytes as an argument, of any length or of the one that is due', () => {
  assertBytes(new Uint8Array(0), 'key');
  assertBytes(new Uint8Array(32), 'key', 32);
  assertBytes(new Uint8Array(0), 'key', 0);
});

test('refuses an argument that is not bytes', () => {
  for (const value of [undefined, null, 'aa', [0], new Uint16Array(1)]) {
    raisesLocal(() => assertBytes(value, 'key', 1), 'bad-argument');
  }
});

test('refuses bytes one short or one long', () => {
  raisesLocal(() => assertBytes(new Uint8Array(31), 'key', 32), 'bad-length');
  raisesLocal(() => assertBytes(new Uint8Array(33), 'key', 32), 'bad-length');
  raisesLocal(() => assertBytes(new Uint8Array(1), 'key', 0), 'bad-length');
});

test('accepts a text as an argument, and refuses an empty one and what is none', () => {
  assertText('a', 'name');
  for (const value of ['', undefined, null, 1, ['a'], {}]) {
    raisesLocal(() => assertText(value, 'name'), 'bad-argument');
  }
});

test('names kinds of values, not the values', () => {
  const kinds = [null, undefined, [1], {}, 'secret', 7, true].map(kindOf);
  assert.equal(kinds, ['null', 'undefined', 'array', 'object', 'string', 'number', 'boolean']);
});

test('copies bytes into memory of their own', () => {
  const original = Buffer.from([1, 2, 3]).subarray(1);
  const copy = copyBytes(original);
  original[0] = 9;
  assert.equal([...copy], [2, 3]);
  assert.is(copy.buffer.byteLength, 2);
});

test('concatenates like Buffer', () => {
  fc.assert(
    fc.property(fc.array(anyBytes), (parts) => {
      assert.is(Buffer.compare(concatBytes(parts), Buffer.concat(parts)), 0);
    }),
  );
});

test('finds bytes equal that are', () => {
  fc.assert(fc.property(anyBytes, (bytes) => assert.is(equalBytes(bytes, Buffer.from(bytes)), true)));
});

test('finds bytes unequal that differ in one bit', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), fc.nat(7), (bytes, at, bit) => {
      const other = new Uint8Array(bytes);
      other[at % other.length]! ^= 1 << bit;
      assert.is(equalBytes(bytes, other), false);
    }),
  );
});

test('finds bytes unequal of which one begins the other', () => {
  assert.is(equalBytes(new Uint8Array(2), new Uint8Array(3)), false);
  assert.is(equalBytes(new Uint8Array(3), new Uint8Array(2)), false);
});

test('knows zeros from a single bit that is set', () => {
  assert.is(isZero(new Uint8Array(0)), true);
  assert.is(isZero(new Uint8Array(32)), true);
  for (let bit = 0; bit < 256; bit++) {
    const bytes = new Uint8Array(32);
    bytes[bit >> 3] = 1 << (bit & 7);
    assert.is(isZero(bytes), false, `bit ${bit}`);
  }
});

test('wipes every byte of a view and none beside it', () => {
  const all = new Uint8Array([1, 2, 3, 4]);
  wipe(all.subarray(1, 3));
  assert.equal([...all], [1, 0, 0, 4]);
});

test('wipes nothing where there is nothing', () => {
  assert.is(wipe(undefined), undefined);
});

test('writes hex like Buffer, and reads it in either case', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const text = Buffer.from(bytes).toString('hex');
      assert.is(bytesToHex(bytes), text);
      assert.equal(hexToBytes(text), bytes);
      assert.equal(hexToBytes(text.toUpperCase()), bytes);
    }),
  );
});

test('writes base64 like Buffer', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => assert.is(bytesToBase64(bytes), Buffer.from(bytes).toString('base64'))),
  );
});

test('writes every digit of base64, and pads one and two bytes', () => {
  const all = new Uint8Array(256).map((_, i) => i);
  for (let length = 254; length <= 256; length++) {
    const bytes = all.subarray(0, length);
    assert.is(bytesToBase64(bytes), Buffer.from(bytes).toString('base64'));
  }
});

test('refuses hex of an odd length', () => {
  assert.is(hexToBytes('a'), undefined);
  assert.is(hexToBytes('abc'), undefined);
});

test('refuses hex with another character in either place of a byte', () => {
  for (const text of ['g0', '0g', '/0', '0:', '@0', '0G', '`0', ' 0', '0x', '-1', '0\u0130', '0\uff11']) {
    assert.is(hexToBytes(text), undefined, text);
  }
});

test('knows the value of exactly the 22 hex digits among all UTF-16 units', () => {
  const digits: string[] = [];
  for (let unit = 0; unit < 0x10000; unit++) {
    const value = hexDigit(unit);
    if (value === -1) continue;
    digits.push(String.fromCharCode(unit));
    assert.is(value, Number.parseInt(String.fromCharCode(unit), 16));
  }
  assert.is(digits.join(''), '0123456789ABCDEFabcdef');
});

test('encodes every code point like Buffer, and decodes it again', () => {
  for (let start = 0; start <= 0x10ffff; start += 0x800) {
    if (start === 0xd800) continue;
    let text = '';
    for (let point = start; point < start + 0x800; point++) text += String.fromCodePoint(point);
    const expected = Buffer.from(text);
    const label = `U+${start.toString(16)}`;
    assert.is(Buffer.compare(utf8ToBytes(text), expected), 0, label);
    assert.is(utf8Length(text), expected.length, label);
    assert.is(bytesToUtf8(expected) === text, true, label);
  }
});

test('encodes and decodes texts like Buffer, wherever a piece of 128 units ends', () => {
  fc.assert(
    fc.property(wellFormed, fc.nat(130), (text, shift) => {
      const shifted = 'x'.repeat(shift) + text;
      const expected = Buffer.from(shifted);
      assert.is(Buffer.compare(utf8ToBytes(shifted), expected), 0);
      assert.is(utf8Length(shifted), expected.length);
      assert.is(bytesToUtf8(expected), shifted);
    }),
  );
});

/** A text as a string of an engine that counts code points, as XS does on microcontrollers. */
class CodePoints {
  private readonly points: string[];

  constructor(points: string[]) {
    this.points = points;
  }

  get length(): number {
    return this.points.length;
  }

  charCodeAt(at: number): number {
    return this.points[at]?.codePointAt(0) ?? NaN;
  }

  slice(start: number, end: number): CodePoints {
    return new CodePoints(this.points.slice(start, end));
  }
}

test('encodes strings that are counted in code points, of any length', () => {
  fc.assert(
    fc.property(wellFormed, fc.nat(9000), (text, shift) => {
      const all = 'é'.repeat(shift) + text;
      const string = new CodePoints([...all]) as unknown as string;
      assert.is(utf8Length(string), Buffer.byteLength(all));
      assert.ok(Buffer.from(all).equals(utf8ToBytes(string)));
    }),
    { numRuns: 50 },
  );
});

test('cuts a text into pieces that are the text again, each of at most 256 units', () => {
  for (const length of [0, 1, 256, 257, 8191, 8192, 8193, 20_000]) {
    const text = Array.from({ length }, (_, i) => String.fromCharCode(i)).join('');
    const pieces: string[] = [];
    forEachPiece(text, (piece) => pieces.push(piece));
    assert.is(pieces.join(''), text);
    assert.ok(pieces.every((piece) => piece.length > 0 && piece.length <= 256));
  }
});

test('encodes pairs of surrogates wherever a piece may end', () => {
  for (const length of [254, 255, 256, 8190, 8191, 8192]) {
    const text = `${'a'.repeat(length)}😀😀`;
    assert.ok(Buffer.from(text).equals(utf8ToBytes(text)));
  }
});

test('gives a text with a lone surrogate no length and no UTF-8 form', () => {
  for (const text of [
    '\ud800',
    '\udbff!',
    '\udc00',
    'a\udfff',
    '\ud800\ud800\udc00',
    '\udc00\ud800',
    '\ud83d',
  ]) {
    assert.is(utf8Length(text), -1);
    raisesLocal(() => utf8ToBytes(text), 'lone-surrogate');
  }
});

test('encodes any UTF-16 units exactly if they are well formed', () => {
  const units = fc.array(fc.constantFrom(0x41, 0xe9, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff));
  fc.assert(
    fc.property(units, (list) => {
      const text = String.fromCharCode(...list);
      const expected = Buffer.from(text);
      const isWellFormed = expected.toString() === text;
      assert.is(utf8Length(text), isWellFormed ? expected.length : -1);
    }),
    { numRuns: 1000 },
  );
});

const EDGES = [
  0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf1,
  0xf4, 0xf5, 0xf8, 0xff,
];

test('decodes every pair of bytes as TextDecoder does', () => {
  for (let pair = 0; pair < 0x10000; pair++) {
    const bytes = new Uint8Array([pair >> 8, pair & 255]);
    if (bytesToUtf8(bytes) !== decoded(bytes)) assert.unreachable(bytesToHex(bytes));
  }
});

test('decodes three and four bytes at the edges of UTF-8 as TextDecoder does', () => {
  for (const first of [0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5]) {
    for (const second of EDGES) {
      for (const third of EDGES) {
        for (const tail of [[], [0x41], [0x7f], [0x80], [0xbf], [0xc0]]) {
          const bytes = new Uint8Array([first, second, third, ...tail]);
          if (bytesToUtf8(bytes) !== decoded(bytes)) assert.unreachable(bytesToHex(bytes));
        }
      }
    }
  }
});

test('decodes bytes at random as TextDecoder does', () => {
  const edgy = fc.array(fc.constantFrom(...EDGES), { maxLength: 8 }).map((list) => new Uint8Array(list));
  fc.assert(
    fc.property(fc.oneof(edgy, anyBytes), (bytes) => assert.is(bytesToUtf8(bytes), decoded(bytes))),
    { numRuns: 2000 },
  );
});

test('decodes a damaged text as TextDecoder does', () => {
  fc.assert(
    fc.property(wellFormed, fc.nat(), fc.nat(255), (text, at, byte) => {
      const bytes = new Uint8Array(Buffer.from(`${text}!`));
      bytes[at % bytes.length] = byte;
      assert.is(bytesToUtf8(bytes), decoded(bytes));
    }),
    { numRuns: 1000 },
  );
});

test('keeps a byte order mark as the character it is', () => {
  assert.is(bytesToUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 0x41])), '\ufeffA');
});

test.run();
