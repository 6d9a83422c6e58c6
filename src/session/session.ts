/**
 * What a client's session and a hub's have in common: cleartext envelopes until the handshake is done, transport
 * messages from then on, and a failure that is final.
 */
import { assertBytes, assertFlag, copyBytes, isBytes, kindOf, utf8ToBytes, wipe } from '../bytes.ts';
import { assertCrypto, failureOf } from '../crypto/checked.ts';
import type { Crypto, RandomBytes } from '../crypto/crypto.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { KEY_LENGTH } from '../limits.ts';
import type { HandshakeState } from '../noise/handshake-state.ts';
import { ALL_PATTERNS, isPattern, type Pattern } from '../noise/patterns.ts';
import type { Transport } from '../noise/transport.ts';
import { type Envelope, parseEnvelope } from '../wire/envelope.ts';
import { isStringArray, readNoise } from '../wire/handshake.ts';
import { isJsonObject, type Json, type JsonObject, ownField } from '../wire/json.ts';
import { countFrames, frameAt, type MessageKind } from '../wire/markers.ts';
import { type Reassembled, Reassembler, type ReassemblerOptions } from '../wire/reassembler.ts';
import { stringifyJson } from '../wire/write-json.ts';
import type { CommonEvent, EndedEvent } from './events.ts';

/**
 * The kinds of cleartext envelope. Handshakes differ by their `noise` object: an offer has no `msg`, message 1 has it
 * with a pattern or a suite, later messages have it alone.
 */
export type Input = 'hello' | 'offer' | 'message-1' | 'later-message' | 'other';

/** What each state does with each input, by the name of a method. What has no entry is an error. */
export type Table<State extends string, Action extends string> = {
  readonly [state in State]: { readonly [input in Input]?: Action | 'ignore' };
};

export interface SessionOptions {
  crypto: Crypto;
  /** Our static private key; 32 bytes. It must outlive the program: the peer pins its public key. */
  staticKey: Uint8Array;
  /** The source of ephemeral keys; asked for 32 bytes once. */
  randomBytes: RandomBytes;
  /** The longest message to take, in bytes (default 32 MiB, and no more): a longer one is dropped. */
  maxMessage?: number | undefined;
  /**
   * Whether `receive` opens a transport message in the array that it is given (default false): that takes no second one
   * of up to 65519 bytes, but writes over it, and what events hand over are views of it. It takes a cipher with
   * `openInPlace`, such as ChaChaPoly of noble's; other messages are opened as always.
   */
  inPlace?: boolean | undefined;
}

export abstract class Session<State extends string, Event extends { readonly type: string }> {
  protected readonly crypto: Crypto;
  protected readonly randomBytes: RandomBytes;
  protected readonly staticKey: Uint8Array;
  protected handshake: HandshakeState | undefined;
  protected pattern: Pattern | undefined;
  /** Whether a transport message of the peer has opened: until then it may not have accepted us. */
  protected heard = false;
  /** Whether the handshake was completed, also once all is over. */
  protected established = false;
  protected phase: State | 'ready' | 'failed' | 'closed';
  private transport: Transport | undefined;
  private failure: LocalError | RemoteError | undefined;
  private readonly reassembler: Reassembler;
  private readonly inPlace: boolean;

  constructor(options: SessionOptions & ReassemblerOptions, initial: State) {
    const { crypto, staticKey, randomBytes, maxMessage, streams, inPlace } = options;
    assertCrypto(crypto);
    assertBytes(staticKey, 'staticKey', KEY_LENGTH);
    assertFunction(randomBytes, 'randomBytes');
    this.crypto = crypto;
    this.staticKey = copyBytes(staticKey);
    this.randomBytes = randomBytes;
    this.reassembler = new Reassembler({ maxMessage, streams });
    this.inPlace = assertFlag(inPlace, 'inPlace');
    this.phase = initial;
  }

  /** The phase, for deadlines and logs. */
  get state(): State | 'ready' | 'failed' | 'closed' {
    return this.phase;
  }

