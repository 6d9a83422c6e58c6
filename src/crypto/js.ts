/**
 * `hub-protocol/js`: the Crypto interface in JavaScript without packages, without BigInt, and, where engines compile it, in
 * constant time.
 */
import type { Crypto } from './crypto.ts';
import { hash, hmacSha256 } from './hmac-sha256.ts';
import { jsChaChaPoly } from './js-chachapoly.ts';
import { jsX25519 } from './js-x25519.ts';

/**
 * The library's own cryptography, for browsers, Deno, workers and React Native: the suite `25519_ChaChaPoly_SHA256` only.
 * It needs neither packages nor BigInt. No branch and no index depends on a secret, so it takes constant time in
 * engines that compile JavaScript. It has no BLAKE2b: to derive a PSK, add `blake2b: nobleBlake2b`.
 *
 * @example
 * import { jsCrypto } from 'hub-protocol/js';
 *
 * console.log(Object.keys(jsCrypto.ciphers).join(', ')); // ChaChaPoly
 */
export const jsCrypto: Crypto = {
  sha256: (...parts) => hash(parts),
  hmacSha256: (key, ...parts) => hmacSha256(key, parts),
  x25519: jsX25519,
  ciphers: { ChaChaPoly: jsChaChaPoly },
};
