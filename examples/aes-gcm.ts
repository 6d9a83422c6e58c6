/**
 * AESGCM for a device whose hub has no ChaChaPoly and whose chip has no AES. `@stablelib/gcm` takes 17 KB of XS heap, while
 * noble's AES builds 650 KB of tables when it is loaded. Its table look-ups depend on the key and the plaintext, so it does
 * not run in constant time on processors with a data cache. Inject it alongside ChaChaPoly, or instead of it:
 *
 *     crypto: { ...nobleCrypto, ciphers: { AESGCM: compactAesGcm } }
 */
import { AES } from '@stablelib/aes';
import { GCM } from '@stablelib/gcm';
import type { CipherFactory } from 'hub-protocol';

/** Uses the key in place. The key schedule is wiped after each message. */
export const compactAesGcm: CipherFactory = (key) => {
  function run<Result>(work: (gcm: GCM) => Result): Result {
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
      run((gcm) => gcm.open(nonce, sealed, associatedData)) ?? undefined, // null if the tag does not verify
  };
};
