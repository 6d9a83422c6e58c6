/**
 * Tells JSON from other text in one pass over its bytes, and makes no values of it: that takes a third of the time of
 * parsing, and no memory.
 *
 * Nothing in doubt is decided here. Unless the text is plainly good, parse-json.ts reads it, and accepts or refuses it.
 */
import { hexDigit } from '../bytes.ts';
import { engine } from '../engine.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { PlainRuns } from './engine-strings.ts';
import { numberEnd } from './json.ts';

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

/** What may stand after a reverse solidus, beside `u`: " \ / b f n r t */
const ESCAPES = [0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74];

/** The keys of an object are compared with each other, which would take too long for more of them. */
const MAX_KEYS = 64;

/**
 * Whether bytes are JSON that `parseJson` accepts.
 * @param bytes - UTF-8
 * @returns false also where only `parseJson` can tell
 */
export function isPlainJson(bytes: Uint8Array): boolean {
  return engine.codec !== undefined && new Checker(bytes).isJson();
}

/** In place of where something ends. */
const IN_DOUBT = -1;

/** Its methods take where something starts, and return where it ends, or IN_DOUBT. */
class Checker {
  private readonly bytes: Uint8Array;
  private readonly runs: PlainRuns;
  /** A number for each key of each open object: equal for equal keys, and rarely for others. */
  private readonly seen: number[] = [];
  private keyCount = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.runs = new PlainRuns(bytes);
  }

  isJson(): boolean {
    const { bytes } = this;
    const open: number[] = []; // for each open object the place of its first key, for each open array -1
    let at = 0;
    while (at >= 0) {
      at = this.skipSpace(at);
      const first = bytes[at];
      if (first === OPEN_BRACE || first === OPEN_BRACKET) {
        if (open.length === MAX_JSON_DEPTH) return false;
        const isObject = first === OPEN_BRACE;
        open.push(isObject ? this.keyCount : -1);
        at = this.skipSpace(at + 1);
        if (bytes[at] !== (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
          if (isObject) at = this.keyEnd(at, this.keyCount);
          continue;
        }
      } else {
        at = first === QUOTATION_MARK ? this.stringEnd(at + 1) : this.scalarEnd(at);
      }
      // The value is complete, or in doubt: go on after a comma, or close every container that ends with it.
      for (;;) {
        at = this.skipSpace(at);
        const firstKey = open[open.length - 1];
        if (firstKey === undefined) return at === bytes.length;
        const next = bytes[at++];
        if (next === COMMA) {
          if (firstKey >= 0) at = this.keyEnd(this.skipSpace(at), firstKey);
          break;
        }
        if (next !== (firstKey >= 0 ? CLOSE_BRACE : CLOSE_BRACKET)) return false;
        if (firstKey >= 0) this.keyCount = firstKey;
        open.pop();
      }
    }
    return false;
  }

  private skipSpace(at: number): number {
    for (;;) {
      const byte = this.bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
      at++;
    }
  }

  /** Goes to the value after a key, which may not be a key of this object already. */
  private keyEnd(at: number, firstKey: number): number {
    const { bytes, seen, keyCount } = this;
    if (bytes[at] !== QUOTATION_MARK || keyCount - firstKey === MAX_KEYS) return IN_DOUBT;
    let key = 0;
    for (;;) {
      const byte = bytes[++at]!;
      if (byte === QUOTATION_MARK) break;
      if (!(byte >= 0x20) || byte === REVERSE_SOLIDUS) return IN_DOUBT;
      key = ((key << 5) - key + byte) | 0;
    }
    for (let i = firstKey; i < keyCount; i++) if (seen[i] === key) return IN_DOUBT;
    seen[this.keyCount++] = key;
    at = this.skipSpace(at + 1);
    return bytes[at] === COLON ? at + 1 : IN_DOUBT;
  }

  private scalarEnd(at: number): number {
    const first = this.bytes[at];
    if (first === LETTER_T) return this.wordEnd(at, 'true');
    if (first === LETTER_F) return this.wordEnd(at, 'false');
    if (first === LETTER_N) return this.wordEnd(at, 'null');
    return numberEnd(this.bytes, at);
  }

  private wordEnd(at: number, word: string): number {
    for (let i = 0; i < word.length; i++) if (this.bytes[at + i] !== word.charCodeAt(i)) return IN_DOUBT;
    return at + word.length;
  }

  private stringEnd(at: number): number {
    const { bytes } = this;
    while (at >= 0) {
      at = this.runs.end(at);
      if (bytes[at] === QUOTATION_MARK) return at + 1;
      at = bytes[at] === REVERSE_SOLIDUS ? this.escapeEnd(at + 1) : IN_DOUBT;
    }
    return at;
  }

  private escapeEnd(at: number): number {
    const { bytes } = this;
    if (bytes[at] !== LETTER_U) return ESCAPES.indexOf(bytes[at]!) < 0 ? IN_DOUBT : at + 1;
    const unit = this.unitAt(at + 1);
    if (unit < 0) return IN_DOUBT;
    if (unit < 0xd800 || unit > 0xdfff) return at + 5;
    const isPaired = bytes[at + 5] === REVERSE_SOLIDUS && bytes[at + 6] === LETTER_U;
    return unit < 0xdc00 && isPaired && this.unitAt(at + 7) >> 10 === 0xdc00 >> 10 ? at + 11 : IN_DOUBT;
  }

  /** Four hex digits; a negative number for anything else, since one digit of -1 leaves it negative. */
  private unitAt(at: number): number {
    let unit = 0;
    for (let i = at; i < at + 4; i++) unit = (unit << 4) | hexDigit(this.bytes[i] ?? 0);
    return unit;
  }
}
