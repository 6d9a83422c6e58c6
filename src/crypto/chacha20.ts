/**
 * ChaCha20 (RFC 8439, section 2.4) for the providers in JavaScript. A key is only in the array that it came in and,
 * during a message, in the words of the state. noble's own ChaCha20 copies it for each call, and V8 copies it once
 * more: the key of a closed session left a thousand copies behind.
 */
import { assertBytes } from '../arguments.ts';
import { clear, wordAt } from '../bytes.ts';
import { KEY_LENGTH } from '../limits.ts';
import { applyWord, type View, viewOf } from './keystream-words.ts';

const NONCE_LENGTH = 12;
/** In bytes. */
const BLOCK = 64;
const DOUBLE_ROUNDS = 10;
/** "expand 32-byte k". */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
const COUNTER = 12;

/** Used and wiped by every message. An ArrayBuffer made here lies outside V8's heap, and is never moved (copyBytes). */
const state = /* @__PURE__ */ new Int32Array(/* @__PURE__ */ new ArrayBuffer(BLOCK));
/** A block of the keystream, or of a text. */
export const block: Uint8Array = /* @__PURE__ */ new Uint8Array(/* @__PURE__ */ new ArrayBuffer(BLOCK));
const blockView = /* @__PURE__ */ viewOf(block);

/**
 * Applies the next block of the keystream (section 2.3) to 64 bytes. With an array of words instead of variables, it
 * would take four times as long.
 */
function applyBlock(from: View, to: View, at: number): void {
  let x0 = state[0]!;
  let x1 = state[1]!;
  let x2 = state[2]!;
  let x3 = state[3]!;
  let x4 = state[4]!;
  let x5 = state[5]!;
  let x6 = state[6]!;
  let x7 = state[7]!;
  let x8 = state[8]!;
  let x9 = state[9]!;
  let x10 = state[10]!;
  let x11 = state[11]!;
  let x12 = state[12]!;
  let x13 = state[13]!;
  let x14 = state[14]!;
  let x15 = state[15]!;
  // biome-ignore format: a line for each of the four in section 2.1
  for (let i = 0; i < DOUBLE_ROUNDS; i++) {
    // QUARTERROUND(0, 4, 8, 12)
    x0 = (x0 + x4) | 0; x12 ^= x0; x12 = (x12 << 16) | (x12 >>> 16);
    x8 = (x8 + x12) | 0; x4 ^= x8; x4 = (x4 << 12) | (x4 >>> 20);
    x0 = (x0 + x4) | 0; x12 ^= x0; x12 = (x12 << 8) | (x12 >>> 24);
    x8 = (x8 + x12) | 0; x4 ^= x8; x4 = (x4 << 7) | (x4 >>> 25);
    // QUARTERROUND(1, 5, 9, 13)
    x1 = (x1 + x5) | 0; x13 ^= x1; x13 = (x13 << 16) | (x13 >>> 16);
    x9 = (x9 + x13) | 0; x5 ^= x9; x5 = (x5 << 12) | (x5 >>> 20);
    x1 = (x1 + x5) | 0; x13 ^= x1; x13 = (x13 << 8) | (x13 >>> 24);
    x9 = (x9 + x13) | 0; x5 ^= x9; x5 = (x5 << 7) | (x5 >>> 25);
    // QUARTERROUND(2, 6, 10, 14)
    x2 = (x2 + x6) | 0; x14 ^= x2; x14 = (x14 << 16) | (x14 >>> 16);
    x10 = (x10 + x14) | 0; x6 ^= x10; x6 = (x6 << 12) | (x6 >>> 20);
    x2 = (x2 + x6) | 0; x14 ^= x2; x14 = (x14 << 8) | (x14 >>> 24);
    x10 = (x10 + x14) | 0; x6 ^= x10; x6 = (x6 << 7) | (x6 >>> 25);
    // QUARTERROUND(3, 7, 11, 15)
    x3 = (x3 + x7) | 0; x15 ^= x3; x15 = (x15 << 16) | (x15 >>> 16);
    x11 = (x11 + x15) | 0; x7 ^= x11; x7 = (x7 << 12) | (x7 >>> 20);
    x3 = (x3 + x7) | 0; x15 ^= x3; x15 = (x15 << 8) | (x15 >>> 24);
    x11 = (x11 + x15) | 0; x7 ^= x11; x7 = (x7 << 7) | (x7 >>> 25);
    // QUARTERROUND(0, 5, 10, 15)
    x0 = (x0 + x5) | 0; x15 ^= x0; x15 = (x15 << 16) | (x15 >>> 16);
    x10 = (x10 + x15) | 0; x5 ^= x10; x5 = (x5 << 12) | (x5 >>> 20);
    x0 = (x0 + x5) | 0; x15 ^= x0; x15 = (x15 << 8) | (x15 >>> 24);
    x10 = (x10 + x15) | 0; x5 ^= x10; x5 = (x5 << 7) | (x5 >>> 25);
    // QUARTERROUND(1, 6, 11, 12)
    x1 = (x1 + x6) | 0; x12 ^= x1; x12 = (x12 << 16) | (x12 >>> 16);
    x11 = (x11 + x12) | 0; x6 ^= x11; x6 = (x6 << 12) | (x6 >>> 20);
    x1 = (x1 + x6) | 0; x12 ^= x1; x12 = (x12 << 8) | (x12 >>> 24);
    x11 = (x11 + x12) | 0; x6 ^= x11; x6 = (x6 << 7) | (x6 >>> 25);
    // QUARTERROUND(2, 7, 8, 13)
    x2 = (x2 + x7) | 0; x13 ^= x2; x13 = (x13 << 16) | (x13 >>> 16);
    x8 = (x8 + x13) | 0; x7 ^= x8; x7 = (x7 << 12) | (x7 >>> 20);
    x2 = (x2 + x7) | 0; x13 ^= x2; x13 = (x13 << 8) | (x13 >>> 24);
    x8 = (x8 + x13) | 0; x7 ^= x8; x7 = (x7 << 7) | (x7 >>> 25);
    // QUARTERROUND(3, 4, 9, 14)
    x3 = (x3 + x4) | 0; x14 ^= x3; x14 = (x14 << 16) | (x14 >>> 16);
    x9 = (x9 + x14) | 0; x4 ^= x9; x4 = (x4 << 12) | (x4 >>> 20);
    x3 = (x3 + x4) | 0; x14 ^= x3; x14 = (x14 << 8) | (x14 >>> 24);
    x9 = (x9 + x14) | 0; x4 ^= x9; x4 = (x4 << 7) | (x4 >>> 25);
  }
  // each word plus the word of the state
  applyWord(from, to, at, x0 + state[0]!);
  applyWord(from, to, at + 4, x1 + state[1]!);
  applyWord(from, to, at + 8, x2 + state[2]!);
  applyWord(from, to, at + 12, x3 + state[3]!);
  applyWord(from, to, at + 16, x4 + state[4]!);
  applyWord(from, to, at + 20, x5 + state[5]!);
  applyWord(from, to, at + 24, x6 + state[6]!);
  applyWord(from, to, at + 28, x7 + state[7]!);
  applyWord(from, to, at + 32, x8 + state[8]!);
  applyWord(from, to, at + 36, x9 + state[9]!);
  applyWord(from, to, at + 40, x10 + state[10]!);
  applyWord(from, to, at + 44, x11 + state[11]!);
  applyWord(from, to, at + 48, x12 + state[12]!);
  applyWord(from, to, at + 52, x13 + state[13]!);
  applyWord(from, to, at + 56, x14 + state[14]!);
  applyWord(from, to, at + 60, x15 + state[15]!);
  state[COUNTER]!++;
}

