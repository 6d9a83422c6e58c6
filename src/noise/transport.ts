/** What a finished handshake leaves: a key for each direction (Noise spec, section 5.3, Split). */
import { assertBytes, copyBytes, wipe } from '../bytes.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
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
  private failure: LocalError | RemoteError | undefined;

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
    if (this.failure !== undefined) throw this.failure;
    const limit = MAX_NOISE_MESSAGE - TAG_LENGTH;
    if (plaintext.length > limit) {
      throw new LocalError(
        'message-too-long',
        `"plaintext" expected at most ${limit} bytes, got ${plaintext.length}`,
      );
    }
    try {
      return this.sending.encryptWithAd(NO_ASSOCIATED_DATA, plaintext);
    } catch (error) {
      throw this.fail(error as LocalError);
    }
  }

  /**
   * Opens one transport message.
   * @param message - 16 to 65535 bytes
   * @param inPlace - whether the plaintext may be a view of the message, which is overwritten then (default false)
   * @throws RemoteError `message-too-short`, `message-too-long`, `not-authentic`, `nonce-exhausted`: all final
   */
  decrypt(message: Uint8Array, inPlace = false): Uint8Array {
    assertBytes(message, 'message');
    if (this.failure !== undefined) throw this.failure;
    try {
      assertMessageLength(message, TAG_LENGTH);
      return this.receiving.decryptWithAd(NO_ASSOCIATED_DATA, message, inPlace);
    } catch (error) {
      throw this.fail(error as RemoteError);
    }
  }

  /** Wipes the keys and the handshake hash. */
  destroy(): void {
    this.fail(new LocalError('wrong-state', 'this transport is destroyed: complete a new handshake'));
  }

  private fail(failure: LocalError | RemoteError): LocalError | RemoteError {
    if (this.failure === undefined) this.failure = failure;
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
