/** CipherState (Noise spec, section 5.1): a cipher key and the counter that each nonce is built from. */
import { type Bytes, concatBytes, EMPTY as NO_ASSOCIATED_DATA, wipe } from '../bytes.ts';
import type { CheckedCipher, CheckedCrypto } from '../crypto/checked.ts';
import type { CipherName } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import { MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';

const NONCE_LENGTH = 12;

export class CipherState {
  private readonly crypto: CheckedCrypto;
  private readonly cipherName: CipherName;
  private key: Uint8Array | undefined = undefined;
  private cipher: CheckedCipher | undefined = undefined;
  /** Four zero bytes and the counter, little-endian for ChaChaPoly and big-endian for AESGCM (section 12). */
  private readonly nonce: Uint8Array = new Uint8Array(NONCE_LENGTH);

  /** InitializeKey(empty). */
  constructor(crypto: CheckedCrypto, cipherName: CipherName) {
    this.crypto = crypto;
    this.cipherName = cipherName;
  }

  /** InitializeKey(key): 32 bytes, which this object owns and wipes. */
  initializeKey(key: Uint8Array): void {
    this.destroy();
    wipe(this.nonce);
    this.key = key;
    this.cipher = this.crypto.createCipher(this.cipherName, key);
  }

  /**
   * EncryptWithAd, which needs a key; in place, if the cipher can.
   * @param buffer - the plaintext followed by 16 bytes for the tag
   * @param associatedData - default none, as in transport messages
   * @returns the sealed message: `buffer` or a new array
   * @throws LocalError `nonce-exhausted` at the reserved nonce 2^64 - 1, `crypto-failed`
   */
  encryptWithAd(buffer: Uint8Array, associatedData: Uint8Array = NO_ASSOCIATED_DATA): Bytes {
    if (this.isExhausted()) {
      throw errors.nonceExhausted();
    }
    const sealed = this.cipher!.seal(this.nonce, associatedData, buffer);
    this.countUp();
    return sealed;
  }

  /**
   * Opens a transport message.
   * @param inPlace - whether the plaintext may be a view of the message, which is then overwritten
   * @throws RemoteError `message-too-short`, `message-too-long`, `nonce-exhausted`, `not-authentic`
   * @throws LocalError `crypto-failed`
   */
  openMessage(message: Uint8Array, inPlace: boolean): Bytes {
    assertMessageLength(message, TAG_LENGTH, MAX_NOISE_MESSAGE);
    return this.decryptWithAd(NO_ASSOCIATED_DATA, message, inPlace);
  }

  /**
   * DecryptWithAd, which needs a key. A failure leaves the counter unchanged.
   * @param sealed - at least 16 bytes
   * @param inPlace - whether the result may be a view of `sealed`, which is then overwritten
   * @throws RemoteError `nonce-exhausted`, `not-authentic`
   * @throws LocalError `crypto-failed`
   */
  decryptWithAd(associatedData: Uint8Array, sealed: Uint8Array, inPlace = false): Bytes {
    if (this.isExhausted()) {
      throw errors.peerNonceExhausted();
    }
    const plaintext = this.cipher!.open(this.nonce, associatedData, sealed, inPlace);
    if (plaintext === undefined) {
      throw errors.notAuthentic();
    }
    this.countUp();
    return plaintext;
  }

  destroy(): void {
    wipe(this.key);
    this.key = undefined;
    this.cipher = undefined;
  }

  private isExhausted(): boolean {
    for (let i = 4; i < NONCE_LENGTH; i++) if (this.nonce[i] !== 0xff) return false;
    return true;
  }

  private countUp(): void {
    for (let i = 0; i < 8; i++) {
      const at = this.cipherName === 'ChaChaPoly' ? 4 + i : NONCE_LENGTH - 1 - i;
      const byte = (this.nonce[at]! + 1) & 0xff;
      this.nonce[at] = byte;
      if (byte !== 0) return;
    }
  }
}
opaque(CipherState.prototype, 'CipherState');

/** A copy of a plaintext, and 16 bytes for the tag. */
export function withRoom(plaintext: Uint8Array): Uint8Array {
  return concatBytes([plaintext, new Uint8Array(TAG_LENGTH)]);
}

/** @throws RemoteError `message-too-short`, `message-too-long` */
export function assertMessageLength(message: Uint8Array, shortest: number, longest: number): void {
  if (message.length < shortest) {
    throw errors.receivedTooShort();
  }
  if (message.length > longest) {
    throw errors.receivedTooLong(longest);
  }
}
