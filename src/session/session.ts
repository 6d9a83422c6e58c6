/**
 * What the sessions of a client and of a hub have in common: cleartext envelopes until the handshake is done, transport
 * messages from then on, and a failure that is final. What happens in which state is data: see transitions.ts and
 * endings.ts.
 */
import { assertBytes, assertFlag, assertFunction, kindOf } from '../arguments.ts';
import { type Bytes, isBytes, utf8ToBytes } from '../bytes.ts';
import { assertCrypto, assertOwnKey, failureOf } from '../crypto/checked.ts';
import type { Crypto, KeyPair, RandomBytes } from '../crypto/crypto.ts';
import { LocalError, type RemoteError } from '../errors.ts';
import { MAX_MESSAGE, TAG_LENGTH } from '../limits.ts';
import type { HandshakeState } from '../noise/handshake-state.ts';
import type { Transport } from '../noise/transport.ts';
import { type Envelope, parseEnvelope } from '../wire/envelope.ts';
import type { Json, JsonObject } from '../wire/json.ts';
import { countFrames, frameAt, type MessageKind } from '../wire/markers.ts';
import { type Reassembled, Reassembler, type ReassemblerOptions } from '../wire/reassembler.ts';
import { jsonToBytes } from '../wire/write-json.ts';
import { type Closing, type EndingFacts, type FailureRow, findFailure, readClosing } from './endings.ts';
import type { CommonEvent, EndedEvent } from './events.ts';
import {
  inputOf,
  isLateRepeat,
  isRepeat,
  lateInputOf,
  mayBeJson,
  textAfterReady,
  unexpected,
} from './inputs.ts';
import { assertMaxEnvelope } from './options.ts';
import { allOf, encodeText, type OutgoingMessage } from './outgoing.ts';
import type { Pattern } from './protocol.ts';
import type { Input, TransitionTable } from './transitions.ts';

/** The options that both sessions share. */
export interface SessionOptions {
  /** The cryptography, such as `nobleCrypto` or `nodeCrypto`. */
  crypto: Crypto;
  /**
   * The static key: a private key of 32 bytes, or a key pair, whose public key no session has to compute. Store it: the
   * peer pins its public key, so it must be the same after a restart.
   */
  staticKey: Uint8Array | KeyPair;
  /** The random number generator, called once for the 32 bytes of the ephemeral key. */
  randomBytes: RandomBytes;
  /** The longest message to accept, in bytes (default 32 MiB, which is the maximum). A longer one is dropped. */
  maxMessage?: number | undefined;
  /** The longest cleartext envelope to accept, in bytes (default 256 KiB, maximum 32 MiB). A longer one is an error. */
  maxEnvelope?: number | undefined;
  /**
   * Whether `receive` may decrypt a transport message inside the array that it is given (default false). This saves a
   * second array of up to 65519 bytes, but overwrites the first one, and events contain views of it. It needs a cipher
   * with `openInPlace`, such as the ChaChaPoly of noble; with any other cipher it has no effect.
   */
  inPlace?: boolean | undefined;
}

/** The names of these options. */
export const SESSION_OPTIONS: readonly (keyof SessionOptions)[] = [
  'crypto',
  'staticKey',
  'randomBytes',
  'maxMessage',
  'maxEnvelope',
  'inPlace',
];

/** What a state handles: the payload of an envelope, or bytes (a transport message, a PSK or a shared secret). */
export type Incoming = JsonObject | Uint8Array;

/** One connection, as either side sees it. */
export abstract class Session<State extends string, Event extends { readonly type: string }> {
  protected readonly crypto: Crypto;
  protected handshake: HandshakeState | undefined = undefined;
  protected pattern: Pattern | undefined = undefined;
  /** Whether a transport message of the peer has opened. Until then the peer may not have accepted this side. */
  protected heard = false;
  protected phase: State | 'failed' | 'closed';
  private readonly transitions: TransitionTable;
  private readonly failures: readonly FailureRow[];
  private readonly reassembler: Reassembler;
  private readonly inPlace: boolean;
  private readonly maxEnvelope: number;
  protected transport: Transport | undefined = undefined;
  private failure: LocalError | RemoteError | undefined = undefined;
  /** Whether the handshake was completed. Stays true when the session is over. */
  private isEstablished = false;
  private isBusy = false;
  /** Whether a message is being sent that is not yet sealed to its end. */
  private isStreaming = false;

