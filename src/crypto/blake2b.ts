/** BLAKE2b (RFC 7693) without a key, for Argon2id. A word of 64 bits is two of 32 bits, the low one first. */
import { clear, wipe } from '../bytes.ts';

/** The initial hash value (section 2.6): that of SHA-512. */
const IV: readonly number[] = [
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a, 0xade682d1,
  0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
];

/** In which order each round takes the words of a block (section 2.7). The last two rounds repeat the first two. */
const SIGMA: readonly (readonly number[])[] = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];

/** The words that each call of G changes: those of a column, then those of a diagonal. In Argon2id those of GB, too. */
export const MIXED: readonly (readonly [number, number, number, number])[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

const ROUNDS = 12;
const BLOCK = 128;

/**
 * BLAKE2b of the concatenated parts.
 * @param length - of the digest, 1 to 64 bytes
 * @param parts - together less than 4 GiB: 32 bits hold their length
 * @returns the digest
 */
export function blake2b(length: number, ...parts: Uint8Array[]): Uint8Array {
  // In ArrayBuffers, since they may be secret, and V8 moves arrays of up to 64 bytes otherwise (copyBytes).
  const digest = new Uint8Array(new ArrayBuffer(length));
  const state = new Int32Array(new ArrayBuffer(64));
  const block = new Uint8Array(BLOCK);
  const words = new Int32Array(32);
  const v = new Int32Array(32);
  state.set(IV);
  state[0]! ^= 0x01010000 ^ length;
  let counted = 0; // bytes
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    for (let j = 0; j < part.length; j++) {
      if (counted > 0 && counted % BLOCK === 0) compress(state, v, words, block, counted, 0);
      block[counted++ % BLOCK] = part[j]!;
    }
  }
  for (let i = counted; i % BLOCK > 0 || i === 0; i++) block[i % BLOCK] = 0;
  compress(state, v, words, block, counted, -1);
  for (let i = 0; i < length; i++) digest[i] = state[i >> 2]! >>> (8 * (i & 3));
  clear(state);
  clear(v);
  clear(words);
  wipe(block);
  return digest;
}

/**
 * The compression function F (section 3.2).
 * @param v - room for the working vector
 * @param words - room for the words of the block
 * @param counted - how many bytes there were, with those of the block
 * @param last - -1 for the last block, otherwise 0
 */
function compress(
  state: Int32Array,
  v: Int32Array,
  words: Int32Array,
  block: Uint8Array,
  counted: number,
  last: number,
): void {
  for (let i = 0; i < 32; i++) {
    const at = 4 * i;
    words[i] = block[at]! | (block[at + 1]! << 8) | (block[at + 2]! << 16) | (block[at + 3]! << 24);
  }
  v.set(state);
  v.set(IV, 16);
  v[24]! ^= counted;
  v[28]! ^= last;
  v[29]! ^= last;
  for (let round = 0; round < ROUNDS; round++) {
    const order = SIGMA[round % SIGMA.length]!;
    for (let i = 0; i < MIXED.length; i++) {
      const at = MIXED[i]!;
      mix(v, 2 * at[0], 2 * at[1], 2 * at[2], 2 * at[3], words, 2 * order[2 * i]!, 2 * order[2 * i + 1]!);
    }
  }
  for (let i = 0; i < 16; i++) state[i]! ^= v[i]! ^ v[i + 16]!;
}

/** The mixing function G (section 3.1). The last three parameters are the words of the block, and which two to mix in. */
function mix(
  v: Int32Array,
  a: number,
  b: number,
  c: number,
  d: number,
  words: Int32Array,
  x: number,
  y: number,
): void {
  add(v, a, v, b);
  add(v, a, words, x);
  rotateXor(v, d, a, 32);
  add(v, c, v, d);
  rotateXor(v, b, c, 24);
  add(v, a, v, b);
  add(v, a, words, y);
  rotateXor(v, d, a, 16);
  add(v, c, v, d);
  rotateXor(v, b, c, 63);
}

/** Adds a word of `from` to one of v, modulo 2^64. */
function add(v: Int32Array, at: number, from: Int32Array, other: number): void {
  const low = (v[at]! >>> 0) + (from[other]! >>> 0);
  v[at] = low;
  v[at + 1]! += from[other + 1]! + (low > 0xffffffff ? 1 : 0);
}

/** XORs a word of v to another, and rotates the result to the right. */
function rotateXor(v: Int32Array, at: number, other: number, bits: number): void {
  const low = v[at]! ^ v[other]!;
  const high = v[at + 1]! ^ v[other + 1]!;
  const near = bits < 32 ? low : high;
  const far = bits < 32 ? high : low;
  const right = bits % 32;
  // In two steps to the left, since a shift by 32 shifts by 0.
  v[at] = (near >>> right) | ((far << 1) << (31 - right));
  v[at + 1] = (far >>> right) | ((near << 1) << (31 - right));
}
