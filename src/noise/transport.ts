/** The result of a finished handshake: a key for each direction (Noise spec, section 5.3, Split). */
import { assertBytes } from '../arguments.ts';
import { type Bytes, copyBytes, wipe } from '../bytes.ts';
import type { LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { EndingGuard } from '../guard.ts';
import { hideFields } from '../hide-fields.ts';
import { MAX_NOISE_MESSAGE, TAG_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import { type CipherState, withRoom } from './cipher-state.ts';
import type { SessionKeys } from './handshake.ts';

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
  private readonly guard = new EndingGuard();

  /**
   * Called by HandshakeState only.
   * @param keys - owned, and wiped by `destroy`
   */
  constructor(keys: SessionKeys) {
    this.sending = keys.sending;
    this.receiving = keys.receiving;
    this.handshakeHash = keys.handshakeHash;
    try {
      this.remoteStaticKey = copyBytes(keys.remoteStaticKey);
      hideFields(this);
    } catch (error) {
      throw this.fail(error);
    }
  }

  /**
   * Seals one transport message.
   * @param plaintext - at most 65519 bytes
   * @returns the message, 16 bytes longer than the plaintext
   * @throws LocalError `bad-argument` or `message-too-long`, which change nothing; `nonce-exhausted`, `out-of-memory`,
   *   `crypto-failed`, which are final; `wrong-state` after `destroy`
   */
  encrypt(plaintext: Uint8Array): Bytes {
    assertBytes(plaintext, 'plaintext');
    this.guard.assertUsable();
    assertAtMost(MAX_NOISE_MESSAGE - TAG_LENGTH, plaintext, 'plaintext');
    return this.seal(plaintext, false);
  }

  /**
   * Seals one transport message without copying it, if the cipher can.
   * @param buffer - the plaintext followed by 16 bytes for the tag; 16 to 65535 bytes, which belong to the transport from
   *   then on
   * @returns the message: `buffer`, or a new array of the same length
   * @throws LocalError as {@link encrypt}, and `bad-length`, which changes nothing, for fewer than 16 bytes
   */
  encryptInPlace(buffer: Uint8Array): Bytes {
    assertBytes(buffer, 'buffer');
    this.guard.assertUsable();
    if (buffer.length < TAG_LENGTH) {
      throw errors.tooShort('buffer', TAG_LENGTH, buffer);
    }
    assertAtMost(MAX_NOISE_MESSAGE, buffer, 'buffer');
    return this.seal(buffer, true);
  }

  /**
   * Opens one transport message.
   * @param message - 16 to 65535 bytes
   * @param inPlace - whether the plaintext may be a view of the message, which is then overwritten (default false)
   * @returns the plaintext, 16 bytes shorter than the message
   * @throws RemoteError `message-too-short`, `message-too-long`, `not-authentic`, `nonce-exhausted`: all final
   * @throws LocalError `bad-argument`, which changes nothing; `out-of-memory`, `crypto-failed`, which are final;
   *   `wrong-state` after `destroy`
   */
  decrypt(message: Uint8Array, inPlace = false): Bytes {
    assertBytes(message, 'message');
    this.guard.assertUsable();
    this.guard.enter();
    try {
      return this.receiving.openMessage(message, inPlace);
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.guard.leave();
    }
  }

  /**
   * Wipes the keys and the handshake hash.
   * @throws LocalError `wrong-state` when called by the injected cipher
   */
  destroy(): void {
    this.guard.assertIdle();
    this.end();
  }

  /** @param hasRoom - for the tag, at the end */
  private seal(bytes: Uint8Array, hasRoom: boolean): Bytes {
    this.guard.enter();
    try {
      return this.sending.encryptWithAd(hasRoom ? bytes : withRoom(bytes));
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.guard.leave();
    }
  }

  /** Wipes the keys, and then makes the error, for which there may be no memory. */
  private fail(error: unknown): LocalError | RemoteError {
    this.end();
    return this.guard.fail(error);
  }

  private end(): void {
    this.guard.end();
    this.sending.destroy();
    this.receiving.destroy();
    wipe(this.handshakeHash);
  }
}
opaque(Transport.prototype, 'Transport');

function assertAtMost(longest: number, bytes: Uint8Array, name: string): void {
  if (bytes.length > longest) {
    throw errors.tooLong(name, longest, bytes);
  }
}
