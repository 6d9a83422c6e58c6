/** CipherState (Noise spec, section 5.1): a key and the counter that makes each nonce. */
import { isBytes, wipe } from '../bytes.ts';
import type { Cipher, CipherFactory } from '../crypto/crypto.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { TAG_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import type { CipherName } from './patterns.ts';

const NONCE_LENGTH = 12;

export class CipherState {
  private readonly createCipher: CipherFactory;
  private readonly littleEndian: boolean;
  private key: Uint8Array | undefined;
  private cipher: Cipher | undefined;
  /** Four zeros and the counter, ready for use: little-endian for ChaChaPoly, big-endian for AESGCM (section 12). */
  private readonly nonce: Uint8Array = new Uint8Array(NONCE_LENGTH);

  /** InitializeKey(empty). */
  constructor(createCipher: CipherFactory, name: CipherName) {
    this.createCipher = createCipher;
    this.littleEndian = name === 'ChaChaPoly';
  }

  /** InitializeKey(key): 32 bytes, which this object owns and wipes. */
  initializeKey(key: Uint8Array): void {
    this.destroy();
    wipe(this.nonce);
    this.key = key;
    this.cipher = this.createCipher(key);
  }

  /**
   * EncryptWithAd, which needs a key.
   * @throws LocalError `nonce-exhausted` at the reserved nonce 2^64 - 1, `crypto-failed`
   */
  encryptWithAd(associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array {
    if (this.isExhausted()) {
      throw new LocalError(
        'nonce-exhausted',
        'every nonce of this session is used: close it and connect again',
      );
    }
    let sealed: Uint8Array | undefined;
    try {
      sealed = this.cipher!.seal(this.nonce, associatedData, plaintext);
    } catch (error) {
      throw new LocalError('crypto-failed', 'the injected cipher failed to seal', error);
    }
    if (!isBytes(sealed) || sealed.length !== plaintext.length + TAG_LENGTH) {
      throw new LocalError('crypto-failed', 'the injected cipher sealed to something of the wrong length');
    }
    this.countUp();
    return sealed;
  }

  /**
   * DecryptWithAd, which needs a key. A failure leaves the counter where it is.
   * @param inPlace - whether the answer may be a view of `sealed`, which is overwritten then
   * @throws RemoteError `nonce-exhausted`, `not-authentic`
   */
  decryptWithAd(associatedData: Uint8Array, sealed: Uint8Array, inPlace = false): Uint8Array {
    if (this.isExhausted()) {
      throw new RemoteError('nonce-exhausted', 'the peer used every nonce of this session: connect again');
    }
    let plaintext: Uint8Array | undefined;
    try {
      const cipher = this.cipher!;
      plaintext =
        inPlace && cipher.openInPlace !== undefined
          ? cipher.openInPlace(this.nonce, associatedData, sealed)
          : cipher.open(this.nonce, associatedData, sealed);
    } catch {
      // Why does not matter, and nobody may learn it.
    }
    if (!isBytes(plaintext)) {
      throw new RemoteError(
        'not-authentic',
        'a sealed text that does not open: damaged, out of order, or not the peer’s',
      );
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
      const at = this.littleEndian ? 4 + i : NONCE_LENGTH - 1 - i;
      const byte = (this.nonce[at]! + 1) & 0xff;
      this.nonce[at] = byte;
      if (byte !== 0) return;
    }
  }
}
opaque(CipherState.prototype, 'CipherState');
