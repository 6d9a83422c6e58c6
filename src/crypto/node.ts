/**
 * `hub-protocol/node`: a CryptoProvider over Node's OpenSSL, with both ciphers, ChaChaPoly preferred, and Node's
 * randomness; and from Node 24.7 on with its Argon2id. BLAKE2b is the library's own, since OpenSSL's has a single output length.
 * ChaChaPoly is `jsCrypto`'s for short messages, and if OpenSSL lacks it, as in FIPS builds and in Bun.
 *
 * A private key is imported as bytes if the runtime takes them: Node from 24.15 on, and Bun. Node 20 and 22, Deno and workerd get it as
 * JWK, a string on V8's heap that nothing can wipe: it lasts until its memory is reused. To keep a static key off the heap, create it
 * in OpenSSL or in a chip, and pass it as a KeyPair.
 */

import { Buffer } from 'node:buffer'; // also so that a bundler for pages refuses this file
import type { CipherChaCha20Poly1305Types, CipherGCMTypes, JsonWebKeyInput, KeyObject } from 'node:crypto';
import { assertBytes } from '../arguments.ts';
import { type Bytes, copyBytes, equalBytes, wipe } from '../bytes.ts';
import { KEY_LENGTH, TAG_LENGTH } from '../limits.ts';
import { blake2b } from './blake2b.ts';
import type { Argon2idParameters, Cipher, CryptoProvider, KeyPair } from './crypto.ts';
import { jsChaChaPoly, openChaChaPoly, sealChaChaPoly } from './js-chachapoly.ts';
import { isLowOrder } from './low-order.ts';

// An import would take longer: for it, Node.js reads all that the module exports, and so loads WebCrypto.
const nodeModule = process.getBuiltinModule('node:crypto');
const {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  getCiphers,
  hash,
} = nodeModule;

/** The bytes of a Buffer: the same memory if it holds nothing else, as in all that OpenSSL returns. */
function plain(buffer: Buffer): Uint8Array {
  const { buffer: memory, length } = buffer;
  if (memory.byteLength === length) return new Uint8Array(memory);
  /* c8 ignore next 4 -- other runtimes that have node:crypto may return slices of shared memory */
  const bytes = copyBytes(buffer);
  wipe(buffer);
  return bytes;
}

const BLOCK = 64;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** The input of a hash, after the key in HMAC. All calls share it, since allocating takes longer than hashing. */
const inner = Buffer.alloc(4 * BLOCK, INNER_PAD);
const outer = Buffer.alloc(BLOCK + KEY_LENGTH, OUTER_PAD);

/** Writes the parts into `inner`; returns where they end, or -1 if there is no room for them. */
function gather(parts: Uint8Array[], start: number): number {
  let at = start;
  for (const part of parts) {
    if (at + part.length > inner.length) return -1;
    inner.set(part, at);
    at += part.length;
  }
  return at;
}

function sha256(parts: Uint8Array[]): Uint8Array {
  const end = gather(parts, 0);
  try {
    const input = end < 0 ? Buffer.concat(parts) : inner.subarray(0, end);
    return plain(hash('sha256', input, 'buffer'));
  } finally {
    inner.fill(INNER_PAD);
  }
}

/** HMAC-SHA-256 (RFC 2104) over the bare hash: OpenSSL's own HMAC takes longer to set up than to compute. */
function hmacSha256(key: Uint8Array, parts: Uint8Array[]): Uint8Array {
  const end = gather(parts, BLOCK);
  try {
    if (key.length > BLOCK || end < 0) return longHmacSha256(key, parts);
    for (let i = 0; i < key.length; i++) {
      inner[i]! ^= key[i]!;
      outer[i]! ^= key[i]!;
    }
    outer.set(hash('sha256', inner.subarray(0, end), 'buffer'), BLOCK);
    return plain(hash('sha256', outer, 'buffer'));
  } finally {
    inner.fill(INNER_PAD);
    outer.fill(OUTER_PAD);
  }
}

function longHmacSha256(key: Uint8Array, parts: Uint8Array[]): Uint8Array {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return plain(mac.digest());
}

