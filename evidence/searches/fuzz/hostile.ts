/** Values that no caller should pass, and some do. */

import { detached, revoked } from '../../../test/world/hostile.ts';
import type { Random } from '../../../test/world/random.ts';
import { anyJson, anyText } from './mutate.ts';

const boom = (): never => {
  throw new Error('a trap threw');
};
const TRAPS = [
  'get', 'set', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor', 'apply', 'construct', 'defineProperty',
]; // biome-ignore format: a list

function throwing(target: object): object {
  return new Proxy(target, Object.fromEntries(TRAPS.map((trap) => [trap, boom])));
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
}

function circular(): unknown {
  const object: { self?: unknown; list: unknown[] } = { list: [] };
  object.self = object;
  object.list.push(object);
  return object;
}

/** An object whose fields are other ones at each look. */
function fickle(random: Random): object {
  return new Proxy(
    {},
    { get: (_, key) => (typeof key === 'symbol' ? undefined : anyJson(random, 1)), has: () => true },
  );
}

const KINDS: readonly ((random: Random) => unknown)[] = [
  () => undefined,
  () => null,
  (random) => random.oneIn(2),
  (random) => random.pick([0, -0, -1, 1, NaN, Infinity, -Infinity, 2 ** 53, 1e-9, 0.5, 32, 65536]),
  () => 10n,
  () => Symbol('a symbol'),
  (random) => anyText(random, 20),
  () => '',
  () => '\ud800',
  () => 'x'.repeat(70_000),
  () => () => undefined,
  () => boom,
  () => async () => new Uint8Array(32),
  () => class {},
  () => ({}),
  () => [],
  () => new Array(5),
  () => Object.create(null),
  () => Object.freeze({}),
  () => new Map([['a', 1]]),
  () => new Date(Number.NaN),
  () => Promise.resolve(new Uint8Array(32)),
  () => new String('boxed'),
  () => /x/,
  () => new Error('an error'),
  () => new Uint8Array(0),
  () => new Uint8Array(32),
  (random) => random.bytes(32),
  (random) => random.bytes(random.length(70)),
  () => new Uint8Array(new SharedArrayBuffer(32)),
  () => new Float64Array(4),
  () => new DataView(new ArrayBuffer(32)),
  () => new ArrayBuffer(32),
  () => Buffer.alloc(32, 1),
  () => Object.create(Uint8Array.prototype),
  () => detached(32),
  () => throwing({}),
  () => throwing(() => {}),
  () => throwing(new Uint8Array(32)),
  () => new Proxy(new Uint8Array(32), {}),
  () => revoked({}),
  () => revoked([]),
  () => revoked(() => {}),
  () => nested(70),
  () => nested(5000),
  () => circular(),
  (random) => fickle(random),
  () => ({ toString: boom, valueOf: boom, toJSON: boom, [Symbol.toPrimitive]: boom }),
  () => ({ get length(): number { return boom(); }, get type(): string { return boom(); } }),
  () => Object.defineProperty([1], 0, { get: boom }),
  () => ({ length: 2 ** 31, 0: 'a' }),
  () => ({ __proto__: null, constructor: 1 }),
  () => JSON.parse('{"__proto__":{"polluted":true}}'),
  (random) => anyJson(random),
]; // biome-ignore format: a list

export function hostile(random: Random): unknown {
  return random.pick(KINDS)(random);
}

/** Arguments of which one is hostile, or a part of one. */
export function spoiled(random: Random, args: readonly unknown[]): unknown[] {
  const copy = args.slice();
  const at = random.below(Math.max(1, copy.length));
  copy[at] = spoil(random, copy[at]);
  return copy;
}

function spoil(random: Random, value: unknown): unknown {
  const isPlain =
    typeof value === 'object' &&
    value !== null &&
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value));
  if (!isPlain || random.oneIn(3)) return hostile(random);
  const keys = Object.keys(value);
  if (keys.length === 0 || random.oneIn(6)) {
    const key = random.pick(['unknown', '__proto__', 'streams', '0']);
    return Object.defineProperty({ ...value }, key, { value: hostile(random), enumerable: true });
  }
  const key = random.pick(keys);
  const copy = (Array.isArray(value) ? value.slice() : { ...value }) as { [key: string]: unknown };
  if (random.oneIn(8)) return Object.defineProperty(copy, key, { get: boom, enumerable: true });
  copy[key] = spoil(random, copy[key]);
  return copy;
}
