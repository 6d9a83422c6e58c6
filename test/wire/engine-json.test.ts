/** JSON by the engine and a proof, and by the library's own reader and writer: the same value, bytes or error. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isNoObject } from '../../src/wire/engine-json.ts';
import { JsonNumber } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { jsonToBytes } from '../../src/wire/write-json.ts';
import { withoutEngine } from '../world/both-ways.ts';
import { fc } from '../world/property.ts';

/** A value with its tokens, its types and the order of its keys, or the error. */
function outcomeOf(text: string | Uint8Array): string {
  try {
    return JSON.stringify(parseJson(text), function (this: { [key: string]: unknown }, key) {
      const value = this[key];
      return value instanceof JsonNumber
        ? `token ${value.token}`
        : typeof value === 'string'
          ? `"${value}`
          : value;
    });
  } catch (error) {
    const { code, message } = error as Error & { code: string };
    return `${code}: ${message}`;
  }
}

function compare(text: string): void {
  const expected = withoutEngine(() => outcomeOf(text));
  assert.is(outcomeOf(text), expected, text);
  const bytes = new Uint8Array(Buffer.from(text));
  if (Buffer.from(bytes).toString() === text) assert.is(outcomeOf(bytes), expected, text);
}

const long = (text: string): string => 'x'.repeat(40) + text;
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
/** What the proof looks for, a part of it each. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'equal keys': ['{"a":1,"a":2}', '[{"a":{"b":1,"b":1}}]', '{"a":1,"\\u0061":2}', '{"":":","":1.5}'],
  'equal keys between strings with escapes': [
    '{"a":"\\"","a":"\\""}',
    `{"a":"${long('\\"')}","a":"${long('\\"')}"}`,
  ],
  'a colon in a string': ['{"a":"b:c"}', `{"${long(':\\":')}":1}`, `{"${long('\\\\')}":{"a":1}}`],
  'half of a pair': ['"\ud800"', '"\\ud800"', '{"\\uDC00":1.5}', '"\\ud83d\\ude00"', '["\\\\ud800\\ud800"]'],
  'a number that JavaScript changes': ['-0', '[1e2,1E-2,-1.50]', '12345678901234567', '9007199254740991'],
  'a number that is none': [
    '01.5',
    '-01',
    '1.',
    '-',
    '[1.5.5]',
    '[1.5-2.5]',
    '1e',
    '1.5"a"',
    '+1.5',
    '.5',
    '[-.5]',
    '[-e1.5]',
    '1.5 2',
  ],
  'a number in place of a key': ['{1.5:2}', '{1.5 \t\r\n:2}', '{"a":1.5 }', '{"a":1.5:2}'],
  'the mark itself': ['["\x7f",1.5]', '[1.5,"\\u007f",2.5]', '["\\u007F",-0]', '{"\x7f":1.5}', '"\x7f"'],
  'keys that objects move to the front': ['{"b":1.5,"1":2.5}', '[{"b":[1.5],"1":{"a":2.5}}]'],
  'a key that objects treat in a way of its own': [
    '{"__proto__":1.5}',
    '{"__proto__":{"a":[]},"__proto__":1}',
  ],
  'too much depth': [nested(64), nested(65), `{"a":${nested(63)}}`, `{"a":${nested(64)}}`, '['.repeat(100)],
  'a string without an end': ['"', `"${long('')}`, `"${long('\\"')}`, '{"a":1.5,"'],
  'what is no JSON': ['', ' ', '[1,]', '{"a" 1}', 'nul', '[1.5', '"\t"', '\ufeff1', '1.5\u00a0', '{"a":1}}'],
};
for (const [part, texts] of Object.entries(PARTS)) {
  test(`the two readers agree about ${part}`, () => texts.forEach(compare));
}

test('the two readers agree about generated and damaged texts', () => {
  const seeds = fc.oneof(
    fc.json({ maxDepth: 3, stringUnit: 'binary' }),
    fc.constant('{"a":[1,-2.5e+3,true,false,null],"b":{"\\u00e9\\n":"\\ud83d\\ude00"},"c":"x","1":0.5}'),
  );
  const pieces = fc.constantFrom(
    ...'{}[]:,"\\/ \n\t\u00a0\ufeff\u0000\u007f0123-+.eEutrnbfasl\''.split(''),
    ...[
      '"a"',
      '"a":1',
      ',"a":1.5',
      '\\ud800',
      '\\u007f',
      '\\u00',
      '\ud800',
      'NaN',
      '1e400',
      '-0',
      '"1":2.5,',
    ],
    ...['12345678901234567', '"__proto__":', long('\\"')],
  );
  const edit = fc.tuple(fc.nat(), fc.nat(2), pieces);
  fc.assert(
    fc.property(seeds, fc.array(edit, { maxLength: 3 }), (seed, edits) => {
      let text = seed;
      for (const [where, removed, added] of edits) {
        const at = where % (text.length + 1);
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      compare(text);
    }),
    { numRuns: 5000 },
  );
});

const tagged = { [Symbol.toStringTag]: 'Tag' };
const cycle: { a?: unknown } = {};
cycle.a = cycle;
const deep = (depth: number): unknown => JSON.parse(nested(depth));
function argumentsOf(..._: unknown[]): unknown {
  // biome-ignore lint/complexity/noArguments: an object of its own kind
  return arguments;
}
const toJSON = (): number => 1;
/** What JSON.stringify treats in its own way. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  'ordinary values': [
    null,
    true,
    -0,
    0.1,
    1e21,
    '',
    'é\u2028\u007f😀',
    [],
    {},
    { a: [{ b: '"\\/\b\f\n\r\t\u001f' }] },
  ],
  'what it leaves out or changes': [
    undefined,
    [undefined],
    { a: undefined },
    [NaN],
    { a: -Infinity },
    Array(2),
    () => 1,
  ],
  'what it asks or unwraps': [
    new Date(0),
    { toJSON },
    { toJSON: 1 },
    Object.assign([1], { toJSON }),
    new String('a'),
  ],
  'a hidden question': [Object.defineProperty({ a: 1 }, 'toJSON', { value: toJSON })],
  'objects that are no records': [
    new Map(),
    tagged,
    argumentsOf(1),
    Object.create(null),
    Object.create({ a: 1 }),
    1n,
  ],
  'objects of classes': [
    new (class {
      a = 1;
    })(),
    Object.create({ toJSON }),
    [
      new (class {
        get a() {
          return 1;
        }
      })(),
    ],
  ],
  'numbers as tokens': [
    [new JsonNumber('1.50')],
    Object.create(JsonNumber.prototype, { token: { value: '}' } }),
  ],
  'half of a pair': ['\ud800', { '\udc00': 1 }, ['\\ud800'], long('\ud83d'), long('\ufffd')],
  'too much depth': [deep(64), deep(65), cycle],
  'long strings': ['x'.repeat(16384), ['"'.repeat(16385)], { a: 'é'.repeat(40_000) }],
  'what throws': [
    {
      get a(): never {
        throw new Error('no');
      },
    },
    new Proxy({}, { ownKeys: () => [1 as never] }),
  ],
};
/** The bytes, or the error. */
function written(value: unknown): string {
  try {
    return Buffer.from(jsonToBytes(value as object, 1, 16)).toString();
  } catch (error) {
    return String(error);
  }
}
const compareWriters = (value: unknown): void =>
  assert.is(
    written(value),
    withoutEngine(() => written(value)),
  );
