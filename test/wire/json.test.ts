import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile } from '../../judge/src/vectors.ts';
import { RemoteError } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { isJsonObject, JsonNumber, ownField, setField } from '../../src/wire/json.ts';
import { parseJson, readJson } from '../../src/wire/parse-json.ts';
import { stringifyJson } from '../../src/wire/write-json.ts';
import { bothWays } from '../world/both-ways.ts';
import { fc } from '../world/property.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';
import { hex } from '../world/vectors.ts';

const both = bothWays(test);

/** Whether each surrogate in a text is half of a pair. */
const isUnicode = (text: string): boolean => Buffer.from(text).toString() === text;

/** The codes with which parseJson may refuse JSON that JSON.parse accepts; none where it must accept it, too. */
function strictCodes(text: string): string[] {
  let keys = 0;
  // JSON.parse joins half a pair in the text with an escaped other half, so the text itself must be well-formed, too.
  let isWellFormed = isUnicode(text);
  const visit = (name: string, value: unknown): void => {
    for (const part of [name, value]) {
      if (typeof part === 'string' && !isUnicode(part)) isWellFormed = false;
    }
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) keys += Object.keys(value).length;
    for (const [key, child] of Object.entries(value)) visit(key, child);
  };
  visit('', JSON.parse(text));
  const colons = text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  if (colons > keys) return ['duplicate-key', 'lone-surrogate'];
  return isWellFormed ? [] : ['lone-surrogate'];
}

/** Asserts that parseJson returns what JSON.parse returns, or refuses the text where it has to. */
function compareWithJsonParse(text: string): void {
  let ours: Json = null;
  let code = '';
  try {
    ours = parseJson(text);
  } catch (error) {
    assert.instance(error, RemoteError, text);
    code = (error as RemoteError).code;
  }
  let theirs: unknown;
  try {
    theirs = JSON.parse(text);
  } catch {
    assert.is.not(code, '', `read what is not JSON: ${text}`);
    return;
  }
  const codes = strictCodes(text);
  if (codes.length > 0) assert.ok(codes.includes(code), `${code} for ${text}`);
  else assert.is(code, '', text);
  if (code === '') assert.is(JSON.stringify(ours), JSON.stringify(theirs));
}

const anyText = fc.string({ unit: 'binary' });

both('returns the value that JSON.parse returns', () => {
  fc.assert(fc.property(fc.json({ stringUnit: 'binary' }), compareWithJsonParse), { numRuns: 1000 });
});

both(
  'accepts and refuses mutated JSON as JSON.parse does, except for duplicate keys and lone surrogates',
  () => {
    const seeds = fc.oneof(
      fc.json({ maxDepth: 3 }),
      fc.constant('{"a":[1,-2.5e+3,true,false,null],"b":{"\\u00e9\\n":"\\ud83d\\ude00"},"c":"x"}'),
    );
    const pieces = fc.constantFrom(
      ...'{}[]:,"\\/ \n\t\r\u00a0\ufeff\u0000\u001f\u007f0123-+.eEutrnbfasl\''.split(''),
      ...['"a"', '"a":1', ',"a":1', '\\ud800', '\\u00', '\ud800', 'NaN', 'null', '//', '/**/', '1e400', '-0'],
    );
    const edit = fc.tuple(fc.nat(), fc.nat(2), fc.oneof(fc.constant(''), pieces));
    const edits = fc.array(edit, { minLength: 1, maxLength: 3 });
    const mutated = fc.tuple(seeds, edits).map(([seed, list]) => {
      let text = seed;
      for (const [where, removed, added] of list) {
        const at = where % (text.length + 1);
        text = text.slice(0, at) + added + text.slice(at + removed);
      }
      return text;
    });
    fc.assert(fc.property(mutated, compareWithJsonParse), { numRuns: 5000 });
  },
);

both('refuses half a surrogate pair followed by an escaped other half, which JSON.parse joins', () => {
  for (const pair of ['d83d\ud800\\ude00', '\\ud83d\ude00', '\ud83d\\uDE00'])
    compareWithJsonParse(`{"a":[1,-2.5e+3,true,false,null],"b":{"\\u00e9\\n":"${pair}"},"c":"x"}`);
});

both('refuses a number with a letter that is nearly E', () => {
  for (const text of ['1D5', '1d5', '1F5', '1\u00055']) raisesRemote(() => parseJson(text), 'bad-json');
});

both('keeps hundreds of tokens in their places, even beside keys that objects reorder', () => {
  const tokens = Array.from({ length: 1200 }, (_, i) => `${i}.${'0'.repeat(1 + (i % 20))}`);
  const text = `{"é😀":[${tokens.join()}],"7":1.0,"a":2.0,"3":[3.0,{"4":4.00}]}`;
  const { 'é😀': list, ...others } = parseJson(text) as { [key: string]: Json };
  assert.equal((list as Json[]).map(String), tokens);
  assert.is(stringifyJson(others), '{"3":[3.0,{"4":4.00}],"7":1.0,"a":2.0}');
});

