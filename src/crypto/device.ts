/**
 * A CryptoProvider for `dist/hub-protocol.js`: all the library's own code, since noble's would take 40 KB more of a device's
 * heap. It lacks BLAKE2b, which only argon2id needs: no such device runs it.
 */
import type { CryptoProvider } from './crypto.ts';
import { deviceChaChaPoly } from './device-chachapoly.ts';
import { deviceX25519 } from './device-x25519.ts';
import { hmacSha256, sha256 } from './sha256.ts';

export const deviceCrypto: CryptoProvider = {
  sha256,
  hmacSha256,
  x25519: deviceX25519,
  ciphers: { ChaChaPoly: deviceChaChaPoly },
};
