/**
 * Reads JSON with the engine's JSON.parse, which is several times as fast as any code in JavaScript, and makes up for what
 * that loses: the tokens of numbers, the first of two equal keys, and that a surrogate was alone. So one pass over the
 * bytes comes first. It finds the numbers whose tokens must be kept, counts the members of objects, and stops at a lone
 * surrogate. JSON.parse must then return as many members.
 *
 * Nothing in doubt is decided here. Unless the text is plainly good, the result is `undefined`, and parse-json.ts reads it
 * from the start, to the same value or to an error.
 */
import { bytesToUtf8 } from '../bytes.ts';
import { engine } from '../engine.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { type Json, type JsonObject, numberEnd, numberOf } from './json.ts';

const QUOTATION_MARK = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const REVERSE_SOLIDUS = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_C = 0x63;
const LETTER_D = 0x64;
const LETTER_E = 0x65;
const LETTER_F = 0x66;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Beside digits, what a number may hold: + - . E e */
const NUMBER_SIGNS = [0x2b, MINUS, POINT, 0x45, LETTER_E];

/** With a token in every so many bytes, reading them one by one takes no more time, and less memory. */
const DENSE = 6;

/** An integer of up to so many digits is a safe one. */
const SAFE_DIGITS = 15;

/**
 * Reads JSON in UTF-8.
 * @param text - the same as a string, where there is one
 * @returns the value, or `undefined` where `parseJson` has to find out
 */
export function parseByEngine(bytes: Uint8Array, text: string | undefined): Json | undefined {
  const { parseJson } = engine;
  if (parseJson === undefined) return undefined;
  const survey = new Survey(bytes);
  let count = 0;
  let length = 0;
  while (survey.next()) {
    count++;
    length += survey.end - survey.start;
  }
  if (!survey.isGood || count * DENSE > bytes.length) return undefined;
  const rewritten = count > 0 ? new Rewritten(bytes, count, length) : undefined;
  const readable = rewritten === undefined ? (text ?? bytesToUtf8(bytes)) : rewritten.text;
  if (readable === undefined) return undefined;
  let value: Json;
  try {
    value = parseJson(readable) as Json;
  } catch {
    return undefined;
  }
  const restored = { members: 0, tokens: rewritten === undefined ? [] : rewritten.tokens };
  value = restore(value, restored);
  return restored.members === survey.members ? value : undefined;
}

/** Goes over JSON once, from one number whose token must be kept to the next. */
class Survey {
  /** Where the number starts and ends. */
  start = 0;
  end = 0;
  /** How many members the objects up to here have, all together. */
  members = 0;
  /** False once the text is nested too deep, has a lone surrogate, or may be no JSON. */
  isGood = true;
  private readonly bytes: Uint8Array;
  private depth = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Goes on to the next such number. Returns false where there is none, or the text is not good. */
  next(): boolean {
    const { bytes } = this;
    const { length } = bytes;
    let at = this.end;
    while (at < length) {
      const start = at;
      const byte = bytes[at++]!;
      if (byte === QUOTATION_MARK) {
        at = stringEnd(bytes, at);
        if (at < 0) return this.stop();
      } else if (byte === COLON) {
        this.members++;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (++this.depth > MAX_JSON_DEPTH) return this.stop();
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.depth--;
      } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
        let next = bytes[at]!;
        const isMinusZero = byte === MINUS && next === ZERO;
        while (next >= ZERO && next <= NINE) next = bytes[++at]!;
        const hasMore = next === POINT || (next | 0x20) === LETTER_E;
        if (at - start <= SAFE_DIGITS && !isMinusZero && !hasMore) continue;
        at = numberEnd(bytes, start);
        if (at < 0 || isPartOfNumber(bytes[start - 1]) || isPartOfNumber(bytes[at])) return this.stop();
        this.start = start;
        this.end = at;
        return true;
      }
    }
    return false;
  }

  private stop(): false {
    this.isGood = false;
    return false;
  }
}

/** Whether a byte beside a number would change that number, or the placeholder for it. */
function isPartOfNumber(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= ZERO && byte <= NINE) || NUMBER_SIGNS.indexOf(byte) >= 0;
}