both('reads UTF-8 bytes as it reads a string', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.is(parseJson(new Uint8Array(Buffer.from(JSON.stringify(text)))), text);
    }),
  );
});

both('refuses bytes whose memory was transferred, with a LocalError', () => {
  const bytes = new Uint8Array([0x31]);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  raisesLocal(() => parseJson(bytes), 'bad-argument');
});

both('refuses an argument that is neither a string nor bytes', () => {
  for (const value of [undefined, null, 1, {}, ['1']])
    raisesLocal(() => parseJson(value as string), 'bad-argument');
});

both('refuses the invalid vectors, with their codes', () => {
  const refused = readVectorFile('canonical-json').testGroups.flatMap(({ tests }) =>
    tests.filter(({ error }) => error !== undefined),
  );
  assert.ok(refused.length > 100);
  for (const { tcId, text, bytes, error, otherErrors = [] } of refused) {
    let code = 'none';
    try {
      parseJson(bytes === undefined ? text : hex(bytes));
    } catch (caught) {
      code = (caught as RemoteError).code;
    }
    assert.ok([error, ...otherErrors].includes(code), `tcId ${tcId}: ${code}`);
  }
});

both('reports the fault in an escape, and in an argument', () => {
  assert.match(raisesRemote(() => parseJson('"\\x"'), 'bad-json').message, 'unknown escape');
  assert.match(raisesLocal(() => parseJson(7 as never), 'bad-argument').message, 'string or Uint8Array');
});

both('reports the offset of the fault', () => {
  assert.match(raisesRemote(() => parseJson('[1,]'), 'bad-json').message, / after 3 bytes$/);
  assert.match(raisesRemote(() => parseJson('1 2'), 'bad-json').message, / after 2 bytes$/);
});

both('refuses an escaped surrogate at either edge of its range that has no other half', () => {
  for (const lone of ['\\udc00\\udc00', '\\udc00', '\\udfff', '\\ud800\\ue000', '\\udbff\\udbff'])
    raisesRemote(() => parseJson(`"${lone}"`), 'lone-surrogate');
  assert.is(parseJson('"\\ud800\\udc00\\udbff\\udfff"'), '\u{10000}\u{10ffff}');
});

both('refuses a surrogate pair with only one half escaped', () => {
  for (const half of ['\ud83d\\ude00', '\\uD83D\ude00']) {
    raisesRemote(() => parseJson(`"${half}"`), 'lone-surrogate');
  }
});

both('returns a number for a safe integer in its shortest form', () => {
  for (const token of ['0', '1', '-1', '42', '9007199254740991', '-9007199254740991']) {
    assert.is(parseJson(token), Number(token));
  }
});

both('returns a JsonNumber with the token for any other number', () => {
  const tokens = ['1.0', '-0', '0.0', '1e3', '1E3', '1e400', '-1e400', '1e-400', '0.1', '9007199254740992'];
  for (const token of [...tokens, '-9007199254740992', '1'.repeat(40), `0.${'3'.repeat(40)}`, '2.5E-3']) {
    const number = parseJson(token);
    assert.instance(number, JsonNumber, token);
    assert.is((number as JsonNumber).token, token);
  }
});

test('converts a JsonNumber to the nearest number, and to its token', () => {
  const number = new JsonNumber('-25e-1');
  assert.is(number.valueOf(), -2.5);
  assert.is(Number(number) * 2, -5);
  assert.is(number.toString(), '-25e-1');
  assert.is(JSON.stringify([number]), '[-2.5]');
});

both('accepts exactly the tokens that JSON.parse reads as a number', () => {
  const texts = fc.string({ unit: fc.constantFrom(...'00112-+.eE'.split('')), maxLength: 7 });
  fc.assert(
    fc.property(texts, (token) => {
      let isNumber = true;
      try {
        JSON.parse(token);
      } catch {
        isNumber = false;
      }
      if (isNumber) assert.is(new JsonNumber(token).token, token);
      else raisesLocal(() => new JsonNumber(token), 'not-json');
    }),
    { numRuns: 3000 },
  );
});

both('refuses a token that is not a string, or more than a number', () => {
  for (const token of [1, undefined, null, ['1'], '', ' 1', '1 ', '1,2', 'NaN', '"1"', '1\n']) {
    raisesLocal(() => new JsonNumber(token as string), 'not-json');
  }
});

const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

both('creates own fields for keys that every object inherits', () => {
  const text = '{"__proto__":{"a":1},"constructor":2,"toString":null,"hasOwnProperty":"x","valueOf":[]}';
  const value = parseJson(text) as JsonObject;
  assert.equal(Object.keys(value), INHERITED);
  assert.is(Object.getPrototypeOf(value), Object.prototype);
  assert.is(JSON.stringify(value), text);
  assert.is(stringifyJson(value), text);
});

