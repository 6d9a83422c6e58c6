/**
 * Argon2id (RFC 9106, version 0x13), in slices that the caller paces. BLAKE2b comes from the injected crypto.
 *
 * The memory is a matrix of `parallelism` lanes by `laneLength` blocks of 1024 bytes. A 64-bit word is stored as two
 * 32-bit words, the low one first. Blocks are filled slice by slice, and within a slice lane by lane.
 */
import { assertInteger } from '../arguments.ts';
import { type Bytes, concatBytes, wipe, wordAt } from '../bytes.ts';
import { callInjected } from '../crypto/checked.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { failureOf } from '../memory.ts';
import { opaque } from '../opaque.ts';
import {
  type Argon2idInputs,
  type Argon2idOptions,
  BLOCK_BYTES,
  blocksOf,
  readArgon2idOptions,
  SLICES,
} from './argon2id-options.ts';
import { permuteColumn, permuteRow } from './argon2id-permutation.ts';

const VERSION = 0x13;
const TYPE_ARGON2ID = 2;
const BLOCK_WORDS = 256; // of 32 bits
const ADDRESSES_IN_BLOCK = 128;
const INPUT = BLOCK_WORDS; // where the second of the three blocks of `addressing` starts
const ADDRESSES = 2 * BLOCK_WORDS;
const { imul, round } = Math; // as in argon2id-permutation.ts

/**
 * Derives a tag in one call, with the native Argon2id of the injected crypto if it has one. For a PSK, use derivePsk().
 * @param options - the password, the salt, the parameters, and the crypto
 * @returns `length` bytes
 * @throws LocalError as {@link Argon2id}
 * @see RFC 9106
 *
 * @example
 * import { argon2id } from 'hub-protocol/parts';
 * import { nobleBlake2b } from 'hub-protocol/noble';
 *
 * const salt = new Uint8Array(16);
 * const cost = { passes: 1, memoryKiB: 64, parallelism: 1, length: 32 };
 * const tag = argon2id({ crypto: { blake2b: nobleBlake2b }, password: 'correct horse', salt, ...cost });
 * console.log(tag.length); // 32
 */
export function argon2id(options: Argon2idOptions): Bytes {
  const inputs = readArgon2idOptions(options);
  try {
    return inputs.crypto.argon2id !== undefined ? deriveNatively(inputs) : deriveInSlices(inputs);
  } finally {
    wipe(inputs.password);
  }
}

function deriveNatively(inputs: Argon2idInputs): Bytes {
  const { crypto, onProgress } = inputs;
  const tag = callInjected(inputs.length, () => crypto.argon2id!(inputs), 'argon2id');
  if (onProgress !== undefined) onProgress(1);
  return tag;
}

function deriveInSlices(inputs: Argon2idInputs): Bytes {
  const derivation = new Argon2id(inputs);
  try {
    while (!derivation.run(ADDRESSES_IN_BLOCK));
    return derivation.result();
  } finally {
    derivation.destroy();
  }
}

/**
 * One derivation in slices, always with the library's own Argon2id: call `run` until it returns true, then `result`; or
 * `destroy` at any time. For a PSK, use pskDerivation(), which has an example.
 * @see RFC 9106
 */
export class Argon2id {
  private readonly crypto: Argon2idInputs['crypto'];
  private readonly passes: number;
  private readonly lanes: number;
  private readonly tagLength: number;
  private readonly onProgress: ((progress: number) => void) | undefined;
  private readonly laneLength: number; // q
  private readonly segmentLength: number;
  private readonly memory: Int32Array;
  private readonly q: Int32Array = new Int32Array(BLOCK_WORDS); // of the compression function
  /** For data-independent addressing, three blocks: zeros, the input, and the pairs J1, J2 computed from it. */
  private readonly addressing: Int32Array = new Int32Array(3 * BLOCK_WORDS);

  // The position of the next block.
  private pass = 0;
  private slice = 0;
  private lane = 0;
  private index = 2; // in the segment; the first two blocks of each lane come from the hash
  private done: number; // blocks, of `total`
  private readonly total: number;
  private reported = 0;
  private isOver = false;

