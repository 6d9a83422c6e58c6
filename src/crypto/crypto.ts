/**
 * The cryptography that the integrator injects: Node's (`hub-protocol/node`), the library's (`hub-protocol/js`), noble's
 * (`hub-protocol/noble`), or a device's own. All calls are synchronous; all lengths are in bytes.
 *
 * Injected code is trusted with keys but may be buggy: each result is checked as it enters (checked.ts), and anything
 * that it throws becomes the LocalError `crypto-failed`.
 */

/**
 * An AEAD under one key (Noise spec, sections 12.3 and 12.4).
 *
 * `seal` and `open` return a new array, and no method keeps an argument. `nonce` is 12 bytes; `sealed` is the
 * ciphertext followed by the tag of 16 bytes.
 */
export interface Cipher {
  /**
   * Encrypts.
   * @param nonce - 12 bytes
   * @param associatedData - any length; it is authenticated, not encrypted
   * @param plaintext - at most 65519 bytes
   * @returns the ciphertext, then the tag: 16 bytes longer than the plaintext
   */
  seal(nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array;
  /**
   * Like `seal`, but encrypts in place: the plaintext is all of `buffer` but its last 16 bytes, which take the tag.
   * Used for transport messages; without it, `seal` is used.
   * @param nonce - 12 bytes
   * @param associatedData - any length
   * @param buffer - the plaintext, and 16 bytes more
   */
  sealInPlace?(nonce: Uint8Array, associatedData: Uint8Array, buffer: Uint8Array): void;
  /**
   * Checks the tag, and decrypts. A throw means that the cipher itself failed.
   * @param nonce - 12 bytes
   * @param associatedData - as it was sealed with
   * @param sealed - the ciphertext, then the tag of 16 bytes
   * @returns the plaintext; `undefined` if the tag does not verify
   */
  open(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
  /**
   * Like `open`, but decrypts in place and returns a view of `sealed`. If the tag does not verify, it returns
   * `undefined` and leaves `sealed` unchanged. Used by sessions with the `inPlace` option, which otherwise use `open`.
   * @param nonce - 12 bytes
   * @param associatedData - as it was sealed with
   * @param sealed - the ciphertext, then the tag of 16 bytes
   * @returns a view of `sealed`, 16 bytes shorter; `undefined` if the tag does not verify
   */
  openInPlace?(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
}

/**
 * Makes a cipher from a key of 32 bytes. The array belongs to the caller, who wipes it when the cipher is no longer
 * needed: use the array itself if you can, since nobody wipes a copy.
 */
export type CipherFactory = (key: Uint8Array) => Cipher;

/**
 * The cryptography that you pass in: `nodeCrypto`, `jsCrypto`, `nobleCrypto`, `nobleCryptoWithAesGcm`, or your own. All calls are
 * synchronous. Anything that it throws, and any result of the wrong type or length, becomes the LocalError `crypto-failed`.
 *
 * @example
 * // A chip's X25519 in place of noble's, in all of the handshake. (Here Node.js plays the chip.)
 * import type { CryptoProvider } from 'hub-protocol';
import { ClientSession } from 'hub-protocol/parts';
 * import { nobleCrypto } from 'hub-protocol/noble';
 * import { nodeCrypto as chip, randomBytes } from 'hub-protocol/node';
 *
 * const { publicKey, sharedSecret } = chip.x25519;
 * const crypto: CryptoProvider = { ...nobleCrypto, x25519: { publicKey, sharedSecret } }; // no importKey, which would be used instead
 * const session = new ClientSession({ crypto, randomBytes, siteId: 'lobby', keyring: { staticKey: randomBytes(32) } });
 * console.log(session.state); // awaiting-hello
 */
export interface CryptoProvider {
  /**
   * SHA-256 (FIPS 180-4).
   * @param parts - what to hash, as if concatenated
   * @returns 32 bytes
   */
  sha256(...parts: Uint8Array[]): Uint8Array;
  /**
   * HMAC-SHA-256 (RFC 2104).
   * @param key - of any length; the library passes 32 bytes
   * @param parts - what to authenticate, as if concatenated
   * @returns 32 bytes
   */
  hmacSha256(key: Uint8Array, ...parts: Uint8Array[]): Uint8Array;
  /** X25519 (RFC 7748); all keys are 32 bytes. */
  x25519: {
    /**
     * Computes a public key.
     * @param privateKey - 32 bytes
     * @returns 32 bytes
     */
    publicKey(privateKey: Uint8Array): Uint8Array;
    /**
     * Computes a shared secret. A throw means that the crypto itself failed.
     * @param privateKey - 32 bytes
     * @param publicKey - the peer's, 32 bytes
     * @returns 32 bytes; all zeros for a public key of low order
     */
    sharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array;
    /**
     * Prepares a private key that is used several times, for instance as a KeyObject of Node. If present, it is used
     * instead of the two functions above: leave it out of a CryptoProvider in which you replace them. The array stays the
     * caller's, who wipes it: keep no reference to it. `publicKey` is not read if the public key is known, so it may be a
     * getter that computes it.
     * @param privateKey - 32 bytes
     * @returns the key pair, with `sharedSecret`
     */
    importKey?(privateKey: Uint8Array): KeyPair;
  };
  /** The ciphers that can be negotiated, in order of preference. */
  ciphers: {
    /** ChaCha20-Poly1305 (RFC 8439), for the suite `25519_ChaChaPoly_SHA256`. */
    ChaChaPoly?: CipherFactory | undefined;
    /** AES-256-GCM (NIST SP 800-38D), for the suite `25519_AESGCM_SHA256`. */
    AESGCM?: CipherFactory | undefined;
  };
  /**
   * BLAKE2b (RFC 7693) without a key. Only the library's own Argon2id needs it.
   * @param length - of the output in bytes, 1 to 64
   * @param parts - what to hash, as if concatenated
   * @returns `length` bytes
   */
  blake2b?(length: number, ...parts: Uint8Array[]): Uint8Array;
  /**
   * A native Argon2id (RFC 9106, version 0x13), which argon2id() and derivePsk() use instead of the library's.
   * @param parameters - all of them are given
   * @returns as many bytes as `parameters.length` says
   */
  argon2id?(parameters: Argon2idParameters): Uint8Array;
}

/** The inputs of Argon2id, by the names of RFC 9106, section 3.1. Lengths are in bytes. */
export interface Argon2idParameters {
  /** P. */
  readonly password: Uint8Array;
  /** S: at least 8 bytes. */
  readonly salt: Uint8Array;
  /** t: the number of passes over the memory, at least 1. */
  readonly passes: number;
  /** m: the memory in KiB, at least 8 for each lane. */
  readonly memoryKiB: number;
  /** p: the number of lanes, 1 to 2^24 - 1. */
  readonly parallelism: number;
  /** T: the length of the tag, at least 4. */
  readonly length: number;
  /** K: the secret value; may be empty. */
  readonly secret: Uint8Array;
  /** X: the associated data; may be empty. */
  readonly associatedData: Uint8Array;
}

/**
 * An X25519 key pair. Its private key is in memory (`privateKey`), or elsewhere: in a secure element, a Node KeyObject, a
 * WebCrypto key.
 */
export interface KeyPair {
  /**
   * 32 bytes, which are not checked against the private key. If they belong to another one, no handshake succeeds, since
   * the peer cannot authenticate this side.
   */
  readonly publicKey: Uint8Array;
  /** The private key, 32 bytes, if it is in memory: shared secrets are then computed from it, not by `sharedSecret`. */
  readonly privateKey?: Uint8Array | undefined;
  /**
   * X25519 of the private key and a public key of 32 bytes: returns a new array of 32 bytes, which the library wipes;
   * all zeros for a public key of low order. A throw means that it failed. A key pair whose
   * shared secrets are computed asynchronously has neither this method nor `privateKey`.
   */
  sharedSecret?: ((publicKey: Uint8Array) => Uint8Array) | undefined;
}

/** A static key: the private key, the public key, or both; 32 bytes each. */
export interface StaticKey {
  /** The public key, if it is known. */
  readonly publicKey?: Uint8Array | undefined;
  /** The private key, unless it is kept elsewhere, such as in a secure element. This field does not enumerate. */
  readonly privateKey?: Uint8Array | undefined;
}

/** The name of a cipher in the Noise spec. */
export type CipherName = 'ChaChaPoly' | 'AESGCM';

/**
 * The injected source of randomness: returns `length` new, unpredictable bytes. The array is copied, then wiped: return
 * a new one at each call.
 */
export type RandomBytes = (length: number) => Uint8Array;
