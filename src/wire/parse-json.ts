/**
 * Reads JSON (RFC 8259) strictly: duplicate keys, lone surrogates and trailing text are refused. It keeps a
 * stack of its own rather than the engine's, which on a device is a few hundred slots deep.
 */
import { bytesToUtf8, hexDigit, isBytes, kindOf, utf8Length } from '../bytes.ts';
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

const ESCAPED: { readonly [letter: string]: string } = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Reads the tokens of a JSON text, from left to right. */
class Scanner {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get atEnd(): boolean {
    return this.at === this.text.length;
  }

  fail(what: string): RemoteError {
    return new RemoteError('bad-json', `not JSON: ${what} at position ${this.at}`);
  }

  /** The next character that is not white space, or '' at the end; it is not taken. */
  peek(): string {
    for (; this.at < this.text.length; this.at++) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) break;
    }
    return this.text.charAt(this.at);
  }

  /** Takes the next character if it is this one. */
  take(character: string): boolean {
    if (this.peek() !== character) return false;
    this.at++;
    return true;
  }

  /** A key of an object, with its colon. */
  key(object: JsonObject): string {
    if (this.peek() !== '"') throw this.fail('no key');
    const key = this.string();
    if (ownField(object, key) !== undefined) {
      throw new RemoteError('duplicate-key', `JSON with a key twice in one object at position ${this.at}`);
    }
    if (!this.take(':')) throw this.fail('no colon');
    return key;
  }

  /** A string, a number, `true`, `false` or `null`. */
  scalar(): Json {
    const first = this.peek();
    if (first === '"') return this.string();
    if (first === 't') return this.word('true', true);
    if (first === 'f') return this.word('false', false);
    if (first === 'n') return this.word('null', null);
    const end = numberEnd(this.text, this.at);
    if (end < 0) throw this.fail('no value');
    const token = this.text.slice(this.at, end);
    this.at = end;
    const value = Number(token);
    return isSafeInteger(value) && String(value) === token ? value : new JsonNumber(token);
  }

  private word(word: string, value: Json): Json {
    if (this.text.slice(this.at, this.at + word.length) !== word) throw this.fail('no value');
    this.at += word.length;
    return value;
  }

  private string(): string {
    const pieces: string[] = [];
    let start = ++this.at;
    for (;;) {
      const unit = this.text.charCodeAt(this.at);
      if (!(unit >= 0x20)) throw this.fail('a control character, or the end, in a string'); // NaN at the end
      if (unit === 0x22 || unit === 0x5c) {
        pieces.push(this.text.slice(start, this.at++));
        if (unit === 0x22) break;
        pieces.push(this.escape());
        start = this.at;
      } else {
        this.at++;
      }
    }
    const string = pieces.join('');
    if (utf8Length(string) < 0) {
      throw new RemoteError(
        'lone-surrogate',
        `JSON with a lone surrogate in the string before position ${this.at}`,
      );
    }
    return string;
  }

  private escape(): string {
    const letter = this.text.charAt(this.at++);
    if (letter !== 'u') {
      const character = letter === '' ? undefined : ESCAPED[letter];
      if (character === undefined) throw this.fail('an unknown escape');
      return character;
    }
    let unit = 0;
    for (const end = this.at + 4; this.at < end; this.at++) {
      const digit = hexDigit(this.text.charCodeAt(this.at));
      if (digit < 0) throw this.fail('a bad \\u escape');
      unit = (unit << 4) | digit;
    }
    return String.fromCharCode(unit);
  }
}

/**
 * Reads a JSON text. A number comes back as a JavaScript number where that is a safe integer written in its
 * shortest form, and as a {@link JsonNumber} otherwise.
 * @param text - the text, or its UTF-8 bytes
 * @throws RemoteError `bad-utf8`, `bad-json`, `duplicate-key`, `lone-surrogate`, or `json-depth` beyond
 *   MAX_JSON_DEPTH arrays and objects open at once
 * @throws LocalError `bad-argument` for anything but text or bytes
 */
export function parseJson(text: string | Uint8Array): Json {
  const decoded = typeof text === 'string' ? text : isBytes(text) ? bytesToUtf8(text) : null;
  if (decoded === null) {
    throw new LocalError('bad-argument', `"text" expected string or Uint8Array, got ${kindOf(text)}`);
  }
  if (decoded === undefined) throw new RemoteError('bad-utf8', 'not JSON: the bytes are not UTF-8');

  const scanner = new Scanner(decoded);
  const open: (Json[] | JsonObject)[] = []; // the containers not yet closed, outermost first
  const keys: string[] = []; // beside each open object, the key whose value comes next
  for (;;) {
    let value: Json;
    const first = scanner.peek();
    if (first === '{' || first === '[') {
      scanner.take(first);
      if (open.length === MAX_JSON_DEPTH) {
        throw new RemoteError('json-depth', `JSON nested deeper than ${MAX_JSON_DEPTH}`);
      }
      value = first === '{' ? {} : [];
      if (!scanner.take(first === '{' ? '}' : ']')) {
        if (!Array.isArray(value)) keys[open.length] = scanner.key(value as JsonObject);
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
      if (scanner.take(',')) {
        if (!isArray) keys[open.length - 1] = scanner.key(container);
        break;
      }
      if (!scanner.take(isArray ? ']' : '}')) throw scanner.fail('no comma and no end');
      open.pop();
      value = container;
    }
  }
}
