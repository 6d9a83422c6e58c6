/** JSON values (RFC 8259) that lose nothing: numbers keep their token, and `__proto__` is a key like any other. */
import { LocalError } from '../errors.ts';

export type JsonObject = { [key: string]: Json };
export type Json = null | boolean | number | string | JsonNumber | Json[] | JsonObject;

/** A number as the token it was written as, for what a JavaScript number would round or reformat. */
export class JsonNumber {
  /** The token, such as `1.0`, `-0`, `1e400` or forty digits. */
  readonly token: string;

  /** @throws LocalError `not-json` where the token is not a JSON number. */
  constructor(token: string) {
    if (typeof token !== 'string' || token === '' || numberEnd(token, 0) !== token.length) {
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

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

/** The index after the number that starts at `at`, or -1 where there is none (RFC 8259, section 6). */
export function numberEnd(text: string, at: number): number {
  const digits = (from: number): number => {
    let end = from;
    while (isDigit(text.charCodeAt(end))) end++;
    return end > from ? end : -1;
  };
  if (text.charAt(at) === '-') at++;
  let end = text.charAt(at) === '0' ? at + 1 : digits(at);
  if (end > 0 && text.charAt(end) === '.') end = digits(end + 1);
  if (end > 0 && (text.charAt(end) === 'e' || text.charAt(end) === 'E')) {
    const sign = text.charAt(end + 1);
    end = digits(sign === '+' || sign === '-' ? end + 2 : end + 1);
  }
  return end;
}
