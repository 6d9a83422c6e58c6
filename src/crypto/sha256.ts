/**
 * SHA-256 (FIPS 180-4) of short messages, for MQTT topics, which are derived without injected crypto, and for the crypto of
 * devices.
 */
import { wipe } from '../bytes.ts';

/** Section 5.3.3. */
const H = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/** Section 4.2.2, as signed words. They are in an array, which XS reads in half of the time that a typed array takes. */
const K: readonly number[] = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
].map((word) => word | 0);

const BLOCK = 64;

/**
 * @param message - less than 512 MiB: 32 bits hold its length in bits
 * @returns the digest, 32 bytes
 */
export function sha256(message: Uint8Array): Uint8Array {
  // Section 5.1.1: a one bit, zeros up to the end of a block, and in its last 64 bits the length in bits.
  const length = message.length;
  const padded = new Uint8Array((length + 9 + BLOCK - 1) & -BLOCK);
  padded.set(message);
  padded[length] = 0x80;
  writeWord(padded, padded.length - 4, length << 3);

  const state = new Int32Array(H);
  const schedule: number[] = [];
  for (let at = 0; at < padded.length; at += BLOCK) compress(state, schedule, padded, at);
  wipe(padded); // which has a key in it if it is for HMAC

  const digest = new Uint8Array(4 * state.length);
  for (let i = 0; i < state.length; i++) writeWord(digest, 4 * i, state[i]!);
  return digest;
}

/** Section 6.2.2. Rotations are written out, since in an interpreter their calls would take half of the time. */
function compress(state: Int32Array, schedule: number[], padded: Uint8Array, at: number): void {
  for (let t = 0; t < 16; t++) schedule[t] = readWord(padded, at + 4 * t);
  for (let t = 16; t < 64; t++) {
    const near = schedule[t - 2]!;
    const far = schedule[t - 15]!;
    const sigma1 = ((near >>> 17) | (near << 15)) ^ ((near >>> 19) | (near << 13)) ^ (near >>> 10);
    const sigma0 = ((far >>> 7) | (far << 25)) ^ ((far >>> 18) | (far << 14)) ^ (far >>> 3);
    schedule[t] = (sigma1 + schedule[t - 7]! + sigma0 + schedule[t - 16]!) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let t = 0; t < 64; t++) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const choice = g ^ (e & (f ^ g));
    const t1 = (h + sum1 + choice + K[t]! + schedule[t]!) | 0;
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const majority = (a & b) | (c & (a | b));
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + sum0 + majority) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

function readWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

function writeWord(bytes: Uint8Array, at: number, word: number): void {
  bytes[at] = word >>> 24;
  bytes[at + 1] = word >>> 16;
  bytes[at + 2] = word >>> 8;
  bytes[at + 3] = word;
}
