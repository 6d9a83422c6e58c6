/**
 * Writes JSON without white space, in two forms. The ordinary one takes keys as the object lists them, and any finite
 * number. The canonical one (spec, "Authentication") sorts keys by code point and takes only numbers whose text is
 * beyond doubt: it is byte for byte what Python's
 * `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()` writes.
 */
import { forEachPiece, kindOf, utf8Length, utf8ToBytes } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { assertToken, isJsonObject, isSafeInteger, type Json, JsonNumber, type JsonObject } from './json.ts';

/**
 * Ordinary JSON.
 * @throws LocalError `not-json` for what JSON cannot hold, `unsafe-number` for NaN and the infinities,
 *   `lone-surrogate`, `json-depth` (also for a value inside itself)
 */
export function stringifyJson(value: Json): string {
  return writeJson(value, false);
}

/**
 * Canonical JSON as UTF-8.
 * @throws LocalError as `stringifyJson`, and `unsafe-number` also for a JavaScript number that is not a safe
 *   integer: its text would be a guess. A JsonNumber is written as its token.
 */
export function canonicalJson(value: Json): Uint8Array {
  return utf8ToBytes(writeJson(value, true));
}

/** A container that is being written, and how far that has come. */
interface Level {
  readonly values: Json[] | JsonObject;
  readonly keys: string[] | undefined;
  next: number;
}

function writeJson(value: Json, canonical: boolean): string {
  try {
    return writeValue(value, canonical);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError('not-json', 'a field of the value threw when it was read: pass plain data', error);
  }
}

function writeValue(value: Json, canonical: boolean): string {
  const pieces: string[] = [];
  const open: Level[] = [];
  let current: Json | undefined = value;
  for (;;) {
    if (Array.isArray(current) || isJsonObject(current)) {
      if (open.length === MAX_JSON_DEPTH) {
        throw new LocalError('json-depth', `the value is nested deeper than ${MAX_JSON_DEPTH}, or in itself`);
      }
      const keys = Array.isArray(current) ? undefined : keysOf(current, canonical);
      pieces.push(keys === undefined ? '[' : '{');
      open.push({ values: current, keys, next: 0 });
    } else {
      pieces.push(writeScalar(current, canonical));
    }
    // Go on to the next value, closing every container that has none left.
    for (;;) {
      const level = open[open.length - 1];
      if (level === undefined) return pieces.join('');
      const { values, keys } = level;
      if (level.next < (keys ?? (values as Json[])).length) {
        if (level.next > 0) pieces.push(',');
        if (keys === undefined) {
          current = (values as Json[])[level.next++];
        } else {
          const key = keys[level.next++]!;
          pieces.push(quote(key), ':');
          current = (values as JsonObject)[key];
        }
        break;
      }
      pieces.push(keys === undefined ? ']' : '}');
      open.pop();
    }
  }
}

function writeScalar(value: unknown, canonical: boolean): string {
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === 'string') return quote(value);
  if (value instanceof JsonNumber) {
    const { token } = value;
    assertToken(token);
    return token;
  }
  if (typeof value !== 'number') {
    throw new LocalError('not-json', `JSON has no form for a value of type ${kindOf(value)}`);
  }
  if (canonical ? !isSafeInteger(value) : !isFinite(value)) {
    const expected = canonical ? 'a safe integer' : 'a finite number';
    throw new LocalError(
      'unsafe-number',
      `expected ${expected}; wrap the token in a JsonNumber to write another`,
    );
  }
  return String(value);
}

/** For the canonical form by code point, as Python sorts: the order of UTF-8, not JavaScript's, by UTF-16 unit. */
function keysOf(object: JsonObject, canonical: boolean): string[] {
  const keys = Object.keys(object);
  if (!canonical) return keys;
  return keys
    .map((key) => ({ key, bytes: utf8ToBytes(key) }))
    .sort((a, b) => compareBytes(a.bytes, b.bytes))
    .map(({ key }) => key);
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

const ESCAPES: { readonly [character: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** A string as JSON: quotation mark, reverse solidus and controls escaped, all else literal. */
function quote(text: string): string {
  if (utf8Length(text) < 0) {
    throw new LocalError('lone-surrogate', 'a string with a lone surrogate has no UTF-8 form');
  }
  const pieces = ['"'];
  forEachPiece(text, (piece) => {
    let start = 0;
    for (let i = 0; i < piece.length; i++) {
      const unit = piece.charCodeAt(i);
      if (unit < 0x20 || unit === 0x22 || unit === 0x5c) {
        const escaped = ESCAPES[piece.charAt(i)] ?? `\\u00${unit < 16 ? '0' : ''}${unit.toString(16)}`;
        pieces.push(piece.slice(start, i), escaped);
        start = i + 1;
      }
    }
    pieces.push(piece.slice(start));
  });
  pieces.push('"');
  return pieces.join('');
}
