/**
 * Poly1305 (RFC 8439, section 2.5) for `jsCrypto`, in doubles, with no branch and no index that depends on a secret.
 *
 * A number modulo p = 2^130 - 5 is the sum of six doubles, as in js-x25519.ts. test/crypto/js-poly1305-proof.test.ts
 * reads this file, and proves for all keys and messages that only carries round.
 */
import { clear, wordAt } from '../bytes.ts';
import { TAG_LENGTH } from '../limits.ts';
import { encodeModulo, power } from './limbs.ts';

/** Where each limb begins, in bits, and where the last one ends. */
const POSITIONS = [0, 22, 44, 65, 87, 109, 130];
const LIMBS = 6;
/** In bytes. */
const BLOCK = 16;

/** 5 * 2^-130, which is 1 modulo p: it moves a limb past the end back to the beginning. */
const WRAP = 5 / power(130);

/** The unit of each limb, which is a multiple of it. */
const UNITS = POSITIONS.map(power);
const UNIT_1 = power(22);
const UNIT_2 = power(44);
const UNIT_3 = power(65);
const UNIT_4 = power(87);
const UNIT_5 = power(109);

/** Adding and subtracting this rounds limb k to a multiple of the unit of limb k + 1 (js-x25519.ts). */
const ROUND_0 = 3 * power(51 + 22);
const ROUND_1 = 3 * power(51 + 44);
const ROUND_2 = 3 * power(51 + 65);
const ROUND_3 = 3 * power(51 + 87);
const ROUND_4 = 3 * power(51 + 109);
const ROUND_5 = 3 * power(51 + 130);

/** The key, r and s, and intermediate results. Each message wipes them; arrays of this size are never moved (copyBytes). */
const numbers = new Float64Array(2 * LIMBS);
const r = numbers.subarray(0, LIMBS);
const sum = numbers.subarray(LIMBS, 2 * LIMBS);
const bytes = new Uint8Array(5 * BLOCK);
const s = bytes.subarray(0, BLOCK);
/** The last bytes of a text, padded with zeros. */
const padded = bytes.subarray(BLOCK, 2 * BLOCK);
/** The sum as 17 bytes. */
const encoded = bytes.subarray(2 * BLOCK, 3 * BLOCK + 1);

/**
 * Begins a message (section 2.5.1).
 * @param key - at least 32 bytes, for this message alone
 */
// biome-ignore format: a limb takes a line
export function startMac(key: Uint8Array): void {
  clear(numbers); // the sum: memory may have ended in the previous message
  // clamp(r): r &= 0x0ffffffc0ffffffc0ffffffc0fffffff
  const w0 = wordAt(key, 0) & 0x0fffffff, w1 = wordAt(key, 4) & 0x0ffffffc;
  const w2 = wordAt(key, 8) & 0x0ffffffc, w3 = wordAt(key, 12) & 0x0ffffffc;
  r[0] = w0 & 0x3fffff;
  r[1] = ((w0 >>> 22) | ((w1 & 0xfff) << 10)) * UNIT_1;
  r[2] = ((w1 >>> 12) | ((w2 & 1) << 20)) * UNIT_2;
  r[3] = ((w2 >>> 1) & 0x3fffff) * UNIT_3;
  r[4] = ((w2 >>> 23) | ((w3 & 0x1fff) << 9)) * UNIT_4;
  r[5] = (w3 >>> 13) * UNIT_5;
  for (let i = 0; i < BLOCK; i++) s[i] = key[BLOCK + i]!;
}

