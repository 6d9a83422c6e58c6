/**
 * ChaCha20-Poly1305 (RFC 8439, section 2.8) with noble's Poly1305. noble's own composition copies the message to authenticate
 * it, and decrypts it into new memory: a transport message would take a device three times 65 KB.
 */
import { Poly1305 } from '@noble/ciphers/_poly1305.js';
import { equalBytes, wipe } from '../bytes.ts';
import { KEY_LENGTH, TAG_LENGTH } from '../limits.ts';
import type { CipherFactory } from './crypto.ts';
import { chacha20 } from './noble-chacha20.ts';

/** How many bytes Poly1305 is given at a time, since it copies them: a multiple of its block of 16. */
const PIECE = 1024;

/** Authenticates bytes, padded with zeros to a multiple of 16. */
function updatePadded(mac: Poly1305, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE) {
    mac.update(bytes.subarray(at, Math.min(at + PIECE, bytes.length)));
  }
  mac.update(new Uint8Array(-bytes.length & 15));
}

function tagOf(
  key: Uint8Array,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  ciphertext: Uint8Array,
): Uint8Array {
  const oneTimeKey = new Uint8Array(KEY_LENGTH);
  chacha20(key, nonce, 0, oneTimeKey, oneTimeKey);
  const mac = new Poly1305(oneTimeKey);
  wipe(oneTimeKey);
  updatePadded(mac, associatedData);
  updatePadded(mac, ciphertext);
  const lengths = new Uint8Array(16); // two little-endian numbers of 64 bits
  for (let i = 0; i < 4; i++) {
    lengths[i] = associatedData.length >>> (8 * i);
    lengths[8 + i] = ciphertext.length >>> (8 * i);
  }
  return mac.update(lengths).digest();
}

/** The key array is used directly, so that wiping it leaves no copy. */
export const nobleChaChaPoly: CipherFactory = (key) => {
  /** The ciphertext, if its tag verifies. */
  function verified(
    nonce: Uint8Array,
    associatedData: Uint8Array,
    sealed: Uint8Array,
  ): Uint8Array | undefined {
    const ciphertext = sealed.subarray(0, -TAG_LENGTH);
    const tag = tagOf(key, nonce, associatedData, ciphertext);
    return equalBytes(tag, sealed.subarray(-TAG_LENGTH)) ? ciphertext : undefined;
  }
  /** Encrypts or decrypts, which is the same operation, into an array that may be the input. */
  const xor = (nonce: Uint8Array, input: Uint8Array, output: Uint8Array): Uint8Array =>
    chacha20(key, nonce, 1, input, output);
  /** Encrypts, and appends the tag. */
  function sealInto(
    sealed: Uint8Array,
    nonce: Uint8Array,
    associatedData: Uint8Array,
    plaintext: Uint8Array,
  ): void {
    const ciphertext = xor(nonce, plaintext, sealed.subarray(0, plaintext.length));
    sealed.set(tagOf(key, nonce, associatedData, ciphertext), plaintext.length);
  }
  return {
    seal(nonce, associatedData, plaintext) {
      const sealed = new Uint8Array(plaintext.length + TAG_LENGTH);
      sealInto(sealed, nonce, associatedData, plaintext);
      return sealed;
    },
    sealInPlace(nonce, associatedData, buffer) {
      sealInto(buffer, nonce, associatedData, buffer.subarray(0, buffer.length - TAG_LENGTH));
    },
    open(nonce, associatedData, sealed) {
      const ciphertext = verified(nonce, associatedData, sealed);
      return ciphertext && xor(nonce, ciphertext, new Uint8Array(ciphertext.length));
    },
    openInPlace(nonce, associatedData, sealed) {
      const ciphertext = verified(nonce, associatedData, sealed);
      return ciphertext && xor(nonce, ciphertext, ciphertext);
    },
  };
};