  /**
   * Takes one WebSocket message or MQTT payload: text, or bytes, which before the session are read as UTF-8 text.
   * @returns what follows from it; nothing on a session that failed or closed
   * @throws LocalError `bad-argument` for anything but text or bytes, and nothing else
   */
  receive(data: string | Uint8Array): (Event | CommonEvent)[] {
    if (typeof data !== 'string' && !isBytes(data)) {
      throw new LocalError('bad-argument', `"data" expected string or Uint8Array, got ${kindOf(data)}`);
    }
    if (this.isOver()) return [];
    const events: (Event | CommonEvent)[] = [];
    try {
      if (this.transport === undefined) this.takeEnvelope(parseEnvelope(data), events);
      else if (typeof data === 'string') this.takeText(data);
      else this.takeFrame(open(this.transport, data, this.inPlace), events);
    } catch (error) {
      events.push(this.fail(error));
    }
    return events;
  }

  /**
   * Seals a JSON message.
   * @param value - a value; or text that is JSON already, which is sent as it is
   * @returns transport messages: write all of them, in order, with nothing between them
   * @throws LocalError `wrong-state` before `ready`, `session-over` after the end, or what is wrong with the value
   *   (`not-json`, `unsafe-number`, `lone-surrogate`, `json-depth`): these change nothing. `nonce-exhausted` and
   *   `crypto-failed` end the session.
   */
  sendJson(value: Json | string): Uint8Array[] {
    const transport = this.assertReady();
    return this.seal(
      transport,
      'json',
      utf8ToBytes(typeof value === 'string' ? value : stringifyJson(value)),
    );
  }

  /**
   * Seals a binary message.
   * @returns transport messages, as `sendJson`
   * @throws LocalError as `sendJson`, and `bad-argument`
   */
  sendBinary(bytes: Uint8Array): Uint8Array[] {
    const transport = this.assertReady();
    assertBytes(bytes, 'bytes');
    return this.seal(transport, 'binary', bytes);
  }

  /**
   * The transport went away, or the integrator gave up waiting. The first call counts, later ones answer nothing.
   * @param code - the WebSocket close code where there was one, or 'timeout'
   */
  closed(code?: number | 'timeout'): (Event | CommonEvent)[] {
    if (this.phase === 'closed') return [];
    const events: (Event | CommonEvent)[] = [];
    const ended =
      this.failure === undefined ? this.endedByPeer(code, events) : this.endedByFailure(this.failure);
    events.push(ended);
    this.phase = 'closed';
    this.destroy();
    return events;
  }

  /** What this side does with an envelope in the present state. */
  protected abstract takeEnvelope(envelope: Envelope, events: (Event | CommonEvent)[]): void;
  /** What it does with a message that arrived on the session. */
  protected abstract takeMessage(message: Reassembled, events: (Event | CommonEvent)[]): void;
  /** How a session ends that the peer or the network ended; other events may come before. */
  protected abstract endedByPeer(
    code: number | 'timeout' | undefined,
    events: (Event | CommonEvent)[],
  ): EndedEvent;
  /** How a session ends that had failed. */
  protected abstract endedByFailure(error: LocalError | RemoteError): EndedEvent;

  protected ended(
    reason: EndedEvent['reason'],
    retry: EndedEvent['retry'],
    error: LocalError | RemoteError,
  ): EndedEvent {
    return { type: 'ended', reason, retry, error, pattern: this.pattern };
  }

  protected isOver(): boolean {
    return this.phase === 'failed' || this.phase === 'closed';
  }

  /** Goes over from the handshake to the session. */
  protected establish(): Transport {
    this.transport = this.handshake!.split();
    this.handshake = undefined;
    wipe(this.staticKey);
    this.established = true;
    this.phase = 'ready';
    return this.transport;
  }

  /** Ends it all for good, whatever was thrown; answers the event that says so. */
  protected fail(error: unknown): CommonEvent {
    this.failure = failureOf(error);
    this.phase = 'failed';
    this.destroy();
    return { type: 'close', code: this.established ? 1002 : 1008, error: this.failure };
  }

