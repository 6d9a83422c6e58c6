// What is expected comes from vectors that Python's json wrote, from JSON.stringify, and from Buffer.compare.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8ToBytes } from '../../src/bytes.ts';
import type { Json, JsonObject } from '../../src/wire/json.ts';
import { JsonNumber } from '../../src/wire/json.ts';
import { canonicalJson, jsonToBytes, stringifyJson } from '../../src/wire/write-json.ts';
import { bothWays } from '../world/both-ways.ts';
import { fc } from '../world/property.ts';
import { raisesLocal } from '../world/raises.ts';

const both = bothWays(test);

const canonicalText = (value: Json): string => Buffer.from(canonicalJson(value)).toString();
const WRITERS = [stringifyJson, canonicalJson];

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

both('writes ordinary JSON as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      assert.is(stringifyJson(value as Json), JSON.stringify(value));
    }),
    { numRuns: 1000 },
  );
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

both('leaves room before and after JSON, with strings of every length and character', () => {
  const unit = fc.constantFrom('a', '"', '\\', '\u0001', '\n', 'é', '汉', '😀');
  const text = fc.tuple(fc.string({ unit, maxLength: 6 }), fc.constantFrom(0, 1, 58, 64, 65, 300, 5000));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), fc.nat(16), fc.nat(16), (texts, before, after) => {
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

test('refuses a number in canonical JSON that is not a safe integer', () => {
  for (const number of [0.5, 1e21, 2 ** 53, -(2 ** 53), 5e-324, NaN, Infinity, -Infinity]) {
    const { message } = raisesLocal(() => canonicalJson({ a: [number] }), 'unsafe-number');
    assert.match(message, 'a safe integer'); // ordinary JSON takes any that is finite
  }
});

test.run();
