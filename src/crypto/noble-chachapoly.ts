/**
 * ChaCha20-Poly1305 (RFC 8439, section 2.8) with noble's Poly1305. noble's own composition copies the message to authenticate
 * it, and decrypts it into new memory: a transport message would take a device three times 65 KB.
 */
import { Poly1305 } from '@noble/ciphers/_poly1305.js';
import { equalBytes } from '../bytes.ts';
import { KEY_LENGTH, TAG_LENGTH } from '../limits.ts';
import { applyKeystream, block, endKeystream, startKeystream } from './chacha20.ts';
import type { CipherFactory } from './crypto.ts';

/** How many bytes are passed to Poly1305 at a time, since it copies them: a multiple of its block of 16. */
const PIECE = 1024;

/** Authenticates bytes, padded with zeros to a multiple of 16. */
function updatePadded(mac: Poly1305, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE) {
    mac.update(bytes.subarray(at, Math.min(at + PIECE, bytes.length)));
  }
  mac.update(new Uint8Array(-bytes.length & 15));
}

/** The tag of a ciphertext, whose key is the first block of the keystream. */
function tagOf(associatedData: Uint8Array, ciphertext: Uint8Array, mac: Poly1305): Uint8Array {
  updatePadded(mac, associatedData);
  updatePadded(mac, ciphertext);
  const lengths = new Uint8Array(16); // two little-endian numbers of 64 bits
  for (let i = 0; i < 4; i++) {
    lengths[i] = associatedData.length >>> (8 * i);
    lengths[8 + i] = ciphertext.length >>> (8 * i);
  }
  return mac.update(lengths).digest();
}

/** Uses the key array itself: wiping it leaves no copy. */
export const nobleChaChaPoly: CipherFactory = (key) => {
  /** Begins the keystream of a message, and its tag. */
  function start(nonce: Uint8Array): Poly1305 {
    startKeystream(key, nonce);
    return new Poly1305(block.subarray(0, KEY_LENGTH));
  }
  /** Encrypts, and appends the tag. */
  function sealInto(
    sealed: Uint8Array,
    nonce: Uint8Array,
    associatedData: Uint8Array,
    plaintext: Uint8Array,
  ): void {
    const ciphertext = sealed.subarray(0, sealed.length - TAG_LENGTH);
    const mac = start(nonce);
    applyKeystream(plaintext, ciphertext.length, ciphertext);
    endKeystream();
    sealed.set(tagOf(associatedData, ciphertext, mac), ciphertext.length);
  }
  /** Decrypts in place, or a copy, if the tag verifies. */
  function openTo(
    isInPlace: boolean,
    nonce: Uint8Array,
    associatedData: Uint8Array,
    sealed: Uint8Array,
  ): Uint8Array | undefined {
    const ciphertext = sealed.subarray(0, -TAG_LENGTH);
    const tag = tagOf(associatedData, ciphertext, start(nonce));
    let plaintext: Uint8Array | undefined;
    if (equalBytes(tag, sealed.subarray(-TAG_LENGTH))) {
      plaintext = isInPlace ? ciphertext : new Uint8Array(ciphertext.length);
      applyKeystream(ciphertext, ciphertext.length, plaintext);
    }
    endKeystream();
    return plaintext;
  }
  return {
    seal(nonce, associatedData, plaintext) {
      const sealed = new Uint8Array(plaintext.length + TAG_LENGTH);
      sealInto(sealed, nonce, associatedData, plaintext);
      return sealed;
    },
    sealInPlace(nonce, associatedData, buffer) {
      sealInto(buffer, nonce, associatedData, buffer);
    },
    open: (nonce, associatedData, sealed) => openTo(false, nonce, associatedData, sealed),
    openInPlace: (nonce, associatedData, sealed) => openTo(true, nonce, associatedData, sealed),
  };
};
