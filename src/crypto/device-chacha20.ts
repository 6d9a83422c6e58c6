/**
 * The keystream of ChaCha20 (RFC 8439, section 2.3), for `dist/hub-protocol.js`, in two ways.
 *
 * In an interpreter, the time depends on the number of operations, not on their width, and XS computes beyond 31 bits in
 * floating point, which hardly any microcontroller has. There, four BigInts hold the state of several blocks. In engines that
 * compile JavaScript, the words are numbers.
 *
 * Like all arithmetic with BigInt, the first way is not constant-time: a number is shorter if its top 32 bits are zeros.
 */
import { assertBytes } from '../arguments.ts';
import { KEY_LENGTH } from '../limits.ts';

/** Writes the next block of a keystream, 64 bytes, beginning with the block of counter 0. */
export type Keystream = (block: DataView) => void;

/**
 * Begins a keystream.
 * @param key - 32 bytes
 * @param nonce - 12 bytes
 * @param count - how many blocks will be requested
 */
export type ChaCha20 = (key: Uint8Array, nonce: Uint8Array, count: number) => Keystream;

/** "expand 32-byte k". */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];
const COUNTER = 12;
const NONCE_LENGTH = 12;
const DOUBLE_ROUNDS = 10;

export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * The sixteen words of the state, signed, by their index. They are read from the key each time: a copy of it would stay in memory
 * if an allocation failed before it is wiped.
 */
function wordsOf(key: Uint8Array, nonce: Uint8Array): (i: number) => number {
  assertBytes(key, 'key', KEY_LENGTH);
  assertBytes(nonce, 'nonce', NONCE_LENGTH);
  const keyView = viewOf(key);
  const nonceView = viewOf(nonce);
  return (i) =>
    i < 4
      ? CONSTANTS[i]!
      : i < COUNTER
        ? keyView.getInt32(4 * i - 16, true)
        : i > COUNTER
          ? nonceView.getInt32(4 * i - 52, true)
          : 0;
}

/** How many blocks are computed together, at most: a message of 1 KiB has 18. Each more would save time, and take 300 bytes. */
const MOST_BLOCKS = 5;
/** A row of the state has four words of 32 bits, the first one lowest, each in 64 bits. */
const ROW = 256n;
const SIGN = 1 << 31;

/** For the rows of all blocks: ones, the numbers of the blocks (and others above them), and masks. Preloaded, they take no RAM. */
const EACH = ((1n << (ROW * BigInt(MOST_BLOCKS))) - 1n) / ((1n << ROW) - 1n);
const NUMBERS = EACH * (EACH - 1n);
const FIRST = EACH * 0xffffffffn;
const FIRST_TWO = FIRST | (FIRST << 64n);
const FIRST_THREE = FIRST_TWO | (FIRST << 128n);
const ALL = FIRST_THREE | (FIRST << 192n);

/** Rotates each word to the left. */
function rotate(row: bigint, by: bigint): bigint {
  const shifted = row << by;
  return (shifted | (shifted >> 32n)) & ALL;
}

/** Rotates the words of each row: moves the lower ones, which a mask selects, up, and the others down. */
function turn(row: bigint, lower: bigint, up: bigint): bigint {
  const below = row & lower;
  return ((row ^ below) >> (ROW - up)) | (below << up);
}

/**
 * The keystream of consecutive blocks, the first block lowest, as four rows. Half of a row is 8 bytes of the keystream, below
 * others.
 */
