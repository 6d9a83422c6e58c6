/** The escapes of JSON strings, as canonical JSON has them. */

const ZERO = 0x30;
const REVERSE_SOLIDUS = 0x5c;
const LETTER_U = 0x75;

/** What stands after the reverse solidus for a byte that has an escape of two characters. */
const ESCAPES: { readonly [byte: number]: number } = {
  34: 0x22, // quotation mark
  92: 0x5c, // reverse solidus
  8: 0x62, // b
  12: 0x66, // f
  10: 0x6e, // n
  13: 0x72, // r
  9: 0x74, // t
};

const HEX = '0123456789abcdef';

/** The escape of a control, such as `\\u001f`. In UTF-8, no UTF-16 unit and no code point takes more than four bytes. */
export const LONGEST_ESCAPE = 6;

/** Writes a quotation mark, a reverse solidus or a control, escaped; returns the index after it. */
export function writeEscape(bytes: Uint8Array, at: number, unit: number): number {
  const letter = ESCAPES[unit];
  bytes[at++] = REVERSE_SOLIDUS;
  if (letter !== undefined) {
    bytes[at++] = letter;
    return at;
  }
  bytes[at++] = LETTER_U;
  bytes[at++] = ZERO;
  bytes[at++] = ZERO;
  bytes[at++] = HEX.charCodeAt(unit >> 4);
  bytes[at++] = HEX.charCodeAt(unit & 15);
  return at;
}