  /** @throws LocalError `bad-argument`, `bad-length`, `blake2b-unavailable`, `out-of-memory`, `crypto-failed` */
  constructor(options: Argon2idOptions) {
    const inputs = readArgon2idOptions(options);
    const { crypto, password, salt, passes, memoryKiB, parallelism, length, secret, associatedData } = inputs;
    if (crypto.blake2b === undefined) {
      wipe(password);
      throw errors.blake2bUnavailable();
    }
    this.crypto = crypto;
    this.passes = passes;
    this.lanes = parallelism;
    this.tagLength = length;
    this.onProgress = inputs.onProgress;
    this.segmentLength = Math.floor(memoryKiB / (SLICES * parallelism));
    this.laneLength = SLICES * this.segmentLength;
    const blocks = blocksOf(memoryKiB, parallelism);
    this.total = passes * blocks;
    this.done = 2 * parallelism;

    try {
      this.memory = wordsOf(inputs.memory, blocks);
    } catch (error) {
      wipe(password);
      throw error;
    }

    this.addressing.set([0, 0, 0, 0, 0, 0, blocks, 0, passes, 0, TYPE_ARGON2ID], INPUT);
    try {
      const head = [parallelism, length, memoryKiB, passes, VERSION, TYPE_ARGON2ID];
      this.fillFirstBlocks(head, [password, salt, secret, associatedData]);
    } catch (error) {
      this.destroy();
      throw failureOf(error);
    } finally {
      wipe(password);
    }
    if (this.index === this.segmentLength) this.nextSegment();
    hideFields(this);
  }

  /** The progress, from 0 to 1. */
  get progress(): number {
    return this.done / this.total;
  }

  /**
   * Fills blocks of 1024 bytes.
   * @param blocks - how many at most
   * @returns whether all blocks are filled
   * @throws LocalError `bad-argument`; `wrong-state` after `result` or `destroy`
   */
  run(blocks: number): boolean {
    this.assertNotOver();
    assertInteger(blocks, 'blocks', 1, Infinity);
    for (let left = blocks; left > 0 && this.pass < this.passes; left--) this.fillBlock();
    return this.pass === this.passes;
  }

  /**
   * Returns the tag, and wipes the memory.
   * @returns as many bytes as the option `length` says
   * @throws LocalError `wrong-state` before `run` has returned true, and after `result` or `destroy`; `crypto-failed`
   */
  result(): Bytes {
    this.assertNotOver();
    if (this.pass < this.passes) throw errors.resultTooEarly();
    const { memory, laneLength } = this;
    const block = new Uint8Array(BLOCK_BYTES);
    for (let i = 0; i < BLOCK_WORDS; i++) {
      let word = 0;
      for (let lane = 0; lane < this.lanes; lane++)
        word ^= memory[((lane + 1) * laneLength - 1) * BLOCK_WORDS + i]!;
      for (let j = 0; j < 4; j++) block[4 * i + j] = word >>> (8 * j);
    }
    try {
      return variableHash(this.crypto, this.tagLength, [block]);
    } catch (error) {
      throw failureOf(error);
    } finally {
      wipe(block);
      this.destroy();
    }
  }

  /** Wipes the memory, including the caller's. Any later call except this one is refused. */
  destroy(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.memory.fill(0);
    this.q.fill(0);
  }

  private assertNotOver(): void {
    if (this.isOver) throw errors.derivationOver();
  }

  /** Section 3.2, steps 1 to 4: computes H0, and from it the first two blocks of each lane. */
  private fillFirstBlocks(head: number[], inputs: Uint8Array[]): void {
    const parts = [littleEndian(head)];
    for (let i = 0; i < inputs.length; i++) parts.push(littleEndian([inputs[i]!.length]), inputs[i]!);
    const input = concatBytes(parts);
    const h0 = blake2b(this.crypto, 64, input);
    wipe(input);
    for (let lane = 0; lane < this.lanes; lane++) {
      for (let column = 0; column < 2; column++) {
        const block = variableHash(this.crypto, BLOCK_BYTES, [h0, littleEndian([column, lane])]);
        const at = (lane * this.laneLength + column) * BLOCK_WORDS;
        for (let i = 0; i < BLOCK_WORDS; i++) this.memory[at + i] = wordAt(block, 4 * i);
        wipe(block);
      }
    }
    wipe(h0);
  }

