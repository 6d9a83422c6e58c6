/** What a finished handshake results in: a key for each direction (Noise spec, section 5.3, Split). */
import { assertBytes, copyBytes, wipe } from '../bytes.ts';
import { failureOf } from '../crypto/checked.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import { hideFields, opaque } from '../opaque.ts';
import type { CipherState } from './cipher-state.ts';

const NO_ASSOCIATED_DATA = new Uint8Array(0);

/**
 * Seals and opens transport messages, each under the next nonce: every message sealed must be sent, and every
 * message received must be opened, in order. A failure is final and wipes the keys.
 */
export class Transport {
  /** The handshake hash h (Noise spec, section 11.2), for channel binding; 32 bytes, zeros once destroyed. */
  readonly handshakeHash: Uint8Array;
  /** The peer's static public key; 32 bytes. */
  readonly remoteStaticKey: Uint8Array;
  private readonly sending: CipherState;
  private readonly receiving: CipherState;
  private isBusy = false;
  private failure: LocalError | RemoteError | undefined = undefined;

  constructor(
    sending: CipherState,
    receiving: CipherState,
    handshakeHash: Uint8Array,
    remoteStaticKey: Uint8Array,
  ) {
    this.sending = sending;
    this.receiving = receiving;
    this.handshakeHash = handshakeHash;
    this.remoteStaticKey = copyBytes(remoteStaticKey);
    hideFields(this);
  }

  /**
   * Seals one transport message.
   * @param plaintext - at most 65519 bytes
   * @returns the message: the plaintext's length and 16
   * @throws LocalError `bad-argument` or `message-too-long`, which change nothing; `nonce-exhausted`,
   *   `crypto-failed`, which are final; `wrong-state` after `destroy`
   */
  encrypt(plaintext: Uint8Array): Uint8Array {
    assertBytes(plaintext, 'plaintext');
    this.assertUsable();
    const limit = MAX_NOISE_MESSAGE - TAG_LENGTH;
    if (plaintext.length > limit) {
      throw new LocalError(
        'message-too-long',
        `"plaintext" expected at most ${limit} bytes, got ${plaintext.length}`,
      );
    }
    this.isBusy = true;
    try {
      return this.sending.encryptWithAd(NO_ASSOCIATED_DATA, plaintext);
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.isBusy = false;
    }
  }

  /**
   * Opens one transport message.
   * @param message - 16 to 65535 bytes
   * @param inPlace - whether the plaintext may be a view of the message, which is then overwritten (default false)
   * @throws RemoteError `message-too-short`, `message-too-long`, `not-authentic`, `nonce-exhausted`: all final
   * @throws LocalError `bad-argument`, which changes nothing; `crypto-failed`, which is final; `wrong-state` after `destroy`
   */
  decrypt(message: Uint8Array, inPlace = false): Uint8Array {
    assertBytes(message, 'message');
    this.assertUsable();
    this.isBusy = true;
    try {
      assertMessageLength(message, TAG_LENGTH);
      return this.receiving.decryptWithAd(NO_ASSOCIATED_DATA, message, inPlace);
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.isBusy = false;
    }
  }

  /**
   * Wipes the keys and the handshake hash.
   * @throws LocalError `wrong-state` when called by the injected cipher
   */
  destroy(): void {
    this.assertNotBusy();
    this.fail(new LocalError('wrong-state', 'this transport is destroyed: complete a new handshake'));
  }

  private assertUsable(): void {
    if (this.failure !== undefined) throw this.failure;
    this.assertNotBusy();
  }

  /** A message sealed while another one is being sealed would use its nonce. */
  private assertNotBusy(): void {
    if (this.isBusy) {
      throw new LocalError('wrong-state', 'an injected cipher must not call the transport that called it');
    }
  }

  private fail(error: unknown): LocalError | RemoteError {
    this.failure ??= failureOf(error);
    this.sending.destroy();
    this.receiving.destroy();
    wipe(this.handshakeHash);
    return this.failure;
  }
}
opaque(Transport.prototype, 'Transport');

/** @throws RemoteError `message-too-short`, `message-too-long` */
export function assertMessageLength(message: Uint8Array, shortest: number): void {
  if (message.length < shortest) {
    throw new RemoteError('message-too-short', 'a Noise message that was cut short');
  }
  if (message.length > MAX_NOISE_MESSAGE) {
    throw new RemoteError('message-too-long', `a Noise message of more than ${MAX_NOISE_MESSAGE} bytes`);
  }
}
