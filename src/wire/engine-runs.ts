/** Finds the ends of plain runs in strings of JSON, four bytes at a time. */

const QUOTATION_MARK = 0x22;
const REVERSE_SOLIDUS = 0x5c;
/** Most keys and many strings end within so many bytes, where one at a time is faster. */
const SHORT = 12;

/** JSON in UTF-8, or what is between the quotation marks. */
export class Runs {
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
