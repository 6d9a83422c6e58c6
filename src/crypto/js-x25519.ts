/**
 * X25519 (RFC 7748, section 5) for `jsCrypto`, in doubles: without BigInt, and with no branch and no index that
 * depends on a secret.
 *
 * A number modulo p = 2^255 - 19 is the sum of twelve doubles, its limbs. Limb k is a multiple of 2^ceil(21.25 k),
 * so the product of two limbs already has the right magnitude, and nothing is shifted. D. J. Bernstein describes
 * this in "Curve25519: new Diffie-Hellman speed records", section 4.
 *
 * test/crypto/js-x25519-proof.test.ts reads this file. It proves for all keys that no sum or product is rounded except
 * in `carry`, where rounding is the purpose, and that the functions compute what their comments say.
 */
import { assertBytes } from '../arguments.ts';
import { clear, copyBytes, wipe } from '../bytes.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { CryptoProvider } from './crypto.ts';
import { encodeModulo, power } from './limbs.ts';

type Field = Float64Array;

/** Where each limb begins, in bits, and where the last one ends. */
const POSITIONS = [0, 22, 43, 64, 85, 107, 128, 149, 170, 192, 213, 234, 255];
const LIMBS = 12;

/** The unit of each limb, which is a multiple of it. */
const UNITS = POSITIONS.map(power);

/** 19 * 2^-255, which is 1 modulo p: it moves a limb past the end back to the beginning. */
const WRAP = 19 / power(255);

/**
 * Adding and subtracting this rounds limb k to a multiple of 2^e, where e is the position of limb k + 1: the sum
 * lies between 2^(52 + e) and 2^(53 + e), where all doubles are multiples of 2^e.
 */
const ROUND_0 = 3 * power(51 + 22);
const ROUND_1 = 3 * power(51 + 43);
const ROUND_2 = 3 * power(51 + 64);
const ROUND_3 = 3 * power(51 + 85);
const ROUND_4 = 3 * power(51 + 107);
const ROUND_5 = 3 * power(51 + 128);
const ROUND_6 = 3 * power(51 + 149);
const ROUND_7 = 3 * power(51 + 170);
const ROUND_8 = 3 * power(51 + 192);
const ROUND_9 = 3 * power(51 + 213);
const ROUND_10 = 3 * power(51 + 234);
const ROUND_11 = 3 * power(51 + 255);

/**
 * All variables. Each call sets those that it reads, and wipes all. An array of this size lies outside V8's heap, and is never moved
 * (copyBytes).
 */
const memory = new Float64Array(21 * LIMBS);

function field(index: number): Field {
  return memory.subarray(index * LIMBS, (index + 1) * LIMBS);
}

/** The variables of the ladder. */
const x1 = field(0);
const x2 = field(1);
const z2 = field(2);
const x3 = field(3);
const z3 = field(4);
const a = field(5);
const aa = field(6);
const b = field(7);
const bb = field(8);
const e = field(9);
const c = field(10);
const d = field(11);
const da = field(12);
const cb = field(13);
/** The variables of the inversion. */
const power2 = field(14);
const f2 = field(15);
const f9 = field(16);
const f11 = field(17);
const r = field(18);
const r10 = field(19);
const r50 = field(20);

/**
 * Makes limbs small again: limb k becomes at most about half of 2^e, where e is the position of limb k + 1. Two chains
 * of carries run side by side, from limb 0 to limb 6 and from limb 6 to limb 0: a processor need not wait for each
 * carry.
 */
// biome-ignore format: a carry takes a line
function carry(h: Field): void {
  let h0 = h[0]!, h1 = h[1]!, h2 = h[2]!, h3 = h[3]!;
  let h4 = h[4]!, h5 = h[5]!, h6 = h[6]!, h7 = h[7]!;
  let h8 = h[8]!, h9 = h[9]!, h10 = h[10]!, h11 = h[11]!;
  let c = 0;
  c = h0 + ROUND_0 - ROUND_0; h0 -= c; h1 += c;
  c = h6 + ROUND_6 - ROUND_6; h6 -= c; h7 += c;
  c = h1 + ROUND_1 - ROUND_1; h1 -= c; h2 += c;
  c = h7 + ROUND_7 - ROUND_7; h7 -= c; h8 += c;
  c = h2 + ROUND_2 - ROUND_2; h2 -= c; h3 += c;
  c = h8 + ROUND_8 - ROUND_8; h8 -= c; h9 += c;
  c = h3 + ROUND_3 - ROUND_3; h3 -= c; h4 += c;
  c = h9 + ROUND_9 - ROUND_9; h9 -= c; h10 += c;
  c = h4 + ROUND_4 - ROUND_4; h4 -= c; h5 += c;
  c = h10 + ROUND_10 - ROUND_10; h10 -= c; h11 += c;
  c = h5 + ROUND_5 - ROUND_5; h5 -= c; h6 += c;
  c = h11 + ROUND_11 - ROUND_11; h11 -= c; h0 += c * WRAP;
  c = h6 + ROUND_6 - ROUND_6; h6 -= c; h7 += c;
  c = h0 + ROUND_0 - ROUND_0; h0 -= c; h1 += c;
  h[0] = h0; h[1] = h1; h[2] = h2; h[3] = h3;
  h[4] = h4; h[5] = h5; h[6] = h6; h[7] = h7;
  h[8] = h8; h[9] = h9; h[10] = h10; h[11] = h11;
}

