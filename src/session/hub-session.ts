/**
 * HubSession: the hub's side of protocol 3, for one connection of one client. It serves as the peer in tests and demos,
 * and for ports. Spec, "Hub connection (protocol v3)".
 */

import { assertBytes, assertFlag, assertString, readArgument, readOptions } from '../arguments.ts';
import { bytesToHex, concatBytes, copyBytes, equalBytes, isBytes, utf8ToBytes, wipe } from '../bytes.ts';
import type { KeyPair, RandomBytes } from '../crypto/crypto.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { KEY_LENGTH } from '../limits.ts';
import { HandshakeState } from '../noise/handshake-state.ts';
import type { Suite } from '../noise/patterns.ts';
import { protocolName } from '../noise/patterns.ts';
import { hideFields, opaque } from '../opaque.ts';
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
import { type EndingFacts, findEnding, HUB_ENDINGS, HUB_FAILURES, hubEndingError } from './endings.ts';
import type { EndedEvent, HelloEvent, HubSessionEvent } from './events.ts';
import { suitesOf } from './negotiation.ts';
import { assertFields, assertPatterns } from './options.ts';
import { OFFERED_PATTERNS, OFFERED_SUITES, type Pattern } from './protocol.ts';
import { type Incoming, SESSION_OPTIONS, Session, type SessionOptions } from './session.ts';
import { type After, HUB_TRANSITIONS } from './transitions.ts';

/** The options of a HubSession. Its static key must be 32 bytes, or a key pair with `privateKey` or `sharedSecret`. */
export interface HubOptions extends SessionOptions {
  /** The node id, under which clients pin this hub's static key; not empty, and at most 4096 bytes of UTF-8. */
  nodeId: string;
  /** The client's pre-shared key, 32 bytes: `derivePsk` of its password and this node id. */
  psk: Uint8Array;
  /** The client's pinned static key, 32 bytes (default none: KKpsk0 is not offered). */
  clientKey?: Uint8Array | undefined;
  /** The patterns to offer (default both). XXpsk2 must be among them. */
  patterns?: Pattern[] | undefined;
  /** The suites to offer (default all that the crypto supports). The one with ChaChaPoly must be among them. */
  suites?: Suite[] | undefined;
  /** Whether to permit an offer without the required pattern or suite (default false). Only for tests of clients. */
  allowIncompleteOffer?: boolean | undefined;
  /** Further fields of the HELLO payload (default none). */
  hello?: JsonObject | undefined;
  /** Further fields of the HANDSHAKE payload. Some older clients need `handshake: true` in it (default none). */
  handshake?: JsonObject | undefined;
}

/** The names of all options. Any other is refused. */
export const HUB_OPTIONS: readonly (keyof HubOptions)[] = (
  SESSION_OPTIONS as readonly (keyof HubOptions)[]
).concat(['nodeId', 'psk', 'clientKey', 'patterns', 'suites', 'allowIncompleteOffer', 'hello', 'handshake']);

/** The state of a HubSession. */
export type HubState = keyof typeof HUB_TRANSITIONS;

type Next<Action extends string> = After<typeof HUB_TRANSITIONS, Action>;

/** The methods that HUB_TRANSITIONS names. */
type Action = 'greet' | 'takeMessage1' | 'takeMessage3' | 'takeFirstFrame' | 'takeFrame';

/**
 * One connection of one client. Create a new session for each connection.
 *
 * Under XXpsk2 it is ready once message 3 has opened. Under KKpsk0 it is ready once the client's first transport
 * message has opened: message 1 alone may be a replay.
 * @see spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { ClientSession, HubSession, type HubSessionEvent, type SessionEvent } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const psk = randomBytes(32); // what derivePsk returns, on both sides
 * const hub = new HubSession({ crypto, randomBytes, nodeId: 'hub-1', staticKey: randomBytes(32), psk });
 * const client = new ClientSession({ crypto, randomBytes, siteId: 'lobby', staticKey: randomBytes(32), psk: () => psk });
 *
 * function onHubEvent(event: HubSessionEvent): void {
 *   if (event.type === 'transmit') client.receive(event.data).forEach(onClientEvent);
 *   if (event.type === 'message' && event.kind === 'json') console.log(event.text); // {"say":"hello"}
 * }
 * function onClientEvent(event: SessionEvent): void {
 *   if (event.type === 'transmit') hub.receive(event.data).forEach(onHubEvent);
 *   if (event.type === 'ready') client.sendJson({ say: 'hello' }).forEach((data) => hub.receive(data).forEach(onHubEvent));
 * }
 * hub.start().forEach(onHubEvent);
 * console.log(client.state, hub.state); // ready ready
 */
