/**
 * Writes JSON without white space, as UTF-8, in two forms. Ordinary JSON has keys in the order of the object and any finite
 * number. Canonical JSON (spec, "Authentication") has keys sorted by code point, and only numbers with an unambiguous text:
 * byte for byte it equals what Python's `json.dumps(value, sort_keys=True, separators=(",", ":"),
 * ensure_ascii=False).encode()` writes.
 */
import { type Bytes, bytesToHex, bytesToUtf8, EMPTY, utf8Length, utf8ToBytes, writeUtf8 } from '../bytes.ts';
import { encodeByEngine } from '../engine.ts';
import { LocalError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { assertNotFull } from '../memory.ts';
import { writeByEngine } from './engine-json.ts';
import {
  checkedToken,
  ESCAPED,
  isJsonObject,
  isSafeInteger,
  type Json,
  JsonNumber,
  type JsonObject,
  LETTERS,
} from './json.ts';

/**
 * Writes ordinary JSON as a string.
 * @throws LocalError as `jsonToBytes`
 */
export function stringifyJson(value: Json): string {
  return bytesToUtf8(jsonToBytes(value))!;
}

/**
 * Writes ordinary JSON as UTF-8. A JsonNumber is written as its token.
 * @param before - how many zeros to put before it
 * @param after - how many zeros to put after it
 * @param canonical - whether to write canonical JSON
 * @throws LocalError `not-json` for a value that JSON cannot represent, including a forged JsonNumber and a value that
 *   throws when it is read; `unsafe-number` for NaN and the infinities; `lone-surrogate`; `json-depth` for more than
 *   MAX_JSON_DEPTH (64) nested arrays and objects, which includes a value inside itself
 */
export function jsonToBytes(value: Json | object, before = 0, after = 0, canonical = false): Bytes {
  try {
    return (
      writeByEngine(value, before, after, canonical) ??
      writeValue(value as Json, canonical).finish(before, after)
    );
  } catch (error) {
    if (error instanceof LocalError) throw error;
    assertNotFull(error);
    throw errors.unreadableValue(error);
  }
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
  return jsonToBytes(value, 0, 0, true);
}

const QUOTATION_MARK = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
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

/** Keeps its own stack: the engine's is only a few hundred slots deep on a device. */
function writeValue(value: Json, canonical: boolean): JsonBytes {
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
      if (level === undefined) return out;
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
    out.writeText(String(value));
  } else if (typeof value === 'number') {
    if (canonical ? !isSafeInteger(value) : !isFinite(value)) {
      throw errors.unsafeNumber(canonical ? 'a safe integer' : 'a finite number');
    }
    out.writeText(String(value));
  } else if (value instanceof JsonNumber) {
    out.writeText(checkedToken(value.token));
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

const BLOCK = 1024;

/**
 * JSON in UTF-8. It is written into blocks, which are concatenated at the end. A string that does not fit into its block is encoded
 * only then, so that its bytes are in memory once.
 */
class JsonBytes {
  private readonly parts: (Uint8Array | string)[] = [];
  private total = 0; // of the parts, in bytes
  private block: Bytes = new Uint8Array(BLOCK);
  private filled = 0; // bytes of the block

  /** Returns the JSON, with zeros before it and after it. */
  finish(before: number, after: number): Bytes {
    this.endBlock(EMPTY, 0);
    const { parts } = this;
    const json = new Uint8Array(before + this.total + after);
    let at = before;
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i]!;
      if (typeof part === 'string') {
        at = writeUtf8(part, json, at, escapeOf);
      } else {
        json.set(part, at);
        at += part.length;
      }
    }
    return json;
  }

  writeByte(byte: number): void {
    if (this.filled === this.block.length) {
      this.endBlock(EMPTY, 0);
      this.block = new Uint8Array(BLOCK);
    }
    this.block[this.filled++] = byte;
  }

  /** Writes a string: quotation mark, reverse solidus and controls escaped, everything else literal. */
  writeString(text: string): void {
    this.writeByte(QUOTATION_MARK);
    const writeEncoded = (utf8: Uint8Array): void => {
      const escaped = escapeUtf8(utf8);
      this.endBlock(escaped, escaped.length);
    };
    if (encodeByEngine(text, writeEncoded) === undefined) this.writeText(text);
    this.writeByte(QUOTATION_MARK);
  }

  /** Writes a string without quotation marks. @throws LocalError `lone-surrogate` */
  writeText(text: string): void {
    const { block, filled } = this;
    const end = writeUtf8(text, block, filled, escapeOf);
    if (end < 0) throw errors.loneSurrogate();
    if (end > block.length) this.endBlock(text, end - filled);
    else this.filled = end;
  }

  /**
   * Ends a block with what follows it.
   * @param count - of the bytes that follow it
   */
  private endBlock(next: Uint8Array | string, count: number): void {
    const { block, filled } = this;
    this.parts.push(block.subarray(0, filled), next);
    this.total += filled + count;
    this.block = block.subarray(filled);
    this.filled = 0;
  }
}

/** Escapes a string in UTF-8. */
function escapeUtf8(utf8: Uint8Array): Uint8Array {
  let count = 0; // of what is escaped
  for (let i = 0; i < utf8.length; i++) if (isEscaped(utf8[i]!)) count++;
  if (count === 0) return utf8;
  const escaped = new Uint8Array(utf8.length + (LONGEST_ESCAPE - 1) * count);
  let at = 0;
  for (let i = 0; i < utf8.length; i++) {
    const byte = utf8[i]!;
    if (isEscaped(byte)) at = writeUtf8(escapeOf(byte), escaped, at);
    else escaped[at++] = byte;
  }
  return escaped.subarray(0, at);
}

/** The length of the escape of a control, such as `\\u001f`. */
const LONGEST_ESCAPE = 6;

function isEscaped(byte: number): boolean {
  return byte < 0x20 || byte === 0x22 || byte === 0x5c;
}

/** How a quotation mark, a reverse solidus or a control is written. */
function escapeOf(unit: number): string {
  const at = ESCAPED.indexOf(String.fromCharCode(unit));
  return at < 0 ? `\\u00${bytesToHex(new Uint8Array([unit]))}` : `\\${LETTERS.charAt(at)}`;
}
