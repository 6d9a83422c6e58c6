// What is expected comes from vectors that Python's json wrote, from JSON.stringify, and from Buffer.compare.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8ToBytes } from '../../src/bytes.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { JsonNumber } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { buildPrologue } from '../../src/wire/prologue.ts';
import { canonicalJson, jsonToBytes, stringifyJson } from '../../src/wire/write-json.ts';
import { bothWays } from '../world/both-ways.ts';
import { fc } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';
import { readVectors, toHex } from '../world/vectors.ts';

const both = bothWays(test);

const canonicalText = (value: Json): string => Buffer.from(canonicalJson(value)).toString();
const WRITERS = [stringifyJson, canonicalJson];

both('writes the same as Python, for strings, bytes and its own output', () => {
  for (const { tcId, text, canonical } of readVectors('canonical-json', 'CanonicalJson')) {
    for (const form of [text, canonicalForm(canonical)]) {
      assert.is(toHex(canonicalJson(parseJson(form))), canonical, `tcId ${tcId}`);
      assert.is(toHex(canonicalJson(parseJson(Buffer.from(form)))), canonical, `tcId ${tcId}`);
    }
  }
});

function canonicalForm(canonical: string): string {
  return Buffer.from(canonical, 'hex').toString();
}

both('builds the same prologue as Python', () => {
  for (const { tcId, hello, handshake, protocolName, prologue } of readVectors('prologue', 'Prologue')) {
    const built = buildPrologue(parseJson(hello), parseJson(handshake), protocolName);
    assert.is(toHex(built), prologue, `tcId ${tcId}`);
  }
});