export class HubSession extends Session<HubState, HubSessionEvent> {
  private readonly staticKey: Uint8Array | KeyPair;
  /** The copy of the static private key, if it is in memory. */
  private readonly privateKey: Uint8Array | undefined;
  private readonly randomBytes: RandomBytes;
  private readonly psk: Uint8Array;
  private readonly clientKey: Uint8Array | undefined;
  private readonly patterns: readonly Pattern[];
  private readonly suites: readonly Suite[];
  /** HELLO and HANDSHAKE, until they are sent. */
  private greeting: readonly string[];
  /** The prologue without the protocol name, until the handshake is done. */
  private bound: Uint8Array;
  private suite: Suite | undefined = undefined;
  private message1Payload: Message1Payload | undefined = undefined;
  private expectsHello = true;

  /**
   * @throws LocalError `bad-argument`, also for an unknown option; `bad-length`; `suite-unavailable`; `not-json`,
   *   `unsafe-number`, `lone-surrogate` or `json-depth` if `nodeId`, `hello` or `handshake` cannot be written as JSON
   */
  constructor(options: HubOptions) {
    const given = readOptions(options, 'options', HUB_OPTIONS);
    super(given, 'new', HUB_TRANSITIONS, HUB_FAILURES);
    const { nodeId, psk, clientKey } = given;
    assertString(nodeId, 'nodeId');
    const staticKey = readArgument('staticKey', () => copyOf(given.staticKey));
    const privateKey = isBytes(staticKey) ? staticKey : staticKey.privateKey;
    if (privateKey === undefined && (staticKey as KeyPair).sharedSecret === undefined) {
      throw new LocalError(
        'bad-argument',
        '"staticKey" expected a private key, or a key pair with sharedSecret()',
      );
    }
    this.staticKey = staticKey;
    this.privateKey = privateKey;
    this.randomBytes = given.randomBytes;
    assertBytes(psk, 'psk', KEY_LENGTH);
    if (clientKey !== undefined) assertBytes(clientKey, 'clientKey', KEY_LENGTH);
    this.psk = copyBytes(psk);
    this.clientKey = clientKey === undefined ? undefined : copyBytes(clientKey);
    this.patterns = assertPatterns(given.patterns).filter(
      (name) => name !== 'KKpsk0' || clientKey !== undefined,
    );
    this.suites = assertSuites(given.suites, suitesOf(this.crypto));
    if (!assertFlag(given.allowIncompleteOffer, 'allowIncompleteOffer')) {
      assertIncludes(this.patterns, OFFERED_PATTERNS[0]!, 'patterns');
      assertIncludes(this.suites, OFFERED_SUITES[0]!, 'suites');
    }
    if (this.patterns.length === 0) {
      throw new LocalError(
        'bad-argument',
        '"patterns" expected XXpsk2, since KKpsk0 alone needs a clientKey',
      );
    }
    const hello = assertFields(given.hello, 'hello');
    const handshake = assertFields(given.handshake, 'handshake');
    if (ownField(hello, 'node_id') !== undefined || ownField(handshake, 'noise') !== undefined) {
      throw new LocalError(
        'bad-argument',
        '"hello" and "handshake" expected further fields, not node_id or noise',
      );
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
      throw new LocalError(
        'bad-argument',
        `"handshake" expected a max_protocol_version of ${PROTOCOL_VERSION} or more`,
      );
    }
    this.greeting = [writeEnvelope('hello', helloPayload), writeEnvelope('shake', offer)];
    this.bound = concatBytes([canonicalJson(helloPayload), canonicalJson(offer)]);
    hideFields(this);
  }

  /**
   * Starts the connection: the hub speaks first, with HELLO and HANDSHAKE.
   * @returns two `transmit` events
   * @throws LocalError `wrong-state` unless it is the first call
   */
  start(): HubSessionEvent[] {
    if (this.phase !== 'new') throw new LocalError('wrong-state', `start() in state ${this.phase}`);
    return this.run((events) => this.dispatch('start', EMPTY, events));
  }

