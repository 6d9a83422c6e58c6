/**
 * The hub's side of the handshake, from its greeting to the client's HELLO. Its methods have the names of the inputs that
 * they take; transitions.ts lists the inputs of each state. Spec, "Hub connection (protocol v3)".
 *
 * A first contact, from the greeting to the client's HELLO:
 *
 * 1. The constructor writes HELLO and HANDSHAKE, and `start` sends them.
 * 2. `noise-with-choice` reads message 1, which names pattern and suite, with `openMessage1`, and answers with message 2.
 * 3. Under XXpsk2, `noise` reads message 3 and compares the client's key with the pinned one, or emits `pin`. `establish` then
 *    replaces the handshake by the keys of the session, and `emitReady` emits `ready`.
 * 4. Under KKpsk0 there is no message 3: `noise-with-choice` calls `establish` itself. Message 1 may be a replay, so `ready` waits
 *    for the first transport message that opens.
 * 5. `deliver` takes the messages: it emits that `ready` first, then the client's HELLO, then everything else.
 *
 * `release` wipes everything that only the handshake needed, at `establish` and after any failure.
 */
import { assertBytes, assertFunction, assertString, type OptionNames, readOptions } from '../arguments.ts';
import { type Bytes, bytesToHex, concatBytes, copyBytes, equalBytes, utf8ToBytes, wipe } from '../bytes.ts';
import { CheckedCrypto, type CheckedKeyPair } from '../crypto/checked.ts';
import type { KeyPair, RandomBytes } from '../crypto/crypto.ts';
import { type LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { KEY_LENGTH, MAX_NOISE_MESSAGE } from '../limits.ts';
import { failureOf } from '../memory.ts';
import { Handshake } from '../noise/handshake.ts';
import { type Pattern, protocolName, type Suite } from '../noise/patterns.ts';
import { opaque } from '../opaque.ts';
import { type Envelope, parseEnvelope, writeEnvelope } from '../wire/envelope.ts';
import {
  assertProtocolVersion,
  composePayload,
  isStringArray,
  type Message1Payload,
  PROTOCOL_VERSION,
  readMessage1Payload,
  readNoise,
  readNoiseMessage,
  speaksProtocol3,
} from '../wire/handshake.ts';
import { isJsonObject, type JsonObject, ownField } from '../wire/json.ts';
import type { Reassembled } from '../wire/reassembler.ts';
import { canonicalJson } from '../wire/write-json.ts';
import { Channel, type SessionOptions, type Side } from './channel.ts';
import {
  type Ending,
  type EndingFacts,
  findEnding,
  findFailure,
  HUB_ENDINGS,
  HUB_FAILURES,
} from './endings.ts';
import type { HelloEvent, HubSessionEvent } from './events.ts';
import { suitesOf } from './negotiation.ts';
import { assertFields, assertPatterns } from './options.ts';
import { OFFERED_PATTERNS, OFFERED_SUITES } from './protocol.ts';
import { HUB_TRANSITIONS, type HubState } from './transitions.ts';

/** The options of a HubSession. */
export interface HubOptions extends SessionOptions {
  /** The node id that clients pin this hub's static key under; not empty, and at most 4096 bytes of UTF-8. */
  nodeId: string;
  /**
   * The hub's static key: a private key of 32 bytes, or a key pair with `privateKey` or `sharedSecret`. Store it: clients pin
   * its public key, so it must be the same after a restart.
   */
  staticKey: Uint8Array | KeyPair;
  /** The client's pre-shared key, 32 bytes: `derivePsk` of its password and this node id. */
  psk: Uint8Array;
  /** The client's pinned static key, 32 bytes (default none: KKpsk0 is not offered). */
  clientKey?: Uint8Array | undefined;
  /** The patterns to offer (default both). XXpsk2 must be among them. */
  patterns?: Pattern[] | undefined;
  /** The suites to offer (default all that the crypto supports). The one with ChaChaPoly must be among them. */
  suites?: Suite[] | undefined;
  /** Further fields of the HELLO payload (default none). */
  hello?: JsonObject | undefined;
  /** Further fields of the HANDSHAKE payload. Some older clients need `handshake: true` in it (default none). */
  handshake?: JsonObject | undefined;
}

/** The names of all options. */
export const HUB_OPTIONS: OptionNames<HubOptions> = {
  crypto: true,
  randomBytes: true,
  maxMessage: true,
  inPlace: true,
  readBinary: true,
  nodeId: true,
  staticKey: true,
  psk: true,
  clientKey: true,
  patterns: true,
  suites: true,
  hello: true,
  handshake: true,
};

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
    const given = readOptions(options, 'options', HUB_OPTIONS);
    const { crypto, randomBytes, nodeId, psk, clientKey } = given;
    this.crypto = new CheckedCrypto(crypto);
    assertFunction(randomBytes, 'randomBytes');
    this.channel = new Channel(given, 'new', HUB_TRANSITIONS, this);
    assertString(nodeId, 'nodeId');
    assertBytes(psk, 'psk', KEY_LENGTH);
    if (clientKey !== undefined) assertBytes(clientKey, 'clientKey', KEY_LENGTH);
    this.randomBytes = randomBytes;
    this.clientKey = clientKey === undefined ? undefined : copyBytes(clientKey);
    this.patterns = assertPatterns(given.patterns).filter(
      (name) => name !== 'KKpsk0' || clientKey !== undefined,
    );
    this.suites = assertSuites(given.suites, suitesOf(crypto));
    assertIncludes(this.patterns, OFFERED_PATTERNS[0]!, 'patterns');
    assertIncludes(this.suites, OFFERED_SUITES[0]!, 'suites');
    const hello = assertFields(given.hello, 'hello');
    const handshake = assertFields(given.handshake, 'handshake');
    if (ownField(hello, 'node_id') !== undefined || ownField(handshake, 'noise') !== undefined) {
      throw errors.reservedFields();
    }
    const helloPayload = composePayload({ node_id: nodeId }, hello);
    const offer = composePayload(
      {
        max_protocol_version: PROTOCOL_VERSION,
        noise: { patterns: this.patterns.slice(), suites: this.suites.slice() },
      },
      handshake,
    );
    if (!speaksProtocol3(offer)) {
      throw errors.expected('handshake', `a max_protocol_version of ${PROTOCOL_VERSION} or more`);
    }
    this.greeting = [writeEnvelope('hello', helloPayload), writeEnvelope('shake', offer)];
    this.boundPrologue = concatBytes([canonicalJson(helloPayload), canonicalJson(offer)]);
    hideFields(this); // before there are keys, since it may throw for lack of memory
    try {
      this.staticKey = this.crypto.ownKey(given.staticKey, 'staticKey');
      if (this.staticKey.isAsynchronous) {
        throw errors.expected('staticKey', 'a private key, or a key pair with sharedSecret()');
      }
      this.presharedKey = copyBytes(psk);
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
      throw withoutPattern();
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
      prologue: concatBytes([this.boundPrologue, utf8ToBytes(protocolName(this.pattern, this.suite))]),
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
    if (handshake === undefined) throw withoutPattern();
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
    this.greeting = [];
    this.boundPrologue = EMPTY;
    if (this.channel.isOver()) this.message1Payload = undefined;
  }
}
opaque(HubHandshake.prototype, 'HubHandshake');

const EMPTY = new Uint8Array(0);

function withoutPattern(): RemoteError {
  return errors.nothingChosen();
}

/** An empty object, which names no encoding. Every client can read it, unlike an empty payload. */
const MESSAGE_2_PAYLOAD = utf8ToBytes('{}');

/**
 * Checks that the crypto supports the suites given.
 * @returns the suites, by default all that the crypto supports
 * @throws LocalError `bad-argument`, `suite-unavailable`
 */
function assertSuites(suites: readonly Suite[] | undefined, own: readonly Suite[]): readonly Suite[] {
  if (suites !== undefined && !isStringArray(suites)) {
    throw errors.expected('suites', 'an array of suite names');
  }
  const offered = suites ?? own;
  if (offered.length === 0 || !offered.every((suite) => own.indexOf(suite) >= 0)) {
    throw errors.suitesUnavailable();
  }
  return offered.slice();
}

function assertIncludes(offered: readonly string[], required: string, name: string): void {
  if (offered.indexOf(required) < 0) {
    throw errors.expected(name, `${required}, which every hub must offer`);
  }
}

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
