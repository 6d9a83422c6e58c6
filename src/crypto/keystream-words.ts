/** Applies a word of a keystream to four bytes. The ES5 file has keystream-bytes.ts instead. */

export type View = DataView;

export function viewOf(bytes: Uint8Array): View {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Sets four bytes to four others XORed with a word, in little-endian order. */
export function applyWord(from: View, to: View, at: number, word: number): void {
  to.setInt32(at, from.getInt32(at, true) ^ word, true);
}