function rowsOf(state: readonly bigint[], count: number): bigint[] {
  const each = EACH >> (ROW * BigInt(MOST_BLOCKS - count));
  let a = state[0]! * each;
  let b = state[1]! * each;
  let c = state[2]! * each;
  let d = state[3]! * each + (NUMBERS & (each * 7n));
  for (let round = 0; round < 2 * DOUBLE_ROUNDS; round++) {
    a = (a + b) & ALL;
    d = rotate(d ^ a, 16n);
    c = (c + d) & ALL;
    b = rotate(b ^ c, 12n);
    a = (a + b) & ALL;
    d = rotate(d ^ a, 8n);
    c = (c + d) & ALL;
    b = rotate(b ^ c, 7n);
    // A diagonal becomes a column, and the other way round.
    const isOdd = round & 1;
    b = isOdd ? turn(b, FIRST_THREE, 64n) : turn(b, FIRST, 192n);
    c = turn(c, FIRST_TWO, 128n);
    d = isOdd ? turn(d, FIRST, 192n) : turn(d, FIRST_THREE, 64n);
  }
  const sums = [
    a + state[0]! * each,
    b + state[1]! * each,
    c + state[2]! * each,
    d + state[3]! * each + (NUMBERS & (each * 7n)),
  ];
  for (let i = 0; i < 4; i++) {
    const sum = sums[i]! & ALL;
    sums[i] = sum | (sum >> 32n);
  }
  return sums;
}

/** With four BigInts. */
export const chacha20InRows: ChaCha20 = (key, nonce, count) => {
  const wordAt = wordsOf(key, nonce);
  const rows: bigint[] = [];
  for (let i = 0; i < 16; i += 4) {
    let row = 0n;
    // XOR with the sign makes words of less than 2^31, without floating point; the sum restores the sign.
    for (let j = i + 3; j >= i; j--) row = (row << 64n) + BigInt(wordAt(j) ^ SIGN) + 0x80000000n;
    rows.push(row);
  }
  let stream: bigint[] = [];
  let left = 0; // blocks of the stream
  return (block) => {
    if (left === 0) {
      left = Math.min(count, MOST_BLOCKS);
      stream = rowsOf(rows, left);
      count -= left;
      rows[3]! += BigInt(left); // the counter is the lowest word
    }
    left--;
    for (let i = 0; i < 4; i++) {
      const row = stream[i]!;
      block.setBigUint64(16 * i, row, true); // which takes the lowest 64 bits
      block.setBigUint64(16 * i + 8, row >> 128n, true);
      stream[i] = row >> ROW;
    }
  };
};

/** Adds one word to another, which is then combined with a third one. */
function step(x: Int32Array, sum: number, other: number, third: number, by: number): void {
  x[sum]! += x[other]!;
  const word = x[third]! ^ x[sum]!;
  x[third] = (word << by) | (word >>> (32 - by));
}

/** The quarter round (section 2.1). */
function quarterRound(x: Int32Array, a: number, b: number, c: number, d: number): void {
  step(x, a, b, d, 16);
  step(x, c, d, b, 12);
  step(x, a, b, d, 8);
  step(x, c, d, b, 7);
}

/** With numbers. */
export const chacha20InWords: ChaCha20 = (key, nonce) => {
  const wordAt = wordsOf(key, nonce);
  // In an ArrayBuffer, since V8 moves an array of 64 bytes: a copy of the key that nothing wipes (copyBytes).
  const x = new Int32Array(new ArrayBuffer(64));
  let counter = 0;
  return (block) => {
    for (let i = 0; i < x.length; i++) x[i] = wordAt(i);
    x[COUNTER] = counter;
    for (let round = 0; round < DOUBLE_ROUNDS; round++) {
      for (let i = 0; i < 4; i++) quarterRound(x, i, 4 + i, 8 + i, 12 + i);
      for (let i = 0; i < 4; i++)
        quarterRound(x, i, 4 + ((i + 1) & 3), 8 + ((i + 2) & 3), 12 + ((i + 3) & 3));
    }
    for (let i = 0; i < x.length; i++) block.setInt32(4 * i, x[i]! + wordAt(i), true);
    block.setInt32(4 * COUNTER, x[COUNTER]! + counter++, true);
    x.fill(0);
  };
};

declare const WebAssembly: unknown;

/** Engines that compile JavaScript have WebAssembly. Devices' engines interpret it, and lack WebAssembly. */
export const chacha20: ChaCha20 = typeof WebAssembly === 'object' ? chacha20InWords : chacha20InRows;
