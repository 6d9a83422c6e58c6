/**
 * Canonical JSON (spec, "Authentication") of JSON text (RFC 8259), in one pass that makes no values: numbers keep their tokens. The
 * engine's JSON.parse can then read the result: the text was valid, and has no key twice.
 */
import { type Bytes, bytesToHex, bytesToUtf8, encodeUtf8, hexDigit } from '../bytes.ts';
import type { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { ESCAPED, LETTERS, numberEnd } from '../wire/json.ts';

/** An array or object that is not closed yet. */
interface Open {
  /** The byte that closes it. */
  readonly close: number;
  /** Canonical items; those of an object each follow their key in hexadecimal, by which they are sorted, and a space. */
  readonly items: string[];
  /** The key of the item that comes next. */
  key: string;
}

/** Canonical JSON, and that of the member `payload`, if there is one. */
export interface Canonical {
  readonly text: string;
  readonly payload: string | undefined;
}

/** Reads JSON in UTF-8, from left to right. */
class Scanner {
  at = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  malformed(): RemoteError {
    return bytesToUtf8(this.bytes) === undefined ? errors.badUtf8() : errors.badJson('it is malformed', this);
  }

  /** Skips white space; returns the next byte without consuming it, 0 at the end. */
  peek(): number {
    for (; ; this.at++) {
      const byte = this.bytes[this.at] ?? 0;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte;
    }
  }

  consume(byte: number): boolean {
    if (this.peek() !== byte) return false;
    this.at++;
    return true;
  }

  readKey(): string {
    const key = this.readString();
    if (!this.consume(0x3a)) throw this.malformed();
    return key;
  }

  readString(): string {
    if (!this.consume(0x22)) throw this.malformed();
    const { bytes, at } = this;
    let end = at;
    for (; bytes[end] !== 0x22; end++) {
      if (!(bytes[end]! >= 0x20)) throw this.malformed(); // also past the end
      if (bytes[end] === 0x5c) end++;
    }
    this.at = end + 1;
    const raw = bytesToUtf8(bytes.subarray(at, end));
    const text = raw && this.unescape(raw);
    if (text === undefined) throw this.malformed();
    return text;
  }

  /** Resolves escapes. */
  private unescape(raw: string): string {
    const parts = raw.split('\\');
    let text = parts[0]!;
    for (let i = 1; i < parts.length; i++) {
      const part = parts[i]!;
      const first = part.charAt(0);
      const letter = LETTERS.indexOf(first);
      if (part === '') text += `\\${parts[++i]}`;
      else if (first === 'u') text += String.fromCharCode(this.readUnit(part)) + part.slice(5);
      else if (letter < 0) throw this.malformed();
      else text += ESCAPED.charAt(letter) + part.slice(1);
    }
    if (encodeUtf8(text) === undefined) throw errors.receivedLoneSurrogate(this);
    return text;
  }

  /** Reads four hexadecimal digits after the first character as a UTF-16 unit. */
  private readUnit(part: string): number {
    let unit = 0;
    for (let i = 1; i < 5; i++) {
      const digit = hexDigit(part.charCodeAt(i));
      if (!(digit >= 0)) throw this.malformed();
      unit = (unit << 4) | digit;
    }
    return unit;
  }

  /** Reads a number, `true`, `false` or `null`. */
  readToken(first: number): string {
    const { bytes, at } = this;
    const word = first === 0x74 ? 'true' : first === 0x66 ? 'false' : 'null';
    const isWord = first > 0x39;
    const end = isWord ? Math.min(at + word.length, bytes.length) : numberEnd(bytes, at);
    const token = end < 0 ? undefined : bytesToUtf8(bytes.subarray(at, end));
    if (token === undefined || (isWord && token !== word)) throw this.malformed();
    this.at = end;
    return token;
  }
}

/**
 * Makes JSON canonical.
 * @param bytes - JSON in UTF-8
 * @throws RemoteError `bad-utf8`, `bad-json`, `duplicate-key`, `lone-surrogate`, `json-depth`
 */
export function canonicalize(bytes: Uint8Array): Canonical {
  const scanner = new Scanner(bytes);
  const open: Open[] = [];
  let payload: string | undefined;
  for (;;) {
    const first = scanner.peek();
    let text: string;
    if (first === 0x7b || first === 0x5b) {
      const close = first + 2;
      scanner.at++;
      if (open.length === MAX_JSON_DEPTH) throw errors.jsonTooDeep(MAX_JSON_DEPTH);
      if (!scanner.consume(close)) {
        open.push({ close, items: [], key: first === 0x7b ? scanner.readKey() : '' });
        continue;
      }
      text = String.fromCharCode(first, close);
    } else {
      text = first === 0x22 ? quote(scanner.readString()) : scanner.readToken(first);
    }
    // The value is complete: add it to its container, and close every container that ends with it.
    for (;;) {
      const container = open[open.length - 1];
      if (container === undefined) {
        scanner.peek();
        if (scanner.at < bytes.length) throw scanner.malformed();
        return { text, payload };
      }
      const { close, items, key } = container;
      const isObject = close === 0x7d;
      if (isObject && open.length === 1 && key === 'payload') payload = text;
      items.push(isObject ? `${bytesToHex(encodeUtf8(key)!)} ${quote(key)}:${text}` : text);
      if (scanner.consume(0x2c)) {
        if (isObject) container.key = scanner.readKey();
        break;
      }
      if (!scanner.consume(close)) throw scanner.malformed();
      open.pop();
      text = isObject ? `{${joinSorted(items, scanner)}}` : `[${items.join()}]`;
    }
  }
}

/** Joins members in the order of the code points of their keys, which is that of their hexadecimal UTF-8: a space comes before digits. */
function joinSorted(items: string[], place: Scanner): string {
  items.sort();
  let last = '';
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    const start = item.indexOf(' ') + 1;
    const key = item.slice(0, start);
    if (key === last) throw errors.duplicateKey(place);
    last = key;
    items[i] = item.slice(start);
  }
  return items.join();
}

/** Writes a string: quotation mark, reverse solidus and controls escaped, everything else literal. */
function quote(text: string): string {
  let quoted = '"';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x20 && unit !== 0x22 && unit !== 0x5c) continue;
    const at = ESCAPED.indexOf(text.charAt(i));
    const letter = at < 0 ? `u00${bytesToHex(new Uint8Array([unit]))}` : LETTERS.charAt(at);
    quoted += `${text.slice(from, i)}\\${letter}`;
    from = i + 1;
  }
  return `${quoted}${text.slice(from)}"`;
}

/**
 * Encodes received JSON as UTF-8.
 * @throws RemoteError `lone-surrogate`
 */
export function encode(text: string): Bytes {
  const bytes = encodeUtf8(text);
  if (bytes === undefined) throw errors.notUnicode();
  return bytes;
}
