/**
 * Canonical JSON and prologues with one mistake, or two. A known mistake leads to predictable bytes: if an
 * implementation writes them, the mistake is found.
 */

import {
  bytesToHex,
  bytesToUtf8,
  canonicalJson,
  concatBytes,
  equalBytes,
  hexToBytes,
  isJsonObject,
  type Json,
  JsonNumber,
  type JsonObject,
  ownField,
  parseJson,
  utf8ToBytes,
} from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';
import { mistakenNames } from './noise-mistakes.ts';
import { DEPTH_SHORT } from './reading.ts';

interface Style {
  readonly cause: string;
  /** The keys of an object in the order in which they are written. */
  readonly sort?: (keys: string[], depth: number) => string[];
  /** Whether a field is written. */
  readonly keeps?: (value: Json, key: string, depth: number) => boolean;
  /** Whether the mistake can show in this text, where its values do not tell. */
  readonly when?: (text: string) => boolean;
  readonly number?: (token: string) => string;
  /** Applied to each string in its canonical form, including quotation marks. */
  readonly string?: (quoted: string) => string;
  readonly comma?: string;
  readonly colon?: string;
  readonly encode?: (text: string) => Uint8Array;
}

const byCodePoint = (keys: string[]): string[] =>
  keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
/** Sorts by a stand-in for each key; keys with equal stand-ins keep their order. */
const by = (keys: string[], standIn: (key: string) => string): string[] => {
  const sorted = byCodePoint(keys.map(standIn));
  return keys.sort((a, b) => sorted.indexOf(standIn(a)) - sorted.indexOf(standIn(b)));
};
const PAIR = /[\u{10000}-\u{10ffff}]/gu;
const lowered = (text: string): string =>
  text.replace(PAIR, (pair) => String.fromCodePoint(pair.codePointAt(0)! - 0x10000));
/** The halves joined by |, so that characters of even planes lose the 0x10000. */
const joined = (text: string): string =>
  text.replace(PAIR, (pair) => String.fromCodePoint(0x10000 | (pair.codePointAt(0)! - 0x10000)));
const replaced = (text: string): string => text.replace(PAIR, '\ufffd\ufffd');
const escapeCode = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
const escapeEach =
  (pattern: RegExp) =>
  (quoted: string): string =>
    quoted.replace(pattern, escapeCode);
const writeEscapeAs =
  (escapes: { readonly [from: string]: string }) =>
  (quoted: string): string =>
    quoted.replace(/\\(?:u.{4}|.)/g, (from) => escapes[from] ?? from);

/** The digits of a double as a language writes them, from the shortest ones. */
function floatAs(token: string, write: (digits: string, exponent: number) => string): string {
  const value = Number(token);
  if (!/[.eE]/.test(token) || !Number.isFinite(value)) return token;
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e') as [string, string];
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  return sign + write(mantissa.replace('.', ''), Number(exponent));
}