/** A key as a member of a JWK (RFC 8037, section 2). */
function base64Url({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('base64url');
}

const JWK = { kty: 'OKP', crv: 'X25519' };

function publicKeyOf(own: KeyObject): Uint8Array {
  return copyBytes(Buffer.from(createPublicKey(own).export({ format: 'jwk' }).x!, 'base64url'));
}

type PrivateKeyImport = (privateKey: Uint8Array) => KeyObject;

/** Leaves no copy behind, but older runtimes and the types do not know the format. */
const importRaw: PrivateKeyImport = (key) =>
  createPrivateKey({ key, format: 'raw-private', asymmetricKeyType: 'x25519' } as object as JsonWebKeyInput);

/** `x` is required. Runtimes that compute the public key themselves accept an empty one; others refuse it. */
const importJwk: PrivateKeyImport = (key) =>
  createPrivateKey({ key: { ...JWK, d: base64Url(key), x: '' }, format: 'jwk' });

/** The bytes before the key in PKCS #8 (RFC 8410, section 7). */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

/** Every runtime takes this, but Node 20 ten times as long as for a JWK. */
const importPkcs8: PrivateKeyImport = (privateKey) => {
  const key = Buffer.concat([PKCS8, privateKey]);
  try {
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  } finally {
    wipe(key);
  }
};

/** Whether the public key of 9 is as in RFC 7748: the result after one iteration in section 5.2. */
function works(importKey: PrivateKeyImport): boolean {
  const nine = new Uint8Array(KEY_LENGTH);
  nine[0] = 9;
  try {
    const publicKey = Buffer.from(publicKeyOf(importKey(nine)));
    return publicKey.toString('hex') === '422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079';
  } catch {
    return false;
  }
}

/** The first that works, once one was needed. */
let importChecked: PrivateKeyImport | undefined;

function importPrivateKey(privateKey: Uint8Array): KeyObject {
  assertBytes(privateKey, 'privateKey', KEY_LENGTH);
  importChecked ??= [importRaw, importJwk].find(works) ?? importPkcs8;
  return importChecked(privateKey);
}

/** The public keys imported last. A handshake uses each of its two several times, and importing one takes a while. */
const imported: { readonly publicKey: Uint8Array; readonly key: KeyObject }[] = [];
/** Enough for the two handshakes of a client and a hub in one process. */
const KEPT = 4;

function importPublicKey(publicKey: Uint8Array): KeyObject {
  for (const kept of imported) if (equalBytes(kept.publicKey, publicKey)) return kept.key;
  const key = createPublicKey({ key: { ...JWK, x: base64Url(publicKey) }, format: 'jwk' });
  if (imported.length === KEPT) imported.shift();
  imported.push({ publicKey: copyBytes(publicKey), key });
  return key;
}

function sharedSecret(own: KeyObject, publicKey: Uint8Array): Uint8Array {
  assertBytes(publicKey, 'publicKey', KEY_LENGTH);
  const remote = importPublicKey(publicKey);
  try {
    return plain(diffieHellman({ privateKey: own, publicKey: remote }));
  } catch (error) {
    /* c8 ignore next -- a fault of OpenSSL, which no test can bring about */
    if (!isLowOrder(publicKey)) throw error;
    return new Uint8Array(KEY_LENGTH);
  }
}

/**
 * Imports a static private key once, instead of in each session.
 * @param privateKey - 32 bytes; yours to wipe
 * @returns a key pair, for the `staticKey` of a keyring literal or of a HubSession
 * @throws LocalError `bad-argument`, `bad-length`
 *
 * @example
 * import { ClientSession } from 'hub-protocol/parts';
 * import { importKey, nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const staticKey = importKey(randomBytes(32)); // of the stored private key, at the start of the program
 * new ClientSession({ crypto, randomBytes, siteId: 'lobby', keyring: { staticKey } });
 */
export function importKey(privateKey: Uint8Array): KeyPair {
  const own = importPrivateKey(privateKey);
  return { publicKey: publicKeyOf(own), sharedSecret: (publicKey) => sharedSecret(own, publicKey) };
}

const WITH_TAG = { authTagLength: TAG_LENGTH };

/** The least time of several tries, in milliseconds. */
function leastTime(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 12; i++) {
    const began = performance.now();
    for (let j = 0; j < 4; j++) run();
    least = Math.min(least, performance.now() - began);
  }
  return least;
}

let short: number | undefined;

/**
 * The length up to which ChaCha20-Poly1305 in JavaScript takes less time than OpenSSL's. To start a cipher takes some releases of OpenSSL 1 to 2 µs,
 * about as long as a hash, and others 11 to 14 µs: so it is measured once, in less than a millisecond.
 */
function shortLength(): number {
  if (short === undefined) {
    const [key, nonce] = [new Uint8Array(KEY_LENGTH), new Uint8Array(12)];
    const start = leastTime(() => createCipheriv('chacha20-poly1305', key, nonce, WITH_TAG));
    const hashing = leastTime(() => createHash('sha256').update(nonce).digest());
    short = start > 2.8 * hashing ? 3072 : 640; // 4.5 to 5.6 times, or 1.2 to 1.8
  }
  return short;
}

