/** noble's AEADs behind the CipherFactory of the Crypto interface. */
import { RemoteError } from '../errors.ts';
import type { CipherFactory } from './crypto.ts';

/** What noble's AEADs have in common. */
type NobleAead = (
  key: Uint8Array,
  nonce: Uint8Array,
  associatedData?: Uint8Array,
) => {
  encrypt(plaintext: Uint8Array): Uint8Array;
  decrypt(sealed: Uint8Array): Uint8Array;
};

/** A CipherFactory over one of noble's AEADs. The key is used in place, so wiping it wipes all there is. */
export function nobleCipher(aead: NobleAead): CipherFactory {
  return (key) => ({
    seal: (nonce, associatedData, plaintext) => aead(key, nonce, associatedData).encrypt(plaintext),
    open(nonce, associatedData, sealed) {
      try {
        return aead(key, nonce, associatedData).decrypt(sealed);
      } catch {
        throw new RemoteError('not-authentic', 'a sealed text that does not open');
      }
    },
  });
}