both('sorts keys by their UTF-8 at every depth', () => {
  const oracle = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(oracle).join()}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const entries = Object.entries(value).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${entries.map(([key, child]) => `${JSON.stringify(key)}:${oracle(child)}`).join()}}`;
  };
  const unit = fc.constantFrom(
    'a',
    'b',
    '"',
    '\u0000',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '😀',
    '\u{10000}',
    '\u{10ffff}',
  );
  const text = fc.oneof(fc.string({ unit, maxLength: 4 }), fc.string({ unit: 'binary', maxLength: 4 }));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.maxSafeInteger(),
      fc.constantFrom(null, true, false),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(text, tie('tree'), { maxKeys: 8, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => assert.is(canonicalText(value as Json), oracle(value))),
    { numRuns: 500 },
  );
});

both('sorts surrogate pairs among themselves, and after every other character', () => {
  const sorted = [
    '',
    'a',
    '\ud7ff',
    '\ue000',
    '\uffff',
    '\u{10000}',
    '\u{103ff}',
    '\u{10fc00}',
    '\u{10ffff}',
  ];
  for (const keys of [sorted, [...sorted].reverse()]) {
    const value = Object.fromEntries(keys.map((key) => [key, null]));
    assert.equal(Object.keys(JSON.parse(canonicalText(value))), sorted);
  }
});

both('writes ordinary JSON as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      assert.is(stringifyJson(value as Json), JSON.stringify(value));
    }),
    { numRuns: 1000 },
  );
});

both('keeps the order of keys in ordinary JSON, and sorts them in canonical JSON', () => {
  const value = { b: 1, a: { d: 2, c: 3 } };
  assert.is(stringifyJson(value), '{"b":1,"a":{"d":2,"c":3}}');
  assert.is(canonicalText(value), '{"a":{"c":3,"d":2},"b":1}');
});

test('does not change the order of the keys of its argument', () => {
  const value = { b: 1, a: 2 };
  canonicalJson(value);
  assert.equal(Object.keys(value), ['b', 'a']);
});

both('writes every number as the token it was read from', () => {
  const text = `[1.0,-0,-0.0,1e400,1E-400,0.10,1e+2,9007199254740993,${'7'.repeat(40)},-${'9'.repeat(40)}]`;
  assert.is(canonicalText(parseJson(text)), text);
  assert.is(stringifyJson(parseJson(text)), text);
});

both('writes safe integers up to the largest, and negative zero as 0', () => {
  assert.is(
    canonicalText([9007199254740991, -9007199254740991, 0, -0]),
    '[9007199254740991,-9007199254740991,0,0]',
  );
});

test('refuses a number in canonical JSON that is not a safe integer', () => {
  for (const number of [0.5, 1e21, 2 ** 53, -(2 ** 53), 5e-324, NaN, Infinity, -Infinity]) {
    raisesLocal(() => canonicalJson({ a: [number] }), 'unsafe-number');
  }
});

test('refuses a number in ordinary JSON only if it is not finite', () => {
  assert.is(stringifyJson([0.5, 1e21, 2 ** 53, 5e-324]), '[0.5,1e+21,9007199254740992,5e-324]');
  for (const number of [NaN, Infinity, -Infinity])
    raisesLocal(() => stringifyJson([number]), 'unsafe-number');
});

test('the error names the accepted range of numbers', () => {
  assert.match(raisesLocal(() => canonicalJson(0.5 as never), 'unsafe-number').message, 'safe integer');
  assert.match(raisesLocal(() => stringifyJson(NaN), 'unsafe-number').message, 'finite number');
});

both('writes thousands of brackets', () => {
  const lists = Array.from({ length: 1000 }, () => []);
  assert.is(stringifyJson(lists), JSON.stringify(lists));
});

test('refuses values that JSON cannot represent', () => {
  const values = [
    undefined,
    () => 1,
    Object.assign(() => 1, { token: '1' }),
    Symbol('s'),
    1n,
    new Date(0),
    new Map(),
    new Uint8Array(2),
    Object(1),
    /a/,
  ];
  for (const write of WRITERS) {
    for (const value of values) {
      raisesLocal(() => write(value as Json), 'not-json');
      raisesLocal(() => write({ a: value } as JsonObject), 'not-json');
    }
    raisesLocal(() => write(new Array(2)), 'not-json');
  }
});

both('refuses lone surrogates in values and keys', () => {
  for (const write of WRITERS) {
    for (const lone of [
      '\ud800',
      '\udc00',
      'a\udfff',
      '\udc00\ud800',
      '\udc00\udc00',
      '\ud800a',
      '\ud800\ue000',
      '\ud800\ud800',
    ]) {
      raisesLocal(() => write(lone), 'lone-surrogate');
      raisesLocal(() => write({ [lone]: 1 }), 'lone-surrogate');
    }
  }
});

test('writes 64 containers inside each other and refuses the 65th', () => {
  let value: Json = [];
  for (let i = 1; i < 64; i++) value = i % 2 ? { a: value } : [value];
  const deepest = value;
  assert.is(stringifyJson(deepest), JSON.stringify(deepest));
  assert.is(canonicalText(deepest), JSON.stringify(deepest));
  for (const write of WRITERS) {
    raisesLocal(() => write([deepest]), 'json-depth');
    raisesLocal(() => write({ a: deepest }), 'json-depth');
  }
});

test('refuses a value inside itself', () => {
  const value: Json[] = [];
  value.push(value);
  for (const write of WRITERS) raisesLocal(() => write(value), 'json-depth');
});

test('writes own keys that every object inherits, and no inherited ones', () => {
  const value = { ['__proto__']: 1, constructor: 2, toString: 3 } as unknown as Json;
  assert.is(canonicalText(value), '{"__proto__":1,"constructor":2,"toString":3}');
  assert.is(canonicalText(Object.create({ inherited: 1 })), '{}');
});

test('writes a JsonNumber as its token, and another object with a token as an object', () => {
  assert.is(canonicalText({ a: new JsonNumber('1.50'), b: { token: '1' } }), '{"a":1.50,"b":{"token":"1"}}');
});

both('refuses a JsonNumber with an invalid token, however it was created', () => {
  const forged = (token: unknown): Json =>
    Object.defineProperty(Object.create(JsonNumber.prototype), 'token', { value: token });
  const changed = new JsonNumber('1');
  Object.assign(changed, { token: '1}' });
  for (const write of WRITERS) {
    for (const token of ['1,"admin":true', '"a"', '', ' 1', '1\n', 1, undefined, ['1']]) {
      raisesLocal(() => write({ a: forged(token) }), 'not-json');
    }
    raisesLocal(() => write([changed]), 'not-json');
  }
});

test('reads the token of a JsonNumber once', () => {
  const tokens = ['1', '1,"admin":true'];
  const turncoat = Object.create(JsonNumber.prototype, { token: { get: () => tokens.shift() } });
  assert.is(stringifyJson([turncoat]), '[1]');
});

test('refuses a value that throws when read, with the thrown value as the cause', () => {
  const cause = new TypeError('from a getter');
  const fail = (): never => {
    throw cause;
  };
  const { proxy: revoked, revoke } = Proxy.revocable({}, {});
  revoke();
  const hostile = [
    Object.defineProperty({}, 'a', { get: fail, enumerable: true }),
    Object.defineProperty([1], '0', { get: fail }),
    new Proxy({}, { ownKeys: fail }),
    new Proxy([1], { get: fail }),
    Object.create(JsonNumber.prototype, { token: { get: fail } }),
  ];
  for (const write of WRITERS) {
    for (const value of hostile) {
      assert.is(raisesLocal(() => write(value as Json), 'not-json').cause, cause);
      raisesLocal(() => write({ a: [value] } as JsonObject), 'not-json');
    }
    raisesLocal(() => write(revoked as Json), 'not-json');
  }
});

test('builds different prologues if any of the three parts differs', () => {
  const prologue = toHex(buildPrologue({ a: 1 }, { b: 2 }, 'N'));
  assert.is(prologue, Buffer.from('{"a":1}{"b":2}N').toString('hex'));
  for (const other of [buildPrologue({ b: 2 }, { a: 1 }, 'N'), buildPrologue({ a: 1 }, { b: 2 }, 'M')]) {
    assert.is.not(toHex(other), prologue);
  }
});

test('refuses a prologue with numbers that have no token', () => {
  raisesLocal(() => buildPrologue({ a: 0.5 }, {}, 'N'), 'unsafe-number');
  raisesLocal(() => buildPrologue({}, { a: 0.5 }, 'N'), 'unsafe-number');
  raisesLocal(() => buildPrologue({}, {}, '\ud800'), 'lone-surrogate');
  for (const name of ['', undefined, 7, Symbol('name'), { toString: null }]) {
    raisesLocal(() => buildPrologue({}, {}, name as string), 'bad-argument');
  }
});

both('escapes characters wherever a string is cut into pieces', () => {
  for (const length of [0, 1, 254, 255, 256, 257, 8190, 8191, 8192]) {
    const text = `${'a'.repeat(length)}"\\\n${'b'.repeat(300)}\u0001`;
    assert.is(stringifyJson(text), JSON.stringify(text));
  }
  const quotes = '"'.repeat(600);
  assert.is(stringifyJson(quotes), JSON.stringify(quotes));
});

