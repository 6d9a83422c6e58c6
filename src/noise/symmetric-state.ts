/** SymmetricState (Noise spec, section 5.2): the chaining key, the handshake hash, and the current cipher key. */
import { type Bytes, copyBytes, EMPTY, utf8ToBytes, wipe } from '../bytes.ts';
import type { CheckedCrypto } from '../crypto/checked.ts';
import type { CipherName } from '../crypto/crypto.ts';
import { KEY_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import { CipherState, withRoom } from './cipher-state.ts';

export class SymmetricState {
  private readonly crypto: CheckedCrypto;
  private readonly cipherName: CipherName;
  private readonly cipherState: CipherState;
  private chainingKey: Uint8Array;
  private hash: Uint8Array;
  /** The temporary key of HKDF, whose next output is the cipher key; `undefined` if that has been computed. */
  private temporaryKey: Uint8Array | undefined = undefined;
  /** HKDF's last output, unless it is the chaining key. */
  private temporaryHash: Uint8Array | undefined = undefined;

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

  /**
   * MixKey. The caller wipes the input. The cipher key is computed only when needed, since most are replaced before anything
   * is sealed.
   */
  mixKey(inputKeyMaterial: Uint8Array): void {
    const temporaryKey = this.crypto.hmacSha256(this.chainingKey, inputKeyMaterial);
    this.forgetOutputs();
    this.temporaryKey = temporaryKey;
    wipe(this.chainingKey);
    this.chainingKey = this.output(1, EMPTY);
  }

  /** The CipherState with the key of the last MixKey or MixKeyAndHash. */
  keyedCipherState(): CipherState {
    if (this.temporaryKey !== undefined) {
      const { temporaryHash } = this;
      const number = temporaryHash === undefined ? 2 : 3;
      this.cipherState.initializeKey(this.output(number, temporaryHash ?? this.chainingKey));
      this.forgetOutputs();
    }
    return this.cipherState;
  }

  mixHash(data: Uint8Array): void {
    this.hash = this.crypto.sha256(this.hash, data);
  }

  /** MixKeyAndHash, for pre-shared keys. */
  mixKeyAndHash(inputKeyMaterial: Uint8Array): void {
    this.mixKey(inputKeyMaterial);
    this.temporaryHash = this.output(2, this.chainingKey);
    this.mixHash(this.temporaryHash);
  }

  /** GetHandshakeHash; a copy. */
  handshakeHash(): Bytes {
    return copyBytes(this.hash);
  }

  /** EncryptAndHash. Patterns with a pre-shared key have a cipher key before anything is sealed (section 9.2). */
  encryptAndHash(plaintext: Uint8Array): Bytes {
    const sealed = this.keyedCipherState().encryptWithAd(withRoom(plaintext), this.hash);
    this.mixHash(sealed);
    return sealed;
  }

  /**
   * DecryptAndHash.
   * @throws RemoteError `not-authentic`
   */
  decryptAndHash(sealed: Uint8Array): Bytes {
    const plaintext = this.keyedCipherState().decryptWithAd(this.hash, sealed);
    this.mixHash(sealed);
    return plaintext;
  }

  /** A CipherState without a key, for `split`. */
  cipherStateToCome(): CipherState {
    return new CipherState(this.crypto, this.cipherName);
  }

  /** Split: gives its key to the CipherState that each side sends with. Nothing is allocated after that, which could fail. */
  split(initiator: CipherState, responder: CipherState): void {
    this.mixKey(EMPTY); // with the same outputs
    try {
      initiator.initializeKey(copyBytes(this.chainingKey));
      responder.initializeKey(this.output(2, this.chainingKey));
    } catch (error) {
      initiator.destroy();
      responder.destroy();
      throw error;
    }
  }

  destroy(): void {
    this.forgetOutputs();
    wipe(this.chainingKey);
    wipe(this.hash);
    this.cipherState.destroy();
  }

  /** An output of HKDF (section 4.3; RFC 5869 with an empty info). */
  private output(number: 1 | 2 | 3, previous: Uint8Array): Uint8Array {
    return this.crypto.hmacSha256(this.temporaryKey!, previous, new Uint8Array([number]));
  }

  private forgetOutputs(): void {
    wipe(this.temporaryKey);
    wipe(this.temporaryHash);
    this.temporaryKey = undefined;
    this.temporaryHash = undefined;
  }
}
opaque(SymmetricState.prototype, 'SymmetricState');
