/**
 * Writes JSON without white space, as UTF-8, in two forms. Ordinary JSON has keys in the order of the object and any finite
 * number. Canonical JSON (spec, "Authentication") has keys sorted by code point, and only numbers with an unambiguous text:
 * byte for byte it equals what Python's `json.dumps(value, sort_keys=True, separators=(",", ":"),
 * ensure_ascii=False).encode()` writes.
 */
import {
  type Bytes,
  bytesToHex,
  bytesToUtf8,
  concatBytes,
  forEachPiece,
  joinSurrogates,
  utf8Length,
  utf8ToBytes,
  writePoint,
} from '../bytes.ts';
import { encodeByEngine } from '../engine.ts';
import { LocalError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { assertNotFull } from '../memory.ts';
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
 * @throws LocalError `not-json` for a value that JSON cannot represent, including a forged JsonNumber and a value that
 *   throws when it is read; `unsafe-number` for NaN and the infinities; `lone-surrogate`; `json-depth` for more than
 *   MAX_JSON_DEPTH (64) nested arrays and objects, which includes a value inside itself
 */
export function jsonToBytes(value: Json | object): Bytes {
  return writeJson(value, false);
}

/**
 * Writes canonical JSON as UTF-8. A JsonNumber is written as its token.
 * @param value - plain data, whatever its type is called
 * @returns UTF-8, with keys in the order of their code points and without white space
 * @throws LocalError `not-json` for a value that JSON cannot represent, including a forged JsonNumber and a value that
 *   throws when it is read; `unsafe-number` for a JavaScript number that is not a safe integer, whose text is ambiguous;
 *   `lone-surrogate`; `json-depth` for more than MAX_JSON_DEPTH (64) nested arrays and objects; `out-of-memory`
 * @see spec, "Authentication"
 *
 * @example
 * import { canonicalJson } from 'hub-protocol';
 *
 * const bytes = canonicalJson({ site: 'café', id: 7 });
 * console.log(new TextDecoder().decode(bytes)); // {"id":7,"site":"café"}
 */
export function canonicalJson(value: Json | object): Bytes {
  return writeJson(value, true);
}

const QUOTATION_MARK = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const REVERSE_SOLIDUS = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A container that is being written, and the progress in it. */
interface Level {
  readonly values: Json[] | JsonObject;
  /** Of an object, in the order they are written. */
  readonly keys: string[] | undefined;
  next: number;
}

function writeJson(value: Json | object, canonical: boolean): Bytes {
  try {
    return writeValue(value as Json, canonical);
  } catch (error) {
    if (error instanceof LocalError) throw error;
    assertNotFull(error);
    throw errors.unreadableValue(error);
  }
}

/** Keeps its own stack: the engine's is only a few hundred slots deep on a device. */
function writeValue(value: Json, canonical: boolean): Bytes {
  const out = new JsonBytes();
  const open: Level[] = [];
  let current: Json | undefined = value;
  for (;;) {
    const isArray = Array.isArray(current);
    if (isArray || isJsonObject(current)) {
      if (open.length === MAX_JSON_DEPTH) {
        throw errors.valueTooDeep(MAX_JSON_DEPTH);
      }
      const keys = isArray ? undefined : keysOf(current as JsonObject, canonical);
      out.writeByte(isArray ? OPEN_BRACKET : OPEN_BRACE);
      open.push({ values: current as Json[] | JsonObject, keys, next: 0 });
    } else {
      writeScalar(current, canonical, out);
    }
    // Continue with the next value, closing every container that has none left.
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
      throw errors.unsafeNumber(canonical ? 'a safe integer' : 'a finite number');
    }
    out.writeWord(String(value));
  } else if (value instanceof JsonNumber) {
    out.writeBytes(encodeToken(value.token));
  } else {
    throw errors.notJson(value);
  }
}

/**
 * The keys of an object in the order in which they are written: canonical JSON orders them by code point, as Python
 * does. JavaScript orders by UTF-16 unit, which is the same for ASCII.
 */
function keysOf(object: JsonObject, canonical: boolean): string[] {
  const keys = Object.keys(object);
  if (!canonical) return keys;
  const all = keys.join('');
  return utf8Length(all) === all.length ? keys.sort() : sortByCodePoint(keys); // ASCII or not
}

/** The order of code points is the order of UTF-8, and so of its hex digits. */
function sortByCodePoint(keys: string[]): string[] {
  return keys
    .map((key) => ({ key, hex: bytesToHex(utf8ToBytes(key)) }))
    .sort((a, b) => (a.hex < b.hex ? -1 : 1))
    .map(({ key }) => key);
}

/** Up to this length, in UTF-16 units, a string is one piece. */
const SHORT = 64;
const SMALLEST_BLOCK = 512;
const LARGEST_BLOCK = 65536;

