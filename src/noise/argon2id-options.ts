/** The inputs of Argon2id, as the caller passes them. */
import {
  assertBytes,
  assertFunction,
  assertInteger,
  assertMethods,
  type OptionNames,
  readOptions,
} from '../arguments.ts';
import { copyBytes, utf8ToBytes } from '../bytes.ts';
import type { Argon2idParameters, CryptoProvider } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';

/** The options of argon2id() and of the class Argon2id, by the names of RFC 9106, section 3.1. */
export interface Argon2idOptions {
  /** A CryptoProvider, or a part of one: `argon2id` takes either function, the class `Argon2id` needs `blake2b`. */
  crypto: Pick<CryptoProvider, 'blake2b' | 'argon2id'>;
  /** P: bytes, or a string that is encoded as UTF-8. */
  password: string | Uint8Array;
  /** S: at least 8 bytes. */
  salt: Uint8Array;
  /** t: the number of passes over the memory, at least 1. */
  passes: number;
  /** m: the memory in KiB, at least 8 for each lane and less than 8 GiB. */
  memoryKiB: number;
  /** p: the number of lanes, 1 to 2^24 - 1. They are filled one after the other. */
  parallelism: number;
  /** T: the length of the tag in bytes, at least 4. */
  length: number;
  /** K: the secret value (default none). */
  secret?: Uint8Array | undefined;
  /** X: the associated data (default none). */
  associatedData?: Uint8Array | undefined;
  /**
   * Memory to work in: at least `memoryKiB` KiB, aligned to 4 bytes, which is wiped at the end. A native `argon2id` has its
   * own (default: allocated).
   */
  memory?: Uint8Array | undefined;
  /** Called with the progress, from 0 to 1, about a hundred times; by a native `argon2id` once, with 1 (default none). */
  onProgress?: ((progress: number) => void) | undefined;
}

const NAMES: OptionNames<Argon2idOptions> = {
  crypto: true,
  password: true,
  salt: true,
  passes: true,
  memoryKiB: true,
  parallelism: true,
  length: true,
  secret: true,
  associatedData: true,
  memory: true,
  onProgress: true,
};

export const SLICES = 4; // SL, the synchronization points of a pass
export const BLOCK_BYTES = 1024;
const MAX_MEMORY_KIB = 0x7fffff; // keeps the index of a word a signed integer of 32 bits

/** The options, read once and checked. */
export interface Argon2idInputs extends Argon2idParameters {
  readonly crypto: Argon2idOptions['crypto'];
  /** A copy, to be wiped. */
  readonly password: Uint8Array;
  readonly memory: Uint8Array | undefined;
  readonly onProgress: ((progress: number) => void) | undefined;
}

/** @throws LocalError `bad-argument`, `bad-length`, `lone-surrogate` */
export function readArgon2idOptions(options: Argon2idOptions): Argon2idInputs {
  const read = readOptions(options, 'options', NAMES);
  const { crypto, salt, passes, memoryKiB, parallelism, length, memory, onProgress } = read;
  const { secret = new Uint8Array(0), associatedData = new Uint8Array(0) } = read;
  assertMethods(crypto, 'crypto', [], ['blake2b', 'argon2id']);
  assertBytes(salt, 'salt');
  if (salt.length < 8) {
    throw errors.tooShort('salt', 8, salt);
  }
  assertBytes(secret, 'secret');
  assertBytes(associatedData, 'associatedData');
  assertInteger(passes, 'passes', 1, 0xffffffff);
  assertInteger(parallelism, 'parallelism', 1, 0xffffff);
  assertInteger(memoryKiB, 'memoryKiB', 8 * parallelism, MAX_MEMORY_KIB);
  assertInteger(length, 'length', 4, 0xffffffff);
  if (onProgress !== undefined) assertFunction(onProgress, 'onProgress');
  if (memory !== undefined) {
    assertBytes(memory, 'memory');
    const least = blocksOf(memoryKiB, parallelism) * BLOCK_BYTES;
    if (memory.length < least || memory.byteOffset % 4 !== 0) {
      throw errors.memoryTooSmall(least);
    }
  }
  if (typeof read.password !== 'string') assertBytes(read.password, 'password');
  const password = typeof read.password === 'string' ? utf8ToBytes(read.password) : copyBytes(read.password);
  return {
    crypto,
    password,
    salt,
    passes,
    memoryKiB,
    parallelism,
    length,
    secret,
    associatedData,
    memory,
    onProgress,
  };
}

/** m': the number of blocks, the same in each slice of each lane. */
export function blocksOf(memoryKiB: number, parallelism: number): number {
  return SLICES * parallelism * Math.floor(memoryKiB / (SLICES * parallelism));
}
