/**
 * Cryptography without any strength, for searches that need millions of handshakes. It keeps what the protocol rests on:
 * both sides compute the same shared secret, zeros are of low order, the same input has the same hash, and a ciphertext
 * opens only with its key, nonce and associated data. Everything is deterministic, and a handshake takes microseconds.
 *
 * What it returns are objects with fields and no closures, so that a session which uses it can be copied.
 */

import type { Cipher } from '../../src/crypto/crypto.ts';
import type { CryptoProvider } from '../../src/index.ts';
import type { KeyPair } from '../../src/parts.ts';

const KEY_LENGTH = 32;
const TAG_LENGTH = 16;
const LANES = 8;

/** Whether all of it throws, as a secure element does that has come loose. */
export const outOfOrder = { now: false };

function work(): void {
  if (outOfOrder.now) throw new Error('out of order');
}

/** The state of a hash: 64 bits, in two halves that mix with each other. */
class Hash {
  #a = 0x9e3779b9 | 0;
  #b = 0x85ebca6b | 0;

  add(bytes: Uint8Array): this {
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < bytes.length; i++) {
      a = Math.imul(a ^ bytes[i]!, 0x01000193);
      b = Math.imul(b + a, 0x85ebca77) ^ (b >>> 13);
    }
    this.#a = a;
    this.#b = b;
    return this;
  }

  /** Ends a part, so that the parts of two inputs cannot be told apart only by their sum. */
  mark(): this {
    this.#a = Math.imul(this.#a ^ 0x1ff, 0x01000193);
    this.#b = Math.imul(this.#b + this.#a, 0x85ebca77);
    return this;
  }

  digest(length: number): Uint8Array {
    work();
    const result = new Uint8Array(length);
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < length; i += 4) {
      a = Math.imul(a ^ (b >>> 15), 0x2c1b3c6d) + i;
      b = Math.imul(b ^ (a >>> 12), 0x297a2d39);
      const word = a ^ (b >>> 14);
      result[i] = word;
      result[i + 1] = word >>> 8;
      result[i + 2] = word >>> 16;
      result[i + 3] = word >>> 24;
    }
    return result;
  }
}

/** Multiplies two numbers of eight lanes of 32 bits, lane by lane: a product does not depend on the order of its factors. */
function multiply(a: Uint8Array, b: Uint8Array): Uint8Array {
  work();
  const product = new Uint8Array(KEY_LENGTH);
  for (let lane = 0; lane < LANES; lane++) {
    const at = lane * 4;
    const value = Math.imul(wordAt(a, at), wordAt(b, at));
    product[at] = value;
    product[at + 1] = value >>> 8;
    product[at + 2] = value >>> 16;
    product[at + 3] = value >>> 24;
  }
  return product;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

const GENERATOR = new Hash().digest(KEY_LENGTH).map((byte, i) => (i % 4 === 0 ? byte | 1 : byte));

class ToyKeyPair implements KeyPair {
  readonly privateKey: Uint8Array;

  constructor(privateKey: Uint8Array) {
    this.privateKey = privateKey;
  }

  get publicKey(): Uint8Array {
    return multiply(GENERATOR, this.privateKey);
  }

  sharedSecret(publicKey: Uint8Array): Uint8Array {
    return multiply(this.privateKey, publicKey);
  }
}

class ToyCipher implements Cipher {
  readonly key: Uint8Array;

  constructor(key: Uint8Array) {
    this.key = key;
  }

  seal(nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array {
    const sealed = new Uint8Array(plaintext.length + TAG_LENGTH);
    cover(this.key, nonce, plaintext, sealed);
    sealed.set(tagOf(this.key, nonce, associatedData, plaintext), plaintext.length);
    return sealed;
  }

  open(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    const length = sealed.length - TAG_LENGTH;
    const plaintext = new Uint8Array(length);
    cover(this.key, nonce, sealed.subarray(0, length), plaintext);
    const tag = tagOf(this.key, nonce, associatedData, plaintext);
    for (let i = 0; i < TAG_LENGTH; i++) if (sealed[length + i] !== tag[i]) return undefined;
    return plaintext;
  }
}

/** Encrypts and decrypts. */
function cover(key: Uint8Array, nonce: Uint8Array, input: Uint8Array, output: Uint8Array): void {
  const pad = new Hash().add(key).add(nonce).digest(KEY_LENGTH);
  for (let i = 0; i < input.length; i++) output[i] = input[i]! ^ pad[i % KEY_LENGTH]!;
}

function tagOf(
  key: Uint8Array,
  nonce: Uint8Array,
  associatedData: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  return new Hash().add(key).add(nonce).mark().add(associatedData).mark().add(plaintext).digest(TAG_LENGTH);
}

export const toyCrypto: CryptoProvider = {
  sha256(...parts) {
    const hash = new Hash();
    for (const part of parts) hash.add(part);
    return hash.digest(KEY_LENGTH);
  },
  hmacSha256(key, ...parts) {
    const hash = new Hash().add(key).mark();
    for (const part of parts) hash.add(part);
    return hash.digest(KEY_LENGTH);
  },
  x25519: {
    publicKey: (privateKey) => multiply(GENERATOR, privateKey),
    sharedSecret: multiply,
    importKey: (privateKey) => new ToyKeyPair(privateKey),
  },
  ciphers: {
    ChaChaPoly: (key) => new ToyCipher(key),
    AESGCM: (key) => new ToyCipher(key),
  },
};
