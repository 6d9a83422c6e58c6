/**
 * ChaCha20-Poly1305 (RFC 8439, section 2.8) for `dist/hub-protocol.js`, with BigInt for Poly1305: noble's would take 12 KB more
 * of a device's heap, and three times as long there.
 *
 * Like all arithmetic with BigInt, Poly1305 is not constant-time here: a number with zeros on top is shorter. Its key is used
 * for one message.
 */
import { equalBytes, wipe } from '../bytes.ts';
import { hideFields } from '../hide-fields.ts';
import { TAG_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import type { Cipher, CipherFactory } from './crypto.ts';
import { type ChaCha20, chacha20, type Keystream, viewOf } from './device-chacha20.ts';

/** Of ChaCha20, in bytes. */
const BLOCK = 64;
/** Of Poly1305. */
export const PIECE = 16;

/** The mask for r (section 2.5). */
const CLAMP = 0x0ffffffc0ffffffc0ffffffc0fffffffn;
const LOW_130 = (1n << 130n) - 1n;
const P = LOW_130 - 4n;
const SIGN = 1 << 31;
/** Undoes the flipped signs of four words. */
const SIGNS = 0x80000000_80000000_80000000_80000000n;

/**
 * Reads 16 bytes. A word with its sign flipped is less than 2^31, so XS need not compute in floating point. It has getBigUint64
 * too, which on some microcontrollers reads 4 bytes of the 8.
 */
export function pieceAt(view: DataView, at: number): bigint {
  let piece = 0n;
  for (let i = 12; i >= 0; i -= 4) piece = (piece << 32n) + BigInt(view.getInt32(at + i, true) ^ SIGN);
  return piece + SIGNS;
}

/** Poly1305 of the next 16 bytes (section 2.5.1). */
function absorbPiece(sum: bigint, r: bigint, view: DataView, at: number): bigint {
  const product = (sum + pieceAt(view, at) + (1n << 128n)) * r;
  return (product & LOW_130) + 5n * (product >> 130n);
}

/** Poly1305 of bytes that are padded with zeros to a multiple of 16. */
function absorb(sum: bigint, r: bigint, bytes: Uint8Array): bigint {
  const view = viewOf(bytes);
  let at = 0;
  for (; at + PIECE <= bytes.length; at += PIECE) sum = absorbPiece(sum, r, view, at);
  if (at === bytes.length) return sum;
  const last = new Uint8Array(PIECE);
  last.set(bytes.subarray(at));
  return absorbPiece(sum, r, viewOf(last), 0);
}

/** One message: the keystream after its first block, which is the key of Poly1305. */
interface Message {
  readonly stream: Keystream;
  readonly r: bigint;
  readonly s: bigint;
}

function tagOf({ r, s }: Message, associatedData: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  const tag = new Uint8Array(TAG_LENGTH);
  const view = viewOf(tag);
  view.setInt32(0, associatedData.length, true);
  view.setInt32(8, ciphertext.length, true);
  let sum = absorb(0n, r, associatedData);
  sum = absorb(sum, r, ciphertext);
  sum = absorbPiece(sum, r, view, 0);
  const total = (sum % P) + s;
  view.setBigUint64(0, total, true); // which takes the lowest 64 bits
  view.setBigUint64(8, total >> 64n, true);
  return tag;
}

/** Encrypts or decrypts in place, which is the same operation. */
function xor({ stream }: Message, bytes: Uint8Array): void {
  const keys = new Uint8Array(BLOCK);
  const keyView = viewOf(keys);
  const view = viewOf(bytes);
  for (let start = 0; start < bytes.length; start += BLOCK) {
    stream(keyView);
    const end = Math.min(start + BLOCK, bytes.length);
    let at = start;
    for (; at + 4 <= end; at += 4) {
      view.setInt32(at, view.getInt32(at, true) ^ keyView.getInt32(at - start, true), true);
    }
    for (; at < end; at++) bytes[at]! ^= keys[at - start]!;
  }
  wipe(keys);
}

/** A class, since a device has its methods in flash: closures for each key would be in RAM. */
class ChaChaPoly implements Cipher {
  private readonly chacha: ChaCha20;
  private readonly key: Uint8Array;

  constructor(chacha: ChaCha20, key: Uint8Array) {
    this.chacha = chacha;
    this.key = key;
    hideFields(this);
  }

  seal(nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array {
    const sealed = new Uint8Array(plaintext.length + TAG_LENGTH);
    sealed.set(plaintext);
    this.sealInPlace(nonce, associatedData, sealed);
    return sealed;
  }

  sealInPlace(nonce: Uint8Array, associatedData: Uint8Array, buffer: Uint8Array): void {
    const text = buffer.subarray(0, -TAG_LENGTH);
    const message = this.begin(nonce, text.length);
    xor(message, text);
    buffer.set(tagOf(message, associatedData, text), text.length);
  }

  open(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    return this.openInPlace(nonce, associatedData, sealed, true);
  }

  /** @param isCopied - whether the plaintext has memory of its own instead */
  openInPlace(
    nonce: Uint8Array,
    associatedData: Uint8Array,
    sealed: Uint8Array,
    isCopied?: boolean,
  ): Uint8Array | undefined {
    const ciphertext = sealed.subarray(0, -TAG_LENGTH);
    const message = this.begin(nonce, ciphertext.length);
    const tag = tagOf(message, associatedData, ciphertext);
    if (!equalBytes(tag, sealed.subarray(-TAG_LENGTH))) return undefined;
    const plaintext = isCopied ? new Uint8Array(ciphertext) : ciphertext;
    xor(message, plaintext);
    return plaintext;
  }

  private begin(nonce: Uint8Array, length: number): Message {
    const stream = this.chacha(this.key, nonce, 1 + Math.ceil(length / BLOCK));
    const block = new Uint8Array(BLOCK);
    const view = viewOf(block);
    stream(view);
    const message = { stream, r: pieceAt(view, 0) & CLAMP, s: pieceAt(view, PIECE) };
    wipe(block);
    return message;
  }
}
opaque(ChaChaPoly.prototype, 'ChaChaPoly');

/**
 * Makes the cipher of a keystream. The key array is used directly, and copied only into BigInts, which cannot be wiped.
 */
export const chaChaPolyOf =
  (chacha: ChaCha20): CipherFactory =>
  (key) =>
    new ChaChaPoly(chacha, key);

export const deviceChaChaPoly: CipherFactory = chaChaPolyOf(chacha20);