  constructor(
    options: SessionOptions & ReassemblerOptions,
    initial: State,
    transitions: TransitionTable,
    failures: readonly FailureRow[],
  ) {
    const { crypto, staticKey, randomBytes, maxMessage, maxEnvelope, streams, inPlace } = options;
    assertCrypto(crypto);
    assertOwnKey(staticKey, 'staticKey');
    assertFunction(randomBytes, 'randomBytes');
    this.crypto = crypto;
    this.maxEnvelope = assertMaxEnvelope(maxEnvelope);
    this.reassembler = new Reassembler({ maxMessage, streams });
    this.inPlace = assertFlag(inPlace, 'inPlace');
    this.transitions = transitions;
    this.failures = failures;
    this.phase = initial;
  }

  /** The name of the current state, for deadlines and logs. */
  get state(): State | 'failed' | 'closed' {
    return this.phase;
  }

  /**
   * Takes one WebSocket message or one MQTT payload. Before the handshake is done, bytes are read as UTF-8.
   * @param data - the message: a string if it was text, a Uint8Array if it was binary
   * @returns the events that follow, in order; none if the session has failed or closed
   * @throws LocalError `bad-argument` for anything but a string or a Uint8Array; `wrong-state` in a callback of this
   *   session. Nothing that the peer sends makes it throw.
   */
  receive(data: string | Uint8Array): (Event | CommonEvent)[] {
    if (typeof data !== 'string' && !isBytes(data)) {
      throw new LocalError('bad-argument', `"data" expected string or Uint8Array, got ${kindOf(data)}`);
    }
    return this.run((events) => {
      if (!this.isOver()) this.take(data, events);
    });
  }

  /**
   * Seals a JSON message.
   * @param value - plain data, whatever its type is called, or a string that contains JSON and is sent as it is
   * @returns the transport messages, of at most 65535 bytes each: write all of them, in order, with nothing in between
   * @throws LocalError `wrong-state` before `ready`, while a streamed message is unfinished, and in a callback of this
   *   session; `session-over` after the end; `not-json`, `unsafe-number`, `lone-surrogate` or `json-depth` if the value is
   *   not JSON; `message-too-long` if it is longer than 32 MiB. None of these changes anything. `nonce-exhausted` and
   *   `crypto-failed` end the session.
   */
  sendJson(value: Json | object): Bytes[] {
    return allOf(this.exclusively(() => this.outgoingJson(value)));
  }

  /**
   * Seals a binary message.
   * @param bytes - the message, at most 32 MiB; it stays yours
   * @returns the transport messages, as from `sendJson`
   * @throws LocalError `wrong-state`, `session-over`, `message-too-long`, `nonce-exhausted` and `crypto-failed`, in the same
   *   cases as in `sendJson`; `bad-argument`, which changes nothing
   */
  sendBinary(bytes: Uint8Array): Bytes[] {
    return allOf(this.exclusively(() => this.outgoingBinary(bytes)));
  }

  /**
   * Seals a JSON message one transport message at a time, as fast as the transport accepts them, so that a device holds
   * only one of them in memory. Nothing else can be sent until the last one has been sealed.
   * @param value - as for `sendJson`
   * @returns the message, whose `next()` seals the transport messages
   * @throws LocalError the codes of `sendJson`
   */
  streamJson(value: Json | object): OutgoingMessage {
    return this.exclusively(() => this.outgoingJson(value));
  }

