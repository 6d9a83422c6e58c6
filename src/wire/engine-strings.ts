/** Strings of JSON four bytes at a time: nearly all of them are plain, and stand in JSON as they are. */
import { encodeByEngine } from '../engine.ts';
import { LONGEST_ESCAPE, writeEscape } from './escapes.ts';

const QUOTATION_MARK = 0x22;
const REVERSE_SOLIDUS = 0x5c;
/** Most keys and many strings end within so many bytes, where one at a time is faster. */
const SHORT = 12;

/**
 * Encodes what stands between the quotation marks: quotation mark, reverse solidus and controls escaped.
 * @returns a new array, or `undefined` where the engine does not encode the string
 */
export function escapeByEngine(text: string): Uint8Array | undefined {
  const utf8 = encodeByEngine(text);
  if (utf8 === undefined) return undefined;
  const { length } = utf8;
  const runs = new PlainRuns(utf8);
  const first = runs.end(0);
  if (first === length) return utf8;
  let escapes = 0;
  for (let i = first; i < length; i = runs.end(i + 1)) escapes++;
  const escaped = new Uint8Array(length + escapes * (LONGEST_ESCAPE - 1));
  let at = 0;
  for (let from = 0; from < length; ) {
    const end = runs.end(from);
    while (from < end) escaped[at++] = utf8[from++]!;
    if (from < length) at = writeEscape(escaped, at, utf8[from++]!);
  }
  return escaped.subarray(0, at);
}

/** Finds where plain runs end in the bytes of strings, or of JSON. */
export class PlainRuns {
  private readonly bytes: Uint8Array;
  /** The same memory, from up to three bytes before. */
  private readonly words: Int32Array;
  private readonly before: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.before = bytes.byteOffset & 3;
    const length = (this.before + bytes.length) >> 2;
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset - this.before, length);
  }

  /** The index of the first control, quotation mark or reverse solidus from `at` on; the length if there is none. */
  end(at: number): number {
    const { before, bytes, words } = this;
    const { length } = bytes;
    const soon = Math.min(((at + before + SHORT) & ~3) - before, length);
    for (; at < soon; at++) if (!isPlain(bytes[at]!)) return at;
    let i = (at + before) >> 2;
    while (i < words.length && isPlainWord(words[i]!)) i++;
    for (at = Math.max(at, 4 * i - before); at < length && isPlain(bytes[at]!); ) at++;
    return at;
  }
}

function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte !== QUOTATION_MARK && byte !== REVERSE_SOLIDUS;
}

/** Whether all four bytes are plain: taking n from a byte below n borrows from its highest bit. */
function isPlainWord(word: number): boolean {
  const noQuotationMark = word ^ 0x22222222; // a zero byte is one
  const noReverseSolidus = word ^ 0x5c5c5c5c;
  const borrowed =
    ((word - 0x20202020) & ~word) |
    ((noQuotationMark - 0x01010101) & ~noQuotationMark) |
    ((noReverseSolidus - 0x01010101) & ~noReverseSolidus);
  return (borrowed & 0x80808080) === 0;
}

/** Up to so many keys, V8 takes longer to sort them, since it makes copies first. */
const FEW = 12;

/** Sorts keys by UTF-16 unit, in place, as the method `sort` does. */
export function sortKeys(keys: string[]): string[] {
  if (keys.length > FEW) return keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let at = i;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}
