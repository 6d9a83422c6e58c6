/** keystream-words.ts for engines without DataView, such as MicroQuickJS: byte by byte, which takes longer than with DataView. */

export type View = Uint8Array;

export function viewOf(bytes: Uint8Array): View {
  return bytes;
}

/** Sets four bytes to four others XORed with a word, in little-endian order. */
export function applyWord(from: View, to: View, at: number, word: number): void {
  for (let i = 0; i < 4; i++) to[at + i] = from[at + i]! ^ (word >>> (8 * i));
}
