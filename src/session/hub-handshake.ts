/**
 * The hub's side of the handshake, from its greeting to the client's HELLO. Its methods have the names of the inputs that
 * they take; transitions.ts lists the inputs of each state. Spec, "Hub connection (protocol v3)".
 *
 * A first contact, from the greeting to the client's HELLO:
 *
 * 1. `readHubOptions` writes HELLO and HANDSHAKE, and `start` sends them.
 * 2. `noise-with-choice` reads message 1, which names pattern and suite, with `openMessage1`, and answers with message 2.
 * 3. Under XXpsk2, `noise` reads message 3 and compares the client's key with the pinned one, or emits `pin`. `establish` then
 *    replaces the handshake by the keys of the session, and `emitReady` emits `ready`.
 * 4. Under KKpsk0 there is no message 3: `noise-with-choice` calls `establish` itself. Message 1 may be a replay, so `ready` waits
 *    for the first transport message that opens.
 * 5. `deliver` takes the messages: it emits that `ready` first, then the client's HELLO, then everything else.
 *
 * `release` wipes everything that only the handshake needed, at `establish` and after any failure.
 */
import {
  type Bytes,
  bytesToHex,
  concatBytes,
  copyBytes,
  EMPTY,
  equalBytes,
  utf8ToBytes,
  wipe,
} from '../bytes.ts';
import type { CheckedCrypto, CheckedKeyPair } from '../crypto/checked.ts';
import type { RandomBytes } from '../crypto/crypto.ts';
import { type LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_NOISE_MESSAGE } from '../limits.ts';
import { failureOf } from '../memory.ts';
import { Handshake } from '../noise/handshake.ts';
import { nameOf, type Pattern, type Suite } from '../noise/patterns.ts';
import { opaque } from '../opaque.ts';
import { type Envelope, parseEnvelope, writeEnvelope } from '../wire/envelope.ts';
import type { Reassembled } from '../wire/frame-joiner.ts';
import {
  assertProtocolVersion,
  type Message1Payload,
  readMessage1Payload,
  readNoise,
  readNoiseMessage,
} from '../wire/handshake.ts';
import { isJsonObject, type JsonObject, ownField } from '../wire/json.ts';
import { Channel, type Side } from './channel.ts';
import {
  type Ending,
  type EndingFacts,
  findEnding,
  findFailure,
  HUB_ENDINGS,
  HUB_FAILURES,
} from './endings.ts';
import type { HelloEvent, HubSessionEvent } from './events.ts';
import { type HubOptions, readHubOptions } from './hub-options.ts';
import { HUB_TRANSITIONS, type HubState } from './transitions.ts';

export class HubHandshake implements Side<HubState> {
  readonly channel: Channel<HubState, HubSessionEvent>;
  pattern: Pattern | undefined = undefined;
  private readonly crypto: CheckedCrypto;
  private readonly randomBytes: RandomBytes;
  private staticKey: CheckedKeyPair | undefined = undefined;
  private presharedKey: Uint8Array | undefined = undefined;
  private readonly clientKey: Uint8Array | undefined;
  private readonly patterns: readonly Pattern[];
  private readonly suites: readonly Suite[];
  /** HELLO and HANDSHAKE, until they are sent. */
  private greeting: readonly string[];
  /** The prologue without the protocol name, until the handshake is done. */
  private boundPrologue: Bytes;
  private handshake: Handshake | undefined = undefined;
  private suite: Suite | undefined = undefined;
  /** Until `ready`. */
  private message1Payload: Message1Payload | undefined = undefined;
  private handshakeHash: Bytes = EMPTY;
  private remoteStaticKey: Bytes = EMPTY;
  private expectsHello = true;

  constructor(options: HubOptions) {
    const plan = readHubOptions(options);
    this.channel = new Channel(plan.options, 'new', HUB_TRANSITIONS, this);
    this.crypto = plan.crypto;
    this.randomBytes = plan.options.randomBytes;
    this.clientKey = plan.clientKey;
    this.patterns = plan.patterns;
    this.suites = plan.suites;
    this.greeting = plan.greeting;
    this.boundPrologue = plan.boundPrologue;
    try {
      this.staticKey = this.crypto.ownKey(plan.staticKey, 'staticKey');
      if (this.staticKey.isAsynchronous) {
        throw errors.expected('staticKey', 'a private key, or a key pair with sharedSecret()');
      }
      this.presharedKey = copyBytes(plan.psk);
    } catch (error) {
      this.release();
      throw failureOf(error);
    }
  }

  start(): void {
    for (let i = 0; i < this.greeting.length; i++) {
      this.channel.emit({ type: 'transmit', data: this.greeting[i]! });
    }
  }

