/**
 * `hub-protocol/noble-aesgcm`: noble's crypto with both ciphers, ChaChaPoly preferred. A module of its own, since
 * noble's AES builds about 640 KiB of tables when it is loaded.
 */
import { gcm } from '@noble/ciphers/aes.js';
import type { Crypto } from './crypto.ts';
import { nobleCrypto } from './noble.ts';
import { nobleCipher } from './noble-cipher.ts';

export const nobleCryptoWithAesGcm: Crypto = {
  ...nobleCrypto,
  ciphers: { ...nobleCrypto.ciphers, AESGCM: /* @__PURE__ */ nobleCipher(gcm) },
};