/** h = f * g. */
// biome-ignore format: a limb takes two lines
function multiply(h: Field, f: Field, g: Field): void {
  const f0 = f[0]!, f1 = f[1]!, f2 = f[2]!, f3 = f[3]!;
  const f4 = f[4]!, f5 = f[5]!, f6 = f[6]!, f7 = f[7]!;
  const f8 = f[8]!, f9 = f[9]!, f10 = f[10]!, f11 = f[11]!;
  const g0 = g[0]!, g1 = g[1]!, g2 = g[2]!, g3 = g[3]!;
  const g4 = g[4]!, g5 = g[5]!, g6 = g[6]!, g7 = g[7]!;
  const g8 = g[8]!, g9 = g[9]!, g10 = g[10]!, g11 = g[11]!;
  const m1 = g1 * WRAP, m2 = g2 * WRAP, m3 = g3 * WRAP, m4 = g4 * WRAP, m5 = g5 * WRAP, m6 = g6 * WRAP;
  const m7 = g7 * WRAP, m8 = g8 * WRAP, m9 = g9 * WRAP, m10 = g10 * WRAP, m11 = g11 * WRAP;
  h[0] = f0 * g0 + f1 * m11 + f2 * m10 + f3 * m9 + f4 * m8 + f5 * m7 + f6 * m6 + f7 * m5 +
    f8 * m4 + f9 * m3 + f10 * m2 + f11 * m1;
  h[1] = f0 * g1 + f1 * g0 + f2 * m11 + f3 * m10 + f4 * m9 + f5 * m8 + f6 * m7 + f7 * m6 +
    f8 * m5 + f9 * m4 + f10 * m3 + f11 * m2;
  h[2] = f0 * g2 + f1 * g1 + f2 * g0 + f3 * m11 + f4 * m10 + f5 * m9 + f6 * m8 + f7 * m7 +
    f8 * m6 + f9 * m5 + f10 * m4 + f11 * m3;
  h[3] = f0 * g3 + f1 * g2 + f2 * g1 + f3 * g0 + f4 * m11 + f5 * m10 + f6 * m9 + f7 * m8 +
    f8 * m7 + f9 * m6 + f10 * m5 + f11 * m4;
  h[4] = f0 * g4 + f1 * g3 + f2 * g2 + f3 * g1 + f4 * g0 + f5 * m11 + f6 * m10 + f7 * m9 +
    f8 * m8 + f9 * m7 + f10 * m6 + f11 * m5;
  h[5] = f0 * g5 + f1 * g4 + f2 * g3 + f3 * g2 + f4 * g1 + f5 * g0 + f6 * m11 + f7 * m10 +
    f8 * m9 + f9 * m8 + f10 * m7 + f11 * m6;
  h[6] = f0 * g6 + f1 * g5 + f2 * g4 + f3 * g3 + f4 * g2 + f5 * g1 + f6 * g0 + f7 * m11 +
    f8 * m10 + f9 * m9 + f10 * m8 + f11 * m7;
  h[7] = f0 * g7 + f1 * g6 + f2 * g5 + f3 * g4 + f4 * g3 + f5 * g2 + f6 * g1 + f7 * g0 +
    f8 * m11 + f9 * m10 + f10 * m9 + f11 * m8;
  h[8] = f0 * g8 + f1 * g7 + f2 * g6 + f3 * g5 + f4 * g4 + f5 * g3 + f6 * g2 + f7 * g1 + f8 * g0 +
    f9 * m11 + f10 * m10 + f11 * m9;
  h[9] = f0 * g9 + f1 * g8 + f2 * g7 + f3 * g6 + f4 * g5 + f5 * g4 + f6 * g3 + f7 * g2 + f8 * g1 +
    f9 * g0 + f10 * m11 + f11 * m10;
  h[10] = f0 * g10 + f1 * g9 + f2 * g8 + f3 * g7 + f4 * g6 + f5 * g5 + f6 * g4 + f7 * g3 +
    f8 * g2 + f9 * g1 + f10 * g0 + f11 * m11;
  h[11] = f0 * g11 + f1 * g10 + f2 * g9 + f3 * g8 + f4 * g7 + f5 * g6 + f6 * g5 + f7 * g4 +
    f8 * g3 + f9 * g2 + f10 * g1 + f11 * g0;
  carry(h);
}