  /** Section 3.2, steps 5 and 6, for one block. */
  private fillBlock(): void {
    const { memory, pass, slice, lane, index, laneLength, segmentLength } = this;
    const column = slice * segmentLength + index;
    const laneStart = lane * laneLength;
    const previous = laneStart + (column === 0 ? laneLength : column) - 1;

    // Section 3.4.1: J1 and J2 come from a counter in the first half of the first pass, then from the previous block.
    let j1: number;
    let j2: number;
    if (pass === 0 && slice < SLICES / 2) {
      const address = index % ADDRESSES_IN_BLOCK;
      if (address === 0 || (index === 2 && slice === 0)) this.nextAddresses();
      j1 = this.addressing[ADDRESSES + 2 * address]! >>> 0;
      j2 = this.addressing[ADDRESSES + 2 * address + 1]! >>> 0;
    } else {
      j1 = memory[previous * BLOCK_WORDS]! >>> 0;
      j2 = memory[previous * BLOCK_WORDS + 1]! >>> 0;
    }

    // Section 3.4.2: the reference block is one of the W blocks that are finished and not overwritten.
    const referenceLane = pass === 0 && slice === 0 ? lane : j2 % this.lanes;
    const finished = pass === 0 ? slice * segmentLength : laneLength - segmentLength;
    const w = referenceLane === lane ? finished + index - 1 : finished - (index === 0 ? 1 : 0);
    const x = highProduct(j1, j1);
    const start = pass === 0 ? 0 : (slice + 1) * segmentLength;
    const reference = referenceLane * laneLength + ((start + w - 1 - highProduct(w, x)) % laneLength);

    compress(
      this.q,
      memory,
      previous * BLOCK_WORDS,
      reference * BLOCK_WORDS,
      (laneStart + column) * BLOCK_WORDS,
      pass > 0 ? -1 : 0,
    );
    this.done++;
    if (++this.index === segmentLength) this.nextSegment();
    if (
      this.onProgress !== undefined &&
      (this.progress - this.reported >= 0.01 || this.pass === this.passes)
    ) {
      this.reported = this.progress;
      this.onProgress(this.reported);
    }
  }

  private nextSegment(): void {
    do {
      this.index = 0;
      if (++this.lane === this.lanes) {
        this.lane = 0;
        if (++this.slice === SLICES) {
          this.slice = 0;
          this.pass++;
        }
      }
      if (this.pass === 0 && this.slice === 0) this.index = 2;
    } while (this.index === this.segmentLength);
  }

  /** Computes the next 128 pairs J1, J2 of this segment: G(0, G(0, input)) with the counter incremented. */
  private nextAddresses(): void {
    const { addressing, q } = this;
    if (this.index < ADDRESSES_IN_BLOCK) addressing[INPUT + 12] = 0;
    addressing[INPUT + 2] = this.lane;
    addressing[INPUT + 4] = this.slice;
    addressing[INPUT + 12]!++;
    compress(q, addressing, 0, INPUT, ADDRESSES, 0);
    compress(q, addressing, 0, ADDRESSES, ADDRESSES, 0);
  }
}
opaque(Argon2id.prototype, 'Argon2id');

/**
 * The compression function G of the blocks at x and y (section 3.5), XORed onto the block at out if `keep` is -1.
 * Blocks are aligned, so offsets are ORed to them, which saves engines a check for overflow.
 */
function compress(q: Int32Array, m: Int32Array, x: number, y: number, out: number, keep: number): void {
  for (let i = 0; i < BLOCK_WORDS; i += 32) permuteRow(m, x | i, y | i, q, i);
  for (let i = 0; i < 32; i += 4) permuteColumn(q, i, m, x | i, y | i, out | i, keep);
}

const TWO_TO_MINUS_32 = 1 / 0x100000000;

/** The high 32 bits of the product of two 32-bit numbers. As a double, the product is exact to within 2^10. */
function highProduct(a: number, b: number): number {
  return round((a * b - (imul(a, b) >>> 0)) * TWO_TO_MINUS_32);
}

/** The variable-length hash H' (section 3.3). */
function variableHash(crypto: Argon2idInputs['crypto'], length: number, parts: Uint8Array[]): Bytes {
  const input = concatBytes([littleEndian([length])].concat(parts));
  const out = new Uint8Array(length);
  let v = blake2b(crypto, Math.min(length, 64), input);
  wipe(input);
  let at = 0;
  for (; length - at > 64; at += 32) {
    out.set(v.subarray(0, 32), at);
    const next = blake2b(crypto, Math.min(64, length - at - 32), v);
    wipe(v);
    v = next;
  }
  out.set(v, at);
  wipe(v);
  return out;
}

function blake2b(crypto: Argon2idInputs['crypto'], length: number, input: Uint8Array): Uint8Array {
  return callInjected(length, () => crypto.blake2b!(length, input), 'blake2b');
}

/** The numbers as LE32, concatenated. */
function littleEndian(numbers: number[]): Uint8Array {
  const bytes = new Uint8Array(4 * numbers.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = numbers[i >> 2]! >>> (8 * (i & 3));
  return bytes;
}

/** Memory for the blocks: the caller's, or newly allocated. */
function wordsOf(memory: Uint8Array | undefined, blocks: number): Int32Array {
  if (memory === undefined) {
    try {
      return new Int32Array(blocks * BLOCK_WORDS);
    } catch {
      throw errors.outOfMemory(blocks);
    }
  }
  return new Int32Array(memory.buffer, memory.byteOffset, blocks * BLOCK_WORDS);
}