both('writes many short strings in which each character is escaped', () => {
  for (const length of [1, 40, 63, 64, 65]) {
    const texts = Array.from({ length: 40 }, () => '\u0001'.repeat(length));
    assert.is(stringifyJson(texts), JSON.stringify(texts));
  }
});

both('writes strings that end wherever a block may end', () => {
  for (let length = 1000; length < 1030; length++) {
    const texts = ['x'.repeat(length), 'y', 'z'];
    assert.is(stringifyJson(texts), JSON.stringify(texts));
  }
});

both('leaves room before and after JSON, with strings of every length and character', () => {
  const unit = fc.constantFrom('a', '"', '\\', '\u0001', '\n', 'é', '汉', '😀');
  const text = fc.tuple(fc.string({ unit, maxLength: 6 }), fc.constantFrom(0, 1, 58, 64, 65, 300, 5000));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), fc.nat(17), fc.nat(17), (texts, before, after) => {
      const value = texts.map(([start, length]) => ({ key: start.padEnd(length, 'x') + start }));
      const json = jsonToBytes(value, before, after);
      assert.is(json.length, json.buffer.byteLength);
      const bytes = Buffer.from(json);
      assert.ok(
        bytes.equals(
          Buffer.concat([Buffer.alloc(before), Buffer.from(JSON.stringify(value)), Buffer.alloc(after)]),
        ),
      );
      const string = JSON.stringify(value);
      const utf8 = Buffer.from(utf8ToBytes(string, before, after));
      assert.ok(utf8.equals(bytes));
    }),
    { numRuns: 500 },
  );
});

both('refuses a lone surrogate in a string of any length, before a fault that follows', () => {
  for (const length of [0, 47, 48, 64, 65, 300, 5000]) {
    for (const text of [
      '\ud800',
      '\udc00',
      '\ud800x\udc00',
      '\ud800xé',
      '\ud800\n\udc00',
      '\ud800\ud800\udc00',
    ]) {
      for (const write of WRITERS) {
        raisesLocal(() => write(['x'.repeat(length) + text, NaN]), 'lone-surrogate');
        raisesLocal(() => write([text + 'x'.repeat(length), NaN]), 'lone-surrogate');
      }
    }
  }
});

test.run();
