// What the engine helps with is compared with the library's own code, over generated input.
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8ToBytes } from '../../src/bytes.ts';
import { isPlainJson } from '../../src/wire/engine-check.ts';
import { parseByEngine } from '../../src/wire/engine-json.ts';
import { escapeByEngine, PlainRuns, sortKeys } from '../../src/wire/engine-strings.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { Reassembler } from '../../src/wire/reassembler.ts';
import { canonicalJson, stringifyJson } from '../../src/wire/write-json.ts';
import { withoutEngine } from '../both-ways.ts';

/** Whether parse-json.ts itself accepts bytes. */
function isJson(bytes: Uint8Array): boolean {
  try {
    withoutEngine(() => parseJson(bytes));
    return true;
  } catch {
    return false;
  }
}

const PIECES = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    ' ',
    '\n',
    '\u0000',
    '\u00a0',
    '0',
    '1',
    '-',
    '.',
    'e',
    '+',
    'u',
    'true',
  ],
  ...[
    '"a":',
    '"b":',
    '"\\u0061":',
    'null',
    'false',
    'nul',
    '-0',
    '1.5',
    '1e400',
    '\\n',
    '\\x',
    '\\ud83d',
    '\\ude00',
  ],
  ...['\\u12', '\\uZZZZ', 'é', '😀', '"long enough to be read by words"', '"éééééééééééééééé"'],
];
const piece = fc.constantFrom(...PIECES);
const text = fc.oneof(
  fc.json({ stringUnit: 'binary' }).filter((json) => Buffer.from(json).toString() === json),
  fc.array(piece, { maxLength: 12 }).map((list) => list.join('')),
  fc.array(piece, { maxLength: 8 }).map((list) => `[{"a":1,${list.join('')}},"b"]`),
  fc.array(piece, { maxLength: 6 }).map((list) => `{"a":[],"b":{},"c":"${list.join('')}"}`),
);

/** The same bytes, from the given place of a larger array. */
function moved(bytes: Uint8Array, place: number): Uint8Array {
  const larger = new Uint8Array(place + bytes.length + 3).fill(0x22);
  larger.set(bytes, place);
  return larger.subarray(place, place + bytes.length);
}

