/** UTF-8, by the engine's functions and by the library's own code. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesToHex, bytesToUtf8, forEachPiece, utf8Length, utf8ToBytes } from '../../src/bytes.ts';
import { type Engine, engine } from '../../src/engine.ts';
import { bothWays, withoutEngine } from '../world/both-ways.ts';
import { fc } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';

const both = bothWays(test);

const anyBytes = fc.uint8Array({ maxLength: 300 });
const wellFormed = fc.string({ unit: 'binary', maxLength: 400 });

/** Node's decoder throws errors whose stack traces take most of the time of these tests. */
function withoutStacks(body: () => void): () => void {
  return () => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      body();
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  };
}

/** What Node's decoder returns for bytes, or undefined where it refuses them. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

both('encodes every code point like Buffer, and decodes it again', () => {
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

both('encodes and decodes strings like Buffer, wherever a piece of 128 units ends', () => {
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

/** A string of an engine that counts in code points, as XS does on microcontrollers. */
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
      assert.ok(Buffer.from(all).equals(withoutEngine(() => utf8ToBytes(string))));
    }),
    { numRuns: 50 },
  );
});

test('cuts a string into pieces of at most 64 units that join to the string', () => {
  for (const length of [0, 1, 64, 65, 128, 1023, 1024, 1025, 20_000]) {
    const text = Array.from({ length }, (_, i) => String.fromCharCode(i)).join('');
    const pieces: string[] = [];
    forEachPiece(text, (piece) => pieces.push(piece));
    assert.is(pieces.join(''), text);
    assert.ok(pieces.every((piece) => piece.length <= 64));
    assert.is(pieces.length, Math.max(1, Math.ceil(length / 64)));
  }
});

both('returns neither a length nor UTF-8 for a string with a lone surrogate', () => {
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

both('has a UTF-8 length for exactly the well-formed strings', () => {
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

both(
  'decodes three and four bytes at the edges of UTF-8 as TextDecoder does',
  withoutStacks(() => {
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
  }),
);

both(
  'decodes random bytes as TextDecoder does',
  withoutStacks(() => {
    const edgy = fc.array(fc.constantFrom(...EDGES), { maxLength: 8 }).map((list) => new Uint8Array(list));
    fc.assert(
      fc.property(fc.oneof(edgy, anyBytes), (bytes) => assert.is(bytesToUtf8(bytes), decoded(bytes))),
      { numRuns: 2000 },
    );
  }),
);

both('encodes U+FFFD, and units around it, wherever they are in a long string', () => {
  for (const text of [
    '\ufffd',
    '\uff0c\uffff\uefff',
    '\ufffc\ufffe',
    'é'.repeat(100),
    `\ufffd${'，'.repeat(60)}`,
  ]) {
    for (const all of [text, 'a'.repeat(100) + text, `${text}${'é'.repeat(100)}`]) {
      assert.ok(Buffer.from(all).equals(utf8ToBytes(all)));
    }
    raisesLocal(() => utf8ToBytes(`${'é'.repeat(100)}${text}\udc00`), 'lone-surrogate');
    raisesLocal(() => utf8ToBytes(`\udc00${text}${'é'.repeat(100)}`), 'lone-surrogate');
  }
});

/** Calls a function while the engine has other functions. */
function withCodec<T>(other: Partial<NonNullable<Engine['codec']>>, call: () => T): T {
  const { codec } = engine();
  engine().codec = { ...codec!, ...other };
  try {
    return call();
  } finally {
    engine().codec = codec;
  }
}

test('uses the engine’s encoding of strings of 48 units and more, unless one is a lone surrogate', () => {
  const { codec } = engine();
  const made: Uint8Array[] = [];
  const encode = (text: string): Uint8Array => {
    made.push(codec!.encode(text));
    return made.at(-1)!;
  };
  withCodec({ encode }, () => {
    for (const unit of ['a', 'é', '½', '¿', '\uff0c', '\ufffd']) {
      assert.is(utf8ToBytes(unit.repeat(48)), made.pop(), unit);
    }
    utf8ToBytes('a'.repeat(47));
    raisesLocal(() => utf8ToBytes('\ud800'.repeat(48)), 'lone-surrogate');
    assert.is(made.length, 0);
  });
});

test('uses the engine’s decoding of bytes', () => {
  const decode = (): string => 'as the engine says';
  assert.is(
    withCodec({ decode }, () => bytesToUtf8(new Uint8Array(1))),
    'as the engine says',
  );
});

test('decodes bytes that the engine’s decoder refuses without a reason', () => {
  const decode = (): never => {
    throw new TypeError('not in shared memory');
  };
  const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(0x41);
  assert.is(
    withCodec({ decode }, () => bytesToUtf8(shared)),
    'AA',
  );
});

both('keeps a byte order mark as a character', () => {
  assert.is(bytesToUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 0x41])), '\ufeffA');
});

test.run();
