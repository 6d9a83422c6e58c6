/**
 * Reads JSON with the engine's JSON.parse, which is several times as fast as code in JavaScript can be, and adds what
 * that lacks. Three things get lost in JSON.parse: the tokens of numbers, the second of two equal keys, and that a
 * surrogate was alone. So one pass over the bytes comes first. It finds the numbers whose tokens must be kept, counts the
 * members of objects, and refuses lone surrogates; afterwards as many keys must have come out.
 *
 * Nothing is decided here that is in doubt: for every text that is not plainly good, the answer is `undefined`, and
 * parse-json.ts reads the text again from the start, to the same value or to the error.
 */
import { bytesToUtf8 } from '../bytes.ts';
import { engine } from '../engine.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { type Json, type JsonObject, numberEnd, numberOf } from './json.ts';

const QUOTATION_MARK = 0x22;
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

/** An integer of up to so many digits is a safe one. */
const SAFE_DIGITS = 15;

/** What JSON.parse would not tell. */
interface Survey {
  /** How many members the objects have, all together. */
  members: number;
  /** Start and end of each number whose token must be kept, in order. */
  readonly tokens: number[];
}

/**
 * Reads JSON in UTF-8.
 * @param text - the same as a string, where there is one
 * @returns the value, or `undefined` where `parseJson` has to find out
 */
export function parseByEngine(bytes: Uint8Array, text: string | undefined): Json | undefined {
  if (engine.parseJson === undefined) return undefined;
  const survey = surveyOf(bytes);
  if (survey === undefined) return undefined;
  const { tokens } = survey;
  if (tokens.length > 0) text = bytesToUtf8(withPlaceholders(bytes, tokens));
  else text ??= bytesToUtf8(bytes);
  if (text === undefined) return undefined;
  let value: Json;
  try {
    value = engine.parseJson(text) as Json;
  } catch {
    return undefined;
  }
  const restored = { members: 0, tokens: tokens.length === 0 ? [] : tokensOf(bytes, tokens) };
  value = restore(value, restored);
  return restored.members === survey.members ? value : undefined;
}

/** Goes over the bytes once; `undefined` for what is nested too deep or may be no JSON. */
function surveyOf(text: Uint8Array): Survey | undefined {
  const { length } = text;
  const survey: Survey = { members: 0, tokens: [] };
  let depth = 0;
  let at = 0;
  while (at < length) {
    const start = at;
    const byte = text[at++]!;
    if (byte === QUOTATION_MARK) {
      at = stringEnd(text, at);
      if (at < 0) return undefined;
    } else if (byte === COLON) {
      survey.members++;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > MAX_JSON_DEPTH) return undefined;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      let next = text[at]!;
      const isMinusZero = byte === MINUS && next === ZERO;
      while (next >= ZERO && next <= NINE) next = text[++at]!;
      if (at - start <= SAFE_DIGITS && !isMinusZero && next !== POINT && (next | 0x20) !== LETTER_E) continue;
      at = numberEnd(text, start);
      if (at < 0 || isPartOfNumber(text[start - 1]) || isPartOfNumber(text[at])) return undefined;
      survey.tokens.push(start, at);
    }
  }
  return survey;
}

/** Whether a byte beside a number would make another number of it, or of its placeholder. */
function isPartOfNumber(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (byte >= ZERO && byte <= NINE) || NUMBER_SIGNS.indexOf(byte) >= 0;
}

/** The index after a string; -1 for a string with a lone surrogate or without an end. */
function stringEnd(text: Uint8Array, at: number): number {
  const { length } = text;
  for (;;) {
    // Four bytes at a time take a third less time than one.
    while (at + 3 < length && isPlain(text[at]!) && isPlain(text[at + 1]!) && isPlain(text[at + 2]!)) {
      if (!isPlain(text[at + 3]!)) break;
      at += 4;
    }
    if (at >= length) return -1;
    const byte = text[at++]!;
    if (byte === QUOTATION_MARK) return at;
    if (byte !== REVERSE_SOLIDUS) continue;
    const isSurrogate = text[at] === LETTER_U && (text[at + 1]! | 0x20) === LETTER_D && text[at + 2]! >= 0x38;
    if (isSurrogate && !isPair(text, at)) return -1;
    at += isSurrogate ? 11 : 1;
  }
}

function isPlain(byte: number): boolean {
  return byte !== QUOTATION_MARK && byte !== REVERSE_SOLIDUS;
}

/** Whether `uD8…` at this place, which are known to be a surrogate's first digits, begin an escaped pair. */
function isPair(text: Uint8Array, at: number): boolean {
  const high = text[at + 2]! | 0x20; // 8, 9, a or b
  const low = text[at + 8]! | 0x20; // c, d, e or f
  return (
    high < LETTER_C &&
    text[at + 5] === REVERSE_SOLIDUS &&
    text[at + 6] === LETTER_U &&
    (text[at + 7]! | 0x20) === LETTER_D &&
    low >= LETTER_C &&
    low <= LETTER_F
  );
}

/**
 * The text with a placeholder for each token: the first is written 0.5, the second 1.5, and so on. No other number in it
 * has a fraction, so a value with one leads back to its token.
 */
function withPlaceholders(text: Uint8Array, tokens: readonly number[]): Uint8Array {
  const written = new Uint8Array(text.length + (tokens.length / 2) * PLACEHOLDER);
  let at = 0;
  let from = 0;
  for (let i = 0; i < tokens.length; i += 2) {
    while (from < tokens[i]!) written[at++] = text[from++]!;
    at = writePlaceholder(written, at, i / 2);
    from = tokens[i + 1]!;
  }
  while (from < text.length) written[at++] = text[from++]!;
  return written.subarray(0, at);
}

/** No placeholder is longer, since no array has more than 2^32 bytes. */
const PLACEHOLDER = 12;

/** Writes `<number>.5`; returns the index after it. Turning each number into a string would take as long as parsing. */
function writePlaceholder(text: Uint8Array, at: number, number: number): number {
  let place = 1;
  while (place * 10 <= number) place *= 10;
  for (; place >= 1; place /= 10) text[at++] = ZERO + (Math.floor(number / place) % 10);
  text[at++] = POINT;
  text[at++] = ZERO + 5;
  return at;
}

/** The tokens as strings. They are decoded together, since each call of the decoder has its price. */
function tokensOf(text: Uint8Array, tokens: readonly number[]): string[] {
  const list = new Uint8Array(text.length + 1);
  let at = 0;
  for (let i = 0; i < tokens.length; i += 2) {
    for (let j = tokens[i]!; j < tokens[i + 1]!; j++) list[at++] = text[j]!;
    list[at++] = 0x2c;
  }
  return bytesToUtf8(list.subarray(0, at))!.split(',');
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
