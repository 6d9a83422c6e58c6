import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RemoteError } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { isJsonObject, isSafeInteger, JsonNumber, ownField, setField } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { stringifyJson } from '../../src/wire/write-json.ts';
import { raisesLocal, raisesRemote } from '../raises.ts';

/** What the strictness of ours refuses in a text that JSON.parse reads: the codes to expect, if any. */
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

/** Asserts that parseJson reads a text exactly as JSON.parse does, or refuses it where it has to. */
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

test('reads what JSON.parse reads, to the same value', () => {
  fc.assert(fc.property(fc.json({ stringUnit: 'binary' }), compareWithJsonParse), { numRuns: 1000 });
});

test('reads and refuses a mutated text as JSON.parse does, but for duplicate keys and lone surrogates', () => {
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
});

test('reads UTF-8 bytes as the text they are', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.is(parseJson(new Uint8Array(Buffer.from(JSON.stringify(text)))), text);
    }),
  );
});

test('refuses bytes that are not UTF-8', () => {
  raisesRemote(() => parseJson(new Uint8Array([0x22, 0xff, 0x22])), 'bad-utf8');
  raisesRemote(() => parseJson(new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])), 'bad-utf8');
});

test('refuses an argument that is neither text nor bytes', () => {
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
  'other notations of numbers': ['+1', '0x10', '1_000', '1n', '0b1', '\uff11'],
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
  test(`refuses ${what}`, () => {
    for (const text of texts) {
      assert.throws(() => JSON.parse(text), undefined, `JSON.parse reads ${text}`);
      raisesRemote(() => parseJson(text), 'bad-json');
    }
  });
}

test('refuses a key twice in one object, however it is written', () => {
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

test('takes the same key in different objects', () => {
  assert.equal(parseJson('[{"a":{"a":1}},{"a":2}]'), [{ a: { a: 1 } }, { a: 2 }]);
});

test('refuses lone surrogates, escaped and literal, in values and keys', () => {
  for (const lone of [
    '\\ud800',
    '\\ud83dx',
    '\\udc00\\ud800',
    '\\udc00\\udc00',
    '\ud800',
    '\udc00',
    '\ud800\\n\udc00',
  ]) {
    raisesRemote(() => parseJson(`"${lone}"`), 'lone-surrogate');
    raisesRemote(() => parseJson(`{"${lone}":1}`), 'lone-surrogate');
  }
});

test('joins a pair of surrogates, escaped or literal', () => {
  for (const pair of ['\\ud83d\\ude00', '\\uD83D\\uDE00', '😀']) assert.is(parseJson(`"${pair}"`), '😀');
});

test('refuses a pair of surrogates that is half escaped, and so has no UTF-8 form', () => {
  for (const half of ['\ud83d\\ude00', '\\uD83D\ude00']) {
    raisesRemote(() => parseJson(`"${half}"`), 'lone-surrogate');
  }
});

test('reads 64 containers inside each other', () => {
  assert.is(JSON.stringify(parseJson('['.repeat(64) + ']'.repeat(64))), '['.repeat(64) + ']'.repeat(64));
  const objects = `${'{"a":'.repeat(63)}{}${'}'.repeat(63)}`;
  assert.is(JSON.stringify(parseJson(objects)), objects);
});

test('refuses the 65th container inside each other, before it is closed', () => {
  raisesRemote(() => parseJson('['.repeat(65)), 'json-depth');
  raisesRemote(() => parseJson('['.repeat(65) + ']'.repeat(65)), 'json-depth');
  raisesRemote(() => parseJson(`${'{"a":'.repeat(64)}{}${'}'.repeat(64)}`), 'json-depth');
  raisesRemote(() => parseJson('[{"a":'.repeat(32) + '[]'), 'json-depth');
});

test('counts open containers, not all containers', () => {
  const text = `[${'[[]],'.repeat(100)}[]]`;
  assert.is(JSON.stringify(parseJson(text)), text);
});

test('gives a safe integer in its shortest form as a number', () => {
  for (const token of ['0', '1', '-1', '42', '9007199254740991', '-9007199254740991']) {
    assert.is(parseJson(token), Number(token));
  }
});

test('keeps the token of any other number', () => {
  const tokens = ['1.0', '-0', '0.0', '1e3', '1E3', '1e400', '-1e400', '1e-400', '0.1', '9007199254740992'];
  for (const token of [...tokens, '-9007199254740992', '1'.repeat(40), `0.${'3'.repeat(40)}`, '2.5E-3']) {
    const number = parseJson(token);
    assert.instance(number, JsonNumber, token);
    assert.is((number as JsonNumber).token, token);
  }
});

test('shows a number token as its nearest number, and as its text', () => {
  const number = new JsonNumber('-25e-1');
  assert.is(number.valueOf(), -2.5);
  assert.is(Number(number) * 2, -5);
  assert.is(number.toString(), '-25e-1');
  assert.is(JSON.stringify([number]), '[-2.5]');
});

test('takes exactly those tokens that JSON.parse reads as a number', () => {
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

test('refuses a token that is no text, or more than a number', () => {
  for (const token of [1, undefined, null, ['1'], '', ' 1', '1 ', '1,2', 'NaN', '"1"', '1\n']) {
    raisesLocal(() => new JsonNumber(token as string), 'not-json');
  }
});

test('knows a safe integer as Number.isSafeInteger does', () => {
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

test('keeps keys that every object inherits as own fields', () => {
  const text = '{"__proto__":{"a":1},"constructor":2,"toString":null,"hasOwnProperty":"x","valueOf":[]}';
  const value = parseJson(text) as JsonObject;
  assert.equal(Object.keys(value), INHERITED);
  assert.is(Object.getPrototypeOf(value), Object.prototype);
  assert.is(JSON.stringify(value), text);
  assert.is(stringifyJson(value), text);
});

test('pollutes no other object', () => {
  parseJson('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
  setField({}, '__proto__', { polluted: 1 });
  assert.is(({} as JsonObject).polluted, undefined);
});

test('sees no inherited field as a field', () => {
  for (const key of INHERITED) assert.is(ownField({}, key), undefined, key);
});

test('gives back every field that was set, and can set it again', () => {
  for (const key of [...INHERITED, 'a', '']) {
    const object: JsonObject = {};
    setField(object, key, 'first');
    setField(object, key, 'second');
    assert.is(ownField(object, key), 'second', key);
    const descriptor = Object.getOwnPropertyDescriptor(object, key);
    assert.equal(descriptor, { value: 'second', enumerable: true, configurable: true, writable: true });
  }
});

/** Runs a call while Object.prototype has these fields. */
function withInherited(fields: PropertyDescriptorMap, call: () => void): void {
  Object.defineProperties(Object.prototype, fields);
  try {
    call();
  } finally {
    for (const name of Object.keys(fields)) delete (Object.prototype as unknown as JsonObject)[name];
  }
}

test('sets a field of which Object.prototype has a frozen one, as in a hardened realm', () => {
  withInherited({ frozen: { value: 0, writable: false, configurable: true } }, () => {
    assert.is(JSON.stringify(parseJson('{"frozen":1,"a":{"frozen":2}}')), '{"frozen":1,"a":{"frozen":2}}');
  });
});

test('sets a field of which Object.prototype has an accessor, and does not call that', () => {
  const accessor = { get: () => 0, set: () => assert.unreachable(), configurable: true };
  withInherited({ watched: accessor, readOnly: { get: () => 0, configurable: true } }, () => {
    const text = '{"watched":1,"readOnly":2}';
    assert.is(JSON.stringify(parseJson(text)), text);
  });
});

test('hands out nested arrays element for element', () => {
  const value = parseJson('[[1,2],[],[{"a":[null]}]]');
  assert.equal(value, [[1, 2], [], [{ a: [null] }]]);
});

/** An object whose every use throws. */
function revoked(target: object): never {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy as never;
}

test('takes no object that throws when it is looked at for a JSON object', () => {
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
  ];
  for (const other of others) assert.is(isJsonObject(other), false);
});

test.run();
