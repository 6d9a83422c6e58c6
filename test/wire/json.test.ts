import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RemoteError } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { isJsonObject, isSafeInteger, JsonNumber, ownField, setField } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { stringifyJson } from '../../src/wire/write-json.ts';
import { bothWays, withoutEngine } from '../both-ways.ts';
import { raisesLocal, raisesRemote } from '../raises.ts';

const both = bothWays(test);

/** The codes with which parseJson may refuse JSON that JSON.parse accepts; none where it must accept it, too. */
function strictCodes(text: string): string[] {
  let keys = 0;
  let isWellFormed = true;
  const visit = (name: string, value: unknown): void => {
    for (const part of [name, value]) {
      if (typeof part === 'string' && Buffer.from(part).toString() !== part) isWellFormed = false;
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

/** What becomes of JSON: the value with all its tokens and keys, or the code of the error. */
function outcome(text: string | Uint8Array): string {
  try {
    const shown = (value: Json): unknown =>
      value instanceof JsonNumber
        ? { token: value.token }
        : Array.isArray(value)
          ? value.map(shown)
          : isJsonObject(value)
            ? { entries: Object.entries(value).map(([key, child]) => [key, shown(child)]) }
            : value;
    return JSON.stringify(shown(parseJson(text)));
  } catch (error) {
    return (error as RemoteError).code;
  }
}

test('returns the same, or refuses with the same code, with the engine’s JSON.parse and without', () => {
  const units = ['0', '1', '9', '-', '+', '.', 'e', 'E', ',', ':', '"', '[', ']', '{', '}', ' ', '\\'];
  const words = [
    '1.5',
    '-0',
    '1e5',
    '"a":',
    '\\ud83d',
    '\\ude00',
    '\\n',
    'é',
    '😀',
    'true',
    'null',
    '1234567890123456',
  ];
  const piece = fc.constantFrom(...units, ...words);
  const numbers = fc.array(fc.constantFrom('1', '-7', '0.5', '-2e3', '1.0', '-0', '12345678901234567'), {
    maxLength: 30,
  });
  const text = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((list) => list.join('')),
    fc.array(piece, { maxLength: 8 }).map((list) => `["é",${list.join('')},0.5]`),
    fc.array(piece, { maxLength: 8 }).map((list) => `{"2":1.5,"1":${list.join('')},"a":2.5}`),
    numbers.map((list) => `[${list.join()}]`),
    numbers.map((list) => `{"a":[${list.join()}],"b":[1.5,"${list.join()}"],"c":-2.5}`),
    fc.json({ stringUnit: 'binary' }),
  );
  fc.assert(
    fc.property(text, (json) => {
      assert.is(
        outcome(json),
        withoutEngine(() => outcome(json)),
      );
      const bytes = new Uint8Array(Buffer.from(json));
      assert.is(
        outcome(bytes),
        withoutEngine(() => outcome(bytes)),
      );
    }),
    { numRuns: 2500 },
  );
});

both('refuses numbers that would be one number if a part of them were replaced', () => {
  for (const text of [
    '-1-1e-261',
    '--1.5',
    '1-0.5',
    '1.5.5',
    '1.5e5e5',
    '-01.5',
    '1e5-1.5',
    '1.5-',
    '-1.5+1.5',
    '01.5',
  ]) {
    raisesRemote(() => parseJson(`[${text}]`), 'bad-json');
    raisesRemote(() => parseJson(text), 'bad-json');
  }
});

both('keeps hundreds of tokens in their places, also beside keys that objects reorder', () => {
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

both('refuses bytes that are not UTF-8', () => {
  raisesRemote(() => parseJson(new Uint8Array([0x22, 0xff, 0x22])), 'bad-utf8');
  raisesRemote(() => parseJson(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])), 'bad-utf8');
});

both('refuses bytes whose memory was transferred, as the caller’s mistake', () => {
  const bytes = new Uint8Array([0x31]);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  raisesLocal(() => parseJson(bytes), 'bad-argument');
});

both('refuses an argument that is neither a string nor bytes', () => {
  for (const value of [undefined, null, 1, {}, ['1']])
    raisesLocal(() => parseJson(value as string), 'bad-argument');
});

const NOT_JSON: Record<string, string[]> = {
  'no value at all': ['', ' ', '\n'],
  'a byte order mark': ['\ufeff1', '\ufeff{}'],
  'text after the value': ['1 2', '{}x', '{} {}', '[],', '"a""b"', 'null\u0000', '1]'],
  comments: ['/**/1', '1//', '[1,/* */2]', '#1'],
  'names that are not JSON': ['NaN', '-Infinity', 'undefined', 'True', 'None', 'nul', 'truee', 'f'],
  'single quotes and bare keys': ["'a'", "{'a':1}", '{a:1}', '{1:1}', '{null:1}'],
  'numbers with leading zeros': ['01', '-01', '00', '-00.5'],
  'numbers without digits where they are due': ['.5', '1.', '1.e1', '1e', '1e+', '-', '-.5', '1E-', '--1'],
  'other notations of numbers': ['1d5', '1D5', '+1', '0x10', '1_000', '1n', '0b1', '\uff11'],
  'control characters in a string': ['"\u0000"', '"\n"', '"\t"', '"\u001f"'],
  'unknown escapes': ['"\\x41"', '"\\\'"', '"\\0"', '"\\U0041"', '"\\"', '"\\', '"\\v"'],
  'unicode escapes without four digits': [
    '"\\u"',
    '"\\u12"',
    '"\\u123',
    '"\\u12g4"',
    '"\\u-123"',
    '"\\u 123"',
  ],
  'strings without an end': ['"', '"a', '{"a'],
  'containers without an end': ['[', '{', '[1', '[1,', '{"a"', '{"a":', '{"a":1', '{"a":1,', '[[]', '[{}'],
  'the wrong bracket': ['[}', '{]', '[1}', '{"a":1]', ']', '}'],
  'missing and superfluous commas': ['[1 2]', '[,]', '[1,]', '[1,,2]', '{,}', '{"a":1,}', '{"a":1 "b":2}'],
  'missing and superfluous colons': ['{"a" 1}', '{"a"}', '{"a"::1}', '{:1}', '["a":1]', ':'],
  'white space of other kinds': ['\u00a01', '1\u00a0', '\u000b1', '\f1', '[\u20281]', '\u0085{}'],
};
for (const [what, texts] of Object.entries(NOT_JSON)) {
  both(`refuses ${what}`, () => {
    for (const text of texts) {
      assert.throws(() => JSON.parse(text), undefined, `JSON.parse reads ${text}`);
      raisesRemote(() => parseJson(text), 'bad-json');
    }
  });
}

both('says what is wrong with an escape, and with an argument', () => {
  assert.match(raisesRemote(() => parseJson('"\\x"'), 'bad-json').message, 'unknown escape');
  assert.match(raisesLocal(() => parseJson(7 as never), 'bad-argument').message, 'string or Uint8Array');
});

both('says before which byte the fault is', () => {
  assert.match(raisesRemote(() => parseJson('[1,]'), 'bad-json').message, / after 3 bytes$/);
  assert.match(raisesRemote(() => parseJson('1 2'), 'bad-json').message, / after 2 bytes$/);
});

both('refuses a key that is twice in one object, however it is written', () => {
  const texts = [
    '{"a":1,"b":2,"a":1}',
    '{"a":1,"\\u0061":2}',
    '{"/":1,"\\/":2}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"__proto__":null,"\\u005f_proto__":null}',
    '{"toString":1,"toString":2}',
    '[{"x":{"a":[],"a":[]}}]',
  ];
  for (const text of texts) raisesRemote(() => parseJson(text), 'duplicate-key');
});

both('accepts the same key in different objects', () => {
  assert.equal(parseJson('[{"a":{"a":1}},{"a":2}]'), [{ a: { a: 1 } }, { a: 2 }]);
});

both('refuses lone surrogates, escaped and literal, in values and keys', () => {
  for (const lone of [
    '\\ud800',
    '\\ud83dx',
    '\\udc00\\ud800',
    '\\udc00\\udc00',
    '\\udfff',
    '\\ud83d\\ue000',
    '\ud800',
    '\udc00',
    '\ud800\\n\udc00',
  ]) {
    raisesRemote(() => parseJson(`"${lone}"`), 'lone-surrogate');
    raisesRemote(() => parseJson(`{"${lone}":1}`), 'lone-surrogate');
  }
});

both('joins a pair of surrogates, escaped or literal', () => {
  for (const pair of ['\\ud83d\\ude00', '\\uD83D\\uDE00', '😀']) assert.is(parseJson(`"${pair}"`), '😀');
});

both('refuses a pair of surrogates of which one half is escaped', () => {
  for (const half of ['\ud83d\\ude00', '\\uD83D\ude00']) {
    raisesRemote(() => parseJson(`"${half}"`), 'lone-surrogate');
  }
});

both('reads 64 containers inside each other', () => {
  assert.is(JSON.stringify(parseJson('['.repeat(64) + ']'.repeat(64))), '['.repeat(64) + ']'.repeat(64));
  const objects = `${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`;
  assert.is(JSON.stringify(parseJson(objects)), objects);
});

both('refuses the 65th container inside each other, before it is closed', () => {
  raisesRemote(() => parseJson('['.repeat(65)), 'json-depth');
  raisesRemote(() => parseJson('['.repeat(65) + ']'.repeat(65)), 'json-depth');
  raisesRemote(() => parseJson(`${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`), 'json-depth');
  raisesRemote(() => parseJson('[{"a":'.repeat(32) + '[]'), 'json-depth');
});

both('counts open containers, not all containers', () => {
  const text = `[${'[[]],'.repeat(100)}[]]`;
  assert.is(JSON.stringify(parseJson(text)), text);
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

test('tells a safe integer as Number.isSafeInteger does', () => {
  for (const number of [
    0,
    -0,
    1.5,
    2 ** 53 - 1,
    2 ** 53,
    1 - 2 ** 53,
    -(2 ** 53),
    NaN,
    Infinity,
    -Infinity,
  ]) {
    assert.is(isSafeInteger(number), Number.isSafeInteger(number), String(number));
  }
});

const INHERITED = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

both('makes own fields of keys that every object inherits', () => {
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

both('sets a field where Object.prototype has a frozen one of that name, as in a hardened realm', () => {
  withInherited({ frozen: { value: 0, writable: false, configurable: true } }, () => {
    assert.is(JSON.stringify(parseJson('{"frozen":1,"a":{"frozen":2}}')), '{"frozen":1,"a":{"frozen":2}}');
  });
});

both('sets a field where Object.prototype has an accessor of that name, without calling it', () => {
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

test('does not take an object that throws when it is inspected for a JSON object', () => {
  const throwing = Object.defineProperty({}, Symbol.toStringTag, {
    get() {
      throw new TypeError();
    },
  });
  for (const value of [revoked({}), revoked([]), throwing]) assert.is(isJsonObject(value), false);
});

test('tells a JSON object from anything else', () => {
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

test.run();
