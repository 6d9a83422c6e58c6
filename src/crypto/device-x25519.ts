/**
 * X25519 (RFC 7748, section 5) with BigInt, for `dist/hub-protocol.js`: noble's, which the other entries use, takes 16 KB
 * more of a device's heap. Like all arithmetic with BigInt, it is not constant-time.
 */
import { assertBytes } from '../arguments.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { CryptoProvider } from './crypto.ts';
import { viewOf } from './device-chacha20.ts';
import { PIECE, pieceAt } from './device-chachapoly.ts';

/** 2^255 - 19. */
const P = 2n ** 255n - 19n;
const LOW_255 = P + 18n;
/** Multiples of P, which keep differences of numbers below 2^256 and 2^264 from being negative. */
const ABOVE_256 = P << 2n;
const ABOVE_264 = P << 10n;

const BASE_POINT = new Uint8Array(KEY_LENGTH);
BASE_POINT[0] = 9;

/** A little-endian number of 32 bytes, whose highest bit is ignored. */
function decode(bytes: Uint8Array): bigint {
  const view = viewOf(bytes);
  return ((pieceAt(view, PIECE) << 128n) | pieceAt(view, 0)) & LOW_255;
}

function encode(value: bigint): Uint8Array {
  const bytes = new Uint8Array(new ArrayBuffer(KEY_LENGTH)); // which V8 does not move (copyBytes)
  const view = viewOf(bytes);
  for (let i = 0; i < 4; i++) view.setBigUint64(8 * i, value >> BigInt(64 * i), true); // which takes the lowest 64 bits
  return bytes;
}

/**
 * A smaller number that is congruent modulo P: 2^255 is 19. One below 2^580 becomes one below 2^330, and then one below
 * 2^256. A division would take XS four times as long.
 */
const fold = (x: bigint): bigint => (x & LOW_255) + 19n * (x >> 255n);
const times = (x: bigint, y: bigint): bigint => fold(fold(x * y));

/** x^(P - 2), the inverse of x. In hexadecimal, P - 2 is a 7, then 61 times f, then eb. */
function invert(x: bigint): bigint {
  const x3 = times(times(x, x), x);
  const x4 = times(x3, x);
  const x7 = times(x3, x4);
  const x11 = times(x7, x4);
  const x15 = times(x11, x4);
  let power = x7;
  for (let digit = 62; digit >= 0; digit--) {
    for (let i = 0; i < 4; i++) power = times(power, power);
    power = times(power, digit > 1 ? x15 : digit === 1 ? times(x7, x7) : x11);
  }
  return power;
}

/** The Montgomery ladder, in the names of the RFC. */
function x25519(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  assertBytes(privateKey, 'privateKey', KEY_LENGTH);
  assertBytes(publicKey, 'publicKey', KEY_LENGTH);
  const k = (decode(privateKey) | (1n << 254n)) & ~7n;
  const x1 = decode(publicKey);
  let x2 = 1n;
  let z2 = 0n;
  let x3 = x1;
  let z3 = 1n;
  let swap = 0n;
  for (let t = 254n; t >= 0n; t--) {
    const bit = (k >> t) & 1n;
    swap ^= bit;
    const dx = swap * (x3 - x2);
    const dz = swap * (z3 - z2);
    swap = bit;
    x2 += dx;
    x3 -= dx;
    z2 += dz;
    z3 -= dz;
    const a = x2 + z2;
    const aa = fold(a * a);
    const b = x2 - z2 + ABOVE_256;
    const bb = fold(b * b);
    const e = aa - bb + ABOVE_264;
    const da = fold((x3 - z3 + ABOVE_256) * a);
    const cb = fold((x3 + z3) * b);
    x3 = fold(fold((da + cb) ** 2n));
    z3 = times(x1, fold((da - cb) ** 2n));
    x2 = times(aa, bb);
    z2 = times(e, aa + 121665n * e);
  }
  // The lowest bits of k are zeros, so there is nothing left to swap.
  return encode((x2 * invert(z2)) % P);
}

export const deviceX25519: CryptoProvider['x25519'] = {
  publicKey: (privateKey) => x25519(privateKey, BASE_POINT),
  sharedSecret: x25519,
};