/** h = f * f: a product of two different limbs counts twice. */
// biome-ignore format: a limb takes a line
function square(h: Field, f: Field): void {
  const f0 = f[0]!, f1 = f[1]!, f2 = f[2]!, f3 = f[3]!;
  const f4 = f[4]!, f5 = f[5]!, f6 = f[6]!, f7 = f[7]!;
  const f8 = f[8]!, f9 = f[9]!, f10 = f[10]!, f11 = f[11]!;
  const d0 = f0 + f0, d1 = f1 + f1, d2 = f2 + f2, d3 = f3 + f3, d4 = f4 + f4, d5 = f5 + f5;
  const d6 = f6 + f6, d7 = f7 + f7, d8 = f8 + f8, d9 = f9 + f9, d10 = f10 + f10;
  const m6 = f6 * WRAP, m7 = f7 * WRAP, m8 = f8 * WRAP, m9 = f9 * WRAP, m10 = f10 * WRAP, m11 = f11 * WRAP;
  h[0] = f0 * f0 + d1 * m11 + d2 * m10 + d3 * m9 + d4 * m8 + d5 * m7 + f6 * m6;
  h[1] = d0 * f1 + d2 * m11 + d3 * m10 + d4 * m9 + d5 * m8 + d6 * m7;
  h[2] = d0 * f2 + f1 * f1 + d3 * m11 + d4 * m10 + d5 * m9 + d6 * m8 + f7 * m7;
  h[3] = d0 * f3 + d1 * f2 + d4 * m11 + d5 * m10 + d6 * m9 + d7 * m8;
  h[4] = d0 * f4 + d1 * f3 + f2 * f2 + d5 * m11 + d6 * m10 + d7 * m9 + f8 * m8;
  h[5] = d0 * f5 + d1 * f4 + d2 * f3 + d6 * m11 + d7 * m10 + d8 * m9;
  h[6] = d0 * f6 + d1 * f5 + d2 * f4 + f3 * f3 + d7 * m11 + d8 * m10 + f9 * m9;
  h[7] = d0 * f7 + d1 * f6 + d2 * f5 + d3 * f4 + d8 * m11 + d9 * m10;
  h[8] = d0 * f8 + d1 * f7 + d2 * f6 + d3 * f5 + f4 * f4 + d9 * m11 + f10 * m10;
  h[9] = d0 * f9 + d1 * f8 + d2 * f7 + d3 * f6 + d4 * f5 + d10 * m11;
  h[10] = d0 * f10 + d1 * f9 + d2 * f8 + d3 * f7 + d4 * f6 + f5 * f5 + f11 * m11;
  h[11] = d0 * f11 + d1 * f10 + d2 * f9 + d3 * f8 + d4 * f7 + d5 * f6;
  carry(h);
}

/** h = g + a24 * f, where a24 is 121665. */
function timesA24Plus(h: Field, f: Field, g: Field): void {
  for (let i = 0; i < LIMBS; i++) h[i] = g[i]! + 121665 * f[i]!;
  carry(h);
}

/** h = f + g, whose limbs may be twice as large. */
function add(h: Field, f: Field, g: Field): void {
  for (let i = 0; i < LIMBS; i++) h[i] = f[i]! + g[i]!;
}

/** h = f - g, whose limbs may be twice as large. */
function subtract(h: Field, f: Field, g: Field): void {
  for (let i = 0; i < LIMBS; i++) h[i] = f[i]! - g[i]!;
}

/** Swaps f and g if `swap` is 1, but not if it is 0. */
function cswap(swap: number, f: Field, g: Field): void {
  const keep = 1 - swap;
  for (let i = 0; i < LIMBS; i++) {
    const x = f[i]!;
    const y = g[i]!;
    f[i] = keep * x + swap * y;
    g[i] = keep * y + swap * x;
  }
}

/** h = f^(2^times) * g. */
function raise(h: Field, f: Field, times: number, g: Field): void {
  square(power2, f);
  for (let i = 1; i < times; i++) square(power2, power2);
  multiply(h, power2, g);
}

