/** Canonical JSON and prologues with one thing wrong, to name the mistake behind bytes that a port wrote. */
import { bytesToHex, bytesToUtf8, hexToBytes, utf8ToBytes } from '../../src/bytes.ts';
import { type Json, JsonNumber, type JsonObject } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { canonicalJson } from '../../src/wire/write-json.ts';

interface Style {
  readonly cause: string;
  readonly sort?: (a: string, b: string) => number;
  readonly number?: (token: string) => string;
  /** Applied to each string, as canonical JSON writes it. */
  readonly string?: (quoted: string) => string;
  readonly comma?: string;
  readonly colon?: string;
}

const byUtf16Unit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const inOrderOfCode = (quoted: string, pattern: RegExp): string =>
  quoted.replace(pattern, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const STYLES: readonly Style[] = [
  {
    cause: 'key order: keys are sorted by UTF-16 unit; they are sorted by code point, as in UTF-8',
    sort: byUtf16Unit,
  },
  { cause: 'key order: keys are not sorted', sort: () => 0 },
  {
    cause:
      'numbers: they are parsed and written anew (1.0 as 1, long integers rounded); each is written as the token it came as',
    number: (token) => String(Number(token)),
  },
  {
    cause:
      'numbers: a float without a fraction is written as an integer; each number is written as the token it came as',
    number: (token) => token.replace(/\.0+$/, ''),
  },
  {
    cause: 'escapes: \\u0008 and \\u000c are written where \\b and \\f are due',
    string: (quoted) => escapeAs(quoted, { '\\b': '\\u0008', '\\f': '\\u000c' }),
  },
  {
    cause: 'escapes: \\u0008 is written where \\b is due',
    string: (quoted) => escapeAs(quoted, { '\\b': '\\u0008' }),
  },
  {
    cause: 'escapes: \\u000c is written where \\f is due',
    string: (quoted) => escapeAs(quoted, { '\\f': '\\u000c' }),
  },
  {
    cause: 'escapes: characters beyond ASCII are escaped; they are written literally, in UTF-8',
    string: (quoted) => inOrderOfCode(quoted, /[\u0080-\uffff]/g),
  },
  {
    cause: 'escapes: / is escaped; it is written literally',
    string: (quoted) => quoted.replace(/\//g, '\\/'),
  },
  {
    cause: 'escapes: U+007F is escaped; it is written literally',
    string: (quoted) => inOrderOfCode(quoted, /\u007f/g),
  },
  {
    cause: 'escapes: U+2028 and U+2029 are escaped; they are written literally',
    string: (quoted) => inOrderOfCode(quoted, /[\u2028\u2029]/g),
  },
  {
    cause: 'escapes: <, > and & are escaped; they are written literally',
    string: (quoted) => inOrderOfCode(quoted, /[<>&]/g),
  },
  { cause: 'white space: there is some after commas and colons; there is none', comma: ', ', colon: ': ' },
];

function escapeAs(quoted: string, escapes: { [from: string]: string }): string {
  return quoted.replace(/\\./g, (from) => escapes[from] ?? from);
}

function write(value: Json, style: Style): string {
  const { sort = byCodePoint, number = (token) => token, string = (quoted) => quoted } = style;
  const { comma = ',', colon = ':' } = style;
  const inner = (value: Json): string => {
    if (Array.isArray(value)) return `[${value.map(inner).join(comma)}]`;
    if (value instanceof JsonNumber) return number(value.token);
    if (typeof value === 'number') return number(String(value));
    if (typeof value === 'string') return string(canonicalText(value));
    if (typeof value !== 'object' || value === null) return canonicalText(value);
    const keys = Object.keys(value).sort(sort);
    return `{${keys.map((key) => inner(key) + colon + inner((value as JsonObject)[key]!)).join(comma)}}`;
  };
  return inner(value);
}

function canonicalText(value: Json): string {
  return bytesToUtf8(canonicalJson(value))!;
}

/** The cause of the first mistake under which this JSON text has the canonical form `got`, if one does. */
export function mistakeInCanonicalJson(text: string, got: unknown): string | undefined {
  if (typeof got !== 'string') return undefined;
  const value = parseJson(text);
  return STYLES.find((style) => bytesToHex(utf8ToBytes(write(value, style))) === got)?.cause;
}

/** The same of a prologue: its parts in another order, with something between, or one of them written wrongly. */
export function mistakeInPrologue(
  hello: string,
  handshake: string,
  protocolName: string,
  got: unknown,
): string | undefined {
  const bytes = typeof got === 'string' ? hexToBytes(got) : undefined;
  const text = bytes && bytesToUtf8(bytes);
  if (text === undefined) return undefined;
  const parts: [string, string][] = [
    ['HELLO', canonicalText(parseJson(hello))],
    ['HANDSHAKE', canonicalText(parseJson(handshake))],
    ['protocol name', protocolName],
  ];
  for (const order of ['021', '102', '120', '201', '210', '01', '12', '02', '0', '1', '2']) {
    const chosen = [...order].map((index) => parts[Number(index)]!);
    if (chosen.map(([, part]) => part).join('') === text) {
      return `prologue: its parts are ${chosen.map(([name]) => name).join(', ')}; they are HELLO, HANDSHAKE, protocol name`;
    }
  }
  for (const separator of ['\n', ',', ' ', '\0', '|']) {
    if (parts.map(([, part]) => part).join(separator) === text) {
      return `prologue: ${JSON.stringify(separator)} stands between its parts; nothing does`;
    }
  }
  if (hello + handshake + protocolName === text) {
    return 'prologue: the payloads are bound as they came; their canonical JSON is';
  }
  const style = STYLES.find(
    (style) => write(parseJson(hello), style) + write(parseJson(handshake), style) + protocolName === text,
  );
  return style?.cause;
}
