/**
 * The channel of one connection, the same for a client and a hub: cleartext envelopes until the handshake is done,
 * transport messages afterwards, and final failure. It looks up each input in the table of its side;
 * client-handshake.ts and hub-handshake.ts handle the inputs.
 */
import { assertBytes, assertFlag, assertFunction, assertSize } from '../arguments.ts';
import { type Bytes, isBytes, utf8ToBytes } from '../bytes.ts';
import { LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { Guard } from '../guard.ts';
import { MAX_MESSAGE, TAG_LENGTH } from '../limits.ts';
import type { Handshake, SessionKeys } from '../noise/handshake.ts';
import type { Pattern } from '../noise/patterns.ts';
import { opaque } from '../opaque.ts';
import { isNoObject, parseByEngine } from '../wire/engine-json.ts';
import { parseEnvelope } from '../wire/envelope.ts';
import { FrameJoiner, type Reassembled } from '../wire/frame-joiner.ts';
import type { Json } from '../wire/json.ts';
import { countFrames, frameAt, type MessageKind } from '../wire/markers.ts';
import { readJson } from '../wire/parse-json.ts';
import { jsonToBytes } from '../wire/write-json.ts';
import { type Closing, type Ending, type EndingFacts, type ReadClosing, readClosing } from './endings.ts';
import type { CommonEvent } from './events.ts';
import { inputOf, isLateRepeat, lateInputOf, mayBeJson, unexpected } from './inputs.ts';
import type { SessionOptions } from './options.ts';
import type { Input, Inputs, Step, TransitionTable } from './transitions.ts';

/** A side's handler for each input in its table. */
export type Handlers = { [name in Exclude<Input, 'frame'>]?: (carried: Inputs[name]) => void };

/** A side of the protocol. */
export interface Side<State extends string> extends Handlers {
  /** Takes the message that a transport message has completed, if any. */
  deliver(message: Reassembled | undefined): void;
  /** The ending of a connection that had not failed. May emit events that precede `ended`. */
  ended(facts: EndingFacts<State>): Ending;
  /** The ending of a connection that had failed. */
  failed(failure: LocalError | RemoteError, isEstablished: boolean): Ending;
  /** The handshake pattern, if one is chosen. */
  readonly pattern: Pattern | undefined;
  /** Whether no hub has accepted the client's static key yet. */
  readonly isFresh?: boolean;
  /** Drops and wipes everything that only the handshake needed. */
  release(): void;
}

/** One connection, seen from either side. */
export class Channel<State extends string, Event extends { readonly type: string }> {
  /** The current state. */
  state: State | 'failed' | 'closed';
  private readonly side: Side<State>;
  private readonly transitions: TransitionTable<State>;
  private readonly frames: FrameJoiner;
  private readonly maxFrame: number;
  private readonly inPlace: boolean;
  private readonly guard = new Guard();
  /** The keys of the session, once the handshake is done. */
  private cipherStates: Pick<SessionKeys, 'sending' | 'receiving'> | undefined = undefined;
  /** Whether a transport message of the peer has opened. Until then the peer may not have accepted this side. */
  private peerProved = false;
  /** The events of the current call. */
  private events: (Event | CommonEvent)[] | undefined = undefined;

  constructor(
    {
      maxMessage,
      maxFrame,
      inPlace,
      readBinary,
    }: Pick<SessionOptions, 'maxMessage' | 'maxFrame' | 'inPlace' | 'readBinary'>,
    initial: State,
    transitions: TransitionTable<State>,
    side: Side<State>,
  ) {
    if (readBinary !== undefined) assertFunction(readBinary, 'readBinary');
    this.frames = new FrameJoiner(maxMessage, readBinary);
    this.maxFrame = assertSize(maxFrame, 'maxFrame', MAX_MESSAGE);
    this.inPlace = assertFlag(inPlace, 'inPlace');
    this.state = initial;
    this.transitions = transitions;
    this.side = side;
  }

  /** As {@link ClientSession.receive}. */
  receive(data: string | Uint8Array): (Event | CommonEvent)[] {
    if (typeof data !== 'string' && !isBytes(data)) {
      throw errors.expectedType('data', 'string or Uint8Array', data);
    }
    return this.run(this.read, data);
  }

  private read(data: string | Uint8Array): void {
    if (this.isOver()) return;
    if (this.cipherStates !== undefined) this.takeSealed(data, this.cipherStates);
    else {
      const envelope = parseEnvelope(data);
      this.take(inputOf(envelope), envelope.payload);
    }
  }

  /** As {@link ClientSession.closed}. */
  closed(closing: Closing | undefined): (Event | CommonEvent)[] {
    this.guard.assertIdle();
    let read: ReadClosing;
    try {
      read = readClosing(closing);
    } catch (error) {
      throw this.refuse(error);
    }
    return this.run(this.close, read);
  }

  private close({ kind, code, status, closeReason, platformCode }: ReadClosing): void {
    if (this.state === 'closed') return;
    const { side, peerProved, state } = this;
    const { failure } = this.guard;
    const { reason, retry, error } =
      failure === undefined
        ? side.ended({
            close: kind,
            state: state as State,
            pattern: side.pattern,
            heard: peerProved,
            isFresh: side.isFresh,
            status,
            platformCode,
          })
        : side.failed(failure, this.cipherStates !== undefined);
    this.emit({ type: 'ended', reason, retry, error, pattern: side.pattern, code, status, closeReason });
    this.state = 'closed';
    this.destroy();
  }

  /** Takes an input from the integrator. */
  call<Name extends Exclude<Input, 'frame'>>(input: Name, carried: Inputs[Name]): (Event | CommonEvent)[] {
    return this.run(this.take<Name>, input, carried);
  }

  /**
   * Whether the current state knows an input.
   * @throws LocalError `wrong-state` within a callback of this session
   */
  knows(input: Input): boolean {
    this.guard.assertIdle();
    return !this.isOver() && this.transitions[this.state as State][input] !== undefined;
  }

  /** Adds an event to the current call. */
  emit(event: Event | CommonEvent): void {
    this.events!.push(event);
  }

  /** Enters the state that the table names, and hands the input to the side. */
  take<Name extends Exclude<Input, 'frame'>>(input: Name, carried: Inputs[Name]): void {
    const row = this.transitions[this.state as State];
    const next = row[input];
    if (next === undefined) {
      if (row.repeat === undefined || input === 'other') throw unexpected(input, this.state);
      return;
    }
    this.state = next;
    const handlers: Handlers = this.side;
    handlers[input]!(carried);
  }

  /** Enters the state that follows a step. */
  reach(step: Step | 'psk'): void {
    this.state = this.transitions[this.state as State][step]!;
  }

  /** Replaces the handshake by the keys of the session. */
  establish(handshake: Handshake): SessionKeys {
    const keys = handshake.split();
    this.cipherStates = keys;
    this.side.release();
    // What only `ready` tells is not kept.
    this.cipherStates = { sending: keys.sending, receiving: keys.receiving };
    return keys;
  }

  /**
   * Seals a message, as transport messages of at most 65535 bytes.
   * @param frame - the payload as the only frame, with room for the tag, if it has been made
   */
  seal(kind: MessageKind, payload: Uint8Array, frame?: Uint8Array): Bytes[] {
    const messages: Bytes[] = [];
    const count = countFrames(payload.length);
    for (let i = 0; i < count; i++) {
      const next = count === 1 && frame !== undefined ? frame : frameAt(kind, payload, i, TAG_LENGTH);
      messages.push(this.cipherStates!.sending.encryptWithAd(next));
    }
    return messages;
  }

  private takeSealed(data: string | Uint8Array, { receiving }: Pick<SessionKeys, 'receiving'>): void {
    // Over MQTT cleartext arrives as bytes too: if the bytes are an envelope, they were never sealed.
    if (typeof data === 'string' || (mayBeJson(data) && !isNoObject(data))) {
      const input = lateInputOf(data);
      if (input !== undefined && isLateRepeat(input, typeof data === 'string')) return;
      if (input !== undefined || typeof data === 'string') throw errors.textAfterReady();
    }
    const { maxFrame } = this;
    if (data.length > maxFrame) throw errors.frameTooLong(maxFrame);
    this.state = this.transitions[this.state as State].frame!;
    const frame = receiving.openMessage(data, this.inPlace);
    this.peerProved = true;
    this.side.deliver(this.frames.push(frame));
  }

  /** As {@link ClientSession.sendJson} and {@link ClientSession.sendBinary}. */
  send(kind: MessageKind, content: Json | object): Bytes[] {
    this.guard.assertIdle();
    if (this.isOver()) {
      throw errors.sessionOver(this.guard.failure);
    }
    if (this.state !== 'ready') {
      throw errors.notReady(this);
    }
    let isSealing = false;
    this.guard.enter();
    try {
      let frame: Bytes | undefined;
      let payload = content as Uint8Array;
      if (kind === 'json') {
        frame = encode(content);
        payload = payloadOf(frame);
      } else assertBytes(content, 'bytes');
      if (payload.length > MAX_MESSAGE) {
        throw errors.messageTooLong(payload, MAX_MESSAGE);
      }
      isSealing = true;
      return this.seal(kind, payload, frame);
    } catch (error) {
      throw isSealing ? this.fail(error) : this.refuse(error);
    } finally {
      this.guard.leave();
    }
  }

  /**
   * Runs a method that emits events. If it throws, the session fails. It takes no closure: if one could not be allocated, the
   * session would not fail.
   * @throws the failure, if there is no memory for the event that says so
   */
  private run<First, Second>(
    method: (first: First, second: Second) => void,
    first: First,
    second?: Second,
  ): (Event | CommonEvent)[] {
    this.guard.enter();
    try {
      const events: (Event | CommonEvent)[] = [];
      this.events = events;
      try {
        method.call(this, first, second as Second);
      } catch (error) {
        const code = this.cipherStates === undefined ? 1008 : 1002;
        this.emit({ type: 'close', code, error: this.fail(error) });
      }
      return events;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.events = undefined;
      this.guard.leave();
    }
  }

  /** Whether the session has failed or is closed. */
  isOver(): boolean {
    return this.state === 'failed' || this.state === 'closed';
  }

  /** A mistake of the caller changes nothing. Anything else fails the session, such as a full heap. Returns the error to throw. */
  private refuse(error: unknown): LocalError | RemoteError {
    return error instanceof LocalError && error.code !== 'out-of-memory' ? error : this.fail(error);
  }

  /** Fails the session, which is final, and wipes its keys before it makes the error, for which there may be no memory. */
  private fail(error: unknown): LocalError | RemoteError {
    this.state = 'failed';
    this.destroy();
    return this.guard.fail(error);
  }

  /** Allocates nothing. */
  private destroy(): void {
    this.side.release();
    this.cipherStates?.sending.destroy();
    this.cipherStates?.receiving.destroy();
    this.frames.destroy();
  }
}
opaque(Channel.prototype, 'Channel');

/**
 * JSON as the plaintext of one transport message, after MARKER_JSON, which is 0, and with room for the tag: a device has it in
 * memory once. A string is JSON already.
 * @throws LocalError `bad-argument`, `lone-surrogate`, as `jsonToBytes`
 */
function encode(content: Json | object): Bytes {
  if (typeof content !== 'string') return jsonToBytes(content, 1, TAG_LENGTH);
  const bytes = utf8ToBytes(content, 1, TAG_LENGTH);
  try {
    if (parseByEngine(content) === undefined) readJson(payloadOf(bytes), true);
  } catch (error) {
    throw error instanceof RemoteError ? errors.stringIsNotJson() : error;
  }
  return bytes;
}

function payloadOf(frame: Bytes): Bytes {
  return frame.subarray(1, frame.length - TAG_LENGTH);
}
