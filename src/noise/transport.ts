/** What a finished handshake results in: a key for each direction (Noise spec, section 5.3, Split). */
import { assertBytes } from '../arguments.ts';
import { type Bytes, copyBytes, wipe } from '../bytes.ts';
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
  readonly handshakeHash: Bytes;
  /** The peer's static public key; 32 bytes. */
  readonly remoteStaticKey: Bytes;
  private readonly sending: CipherState;
  private readonly receiving: CipherState;
  private isBusy = false;
  private isOver = false;
  private failure: LocalError | RemoteError | undefined = undefined;

  /**
   * Called by HandshakeState only.
   * @param sending - with which this side seals; owned, and wiped by `destroy`
   * @param receiving - with which the peer seals; owned, and wiped by `destroy`
   * @param handshakeHash - 32 bytes; owned
   * @param remoteStaticKey - 32 bytes, which are copied
   */
  constructor(
    sending: CipherState,
    receiving: CipherState,
    handshakeHash: Bytes,
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
   * @returns the message, 16 bytes longer than the plaintext
   * @throws LocalError `bad-argument` or `message-too-long`, which change nothing; `nonce-exhausted`,
   *   `crypto-failed`, which are final; `wrong-state` after `destroy`
   */
  encrypt(plaintext: Uint8Array): Bytes {
    assertBytes(plaintext, 'plaintext');
    this.assertUsable();
    assertAtMost(MAX_NOISE_MESSAGE - TAG_LENGTH, plaintext, 'plaintext');
    return this.run(() => this.sending.encryptWithAd(NO_ASSOCIATED_DATA, plaintext));
  }

  /**
   * Seals one transport message without copying it, if the cipher can.
   * @param buffer - the plaintext followed by 16 bytes for the tag; 16 to 65535 bytes, which belong to the transport then
   * @returns the message: `buffer`, or a new array of the same length
   * @throws LocalError as {@link encrypt}, and `bad-length`, which changes nothing, for fewer than 16 bytes
   */
  encryptInPlace(buffer: Uint8Array): Bytes {
    assertBytes(buffer, 'buffer');
    this.assertUsable();
    if (buffer.length < TAG_LENGTH) {
      throw new LocalError(
        'bad-length',
        `"buffer" expected at least ${TAG_LENGTH} bytes, got ${buffer.length}`,
      );
    }
    assertAtMost(MAX_NOISE_MESSAGE, buffer, 'buffer');
    return this.run(() => this.sending.encryptInPlace(NO_ASSOCIATED_DATA, buffer));
  }

  /**
   * Opens one transport message.
   * @param message - 16 to 65535 bytes
   * @param inPlace - whether the plaintext may be a view of the message, which is then overwritten (default false)
   * @returns the plaintext, 16 bytes shorter than the message
   * @throws RemoteError `message-too-short`, `message-too-long`, `not-authentic`, `nonce-exhausted`: all final
   * @throws LocalError `bad-argument`, which changes nothing; `crypto-failed`, which is final; `wrong-state` after
   *   `destroy`
   */
  decrypt(message: Uint8Array, inPlace = false): Bytes {
    assertBytes(message, 'message');
    this.assertUsable();
    return this.run(() => {
      assertMessageLength(message, TAG_LENGTH);
      return this.receiving.decryptWithAd(NO_ASSOCIATED_DATA, message, inPlace);
    });
  }

  /**
   * Wipes the keys and the handshake hash.
   * @throws LocalError `wrong-state` when called by the injected cipher
   */
  destroy(): void {
    this.assertNotBusy();
    this.end();
  }

  private assertUsable(): void {
    if (this.isOver) {
      this.failure ??= new LocalError('wrong-state', 'this transport is destroyed: complete a new handshake');
      throw this.failure;
    }
    this.assertNotBusy();
  }

  /** A message sealed while another one is being sealed would use its nonce. */
  private assertNotBusy(): void {
    if (this.isBusy) {
      throw new LocalError('wrong-state', 'an injected cipher must not call the transport that called it');
    }
  }

  private run(step: () => Bytes): Bytes {
    this.isBusy = true;
    try {
      return step();
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.isBusy = false;
    }
  }

  private fail(error: unknown): LocalError | RemoteError {
    this.failure ??= failureOf(error);
    this.end();
    return this.failure;
  }

  private end(): void {
    this.isOver = true;
    this.sending.destroy();
    this.receiving.destroy();
    wipe(this.handshakeHash);
  }
}
opaque(Transport.prototype, 'Transport');

function assertAtMost(longest: number, bytes: Uint8Array, name: string): void {
  if (bytes.length > longest) {
    throw new LocalError(
      'message-too-long',
      `"${name}" expected at most ${longest} bytes, got ${bytes.length}`,
    );
  }
}

/** @throws RemoteError `message-too-short`, `message-too-long` */
export function assertMessageLength(
  message: Uint8Array,
  shortest: number,
  longest: number = MAX_NOISE_MESSAGE,
): void {
  if (message.length < shortest) {
    throw new RemoteError('message-too-short', 'a Noise message that was cut short');
  }
  if (message.length > longest) {
    throw new RemoteError('message-too-long', `a Noise message of more than ${longest} bytes`);
  }
}