/** A cipher of OpenSSL under a key. A class, since a session has two of them, and closures take memory in each. */
class OpenSslCipher implements Cipher {
  readonly #name: CipherGCMTypes;
  readonly #short: number;
  readonly #key: Uint8Array;

  /** @param short - the length up to which ChaCha20-Poly1305 runs in JavaScript; -1 for AES-GCM */
  constructor(name: CipherGCMTypes | CipherChaCha20Poly1305Types, short: number, key: Uint8Array) {
    this.#name = name as CipherGCMTypes;
    this.#short = short;
    this.#key = key;
  }

  seal(nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array {
    const sealed = new Uint8Array(Buffer.allocUnsafeSlow(plaintext.length + TAG_LENGTH).buffer);
    this.#sealInto(sealed, nonce, associatedData, plaintext);
    return sealed;
  }

  sealInPlace(nonce: Uint8Array, associatedData: Uint8Array, buffer: Uint8Array): void {
    this.#sealInto(buffer, nonce, associatedData, buffer.subarray(0, -TAG_LENGTH));
  }

  open(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
    const end = sealed.length - TAG_LENGTH;
    if (end < 0) return undefined;
    if (end <= this.#short) return openChaChaPoly(this.#key, nonce, associatedData, sealed, false);
    const decipher = createDecipheriv(this.#name, this.#key, nonce, WITH_TAG);
    if (associatedData.length > 0) decipher.setAAD(associatedData);
    decipher.setAuthTag(sealed.subarray(end));
    const plaintext = decipher.update(sealed.subarray(0, end));
    try {
      decipher.final(); // throws only if the tag does not verify
    } catch {
      wipe(plaintext);
      return undefined;
    }
    return plain(plaintext);
  }

  /** Encrypts, and writes ciphertext and tag into an array. */
  #sealInto(sealed: Uint8Array, nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): void {
    if (plaintext.length <= this.#short) {
      sealChaChaPoly(this.#key, sealed, nonce, associatedData, plaintext);
      return;
    }
    const cipher = createCipheriv(this.#name, this.#key, nonce, WITH_TAG);
    if (associatedData.length > 0) cipher.setAAD(associatedData);
    sealed.set(cipher.update(plaintext));
    cipher.final();
    sealed.set(cipher.getAuthTag(), plaintext.length);
  }
}

/** Node's own Argon2id, which it has from version 24.7 on. */
type Argon2Sync = (algorithm: 'argon2id', parameters: object) => Buffer;
const { argon2Sync } = nodeModule as { argon2Sync?: Argon2Sync };

function argon2id(parameters: Argon2idParameters): Uint8Array {
  const { password, salt, passes, memoryKiB, parallelism, length, secret, associatedData } = parameters;
  return plain(
    argon2Sync!('argon2id', {
      message: password,
      nonce: salt,
      memory: memoryKiB,
      tagLength: length,
      passes,
      parallelism,
      secret,
      associatedData,
    }),
  );
}

const hasChaChaPoly = getCiphers().includes('chacha20-poly1305');

/**
 * Node's OpenSSL: both suites, ChaChaPoly preferred. BLAKE2b is the library's own, since OpenSSL's has a single output length. From
 * Node.js 24.7 on it has a native `argon2id`. ChaChaPoly is `jsCrypto`'s for short messages, which takes less time, and if
 * OpenSSL lacks it, as in FIPS builds and in Bun.
 *
 * @example
 * import { nodeCrypto } from 'hub-protocol/node';
 *
 * console.log(Object.keys(nodeCrypto.ciphers).join(', ')); // ChaChaPoly, AESGCM
 */
export const nodeCrypto: CryptoProvider = {
  sha256: (...parts) => sha256(parts),
  hmacSha256: (key, ...parts) => hmacSha256(key, parts),
  x25519: {
    publicKey: (privateKey) => publicKeyOf(importPrivateKey(privateKey)),
    sharedSecret: (privateKey, publicKey) => sharedSecret(importPrivateKey(privateKey), publicKey),
    importKey,
  },
  ciphers: {
    ChaChaPoly: hasChaChaPoly
      ? (key) => new OpenSslCipher('chacha20-poly1305', shortLength(), key)
      : jsChaChaPoly,
    AESGCM: (key) => new OpenSslCipher('aes-256-gcm', -1, key),
  },
  blake2b,
  ...(argon2Sync !== undefined ? { argon2id } : {}),
};

/**
 * Random bytes from the operating system's generator.
 *
 * @example
 * import { randomBytes } from 'hub-protocol/node';
 *
 * console.log(randomBytes(32).length); // 32
 */
export const randomBytes: (length: number) => Bytes = (length) =>
  nodeModule.randomFillSync(new Uint8Array(new ArrayBuffer(length)));
