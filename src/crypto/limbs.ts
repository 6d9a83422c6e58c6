/** Large numbers as sums of doubles, their limbs, for X25519 and Poly1305. Limbs may be negative. */

/** 2^exponent, computed in a way that is exact in every engine. */
export function power(exponent: number): number {
  let x = 1;
  for (let i = 0; i < exponent; i++) x *= 2;
  return x;
}

/**
 * Writes a number v modulo p, where p = 2^n - excess, as little-endian bytes. v must lie between -p and p. So v modulo
 * p is v, or, if v is negative, v + p = v - excess + 2^n.
 * @param limbs - whose sum is v
 * @param positions - where each limb begins, in bits, and n
 * @param units - two to the power of each position
 */
export function encodeModulo(
  limbs: Float64Array,
  positions: readonly number[],
  units: readonly number[],
  excess: number,
  bytes: Uint8Array,
): void {
  let carried = 0; // in the end 0, or -1 if v is negative
  for (let k = 0; k < limbs.length; k++) {
    carried = (limbs[k]! / units[k]! + carried) >> (positions[k + 1]! - positions[k]!);
  }
  carried *= excess;
  let at = 0;
  let bits = 0; // bits not yet written, and their number
  let count = 0;
  for (let k = 0; k < limbs.length; k++) {
    const width = positions[k + 1]! - positions[k]!;
    const limb = limbs[k]! / units[k]! + carried;
    carried = limb >> width;
    bits |= (limb & ((1 << width) - 1)) << count;
    for (count += width; count >= 8; count -= 8) {
      bytes[at++] = bits;
      bits >>>= 8;
    }
  }
  bytes[at] = bits; // the carry out of the last limb is 2^n or 0, and is dropped
}
