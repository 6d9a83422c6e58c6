/**
 * SHA-256 (FIPS 180-4) of short messages, and HMAC with it (RFC 2104): for MQTT topics, which are derived without injected crypto,
 * and for the library's own providers.
 */
import { clear, wipe } from '../bytes.ts';

/**
 * The first 32 bits of the fractional parts of roots of the first primes, as signed words. They are computed because a table
 * would add 0.5 KB to the gzipped file for devices. A number has 18 more bits of such a root, so it does not matter how an
 * engine rounds.
 */
export function fractionsOfRoots(count: number, exponent: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  // biome-ignore lint/style/useExponentiationOperator: ES5 has none
  return primes.map((prime) => (Math.pow(prime, exponent) * 0x100000000) | 0); // which drops the whole part
}

/** The initial hash value (section 5.3.3). */
const H: readonly number[] = /* @__PURE__ */ fractionsOfRoots(8, 1 / 2);

/** The constants (section 4.2.2), in an array, which XS reads twice as fast as a typed array. */
const K: readonly number[] = /* @__PURE__ */ fractionsOfRoots(64, 1 / 3);

const BLOCK = 64;
/** The pads of HMAC, for each word of a key (RFC 2104): ipad and opad. */
const IPAD = 0x36363636;
const OPAD = 0x5c5c5c5c;

/**
 * SHA-256 of the concatenated parts.
 * @param parts - together less than 512 MiB: 32 bits hold their length in bits
 * @returns the digest, 32 bytes
 */
export function sha256(...parts: Uint8Array[]): Uint8Array {
  const digest = newDigest();
  const state = newState();
  absorb(state, newSchedule(), pad(parts, 0));
  writeDigest(state, digest);
  return digest;
}

/**
 * HMAC-SHA-256 of the concatenated parts. Neither the padded key nor the inner digest is written as bytes: both go straight into
 * the words of a block. All memory is allocated first: if that fails, nothing that depends on the key stays behind.
 */
export function hmacSha256(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array {
  const shortKey = key.length > BLOCK ? sha256(key) : key;
  const digest = newDigest();
  const inner = newState();
  const outer = newState();
  const schedule = newSchedule();
  const padded = pad(parts, BLOCK);
  absorbKey(inner, schedule, shortKey, IPAD);
  absorb(inner, schedule, padded);
  absorbKey(outer, schedule, shortKey, OPAD);
  for (let t = 0; t < 16; t++) schedule[t] = t < 8 ? inner[t]! : 0;
  schedule[8] = 0x80 << 24;
  schedule[15] = (BLOCK + 32) << 3;
  compress(outer, schedule);
  clear(inner);
  writeDigest(outer, digest);
  return digest;
}

/** Like a state, in an ArrayBuffer, since it may be a key, and V8 moves arrays of up to 64 bytes otherwise (copyBytes). */
function newDigest(): Uint8Array {
  return new Uint8Array(new ArrayBuffer(32));
}

/** Of its full length, so that it does not grow later. */
function newSchedule(): number[] {
  const schedule: number[] = [];
  for (let t = 0; t < BLOCK; t++) schedule[t] = 0;
  return schedule;
}

function newState(): Int32Array {
  const state = new Int32Array(new ArrayBuffer(32));
  for (let i = 0; i < 8; i++) state[i] = H[i]!;
  return state;
}

/** Absorbs the block of a key of at most 64 bytes, padded with zeros. */
function absorbKey(state: Int32Array, schedule: number[], key: Uint8Array, pad: number): void {
  for (let t = 0; t < 16; t++) {
    schedule[t] = (4 * t < key.length ? readWord(key, 4 * t) : 0) ^ pad;
  }
  compress(state, schedule);
}

/**
 * Section 5.1.1: the parts, a one bit, zeros up to the end of a block, and in its last 64 bits the length in bits.
 * @param before - how many bytes the state has absorbed
 */
function pad(parts: readonly Uint8Array[], before: number): Uint8Array {
  let length = 0;
  for (let i = 0; i < parts.length; i++) length += parts[i]!.length;
  const padded = new Uint8Array(new ArrayBuffer((length + 9 + BLOCK - 1) & -BLOCK));
  let end = 0;
  for (let i = 0; i < parts.length; i++) {
    padded.set(parts[i]!, end);
    end += parts[i]!.length;
  }
  padded[length] = 0x80;
  writeWord(padded, padded.length - 4, (before + length) << 3);
  return padded;
}

/** Absorbs blocks, and wipes them: they may have a key in them. */
function absorb(state: Int32Array, schedule: number[], padded: Uint8Array): void {
  for (let at = 0; at < padded.length; at += BLOCK) {
    for (let t = 0; t < 16; t++) schedule[t] = readWord(padded, at + 4 * t);
    compress(state, schedule);
  }
  wipe(padded);
}

/** Writes the digest in a state, which is wiped. */
function writeDigest(state: Int32Array, digest: Uint8Array): void {
  for (let i = 0; i < 8; i++) writeWord(digest, 4 * i, state[i]!);
  clear(state);
}

/**
 * Section 6.2.2, for a block whose words are the first 16 of the schedule. Rotations are written out, since in an interpreter their
 * calls would take half of the time.
 */
function compress(state: Int32Array, schedule: number[]): void {
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
