/** noble's BLAKE2b: all of a CryptoProvider that the derivation of a PSK needs. */
import { blake2b } from '@noble/hashes/blake2.js';
import type { CryptoProvider } from './crypto.ts';

/**
 * BLAKE2b (RFC 7693), without a key: all of a CryptoProvider that the derivation of a PSK needs if it is given the salt. A worker
 * need not load anything else. derivePsk() has an example.
 */
export const nobleBlake2b: NonNullable<CryptoProvider['blake2b']> = (length, ...parts) => {
  const hash = blake2b.create({ dkLen: length });
  for (const part of parts) hash.update(part);
  return hash.digest();
};
