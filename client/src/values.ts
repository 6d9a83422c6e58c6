/**
 * How many values a message has. `JSON.parse` takes seconds and a gigabyte for millions of small ones, as the library's own reader does: so
 * they are counted before anybody reads a message.
 */
import { type Json, parseJson, RemoteError } from 'hub-protocol';

/** A shorter message is not counted: it becomes a few MiB at most. Nor is one that is shorter than what it may have. */
const SHORT = 65_536;

const QUOTATION_MARK = 0x22;
const REVERSE_SOLIDUS = 0x5c;

/** A message that was read once, for everybody. */
export type Reading =
  | {
      /** The JSON, with its numbers as received; `undefined` if it is none. */
      readonly envelope: Json | undefined;
    }
  | { readonly dropped: TooManyValues };

/** The event in place of a message that has too many values. */
export interface TooManyValues {
  readonly type: 'dropped';
  readonly kind: 'json';
  readonly bytes: number;
  readonly reason: 'too-many-values';
}

/** @param maxValues - the most bytes outside of strings */
export function readOnce(text: string, maxValues: number): Reading {
  const dropped = tooManyValues(text, maxValues);
  if (dropped !== undefined) return { dropped };
  try {
    return { envelope: parseJson(text) };
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error; // there is no memory
    return { envelope: undefined };
  }
}

/**
 * @param maxValues - the most bytes outside of strings
 * @returns `undefined` if a message may be read
 */
export function tooManyValues(text: string, maxValues: number): TooManyValues | undefined {
  const { length } = text;
  if (length < SHORT || length <= maxValues || lengthOutside(text) <= maxValues) return undefined;
  return { type: 'dropped', kind: 'json', bytes: utf8Length(text), reason: 'too-many-values' };
}

/** Looks for the ends of strings as fast as the engine can, since a long message mostly is one long string. */
function lengthOutside(json: string): number {
  let length = 0;
  for (let at = 0; ; ) {
    const start = json.indexOf('"', at);
    if (start < 0) return length + json.length - at;
    length += start + 1 - at;
    let end = start;
    do {
      end = json.indexOf('"', end + 1);
      if (end < 0) return length;
    } while (isEscaped(json, end));
    at = end + 1;
  }
}

function isEscaped(json: string, at: number): boolean {
  let before = at - 1;
  while (json.charCodeAt(before) === REVERSE_SOLIDUS) before--;
  return (at - before) % 2 === 0;
}

function utf8Length(text: string): number {
  let { length } = text;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) length += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return length;
}

/** Counts the bytes of JSON outside of strings. */
export function lengthOutsideStrings(json: Uint8Array): number {
  let length = 0;
  let isInside = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (!isInside) length++;
    if (byte === QUOTATION_MARK) isInside = !isInside;
    else if (byte === REVERSE_SOLIDUS && isInside) i++;
  }
  return length;
}

/** Whether a binary message has too many values: JSON, unless its type is that of bytes such as speech. */
export function hasTooManyValues(message: Uint8Array, maxValues: number): boolean {
  if (message.length < SHORT || message.length <= maxValues || isOfBytes(message)) return false;
  return lengthOutsideStrings(message) > maxValues;
}

const BIN = 12;

/** The type is the five bits after the first 1, a bit that says whether there is a version, and its eight bits. */
function isOfBytes([a = 0, b = 0, c = 0]: Uint8Array): boolean {
  const rest = (a << 24) | (b << 16) | (c << 8);
  const afterFirst = rest << (Math.clz32(rest) + 1);
  return (afterFirst << (afterFirst < 0 ? 9 : 1)) >>> 27 === BIN;
}
