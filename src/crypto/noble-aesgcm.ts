/**
 * `hub-protocol/noble-aesgcm`: noble's crypto with both ciphers, ChaChaPoly preferred. A module of its own, since
 * noble's AES builds about 640 KiB of tables when it is loaded.
 */
import { gcm } from '@noble/ciphers/aes.js';
import { RemoteError } from '../errors.ts';
import type { CipherFactory, Crypto } from './crypto.ts';
import { nobleCrypto } from './noble.ts';

/** The key is used in place, so wiping it wipes all there is. */
const nobleAesGcm: CipherFactory = (key) => ({
  seal: (nonce, associatedData, plaintext) => gcm(key, nonce, associatedData).encrypt(plaintext),
  open(nonce, associatedData, sealed) {
    try {
      return gcm(key, nonce, associatedData).decrypt(sealed);
    } catch {
      throw new RemoteError('not-authentic', 'a sealed text that does not open');
    }
  },
});

export const nobleCryptoWithAesGcm: Crypto = {
  ...nobleCrypto,
  ciphers: { ...nobleCrypto.ciphers, AESGCM: nobleAesGcm },
};
