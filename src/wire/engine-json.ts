/**
 * Reads and writes JSON with the engine's JSON.parse and JSON.stringify, which are several times as fast as `readJson` and
 * `jsonToBytes`, and proves that these would do the same. They do whatever the proof does not cover, and have the errors. Files for
 * devices have them alone.
 */
import { type Bytes, encodeUtf8 } from '../bytes.ts';
import { decodeByEngine, engine, isWellFormed } from '../engine.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { type Json, type JsonObject, numberOf } from './json.ts';

const QUOTATION_MARK = 0x22;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const REVERSE_SOLIDUS = 0x5c;
const LETTER_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Takes the place of a number: a control that hardly any JSON has. */
const MARK = '\x7f';
const MARKED = /\x7f|\\u007[Ff]/;
/** JavaScript keeps any integer of so many digits. */
const SAFE_DIGITS = 15;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const ESCAPED_SURROGATE = /\\u[Dd][89A-Fa-f]/;

/** @returns `undefined` if only `readJson` knows */
export function parseByEngine(json: string | Uint8Array): Json | undefined {
  if (!engine().hasJson) return undefined;
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
  const hasSurrogates = hasEscapedSurrogate(text);
  if (tokens.length === 0 && !hasSurrogates) return membersOf(value) === members ? value : undefined;
  const restoring = new Restoring(tokens, hasSurrogates);
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

/** @returns `undefined` if only `jsonToBytes` knows */
export function writeByEngine(
  value: unknown,
  before: number,
  after: number,
  canonical: boolean,
): Bytes | undefined {
  if (canonical || !engine().hasJson || !isPlain(value, 0)) return undefined;
  const text = JSON.stringify(value);
  return hasEscapedSurrogate(text) ? undefined : encodeUtf8(text, before, after);
}

/** Longer strings take less memory if they are encoded one by one. */
const LONG_STRING = 16384;

/** Whether JSON.stringify calls nothing of this value, leaves nothing out and adds nothing. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.length <= LONG_STRING;
  if (typeof value === 'number') return isFinite(value);
  if (typeof value !== 'object' || value === null) return value === null || typeof value === 'boolean';
  if (depth === MAX_JSON_DEPTH || typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth + 1)) return false;
    return true;
  }
  if (value.constructor !== Object || Object.prototype.toString.call(value) !== '[object Object]')
    return false;
  for (const name in value) if (!isPlain((value as JsonObject)[name], depth + 1)) return false; // also what it inherits
  return true;
}

function hasEscapedSurrogate(json: string): boolean {
  return json.indexOf('\\') >= 0 && ESCAPED_SURROGATE.test(json);
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
      if (at === 0) return undefined;
    } else if (unit < MINUS) {
      at++; // a comma, or white space
    } else if (unit < COLON) {
      const start = at++;
      let next = text.charCodeAt(at);
      const isNegativeZero = unit === MINUS && next === ZERO;
      while (isDigit(next)) next = text.charCodeAt(++at);
      if (next !== POINT && (next | 0x20) !== LETTER_E && at - start <= SAFE_DIGITS && !isNegativeZero)
        continue;
      if (from === 0 && MARKED.test(text)) return undefined;
      NUMBER.lastIndex = start;
      const number = NUMBER.exec(text);
      if (number?.index !== start) return undefined;
      marked += `${text.slice(from, start)}"${MARK}"`;
      tokens.push(number[0]);
      from = at = NUMBER.lastIndex;
    } else {
      const bracket = unit | 0x20; // or a brace
      if (unit === COLON) members++;
      else if (bracket === OPEN_BRACE) depth++;
      else if (bracket === CLOSE_BRACE) depth--;
      if (depth > MAX_JSON_DEPTH) return undefined;
      at++;
    }
  }
  return { members, tokens, text: from === 0 ? text : marked + text.slice(from) };
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}

/** The place after a string, or 0 if it has no end. */
function stringEnd(text: string, start: number): number {
  let end = start - 1;
  let before: number;
  do {
    end = text.indexOf('"', end + 1);
    before = end - 1;
    while (text.charCodeAt(before) === REVERSE_SOLIDUS) before--;
  } while ((end - before) % 2 === 0);
  return end + 1;
}

/** How many members the objects in a value have; NaN if they inherit some. */
function membersOf(value: Json): number {
  for (const _ in {}) return NaN;
  return countMembers(value);
}

function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) count += countMembers(value[i]!);
    return count;
  }
  for (const name in value as JsonObject) count += 1 + countMembers((value as JsonObject)[name]!);
  return count;
}

/** Puts numbers in place of their marks. */
class Restoring {
  /** How many members the objects have; NaN if a string has a lone surrogate, or the order of the numbers is lost. */
  members = 0;
  private readonly tokens: readonly string[];
  private readonly hasSurrogates: boolean;
  private restored = 0;

  constructor(tokens: readonly string[], hasSurrogates: boolean) {
    this.tokens = tokens;
    this.hasSurrogates = hasSurrogates;
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
        // A number is no key, and the engine moves integers to the front.
        if (name === MARK || isDigit(name.charCodeAt(0))) this.members = NaN;
        object[name] = this.restore(object[name]!);
      }
      this.members += names.length;
    }
    return value;
  }

  private check(text: string): void {
    if (this.hasSurrogates && !isWellFormed(text)) this.members = NaN;
  }
}