  /**
   * Seals a binary message one transport message at a time, as `streamJson` does.
   * @param bytes - the message, which must not change until the last transport message has been sealed
   * @returns the message, whose `next()` seals the transport messages
   * @throws LocalError the codes of `sendBinary`
   */
  streamBinary(bytes: Uint8Array): OutgoingMessage {
    return this.exclusively(() => this.outgoingBinary(bytes));
  }

  /**
   * Tells the session that the transport has closed, or that the integrator has stopped waiting. Only the first call
   * counts.
   * @param closing - the close code, `'timeout'`, or `{ code, status, reason }`: `status` is that of a refused HTTP
   *   upgrade. Without an argument the connection was lost.
   * @returns `ended`, after any events that change what is stored; nothing on later calls
   * @throws LocalError `bad-argument`; `wrong-state` in a callback of this session
   */
  closed(closing?: Closing): (Event | CommonEvent)[] {
    const { kind, code, status, closeReason } = readClosing(closing);
    return this.run((events) => {
      if (this.phase === 'closed') return;
      const { failure, pattern } = this;
      const facts: EndingFacts = { close: kind, state: this.phase, pattern, heard: this.heard, status };
      const { reason, retry, error } =
        failure === undefined ? this.endedByPeer(facts, events) : this.endedByFailure(failure);
      events.push({ type: 'ended', reason, retry, error, pattern, code, status, closeReason });
      this.phase = 'closed';
      this.destroy();
    });
  }

  /** Calls the method that the table names for an input, and returns the state that follows. */
  protected abstract act(
    action: string,
    incoming: Incoming | undefined,
    events: (Event | CommonEvent)[],
  ): State;
  /** How a session that had not failed ends. It may push events that precede `ended`. */
  protected abstract endedByPeer(
    facts: EndingFacts,
    events: (Event | CommonEvent)[],
  ): Pick<EndedEvent, 'reason' | 'retry' | 'error'>;

  /** How a session that had failed ends. */
  protected endedByFailure(error: LocalError | RemoteError): Pick<EndedEvent, 'reason' | 'retry' | 'error'> {
    const isLocal = error instanceof LocalError;
    const { isEstablished } = this;
    const { reason, retry } = findFailure(this.failures, { error: error.code, isLocal, isEstablished });
    return { reason, retry, error };
  }

  /** Runs a method that returns events. If it throws, the session fails. */
  protected run(body: (events: (Event | CommonEvent)[]) => void): (Event | CommonEvent)[] {
    return this.exclusively(() => {
      const events: (Event | CommonEvent)[] = [];
      try {
        body(events);
      } catch (error) {
        events.push(this.fail(error));
      }
      return events;
    });
  }

  /** Handles an input that has arrived or that the integrator has provided. */
  protected dispatch(input: Input, incoming: Incoming | undefined, events: (Event | CommonEvent)[]): void {
    const row = this.transitions[this.phase]!;
    const transition = row.on[input];
    if (transition !== undefined) this.phase = this.act(transition.action, incoming, events);
    else if (!row.ignoresRepeats || !isRepeat(input)) throw unexpected(input, this.phase);
  }

  /** Whether the current state handles an input. */
  protected handles(input: Input): boolean {
    const row = this.transitions[this.phase];
    return row !== undefined && row.on[input] !== undefined;
  }

  protected isOver(): boolean {
    return this.phase === 'failed' || this.phase === 'closed';
  }

  /** Replaces the handshake by the keys of the session. */
  protected establish(): Transport {
    this.transport = this.handshake!.split();
    this.isEstablished = true;
    this.forgetHandshake();
    return this.transport;
  }

  /** Opens a transport message, and returns the message that it completes, if any. */
  protected open(sealed: Uint8Array): Reassembled | undefined {
    const frame = this.transport!.decrypt(sealed, this.inPlace);
    this.heard = true;
    return this.reassembler.push(frame);
  }

  /** Seals the client's HELLO, as soon as the handshake is done. */
  protected sealText(text: string): Bytes[] {
    const payload = utf8ToBytes(text);
    const messages: Bytes[] = [];
    const count = countFrames(payload.length);
    for (let i = 0; i < count; i++) messages.push(this.sealFrame('json', payload, i));
    return messages;
  }

