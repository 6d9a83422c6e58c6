/** X25519 public keys of low order, for providers whose library throws the same for them as for a fault. */
import { bytesToHex, copyBytes } from '../bytes.ts';

/** The u-coordinates whose order divides 8, little-endian, and p and p + 1, which are 0 and 1 in another form. */
const LOW_ORDER: readonly string[] = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

/** Whether every shared secret with a public key of 32 bytes is zero (RFC 7748, sections 5 and 6.1). */
export function isLowOrder(publicKey: Uint8Array): boolean {
  const u = copyBytes(publicKey);
  u[31]! &= 0x7f; // the top bit is ignored
  return LOW_ORDER.indexOf(bytesToHex(u)) >= 0;
}