/** JSON in UTF-8. It is written into blocks, which are concatenated at the end. */
class JsonBytes {
  private readonly full: Uint8Array[] = [];
  private blockSize = SMALLEST_BLOCK; // of the last block that was made
  private block: Bytes = new Uint8Array(SMALLEST_BLOCK);
  private length = 0; // of the data in the block
  private high = 0; // the first half of a surrogate pair, until the second is read

  /** Returns the JSON. */
  finish(): Bytes {
    this.endBlock();
    return concatBytes(this.full);
  }

  writeByte(byte: number): void {
    this.reserve(1);
    this.block[this.length++] = byte;
  }

  /** Writes bytes, which must not change from then on. */
  writeBytes(bytes: Uint8Array): void {
    if (bytes.length > this.block.length - this.length) {
      this.endBlock();
      this.full.push(bytes);
    } else {
      this.block.set(bytes, this.length);
      this.length += bytes.length;
    }
  }

  /** Writes `null`, `true`, `false`, or a JavaScript number. */
  writeWord(word: string): void {
    this.reserve(word.length);
    for (let i = 0; i < word.length; i++) this.block[this.length++] = word.charCodeAt(i);
  }

  /** Writes a string: quotation mark, reverse solidus and controls escaped, everything else literal. */
  writeString(text: string): void {
    this.writeByte(QUOTATION_MARK);
    const utf8 = encodeByEngine(text, isPlain);
    if (utf8 !== undefined) this.writeBytes(utf8);
    else if (text.length <= SHORT) this.writePiece(text);
    else forEachPiece(text, (piece) => this.writePiece(piece));
    if (this.high !== 0) throw errors.loneSurrogate();
    this.writeByte(QUOTATION_MARK);
  }

  /** Writes a piece of a string, which may end inside a surrogate pair. */
  private writePiece(piece: string): void {
    this.reserve(LONGEST_ESCAPE * piece.length);
    const { block } = this;
    let at = this.length;
    let { high } = this;
    for (let i = 0; i < piece.length; i++) {
      const unit = piece.charCodeAt(i);
      if (high !== 0) {
        if (unit < 0xdc00 || unit > 0xdfff) throw errors.loneSurrogate();
        at = writePoint(block, at, joinSurrogates(high, unit));
        high = 0;
      } else if (unit < 0x80) {
        if (isLiteral(unit)) block[at++] = unit;
        else at = writeEscape(block, at, unit);
      } else if (unit >= 0xd800 && unit <= 0xdbff) {
        high = unit;
      } else {
        if (unit >= 0xdc00 && unit <= 0xdfff) throw errors.loneSurrogate();
        at = writePoint(block, at, unit);
      }
    }
    this.length = at;
    this.high = high;
  }

  /** Makes room for this many more bytes. */
  private reserve(count: number): void {
    if (this.length + count <= this.block.length) return;
    this.endBlock();
    this.blockSize = Math.min(2 * this.blockSize, LARGEST_BLOCK);
    this.block = new Uint8Array(Math.max(this.blockSize, count));
  }

  private endBlock(): void {
    this.full.push(this.block.subarray(0, this.length));
    this.block = this.block.subarray(this.length);
    this.length = 0;
  }
}

/** Whether a character below U+0080 is written in a string unescaped. */
function isLiteral(unit: number): boolean {
  return unit >= 0x20 && unit !== QUOTATION_MARK && unit !== REVERSE_SOLIDUS;
}

/** Whether UTF-8 is written in a string unescaped. */
function isPlain(utf8: Uint8Array): boolean {
  for (let i = 0; i < utf8.length; i++) if (!isLiteral(utf8[i]!)) return false;
  return true;
}

/** The second character of the two-character escapes. */
const ESCAPES: { readonly [unit: number]: number } = {
  34: QUOTATION_MARK,
  92: REVERSE_SOLIDUS,
  8: 0x62, // b
  12: 0x66, // f
  10: 0x6e, // n
  13: 0x72, // r
  9: 0x74, // t
};

/** The length of the escape of a control, such as `\\u001f`. In UTF-8 no UTF-16 unit takes more than three bytes. */
const LONGEST_ESCAPE = 6;

/** Writes a quotation mark, a reverse solidus or a control, escaped; returns the index after it. */
function writeEscape(bytes: Uint8Array, at: number, unit: number): number {
  const letter = ESCAPES[unit];
  bytes[at++] = REVERSE_SOLIDUS;
  if (letter !== undefined) {
    bytes[at++] = letter;
    return at;
  }
  const control = `u00${bytesToHex(new Uint8Array([unit]))}`;
  for (let i = 0; i < control.length; i++) bytes[at++] = control.charCodeAt(i);
  return at;
}
