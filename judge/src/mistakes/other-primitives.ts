/**
 * Primitives that are easily taken for the right ones, most of them with similar names in libsodium: ChaCha20-Poly1305 with a
 * nonce of 8 or of 24 bytes, HSalsa20, HMAC-SHA-512-256 and BLAKE2. Never use this to communicate.
 */
import { createCipheriv, createHash, createHmac } from 'node:crypto';
import { type Cipher, concatBytes, equalBytes, nodeCrypto } from '../protocol.ts';

const TAG = 16;
const WORD = 4;

function littleEndian(value: bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = Number((value >> BigInt(8 * i)) & 0xffn);
  return bytes;
}

function numberOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** The 16 bytes are the counter and the nonce, in any division. */
function chacha20(key: Uint8Array, counterAndNonce: Uint8Array, data: Uint8Array): Uint8Array {
  return new Uint8Array(createCipheriv('chacha20', key, counterAndNonce).update(data));
}

/** RFC 8439, section 2.5. */
function poly1305(key: Uint8Array, message: Uint8Array): Uint8Array {
  const prime = (1n << 130n) - 5n;
  const r = numberOf(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  let sum = 0n;
  for (let at = 0; at < message.length; at += 16) {
    const block = concatBytes([message.subarray(at, at + 16), Uint8Array.of(1)]);
    sum = ((sum + numberOf(block)) * r) % prime;
  }
  return littleEndian(sum + numberOf(key.subarray(16)), TAG);
}

/** ChaCha20-Poly1305 before RFC 8439: a nonce of 8 bytes, and no padding in what the tag covers. */
function originalCipher(key: Uint8Array): Cipher {
  const run = (block: number, nonce: Uint8Array, data: Uint8Array): Uint8Array =>
    chacha20(key, concatBytes([littleEndian(BigInt(block), 8), nonce.subarray(4)]), data);
  const tagOf = (nonce: Uint8Array, associatedData: Uint8Array, ciphertext: Uint8Array): Uint8Array => {
    const lengths = [associatedData, ciphertext].map(({ length }) => littleEndian(BigInt(length), 8));
    const covered = concatBytes([associatedData, lengths[0]!, ciphertext, lengths[1]!]);
    return poly1305(run(0, nonce, new Uint8Array(32)), covered);
  };
  return cipherOf(
    (nonce, _associatedData, data) => run(1, nonce, data),
    (nonce, associatedData, ciphertext) => tagOf(nonce, associatedData, ciphertext),
  );
}

/** A cipher that adds a keystream, and a tag of the ciphertext. */
function cipherOf(
  crypt: (nonce: Uint8Array, associatedData: Uint8Array, data: Uint8Array) => Uint8Array,
  tagOf: (nonce: Uint8Array, associatedData: Uint8Array, ciphertext: Uint8Array) => Uint8Array,
): Cipher {
  return {
    seal(nonce, associatedData, plaintext) {
      const ciphertext = crypt(nonce, associatedData, plaintext);
      return concatBytes([ciphertext, tagOf(nonce, associatedData, ciphertext)]);
    },
    open(nonce, associatedData, sealed) {
      const ciphertext = sealed.subarray(0, -TAG);
      const isRight = equalBytes(tagOf(nonce, associatedData, ciphertext), sealed.subarray(-TAG));
      return isRight ? crypt(nonce, associatedData, ciphertext) : undefined;
    },
  };
}

const SIGMA = new TextEncoder().encode('expand 32-byte k');

/** HChaCha20: the words that a block of ChaCha20 has before the first state is added, which is subtracted here. */
function hchacha20(key: Uint8Array, input: Uint8Array): Uint8Array {
  const block = chacha20(key, input, new Uint8Array(64));
  const wordAt = (bytes: Uint8Array, at: number): bigint => numberOf(bytes.subarray(at, at + WORD));
  const words = (from: number, first: Uint8Array): Uint8Array[] =>
    [0, 1, 2, 3].map((index) => {
      const difference = wordAt(block, from + WORD * index) - wordAt(first, WORD * index);
      return littleEndian(BigInt.asUintN(32, difference), WORD);
    });
  return concatBytes([...words(0, SIGMA), ...words(48, input)]);
}

/** XChaCha20-Poly1305, whose nonce has 24 bytes: the given 12 at its start, or at its end. */
function extendedCipher(key: Uint8Array, at: 'start' | 'end'): Cipher {
  const inner = (nonce: Uint8Array): [Cipher, Uint8Array] => {
    const long = new Uint8Array(24);
    long.set(nonce, at === 'start' ? 0 : 12);
    const subkey = hchacha20(key, long.subarray(0, 16));
    return [nodeCrypto.ciphers.ChaChaPoly!(subkey), concatBytes([new Uint8Array(4), long.subarray(16)])];
  };
  return {
    seal(nonce, associatedData, plaintext) {
      const [cipher, short] = inner(nonce);
      return cipher.seal(short, associatedData, plaintext);
    },
    open(nonce, associatedData, sealed) {
      const [cipher, short] = inner(nonce);
      return cipher.open(short, associatedData, sealed);
    },
  };
}

/** In place of ChaCha20-Poly1305. */
export type OtherCipher = 'original' | 'extended' | 'extended-at-end';

export function otherCipher(name: OtherCipher, key: Uint8Array): Cipher {
  if (name === 'original') return originalCipher(key);
  return extendedCipher(key, name === 'extended' ? 'start' : 'end');
}

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
/** Each row: the word that changes, the two that are added, and the rotation. */
const QUARTER = [
  [1, 0, 3, 7],
  [2, 1, 0, 9],
  [3, 2, 1, 13],
  [0, 3, 2, 18],
] as const;
const COLUMNS = [0, 5, 10, 15].map((at) => [at, (at + 4) % 16, (at + 8) % 16, (at + 12) % 16]);
const ROWS = [
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
];

/** HSalsa20 of zeros, which `crypto_box_beforenm` adds to X25519. */
function hsalsa20(key: Uint8Array): Uint8Array {
  const state = concatBytes([
    ...[SIGMA.subarray(0, 4), key.subarray(0, 16), SIGMA.subarray(4, 8), new Uint8Array(16)],
    ...[SIGMA.subarray(8, 12), key.subarray(16), SIGMA.subarray(12)],
  ]);
  const words = Array.from({ length: 16 }, (_, i) => Number(numberOf(state.subarray(4 * i, 4 * i + 4))));
  for (let round = 0; round < 20; round++) {
    for (const quarter of round % 2 === 0 ? COLUMNS : ROWS) {
      for (const [changed, a, b, by] of QUARTER) {
        words[quarter[changed]!]! ^= rotated((words[quarter[a]!]! + words[quarter[b]!]!) | 0, by);
      }
    }
  }
  return concatBytes(
    [0, 5, 10, 15, 6, 7, 8, 9].map((at) => littleEndian(BigInt.asUintN(32, BigInt(words[at]!)), 4)),
  );
}

/** What is done to a result of X25519 by mistake. */
export type OtherSecret = 'hsalsa20' | 'hashed';

export function otherSecret(name: OtherSecret, secret: Uint8Array): Uint8Array {
  return name === 'hsalsa20' ? hsalsa20(secret) : nodeCrypto.sha256(secret);
}

/** In place of SHA-256: in MixHash alone, or in HMAC too. */
export type OtherHash = 'blake2b' | 'blake2s' | 'sha-512' | 'blake2b-everywhere' | 'blake2s-everywhere';

const BLOCKS = { blake2b: 128, blake2s: 64, 'sha-512': 128 } as const;

export function otherHash(name: OtherHash, ...parts: Uint8Array[]): Uint8Array {
  const plain = name.replace('-everywhere', '');
  const data = concatBytes(parts);
  if (plain === 'blake2b') return nodeCrypto.blake2b!(32, data);
  const algorithm = plain === 'blake2s' ? 'blake2s256' : 'sha512';
  return new Uint8Array(createHash(algorithm).update(data).digest().subarray(0, 32));
}

/** HMAC with another hash; `sha-512-256` is HMAC-SHA-512 cut to 32 bytes, as `crypto_auth` does. */
export function otherHmac(
  name: OtherHash | 'sha-512-256',
  key: Uint8Array,
  ...parts: Uint8Array[]
): Uint8Array {
  if (name === 'sha-512-256') {
    return new Uint8Array(createHmac('sha512', key).update(concatBytes(parts)).digest().subarray(0, 32));
  }
  const block = BLOCKS[name.replace('-everywhere', '') as keyof typeof BLOCKS];
  const padded = (byte: number): Uint8Array =>
    Uint8Array.from({ length: block }, (_, i) => (key[i] ?? 0) ^ byte);
  return otherHash(name, padded(0x5c), otherHash(name, padded(0x36), ...parts));
}