/** A float without an exponent, and a `.0` if it has no fraction. */
function plainFloat(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${whole}.${digits.slice(exponent + 1) || '0'}`;
}

const scientific = (digits: string): string =>
  digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits;

/** `repr` of Python: an exponent of two digits from 1e16 on and below 1e-4. */
function pythonFloat(token: string): string {
  return floatAs(token, (digits, exponent) => {
    if (exponent >= -4 && exponent < 16) return plainFloat(digits, exponent);
    const size = String(Math.abs(exponent)).padStart(2, '0');
    return `${scientific(digits)}e${exponent < 0 ? '-' : '+'}${size}`;
  });
}

/** Python's json, with its integers and what no float can hold. */
function pythonNumber(token: string): string {
  if (token === '-0') return '0';
  if (!/[.eE]/.test(token) || Number.isFinite(Number(token))) return pythonFloat(token);
  return token.startsWith('-') ? '-Infinity' : 'Infinity';
}

/** `serde_json` of Rust: an exponent without a sign and leading zeros. */
function rustFloat(token: string): string {
  return floatAs(token, (digits, exponent) =>
    exponent >= -5 && exponent < 16 ? plainFloat(digits, exponent) : `${scientific(digits)}e${exponent}`,
  );
}

/** `strconv` of Go with 'g', and `fmt`, which differ in the least exponent that is written. */
function goFloat(token: string, least: number): string {
  const value = Number(token);
  if (!Number.isFinite(value)) return token;
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e') as [string, string];
  const [digits, size] = [mantissa.replace('.', ''), Number(exponent)];
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  if (value === 0) return `${sign}0`;
  if (size >= -4 && size < least) return sign + plainFloat(digits, size).replace(/\.0$/, '');
  const power = String(Math.abs(size)).padStart(2, '0');
  return `${sign}${scientific(digits)}e${size < 0 ? '-' : '+'}${power}`;
}

/** `printf` of C with `%.<precision>g`. */
function printed(token: string, precision: number): string {
  const value = Number(token);
  if (!Number.isFinite(value)) return token;
  const exponent = value === 0 ? 0 : Number(value.toExponential(precision - 1).split('e')[1]);
  const strip = (text: string): string => (text.includes('.') ? text.replace(/\.?0+$/, '') : text);
  const sign = Object.is(value, -0) ? '-' : '';
  if (exponent >= -4 && exponent < precision)
    return sign + strip(value.toFixed(Math.max(0, precision - 1 - exponent)));
  const [mantissa] = value.toExponential(precision - 1).split('e') as [string];
  const size = String(Math.abs(exponent)).padStart(2, '0');
  return `${strip(mantissa)}e${exponent < 0 ? '-' : '+'}${size}`;
}

/** Through an integer of 32 bits, which wraps, or stops at its limits. */
const wrapped32 = (token: string): string => {
  const value = Number(token);
  return Number.isFinite(value) ? String(Number(BigInt.asIntN(32, BigInt(Math.trunc(value))))) : token;
};
const clamped32 = (token: string): string =>
  String(Math.trunc(Math.min(Math.max(Number(token), -(2 ** 31)), 2 ** 31 - 1)));

/** Only integers, through one of so many bits: larger ones stop at the limits of 64 bits (strtoll of C), then wrap (its atoi). */
const wholeIn =
  (bits: 32 | 64) =>
  (token: string): string => {
    if (/[.eE]/.test(token)) return token;
    const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n];
    const value = BigInt(token);
    return String(BigInt.asIntN(bits, value < least ? least : value > most ? most : value));
  };

/** Each byte of characters beyond ASCII, escaped as a character of its own. */
const escapeBytes =
  (before: string) =>
  (quoted: string): string =>
    quoted.replace(/[^\0-\x7f]+/g, (text) =>
      [...utf8ToBytes(text)].map((byte) => `\\u${before}${byte.toString(16)}`).join(''),
    );

const signedBytes = (key: string): number[] => [...new Int8Array(utf8ToBytes(key))];
const bySignedBytes = (a: string, b: string): number => {
  const [first, second] = [signedBytes(a), signedBytes(b)];
  const at = first.findIndex((byte, index) => byte !== second[index]);
  if (at < 0) return first.length - second.length;
  return second[at] === undefined ? 1 : first[at]! - second[at]!;
};

const STYLES: readonly Style[] = [
  {
    cause:
      'key order: keys are sorted by UTF-16 unit; sort them by code point, which is the order of their UTF-8',
    sort: (keys) => keys.sort(),
  },
  {
    cause: 'key order: only the outermost object is sorted; sort the objects inside it too',
    sort: (keys, depth) => (depth === 0 ? byCodePoint(keys) : keys),
  },
  {
    cause: 'key order: keys that look like integers come first, by value; sort all keys as strings',
    sort: (keys) => Object.keys(Object.fromEntries(byCodePoint(keys).map((key) => [key, 0]))),
  },
  {
    cause: 'key order: keys are sorted without regard to case; sort them by code point',
    sort: (keys) => by(keys, (key) => key.toLowerCase()),
  },
  {
    cause: 'key order: shorter keys come first; sort them by code point, whatever their length',
    sort: (keys) => by(byCodePoint(keys), (key) => String([...key].length).padStart(9, '0')),
  },
  {
    cause: 'key order: keys of fewer bytes come first; sort them by code point, whatever their length',
    sort: (keys) => by(byCodePoint(keys), (key) => String(Buffer.byteLength(key)).padStart(9, '0')),
  },
  {
    cause: 'key order: bytes are compared with their sign (char of C); compare them as numbers from 0 to 255',
    sort: (keys) => keys.sort(bySignedBytes),
  },
  {
    cause: 'key order: keys are compared up to U+0000 only (strcmp of C); compare all their bytes',
    sort: (keys) => by(keys, (key) => key.split('\0')[0]!),
  },
  {
    cause: 'key order: keys are sorted as they are written, with their escapes; sort the keys themselves',
    sort: (keys) => by(keys, (key) => quoted(key).slice(1, -1)),
  },
  {
    cause: 'key order: keys are sorted with all characters beyond ASCII escaped; sort the keys themselves',
    sort: (keys) => by(keys, (key) => escapeEach(/[\u007f-\uffff]/g)(quoted(key)).slice(1, -1)),
  },
  { cause: 'key order: keys are not sorted', sort: (keys) => keys },
  {
    cause: 'fields: the one with the empty name is left out; it is written like any other',
    keeps: (_value, key) => key !== '',
  },
  {
    cause: 'fields: those with empty values are left out (omitempty of Go); they are written like any other',
    keeps: (value) =>
      !(value === null || value === '' || value === false || isEmpty(value) || String(value) === '0'),
  },
  {
    cause: 'fields: those that are null are left out; they are written like any other',
    keeps: (value) => value !== null,
  },
  {
    cause:
      'fields: those of the outermost object that are null are left out; they are written like any other',
    keeps: (value, _key, depth) => depth > 0 || value !== null,
  },
  {
    cause: 'fields: those inside other fields that are null are left out; they are written like any other',
    keeps: (value, _key, depth) => depth === 0 || value !== null,
  },
  {
    cause:
      'numbers: they are parsed and written again (1.0 as 1, long integers rounded); keep each token as it came',
    number: (token) => String(Number(token)),
  },
  {
    cause: 'numbers: a float without a fraction is written as an integer; keep each token as it came',
    number: (token) => token.replace(/\.0+$/, ''),
  },
  {
    cause: 'numbers: floats are parsed and written again, integers are not; keep each token as it came',
    number: (token) => (/[.eE]/.test(token) ? String(Number(token)) : token),
  },
  {
    cause: 'numbers: long integers are rounded to a double; keep each token as it came',
    number: (token) => (/^-?\d{16,308}$/.test(token) ? BigInt(Number(token)).toString() : token),
  },
  {
    cause: 'numbers: floats are parsed and written again as Python writes them; keep each token as it came',
    number: pythonFloat,
  },
  {
    cause:
      'numbers: they are parsed and written again as Python writes them (-0 as 0, 1e400 as Infinity); keep each token as it came (parse_int and parse_float take a function that keeps the text)',
    number: pythonNumber,
  },
  {
    cause: 'numbers: floats are parsed and written again as Rust writes them; keep each token as it came',
    number: rustFloat,
  },
  {
    cause: 'numbers: floats are written with the E+ and E- of C#; keep each token as it came',
    number: (token) =>
      /[.eE]/.test(token)
        ? String(Number(token))
            .replace(/e([+-])(\d)$/, 'e$10$2')
            .replace('e', 'E')
        : token,
  },
  ...[
    { how: "strconv of Go writes them with 'g'", least: 6 },
    { how: 'fmt of Go writes them', least: 21 },
  ].map(({ how, least }) => ({
    cause: `numbers: they are parsed and written again as ${how}; keep each token as it came`,
    number: (token: string) => goFloat(token, least),
  })),
  ...[6, 15, 17].map((precision) => ({
    cause: `numbers: they are written with %.${precision}g; keep each token as it came`,
    number: (token: string) => printed(token, precision),
  })),
  {
    cause: 'numbers: they are read as integers of 32 bits; keep each token as it came',
    number: wrapped32,
  },
  {
    cause:
      'numbers: they are read as integers of 32 bits, and larger ones cut to the largest; keep each token as it came',
    number: clamped32,
  },
  {
    cause:
      'numbers: integers are read as int of 32 bits (atoi of C), and fractions are not; keep each token as it came',
    number: wholeIn(32),
  },
  {
    cause:
      'numbers: integers are read as integers of 64 bits (strtoll of C), and larger ones cut; keep each token as it came',
    number: wholeIn(64),
  },
  {
    cause: 'numbers: fractions are cut off; keep each token as it came',
    number: (token) =>
      /[.eE]/.test(token) && Number.isFinite(Number(token))
        ? String(BigInt(Math.trunc(Number(token))))
        : token,
  },
  {
    cause: 'numbers: the + of an exponent is left out; keep each token as it came',
    number: (token) => token.replace('+', ''),
  },
  {
    cause: 'numbers: the E of an exponent is written in lower case; keep each token as it came',
    number: (token) => token.toLowerCase(),
  },
  {
    cause: 'numbers: the integer -0 is written as 0; keep each token as it came',
    number: (token) => (token === '-0' ? '0' : token),
  },
  {
    cause: 'numbers: minus zero loses its sign; keep each token as it came',
    number: (token) => token.replace(/^-(?=0(?:\.0*)?$)/, ''),
  },
  {
    cause: 'escapes: \\v is written, which JSON does not have; U+000B is \\u000b',
    string: writeEscapeAs({ '\\u000b': '\\v' }),
  },
  {
    cause: 'escapes: \\0 is written, which JSON does not have; U+0000 is \\u0000',
    string: writeEscapeAs({ '\\u0000': '\\0' }),
  },
  {
    cause: 'escapes: controls are written as they are; those below U+0020 are escaped',
    string: (quoted) =>
      quoted.replace(/\\(?:u(.{4})|.)/g, (all, code) =>
        code ? String.fromCharCode(Number.parseInt(code, 16)) : all,
      ),
  },
  {
    cause: 'escapes: \\x and two digits are written, which JSON does not have; write \\u and four',
    string: (quoted) => quoted.replace(/\\(?:u00(..)|.)/g, (all, code) => (code ? `\\x${code}` : all)),
  },
  {
    cause: 'strings: they end at U+0000; take them with their length, not as strings of C',
    string: (quoted) => quoted.replace(/^((?:[^\\]|\\(?!u0000).)*)\\u0000.*$/s, '$1"'),
  },
  {
    cause: 'strings: U+0000 is left out; it is a character like any other',
    string: writeEscapeAs({ '\\u0000': '' }),
  },
  {
    cause: 'strings: those that end with U+0000 lose it; it is a character like any other',
    string: (quoted) => quoted.replace(/(?:\\u0000)+"$/, '"'),
  },
  {
    cause: 'strings: white space around them is trimmed; keep them as they came',
    string: (quoted) => `"${quoted.slice(1, -1).trim()}"`,
  },
  {
    cause: 'surrogates: 0x10000 is not added to what an escaped pair stands for',
    when: hasEscapedPair,
    sort: (keys) => by(keys, lowered), // since it is made in reading
    string: lowered,
  },
  {
    cause: 'surrogates: the halves of an escaped pair are joined with | after 0x10000; it is added',
    when: hasEscapedPair,
    sort: (keys) => by(keys, joined),
    string: joined,
  },
  {
    cause: 'surrogates: each half of an escaped pair is replaced by U+FFFD; the two are one character',
    when: hasEscapedPair,
    sort: (keys) => by(keys, replaced),
    string: replaced,
  },
  {
    cause:
      'surrogates: each half of an escaped pair is written by itself, in 3 bytes (CESU-8); the two are one character, of 4 bytes',
    when: hasEscapedPair,
    sort: (keys) => keys.sort(),
    encode: surrogatesAsUtf8,
  },
  {
    cause: 'escapes: \\u0008 and \\u000c are written instead of \\b and \\f',
    string: writeEscapeAs({ '\\b': '\\u0008', '\\f': '\\u000c' }),
  },
  { cause: 'escapes: \\u0008 is written instead of \\b', string: writeEscapeAs({ '\\b': '\\u0008' }) },
  { cause: 'escapes: \\u000c is written instead of \\f', string: writeEscapeAs({ '\\f': '\\u000c' }) },
  { cause: 'escapes: \\u0009 is written instead of \\t', string: writeEscapeAs({ '\\t': '\\u0009' }) },
  { cause: 'escapes: \\u000a is written instead of \\n', string: writeEscapeAs({ '\\n': '\\u000a' }) },
  { cause: 'escapes: \\u000d is written instead of \\r', string: writeEscapeAs({ '\\r': '\\u000d' }) },
  {
    cause: 'escapes: \\u and a code is written instead of \\b, \\f, \\n, \\r and \\t',
    string: writeEscapeAs({
      '\\b': '\\u0008',
      '\\f': '\\u000c',
      '\\n': '\\u000a',
      '\\r': '\\u000d',
      '\\t': '\\u0009',
    }),
  },
  {
    cause: 'escapes: the digits after \\u are in upper case; write them in lower case',
    string: (quoted) =>
      quoted.replace(/(\\u)(.{4})|\\./g, (all, u, code) => (u ? u + code.toUpperCase() : all)),
  },
  {
    cause: 'escapes: characters beyond ASCII are escaped; write them literally, in UTF-8',
    string: escapeEach(/[\u0080-\uffff]/g),
  },
  {
    cause:
      'escapes: U+007F and all characters beyond ASCII are escaped; write them literally, in UTF-8 (in Python ensure_ascii=False)',
    string: escapeEach(/[\u007f-\uffff]/g),
  },
  ...[
    { how: 'as negative numbers (\\uffffffc3, with char of C)', before: 'ffffff' },
    { how: 'one by one (\\u00c3\\u00a9 for é)', before: '00' },
  ].map(({ how, before }) => ({
    cause: `escapes: the bytes of characters beyond ASCII are escaped ${how}; write them literally, in UTF-8`,
    string: escapeBytes(before),
  })),
  { cause: 'escapes: / is escaped; write it literally', string: (quoted) => quoted.replace(/\//g, '\\/') },
  { cause: 'escapes: U+007F is escaped; write it literally', string: escapeEach(/\u007f/g) },
  {
    cause: 'escapes: U+2028 and U+2029 are escaped; write them literally',
    string: escapeEach(/[\u2028\u2029]/g),
  },
  { cause: 'escapes: <, > and & are escaped; write them literally', string: escapeEach(/[<>&]/g) },
  {
    cause: 'strings: they are normalized to NFC; keep them as they came',
    string: (quoted) => quoted.normalize('NFC'),
  },
  {
    cause: 'strings: they are normalized to NFD; keep them as they came',
    string: (quoted) => quoted.normalize('NFD'),
  },
  {
    cause: 'UTF-8: a character beyond U+FFFF is written as two surrogates of 3 bytes each; it takes 4 bytes',
    encode: surrogatesAsUtf8,
  },
  {
    cause:
      'white space: there is some after commas and colons; there is none (in Python separators=(",", ":"))',
    comma: ', ',
    colon: ': ',
  },
  { cause: 'white space: there is some after colons; there is none', colon: ': ' },
];

function hasEscapedPair(text: string): boolean {
  return /\\ud[89ab]/i.test(text);
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && !(value instanceof JsonNumber) && Object.keys(value!).length === 0;
}

/** Each UTF-16 unit by itself, as in CESU-8. */
function surrogatesAsUtf8(text: string): Uint8Array {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  return Uint8Array.from(bytes);
}

function write(value: Json, style: Partial<Style>): string {
  const { sort = byCodePoint, number = (token) => token, string = (quoted) => quoted } = style;
  const { comma = ',', colon = ':', keeps = () => true } = style;
  const inner = (value: Json, depth: number): string => {
    if (Array.isArray(value)) return `[${value.map((item) => inner(item, depth + 1)).join(comma)}]`;
    if (value instanceof JsonNumber) return number(value.token);
    if (typeof value === 'number') return number(String(value));
    if (typeof value === 'string') return string(quoted(value));
    if (typeof value !== 'object' || value === null) return canonical(value);
    const keys = Object.keys(value).filter((key) => keeps((value as JsonObject)[key]!, key, depth));
    const fields = sort(keys, depth).map(
      (key) => inner(key, depth) + colon + inner((value as JsonObject)[key]!, depth + 1),
    );
    return `{${fields.join(comma)}}`;
  };
  return inner(value, 0);
}

function canonical(value: Json): string {
  return bytesToUtf8(canonicalJson(value))!;
}

/** The canonical forms of strings, each of which is written in many styles. */
const forms = new Map<string, string>();
const MOST = 1000;

function quoted(text: string): string {
  const form = forms.get(text) ?? canonical(text);
  if (forms.size >= MOST) forms.clear();
  forms.set(text, form);
  return form;
}

/** The style of two mistakes together. */
function combine(first: Style, second: Style): Style {
  const { string: inner = (quoted) => quoted } = first;
  const { string: outer = (quoted) => quoted } = second;
  const cause = `${first.cause}. Also, ${second.cause}`;
  return { ...first, ...second, cause, string: (quoted) => outer(inner(quoted)) };
}

/** What a mistake is about, before the colon of its cause. Two of one family are rarely made together. */
const familyOf = ({ cause }: Style): string => cause.slice(0, cause.indexOf(':'));

/** Two mistakes of those that show, or three of different families. Those that do not show change nothing beside others. */
function combinations(styles: readonly Style[], count: 2 | 3): Style[] {
  const pairs = styles.flatMap((first, index) =>
    styles.slice(index + 1).map((second) => ({ first, second, style: combine(first, second) })),
  );
  if (count === 2) return pairs.map(({ style }) => style);
  return pairs
    .filter(({ first, second }) => familyOf(first) !== familyOf(second))
    .flatMap(({ first, second, style }) =>
      styles
        .slice(styles.indexOf(second) + 1)
        .filter((third) => ![first, second].some((other) => familyOf(other) === familyOf(third)))
        .map((third) => combine(style, third)),
    );
}

/** Texts are searched for combinations only if they are as short as this. */
const SHORT = 200; // characters
/** How many searches for three mistakes in a row may be in vain: each takes milliseconds. */
const MOST_IN_VAIN = 20;
let inVain = 0;
const MOST_FITTING = 4;
/** Combinations that explained other texts, by their causes. */
const found = new Map<string, Style>();

/** The causes of all single mistakes that fit, or else of all pairs, or else of all three together. */
function causesOf(text: string, got: string, written: (style: Partial<Style>) => string): Causes {
  const bytesOf = (style: Partial<Style>): string =>
    bytesToHex((style.encode ?? utf8ToBytes)(written(style)));
  const matches = (style: Style): boolean => bytesOf(style) === got;
  const right = bytesOf(RIGHT);
  const styles = STYLES.filter((style) => style.when?.(text) !== false && bytesOf(style) !== right);
  const single = styles.filter(matches);
  if (single.length > 0) return single.map(({ cause }) => cause);
  const known = [...found.values()].filter(matches);
  if (known.length > 0) return known.map(({ cause }) => cause);
  if (text.length > SHORT) return [];
  const pairs = combinations(styles, 2).filter(matches);
  if (pairs.length > 0) return pairs.map(({ cause }) => cause);
  if (inVain >= MOST_IN_VAIN) return [];
  const fitting = combinations(styles, 3).filter(matches);
  inVain = fitting.length === 0 ? inVain + 1 : 0;
  if (fitting.length > MOST_FITTING) return []; // one text does not tell them apart
  for (const style of fitting) found.set(style.cause, style);
  return fitting.map(({ cause }) => cause);
}

/** The known mistakes under which the canonical form of this JSON text is `got`. */
export function mistakesInCanonicalJson(text: string, got: unknown, error?: unknown): Causes {
  const value = parseJson(text);
  if (error === 'json-depth')
    return containersIn(text) > MOST_OPEN ? [DEPTH_SHORT, DEPTH_TOTAL] : [DEPTH_SHORT];
  if (error !== undefined) return [...(isContainer(value) ? [] : [SCALARS]), ...strictnesses(text)];
  if (typeof got !== 'string') return [];
  return causesOf(text, got, (style) => write(value, style));
}

const MOST_OPEN = 64;
const DEPTH_TOTAL =
  'limit: arrays and objects that are closed again count too; up to 64 may be open at once, and any number in all';

const containersIn = (text: string): number => withoutStrings(text).match(/[[{]/g)?.length ?? 0;

/** How many arrays and objects of a JSON text are open at once, at most. */
function depthOf(text: string): number {
  let [open, most] = [0, 0];
  for (const sign of withoutStrings(text)) {
    if (sign === '[' || sign === '{') most = Math.max(most, ++open);
    else if (sign === ']' || sign === '}') open--;
  }
  return most;
}

/** How two JSON texts differ token by token, where no known mistake explains it. */
export function saidOfJson(right: string, got: unknown): { says?: string; gist?: string } {
  const [a, b] = [right, got].map(tokensIn) as [string[], string[]];
  if (b.length === 0) return {};
  if (a.length !== b.length)
    return {
      gist: `${b.length < a.length ? 'something is left out' : 'something is added'}; all is written, and nothing else`,
    };
  const at = a.findIndex((token, index) => token !== b[index]);
  if (at < 0) return {};
  if ([...a].sort().join() === [...b].sort().join())
    return {
      says: isSameValue(right, got)
        ? 'keys: they stand in another order; they are sorted by code point, at every depth'
        : 'lists: their items stand in another order; they keep the one in which they came',
    };
  const [due, is] = [a[at]!, b[at]!];
  const says = `${is} is written where ${due} is due`;
  const gist = GISTS.find(([first]) => first.test(due))![1];
  return due.length + is.length < MAX_TOKENS ? { says, gist } : { gist };
}

/** Whether the text has the same value, with its keys in any order. */
function isSameValue(canonical: string, digits: unknown): boolean {
  try {
    const value = parseJson(Buffer.from(String(digits), 'hex').toString());
    return Buffer.from(canonicalJson(value)).toString('hex') === canonical;
  } catch {
    return false;
  }
}

const MAX_TOKENS = 20; // characters shown

const GISTS: readonly (readonly [first: RegExp, gist: string])[] = [
  [/^"/, 'strings: they are written in another way; see the characters that differ'],
  [/^[-\d]/, 'numbers: they are written in another way; keep each token as it came'],
  [/^/, 'true, false, null, brackets or braces are written in another way'],
];

function tokensIn(digits: unknown): string[] {
  const text = typeof digits === 'string' ? Buffer.from(digits, 'hex').toString() : '';
  return text.match(/"(?:[^"\\]|\\.)*"|[^\s"[\]{},:]+|[[\]{},:]/gs) ?? [];
}

const SCALARS = 'top level: only objects and arrays are accepted; any JSON value is JSON';

function isContainer(value: Json): boolean {
  return typeof value === 'object' && value !== null && !(value instanceof JsonNumber);
}

/** What follows each backslash of a JSON text. */
const escapesIn = (text: string): string[] =>
  [...text.matchAll(/\\(u[\da-f]{4}|[^u])/gi)].map(([, sign]) => sign!);

/** A JSON text without what is in its strings. */
const withoutStrings = (text: string): string => text.replace(/"(?:[^"\\]|\\.)*"/gs, '""');

/** What a parser may leave out when it compares keys. */
const KEY_CHANGES: readonly { readonly how: string; change(key: string): string }[] = [
  { how: 'case', change: (key) => key.toLowerCase() },
  { how: 'their Unicode normalization', change: (key) => key.normalize('NFC') },
  { how: 'the white space around them', change: (key) => key.trim() },
  { how: 'what follows U+0000', change: (key) => key.split('\0')[0]! },
];

/** Whether an object in this value has two keys that the change makes the same. */
function isRepeated(value: Json, change: (key: string) => string): boolean {
  if (Array.isArray(value)) return value.some((item) => isRepeated(item, change));
  if (!isJsonObject(value)) return false;
  const keys = Object.keys(value);
  return new Set(keys.map(change)).size < keys.length || keys.some((key) => isRepeated(value[key]!, change));
}

/** What a text has that a strict parser may refuse. */
const STRICTNESSES: readonly { readonly cause: string; has(text: string): boolean }[] = [
  ...['/', 'b', 'f', 'n', 'r', 't'].map((sign) => ({
    cause: `the escape \\${sign} is refused`,
    has: (text: string) => escapesIn(text).includes(sign),
  })),
  {
    cause: 'upper-case digits after \\u are refused',
    has: (text) => escapesIn(text).some((unit) => /^u.*[A-F]/.test(unit)),
  },
  {
    cause: 'lower-case digits after \\u are refused',
    has: (text) => escapesIn(text).some((unit) => /^u.*[a-f]/.test(unit)),
  },
  { cause: 'surrogate pairs that are escaped are refused', has: hasEscapedPair },
  { cause: 'E in numbers is refused', has: (text) => /\dE/.test(withoutStrings(text)) },
  { cause: 'numbers with an exponent are refused', has: (text) => /\de/i.test(withoutStrings(text)) },
  { cause: 'a plus before an exponent is refused', has: (text) => /e\+/i.test(withoutStrings(text)) },
  { cause: 'a minus before zero is refused', has: (text) => /-0(?!\d)/.test(withoutStrings(text)) },
  {
    cause: 'white space around the value is refused',
    has: (text) => text.trim() !== text,
  },
  { cause: 'tabs between tokens are refused', has: (text) => /\t/.test(withoutStrings(text)) },
  { cause: 'line breaks between tokens are refused', has: (text) => /[\r\n]/.test(withoutStrings(text)) },
  ...KEY_CHANGES.map(({ how, change }) => ({
    cause: `keys that differ only in ${how} are refused as repeated`,
    has: (text: string) => isRepeated(parseJson(text), change),
  })),
  { cause: 'the empty key is refused', has: (text) => /""\s*:/.test(text) },
  { cause: 'U+007F in strings is refused', has: (text) => /\x7f/.test(text) },
  { cause: 'characters beyond U+FFFF are refused', has: (text) => /[\ud800-\udfff]/.test(text) },
];

const strictCause = (cause: string): string => `JSON: ${cause}; it is JSON`;

/** The features of a JSON text that is refused. */
function strictnesses(text: string): Causes {
  return STRICTNESSES.filter(({ has }) => has(text)).map(({ cause }) => strictCause(cause));
}

/** Whether refusing this JSON text shows that something else is refused. */
export function contradictsCanonicalJson(
  { text, error }: Vector,
  { refuses }: { readonly refuses?: boolean },
  cause: string,
): boolean {
  const mistake = STRICTNESSES.find((mistake) => strictCause(mistake.cause) === cause);
  return mistake !== undefined && error === undefined && refuses === true && !mistake.has(text);
}

export const NAN_ACCEPTED = 'JSON: NaN and Infinity are accepted';

/** What lenient parsers accept: the text as such a parser understands it. */
const LENIENCIES: readonly { readonly cause: string; fix(text: string): string }[] = [
  {
    cause: 'text after the value is accepted; nothing but white space may follow it',
    fix: (text) => Array.from(text, (_, i) => text.slice(0, text.length - i)).find(isJson) ?? text,
  },
  {
    cause: 'a comma after the last element or field is accepted',
    fix: (text) => text.replace(/,(\s*[\]}])/g, '$1'),
  },
  { cause: 'comments are accepted', fix: (text) => text.replace(/\/\/.*|\/\*.*?\*\//g, '') },
  { cause: NAN_ACCEPTED.replace('JSON: ', ''), fix: (text) => text.replace(/-?(?:NaN|Infinity)/g, '0') },
  { cause: 'single quotation marks are accepted', fix: (text) => text.replace(/'([^']*)'/g, '"$1"') },
  {
    cause: 'control characters in strings are accepted; they are escaped',
    fix: (text) => text.replace(/\p{Cc}/gu, escapeCode),
  },
  {
    cause: 'leading zeros of numbers are accepted',
    fix: (text) => text.replace(/(?<![\d.])0+(?=\d)/g, ''),
  },
  { cause: 'a plus before a number is accepted', fix: (text) => text.replace(/\+(?=\d)/g, '') },
  {
    cause: 'a point without digits before or after it is accepted',
    fix: (text) => text.replace(/\.(?=[\]e])/g, '.0').replace(/(?<!\d)\./g, '0.'),
  },
  {
    cause: 'a point without digits before it is accepted',
    fix: (text) => text.replace(/(?<!\d)\.(?=\d)/g, '0.'),
  },
  {
    cause: 'a point without digits after it is accepted',
    fix: (text) => text.replace(/(?<=\d)\.(?!\d)/g, '.0'),
  },
  {
    cause:
      'the digits after \\u are read with strtol, which takes blanks, a sign and 0x; they are four hex digits',
    fix: (text) => text.replace(/\\u(?:[ \t+-][\da-f]{3}|0x[\da-f]{2})/gi, '\\u0041'),
  },
  {
    cause: 'a sign among the digits after \\u is accepted (ParseInt of Go); they are four hex digits',
    fix: (text) => text.replace(/\\u[+-][\da-f]{3}/gi, '\\u0041'),
  },
  {
    cause: 'anything after \\u counts as four digits; they are hex digits',
    fix: (text) => text.replace(/\\u(?![\da-f]{4})[^"]{4}/gi, '\\u0041'),
  },
  { cause: 'the escape \\U is taken for \\u', fix: (text) => text.replace(/\\U/g, '\\u') },
  {
    cause: 'keys without quotation marks are accepted',
    fix: (text) => text.replace(/([{,])(\w+):/g, '$1"$2":'),
  },
  {
    cause: 'escapes that JSON does not have are accepted',
    fix: (text) => text.replace(/\\([^"\\/bfnrtu])/g, '$1'),
  },
  {
    cause: 'the words of other languages are accepted, such as None',
    fix: (text) => text.replace(/undefined|TRUE|None/g, 'null'),
  },
  {
    cause: 'hexadecimal numbers are accepted',
    fix: (text) => text.replace(/(?<![\w"])0x[\da-f]+/gi, '0'),
  },
  {
    cause:
      'form feed and vertical tab between tokens are accepted (isspace of C); blank, tab, line feed and carriage return alone are white space',
    fix: (text) => text.replace(/[\f\v]/g, ' '),
  },
  {
    cause: 'other white space than blank, tab, line feed and carriage return is accepted',
    fix: (text) => text.replace(/[\f\v\u0085\u00a0\u2028]/g, ' '),
  },
];

function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/** The leniencies that make this text JSON. */
export function leniencies(text: string): Causes {
  return LENIENCIES.filter(({ fix }) => {
    const fixed = fix(text);
    return fixed !== text && isJson(fixed);
  }).map(({ cause }) => `JSON: ${cause}`);
}

/** What parsers accept that is JSON of RFC 8259, by the code of the refusal. */
const ACCEPTED: { readonly [code: string]: string } = {
  'duplicate-key':
    'JSON: a repeated key is accepted; refuse it, since parsers differ in which value they keep (in Python object_pairs_hook)',
  'json-depth': 'JSON: more than 64 open arrays and objects are accepted; refuse them',
  'lone-surrogate': 'JSON: half of a surrogate pair is accepted; refuse it, since it has no UTF-8',
};

const LOW = '\udc00';
const halfCause = (what: string): string => `JSON: ${what}; refuse it, since it has no UTF-8`;

/** Halves of surrogate pairs that a parser may forget. */
const HALVES: readonly { readonly cause: string; is(half: string, isInKey: boolean): boolean }[] = [
  { cause: halfCause('a low half of a surrogate pair is accepted by itself'), is: (half) => half >= LOW },
  { cause: halfCause('a high half of a surrogate pair is accepted by itself'), is: (half) => half < LOW },
  { cause: halfCause('half of a surrogate pair is accepted in keys'), is: (_half, isInKey) => isInKey },
  { cause: halfCause('half of a surrogate pair is accepted in values'), is: (_half, isInKey) => !isInKey },
];

/** What has to be forgotten so that no half in this text is refused. */
function mistakesInHalves(text: string): Causes {
  const found: [half: string, isInKey: boolean][] = [];
  const seek = (value: unknown, isInKey: boolean): void => {
    if (typeof value === 'string')
      for (const [half] of value.matchAll(/\p{Surrogate}/gu)) found.push([half, isInKey]);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) {
        seek(key, true);
        seek(inner, false);
      }
  };
  try {
    seek(JSON.parse(text), false);
  } catch {
    return [];
  }
  if (found.length === 0) return [];
  return HALVES.filter(({ is }) => found.every(([half, isInKey]) => is(half, isInKey))).map(
    ({ cause }) => cause,
  );
}

/** The mistakes of a parser that accepts this text. */
export function mistakesInAccepting({ text, bytes, error, otherErrors = [] }: Vector): Causes {
  const codes = [String(error), ...otherErrors].filter((code) => ACCEPTED[code] !== undefined);
  const ofText =
    typeof text === 'string'
      ? [...mistakesInHalves(text), ...leniencies(text)]
      : mistakesInDecoding(String(bytes));
  return [...codes.map((code) => ACCEPTED[code]!), ...ofText];
}

const GUESSED =
  'JSON: bytes are decoded as json.loads of Python does it, which takes UTF-16, surrogates and a byte order mark; decode them as UTF-8 before';

/** Bytes that lenient decoders take, each by what shows it. */
const DECODED: readonly { readonly cause: string; readonly shows: RegExp }[] = [
  { cause: 'JSON: UTF-16 is accepted; it is UTF-8', shows: /^(?:fffe|feff|00|..00)/ },
  { cause: 'JSON: a byte order mark is accepted; the text begins with the value', shows: /^efbbbf/ },
  {
    cause:
      'JSON: longer forms of characters in UTF-8 are accepted (C0 AF for /); each character has one form, the shortest',
    shows: /^(?:..)*(?:c[01]|e0[89]|f08)/,
  },
  { cause: 'JSON: surrogates in UTF-8 are accepted; no character is one', shows: /^(?:..)*ed[ab]/ },
];

function mistakesInDecoding(bytes: string): Causes {
  const found = DECODED.filter(({ shows }) => shows.test(bytes)).map(({ cause }) => cause);
  return found.length > 0 ? [...found, GUESSED] : [];
}

/** Texts of this length may have hardly more than 64 open arrays or objects. */
const NEARLY_64 = 1000; // characters

/** Whether writing the right canonical form of this text, or refusing it, rules out the mistake. */
export function refutesCanonicalJson(test: Vector, cause: string): boolean {
  const { text, canonical, otherErrors } = test;
  // A parser may have a limit of its own, far above.
  if (cause === ACCEPTED['json-depth'] && String(text).length > NEARLY_64) return false;
  if (canonical === undefined) return otherErrors === undefined && mistakesInAccepting(test).includes(cause);
  if (cause === SCALARS) return !isContainer(parseJson(text));
  if (cause === DEPTH_SHORT) return depthOf(text) === MOST_OPEN;
  if (cause === DEPTH_TOTAL) return containersIn(text) > MOST_OPEN;
  const strictness = STRICTNESSES.find((mistake) => strictCause(mistake.cause) === cause);
  if (strictness !== undefined) return strictness.has(text);
  const style = STYLES.find((style) => style.cause === cause);
  return (
    style !== undefined &&
    style.when?.(text) !== false &&
    bytesToHex((style.encode ?? utf8ToBytes)(write(parseJson(text), style))) !== canonical
  );
}

/** Every order of two or three parts but the right one, and each part alone. */
const ORDERS = ['021', '102', '120', '201', '210', '01', '10', '02', '20', '12', '21', '0', '1', '2'];
const PARTS = ['HELLO', 'HANDSHAKE', 'protocol name'];

const RIGHT: Partial<Style> = {};

/** A prologue with one mistake, or two. */
export interface MistakenPrologue {
  readonly cause: string;
  readonly prologue: Uint8Array;
}

/**
 * The prologues that known mistakes lead to: parts in another order, something between them, or a part written wrongly.
 * @param hello - the payload of HELLO, as JSON
 * @param handshake - the payload of HANDSHAKE, as JSON
 */
export function* mistakenPrologues(
  hello: string,
  handshake: string,
  protocolName: string,
): Generator<MistakenPrologue> {
  const payloads = [parseJson(hello), parseJson(handshake)];
  const written = new Map<Partial<Style>, string[]>();
  const parts = (style: Partial<Style>): string[] => {
    const known = written.get(style);
    if (known !== undefined) return known;
    const strings = [...payloads.map((payload) => write(payload, style)), protocolName];
    written.set(style, strings);
    return strings;
  };
  const inOrder = (order: string, style: Partial<Style>): Uint8Array => {
    const text = [...order].map((index) => parts(style)[Number(index)]).join('');
    return (style.encode ?? utf8ToBytes)(text);
  };
  for (const order of ORDERS) {
    const names = [...order].map((index) => PARTS[Number(index)]);
    const cause = `prologue: its parts are ${names.join(', ')}; they are ${PARTS.join(', ')}`;
    yield { cause, prologue: inOrder(order, RIGHT) };
    for (const style of STYLES) {
      yield { cause: `${cause}. Also, ${style.cause}`, prologue: inOrder(order, style) };
    }
  }
  for (const separator of ['\n', ',', ' ', '\0', '|', '.']) {
    yield {
      cause: `prologue: ${JSON.stringify(separator)} stands between its parts; nothing does`,
      prologue: utf8ToBytes(parts(RIGHT).join(separator)),
    };
  }
  for (const { cause, name } of mistakenNames(protocolName))
    yield { cause, prologue: utf8ToBytes(parts(RIGHT).slice(0, 2).join('') + name) };
  const rightParts = parts(RIGHT).map((text) => utf8ToBytes(text));
  const lengths = (width: 2 | 4): Uint8Array[] =>
    rightParts.flatMap((part) => {
      const length = new DataView(new ArrayBuffer(4));
      length.setUint32(0, part.length);
      return [new Uint8Array(length.buffer).slice(4 - width), part];
    });
  for (const width of [2, 4] as const) {
    yield {
      cause: `prologue: the length of each part stands before it, in ${width} bytes; nothing does`,
      prologue: concatBytes(lengths(width)),
    };
  }
  yield {
    cause: 'prologue: it is one JSON array of its parts; nothing stands around them',
    prologue: canonicalJson([...payloads, protocolName]),
  };
  const offer = payloads[1]!;
  const noise = isJsonObject(offer) ? (ownField(offer, 'noise') ?? {}) : offer;
  yield {
    cause: 'prologue: it binds `noise` alone of the HANDSHAKE; it binds the whole payload',
    prologue: utf8ToBytes(parts(RIGHT)[0]! + canonical(noise) + protocolName),
  };
  yield { cause: `prologue: it is empty; its parts are ${PARTS.join(', ')}`, prologue: new Uint8Array(0) };
  yield {
    cause: 'prologue: it holds the payloads as they came; write them as canonical JSON',
    prologue: utf8ToBytes(hello + handshake + protocolName),
  };
  const right = inOrder('012', RIGHT);
  const shown = STYLES.filter(
    (style) => style.when?.(hello + handshake) !== false && !equalBytes(inOrder('012', style), right),
  );
  const pairs = hello.length + handshake.length > 2 * SHORT ? [] : combinations(shown, 2);
  for (const style of [...shown, ...pairs]) {
    yield { cause: style.cause, prologue: inOrder('012', style) };
  }
}

/** The causes of all single mistakes under which the prologue is `got`, or else of all pairs. */
export function mistakesInPrologue(
  hello: string,
  handshake: string,
  protocolName: string,
  got: unknown,
): Causes {
  const bytes = typeof got === 'string' ? hexToBytes(got) : undefined;
  if (bytes === undefined) return [];
  const causes: string[] = [];
  for (const { cause, prologue } of mistakenPrologues(hello, handshake, protocolName)) {
    if (equalBytes(prologue, bytes)) causes.push(cause);
  }
  const single = causes.filter((cause) => !cause.includes('. Also, '));
  return single.length > 0 ? single.flatMap((cause) => [cause, ...ofPayloads(cause)]) : causes;
}

/** The same mistake in the payloads alone, which canonical JSON as such does not show. */
function ofPayloads(cause: string): string[] {
  const other = cause
    .replace(/^fields: those/, 'prologue: fields')
    .replace(/^fields: the one/, 'prologue: the field');
  return other === cause ? [] : [other];
}

/** Whether the right prologue rules out that fields are left out of the payloads. */
export function refutesPrologue({ hello, handshake, error }: Vector, cause: string): boolean {
  const style = STYLES.find((style) => ofPayloads(style.cause).includes(cause));
  if (style === undefined || error !== undefined) return false;
  const payloads = [hello, handshake].map((payload) => parseJson(payload));
  return payloads.some((payload) => write(payload, style) !== write(payload, RIGHT));
}

const EMPTY_LEFT_OUT =
  'prologue: fields whose value is empty are left out of the payloads, such as an empty text or list (omitempty of Go); it binds all fields';
/** Values that a writer may leave out. */
const EMPTY: readonly ((value: Json) => boolean)[] = [
  (value) => value === null,
  (value) => value === '',
  (value) => value === false,
  (value) => Array.isArray(value) && value.length === 0,
  (value) => isJsonObject(value) && Object.keys(value).length === 0,
  (value) => (value instanceof JsonNumber || typeof value === 'number') && Number(String(value)) === 0,
];
const MOST_EMPTY = 20_000; // characters of payloads that are written in so many ways

/** The cause if the prologue lacks some kinds of empty fields, at every depth or of the outermost objects. */
export function mistakesInEmptyFields(
  hello: string,
  handshake: string,
  protocolName: string,
  got: unknown,
): Causes {
  if (typeof got !== 'string' || hello.length + handshake.length > MOST_EMPTY) return [];
  const payloads = [hello, handshake].map((payload) => parseJson(payload));
  const isSo = Array.from({ length: 2 << EMPTY.length }, (_, choice) => choice).some((choice) => {
    const kinds = EMPTY.filter((_, kind) => (choice >> (kind + 1)) & 1);
    const keeps = (value: Json, _key: string, depth: number): boolean =>
      ((choice & 1) === 1 && depth > 0) || !kinds.some((isEmpty) => isEmpty(value));
    const written = payloads.map((payload) => write(payload, { keeps })).join('') + protocolName;
    return bytesToHex(utf8ToBytes(written)) === got;
  });
  return isSo ? [EMPTY_LEFT_OUT] : [];
}
