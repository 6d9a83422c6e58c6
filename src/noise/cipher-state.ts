/** CipherState (Noise spec, section 5.1): a cipher key and the counter that each nonce is built from. */
import { type Bytes, EMPTY as NO_ASSOCIATED_DATA, wipe } from '../bytes.ts';
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
   * EncryptWithAd, which needs a key.
   * @throws LocalError `nonce-exhausted` at the reserved nonce 2^64 - 1, `crypto-failed`
   */
  encryptWithAd(associatedData: Uint8Array, plaintext: Uint8Array): Bytes {
    this.assertNonceLeft();
    const sealed = this.cipher!.seal(this.nonce, associatedData, plaintext);
    this.countUp();
    return sealed;
  }

  /**
   * Seals a transport message in place, if the cipher can.
   * @param buffer - the plaintext followed by 16 bytes for the tag; at most 65535 bytes
   * @returns the message: `buffer` or a new array
   * @throws LocalError `nonce-exhausted`, `crypto-failed`
   */
  sealMessage(buffer: Uint8Array): Bytes {
    this.assertNonceLeft();
    const sealed = this.cipher!.sealInPlace(this.nonce, NO_ASSOCIATED_DATA, buffer);
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

  private assertNonceLeft(): void {
    if (this.isExhausted()) {
      throw errors.nonceExhausted();
    }
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

/** @throws RemoteError `message-too-short`, `message-too-long` */
export function assertMessageLength(message: Uint8Array, shortest: number, longest: number): void {
  if (message.length < shortest) {
    throw errors.receivedTooShort();
  }
  if (message.length > longest) {
    throw errors.receivedTooLong(longest);
  }
}