/** h = f^(p - 2), the inverse of f, by the usual chain of 254 squarings and 11 multiplications. */
function invert(h: Field, f: Field): void {
  square(f2, f);
  raise(f9, f2, 2, f);
  multiply(f11, f9, f2);
  raise(r, f11, 1, f9); // f^(2^5 - 1)
  raise(r10, r, 5, r); // f^(2^10 - 1)
  raise(r, r10, 10, r10);
  raise(r, r, 20, r);
  raise(r50, r, 10, r10);
  raise(r, r50, 50, r50);
  raise(r, r, 100, r);
  raise(r, r, 50, r50); // f^(2^250 - 1)
  raise(h, r, 5, f11);
}

/** decodeUCoordinate, which ignores the top bit. A byte goes to the limb in which its lowest bit is. */
function decode(h: Field, u: Uint8Array): void {
  let place = 1;
  let i = 0;
  for (let k = 0; k < LIMBS; k++) {
    h[k] = 0;
    for (; 8 * i < POSITIONS[k + 1]!; i++) {
      const byte = u[i]! & (i < KEY_LENGTH - 1 ? 0xff : 0x7f);
      h[k]! += byte * place;
      place *= 256;
    }
  }
  carry(h);
}

/** encodeUCoordinate */
function encode(f: Field): Uint8Array {
  const u = new Uint8Array(new ArrayBuffer(KEY_LENGTH)); // which V8 does not move (copyBytes): it may be a shared secret
  encodeModulo(f, POSITIONS, UNITS, 19, u);
  return u;
}

/**
 * The function X25519 of section 5.
 * @param k - a copy of the private key, which is changed
 */
function x25519(k: Uint8Array, u: Uint8Array): Uint8Array {
  // decodeScalar25519: k_list[0] &= 248, k_list[31] &= 127, k_list[31] |= 64
  k[0]! &= 248;
  k[31]! &= 127;
  k[31]! |= 64;

  decode(x1, u); // x_1 = u
  setTo(x2, 1); // x_2 = 1
  setTo(z2, 0); // z_2 = 0
  x3.set(x1); // x_3 = u
  setTo(z3, 1); // z_3 = 1
  let swap = 0; // swap = 0
  for (let t = 254; t >= 0; t--) {
    const kt = (k[t >> 3]! >> (t & 7)) & 1; // k_t = (k >> t) & 1
    swap ^= kt; // swap ^= k_t
    cswap(swap, x2, x3); // (x_2, x_3) = cswap(swap, x_2, x_3)
    cswap(swap, z2, z3); // (z_2, z_3) = cswap(swap, z_2, z_3)
    swap = kt; // swap = k_t

    add(a, x2, z2); // A = x_2 + z_2
    square(aa, a); // AA = A^2
    subtract(b, x2, z2); // B = x_2 - z_2
    square(bb, b); // BB = B^2
    subtract(e, aa, bb); // E = AA - BB
    add(c, x3, z3); // C = x_3 + z_3
    subtract(d, x3, z3); // D = x_3 - z_3
    multiply(da, d, a); // DA = D * A
    multiply(cb, c, b); // CB = C * B
    add(c, da, cb); // x_3 = (DA + CB)^2
    square(x3, c);
    subtract(d, da, cb); // z_3 = x_1 * (DA - CB)^2
    square(d, d);
    multiply(z3, x1, d);
    multiply(x2, aa, bb); // x_2 = AA * BB
    timesA24Plus(c, e, aa); // z_2 = E * (AA + a24 * E)
    multiply(z2, e, c);
  }
  cswap(swap, x2, x3); // (x_2, x_3) = cswap(swap, x_2, x_3)
  cswap(swap, z2, z3); // (z_2, z_3) = cswap(swap, z_2, z_3)

  invert(z2, z2); // Return x_2 * (z_2^(p - 2))
  multiply(x2, x2, z2);
  return encode(x2);
}

/** X25519, which wipes what it computes with, also if memory ends in it. */
function compute(privateKey: Uint8Array, u: Uint8Array): Uint8Array {
  const k = copyBytes(privateKey);
  try {
    return x25519(k, u);
  } finally {
    clear(memory);
    wipe(k);
  }
}

function setTo(h: Field, value: number): void {
  clear(h);
  h[0] = value;
}

const BASE_POINT = new Uint8Array(KEY_LENGTH);
BASE_POINT[0] = 9;

export const jsX25519: CryptoProvider['x25519'] = {
  publicKey(privateKey) {
    assertBytes(privateKey, 'privateKey', KEY_LENGTH);
    return compute(privateKey, BASE_POINT);
  },
  sharedSecret(privateKey, publicKey) {
    assertBytes(privateKey, 'privateKey', KEY_LENGTH);
    assertBytes(publicKey, 'publicKey', KEY_LENGTH);
    return compute(privateKey, publicKey);
  },
};
