/** Lossless JSON values (RFC 8259): a number keeps its token, and `__proto__` is a key like any other. */

import { encodeUtf8 } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { descriptor } from '../hide-fields.ts';
import { assertNotFull } from '../memory.ts';

/** A JSON object. */
export type JsonObject = { [key: string]: Json };
/** A JSON value. A number that JavaScript would round or reformat is a JsonNumber. */
export type Json = null | boolean | number | string | JsonNumber | Json[] | JsonObject;

/**
 * A JSON number as its original token, for tokens that a JavaScript number would round or reformat.
 *
 * @example
 * import { JsonNumber, parseJson } from 'hub-protocol';
 *
 * const price = parseJson('1.50');
 * console.log(price instanceof JsonNumber, String(price), Number(price)); // true 1.50 1.5
 */
export class JsonNumber {
  /** The token, such as `1.0`, `-0`, `1e400` or forty digits. */
  readonly token: string;

  /**
   * @param token - a JSON number (RFC 8259, section 6)
   * @throws LocalError `not-json` if it is not one
   */
  constructor(token: string) {
    this.token = checkedToken(token);
  }

  /** @returns the nearest JavaScript number */
  valueOf(): number {
    return Number(this.token);
  }

  /** @returns the token */
  toString(): string {
    return this.token;
  }

  /**
   * For JSON.stringify, which cannot write a token. `sendJson` and `canonicalJson` keep it.
   * @returns the nearest JavaScript number
   */
  toJSON(): number {
    return Number(this.token);
  }
}

/**
 * Checks the token of a JsonNumber. The constructor does this, and so does the writer: Object.create can make a
 * JsonNumber whose token is other JSON.
 * @returns the token
 * @throws LocalError `not-json`
 */
export function checkedToken(token: unknown): string {
  const codes = typeof token === 'string' ? encodeUtf8(token) : undefined;
  if (codes === undefined || numberEnd(codes, 0) !== codes.length) {
    throw errors.notNumberToken();
  }
  return token as string;
}

/** The letters that follow a reverse solidus in a string. */
export const LETTERS = '"\\/bfnrt';
/** The characters that they mean. */
export const ESCAPED = '"\\/\b\f\n\r\t';

const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_E = 0x65;

const MAX_SAFE_INTEGER = 9007199254740991;

/** Number.isSafeInteger, which ES5 lacks. */
export function isSafeInteger(value: number): boolean {
  return Math.floor(value) === value && value >= -MAX_SAFE_INTEGER && value <= MAX_SAFE_INTEGER;
}

/** Makes JsonNumbers of tokens that were checked: checking one again would take longer than reading it. */
const CheckedNumber = function (this: { token: string }, token: string): void {
  this.token = token;
} as unknown as new (
  token: string,
) => JsonNumber;
CheckedNumber.prototype = JsonNumber.prototype;

/**
 * The value of a token that is known to be a JSON number: a JavaScript number if it is a safe integer written in its
 * shortest form, otherwise a JsonNumber.
 */
export function numberOf(token: string): number | JsonNumber {
  const value = token.indexOf('.') < 0 ? Number(token) : NaN; // the first test is the faster one
  return isSafeInteger(value) && String(value) === token ? value : new CheckedNumber(token);
}

/** Whether a value is a JSON object: not null, an array, a JsonNumber or another built-in object. Never throws. */
export function isJsonObject(value: unknown): value is JsonObject {
  try {
    return (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      !(value instanceof JsonNumber) &&
      Object.prototype.toString.call(value) === '[object Object]'
    );
  } catch (error) {
    assertNotFull(error);
    return false; // a revoked Proxy, or a getter that throws
  }
}

/** An object's own field, or `undefined`: inherited names such as `constructor` do not count. */
export function ownField(object: JsonObject, key: string): Json | undefined {
  return Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;
}

/** An object's own field, if it is a string. */
export function ownText(object: JsonObject, key: string): string | undefined {
  const value = ownField(object, key);
  return typeof value === 'string' ? value : undefined;
}

/**
 * Sets an own field, whatever the object inherits under that name: `__proto__`, an accessor, or a frozen field, which
 * an assignment would call or refuse.
 */
export function setField(object: JsonObject, key: string, value: Json): void {
  // The first test is for engines in which `__proto__` is special but not inherited.
  if (key === '__proto__' || key in object) {
    Object.defineProperty(object, key, descriptor(value, true));
  } else {
    object[key] = value;
  }
}

/** The index after the number that starts at `at`, or -1 if there is none (RFC 8259, section 6); in ASCII. */
export function numberEnd(bytes: Uint8Array, at: number): number {
  if (bytes[at] === MINUS) at++;
  let end = bytes[at] === ZERO ? at + 1 : digitsEnd(bytes, at);
  if (end > 0 && bytes[end] === POINT) end = digitsEnd(bytes, end + 1);
  if (end > 0 && (bytes[end]! | 0x20) === LETTER_E) {
    const sign = bytes[end + 1];
    end = digitsEnd(bytes, sign === PLUS || sign === MINUS ? end + 2 : end + 1);
  }
  return end;
}

function digitsEnd(bytes: Uint8Array, from: number): number {
  let end = from;
  while (bytes[end]! >= ZERO && bytes[end]! <= NINE) end++;
  return end > from ? end : -1;
}