for (const [part, values] of Object.entries(VALUES)) {
  test(`the two writers agree about ${part}`, () => values.forEach(compareWriters));
}

test('the two writers agree about generated values', () => {
  const anything = fc.anything({ withDate: true, withMap: true, withNullPrototype: true, withBigInt: true });
  fc.assert(fc.property(anything, compareWriters), { numRuns: 5000 });
});

for (const [name, value] of Object.entries({ inherited: 1, toJSON })) {
  test(`reads and writes the same where objects inherit ${name}`, () => {
    for (const prototype of [Object.prototype, Array.prototype]) {
      Object.defineProperty(prototype, name, { value, configurable: true, enumerable: name === 'inherited' });
      try {
        compare('{"a":1,"a":2}');
        compareWriters({ a: [1] });
      } finally {
        Reflect.deleteProperty(prototype, name);
      }
    }
  });
}

test('bytes are certainly no object unless a key or a brace follows the first brace', () => {
  const isNone = (text: string): boolean => isNoObject(new Uint8Array(Buffer.from(text)));
  for (const text of ['{}', ' \t\r\n{}', '{ \t\r\n}', '{"', ' { "a":1}'])
    assert.is(isNone(text), false, text);
  for (const text of ['', ' ', '{', '{ ', '{a', '{\u0000}', '[{}]', '"{}', '}{}'])
    assert.is(isNone(text), true, text);
});

test('the engine reads and writes an ordinary message', () => {
  const { parse, stringify } = JSON;
  let calls = 0;
  JSON.parse = (text) => {
    calls++;
    return parse(text);
  };
  JSON.stringify = (value: unknown) => {
    calls++;
    return stringify(value);
  };
  try {
    parseJson('{"msg_type":"bus","payload":{"type":"speak","data":{"n":1.5},"context":{}}}');
    jsonToBytes({ msg_type: 'bus', payload: { type: 'speak', data: { utterance: 'é' }, context: {} } });
  } finally {
    Object.assign(JSON, { parse, stringify });
  }
  assert.is(calls, 2);
});

test('reads the same where the engine cannot tell whether a text is well-formed', () => {
  const { isWellFormed } = String.prototype as { isWellFormed?: unknown };
  Object.assign(String.prototype, { isWellFormed: undefined });
  try {
    for (const text of ['"\ud800"', '"😀"', '["a",1.5]', '"\\ud83d\\ude00"', '"\\ud83d"']) compare(text);
  } finally {
    Object.assign(String.prototype, { isWellFormed });
  }
});

test.run();
