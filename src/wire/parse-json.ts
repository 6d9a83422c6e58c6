/**
 * Reads JSON (RFC 8259) strictly: duplicate keys, lone surrogates and anything after the value are refused.
 *
 * It reads bytes rather than a string, since XS finds a place in a string by counting from its start. It keeps its own
 * stack, since the engine's is only a few hundred slots deep on a device.
 */
import { assertBytes } from '../arguments.ts';
import { bytesToUtf8, encodeUtf8, hexDigit, isBytes, joinSurrogates, writePoint } from '../bytes.ts';
import type { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { parseByEngine } from './engine-json.ts';
import {
  ESCAPED,
  type Json,
  type JsonObject,
  LETTERS,
  numberEnd,
  numberOf,
  ownField,
  setField,
} from './json.ts';

const QUOTATION_MARK = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const REVERSE_SOLIDUS = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The error for JSON that is malformed at this place. */
function malformed(bytes: Uint8Array, fault: string, place: { readonly at: number }): RemoteError {
  return bytesToUtf8(bytes) === undefined ? errors.badUtf8() : errors.badJson(fault, place);
}

/** Reads the tokens of JSON in UTF-8, from left to right. */
class Scanner {
  at = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Skips white space; returns the next byte without consuming it, 0 at the end. */
  peek(): number {
    for (; ; this.at++) {
      const byte = this.bytes[this.at] ?? 0;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
    }
  }

  /** Consumes the next byte, after white space, if it is this one. */
  consume(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  /** Reads a key of an object, and the colon after it. */
  readKey(object: JsonObject): string {
    if (this.peek() !== QUOTATION_MARK) throw malformed(this.bytes, 'a key is missing', this);
    const key = this.readString(false);
    if (ownField(object, key) !== undefined) {
      throw errors.duplicateKey(this);
    }
    if (!this.consume(COLON)) throw malformed(this.bytes, 'a colon is missing', this);
    return key;
  }

  /** Reads a string, a number, `true`, `false` or `null`. A check makes no string. */
  readScalar(isCheck: boolean): Json {
    const first = this.peek();
    if (first === QUOTATION_MARK) return this.readString(isCheck);
    if (first === LETTER_T) return this.readWord('true', true);
    if (first === LETTER_F) return this.readWord('false', false);
    if (first === LETTER_N) return this.readWord('null', null);
    const start = this.at;
    const end = numberEnd(this.bytes, start);
    if (end < 0) throw malformed(this.bytes, 'a value is missing', this);
    this.at = end;
    return numberOf(bytesToUtf8(this.bytes.subarray(start, end))!); // in ASCII
  }

  private readWord(word: string, value: Json): Json {
    for (let i = 0; i < word.length; i++) {
      if (this.bytes[this.at + i] !== word.charCodeAt(i))
        throw malformed(this.bytes, 'a value is missing', this);
    }
    this.at += word.length;
    return value;
  }

  private readString(isCheck: boolean): string {
    const start = ++this.at;
    let hasEscapes = false;
    for (;;) {
      const byte = this.bytes[this.at++] ?? 0;
      if (byte < 0x20)
        throw malformed(this.bytes, 'a string contains a control character, or has no end', this);
      if (byte === QUOTATION_MARK) break;
      if (byte === REVERSE_SOLIDUS) {
        hasEscapes = true;
        this.at++;
      }
    }
    const literal = this.bytes.subarray(start, this.at - 1);
    const utf8 = hasEscapes ? this.unescape(literal) : literal;
    if (isCheck) return '';
    const string = bytesToUtf8(utf8);
    if (string === undefined) throw malformed(this.bytes, 'the bytes are not UTF-8', this);
    return string;
  }

  /** Resolves the escapes of a string, which makes it shorter. */
  private unescape(literal: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(literal.length);
    let length = 0;
    for (let i = 0; i < literal.length; ) {
      const byte = literal[i++]!;
      if (byte !== REVERSE_SOLIDUS) {
        bytes[length++] = byte;
        continue;
      }
      const letter = literal[i++]!;
      let point = ESCAPED.charCodeAt(LETTERS.indexOf(String.fromCharCode(letter)));
      if (letter === LETTER_U) {
        point = this.readUnit(literal, i);
        i += 4;
        if (point >= 0xd800 && point <= 0xdfff) {
          const isPaired = literal[i] === REVERSE_SOLIDUS && literal[i + 1] === LETTER_U;
          const low = isPaired ? this.readUnit(literal, i + 2) : 0;
          if (point >= 0xdc00 || low < 0xdc00 || low > 0xdfff) {
            throw errors.receivedLoneSurrogate(this);
          }
          point = joinSurrogates(point, low);
          i += 6;
        }
      } else if (!(point > 0)) {
        throw malformed(this.bytes, 'a string contains an unknown escape', this);
      }
      length = writePoint(bytes, length, point);
    }
    return bytes.subarray(0, length);
  }

  /** Reads four hex digits as a UTF-16 unit. */
  private readUnit(literal: Uint8Array, start: number): number {
    let unit = 0;
    for (let i = start; i < start + 4; i++) {
      const digit = hexDigit(literal[i] ?? 0);
      if (digit < 0) throw malformed(this.bytes, 'a string contains a \\u without four hex digits', this);
      unit = (unit << 4) | digit;
    }
    return unit;
  }
}

/**
 * Encodes JSON as UTF-8.
 * @throws RemoteError `lone-surrogate`
 */
export function encodeJson(text: string): Uint8Array {
  const bytes = encodeUtf8(text);
  if (bytes !== undefined) return bytes;
  throw errors.notUnicode();
}

/**
 * Parses JSON. A number is returned as a JavaScript number if it is a safe integer written in its shortest form, and as a
 * {@link JsonNumber} otherwise.
 *
 * Time and memory grow linearly with the input. If the input has several faults, the first one counts; but `bad-utf8`
 * comes before anything that makes it `bad-json`.
 * @param text - a string, or its UTF-8 bytes
 * @returns the value
 * @throws RemoteError `bad-utf8`, `bad-json`, `duplicate-key`, `lone-surrogate`, or `json-depth` for more than
 *   MAX_JSON_DEPTH (64) nested arrays and objects
 * @throws LocalError `bad-argument` for anything but a string or bytes
 *
 * @example
 * import { parseJson } from 'hub-protocol';
 *
 * console.log(parseJson('{"id":7,"token":"a"}')); // { id: 7, token: 'a' }
 * console.log(String(parseJson('1e400'))); // 1e400
 */
export function parseJson(text: string | Uint8Array): Json {
  if (typeof text === 'string') return parseByEngine(text) ?? readJson(encodeJson(text), false);
  if (!isBytes(text)) throw errors.expectedType('text', 'string or Uint8Array', text);
  assertBytes(text, 'text'); // whose memory may have been transferred
  return parseByEngine(text) ?? readJson(text, false);
}

/**
 * Parses JSON, or checks it.
 * @param isCheck - whether the bytes are known to be UTF-8, and the value is of no use. Then only its keys are in memory, of the
 *   objects that are open
 */
export function readJson(bytes: Uint8Array, isCheck: boolean): Json {
  const scanner = new Scanner(bytes);
  const open: (Json[] | JsonObject)[] = []; // the containers not yet closed, outermost first
  const keys: string[] = []; // for each container, the key whose value comes next; empty for arrays
  for (;;) {
    let value: Json;
    const first = scanner.peek();
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      scanner.consume(first);
      if (open.length === MAX_JSON_DEPTH) {
        throw errors.jsonTooDeep(MAX_JSON_DEPTH);
      }
      value = first === OPEN_BRACE ? {} : [];
      if (!scanner.consume(first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)) {
        keys[open.length] = Array.isArray(value) ? '' : scanner.readKey(value);
        open.push(value);
        continue;
      }
    } else {
      value = scanner.readScalar(isCheck);
    }
    // The value is complete: add it to its container, and close every container that ends with it.
    for (;;) {
      const container = open[open.length - 1];
      if (container === undefined) {
        scanner.peek();
        if (scanner.at < bytes.length) throw malformed(bytes, 'something follows the value', scanner);
        return value;
      }
      const isArray = Array.isArray(container);
      if (!isArray) setField(container, keys[open.length - 1]!, isCheck ? null : value);
      else if (!isCheck) container.push(value);
      if (scanner.consume(COMMA)) {
        if (!isArray) keys[open.length - 1] = scanner.readKey(container);
        break;
      }
      if (!scanner.consume(isArray ? CLOSE_BRACKET : CLOSE_BRACE)) {
        throw malformed(bytes, 'a comma or a closing bracket is missing', scanner);
      }
      open.pop();
      // The copy of an array takes no more memory than its elements; after push(), V8 keeps room for 16 more.
      value = isArray ? container.slice() : container;
    }
  }
}