  /** Drops and wipes everything that only the handshake needed. */
  protected forgetHandshake(): void {
    this.handshake?.destroy();
    this.handshake = undefined;
  }

  /** @throws LocalError `wrong-state` within a callback of this session */
  protected assertIdle(): void {
    if (this.isBusy) {
      throw new LocalError(
        'wrong-state',
        'a callback of the session called one of its methods: call it after the callback has returned',
      );
    }
  }

  /** Runs a method, during which no other may run. @throws LocalError `wrong-state` */
  private exclusively<Result>(body: () => Result): Result {
    this.assertIdle();
    this.isBusy = true;
    try {
      return body();
    } finally {
      this.isBusy = false;
    }
  }

  private take(data: string | Uint8Array, events: (Event | CommonEvent)[]): void {
    if (!this.isEstablished) {
      const envelope: Envelope = parseEnvelope(data, this.maxEnvelope);
      this.dispatch(inputOf(envelope), envelope.payload, events);
      return;
    }
    // Over MQTT cleartext arrives as bytes too: bytes that are an envelope were never sealed.
    if (typeof data === 'string' || mayBeJson(data)) {
      const input = lateInputOf(data, this.maxEnvelope);
      if (input !== undefined && isLateRepeat(input, typeof data === 'string')) return;
      if (input !== undefined || typeof data === 'string') throw textAfterReady();
    }
    this.dispatch('frame', data as Uint8Array, events);
  }

  /** Fails the session, which is final, and wipes its keys. Returns the `close` event with the error. */
  private fail(error: unknown): CommonEvent {
    this.failure = failureOf(error);
    this.phase = 'failed';
    this.destroy();
    return { type: 'close', code: this.isEstablished ? 1002 : 1008, error: this.failure };
  }

  private destroy(): void {
    this.forgetHandshake();
    this.transport?.destroy();
    this.reassembler.destroy();
  }

  private outgoingJson(value: Json | object): OutgoingMessage {
    this.assertMaySend();
    return this.stream('json', typeof value === 'string' ? encodeText(value) : jsonToBytes(value));
  }

  private outgoingBinary(bytes: Uint8Array): OutgoingMessage {
    this.assertMaySend();
    assertBytes(bytes, 'bytes');
    return this.stream('binary', bytes);
  }

  private assertMaySend(): void {
    if (this.isOver()) throw sessionOver(this.failure);
    if (this.phase !== 'ready') {
      throw new LocalError('wrong-state', `sending in state ${this.phase}: wait for the ready event`);
    }
    if (this.isStreaming) {
      throw new LocalError(
        'wrong-state',
        'another message is being streamed: call its next() until it returns undefined',
      );
    }
  }

  private stream(kind: MessageKind, payload: Uint8Array): OutgoingMessage {
    if (payload.length > MAX_MESSAGE) {
      throw new LocalError(
        'message-too-long',
        `a message of ${payload.length} bytes, which the peer would drop: send at most ${MAX_MESSAGE}`,
      );
    }
    const count = countFrames(payload.length);
    let index = 0;
    this.isStreaming = true;
    const next = (): Bytes | undefined =>
      this.exclusively(() => {
        if (index === count) return undefined;
        if (this.isOver()) throw sessionOver(this.failure);
        try {
          const message = this.sealFrame(kind, payload, index);
          index++;
          this.isStreaming = index < count;
          return message;
        } catch (error) {
          this.fail(error);
          throw error;
        }
      });
    return { count, next };
  }

  private sealFrame(kind: MessageKind, payload: Uint8Array, index: number): Bytes {
    return this.transport!.encryptInPlace(frameAt(kind, payload, index, TAG_LENGTH));
  }
}

function sessionOver(failure: LocalError | RemoteError | undefined): LocalError {
  return new LocalError('session-over', 'the session is over: connect again with a new one', failure);
}
