/** How a word of a keystream is applied to four bytes. The ES5 file has keystream-bytes.ts in its place. */

export type View = DataView;

export function viewOf(bytes: Uint8Array): View {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Sets four bytes to four others, combined with a word by XOR, in little-endian order. */
export function applyWord(from: View, to: View, at: number, word: number): void {
  to.setInt32(at, from.getInt32(at, true) ^ word, true);
}
