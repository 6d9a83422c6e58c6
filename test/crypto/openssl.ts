/** ChaCha20-Poly1305 of OpenSSL, beside which the library's own is compared: `nodeCrypto` has its own for short messages. */
import { createCipheriv, createDecipheriv } from 'node:crypto';

const NAME = 'chacha20-poly1305';
const OPTIONS = { authTagLength: 16 };

export function openSslSeal(
  key: Uint8Array,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  const cipher = createCipheriv(NAME, key, nonce, OPTIONS);
  cipher.setAAD(associatedData, { plaintextLength: plaintext.length });
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

export function openSslOpen(
  key: Uint8Array,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  sealed: Uint8Array,
): Uint8Array {
  const decipher = createDecipheriv(NAME, key, nonce, OPTIONS);
  decipher.setAAD(associatedData, { plaintextLength: sealed.length - 16 });
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
}