  /**
   * Takes one WebSocket message or one MQTT payload. Before the handshake is done, bytes are read as UTF-8.
   * @param data - the message: a string if it was text, a Uint8Array if it was binary
   * @returns the events that follow, in order; none if the session has failed or closed
   * @throws LocalError `wrong-state` before `start` and in a callback of this session; `bad-argument` for anything but
   *   a string or a Uint8Array. Nothing that the peer sends makes it throw.
   */
  override receive(data: string | Uint8Array): HubSessionEvent[] {
    if (this.phase === 'new') {
      throw new LocalError('wrong-state', 'receive() before start(): the hub speaks first');
    }
    return super.receive(data);
  }

  protected override act(
    action: string,
    incoming: Incoming | undefined,
    events: HubSessionEvent[],
  ): HubState {
    return this[action as Action](incoming as JsonObject & Uint8Array, events);
  }

  private greet(_: unknown, events: HubSessionEvent[]): Next<'greet'> {
    for (let i = 0; i < this.greeting.length; i++) {
      events.push({ type: 'transmit', data: this.greeting[i]! });
    }
    return 'awaiting-message-1';
  }

  private takeMessage1(payload: JsonObject, events: HubSessionEvent[]): Next<'takeMessage1'> {
    if (ownField(payload, 'max_protocol_version') !== undefined) assertProtocolVersion(payload);
    const noise = readNoise(payload)!;
    const pattern = ownField(noise, 'pattern');
    const suite = ownField(noise, 'suite');
    if (typeof pattern !== 'string' || typeof suite !== 'string') {
      throw new RemoteError('bad-payload', 'message 1 names no noise.pattern or no noise.suite');
    }
    if (this.patterns.indexOf(pattern as Pattern) < 0 || this.suites.indexOf(suite as Suite) < 0) {
      throw new RemoteError('not-offered', 'message 1 names a pattern or a suite that was not offered');
    }
    const message = readNoiseMessage(payload);
    this.pattern = pattern as Pattern;
    this.suite = suite as Suite;
    const handshake = new HandshakeState({
      crypto: this.crypto,
      role: 'responder',
      pattern: this.pattern,
      suite: this.suite,
      prologue: concatBytes([this.bound, utf8ToBytes(protocolName(this.pattern, this.suite))]),
      psk: this.psk,
      staticKey: this.staticKey,
      remoteStaticKey: this.pattern === 'KKpsk0' ? this.clientKey : undefined,
      randomBytes: this.randomBytes,
    });
    this.handshake = handshake;
    this.message1Payload = readMessage1Payload(this.openMessage1(handshake, message));
    const msg = bytesToHex(handshake.writeMessage(MESSAGE_2_PAYLOAD));
    events.push({ type: 'transmit', data: writeEnvelope('shake', { noise: { msg } }) });
    if (!handshake.isFinished) return 'awaiting-message-3';
    this.establish();
    return 'awaiting-first-message';
  }

  /** Reads message 1. If that fails, throws an error that names the cause. */
  private openMessage1(handshake: HandshakeState, message: Uint8Array): Uint8Array {
    try {
      return handshake.readMessage(message);
    } catch (error) {
      if (!(error instanceof RemoteError) || error.code !== 'payload-not-authentic') throw error;
      if (this.pattern === 'KKpsk0') {
        throw new RemoteError(
          'kk-failed',
          'KKpsk0 failed: the client has another password, pin, static key or prologue',
        );
      }
      throw new RemoteError(
        'prologue-differs',
        'the client has another prologue: it bound a different HELLO or HANDSHAKE',
      );
    }
  }

  private takeMessage3(payload: JsonObject, events: HubSessionEvent[]): Next<'takeMessage3'> {
    const handshake = this.handshake!;
    handshake.readMessage(readNoiseMessage(payload));
    const key = handshake.remoteStaticKey!;
    if (this.clientKey === undefined) {
      events.push({ type: 'pin', key: copyBytes(key) });
    } else if (!equalBytes(this.clientKey, key)) {
      throw new RemoteError(
        'client-key-changed',
        'the client has a different static key from the one that is pinned for its access key',
      );
    }
    this.establish();
    return this.becomeReady(events);
  }

  private takeFirstFrame(sealed: Uint8Array, events: HubSessionEvent[]): Next<'takeFirstFrame'> {
    const message = this.open(sealed);
    this.becomeReady(events);
    return this.deliver(message, events);
  }