/** The index after a string; -1 for a string with a lone surrogate or without an end. */
function stringEnd(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  for (;;) {
    // Four bytes at a time take a third less time than one.
    while (at + 3 < length && isPlain(bytes[at]!) && isPlain(bytes[at + 1]!) && isPlain(bytes[at + 2]!)) {
      if (!isPlain(bytes[at + 3]!)) break;
      at += 4;
    }
    if (at >= length) return -1;
    const byte = bytes[at++]!;
    if (byte === QUOTATION_MARK) return at;
    if (byte !== REVERSE_SOLIDUS) continue;
    const isSurrogate =
      bytes[at] === LETTER_U && (bytes[at + 1]! | 0x20) === LETTER_D && bytes[at + 2]! >= 0x38;
    if (isSurrogate && !isPair(bytes, at)) return -1;
    at += isSurrogate ? 11 : 1;
  }
}

function isPlain(byte: number): boolean {
  return byte !== QUOTATION_MARK && byte !== REVERSE_SOLIDUS;
}

/** Whether `uD8…` at this place, which are known to be a surrogate's first digits, begin an escaped pair. */
function isPair(bytes: Uint8Array, at: number): boolean {
  const high = bytes[at + 2]! | 0x20; // 8, 9, a or b
  const low = bytes[at + 8]! | 0x20; // c, d, e or f
  return (
    high < LETTER_C &&
    bytes[at + 5] === REVERSE_SOLIDUS &&
    bytes[at + 6] === LETTER_U &&
    (bytes[at + 7]! | 0x20) === LETTER_D &&
    low >= LETTER_C &&
    low <= LETTER_F
  );
}

/**
 * JSON with a placeholder for each number whose token must be kept: 0.5 for the first one, 1.5 for the second, and so on.
 * No other number in it has a fraction, so a value with one leads back to its token.
 */
class Rewritten {
  readonly text: string | undefined;
  readonly tokens: string[];

  /**
   * @param count - of the tokens
   * @param length - of the tokens, all together
   */
  constructor(bytes: Uint8Array, count: number, length: number) {
    const text = new Uint8Array(bytes.length - length + count * `${count}.5`.length);
    const tokens = new Uint8Array(length + count);
    const survey = new Survey(bytes);
    let at = 0;
    let tokensAt = 0;
    let from = 0;
    for (let i = 0; i < count; i++) {
      survey.next();
      while (from < survey.start) text[at++] = bytes[from++]!;
      at = writePlaceholder(text, at, i);
      while (from < survey.end) tokens[tokensAt++] = bytes[from++]!;
      tokens[tokensAt++] = COMMA;
    }
    while (from < bytes.length) text[at++] = bytes[from++]!;
    this.text = bytesToUtf8(text.subarray(0, at));
    // All tokens together, since each call of the decoder has its price.
    this.tokens = bytesToUtf8(tokens)!.split(',');
  }
}

/** Writes `<index>.5`; returns the index after it. Making a string of each index would take as long as parsing. */
function writePlaceholder(bytes: Uint8Array, at: number, index: number): number {
  let place = 1;
  while (place * 10 <= index) place *= 10;
  for (; place >= 1; place /= 10) bytes[at++] = ZERO + (Math.floor(index / place) % 10);
  bytes[at++] = POINT;
  bytes[at++] = ZERO + 5;
  return at;
}

/** Puts numbers in the place of their placeholders, and counts the members of objects. */
function restore(value: Json, from: { members: number; readonly tokens: string[] }): Json {
  if (typeof value === 'number') return value % 1 === 0 ? value : numberOf(from.tokens[value - 0.5]!);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as JsonObject;
  const keys = Array.isArray(value) ? undefined : Object.keys(value);
  const { length } = keys ?? (value as Json[]);
  if (keys !== undefined) from.members += length;
  for (let i = 0; i < length; i++) {
    const key = keys === undefined ? i : keys[i]!;
    const child = fields[key]!;
    const type = typeof child;
    if (type !== 'object' && type !== 'number') continue;
    const restored = restore(child, from);
    if (restored !== child) fields[key] = restored;
  }
  return value;
}
