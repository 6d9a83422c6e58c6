/**
 * ChaCha20-Poly1305 (RFC 8439, section 2.8) for `jsCrypto`, and for the short messages of `nodeCrypto`. It allocates its
 * result, and two views for a message of a block or more.
 */
import { clear } from '../bytes.ts';
import { TAG_LENGTH } from '../limits.ts';
import { applyKeystream, block, endKeystream, startKeystream } from './chacha20.ts';
import type { CipherFactory } from './crypto.ts';
import { endMac, finishMac, startMac, updateMac, updateMacWithLengths } from './js-poly1305.ts';

const tag = new Uint8Array(TAG_LENGTH);

/** Computes the tag of a ciphertext: its key is in the first block of the keystream. */
function computeTag(associatedData: Uint8Array, ciphertext: Uint8Array, length: number): void {
  updateMac(associatedData, associatedData.length);
  updateMac(ciphertext, length);
  updateMacWithLengths(associatedData.length, length);
  finishMac(tag);
}

/** Ends a message, also one in which memory has ended: wipes what all messages share. */
function end(): void {
  endKeystream();
  endMac();
  clear(tag);
}

/**
 * Encrypts, and appends the tag.
 * @param sealed - 16 bytes longer than the plaintext, which may be at its beginning
 */
export function sealChaChaPoly(
  key: Uint8Array,
  sealed: Uint8Array,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  plaintext: Uint8Array,
): void {
  const length = sealed.length - TAG_LENGTH;
  try {
    startKeystream(key, nonce);
    startMac(block);
    applyKeystream(plaintext, length, sealed);
    computeTag(associatedData, sealed, length);
    sealed.set(tag, length);
  } finally {
    end();
  }
}

/** Decrypts, in place or into a new array, if the tag verifies. */
export function openChaChaPoly(
  key: Uint8Array,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  sealed: Uint8Array,
  isInPlace: boolean,
): Uint8Array | undefined {
  const length = sealed.length - TAG_LENGTH;
  if (length < 0) return undefined;
  try {
    startKeystream(key, nonce);
    startMac(block);
    computeTag(associatedData, sealed, length);
    let difference = 0;
    for (let i = 0; i < TAG_LENGTH; i++) difference |= tag[i]! ^ sealed[length + i]!;
    if (difference !== 0) return undefined;
    const plaintext = isInPlace ? sealed.subarray(0, length) : new Uint8Array(length);
    applyKeystream(sealed, length, plaintext);
    return plaintext;
  } finally {
    end();
  }
}

/** Uses the key array itself: wiping it leaves no copy. */
export const jsChaChaPoly: CipherFactory = (key) => ({
  seal(nonce, associatedData, plaintext) {
    const sealed = new Uint8Array(plaintext.length + TAG_LENGTH);
    sealChaChaPoly(key, sealed, nonce, associatedData, plaintext);
    return sealed;
  },
  sealInPlace: (nonce, associatedData, buffer) => sealChaChaPoly(key, buffer, nonce, associatedData, buffer),
  open: (nonce, associatedData, sealed) => openChaChaPoly(key, nonce, associatedData, sealed, false),
  openInPlace: (nonce, associatedData, sealed) => openChaChaPoly(key, nonce, associatedData, sealed, true),
});
