/**
 * `hub-protocol/noble`: a CryptoProvider over noble, with ChaChaPoly on the library's own ChaCha20. It runs in every engine
 * that has BigInt.
 */
import { blake2b } from '@noble/hashes/blake2.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { copyBytes, wipe } from '../bytes.ts';
import type { CryptoProvider } from './crypto.ts';
import { nobleChaChaPoly } from './noble-chachapoly.ts';
import { nobleX25519 } from './noble-x25519.ts';

/**
 * BLAKE2b (RFC 7693), without a key: all of a CryptoProvider that the derivation of a PSK needs if it is given the salt. A worker
 * need not load anything else. derivePsk() has an example.
 */
export const nobleBlake2b: NonNullable<CryptoProvider['blake2b']> = (length, ...parts) => {
  const hash = blake2b.create({ dkLen: length });
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** A copy in memory that V8 does not move (copyBytes), since it may be a key. */
function owned(digest: Uint8Array): Uint8Array {
  const copy = copyBytes(digest);
  wipe(digest);
  return copy;
}

/**
 * noble: pure JavaScript, with the suite `25519_ChaChaPoly_SHA256` only, for any engine that has BigInt. X25519 on BigInt does
 * not take constant time; `jsCrypto` does.
 *
 * @example
 * import { nobleCrypto } from 'hub-protocol/noble';
 *
 * console.log(Object.keys(nobleCrypto.ciphers).join(', ')); // ChaChaPoly
 */
export const nobleCrypto: CryptoProvider = {
  sha256(...parts) {
    const hash = sha256.create();
    for (const part of parts) hash.update(part);
    return hash.digest();
  },
  hmacSha256(key, ...parts) {
    const mac = hmac.create(sha256, key);
    for (const part of parts) mac.update(part);
    return owned(mac.digest());
  },
  x25519: nobleX25519,
  ciphers: { ChaChaPoly: nobleChaChaPoly },
  blake2b: nobleBlake2b,
};
