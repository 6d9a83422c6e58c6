/**
 * Writes JSON without white space, as UTF-8, in two forms. Ordinary JSON has keys in the order of the object and any finite
 * number. Canonical JSON (spec, "Authentication") has keys sorted by code point, and only numbers whose text is beyond
 * doubt: byte for byte it is what Python's
 * `json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()` writes.
 */
import {
  type Bytes,
  bytesToUtf8,
  encodeByEngine,
  forEachPiece,
  joinSurrogates,
  kindOf,
  utf8ToBytes,
  writePoint,
} from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { encodeToken, isJsonObject, isSafeInteger, type Json, JsonNumber, type JsonObject } from './json.ts';

/**
 * Writes ordinary JSON as a string.
 * @throws LocalError as `jsonToBytes`
 */
export function stringifyJson(value: Json): string {
  return bytesToUtf8(jsonToBytes(value))!;
}

/**
 * Writes ordinary JSON as UTF-8. A JsonNumber is written as its token.
 * @throws LocalError `not-json` for what JSON cannot represent, a forged JsonNumber and a value that throws when it is read
 *   included; `unsafe-number` for NaN and the infinities; `lone-surrogate`; `json-depth` for more than MAX_JSON_DEPTH (64)
 *   arrays and objects inside each other, which a value inside itself exceeds, too
 */
export function jsonToBytes(value: Json): Bytes {
  return writeJson(value, false);
}

/**
 * Writes canonical JSON as UTF-8. A JsonNumber is written as its token.
 * @throws LocalError as `jsonToBytes`, and `unsafe-number` also for a JavaScript number that is not a safe integer, since
 *   its text would be a guess
 */
export function canonicalJson(value: Json): Bytes {
  return writeJson(value, true);
}

const QUOTATION_MARK = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const REVERSE_SOLIDUS = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A container that is being written, and how far that has come. */
interface Level {
  readonly values: Json[] | JsonObject;
  /** Of an object, in the order they are written. */
  readonly keys: string[] | undefined;
  next: number;
}

function writeJson(value: Json, canonical: boolean): Bytes {
  try {
    return writeValue(value, canonical);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError('not-json', 'a field of the value threw when it was read: pass plain data', error);
  }
}

/** Keeps a stack of its own: the engine's is a few hundred slots deep on a device. */
function writeValue(value: Json, canonical: boolean): Bytes {
  const out = new JsonBytes();
  const open: Level[] = [];
  let current: Json | undefined = value;
  for (;;) {
    const isArray = Array.isArray(current);
    if (isArray || isJsonObject(current)) {
      if (open.length === MAX_JSON_DEPTH) {
        throw new LocalError('json-depth', `the value is nested deeper than ${MAX_JSON_DEPTH}, or in itself`);
      }
      const keys = isArray ? undefined : keysOf(current as JsonObject, canonical);
      out.writeByte(isArray ? OPEN_BRACKET : OPEN_BRACE);
      open.push({ values: current as Json[] | JsonObject, keys, next: 0 });
    } else {
      writeScalar(current, canonical, out);
    }
    // Go on to the next value, closing every container that has none left.
    for (;;) {
      const level = open[open.length - 1];
      if (level === undefined) return out.finish();
      const { values, keys } = level;
      const at = level.next++;
      if (at < (keys ?? (values as Json[])).length) {
        if (at > 0) out.writeByte(COMMA);
        if (keys === undefined) {
          current = (values as Json[])[at];
        } else {
          const key = keys[at]!;
          out.writeString(key);
          out.writeByte(COLON);
          current = (values as JsonObject)[key];
        }
        break;
      }
      out.writeByte(keys === undefined ? CLOSE_BRACKET : CLOSE_BRACE);
      open.pop();
    }
  }
}

function writeScalar(value: unknown, canonical: boolean, out: JsonBytes): void {
  if (typeof value === 'string') {
    out.writeString(value);
  } else if (value === null || typeof value === 'boolean') {
    out.writeWord(String(value));
  } else if (typeof value === 'number') {
    if (canonical ? !isSafeInteger(value) : !isFinite(value)) {
      const expected = canonical ? 'a safe integer' : 'a finite number';
      throw new LocalError(
        'unsafe-number',
        `expected ${expected}; to write another number, pass its token in a JsonNumber`,
      );
    }
    out.writeWord(String(value));
  } else if (value instanceof JsonNumber) {
    out.writeBytes(encodeToken(value.token));
  } else {
    throw new LocalError('not-json', `JSON cannot represent a value of type ${kindOf(value)}`);
  }
}

/**
 * The keys of an object in the order in which they are written: canonical JSON orders them by code point, as Python
 * does. JavaScript orders by UTF-16 unit, which is the same unless a key has a unit from U+D800 on.
 */
