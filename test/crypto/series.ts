/** Bytes for tests of cryptography, and OpenSSL to compare with. */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';

/** 1, 2, 3, … from a start. */
export function series(length: number, start = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => start + i);
}

export function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = copyBytes(bytes);
  copy[at]! ^= 1;
  return copy;
}

/** Asserts that a result is a plain Uint8Array with memory of its own. */
export function assertPlain(bytes: Uint8Array, length: number): void {
  assert.is(bytes.constructor, Uint8Array);
  assert.is(bytes.length, length);
  assert.is(bytes.buffer.byteLength, length);
}

/** ChaCha20-Poly1305 of OpenSSL: `nodeCrypto` has its own for short messages. */
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
