/**
 * The only access to injected cryptography. Checks its shape when it is passed in, and each result when it is returned.
 */
import { assertBytes, assertMethods, readArgument, readField } from '../arguments.ts';
import { type Bytes, copyBytes, EMPTY, isBytes, isBytesOf, isZero, wipe } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH, TAG_LENGTH } from '../limits.ts';
import { assertNotFull } from '../memory.ts';
import type { Cipher, CipherName, CryptoProvider, KeyPair, RandomBytes, StaticKey } from './crypto.ts';

/**
 * Checks that an argument has the shape of a CryptoProvider.
 * @throws LocalError `bad-argument`, which names the function that is missing
 */
export function assertCrypto(crypto: unknown): asserts crypto is CryptoProvider {
  assertMethods(crypto, 'crypto', ['sha256', 'hmacSha256'], ['blake2b', 'argon2id']);
  const x25519 = readField(crypto, 'crypto', 'x25519');
  assertMethods(x25519, 'crypto.x25519', ['publicKey', 'sharedSecret'], ['importKey']);
  const ciphers = readField(crypto, 'crypto', 'ciphers');
  assertMethods(ciphers, 'crypto.ciphers', [], ['ChaChaPoly', 'AESGCM']);
}

/**
 * Reads a key of this side: a private key of 32 bytes, or an object with `privateKey`, `publicKey` or both.
 * @throws LocalError `bad-argument`, also for keys of zeros; `bad-length`
 */
export function readOwnKey(key: unknown, name: string): StaticKey {
  if (typeof key !== 'object' || isBytes(key)) {
    assertKey(key, name);
    return { publicKey: undefined, privateKey: key };
  }
  const publicKey = readField(key, name, 'publicKey');
  const privateKey = readField(key, name, 'privateKey');
  if (publicKey !== undefined || privateKey === undefined) assertKey(publicKey, `${name}.publicKey`);
  if (privateKey !== undefined) assertKey(privateKey, `${name}.privateKey`);
  return { publicKey, privateKey };
}

function assertKey(key: unknown, name: string): asserts key is Uint8Array {
  assertBytes(key, name, KEY_LENGTH);
  if (isZero(key)) {
    throw errors.zeroKey(name);
  }
}

/**
 * Calls injected code that must return bytes.
 * @param name - of the injected function, for the message
 * @throws LocalError `crypto-failed`
 */
export function callInjected(length: number, call: () => unknown, name: string): Bytes {
  const result = attempt(call, name);
  if (!isBytesOf(result, length)) throw errors.wrongResult(name, length);
  return result as Bytes;
}

function attempt<Result>(call: () => Result, name: string): Result {
  try {
    return call();
  } catch (error) {
    assertNotFull(error);
    throw errors.injectedThrew(error, name);
  }
}

/**
 * Asks the injected source for random bytes.
 * @returns its result
 * @throws LocalError `bad-random` for anything but that many bytes; `crypto-failed` if it throws
 */
export function drawBytes(randomBytes: RandomBytes, length: number): Uint8Array {
  const random: unknown = attempt(() => randomBytes(length), 'randomBytes');
  if (!isBytesOf(random, length)) throw errors.badRandom(length);
  return random;
}

/**
 * Asks the injected source for a private key.
 * @returns 32 bytes, a copy
 * @throws LocalError `bad-random` for anything but 32 bytes, and for 32 zeros; `crypto-failed` if it throws
 */
export function randomKey(randomBytes: RandomBytes): Uint8Array {
  const random = drawBytes(randomBytes, KEY_LENGTH);
  if (isZero(random)) throw errors.badRandom(KEY_LENGTH);
  try {
    return copyBytes(random);
  } finally {
    wipe(random);
  }
}

/** A CryptoProvider that returns only bytes of the right length; any other outcome is `crypto-failed`. */
export class CheckedCrypto {
  readonly ciphers: CryptoProvider['ciphers'];
  private readonly crypto: CryptoProvider;

  /** @throws LocalError `bad-argument` */
  constructor(crypto: unknown) {
    assertCrypto(crypto);
    this.ciphers = crypto.ciphers;
    this.crypto = crypto;
  }

  sha256(first: Uint8Array, second: Uint8Array = EMPTY): Uint8Array {
    return callInjected(KEY_LENGTH, () => this.crypto.sha256(first, second), 'sha256');
  }

  hmacSha256(key: Uint8Array, first: Uint8Array, second: Uint8Array = EMPTY): Uint8Array {
    return callInjected(KEY_LENGTH, () => this.crypto.hmacSha256(key, first, second), 'hmacSha256');
  }

