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
const PLUS = 0x2b;
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
  const places: number[] = []; // where each such number starts and ends
  while (survey.next()) {
    places.push(survey.start, survey.end);
    if (places.length * DENSE > 2 * bytes.length) return undefined;
  }
  if (!survey.isGood) return undefined;
  const isNegative = !survey.hasNegative;
  const rewritten = places.length > 0 ? new Rewritten(bytes, places, isNegative) : undefined;
  const readable = rewritten === undefined ? (text ?? bytesToUtf8(bytes)) : rewritten.text;
  if (readable === undefined) return undefined;
  let value: Json;
  try {
    value = parseJson(readable) as Json;
  } catch {
    return undefined;
  }
  const tokens = rewritten === undefined ? [] : rewritten.tokens;
  const restored: Restored = { members: 0, isNegative, tokens };
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
  /** Whether one of the other numbers is negative. */
  hasNegative = false;
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
        if (at - start <= SAFE_DIGITS && !isMinusZero && !hasMore) {
          if (byte === MINUS) this.hasNegative = true;
          continue;
        }
        at = numberEnd(bytes, start);
        if (at < 0 || isPartOfNumber(bytes[start - 1] ?? 0) || isPartOfNumber(bytes[at] ?? 0))
          return this.stop();
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

/** Whether a byte beside a number would change that number, or the placeholder for it: a digit, or one of + - . E e */
function isPartOfNumber(byte: number): boolean {
  if (byte >= ZERO) return byte <= NINE || (byte | 0x20) === LETTER_E;
  return byte === PLUS || byte === MINUS || byte === POINT;
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
 * JSON with a placeholder for each number whose token must be kept: -1 for the first one, -2 for the second, and so on; or
 * 1.5, 2.5 and so on where another number is negative, though V8 takes four times as long to read these. No other number in
 * it is like that, so such a value leads back to its token.
 */
class Rewritten {
  readonly text: string | undefined;
  readonly tokens: string[];

  /** @param places - where each number starts and ends */
  constructor(bytes: Uint8Array, places: readonly number[], isNegative: boolean) {
    let length = 0; // of the tokens, all together
    for (let i = 0; i < places.length; i += 2) length += places[i + 1]! - places[i]!;
    const count = places.length / 2;
    const counter = new Counter(count);
    const text = new Uint8Array(bytes.length - length + count * `${count}.5`.length);
    const tokens = new Uint8Array(length + count);
    let at = 0;
    let tokensAt = 0;
    let from = 0;
    for (let i = 0; i < places.length; i += 2) {
      const start = places[i]!;
      const end = places[i + 1]!;
      while (from < start) text[at++] = bytes[from++]!;
      if (isNegative) text[at++] = MINUS;
      at = counter.write(text, at);
      if (!isNegative) {
        text[at++] = POINT;
        text[at++] = ZERO + 5;
      }
      while (from < end) tokens[tokensAt++] = bytes[from++]!;
      tokens[tokensAt++] = COMMA;
    }
    while (from < bytes.length) text[at++] = bytes[from++]!;
    this.text = bytesToUtf8(text.subarray(0, at));
    // All tokens together, since each call of the decoder has its price.
    this.tokens = bytesToUtf8(tokens)!.split(',');
  }
}

/** Counts from 1 in ASCII. Making a string of each number would take as long as parsing. */
class Counter {
  private readonly digits: Uint8Array;
  private first: number;

  /** @param last - how far it will count */
  constructor(last: number) {
    const { length } = String(last);
    this.digits = new Uint8Array(length);
    for (let i = 0; i < length; i++) this.digits[i] = ZERO;
    this.first = length;
  }

  /** Writes the next number; returns the index after it. */
  write(text: Uint8Array, at: number): number {
    const { digits } = this;
    let digit = digits.length - 1;
    while (digits[digit] === NINE) digits[digit--] = ZERO;
    digits[digit]!++;
    if (digit < this.first) this.first = digit;
    for (let i = this.first; i < digits.length; i++) text[at++] = digits[i]!;
    return at;
  }
}

/** What is found again in a value that was read with placeholders. */
interface Restored {
  /** How many members its objects have. */
  members: number;
  /** Whether it was read with negative placeholders. */
  readonly isNegative: boolean;
  readonly tokens: readonly string[];
}

/** Puts numbers in the place of their placeholders, and counts the members of objects. */
function restore(value: Json, from: Restored): Json {
  if (typeof value === 'number') {
    const isPlaceholder = from.isNegative ? value < 0 : Math.floor(value) !== value;
    const count = value < 0 ? -value : Math.floor(value);
    return isPlaceholder ? numberOf(from.tokens[count - 1]!) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Array.isArray(value) ? restoreArray(value, from) : restoreObject(value as JsonObject, from);
}

function restoreArray(array: Json[], from: Restored): Json[] {
  // V8 makes a new array in a third of the time that it takes to turn one of numbers into one of objects.
  if (typeof array[0] === 'number') return array.map((child) => restore(child, from));
  for (let i = 0; i < array.length; i++) {
    const child = array[i]!;
    const restored = restore(child, from);
    if (restored !== child) array[i] = restored;
  }
  return array;
}

function restoreObject(object: JsonObject, from: Restored): JsonObject {
  const keys = Object.keys(object);
  from.members += keys.length;
  for (let i = 0; i < keys.length; i++) {
    const child = object[keys[i]!]!;
    const type = typeof child;
    if (type !== 'object' && type !== 'number') continue;
    const restored = restore(child, from);
    if (restored !== child) object[keys[i]!] = restored;
  }
  return object;
}
