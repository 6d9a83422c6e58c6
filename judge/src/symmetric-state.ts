/**
 * The SymmetricState of a Noise handshake (Noise spec, section 5.2) with its values open: the judge compares traces with it, and
 * `explain` opens recorded messages. Never use this to communicate.
 */
import {
  bytesToHex,
  cipherNameOf,
  concatBytes,
  nodeCrypto,
  type Pattern,
  protocolName,
  type Suite,
  utf8ToBytes,
} from './protocol.ts';

export type Side = 'init' | 'resp';

const NO_BYTES = new Uint8Array(0);
const TAG = 16;
const { sha256, hmacSha256, x25519 } = nodeCrypto;

export class SymmetricState {
  private readonly suite: Suite;
  private chainingKey: Uint8Array;
  private hash: Uint8Array;
  private key: Uint8Array | undefined;
  private counter = 0n;

  /** InitializeSymmetric. */
  constructor(pattern: Pattern, suite: Suite) {
    this.suite = suite;
    const name = utf8ToBytes(protocolName(pattern, suite));
    this.hash = name.length > 32 ? sha256(name) : concatBytes([name, new Uint8Array(32 - name.length)]);
    this.chainingKey = this.hash;
  }

  /** Its values, in hexadecimal: h, ck, and once there is a key k, with the number of messages under it. */
  get state(): { readonly [field: string]: string } {
    const [h, ck] = [bytesToHex(this.hash), bytesToHex(this.chainingKey)];
    return this.key === undefined ? { h, ck } : { h, ck, k: bytesToHex(this.key), n: `${this.counter}` };
  }

  mixHash(data: Uint8Array): void {
    this.hash = sha256(this.hash, data);
  }

  mixKey(input: Uint8Array): void {
    const [chainingKey, key] = hkdf(this.chainingKey, input);
    this.chainingKey = chainingKey;
    this.initializeKey(key);
  }

  mixKeyAndHash(psk: Uint8Array): void {
    const [chainingKey, hashed, key] = hkdf(this.chainingKey, psk);
    this.chainingKey = chainingKey;
    this.mixHash(hashed);
    this.initializeKey(key);
  }

  /** The token `e` of a pattern with a psk (section 9.2). */
  mixEphemeral(publicKey: Uint8Array): void {
    this.mixHash(publicKey);
    this.mixKey(publicKey);
  }

  encryptAndHash(plaintext: Uint8Array): Uint8Array {
    const { key, suite, counter, hash } = this;
    const sealed = key === undefined ? plaintext : sealWith(suite, key, counter, hash, plaintext);
    this.mixSealed(sealed);
    return sealed;
  }

  /** DecryptAndHash. Returns `undefined` if the ciphertext does not open. */
  decryptAndHash(sealed: Uint8Array): Uint8Array | undefined {
    const { key, suite, counter, hash } = this;
    if (key !== undefined && sealed.length < TAG) return undefined;
    const plaintext = key === undefined ? sealed : openWith(suite, key, counter, hash, sealed);
    if (plaintext !== undefined) this.mixSealed(sealed);
    return plaintext;
  }

  /** Split: the keys of a side. */
  split(side: Side): { sendKey: Uint8Array; receiveKey: Uint8Array } {
    const [first, second] = hkdf(this.chainingKey, NO_BYTES);
    return side === 'init' ? { sendKey: first, receiveKey: second } : { sendKey: second, receiveKey: first };
  }

  private mixSealed(sealed: Uint8Array): void {
    if (this.key !== undefined) this.counter++;
    this.mixHash(sealed);
  }

  /** InitializeKey. */
  private initializeKey(key: Uint8Array): void {
    this.key = key;
    this.counter = 0n;
  }
}

/** Results of X25519 by their inputs: each vector is followed several times. */
const results = new Map<string, Uint8Array>();

function memoized(inputs: string, compute: () => Uint8Array): Uint8Array {
  const result = results.get(inputs) ?? compute();
  results.set(inputs, result);
  return result;
}

export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return memoized(bytesToHex(privateKey), () => x25519.publicKey(privateKey));
}

export function sharedSecretOf(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array {
  return memoized(`${bytesToHex(privateKey)} ${bytesToHex(publicKey)}`, () =>
    x25519.sharedSecret(privateKey, publicKey),
  );
}

/** Seals as a CipherState does. */
export function sealWith(
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  associatedData: Uint8Array,
  plaintext: Uint8Array,
): Uint8Array {
  return nodeCrypto.ciphers[cipherNameOf(suite)]!(key).seal(
    nonceOf(suite, counter),
    associatedData,
    plaintext,
  );
}

/** Opens as a CipherState does; `undefined` for what was sealed in another way. */
export function openWith(
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  associatedData: Uint8Array,
  sealed: Uint8Array,
): Uint8Array | undefined {
  return nodeCrypto.ciphers[cipherNameOf(suite)]!(key).open(nonceOf(suite, counter), associatedData, sealed);
}

function nonceOf(suite: Suite, counter: bigint): Uint8Array {
  const nonce = new Uint8Array(12);
  new DataView(nonce.buffer).setBigUint64(4, counter, cipherNameOf(suite) === 'ChaChaPoly');
  return nonce;
}

/** HKDF with three outputs (Noise spec, section 4.3). */
function hkdf(chainingKey: Uint8Array, input: Uint8Array): [Uint8Array, Uint8Array, Uint8Array] {
  const secret = hmacSha256(chainingKey, input);
  const first = hmacSha256(secret, Uint8Array.of(1));
  const second = hmacSha256(secret, first, Uint8Array.of(2));
  return [first, second, hmacSha256(secret, second, Uint8Array.of(3))];
}