  /**
   * Makes the key pair of a private key of 32 bytes. The pair owns the array from now on, and wipes it.
   * @param publicKey - if it is known
   */
  keyPair(privateKey: Uint8Array, publicKey?: Uint8Array): CheckedKeyPair {
    const { x25519 } = this.crypto;
    try {
      const pair = attempt(
        () =>
          x25519.importKey !== undefined
            ? x25519.importKey(privateKey)
            : {
                publicKey: publicKey ?? x25519.publicKey(privateKey),
                sharedSecret: (remote: Uint8Array) => x25519.sharedSecret(privateKey, remote),
              },
        'x25519.importKey',
      );
      return new CheckedKeyPair(pair, privateKey, publicKey);
    } catch (error) {
      wipe(privateKey);
      throw error;
    }
  }

  /**
   * Makes the key pair of a key of this side, as `readOwnKey` takes it. If the private key is in memory, the pair has a copy.
   * @throws LocalError `bad-argument`, also for keys of zeros; `bad-length`; `crypto-failed`
   */
  ownKey(key: unknown, name: string): CheckedKeyPair {
    return readArgument(name, () => {
      const { publicKey, privateKey } = readOwnKey(key, name);
      if (privateKey !== undefined) return this.keyPair(copyBytes(privateKey), publicKey);
      assertMethods(key, name, [], ['sharedSecret']);
      return new CheckedKeyPair(key as KeyPair, undefined, publicKey);
    });
  }

  /** The cipher of that name, which the crypto must have, under a key of 32 bytes. */
  createCipher(cipherName: CipherName, key: Uint8Array): CheckedCipher {
    return new CheckedCipher(attempt(() => this.ciphers[cipherName]!(key), cipherName));
  }
}

/** A KeyPair that returns only results of 32 bytes. */
export class CheckedKeyPair {
  /** A copy. */
  readonly publicKey: Uint8Array;
  /** Whether shared secrets are computed elsewhere and come later. */
  readonly isAsynchronous: boolean;
  readonly privateKey: Uint8Array | undefined;
  private readonly pair: KeyPair;

  /**
   * @param privateKey - which `destroy` wipes, if it is in memory
   * @param publicKey - if it is known
   */
  constructor(pair: KeyPair, privateKey?: Uint8Array, publicKey?: Uint8Array) {
    this.pair = pair;
    this.privateKey = privateKey;
    this.publicKey = copyBytes(
      publicKey ?? callInjected(KEY_LENGTH, () => pair.publicKey, 'x25519.publicKey'),
    );
    this.isAsynchronous = attempt(() => pair.sharedSecret === undefined, 'x25519.sharedSecret');
  }

  /** @returns 32 bytes, which the caller owns and wipes; all zeros for a public key of low order */
  sharedSecret(publicKey: Uint8Array): Uint8Array {
    return callInjected(KEY_LENGTH, () => this.pair.sharedSecret!(publicKey), 'x25519.sharedSecret');
  }

  destroy(): void {
    wipe(this.privateKey);
  }
}

/** A Cipher that returns only bytes of the right length, or `undefined` for a ciphertext that is not authentic. */
export class CheckedCipher {
  private readonly cipher: Cipher;

  constructor(cipher: Cipher) {
    this.cipher = cipher;
  }

  /**
   * @param buffer - the plaintext, and 16 bytes more; encrypted in place if the cipher can, otherwise left unchanged
   * @returns the sealed message: `buffer` or a new array
   */
  seal(nonce: Uint8Array, associatedData: Uint8Array, buffer: Uint8Array): Bytes {
    const { cipher } = this;
    if (cipher.sealInPlace === undefined) {
      const plaintext = buffer.subarray(0, buffer.length - TAG_LENGTH);
      return callInjected(buffer.length, () => cipher.seal(nonce, associatedData, plaintext), 'seal');
    }
    attempt(() => cipher.sealInPlace!(nonce, associatedData, buffer), 'sealInPlace');
    return buffer as Bytes;
  }

  /**
   * @param sealed - at least 16 bytes
   * @param inPlace - whether the result may be a view of `sealed`, which is then overwritten
   */
  open(
    nonce: Uint8Array,
    associatedData: Uint8Array,
    sealed: Uint8Array,
    inPlace: boolean,
  ): Bytes | undefined {
    const { cipher } = this;
    const plaintext: unknown = attempt(
      () =>
        inPlace && cipher.openInPlace !== undefined
          ? cipher.openInPlace(nonce, associatedData, sealed)
          : cipher.open(nonce, associatedData, sealed),
      'open',
    );
    if (plaintext === undefined) return undefined;
    if (!isBytesOf(plaintext, sealed.length - TAG_LENGTH)) throw errors.wrongPlaintext();
    return plaintext as Bytes;
  }
}
