/** Every public function, with each argument and each field of an argument replaced by what no caller should pass. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LOCAL } from '../../evidence/searches/fuzz/targets/values.ts';
import { LocalError } from '../../src/errors.ts';
import { detached, revoked } from '../world/hostile.ts';
import { fc, runs } from '../world/property.ts';

const boom = (): never => {
  throw new TypeError('a trap threw');
};

function circular(): object {
  const object: { [field: string]: unknown } = { access_key: 'ak', password: 'pw' };
  object.self = object;
  object.mqtt = object;
  return object;
}

const HOSTILE: { readonly [what: string]: () => unknown } = {
  undefined: () => undefined,
  null: () => null,
  'a number': () => 7,
  NaN: () => Number.NaN,
  'a boolean': () => true,
  'a string': () => 'wss://hub',
  'an empty string': () => '',
  'a lone surrogate': () => '\ud800',
  'a symbol': () => Symbol('key'),
  'a BigInt': () => 7n,
  'a function': () => () => 1,
  'an empty object': () => ({}),
  'an object without a prototype': () => Object.create(null),
  'an object that contains itself': circular,
  'an array': () => [1, 2],
  'an ArrayBuffer': () => new ArrayBuffer(32),
  'other typed arrays': () => new Uint16Array(32),
  'an object that only inherits from Uint8Array': () => Object.create(Uint8Array.prototype),
  'a proxy of bytes': () => new Proxy(new Uint8Array(32), {}),
  'bytes that were transferred': () => detached(32),
  'an invalid Date': () => new Date(Number.NaN),
  'a Map': () => new Map([['access_key', 'ak']]),
  'a revoked proxy': () => revoked({}),
  'a revoked proxy of an array': () => revoked([]),
  'a revoked proxy of bytes': () => revoked(new Uint8Array(32)),
  'a revoked proxy of a function': () => revoked(() => 1),
  'a proxy that throws': () => new Proxy({}, { get: boom, ownKeys: boom, getOwnPropertyDescriptor: boom }),
  'an object whose toString throws': () => ({ toString: boom }),
};

function isHandled(call: (...args: never[]) => unknown, args: readonly unknown[], what: string): void {
  try {
    call(...(args as never[]));
  } catch (error) {
    assert.instance(error, LocalError, `${what}: ${inspect(error)}`);
  }
}

/** The arguments with one of them, or one field of one of them, replaced; and what was replaced. */
function* replaced(args: readonly unknown[], value: () => unknown): Generator<[string, unknown[]]> {
  for (const [i, arg] of args.entries()) {
    const others = (replacement: unknown): unknown[] => args.map((each, k) => (k === i ? replacement : each));
    yield [`argument ${i}`, others(value())];
    if (typeof arg !== 'object' || arg === null || arg instanceof Uint8Array) continue;
    for (const field of Object.keys(arg))
      yield [`${field} of argument ${i}`, others({ ...arg, [field]: value() })];
    const unreadable = Object.fromEntries(
      Object.keys(arg).map((key) => [key, { get: boom, enumerable: true }]),
    );
    yield [`getters of argument ${i}`, others(Object.defineProperties({}, unreadable))];
  }
}

for (const [name, [call, args]] of Object.entries(LOCAL)) {
  test(`${name} throws nothing but LocalErrors`, () => {
    for (const [what, value] of Object.entries(HOSTILE)) {
      for (const [where, given] of replaced(args, value)) isHandled(call, given, `${where} is ${what}`);
    }
    const anything = fc.anything({ withDate: true, withMap: true, withNullPrototype: true });
    fc.assert(
      fc.property(anything, (value) => {
        for (const [where, given] of replaced(args, () => value)) isHandled(call, given, where);
      }),
      runs(10),
    );
  });
}

test.run();