/**
 * Begins a message: `block` becomes the first block of its keystream, from which the key of Poly1305 is taken.
 * @param key - 32 bytes
 * @param nonce - 12 bytes
 */
export function startKeystream(key: Uint8Array, nonce: Uint8Array): void {
  assertBytes(key, 'key', KEY_LENGTH);
  assertBytes(nonce, 'nonce', NONCE_LENGTH);
  for (let i = 0; i < 4; i++) state[i] = CONSTANTS[i]!;
  for (let i = 0; i < 8; i++) state[4 + i] = wordAt(key, 4 * i);
  state[COUNTER] = 0;
  for (let i = 0; i < 3; i++) state[COUNTER + 1 + i] = wordAt(nonce, 4 * i);
  clear(block);
  applyBlock(blockView, blockView, 0);
}

/**
 * Encrypts or decrypts, which is the same operation, with the blocks that follow.
 * @param length - of the text, at the beginning of both arrays
 * @param output - may be the input
 */
export function applyKeystream(input: Uint8Array, length: number, output: Uint8Array): void {
  let at = 0;
  if (length >= BLOCK) {
    const from = viewOf(input);
    const to = viewOf(output);
    for (; at + BLOCK <= length; at += BLOCK) applyBlock(from, to, at);
  }
  const rest = length - at;
  if (rest === 0) return;
  clear(block);
  for (let i = 0; i < rest; i++) block[i] = input[at + i]!;
  applyBlock(blockView, blockView, 0);
  for (let i = 0; i < rest; i++) output[at + i] = block[i]!;
}

/** Ends a message: wipes the key and the last block. */
export function endKeystream(): void {
  clear(state);
  clear(block);
}