function keysOf(object: JsonObject, canonical: boolean): string[] {
  const keys = Object.keys(object);
  if (!canonical) return keys;
  let isHigh = false;
  const look = (piece: string): void => {
    for (let i = 0; i < piece.length; i++) if (piece.charCodeAt(i) >= 0xd800) isHigh = true;
  };
  for (let i = 0; i < keys.length; i++) forEachPiece(keys[i]!, look);
  return isHigh ? sortByCodePoint(keys) : keys.sort();
}

/** The order of code points is the order of UTF-8. */
function sortByCodePoint(keys: string[]): string[] {
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

/** What stands after the reverse solidus for a byte that has an escape of two characters. */
const ESCAPES: { readonly [byte: number]: number } = {
  34: 0x22, // quotation mark
  92: 0x5c, // reverse solidus
  8: 0x62, // b
  12: 0x66, // f
  10: 0x6e, // n
  13: 0x72, // r
  9: 0x74, // t
};

const HEX = '0123456789abcdef';
/** The escape of a control, such as `\\u001f`. In UTF-8, no UTF-16 unit and no code point takes more than four bytes. */
const LONGEST_ESCAPE = 6;
const AT_ONCE = 64;

/** JSON in UTF-8, in an array that doubles when it is full. */
class JsonBytes {
  private bytes: Bytes = new Uint8Array(512);
  private length = 0;
  private high = 0; // the first half of a surrogate pair, until the second is read

  /** Returns what was written. */
  finish(): Bytes {
    const exact = new Uint8Array(this.length);
    exact.set(this.bytes.subarray(0, this.length));
    return exact;
  }

  writeByte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  writeBytes(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Writes `null`, `true`, `false`, or a JavaScript number. */
  writeWord(word: string): void {
    this.reserve(word.length);
    for (let i = 0; i < word.length; i++) this.bytes[this.length++] = word.charCodeAt(i);
  }

  /** Writes a string: quotation mark, reverse solidus and controls escaped, everything else literal. */
  writeString(text: string): void {
    this.writeByte(QUOTATION_MARK);
    const utf8 = encodeByEngine(text);
    if (utf8 !== undefined) this.writeEscaped(utf8);
    else forEachPiece(text, (piece) => this.writePiece(piece));
    if (this.high !== 0) throw loneSurrogate();
    this.writeByte(QUOTATION_MARK);
  }

  /** Writes a string that is in UTF-8 already, a few bytes at a time to reserve little more than it takes. */
  private writeEscaped(utf8: Uint8Array): void {
    for (let start = 0; start < utf8.length; start += AT_ONCE) {
      const end = Math.min(start + AT_ONCE, utf8.length);
      this.reserve(LONGEST_ESCAPE * AT_ONCE);
      const { bytes } = this;
      let at = this.length;
      for (let i = start; i < end; i++) {
        const byte = utf8[i]!;
        if (byte >= 0x20 && byte !== QUOTATION_MARK && byte !== REVERSE_SOLIDUS) bytes[at++] = byte;
        else at = writeEscape(bytes, at, byte);
      }
      this.length = at;
    }
  }

  /** Writes a piece of a string, which may end inside a surrogate pair. */
  private writePiece(piece: string): void {
    this.reserve(LONGEST_ESCAPE * piece.length);
    const { bytes } = this;
    let at = this.length;
    let { high } = this;
    for (let i = 0; i < piece.length; i++) {
      const unit = piece.charCodeAt(i);
      if (high !== 0) {
        if (unit < 0xdc00 || unit > 0xdfff) throw loneSurrogate();
        at = writePoint(bytes, at, joinSurrogates(high, unit));
        high = 0;
      } else if (unit < 0x80) {
        if (unit >= 0x20 && unit !== QUOTATION_MARK && unit !== REVERSE_SOLIDUS) bytes[at++] = unit;
        else at = writeEscape(bytes, at, unit);
      } else if (unit >= 0xd800 && unit <= 0xdbff) {
        high = unit;
      } else {
        if (unit >= 0xdc00 && unit <= 0xdfff) throw loneSurrogate();
        at = writePoint(bytes, at, unit);
      }
    }
    this.length = at;
    this.high = high;
  }

  /** Makes room for this many more bytes. */
  private reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    larger.set(this.bytes);
    this.bytes = larger;
  }
}

/** Writes a quotation mark, a reverse solidus or a control, escaped; returns the index after it. */
function writeEscape(bytes: Uint8Array, at: number, unit: number): number {
  const letter = ESCAPES[unit];
  bytes[at++] = REVERSE_SOLIDUS;
  if (letter !== undefined) {
    bytes[at++] = letter;
    return at;
  }
  bytes[at++] = LETTER_U;
  bytes[at++] = ZERO;
  bytes[at++] = ZERO;
  bytes[at++] = HEX.charCodeAt(unit >> 4);
  bytes[at++] = HEX.charCodeAt(unit & 15);
  return at;
}

function loneSurrogate(): LocalError {
  return new LocalError('lone-surrogate', 'a string with a lone surrogate cannot be encoded as UTF-8');
}
