/**
 * Cryptography without BigInt, in place of an integrator's native code, for engines without BigInt. X25519 is looked up,
 * since such an engine needs a second to compute it. Not constant-time: for tests only.
 */
import { bytesToHex, concatBytes, equalBytes, hexToBytes } from '../../src/bytes.ts';
import type { Cipher, CryptoProvider } from '../../src/crypto/crypto.ts';
import { sha256 } from '../../src/crypto/sha256.ts';

/** Recorded results of X25519 in hex, by their inputs. */
export type X25519Results = { readonly [inputs: string]: string };

/** The inputs of a result: a private key alone for its public key, both keys for a shared secret. */
export function inputsOf(privateKey: Uint8Array, publicKey?: Uint8Array): string {
  return bytesToHex(privateKey) + (publicKey === undefined ? '' : bytesToHex(publicKey));
}

export function plainCrypto(results: X25519Results): CryptoProvider {
  function lookUp(inputs: string): Uint8Array {
    const result = results[inputs];
    if (result === undefined) throw new Error('no result of X25519 was recorded for these keys');
    return hexToBytes(result)!;
  }
  return {
    sha256: (...parts) => sha256(concatBytes(parts)),
    hmacSha256: (key, ...parts) => hmac(key, concatBytes(parts)),
    x25519: {
      publicKey: (privateKey) => lookUp(inputsOf(privateKey)),
      sharedSecret: (privateKey, publicKey) => lookUp(inputsOf(privateKey, publicKey)),
    },
    ciphers: { ChaChaPoly: chaChaPoly },
  };
}

/** HMAC-SHA-256 (RFC 2104), for keys of at most 64 bytes. */
function hmac(key: Uint8Array, message: Uint8Array): Uint8Array {
  const pad = (value: number): Uint8Array => {
    const block = new Uint8Array(64);
    for (let i = 0; i < 64; i++) block[i] = value ^ (i < key.length ? key[i]! : 0);
    return block;
  };
  return sha256(concatBytes([pad(0x5c), sha256(concatBytes([pad(0x36), message]))]));
}

/** ChaCha20-Poly1305 (RFC 8439, section 2.8). */
function chaChaPoly(key: Uint8Array): Cipher {
  function tagOf(nonce: Uint8Array, associatedData: Uint8Array, ciphertext: Uint8Array): Uint8Array {
    const padded = (bytes: Uint8Array): Uint8Array => new Uint8Array(-bytes.length & 15);
    const lengths = new Uint8Array(16);
    for (let i = 0; i < 4; i++) {
      lengths[i] = associatedData.length >> (8 * i);
      lengths[8 + i] = ciphertext.length >> (8 * i);
    }
    return poly1305(
      xorKeyStream(key, nonce, 0, new Uint8Array(32)),
      concatBytes([associatedData, padded(associatedData), ciphertext, padded(ciphertext), lengths]),
    );
  }
  return {
    seal(nonce, associatedData, plaintext) {
      const ciphertext = xorKeyStream(key, nonce, 1, plaintext);
      return concatBytes([ciphertext, tagOf(nonce, associatedData, ciphertext)]);
    },
    open(nonce, associatedData, sealed) {
      const ciphertext = sealed.subarray(0, sealed.length - 16);
      const tag = sealed.subarray(sealed.length - 16);
      if (!equalBytes(tag, tagOf(nonce, associatedData, ciphertext))) return undefined;
      return xorKeyStream(key, nonce, 1, ciphertext);
    },
  };
}

function readWord(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** ChaCha20 (RFC 8439, sections 2.3 and 2.4). */
function xorKeyStream(key: Uint8Array, nonce: Uint8Array, counter: number, text: Uint8Array): Uint8Array {
  const start = new Int32Array(16);
  start.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let i = 0; i < 8; i++) start[4 + i] = readWord(key, 4 * i);
  for (let i = 0; i < 3; i++) start[13 + i] = readWord(nonce, 4 * i);
  const output = new Uint8Array(text.length);
  const words = new Int32Array(16);
  for (let at = 0; at < text.length; at += 64) {
    start[12] = counter++;
    words.set(start);
    for (let round = 0; round < 10; round++) {
      for (let i = 0; i < 4; i++) quarterRound(words, i, 4 + i, 8 + i, 12 + i);
      for (let i = 0; i < 4; i++)
        quarterRound(words, i, 4 + ((i + 1) & 3), 8 + ((i + 2) & 3), 12 + ((i + 3) & 3));
    }
    for (let i = 0; i < 64 && at + i < text.length; i++) {
      output[at + i] = text[at + i]! ^ ((words[i >> 2]! + start[i >> 2]!) >>> (8 * (i & 3)));
    }
  }
  return output;
}

/** RFC 8439, section 2.1. */
function quarterRound(words: Int32Array, a: number, b: number, c: number, d: number): void {
  words[a]! += words[b]!;
  words[d] = rotate(words[d]! ^ words[a]!, 16);
  words[c]! += words[d]!;
  words[b] = rotate(words[b]! ^ words[c]!, 12);
  words[a]! += words[b]!;
  words[d] = rotate(words[d]! ^ words[a]!, 8);
  words[c]! += words[d]!;
  words[b] = rotate(words[b]! ^ words[c]!, 7);
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

/** Poly1305 (RFC 8439, section 2.5), with numbers of 17 bytes, the lowest first. */
function poly1305(key: Uint8Array, message: Uint8Array): Uint8Array {
  const r: number[] = [];
  for (let i = 0; i < 17; i++) r.push(i < 16 ? key[i]! & CLAMP[i]! : 0);
  let sum: number[] = r.map(() => 0);
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16);
    for (let i = 0; i < block.length; i++) sum[i]! += block[i]!;
    sum[block.length]! += 1;
    sum = multiplied(sum, r);
  }
  // Modulo 2^130 - 5: a number that is at least that has bit 130 set once 5 is added.
  sum = carried(sum);
  const above = carried(
    sum.map((byte, i) => byte + (i === 0 ? 5 : 0)),
    false,
  );
  if (above[16]! >= 4) sum = above;
  const tag = new Uint8Array(16);
  let carry = 0;
  for (let i = 0; i < 16; i++) {
    carry += sum[i]! + key[16 + i]!;
    tag[i] = carry;
    carry >>= 8;
  }
  return tag;
}

const CLAMP = [255, 255, 255, 15, 252, 255, 255, 15, 252, 255, 255, 15, 252, 255, 255, 15];

function multiplied(a: number[], b: number[]): number[] {
  const product: number[] = [];
  for (let i = 0; i < 17; i++) {
    let sum = 0;
    // 2^136 is congruent to 5 * 2^6.
    for (let j = 0; j < 17; j++) sum += j <= i ? a[j]! * b[i - j]! : 320 * a[j]! * b[i + 17 - j]!;
    product.push(sum);
  }
  return carried(carried(product));
}

/** Propagates carries, so that every digit is a byte, and unless told otherwise folds the bits from 130 on back, times 5. */
function carried(digits: number[], reduces = true): number[] {
  const bytes: number[] = [];
  let carry = 0;
  for (let i = 0; i < 17; i++) {
    carry += digits[i]!;
    bytes.push(i < 16 ? carry & 255 : carry);
    carry = Math.floor(carry / 256);
  }
  if (!reduces) return bytes;
  carry = 5 * (bytes[16]! >> 2);
  bytes[16]! &= 3;
  for (let i = 0; carry > 0; i++) {
    carry += bytes[i]!;
    bytes[i] = carry & 255;
    carry >>= 8;
  }
  return bytes;
}
