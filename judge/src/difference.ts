/** Finds the first difference between a response and the expected one, in a form that leads to the place. */

export interface Difference {
  /** The field, with its path: `results[3].message`. */
  readonly where: string;
  /** Position of the first difference between two strings: in bytes if both are hexadecimal, else in characters. */
  readonly offset?: number;
  readonly expected: string;
  readonly got: string;
  /** The position of the difference in both, if they are hexadecimal. */
  readonly caret?: number;
  /** The code of a refusal, if it is one. */
  readonly code?: string;
  /** What the implementation does wrong, in words that are the same wherever it is the same. */
  readonly says?: string;
  /** The same, with less of it. */
  readonly gist?: string;
  /** Both as text with escapes, if the bytes are UTF-8, and the position of the difference in it. */
  readonly text?: { readonly expected: string; readonly got: string; readonly caret: number };
  /** Both values, if `expected` or `got` is only a part: strings as they are, others as JSON. */
  readonly whole?: { readonly expected: string; readonly got: string };
}

const MAX_KEPT = 16384; // characters
const SHOWN = 16; // bytes or characters from shortly before the difference

/** The first difference between two JSON values. Fields that only `got` has are ignored unless the match must be exact. */
export function firstDifference(
  where: string,
  expected: unknown,
  got: unknown,
  isExact = false,
): Difference | undefined {
  if (expected === got) return undefined;
  if (typeof expected === 'string' && typeof got === 'string') return stringDifference(where, expected, got);
  if (Array.isArray(expected) && Array.isArray(got)) {
    for (let i = 0; i < Math.min(expected.length, got.length); i++) {
      const difference = firstDifference(`${where}[${i}]`, expected[i], got[i], isExact);
      if (difference !== undefined) return difference;
    }
    if (expected.length === got.length) return undefined;
    return { where, expected: `${expected.length} of them`, got: `${got.length}` };
  }
  if (isObject(expected) && isObject(got)) {
    const names = Object.keys(isExact ? { ...expected, ...got } : expected);
    for (const name of names) {
      const field = where === '' ? name : `${where}.${name}`;
      const difference = firstDifference(field, own(expected, name), own(got, name), isExact);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  const shown = [show(expected), show(got)] as const;
  const isCut = shown.some((text) => text.endsWith('…'));
  return { where, expected: shown[0], got: shown[1], ...(isCut && { whole: wholeOf(expected, got) }) };
}

function wholeOf(expected: unknown, got: unknown): { expected: string; got: string } {
  const keep = (value: unknown): string => {
    const text = typeof value === 'string' ? value : jsonOf(value);
    return start(text, MAX_KEPT);
  };
  return { expected: keep(expected), got: keep(got) };
}

function stringDifference(where: string, expected: string, got: string): Difference {
  const isHex = /^(?:[\da-f]{2})+$/.test(expected) && /^(?:[\da-f]{2})*$/.test(got);
  const unit = isHex ? 2 : 1;
  let offset = 0;
  while (
    offset < expected.length &&
    expected.slice(offset, offset + unit) === got.slice(offset, offset + unit)
  ) {
    offset += unit;
  }
  const from = Math.max(0, offset - unit * 4);
  const excerpt = (string: string): string => {
    const shown = copy(string.slice(from, from + SHOWN * unit));
    const rest = string.length > from + SHOWN * unit ? '…' : '';
    const end = string.length <= offset ? ' (ends)' : '';
    return `${from > 0 ? '…' : ''}${isHex ? shown : JSON.stringify(shown)}${rest}${end}`;
  };
  const isCut = from > 0 || Math.max(expected.length, got.length) > SHOWN * unit;
  return {
    where,
    offset: offset / unit,
    expected: excerpt(expected),
    got: excerpt(got),
    ...(isHex && { caret: (from > 0 ? 1 : 0) + offset - from, ...textOf(expected, got) }),
    ...(isCut && { whole: wholeOf(expected, got) }),
  };
}

const SHOWN_TEXT = 48; // characters, a quarter of them before the difference

/** Bytes as text, with a caret, if both are UTF-8 and most of it can be read. */
function textOf(expected: string, got: string): Pick<Difference, 'text'> {
  const [right, wrong] = [expected, got].map((digits) => decoded(digits));
  if (right === undefined || wrong === undefined) return {};
  let at = 0;
  while (at < right.length && right[at] === wrong[at]) at++;
  const from = Math.max(0, at - SHOWN_TEXT / 4);
  const part = (text: string): string => {
    const shown = copy(text.slice(from, from + SHOWN_TEXT));
    const rest = text.length > from + SHOWN_TEXT ? '…' : at >= text.length ? ' (ends)' : '';
    return `${from > 0 ? '…' : ''}${JSON.stringify(shown).slice(1, -1)}${rest}`;
  };
  const caret = (from > 0 ? 1 : 0) + JSON.stringify(right.slice(from, at)).length - 2;
  return { text: { expected: part(right), got: part(wrong), caret } };
}

const MAX_DECODED = 65536; // digits: a difference of longer values is rarely read

function decoded(digits: string): string | undefined {
  const bytes = Buffer.from(digits.slice(0, MAX_DECODED), 'hex');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const odd = text.match(/(?!\s)\p{Cc}/gu)?.length ?? 0;
    return text !== '' && odd <= text.length / 4 ? text : undefined;
  } catch {
    return undefined;
  }
}

export function show(value: unknown): string {
  return start(jsonOf(value), 200);
}

function jsonOf(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

/** The start of a text, with … if there is more. */
export function start(text: string, length: number): string {
  return text.length > length ? `${copy(text.slice(0, length))}…` : text;
}

/** A part of a string keeps the whole string in memory, and a response may have megabytes. A copy does not. */
function copy(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le');
}

/** `got` may lack a name that every object inherits, such as `constructor`. */
function own(object: { readonly [name: string]: unknown }, name: string): unknown {
  return Object.prototype.hasOwnProperty.call(object, name) ? object[name] : undefined;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type Pair<Value> = readonly [right: Value, got: Value];

/** The change that makes each value of what it should be, with the verb; `undefined` if they have none in common. */
export function commonChange(pairs: readonly Pair<unknown>[]): string | undefined {
  if (pairs.every(isPairOf('string'))) return changeOfStrings(pairs as Pair<string>[]);
  const counts = pairs.map(
    ([right, got]) => [Number(/^(\d+) of them$/.exec(String(right))?.[1]), got] as const,
  );
  if (counts.every(([right, got]) => !Number.isNaN(right) && typeof got === 'number'))
    return changeOfCounts(counts as Pair<number>[]);
  return pairs.every(isPairOf('number')) ? changeOfNumbers(pairs as Pair<number>[]) : undefined;
}

const isPairOf =
  (type: string) =>
  ([right, got]: Pair<unknown>): boolean =>
    typeof right === type && typeof got === type;

const encodings: readonly (readonly [how: string, encode: (text: string) => string])[] = [
  ['is in upper case', (text) => text.toUpperCase()],
  ['is in lower case', (text) => text.toLowerCase()],
  ['is trimmed', (text) => text.trim()],
  ['is percent-encoded', (text) => encodeURIComponent(text)],
  ['is in base64', (text) => Buffer.from(text).toString('base64')],
  ['is in hexadecimal', (text) => Buffer.from(text).toString('hex')],
  ['is normalized to NFC', (text) => text.normalize('NFC')],
  ['is in reverse order', (text) => [...text].reverse().join('')],
];

function changeOfStrings(pairs: readonly Pair<string>[]): string | undefined {
  const known = encodings.find(([, encode]) => pairs.every(([right, got]) => encode(right) === got));
  if (known !== undefined) return known[0];
  const { length } = pairs[0]![1];
  const isCut = pairs.every(([right, got]) => got.length === length && right.startsWith(got));
  if (isCut && pairs.length > 1) return `is cut to ${length} characters`;
  const [[removed, put], ...others] = pairs.map(replacement) as [Pair<string>, ...Pair<string>[]];
  const isSame = others.every(([from, to]) => from === removed && to === put);
  if (!isSame || removed.length + put.length > MAX_SHOWN) return everywhere(pairs);
  const [from, to] = [removed, put].map((text) => JSON.stringify(text));
  if (removed === '') return `has ${to}, which is not due`;
  return put === '' ? `lacks ${from}` : `has ${to} where ${from} is due`;
}

const MAX_SHOWN = 60; // characters

/** A character that is another one wherever it occurs. */
function everywhere(pairs: readonly Pair<string>[]): string | undefined {
  const [right, got] = pairs[0]!;
  const at = [...right].findIndex((character, index) => character !== [...got][index]);
  const [from, to] = [[...right][at], [...got][at]];
  if (from === undefined || to === undefined) return undefined;
  const isSo = pairs.every(([expected, other]) => expected.split(from).join(to) === other);
  return isSo ? `has ${JSON.stringify(to)} where ${JSON.stringify(from)} is due` : undefined;
}

/** What was taken out of a string, and what was put in its place. */
function replacement([right, got]: Pair<string>): Pair<string> {
  let [start, end] = [0, 0];
  while (start < right.length && right[start] === got[start]) start++;
  const most = Math.min(right.length, got.length) - start;
  while (end < most && right.at(-1 - end) === got.at(-1 - end)) end++;
  return [right.slice(start, right.length - end), got.slice(start, got.length - end)];
}

/** Lists of another length. */
function changeOfCounts(pairs: readonly Pair<number>[]): string | undefined {
  const [[right, got]] = pairs as [Pair<number>];
  const isMore = got > right;
  if (!pairs.every(([expected, other]) => other > expected === isMore)) return undefined;
  return `has ${isMore ? 'more' : 'fewer'} items than are due, such as ${got} in place of ${right}`;
}

function changeOfNumbers(pairs: readonly Pair<number>[]): string | undefined {
  const [[right, got]] = pairs as [Pair<number>];
  const most = pairs.map(([expected, other]) => `${other} where it is ${expected}`);
  const such = `such as ${most[0]}`;
  if (pairs.length > 1 && pairs.every(([expected, other]) => other - expected === got - right))
    return `is ${Math.abs(got - right)} too ${got > right ? 'large' : 'small'}, ${such}`;
  const ratio = got / right;
  const isRatio = Number.isInteger(ratio) || Number.isInteger(1 / ratio);
  if (pairs.length > 1 && isRatio && pairs.every(([expected, other]) => other / expected === ratio))
    return `is ${ratio} times what is due, ${such}`;
  if (pairs.every(([expected, other]) => other > expected)) return `is too large, ${such}`;
  return pairs.every(([expected, other]) => other < expected) ? `is too small, ${such}` : undefined;
}