  protected destroy(): void {
    wipe(this.staticKey);
    if (this.handshake !== undefined) this.handshake.destroy();
    if (this.transport !== undefined) this.transport.destroy();
    this.reassembler.destroy();
  }

  /** Text on an established session: a repeat of what built it changes nothing, all else ends it. */
  private takeText(text: string): void {
    const type = typeOf(text);
    if (type !== 'hello' && type !== 'shake') throw textAfterReady();
  }

  private takeFrame(frame: Uint8Array, events: (Event | CommonEvent)[]): void {
    this.heard = true;
    const message = this.reassembler.push(frame);
    if (message !== undefined) this.takeMessage(message, events);
  }

  private assertReady(): Transport {
    if (this.isOver()) {
      throw new LocalError(
        'session-over',
        'this session is over: connect again with a new one',
        this.failure,
      );
    }
    if (this.transport === undefined) {
      throw new LocalError('wrong-state', `sending in state ${this.phase}: wait for the ready event`);
    }
    return this.transport;
  }

  private seal(transport: Transport, kind: MessageKind, payload: Uint8Array): Uint8Array[] {
    const messages: Uint8Array[] = [];
    const count = countFrames(payload.length);
    try {
      for (let i = 0; i < count; i++) messages.push(transport.encrypt(frameAt(kind, payload, i)));
    } catch (error) {
      this.fail(error);
      throw error;
    }
    return messages;
  }
}

/** Opens a transport message. Over MQTT cleartext comes as bytes too: what is an envelope then was never sealed. */
function open(transport: Transport, message: Uint8Array, inPlace: boolean): Uint8Array {
  try {
    return transport.decrypt(message, inPlace);
  } catch (error) {
    throw typeOf(message) === undefined ? error : textAfterReady();
  }
}

/** The type of an envelope, or `undefined` where it is none. */
function typeOf(data: string | Uint8Array): string | undefined {
  try {
    return parseEnvelope(data).type;
  } catch {
    return undefined;
  }
}

function textAfterReady(): RemoteError {
  return new RemoteError(
    'text-after-ready',
    'cleartext on an encrypted session: the peer lost the session, as a hub on MQTT does after minutes without a ' +
      'message, or somebody else writes. Connect again',
  );
}

/** @throws RemoteError `bad-payload` for a HANDSHAKE whose `noise` is no object */
export function inputOf({ type, payload }: Envelope): Input {
  if (type === 'hello') return 'hello';
  if (type !== 'shake') return 'other';
  const noise = readNoise(payload);
  if (noise === undefined || ownField(noise, 'msg') === undefined) return 'offer';
  const opens = ownField(noise, 'pattern') !== undefined || ownField(noise, 'suite') !== undefined;
  return opens ? 'message-1' : 'later-message';
}

/** The error of an input that the table has no entry for. */
export function unexpected(input: Input, state: string): RemoteError {
  if (input !== 'hello' && input !== 'other' && state === 'awaiting-hello') {
    return new RemoteError('handshake-before-hello', 'a HANDSHAKE before the HELLO that it belongs to');
  }
  return new RemoteError('unexpected-message', `a cleartext message that has no place in state ${state}`);
}

/** The patterns of an option, or all of them. */
export function assertPatterns(patterns: readonly Pattern[] | undefined): readonly Pattern[] {
  if (patterns === undefined) return ALL_PATTERNS;
  if (!isStringArray(patterns) || patterns.length === 0 || !patterns.every(isPattern)) {
    throw new LocalError('bad-argument', '"patterns" expected an array of "XXpsk2" and "KKpsk0"');
  }
  return patterns.slice();
}

/** The further payload fields of an option, or none. */
export function assertFields(fields: JsonObject | undefined, name: string): JsonObject {
  if (fields === undefined) return {};
  if (!isJsonObject(fields)) {
    throw new LocalError('bad-argument', `"${name}" expected object, got ${kindOf(fields)}`);
  }
  return fields;
}

export function assertFunction(value: unknown, name: string): void {
  if (typeof value !== 'function') {
    throw new LocalError('bad-argument', `"${name}" expected function, got ${kindOf(value)}`);
  }
}