/** Adds each block, with a bit after its 128, to the sum, and multiplies it by r: a = (r * (a + n)) % p. */
// biome-ignore format: a limb takes a line
function addBlocks(text: Uint8Array, end: number): void {
  const r0 = r[0]!, r1 = r[1]!, r2 = r[2]!, r3 = r[3]!, r4 = r[4]!, r5 = r[5]!;
  const m1 = r1 * WRAP, m2 = r2 * WRAP, m3 = r3 * WRAP, m4 = r4 * WRAP, m5 = r5 * WRAP;
  let h0 = sum[0]!, h1 = sum[1]!, h2 = sum[2]!, h3 = sum[3]!, h4 = sum[4]!, h5 = sum[5]!;
  for (let at = 0; at < end; at += BLOCK) {
    const w0 = wordAt(text, at), w1 = wordAt(text, at + 4);
    const w2 = wordAt(text, at + 8), w3 = wordAt(text, at + 12);
    const f0 = h0 + (w0 & 0x3fffff);
    const f1 = h1 + ((w0 >>> 22) | ((w1 & 0xfff) << 10)) * UNIT_1;
    const f2 = h2 + ((w1 >>> 12) | ((w2 & 1) << 20)) * UNIT_2;
    const f3 = h3 + ((w2 >>> 1) & 0x3fffff) * UNIT_3;
    const f4 = h4 + ((w2 >>> 23) | ((w3 & 0x1fff) << 9)) * UNIT_4;
    const f5 = h5 + ((w3 >>> 13) + 0x80000) * UNIT_5;
    h0 = f0 * r0 + f1 * m5 + f2 * m4 + f3 * m3 + f4 * m2 + f5 * m1;
    h1 = f0 * r1 + f1 * r0 + f2 * m5 + f3 * m4 + f4 * m3 + f5 * m2;
    h2 = f0 * r2 + f1 * r1 + f2 * r0 + f3 * m5 + f4 * m4 + f5 * m3;
    h3 = f0 * r3 + f1 * r2 + f2 * r1 + f3 * r0 + f4 * m5 + f5 * m4;
    h4 = f0 * r4 + f1 * r3 + f2 * r2 + f3 * r1 + f4 * r0 + f5 * m5;
    h5 = f0 * r5 + f1 * r4 + f2 * r3 + f3 * r2 + f4 * r1 + f5 * r0;
    let c = 0;
    c = h0 + ROUND_0 - ROUND_0; h0 -= c; h1 += c;
    c = h3 + ROUND_3 - ROUND_3; h3 -= c; h4 += c;
    c = h1 + ROUND_1 - ROUND_1; h1 -= c; h2 += c;
    c = h4 + ROUND_4 - ROUND_4; h4 -= c; h5 += c;
    c = h2 + ROUND_2 - ROUND_2; h2 -= c; h3 += c;
    c = h5 + ROUND_5 - ROUND_5; h5 -= c; h0 += c * WRAP;
    c = h3 + ROUND_3 - ROUND_3; h3 -= c; h4 += c;
    c = h0 + ROUND_0 - ROUND_0; h0 -= c; h1 += c;
  }
  sum[0] = h0; sum[1] = h1; sum[2] = h2; sum[3] = h3; sum[4] = h4; sum[5] = h5;
}

/**
 * Authenticates a text, padded with zeros to whole blocks as the AEAD requires (section 2.8).
 * @param length - of the text, which may be followed by other bytes
 */
export function updateMac(text: Uint8Array, length: number): void {
  const rest = length & (BLOCK - 1);
  addBlocks(text, length - rest);
  if (rest === 0) return;
  clear(padded);
  for (let i = 0; i < rest; i++) padded[i] = text[length - rest + i]!;
  addBlocks(padded, BLOCK);
}

/** Authenticates two lengths, each as a number of 64 bits (section 2.8). */
export function updateMacWithLengths(first: number, second: number): void {
  clear(padded);
  for (let i = 0; i < 4; i++) {
    padded[i] = first >>> (8 * i);
    padded[8 + i] = second >>> (8 * i);
  }
  addBlocks(padded, BLOCK);
}

/** Computes the tag: a += s, modulo 2^128. */
export function finishMac(tag: Uint8Array): void {
  encodeModulo(sum, POSITIONS, UNITS, 5, encoded);
  let carried = 0;
  for (let i = 0; i < TAG_LENGTH; i++) {
    carried += encoded[i]! + s[i]!;
    tag[i] = carried;
    carried >>= 8;
  }
}

/** Ends a message: wipes the key and the sum. */
export function endMac(): void {
  clear(numbers);
  clear(bytes);
}
