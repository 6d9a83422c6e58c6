/**
 * HandshakeState (Noise spec, section 5.3): a Handshake for any caller. It checks arguments and the order of calls, and its
 * failure is final.
 */
import { assertBytes } from '../arguments.ts';
import { type Bytes, copyBytes, EMPTY } from '../bytes.ts';
import type { LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { EndingGuard } from '../guard.ts';
import { hideFields } from '../hide-fields.ts';
import { MAX_NOISE_MESSAGE } from '../limits.ts';
import { failureOf } from '../memory.ts';
import { opaque } from '../opaque.ts';
import { Handshake } from './handshake.ts';
import { type HandshakeOptions, readHandshakeOptions } from './handshake-options.ts';
import { Transport } from './transport.ts';

/**
 * One handshake. It copies the keys it is given, and wipes the copies when it ends or fails.
 *
 * An error while a message is written or read is final: every later call throws it again. Exception: a LocalError about
 * an argument or the order of calls changes nothing.
 * @see Noise spec, section 5.3
 *
 * @example
 * import { HandshakeState } from 'hub-protocol/parts';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const shared = { crypto, randomBytes, pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256' } as const;
 * const secret = { prologue: new Uint8Array(0), psk: randomBytes(32) };
 * const initiator = new HandshakeState({ ...shared, ...secret, role: 'initiator', staticKey: randomBytes(32) });
 * const responder = new HandshakeState({ ...shared, ...secret, role: 'responder', staticKey: randomBytes(32) });
 * responder.readMessage(initiator.writeMessage());
 * initiator.readMessage(responder.writeMessage());
 * responder.readMessage(initiator.writeMessage());
 * const [sender, receiver] = [initiator.split(), responder.split()];
 * console.log(receiver.decrypt(sender.encrypt(new Uint8Array([1, 2, 3]))).join()); // 1,2,3
 */
export class HandshakeState<Unfinished extends undefined = never> {
  private readonly handshake: Handshake;
  private readonly staticKeysKnown: boolean;
  private readonly guard = new EndingGuard();

  /** @throws LocalError `bad-argument`, `bad-length`, `suite-unavailable`, `crypto-failed`, `out-of-memory` */
  constructor(options: HandshakeOptions) {
    const inputs = readHandshakeOptions(options);
    this.staticKeysKnown = inputs.remoteStaticKey !== undefined;
    let handshake: Handshake | undefined;
    try {
      handshake = new Handshake(inputs);
      this.handshake = handshake;
      hideFields(this);
    } catch (error) {
      handshake?.destroy();
      inputs.staticKey.destroy();
      inputs.ephemeralKey?.destroy();
      throw failureOf(error);
    }
  }

  /** Whether all messages are written and read, and only `split` remains. */
  get isFinished(): boolean {
    return !this.guard.isOver && this.handshake.isFinished;
  }

  /** The peer's static public key, 32 bytes, if it was given or a whole message that contains it was read. */
  get remoteStaticKey(): Bytes | undefined {
    const { rs, work } = this.handshake;
    const isSettled = this.staticKeysKnown || work === undefined;
    return !this.guard.isOver && isSettled && rs !== undefined ? copyBytes(rs) : undefined;
  }

  /**
   * A public key, 32 bytes, a copy: `resume` needs its shared secret with our static key. `undefined` if `resume` needs
   * none.
   */
  get dhNeeded(): Bytes | undefined {
    return this.handshake.dhNeeded;
  }

  /**
   * Writes the next message.
   * @param payload - at most 65535 bytes less the keys and tags of the message (default: empty)
   * @returns the message; `undefined` if you must call `resume` first, which happens only if the handshake is paced or
   *   its static private key is kept elsewhere
   * @throws LocalError `bad-argument`, `wrong-state` or `message-too-long`, which change nothing; `bad-random`,
   *   `crypto-failed`, `out-of-memory`; `low-order-key` if `remoteStaticKey` is of low order
   * @throws RemoteError `low-order-key` if a public key in an earlier message of the peer is of low order
   */
  writeMessage(payload: Uint8Array = EMPTY): Bytes | Unfinished {
    assertBytes(payload, 'payload');
    this.assertTurn(true);
    const longest = MAX_NOISE_MESSAGE - this.handshake.shortestMessage();
    if (payload.length > longest) {
      throw errors.tooLong('payload', longest, payload);
    }
    return this.run(this.handshake.writeMessage, payload, undefined);
  }

  /**
   * Reads the next message.
   * @param message - at most 65535 bytes
   * @param maxPayload - the longest payload to open, in bytes (default: what fits into a message)
   * @returns its payload; `undefined` as in `writeMessage`
   * @throws LocalError `bad-argument` or `wrong-state`, which change nothing; `crypto-failed`, `out-of-memory`, `low-order-key`
   * @throws RemoteError `message-too-short`, `message-too-long`, `low-order-key`, `static-key-not-authentic`,
   *   `payload-not-authentic`
   */
  readMessage(message: Uint8Array, maxPayload: number = MAX_NOISE_MESSAGE): Bytes | Unfinished {
    assertBytes(message, 'message');
    this.assertTurn(false);
    return this.run(this.handshake.readMessage, message, maxPayload);
  }

  /**
   * Continues the message for which `writeMessage` or `readMessage` returned `undefined`.
   * @param sharedSecret - of our static key with the public key of `dhNeeded`: 32 bytes, yours to wipe. Omit it if
   *   `dhNeeded` is `undefined`
   * @returns the message or its payload; `undefined` if you must call `resume` again
   * @throws LocalError `wrong-state` if there is no such message, `bad-argument`, `bad-length`: these change nothing;
   *   otherwise as `writeMessage` or `readMessage`
   * @throws RemoteError `low-order-key` for zeros, which X25519 returns only for such public keys; otherwise as
   *   `writeMessage` or `readMessage`
   */
  resume(sharedSecret?: Uint8Array): Bytes | Unfinished {
    this.guard.assertUsable();
    if (this.handshake.work === undefined) {
      throw errors.nothingToResume();
    }
    this.handshake.assertAwaited(sharedSecret);
    return this.run(this.handshake.resume, sharedSecret, undefined);
  }

  /**
   * Ends the handshake, and returns the keys of the session.
   * @returns the Transport, which seals and opens transport messages
   * @throws LocalError `wrong-state` before the last message and after the first call; `crypto-failed`, `out-of-memory`
   */
  split(): Transport {
    this.guard.assertUsable();
    if (!this.isFinished) throw errors.splitTooEarly();
    this.guard.enter();
    try {
      const transport = new Transport(this.handshake.split());
      this.end();
      return transport;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.guard.leave();
    }
  }

  /**
   * Ends the handshake, and wipes every key.
   * @throws LocalError `wrong-state` when called by injected code, during another method
   */
  destroy(): void {
    this.guard.assertIdle();
    this.end();
  }

  private assertTurn(isWriting: boolean): void {
    this.guard.assertUsable();
    const due = this.isFinished
      ? 'split'
      : this.handshake.work !== undefined
        ? 'resume'
        : this.handshake.isOurTurn
          ? 'writeMessage'
          : 'readMessage';
    const method = isWriting ? 'writeMessage' : 'readMessage';
    if (due !== method) throw errors.notDue(method, due);
  }

  /** Runs a method of the handshake. Any error is final. It takes no closure: one that could not be allocated would not be final. */
  private run<First, Second>(
    method: (first: First, second: Second) => Bytes | undefined,
    first: First,
    second: Second,
  ): Bytes | Unfinished {
    this.guard.enter();
    try {
      return method.call(this.handshake, first, second) as Bytes | Unfinished;
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
    this.handshake.destroy();
  }
}
opaque(HandshakeState.prototype, 'HandshakeState');
