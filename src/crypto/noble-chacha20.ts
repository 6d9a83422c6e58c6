/**
 * ChaCha20 (RFC 8439, section 2.4) for `nobleCrypto`. noble's own copies the key for each call, into memory that V8 copies
 * once more and nothing wipes: a thousand copies were left of the key of a closed session. This one keeps the key in the array
 * that it is given and in the words of its state.
 */
import { assertBytes } from '../arguments.ts';
import { wipe, wordAt } from '../bytes.ts';
import { KEY_LENGTH } from '../limits.ts';

const NONCE_LENGTH = 12;
/** In bytes. */
const BLOCK = 64;
const DOUBLE_ROUNDS = 10;
/** "expand 32-byte k". */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
const COUNTER = 12;

/** For all calls, which wipe them: an ArrayBuffer made here lies outside of V8's heap, and is never moved (copyBytes). */
const state = /* @__PURE__ */ new Int32Array(/* @__PURE__ */ new ArrayBuffer(BLOCK));
const block = /* @__PURE__ */ new Uint8Array(/* @__PURE__ */ new ArrayBuffer(BLOCK));
const blockView = /* @__PURE__ */ viewOf(block);

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

/** Writes the sum of a word and that of the state into the block. */
function writeWord(i: number, word: number): void {
  blockView.setInt32(4 * i, word + state[i]!, true);
}

/** Writes the next block of the keystream (section 2.3). An array of the words would take four times as long. */
function nextBlock(): void {
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
  // biome-ignore format: a quarter round takes two lines
  for (let i = 0; i < DOUBLE_ROUNDS; i++) {
    x0 = (x0 + x4) | 0; x12 = rotate(x12 ^ x0, 16); x8 = (x8 + x12) | 0; x4 = rotate(x4 ^ x8, 12);
    x0 = (x0 + x4) | 0; x12 = rotate(x12 ^ x0, 8); x8 = (x8 + x12) | 0; x4 = rotate(x4 ^ x8, 7);
    x1 = (x1 + x5) | 0; x13 = rotate(x13 ^ x1, 16); x9 = (x9 + x13) | 0; x5 = rotate(x5 ^ x9, 12);
    x1 = (x1 + x5) | 0; x13 = rotate(x13 ^ x1, 8); x9 = (x9 + x13) | 0; x5 = rotate(x5 ^ x9, 7);
    x2 = (x2 + x6) | 0; x14 = rotate(x14 ^ x2, 16); x10 = (x10 + x14) | 0; x6 = rotate(x6 ^ x10, 12);
    x2 = (x2 + x6) | 0; x14 = rotate(x14 ^ x2, 8); x10 = (x10 + x14) | 0; x6 = rotate(x6 ^ x10, 7);
    x3 = (x3 + x7) | 0; x15 = rotate(x15 ^ x3, 16); x11 = (x11 + x15) | 0; x7 = rotate(x7 ^ x11, 12);
    x3 = (x3 + x7) | 0; x15 = rotate(x15 ^ x3, 8); x11 = (x11 + x15) | 0; x7 = rotate(x7 ^ x11, 7);
    x0 = (x0 + x5) | 0; x15 = rotate(x15 ^ x0, 16); x10 = (x10 + x15) | 0; x5 = rotate(x5 ^ x10, 12);
    x0 = (x0 + x5) | 0; x15 = rotate(x15 ^ x0, 8); x10 = (x10 + x15) | 0; x5 = rotate(x5 ^ x10, 7);
    x1 = (x1 + x6) | 0; x12 = rotate(x12 ^ x1, 16); x11 = (x11 + x12) | 0; x6 = rotate(x6 ^ x11, 12);
    x1 = (x1 + x6) | 0; x12 = rotate(x12 ^ x1, 8); x11 = (x11 + x12) | 0; x6 = rotate(x6 ^ x11, 7);
    x2 = (x2 + x7) | 0; x13 = rotate(x13 ^ x2, 16); x8 = (x8 + x13) | 0; x7 = rotate(x7 ^ x8, 12);
    x2 = (x2 + x7) | 0; x13 = rotate(x13 ^ x2, 8); x8 = (x8 + x13) | 0; x7 = rotate(x7 ^ x8, 7);
    x3 = (x3 + x4) | 0; x14 = rotate(x14 ^ x3, 16); x9 = (x9 + x14) | 0; x4 = rotate(x4 ^ x9, 12);
    x3 = (x3 + x4) | 0; x14 = rotate(x14 ^ x3, 8); x9 = (x9 + x14) | 0; x4 = rotate(x4 ^ x9, 7);
  }
  writeWord(0, x0);
  writeWord(1, x1);
  writeWord(2, x2);
  writeWord(3, x3);
  writeWord(4, x4);
  writeWord(5, x5);
  writeWord(6, x6);
  writeWord(7, x7);
  writeWord(8, x8);
  writeWord(9, x9);
  writeWord(10, x10);
  writeWord(11, x11);
  writeWord(12, x12);
  writeWord(13, x13);
  writeWord(14, x14);
  writeWord(15, x15);
  state[COUNTER]!++;
}

/**
 * Encrypts or decrypts, which is the same operation.
 * @param key - 32 bytes
 * @param nonce - 12 bytes
 * @param counter - of the first block
 * @param input - any length
 * @param output - as long as the input, and may be the same array
 * @returns the output
 */
export function chacha20(
  key: Uint8Array,
  nonce: Uint8Array,
  counter: number,
  input: Uint8Array,
  output: Uint8Array,
): Uint8Array {
  assertBytes(key, 'key', KEY_LENGTH);
  assertBytes(nonce, 'nonce', NONCE_LENGTH);
  state.set(CONSTANTS);
  for (let i = 0; i < 8; i++) state[4 + i] = wordAt(key, 4 * i);
  state[COUNTER] = counter;
  for (let i = 0; i < 3; i++) state[COUNTER + 1 + i] = wordAt(nonce, 4 * i);
  const [from, to] = [viewOf(input), viewOf(output)];
  let at = 0;
  for (; at + BLOCK <= input.length; at += BLOCK) {
    nextBlock();
    for (let i = 0; i < BLOCK; i += 4) {
      to.setInt32(at + i, from.getInt32(at + i, true) ^ blockView.getInt32(i, true), true);
    }
  }
  if (at < input.length) nextBlock();
  for (let i = 0; at + i < input.length; i++) output[at + i] = input[at + i]! ^ block[i]!;
  state.fill(0);
  wipe(block);
  return output;
}