  private takeFrame(sealed: Uint8Array, events: HubSessionEvent[]): Next<'takeFrame'> {
    return this.deliver(this.open(sealed), events);
  }

  private becomeReady(events: HubSessionEvent[]): 'ready' {
    const { binarize, encodings } = this.message1Payload!;
    const { handshakeHash, remoteStaticKey } = this.transport!;
    this.message1Payload = undefined;
    events.push({
      type: 'ready',
      pattern: this.pattern!,
      suite: this.suite!,
      clientKey: copyBytes(remoteStaticKey),
      handshakeHash: copyBytes(handshakeHash),
      binarize,
      encodings,
    });
    return 'ready';
  }

  private deliver(message: Reassembled | undefined, events: HubSessionEvent[]): 'ready' {
    if (message === undefined) return 'ready';
    if (this.expectsHello) {
      this.expectsHello = false;
      const hello = readHello(message);
      events.push(hello);
      if (hello.error?.code !== 'no-hello') return 'ready';
    }
    events.push(message);
    return 'ready';
  }

  protected override endedByPeer(facts: EndingFacts): Pick<EndedEvent, 'reason' | 'retry' | 'error'> {
    const { reason, retry, error } = findEnding(HUB_ENDINGS, facts);
    return { reason, retry, error: hubEndingError(error, facts.state) };
  }

  protected override forgetHandshake(): void {
    super.forgetHandshake();
    wipe(this.privateKey);
    wipe(this.psk);
    this.greeting = [];
    this.bound = EMPTY;
    if (this.isOver()) this.message1Payload = undefined;
  }
}
opaque(HubSession.prototype, 'HubSession');

const EMPTY = new Uint8Array(0);

/** An empty object, which names no encoding. Unlike an empty payload, every client can read it. */
const MESSAGE_2_PAYLOAD = utf8ToBytes('{}');

/** A copy of a static key, if the private key is in memory; otherwise the key itself. */
function copyOf(key: Uint8Array | KeyPair): Uint8Array | KeyPair {
  if (isBytes(key)) return copyBytes(key);
  const { publicKey, privateKey } = key;
  if (privateKey === undefined) return key;
  return { publicKey: copyBytes(publicKey), privateKey: copyBytes(privateKey) };
}

/**
 * Checks that the crypto supports the suites given.
 * @returns the suites, by default all that the crypto supports
 * @throws LocalError `bad-argument`, `suite-unavailable`
 */
function assertSuites(suites: readonly Suite[] | undefined, own: readonly Suite[]): readonly Suite[] {
  if (suites !== undefined && !isStringArray(suites)) {
    throw new LocalError('bad-argument', '"suites" expected an array of suite names');
  }
  const offered = suites ?? own;
  if (offered.length === 0 || !offered.every((suite) => own.indexOf(suite) >= 0)) {
    throw new LocalError(
      'suite-unavailable',
      '"suites" expected suites whose cipher the injected crypto has',
    );
  }
  return offered.slice();
}

function assertIncludes(offered: readonly string[], required: string, name: string): void {
  if (offered.indexOf(required) < 0) {
    throw new LocalError(
      'bad-argument',
      `"${name}" expected ${required}, which every hub must offer; allowIncompleteOffer leaves it out`,
    );
  }
}

/** The client's first transport message as its HELLO (spec, step 7). */
function readHello(message: Reassembled): HelloEvent {
  let envelope: Envelope | undefined;
  try {
    if ('text' in message) envelope = parseEnvelope(message.text);
  } catch {
    // Whatever it is, it is not a HELLO.
  }
  if (envelope === undefined || envelope.type !== 'hello') {
    const error = new RemoteError('no-hello', 'the first message of the client is not its HELLO');
    return { type: 'hello', payload: undefined, error };
  }
  const { payload } = envelope;
  const siteId = ownField(payload, 'site_id') ?? '';
  const pubkey = ownField(payload, 'pubkey') ?? '';
  if (
    !isJsonObject(ownField(payload, 'session')) ||
    typeof siteId !== 'string' ||
    typeof pubkey !== 'string'
  ) {
    const error = new RemoteError(
      'bad-hello',
      'the HELLO of the client has a session, site_id or pubkey of the wrong type',
    );
    return { type: 'hello', payload: undefined, error };
  }
  return { type: 'hello', payload, error: undefined };
}
