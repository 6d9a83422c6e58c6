/**
 * `hub-protocol/noble-aesgcm`: noble's crypto with both ciphers, ChaChaPoly preferred. A module of its own, since
 * noble's AES builds about 640 KiB of tables when it is loaded.
 */
import { gcm } from '@noble/ciphers/aes.js';
import { TAG_LENGTH } from '../limits.ts';
import type { CipherFactory, Crypto } from './crypto.ts';
import { nobleCrypto } from './noble.ts';

/** How noble says that a tag does not verify; anything else it throws is a fault. */
const INVALID_TAG = 'aes-gcm: invalid tag';

/** The key is used in place, so wiping it wipes all there is. */
const nobleAesGcm: CipherFactory = (key) => ({
  seal: (nonce, associatedData, plaintext) => gcm(key, nonce, associatedData).encrypt(plaintext),
  open(nonce, associatedData, sealed) {
    if (sealed.length < TAG_LENGTH) return undefined;
    try {
      return gcm(key, nonce, associatedData).decrypt(sealed);
    } catch (error) {
      if ((error as Error).message === INVALID_TAG) return undefined;
      throw error;
    }
  },
});

export const nobleCryptoWithAesGcm: Crypto = {
  ...nobleCrypto,
  ciphers: { ...nobleCrypto.ciphers, AESGCM: nobleAesGcm },
};
