/**
 * AESGCM for a device whose hub has no ChaChaPoly and whose chip has no AES: `@stablelib/gcm` takes 17 KB of XS heap, where
 * noble's AES builds 650 KB of tables when it is loaded. Its tables are looked up by the key and the text, so it is not
 * constant-time where memory is cached. Inject it beside, or instead of, ChaChaPoly:
 *
 *     crypto: { ...nobleCrypto, ciphers: { AESGCM: compactAesGcm } }
 */
import { AES } from '@stablelib/aes';
import { GCM } from '@stablelib/gcm';
import type { CipherFactory } from 'hub-protocol';

/** The key is used in place; what AES makes of it is wiped after each message. */
export const compactAesGcm: CipherFactory = (key) => {
  function run<Answer>(work: (gcm: GCM) => Answer): Answer {
    const aes = new AES(key, true);
    const gcm = new GCM(aes);
    try {
      return work(gcm);
    } finally {
      gcm.clean();
      aes.clean();
    }
  }
  return {
    seal: (nonce, associatedData, plaintext) => run((gcm) => gcm.seal(nonce, plaintext, associatedData)),
    open: (nonce, associatedData, sealed) =>
      run((gcm) => gcm.open(nonce, sealed, associatedData)) ?? undefined, // null where the tag does not verify
  };
};
