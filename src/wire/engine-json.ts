/**
 * Reads JSON with the engine's JSON.parse, which is several times as fast as `readJson`, and proves that `readJson` would return the
 * same. It reads whatever the proof does not cover, and has the errors. Files for devices have it alone.
 */
import { decodeByEngine, engine } from '../engine.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { type Json, type JsonObject, numberOf } from './json.ts';

const QUOTATION_MARK = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const REVERSE_SOLIDUS = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Takes the place of a number: a control that hardly any JSON has. */
const MARK = '\x7f';
const MARKED = /\x7f|\\u007[Ff]/;
/** JavaScript keeps any integer of so many digits. */
const SAFE_DIGITS = 15;
const SURROGATE = /[\ud800-\udfff]/;
const ESCAPED_SURROGATE = /\\u[Dd][89A-Fa-f]/;

function isWellFormed(text: string): boolean {
  return (text as { isWellFormed?(): boolean }).isWellFormed?.() ?? !SURROGATE.test(text);
}

/** @returns `undefined` if only `readJson` knows */
export function parseByEngine(json: string | Uint8Array): Json | undefined {
  if (!engine().readsJson) return undefined;
  const text = typeof json === 'string' ? json : decodeByEngine(json);
  if (text === undefined || !isWellFormed(text)) return undefined;
  const outline = outlineOf(text);
  if (outline === undefined) return undefined;
  const { tokens, members } = outline;
  let value: Json;
  try {
    value = JSON.parse(outline.text);
  } catch {
    return undefined;
  }
  if (tokens.length === 0 && !ESCAPED_SURROGATE.test(text)) {
    return membersOf(value) === members ? value : undefined;
  }
  const restoring = new Restoring(tokens);
  value = restoring.restore(value);
  return restoring.members === members ? value : undefined;
}

/**
 * Whether bytes are certainly no JSON object, which starts with a brace and a key or another brace: a sealed message that starts like
 * one by chance costs no error then. Files for devices have no room for this.
 */
export function isNoObject(bytes: Uint8Array): boolean {
  const brace = spaceEnd(bytes, 0);
  const next = bytes[spaceEnd(bytes, brace + 1)];
  return bytes[brace] !== OPEN_BRACE || (next !== QUOTATION_MARK && next !== CLOSE_BRACE);
}

function spaceEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** What JSON is outside of its strings, if it is JSON. */
interface Outline {
  /** How many members its objects have: as many as there are colons. Of two equal keys the engine keeps one. */
  readonly members: number;
  /** The numbers that may not be JavaScript's. */
  readonly tokens: readonly string[];
  /** The JSON with the mark, a string, in place of each of these. */
  readonly text: string;
}

/** @returns `undefined` for what is too deep, or no JSON, or cannot be marked */
function outlineOf(text: string): Outline | undefined {
  const tokens: string[] = [];
  let marked = '';
  let from = 0; // what is not in `marked` yet
  let members = 0;
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTATION_MARK) {
      at = stringEnd(text, at + 1);
      if (at < 0) return undefined;
    } else if (unit === MINUS || isDigit(unit)) {
      const start = at;
      const integer = integerEnd(text, at);
      at = fractionEnd(text, integer);
      if (integer < 0 || at < 0) return undefined;
      const isNegativeZero = unit === MINUS && text.charCodeAt(start + 1) === ZERO;
      if (at === integer && at - start <= SAFE_DIGITS && !isNegativeZero) continue;
      if (isKey(text, at) || (from === 0 && MARKED.test(text))) return undefined;
      marked += `${text.slice(from, start)}"${MARK}"`;
      tokens.push(text.slice(start, at));
      from = at;
    } else {
      if (unit === COLON) members++;
      else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth++;
      else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) depth--;
      if (depth > MAX_JSON_DEPTH) return undefined;
      at++;
    }
  }
  return { members, tokens, text: from === 0 ? text : marked + text.slice(from) };
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}

/** The place after an integer, or -1 if there is none. */
function integerEnd(text: string, at: number): number {
  const start = text.charCodeAt(at) === MINUS ? at + 1 : at;
  return text.charCodeAt(start) === ZERO ? start + 1 : digitsEnd(text, start);
}

/** The place after the fraction and the exponent that may follow an integer, or -1 if one of them has no digits. */
function fractionEnd(text: string, integer: number): number {
  let end = text.charCodeAt(integer) === POINT ? digitsEnd(text, integer + 1) : integer;
  if (end > 0 && (text.charCodeAt(end) | 0x20) === LETTER_E) {
    const sign = text.charCodeAt(end + 1);
    end = digitsEnd(text, sign === PLUS || sign === MINUS ? end + 2 : end + 1);
  }
  return end;
}

function digitsEnd(text: string, from: number): number {
  let end = from;
  while (isDigit(text.charCodeAt(end))) end++;
  return end > from ? end : -1;
}

/** Whether a colon follows: only a string may be a key, and no number. */
function isKey(text: string, at: number): boolean {
  let unit = text.charCodeAt(at);
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = text.charCodeAt(++at);
  return unit === COLON;
}

/** From this length of a string on, a call that looks for its end costs less than it saves. */
const WORTH_A_CALL = 32;

/** The place after a string, or -1 if it has no end. */
function stringEnd(text: string, start: number): number {
  let at = start;
  for (const end = start + WORTH_A_CALL; at < end; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTATION_MARK) return at + 1;
    if (unit === REVERSE_SOLIDUS) at++;
  }
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return -1;
    let before = end;
    while (before > at && text.charCodeAt(before - 1) === REVERSE_SOLIDUS) before--;
    at = end + 1;
    if ((end - before) % 2 === 0) return at;
  }
}

/** How many members the objects in a value have. */
function membersOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) count += membersOf(value[i]!);
    return count;
  }
  const names = Object.keys(value);
  for (let i = 0; i < names.length; i++) count += membersOf((value as JsonObject)[names[i]!]!);
  return count + names.length;
}

/** Puts numbers in place of their marks. */
class Restoring {
  /** How many members the objects have; NaN if a string has a lone surrogate, or the order of the numbers is lost. */
  members = 0;
  private readonly tokens: readonly string[];
  private restored = 0;

  constructor(tokens: readonly string[]) {
    this.tokens = tokens;
  }

  restore(value: Json): Json {
    if (typeof value === 'string') {
      if (value === MARK && this.tokens.length > 0) return numberOf(this.tokens[this.restored++]!);
      this.check(value);
    } else if (Array.isArray(value)) {
      for (let i = 0; i < value.length; i++) value[i] = this.restore(value[i]!);
    } else if (typeof value === 'object' && value !== null) {
      const object = value as JsonObject;
      const names = Object.keys(object);
      for (let i = 0; i < names.length; i++) {
        const name = names[i]!;
        this.check(name);
        if (isDigit(name.charCodeAt(0))) this.members = NaN; // the engine moves integers to the front
        object[name] = this.restore(object[name]!);
      }
      this.members += names.length;
    }
    return value;
  }

  private check(text: string): void {
    if (!isWellFormed(text)) this.members = NaN;
  }
}
