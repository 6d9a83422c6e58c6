/**
 * Reads JSON (RFC 8259) strictly: duplicate keys, lone surrogates and trailing text are refused. It reads bytes rather than
 * text, in which a place costs XS its distance from the start, and keeps a stack of its own rather than the engine's,
 * which on a device is a few hundred slots deep.
 */
import { bytesToUtf8, encodeUtf8, hexDigit, isBytes, joinSurrogates, kindOf, writePoint } from '../bytes.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import {
  isSafeInteger,
  type Json,
  JsonNumber,
  type JsonObject,
  numberEnd,
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

/** What a letter stands for after a reverse solidus. */
const ESCAPED: { readonly [letter: number]: number } = {
  34: 0x22,
  92: 0x5c,
  47: 0x2f,
  98: 0x08,
  102: 0x0c,
  110: 0x0a,
  114: 0x0d,
  116: 0x09,
};

/** Reads the tokens of a JSON text, from left to right. */
class Scanner {
  private readonly text: Uint8Array;
  private at = 0;

  constructor(text: Uint8Array) {
    this.text = text;
  }

  get atEnd(): boolean {
    return this.at === this.text.length;
  }

  fail(what: string): RemoteError {
    if (bytesToUtf8(this.text) === undefined) {
      return new RemoteError('bad-utf8', 'not JSON: the bytes are not UTF-8');
    }
    return new RemoteError('bad-json', `not JSON: ${what} before byte ${this.at + 1}`);
  }

  /** The next byte that is not white space, or 0 at the end; it is not taken. */
  peek(): number {
    for (; ; this.at++) {
      const byte = this.text[this.at] ?? 0;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
    }
  }

