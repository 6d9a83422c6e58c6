/**
 * `hub-protocol/noble-aesgcm`: a CryptoProvider over noble with both ciphers, ChaChaPoly preferred. It is a separate
 * module because noble's AES builds about 640 KiB of tables when it is loaded.
 */
import { gcm } from '@noble/ciphers/aes.js';
import { TAG_LENGTH } from '../limits.ts';
import type { CipherFactory, CryptoProvider } from './crypto.ts';
import { nobleCrypto } from './noble.ts';

/** The message of noble's error for a tag that does not verify. Any other error is a fault. */
const INVALID_TAG = 'aes-gcm: invalid tag';

/** Uses the key array itself: wiping it leaves no copy. */
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

/**
 * noble with both suites, ChaChaPoly preferred: pure JavaScript, for any engine that has BigInt and 650 KB for the tables of
 * AES.
 *
 * @example
 * import { nobleCryptoWithAesGcm } from 'hub-protocol/noble-aesgcm';
 *
 * console.log(Object.keys(nobleCryptoWithAesGcm.ciphers).join(', ')); // ChaChaPoly, AESGCM
 */
export const nobleCryptoWithAesGcm: CryptoProvider = {
  ...nobleCrypto,
  ciphers: { ...nobleCrypto.ciphers, AESGCM: nobleAesGcm },
};
