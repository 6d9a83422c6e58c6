/** Copies and compares objects with all that they refer to, as far as it can change: sessions cannot be copied otherwise. */
import { PATTERNS } from '../../../src/noise/patterns.ts';
import { ReplyCollector } from '../../../src/parts.ts';
import { CLIENT_ENDINGS, CLIENT_FAILURES, HUB_ENDINGS, HUB_FAILURES } from '../../../src/session/endings.ts';
import { CLIENT_TRANSITIONS, HUB_TRANSITIONS } from '../../../src/session/transitions.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';

type Copy = (value: unknown) => unknown;
type CopyFields = (from: object, to: object, copy: Copy) => void;

/** By class. A function with the names in it is several times faster than a loop over them. */
const classes = new Map<object, CopyFields>();

function copyFieldsOf(value: object, prototype: object, constantFields: readonly string[]): CopyFields {
  let fields = classes.get(prototype);
  if (fields === undefined) {
    const names = Object.getOwnPropertyNames(value);
    const lines = names.map((name) => {
      const field = `from[${JSON.stringify(name)}]`;
      return `to[${JSON.stringify(name)}] = ${constantFields.includes(name) ? field : `copy(${field})`};`;
    });
    const count = `if (Object.getOwnPropertyNames(from).length !== ${names.length}) throw new Error('objects of a class differ');`;
    fields = new Function('from', 'to', 'copy', `${count}\n${lines.join('\n')}`) as CopyFields;
    classes.set(prototype, fields);
  }
  return fields;
}

/**
 * Makes a function that copies objects. Objects that refer to each other do so in the copy. What is reachable from `constant` is
 * never changed, nor are the values of `constantFields` in objects of classes: the copies share it. The objects of other classes
 * than `varied` always have the same fields.
 */
function copier(
  constant: readonly object[],
  constantFields: readonly string[] = [],
  varied: readonly object[] = [],
): <T>(value: T) => T {
  const shared = new WeakSet<object>();
  const share = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || shared.has(value)) return;
    shared.add(value);
    Object.values(value).forEach(share);
  };
  constant.forEach(share);
  let copies = new Map<object, object>();
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = copies.get(value);
    if (known !== undefined) return known;
    if (value instanceof Uint8Array) {
      const bytes = value.slice();
      copies.set(value, bytes);
      return bytes;
    }
    if (value instanceof Error || shared.has(value)) return value;
    const prototype = Object.getPrototypeOf(value) as object;
    const made = (Array.isArray(value) ? [] : Object.create(prototype)) as { [key: string]: unknown };
    copies.set(value, made);
    if (prototype === Object.prototype || Array.isArray(value) || varied.includes(prototype)) {
      for (const [name, field] of Object.entries(value)) made[name] = copy(field);
    } else copyFieldsOf(value, prototype, constantFields)(value, made, copy);
    return made;
  };
  return (value) => {
    copies = new Map();
    return copy(value) as typeof value;
  };
}

/** Copies a session, or another object. */
export const copied: <T>(value: T) => T = copier(
  [
    toyCrypto,
    CLIENT_ENDINGS,
    CLIENT_FAILURES,
    HUB_ENDINGS,
    HUB_FAILURES,
    CLIENT_TRANSITIONS,
    HUB_TRANSITIONS,
    PATTERNS,
  ],
  ['plan'],
  [ReplyCollector.prototype],
);

/**
 * Whether two objects with the same fields are equal in all that they refer to. Functions and errors must be the same ones.
 * @param compared - the objects that are being compared, which may refer to each other
 */
export function isEqual(a: unknown, b: unknown, compared: Map<object, object> = new Map()): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  const other = compared.get(a);
  if (other !== undefined) return other === b;
  compared.set(a, b);
  const names = Object.getOwnPropertyNames(a);
  return (
    names.length === Object.getOwnPropertyNames(b).length &&
    names.every((name) =>
      isEqual((a as { [key: string]: unknown })[name], (b as { [key: string]: unknown })[name], compared),
    )
  );
}

/** A number for a string. That two of 10 million strings have the same one has a chance of one in 200. */
export function hashOf(text: string): number {
  let [a, b] = [0x12345678, 0x9abcdef0];
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x9e3779b1);
    b = Math.imul(b ^ text.charCodeAt(i), 0x5f356495);
    a ^= b >>> 15;
  }
  return hash53(Math.imul(a ^ (a >>> 16), 0x85ebca6b), Math.imul(b ^ (b >>> 13), 0xc2b2ae35));
}

function hash53(a: number, b: number): number {
  return ((a ^ (b >>> 11)) >>> 11) * 0x100000000 + ((b ^ (a >>> 7)) >>> 0);
}