both('changes no prototype', () => {
  parseJson('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  setField({}, '__proto__', { polluted: 1 });
  assert.is(({} as JsonObject).polluted, undefined);
});

test('reads no inherited field', () => {
  for (const key of INHERITED) assert.is(ownField({}, key), undefined, key);
});

test('sets a field under any name, and sets it again', () => {
  for (const key of [...INHERITED, 'a', '']) {
    const object: JsonObject = {};
    setField(object, key, 'first');
    setField(object, key, 'second');
    assert.is(ownField(object, key), 'second', key);
    const descriptor = Object.getOwnPropertyDescriptor(object, key);
    assert.equal(descriptor, { value: 'second', enumerable: true, configurable: true, writable: true });
  }
});

/** Calls a function while Object.prototype has these fields. */
function withInherited(fields: PropertyDescriptorMap, call: () => void): void {
  Object.defineProperties(Object.prototype, fields);
  try {
    call();
  } finally {
    for (const name of Object.keys(fields)) delete (Object.prototype as unknown as JsonObject)[name];
  }
}

both('sets a field even if Object.prototype has a frozen field of that name, as in a hardened realm', () => {
  withInherited({ frozen: { value: 0, writable: false, configurable: true } }, () => {
    assert.is(JSON.stringify(parseJson('{"frozen":1,"a":{"frozen":2}}')), '{"frozen":1,"a":{"frozen":2}}');
  });
});

both('sets a field without calling an accessor of that name on Object.prototype', () => {
  const accessor = { get: () => 0, set: () => assert.unreachable(), configurable: true };
  withInherited({ watched: accessor, readOnly: { get: () => 0, configurable: true } }, () => {
    const text = '{"watched":1,"readOnly":2}';
    assert.is(JSON.stringify(parseJson(text)), text);
  });
});

both('returns nested arrays with all their elements', () => {
  const value = parseJson('[[1,2],[],[{"a":[null]}]]');
  assert.equal(value, [[1, 2], [], [{ a: [null] }]]);
});

/** A Proxy that throws whatever is done with it. */
function revoked(target: object): never {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy as never;
}

test('does not accept an object that throws when inspected as a JSON object', () => {
  const throwing = Object.defineProperty({}, Symbol.toStringTag, {
    get() {
      throw new TypeError();
    },
  });
  for (const value of [revoked({}), revoked([]), throwing]) assert.is(isJsonObject(value), false);
});

test('distinguishes JSON objects from all other values', () => {
  assert.equal(
    [isJsonObject({}), isJsonObject(Object.create(null)), isJsonObject({ length: 0 })],
    [true, true, true],
  );
  const others = [
    null,
    undefined,
    [],
    'a',
    1,
    new JsonNumber('1'),
    new Date(0),
    new Map(),
    new Uint8Array(1),
    Object.assign(() => 1, { [Symbol.toStringTag]: 'Object' }),
    Object.assign([], { [Symbol.toStringTag]: 'Object' }),
  ];
  for (const other of others) assert.is(isJsonObject(other), false);
});

/** The code with which JSON is refused, if it is. */
function refusal(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    assert.instance(error, RemoteError);
    return (error as RemoteError).code;
  }
}

test('a check refuses what the parser refuses, with the same code, and nothing else', () => {
  const unit = fc.constantFrom(
    ...'{}[]:,"\\ua0é1-.e'.split(''),
    '"a"',
    '{"a":1',
    ',"a":2}',
    '"\\ud800"',
    'null',
  );
  const json = fc
    .json()
    .chain((text) => fc.tuple(fc.constant(text), fc.nat(text.length), fc.string({ unit, maxLength: 3 })));
  const check = (text: string): void =>
    assert.is(
      refusal(() => readJson(Buffer.from(text), true)),
      refusal(() => parseJson(text)),
      text,
    );
  fc.assert(
    fc.property(json, ([text, at, other]) => check(text.slice(0, at) + other + text.slice(at))),
    { numRuns: 3000 },
  );
  fc.assert(fc.property(fc.string({ unit, maxLength: 12 }), check), { numRuns: 3000 });
  for (const text of ['['.repeat(64), '['.repeat(65), '{"a":{"b":1,"b":2}}', '[[1],{"a":[],"a":0}]'])
    check(text);
});

test('a check makes no value', () => {
  for (const text of ['"text"', '[[1,"a"],{"b":2}]', '{"a":{"b":["c"]}}', '[1]']) {
    const value = JSON.stringify(readJson(Buffer.from(text), true));
    assert.ok(['""', '[]', '{"a":null}'].includes(value), value);
  }
});

both('reads 64 arrays and objects in each other, and no more', () => {
  const nested = (count: number): string => `${'[{"a":'.repeat(count)}[]${'}]'.repeat(count)}`;
  assert.is(stringifyJson(parseJson(`[${nested(31)}]`)), `[${nested(31)}]`);
  for (const text of [nested(32), '['.repeat(65), `${'{"a":'.repeat(64)}{}`])
    raisesRemote(() => parseJson(text), 'json-depth');
});

test.run();
