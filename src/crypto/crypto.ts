/**
 * The cryptography that the integrator injects: noble's (`hub-protocol/noble`), Node's (`hub-protocol/node`), or
 * that of a device. All of it is synchronous, and all lengths are in bytes.
 */
import { kindOf } from '../bytes.ts';
import { LocalError, RemoteError } from '../errors.ts';

/**
 * An AEAD under one key (Noise spec, section 12.3 and 12.4).
 *
 * `seal` and `open` answer a new array; no call keeps an argument. `nonce` is 12 bytes; the sealed text is the
 * ciphertext followed by a tag of 16.
 */
export interface Cipher {
  seal(nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array;
  /** Throws, whatever it likes, where the tag does not verify. */
  open(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array;
  /**
   * As `open`, but answers a view of `sealed`, over whose ciphertext it has written the plaintext. Where the tag does not
   * verify, it leaves the array as it was. For sessions that are told to receive in place; without it, they use `open`.
   */
  openInPlace?(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array;
}

/**
 * Makes a cipher of a key of 32 bytes. The array belongs to the caller, who wipes it when the cipher is done: a
 * factory that can should use the array itself rather than a copy that nobody wipes.
 */
export type CipherFactory = (key: Uint8Array) => Cipher;

export interface Crypto {
  /** SHA-256 of the parts one after the other (FIPS 180-4); 32 bytes. */
  sha256(...parts: Uint8Array[]): Uint8Array;
  /** HMAC-SHA-256 of the parts one after the other (RFC 2104); 32 bytes. */
  hmacSha256(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array;
  /** X25519 (RFC 7748); all keys are 32 bytes. */
  x25519: {
    publicKey(privateKey: Uint8Array): Uint8Array;
    /** For a public key of low order: all zeros, or a throw. */
    sharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array;
  };
  /** What is present is what can be negotiated, in order of preference. */
  ciphers: { ChaChaPoly?: CipherFactory; AESGCM?: CipherFactory };
  /** BLAKE2b (RFC 7693) of `length` bytes, 1 to 64. Only argon2id asks for it. */
  blake2b?(length: number, ...parts: Uint8Array[]): Uint8Array;
}

/** The injected source of randomness: `length` new bytes that nobody can guess. They are copied; the array stays yours. */
export type RandomBytes = (length: number) => Uint8Array;

/** @throws LocalError `bad-argument` */
export function assertCrypto(crypto: unknown): asserts crypto is Crypto {
  if (typeof crypto !== 'object' || crypto === null) {
    throw new LocalError(
      'bad-argument',
      `"crypto" expected an object such as nobleCrypto, got ${kindOf(crypto)}`,
    );
  }
}

/** What the injected crypto threw, unless it was one of our errors: a defect of its own. */
export function cryptoFailure(error: unknown): LocalError | RemoteError {
  if (error instanceof LocalError || error instanceof RemoteError) return error;
  return new LocalError('crypto-failed', 'the injected crypto, or randomBytes, threw', error);
}
