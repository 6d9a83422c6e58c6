/** JSON values (RFC 8259) that lose nothing: numbers keep their token, and `__proto__` is a key like any other. */
import { encodeUtf8 } from '../bytes.ts';
import { LocalError } from '../errors.ts';

export type JsonObject = { [key: string]: Json };
export type Json = null | boolean | number | string | JsonNumber | Json[] | JsonObject;

/** A number as the token it was written as, for what a JavaScript number would round or reformat. */
export class JsonNumber {
  /** The token, such as `1.0`, `-0`, `1e400` or forty digits. */
  readonly token: string;

  /** @throws LocalError `not-json` where the token is not a JSON number. */
  constructor(token: string) {
    const text = typeof token === 'string' ? encodeUtf8(token) : undefined;
    if (text === undefined || numberEnd(text, 0) !== text.length) {
      throw new LocalError('not-json', '"token" expected the text of a JSON number');
    }
    this.token = token;
  }

  /** The nearest JavaScript number. */
  valueOf(): number {
    return Number(this.token);
  }

  toString(): string {
    return this.token;
  }

  /** For JSON.stringify, which has no way to write a token; `sendJson` and `canonicalJson` keep it. */
  toJSON(): number {
    return Number(this.token);
  }
}

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

/** Whether a value is a JSON object: no null, no array, no number token, no other built-in object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof JsonNumber) &&
    Object.prototype.toString.call(value) === '[object Object]'
  );
}

/** An object's own field, or `undefined`: `constructor` and its kind are no fields unless they were sent. */
export function ownField(object: JsonObject, key: string): Json | undefined {
  return Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;
}

/** Sets an own field, `__proto__` included. */
export function setField(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

/** The index after the number that starts at `at`, or -1 where there is none (RFC 8259, section 6); in ASCII. */
export function numberEnd(text: Uint8Array, at: number): number {
  const digits = (from: number): number => {
    let end = from;
    while (text[end]! >= ZERO && text[end]! <= NINE) end++;
    return end > from ? end : -1;
  };
  if (text[at] === MINUS) at++;
  let end = text[at] === ZERO ? at + 1 : digits(at);
  if (end > 0 && text[end] === POINT) end = digits(end + 1);
  if (end > 0 && (text[end]! | 0x20) === LETTER_E) {
    const sign = text[end + 1];
    end = digits(sign === PLUS || sign === MINUS ? end + 2 : end + 1);
  }
  return end;
}