test('takes for JSON only what parseJson accepts, wherever in memory it lies', () => {
  let count = 0;
  fc.assert(
    fc.property(text, fc.nat(3), (json, place) => {
      const bytes = moved(utf8ToBytes(json), place);
      if (!isPlainJson(bytes)) return;
      count++;
      assert.ok(isJson(bytes), json);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(count > 1000);
});

test('takes ordinary JSON for JSON', () => {
  const good = [
    '{}',
    ' [ ] ',
    '0',
    '-1.50E+10',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\uD7FF\\uE000"',
    '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"":null , "c" : [ true , false ] }',
    '\r\n\t{"é":"é"}',
    `${'['.repeat(64)}${']'.repeat(64)}`,
    `{${Array.from({ length: 64 }, (_, i) => `"${i}":${i}`).join()}}`,
    `{${Array.from({ length: 32 }, (_, i) => `"${i}":{"a":[],"b":{}}`).join()}}`,
    '{"b":{"a":1},"a":2,"c d":3}',
    '"\\u0000"',
    '"\\ud83d\\ude00"',
    '"\\uD800\\uDC00\\uDBFF\\uDFFF"',
  ];
  for (const json of good)
    for (const place of [0, 1, 2, 3]) assert.ok(isPlainJson(moved(utf8ToBytes(json), place)), json);
});

test('leaves to parseJson what it cannot tell, and all that is not JSON', () => {
  const doubtful = [
    '',
    ' ',
    '{"a":1,"a":2}',
    '{"a":[],"a":2}',
    '{"a":{},"a":2}',
    '{"a":1,"\\u0061":2}',
    `{${Array.from({ length: 65 }, (_, i) => `"${i}":${i}`).join()}}`,
    `${'['.repeat(65)}${']'.repeat(65)}`,
    '"\\ud83d"',
    '"\\ud83d\\n"',
    '"\\ud83d\\ud83d"',
    '"\\ud83d\\nde00"',
    '"\\ud83dxude00"',
    '"\\ud800"',
    '"\\ude00"',
    '"\\udfff"',
    '"\\udc00\\udc00"',
    '"\\u000g"',
    '"\\u00g0"',
    '"\\u00',
    '"\\',
    '"\\x"',
    '"a',
    '"\n"',
    '"abcdefghijklmnopqrstuvwx\u0001yz"',
    '[1,]',
    '[1',
    '[1}',
    '{"a":1]',
    '{"a"}',
    '{"a',
    '{"a\n":1}',
    '{"a":1,}',
    '{1:1}',
    '{1}',
    '{"\\n"}',
    '{,}',
    'tru',
    'nulL',
    'falsy',
    '01',
    '1 2',
    '1.',
    '-',
    '\ufeff1',
  ];
  for (const json of doubtful)
    for (const place of [0, 1, 2, 3]) assert.not(isPlainJson(moved(utf8ToBytes(json), place)), json);
});

const tokens = (count: number, token: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `${token(i)}  `).join();

test('reads ordinary JSON with the engine’s JSON.parse, to the value that the library’s own code reads', () => {
  const ordinary = [
    ...['0', '"a"', 'null', '{}', '[]', '[true,false,-7,15]', '{"é":"😀"}', '[1.5 ]', '[1.50]', ' -0.50 '],
    ...['{"a":{"b":1},"c":[{"d":2}],"e":{}}', '[123456789012345,-12345678901234]', '["1.5",":","{[}]"]'],
    ...['[ -0 , 1e5  , 2E-3 , 12345678901234567 ]', '{"a":-7,"b":1.50,"c":[ -0 ],"d":9}', '[9,0,1.50,9,0]'],
    ...[
      '"\\"\\\\\\/\\n\\u00e9\\ud7ff\\ue000"',
      '["\\ud800\\udc00","\\uDBFF\\uDFFF"]',
      '{"\\uD83D\\uDE00":"\\udabc\\udfed"}',
    ],
    ...[9, 10, 11, 99, 100, 101, 1000].flatMap((count) => [
      `[${tokens(count, (i) => `${i}.0`)}]`,
      `[-7,${tokens(count, (i) => `-${i}.0`)}]`,
      `{"a":[null,${tokens(count, (i) => `-${i}e5`)}],"b":{"c":1.500}}`,
    ]),
    '["\\u0e90","\\nd9","\\td8"]',
    `${'['.repeat(64)}${']'.repeat(64)}`,
    `[${'[],'.repeat(100)}${'{},'.repeat(100)}0]`,
    ...Array.from({ length: 10 }, (_, length) => `["${'x'.repeat(length)}\\"","${'x'.repeat(length)}"]`),
  ];
  for (const json of ordinary) {
    const bytes = utf8ToBytes(json);
    const own = withoutEngine(() => parseJson(bytes));
    for (const text of [json, undefined]) {
      const value = parseByEngine(bytes, text);
      assert.ok(value !== undefined, `left to the library: ${json.slice(0, 100)}`);
      assert.ok(isDeepStrictEqual(value, own), json.slice(0, 100));
      assert.is(stringifyJson(value), stringifyJson(own));
    }
  }
});

test('leaves to the library’s own code what JSON.parse would change, and all that is not JSON', () => {
  const doubtful = [
    ...[
      '{"a":1,"a":1}',
      '"\\ud800"',
      '"\\udfff"',
      '"\\udc00\\udc00"',
      '"\\ud83d\\nde00"',
      '"\\ud83d\\u0041"',
      '"a',
    ],
    ...['"\\ud83d\\uda00"', '"\\ud83dxude00"', '[1.5]', '[1.5.5   ]', '[1.5-1     ]', '[1.5 1]', 'nul', ''],
    `${'['.repeat(65)}${']'.repeat(65)}`,
  ];
  for (const json of doubtful) assert.is(parseByEngine(utf8ToBytes(json), json), undefined, json);
});

test('escapes strings of 48 bytes and more by words', () => {
  for (const unit of ['"', '\\', '\n', '\u0000', '\u001f', '\u007f', '\u0080', 'é', '!', '#', '[', ']']) {
    for (let place = 0; place <= 64; place++) {
      const text = 'x'.repeat(place) + unit + 'x'.repeat(64 - place);
      const escaped = escapeByEngine(text);
      assert.is(Buffer.from(escaped!).toString(), JSON.stringify(text).slice(1, -1));
    }
  }
});

test('finds where a plain run ends, from any place to any place in memory', () => {
  for (const place of [0, 1, 2, 3]) {
    const bytes = moved(new Uint8Array(40).fill(0x61), place);
    for (let end = 0; end < 40; end++) {
      for (const unit of [0x00, 0x1f, 0x22, 0x5c]) {
        bytes[end] = unit;
        const runs = new PlainRuns(bytes);
        for (let at = 0; at <= end; at++) assert.is(runs.end(at), end);
        if (end < 39) assert.is(runs.end(end + 1), 40);
        bytes[end] = 0x61;
      }
    }
  }
});

test('sorts few keys and many by UTF-16 unit', () => {
  for (let count = 0; count < 20; count++) {
    const keys = Array.from({ length: count }, (_, i) => String.fromCharCode(0x61 + ((i * 7) % 20)));
    assert.equal(sortKeys([...keys]), [...keys].sort());
    assert.equal(sortKeys([...keys].sort().reverse()), [...keys].sort());
  }
});

test('leaves all to parseJson where nothing is known of the engine', () => {
  assert.is(
    withoutEngine(() => isPlainJson(utf8ToBytes('{}'))),
    false,
  );
});

test('writes long strings as the library’s own code does', () => {
  const unit = fc.constantFrom(...'abcdefgh"\\\u0000\u001f\n\u007fé汉😀\u2028'.match(/./gsu)!);
  fc.assert(
    fc.property(fc.string({ unit, minLength: 40, maxLength: 120 }), fc.nat(80), (text, plain) => {
      const string = 'x'.repeat(plain) + text;
      assert.equal(
        canonicalJson(string),
        withoutEngine(() => canonicalJson(string)),
      );
    }),
    { numRuns: 2000 },
  );
});

test('writes documents of all sizes as the library’s own code does', () => {
  for (const count of [1, 10, 100, 1000, 10_000]) {
    const value = Array.from({ length: count }, (_, i) => ({ [`k${i % 7}`]: 'x'.repeat(i % 300), n: i }));
    const bytes = canonicalJson(value);
    assert.is(
      Buffer.from(bytes).toString(),
      Buffer.from(withoutEngine(() => canonicalJson(value))).toString(),
    );
    assert.is(bytes.length, bytes.buffer.byteLength);
  }
});

test('sorts few keys and many as the library’s own code does', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u0000', '\ud7ff'), maxLength: 4 });
  const keys = fc.oneof(fc.uniqueArray(key), fc.uniqueArray(key, { minLength: 13, maxLength: 20 }));
  fc.assert(
    fc.property(keys, (keys) => {
      const value = Object.fromEntries(keys.map((key, i) => [key, i]));
      const sorted = [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const expected = `{${sorted.map((key) => `${JSON.stringify(key)}:${value[key]}`).join()}}`;
      assert.is(Buffer.from(canonicalJson(value)).toString(), expected);
    }),
    { numRuns: 2000 },
  );
});

/** What a reassembler makes of bytes that arrive in chunks of these lengths, and of the same again. */
function reassembled(bytes: Uint8Array, lengths: readonly number[]): string {
  const reassembler = new Reassembler();
  reassembler.push(new Uint8Array([2]));
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + lengths[i % lengths.length]!;
    reassembler.push(new Uint8Array([4, ...bytes.subarray(at, end)]));
    at = end;
  }
  return JSON.stringify([reassembler.push(new Uint8Array([5])), reassembler.push(new Uint8Array([0, 0x61]))]);
}

test('decodes a character wherever the buffer ends in it', () => {
  for (const character of ['é', '汉', '😀']) {
    for (let shift = 0; shift < 4; shift++) {
      const text = 'a'.repeat(shift) + character.repeat(70_000);
      const [message] = JSON.parse(reassembled(utf8ToBytes(text), [40_000]));
      assert.ok(message.text === text, `${shift} before ${character}`);
    }
  }
});

test('decodes what arrives in chunks as it does what arrived at once', () => {
  const unit = fc.constantFrom('a', 'é', '汉', '😀', '\ufeff', '\ufffd');
  const lengths = fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 4 });
  const damage = fc.option(fc.tuple(fc.nat(), fc.nat(255)), { freq: 2 });
  fc.assert(
    fc.property(
      fc.string({ unit, minLength: 1, maxLength: 20 }),
      lengths,
      damage,
      (text, lengths, damaged) => {
        const bytes = utf8ToBytes(text.repeat(Math.ceil(200_000 / text.length / 2)));
        if (damaged !== null) bytes[damaged[0] % bytes.length] = damaged[1];
        const steps = lengths.map((length) => length + 5000);
        const outcome = reassembled(bytes, steps);
        assert.ok(outcome === withoutEngine(() => reassembled(bytes, steps)));
        assert.ok(damaged !== null || outcome.includes('"type":"message"'));
      },
    ),
    { numRuns: 60 },
  );
});

test.run();
