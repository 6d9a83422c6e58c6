/** `hub-protocol/js`: the library's own CryptoProvider, for engines that compile JavaScript. */
import type { CryptoProvider } from './crypto.ts';
import { jsChaChaPoly } from './js-chachapoly.ts';
import { jsX25519 } from './js-x25519.ts';
import { hmacSha256, sha256 } from './sha256.ts';

/**
 * The library's own cryptography, for browsers, workers and React Native, with the suite `25519_ChaChaPoly_SHA256` only. It
 * needs neither packages nor BigInt. No branch and no index depends on a secret, so it takes constant time in engines that
 * compile JavaScript. It has no BLAKE2b, which deriving a PSK needs: add `nobleBlake2b` for that.
 *
 * @example
 * import { jsCrypto } from 'hub-protocol/js';
 *
 * console.log(Object.keys(jsCrypto.ciphers).join(', ')); // ChaChaPoly
 */
export const jsCrypto: CryptoProvider = {
  sha256,
  hmacSha256,
  x25519: jsX25519,
  ciphers: { ChaChaPoly: jsChaChaPoly },
};
