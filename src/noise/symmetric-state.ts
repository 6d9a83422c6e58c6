/** SymmetricState (Noise spec, section 5.2): the chaining key, the handshake hash, and the current cipher key. */
import { type Bytes, copyBytes, utf8ToBytes, wipe } from '../bytes.ts';
import type { CheckedCrypto } from '../crypto/checked.ts';
import type { CipherName } from '../crypto/crypto.ts';
import { KEY_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import { CipherState } from './cipher-state.ts';

const EMPTY = new Uint8Array(0);
/** What HKDF appends to its inputs. */
const COUNTERS = [new Uint8Array([1]), new Uint8Array([2]), new Uint8Array([3])];

export class SymmetricState {
  private readonly crypto: CheckedCrypto;
  private readonly cipherName: CipherName;
  private readonly cipherState: CipherState;
  private chainingKey: Uint8Array;
  private hash: Uint8Array;

  /** InitializeSymmetric. */
  constructor(crypto: CheckedCrypto, protocolName: string, cipherName: CipherName) {
    this.crypto = crypto;
    this.cipherName = cipherName;
    this.cipherState = new CipherState(crypto, cipherName);
    const name = utf8ToBytes(protocolName);
    if (name.length <= KEY_LENGTH) {
      this.hash = new Uint8Array(KEY_LENGTH);
      this.hash.set(name);
    } else {
      this.hash = crypto.sha256(name);
    }
    this.chainingKey = copyBytes(this.hash);
  }

  /** MixKey. The caller wipes the input. */
  mixKey(inputKeyMaterial: Uint8Array): void {
    const outputs = this.hkdf(inputKeyMaterial, 2);
    this.setChainingKey(outputs[0]!);
    this.cipherState.initializeKey(outputs[1]!);
  }

  mixHash(data: Uint8Array): void {
    this.hash = this.crypto.sha256(this.hash, data);
  }

  /** MixKeyAndHash, for pre-shared keys. */
  mixKeyAndHash(inputKeyMaterial: Uint8Array): void {
    const outputs = this.hkdf(inputKeyMaterial, 3);
    this.setChainingKey(outputs[0]!);
    this.mixHash(outputs[1]!);
    wipe(outputs[1]);
    this.cipherState.initializeKey(outputs[2]!);
  }

  /** GetHandshakeHash; a copy. */
  handshakeHash(): Bytes {
    return copyBytes(this.hash);
  }

  /** EncryptAndHash. Patterns with a pre-shared key have a cipher key before anything is sealed (section 9.2). */
  encryptAndHash(plaintext: Uint8Array): Bytes {
    const sealed = this.cipherState.encryptWithAd(this.hash, plaintext);
    this.mixHash(sealed);
    return sealed;
  }

  /**
   * DecryptAndHash.
   * @throws RemoteError `not-authentic`
   */
  decryptAndHash(sealed: Uint8Array): Bytes {
    const plaintext = this.cipherState.decryptWithAd(this.hash, sealed);
    this.mixHash(sealed);
    return plaintext;
  }

  /** Split: returns the CipherState with which each side sends, and wipes this object. */
  split(): { initiator: CipherState; responder: CipherState } {
    const outputs = this.hkdf(EMPTY, 2);
    const initiator = new CipherState(this.crypto, this.cipherName);
    const responder = new CipherState(this.crypto, this.cipherName);
    initiator.initializeKey(outputs[0]!);
    responder.initializeKey(outputs[1]!);
    this.destroy();
    return { initiator, responder };
  }

  destroy(): void {
    wipe(this.chainingKey);
    wipe(this.hash);
    this.cipherState.destroy();
  }

  private setChainingKey(chainingKey: Uint8Array): void {
    wipe(this.chainingKey);
    this.chainingKey = chainingKey;
  }

  /** HKDF (section 4.3; RFC 5869 with an empty info): two or three outputs of 32 bytes. */
  private hkdf(inputKeyMaterial: Uint8Array, count: number): Uint8Array[] {
    const temporaryKey = this.crypto.hmacSha256(this.chainingKey, inputKeyMaterial);
    const outputs: Uint8Array[] = [];
    for (let i = 0; i < count; i++) {
      const previous = i === 0 ? EMPTY : outputs[i - 1]!;
      outputs.push(this.crypto.hmacSha256(temporaryKey, previous, COUNTERS[i]!));
    }
    wipe(temporaryKey);
    return outputs;
  }
}
opaque(SymmetricState.prototype, 'SymmetricState');