  /** Takes the next byte if it is this one. */
  take(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  /** A key of an object, with its colon. */
  key(object: JsonObject): string {
    if (this.peek() !== QUOTATION_MARK) throw this.fail('no key');
    const key = this.string();
    if (ownField(object, key) !== undefined) {
      throw new RemoteError('duplicate-key', `JSON with a key twice in one object before byte ${this.at}`);
    }
    if (!this.take(COLON)) throw this.fail('no colon');
    return key;
  }

  /** A string, a number, `true`, `false` or `null`. */
  scalar(): Json {
    const first = this.peek();
    if (first === QUOTATION_MARK) return this.string();
    if (first === LETTER_T) return this.word('true', true);
    if (first === LETTER_F) return this.word('false', false);
    if (first === LETTER_N) return this.word('null', null);
    const start = this.at;
    const end = numberEnd(this.text, start);
    if (end < 0) throw this.fail('no value');
    this.at = end;
    const token = bytesToUtf8(this.text.subarray(start, end))!; // in ASCII
    const value = Number(token);
    return isSafeInteger(value) && String(value) === token ? value : new JsonNumber(token);
  }

  private word(word: string, value: Json): Json {
    for (let i = 0; i < word.length; i++) {
      if (this.text[this.at + i] !== word.charCodeAt(i)) throw this.fail('no value');
    }
    this.at += word.length;
    return value;
  }

  private string(): string {
    const start = ++this.at;
    let hasEscapes = false;
    for (;;) {
      const byte = this.text[this.at++] ?? 0;
      if (byte < 0x20) throw this.fail('a control character, or the end, in a string');
      if (byte === QUOTATION_MARK) break;
      if (byte === REVERSE_SOLIDUS) {
        hasEscapes = true;
        this.at++;
      }
    }
    const literal = this.text.subarray(start, this.at - 1);
    const string = bytesToUtf8(hasEscapes ? this.unescaped(literal) : literal);
    if (string === undefined) throw this.fail('no UTF-8');
    return string;
  }

  /** A string with its escapes resolved, which makes it shorter. */
  private unescaped(literal: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(literal.length);
    let length = 0;
    for (let i = 0; i < literal.length; ) {
      const byte = literal[i++]!;
      if (byte !== REVERSE_SOLIDUS) {
        bytes[length++] = byte;
        continue;
      }
      const letter = literal[i++]!;
      let point = ESCAPED[letter];
      if (letter === LETTER_U) {
        point = this.unit(literal, i);
        i += 4;
        if (point >= 0xd800 && point <= 0xdfff) {
          const isPaired = literal[i] === REVERSE_SOLIDUS && literal[i + 1] === LETTER_U;
          const low = isPaired ? this.unit(literal, i + 2) : 0;
          if (point >= 0xdc00 || low < 0xdc00 || low > 0xdfff) {
            throw new RemoteError('lone-surrogate', `JSON with a lone surrogate before byte ${this.at}`);
          }
          point = joinSurrogates(point, low);
          i += 6;
        }
      }
      if (point === undefined) throw this.fail('an unknown escape in the string');
      length = writePoint(bytes, length, point);
    }
    return bytes.subarray(0, length);
  }

  /** The UTF-16 unit of four hex digits. */
  private unit(literal: Uint8Array, start: number): number {
    let unit = 0;
    for (let i = start; i < start + 4; i++) {
      const digit = hexDigit(literal[i] ?? 0);
      if (digit < 0) throw this.fail('a bad \\u escape in the string');
      unit = (unit << 4) | digit;
    }
    return unit;
  }
}

/**
 * The bytes of a JSON text.
 * @throws RemoteError `lone-surrogate` where it has none
 */
export function encodeJson(text: string): Uint8Array {
  const bytes = encodeUtf8(text);
  if (bytes !== undefined) return bytes;
  throw new RemoteError('lone-surrogate', 'a text with a lone surrogate, so not JSON');
}

/**
 * Reads a JSON text. A number comes back as a JavaScript number where that is a safe integer written in its
 * shortest form, and as a {@link JsonNumber} otherwise. Of several mistakes the first counts, and bytes that are not UTF-8
 * before any other that makes a text no JSON.
 * @param text - the text, or its UTF-8 bytes
 * @throws RemoteError `bad-utf8`, `bad-json`, `duplicate-key`, `lone-surrogate`, or `json-depth` beyond
 *   MAX_JSON_DEPTH arrays and objects open at once
 * @throws LocalError `bad-argument` for anything but text or bytes
 */
export function parseJson(text: string | Uint8Array): Json {
  if (typeof text !== 'string' && !isBytes(text)) {
    throw new LocalError('bad-argument', `"text" expected string or Uint8Array, got ${kindOf(text)}`);
  }
  const scanner = new Scanner(typeof text === 'string' ? encodeJson(text) : text);
  const open: (Json[] | JsonObject)[] = []; // the containers not yet closed, outermost first
  const keys: string[] = []; // for each of them the key whose value comes next, empty for arrays
  for (;;) {
    let value: Json;
    const first = scanner.peek();
    if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      scanner.take(first);
      if (open.length === MAX_JSON_DEPTH) {
        throw new RemoteError('json-depth', `JSON nested deeper than ${MAX_JSON_DEPTH}`);
      }
      value = first === OPEN_BRACE ? {} : [];
      if (!scanner.take(first === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)) {
        keys[open.length] = Array.isArray(value) ? '' : scanner.key(value);
        open.push(value);
        continue;
      }
    } else {
      value = scanner.scalar();
    }
    // The value is complete: hand it to its container, and close every container that ends with it.
    for (;;) {
      const container = open[open.length - 1];
      if (container === undefined) {
        scanner.peek();
        if (!scanner.atEnd) throw scanner.fail('more text after the value');
        return value;
      }
      const isArray = Array.isArray(container);
      if (isArray) container.push(value);
      else setField(container, keys[open.length - 1]!, value);
      if (scanner.take(COMMA)) {
        if (!isArray) keys[open.length - 1] = scanner.key(container);
        break;
      }
      if (!scanner.take(isArray ? CLOSE_BRACKET : CLOSE_BRACE)) throw scanner.fail('no comma and no end');
      open.pop();
      // The copy of an array takes no more memory than its elements; after push(), V8 keeps room for 16 more.
      value = isArray ? container.slice() : container;
    }
  }
}