  'noise-with-choice'(payload: JsonObject): void {
    if (ownField(payload, 'max_protocol_version') !== undefined) assertProtocolVersion(payload);
    const named = readNoise(payload)!;
    const pattern = ownField(named, 'pattern');
    const suite = ownField(named, 'suite');
    if (typeof pattern !== 'string' || typeof suite !== 'string') {
      throw errors.nothingChosen();
    }
    if (this.patterns.indexOf(pattern as Pattern) < 0 || this.suites.indexOf(suite as Suite) < 0) {
      throw errors.notOffered();
    }
    const message = readNoiseMessage(payload);
    this.pattern = pattern as Pattern;
    this.suite = suite as Suite;
    const handshake = new Handshake({
      crypto: this.crypto,
      isInitiator: false,
      pattern: this.pattern,
      suite: this.suite,
      prologue: concatBytes([this.boundPrologue, utf8ToBytes(nameOf(this.pattern, this.suite))]),
      psk: this.presharedKey!,
      staticKey: this.staticKey!,
      remoteStaticKey: this.pattern === 'KKpsk0' ? this.clientKey : undefined,
      randomBytes: this.randomBytes,
      isPaced: false,
    });
    this.handshake = handshake;
    this.message1Payload = readMessage1Payload(this.openMessage1(handshake, message));
    const msg = bytesToHex(handshake.writeMessage(MESSAGE_2_PAYLOAD)!);
    this.channel.emit({ type: 'transmit', data: writeEnvelope('shake', { noise: { msg } }) });
    if (!handshake.isFinished) return;
    this.channel.reach('written');
    this.establish(handshake);
  }

  noise(payload: JsonObject): void {
    const { handshake } = this;
    if (handshake === undefined) throw errors.nothingChosen();
    handshake.readMessage(readNoiseMessage(payload), MAX_NOISE_MESSAGE);
    const key = handshake.rs!;
    if (this.clientKey === undefined) {
      this.channel.emit({ type: 'pin', key: copyBytes(key) });
    } else if (!equalBytes(this.clientKey, key)) {
      throw errors.clientKeyChanged();
    }
    this.establish(handshake);
    this.emitReady(this.message1Payload!);
  }

  deliver(message: Reassembled | undefined): void {
    if (this.message1Payload !== undefined) this.emitReady(this.message1Payload);
    if (message === undefined) return;
    if (this.expectsHello) {
      this.expectsHello = false;
      const hello = readHello(message);
      this.channel.emit(hello);
      if (hello.error?.code !== 'no-hello') return;
    }
    this.channel.emit(message);
  }

  /** Reads message 1. If that fails, throws an error that names the cause. */
  private openMessage1(handshake: Handshake, message: Uint8Array): Uint8Array {
    try {
      return handshake.readMessage(message, MAX_NOISE_MESSAGE)!;
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code !== 'payload-not-authentic') throw error;
      if (this.pattern === 'KKpsk0') {
        throw errors.kkFailedAtHub();
      }
      throw errors.prologueDiffers();
    }
  }

  private establish(handshake: Handshake): void {
    const { handshakeHash, remoteStaticKey } = this.channel.establish(handshake);
    this.handshakeHash = handshakeHash;
    this.remoteStaticKey = remoteStaticKey;
  }

  private emitReady({ binarize, encodings }: Message1Payload): void {
    this.message1Payload = undefined;
    this.channel.emit({
      type: 'ready',
      pattern: this.pattern!,
      suite: this.suite!,
      clientKey: this.remoteStaticKey,
      handshakeHash: this.handshakeHash,
      binarize,
      encodings,
    });
    this.handshakeHash = this.remoteStaticKey = EMPTY;
  }

  ended(facts: EndingFacts<HubState>): Ending {
    const { reason, retry, error } = findEnding(HUB_ENDINGS, facts);
    return { reason, retry, error: errors.hubEnding(error, facts) };
  }

  failed(error: LocalError | RemoteError, isEstablished: boolean): Ending {
    const { reason, retry } = findFailure(HUB_FAILURES, error, isEstablished);
    return { reason, retry, error };
  }

  release(): void {
    this.handshake?.destroy();
    this.handshake = undefined;
    this.staticKey?.destroy();
    wipe(this.presharedKey);
    this.staticKey = this.presharedKey = undefined;
    this.greeting = [];
    this.boundPrologue = EMPTY;
    if (this.channel.isOver()) this.message1Payload = undefined;
  }
}
opaque(HubHandshake.prototype, 'HubHandshake');

/** An empty object, which names no encoding. Every client can read it, unlike an empty payload. */
const MESSAGE_2_PAYLOAD = utf8ToBytes('{}');

/** The client's first transport message as its HELLO (spec, step 7). */
function readHello(message: Reassembled): HelloEvent {
  let envelope: Envelope | undefined;
  try {
    if ('text' in message) envelope = parseEnvelope(message.text);
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    // It is not a HELLO.
  }
  if (envelope === undefined || envelope.type !== 'hello') {
    return { type: 'hello', payload: undefined, error: errors.noHello() };
  }
  const { payload } = envelope;
  const siteId = ownField(payload, 'site_id') ?? '';
  const pubkey = ownField(payload, 'pubkey') ?? '';
  if (
    !isJsonObject(ownField(payload, 'session')) ||
    typeof siteId !== 'string' ||
    typeof pubkey !== 'string'
  ) {
    return { type: 'hello', payload: undefined, error: errors.badHello() };
  }
  return { type: 'hello', payload, error: undefined };
}
