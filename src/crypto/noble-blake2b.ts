/** BLAKE2b of noble: all that a derivation of the PSK needs of a Crypto. */
import { blake2b } from '@noble/hashes/blake2.js';
import type { Crypto } from './crypto.ts';

/**
 * BLAKE2b (RFC 7693), without a key: all that a derivation of the PSK needs of a Crypto if it is given the salt, so that a
 * worker loads nothing else. derivePsk() has an example.
 */
export const nobleBlake2b: NonNullable<Crypto['blake2b']> = (length, ...parts) => {
  const hash = blake2b.create({ dkLen: length });
  for (const part of parts) hash.update(part);
  return hash.digest();
};
