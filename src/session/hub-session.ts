/**
 * HubSession: the hub's side of protocol 3, sans I/O, for one connection of one client. The peer for tests, demos
 * and ports. Spec, "Hub connection (protocol v3)".
 */
import { assertBytes, bytesToHex, copyBytes, equalBytes, utf8ToBytes, wipe } from '../bytes.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { KEY_LENGTH } from '../limits.ts';
import { HandshakeState } from '../noise/handshake-state.ts';
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
import { buildPrologue } from '../wire/prologue.ts';
import type { Reassembled } from '../wire/reassembler.ts';
import type { EndedEvent, HelloEvent, HubSessionEvent } from './events.ts';
import { suitesOf } from './negotiation.ts';
import {
  assertFields,
  assertPatterns,
  inputOf,
  Session,
  type SessionOptions,
  type Table,
  unexpected,
} from './session.ts';

export interface HubOptions extends SessionOptions {
  /** The name under which clients pin this hub's static key; not empty. */
  nodeId: string;
  /** The client's pre-shared key, 32 bytes: `derivePsk` of its password and this node id. */
  psk: Uint8Array;
  /** The client's pinned static key, 32 bytes. Without it KKpsk0 is not offered. */
  clientKey?: Uint8Array | undefined;
  /** The patterns to offer (default both). */
  patterns?: Pattern[] | undefined;
  /** The suites to offer (default all that the crypto can do). */
  suites?: Suite[] | undefined;
  /** Further fields of the HELLO payload. */
  hello?: JsonObject | undefined;
  /** Further fields of the HANDSHAKE payload. */
  handshake?: JsonObject | undefined;
}

export type HubState = 'new' | 'awaiting-message-1' | 'awaiting-message-3';

const TABLE: Table<HubState, 'takeMessage1' | 'takeMessage3'> = {
  new: {},
  'awaiting-message-1': {
    hello: 'ignore', // over MQTT a client says it first
    offer: 'ignore',
    'message-1': 'takeMessage1',
    'later-message': 'takeMessage1', // without pattern and suite, which it will say
  },
  'awaiting-message-3': {
    hello: 'ignore',
    offer: 'ignore',
    'message-1': 'ignore',
    'later-message': 'takeMessage3',
  },
};

/** One connection of one client. A new connection is a new object. */
export class HubSession extends Session<HubState, HubSessionEvent> {
  private readonly psk: Uint8Array;
  private readonly clientKey: Uint8Array | undefined;
  private readonly patterns: readonly Pattern[];
  private readonly suites: readonly Suite[];
  private readonly hello: JsonObject;
  private readonly offer: JsonObject;
  private suite: Suite | undefined;
  private asked: Message1Payload | undefined;
  private expectsHello = true;

  /** @throws LocalError `bad-argument`, `bad-length`, `suite-unavailable`, or what is wrong with a field as JSON */
  constructor(options: HubOptions) {
    super(options, 'new');
    const { nodeId, psk, clientKey, suites } = options;
    if (typeof nodeId !== 'string' || nodeId === '') {
      throw new LocalError('bad-argument', '"nodeId" expected a text that is not empty');
    }
    assertBytes(psk, 'psk', KEY_LENGTH);
    if (clientKey !== undefined) assertBytes(clientKey, 'clientKey', KEY_LENGTH);
    this.psk = copyBytes(psk);
    this.clientKey = clientKey === undefined ? undefined : copyBytes(clientKey);
    this.patterns = assertPatterns(options.patterns).filter(
      (name) => name !== 'KKpsk0' || clientKey !== undefined,
    );
    this.suites = assertSuites(suites, suitesOf(this.crypto));
    if (this.patterns.length === 0) {
      throw new LocalError('bad-argument', '"patterns" KKpsk0 alone needs a clientKey');
    }
    const hello = assertFields(options.hello, 'hello');
    const handshake = assertFields(options.handshake, 'handshake');
    if (ownField(hello, 'node_id') !== undefined || ownField(handshake, 'noise') !== undefined) {
      throw new LocalError(
        'bad-argument',
        '"hello" and "handshake" take further fields, not node_id or noise',
      );
    }
    this.hello = composePayload({ node_id: nodeId }, hello);
    this.offer = composePayload(
      {
        max_protocol_version: PROTOCOL_VERSION,
        noise: { patterns: this.patterns.slice(), suites: this.suites.slice() },
      },
      handshake,
    );
    if (!speaksProtocol3(this.offer)) {
      throw new LocalError(
        'bad-argument',
        `"handshake" expected a max_protocol_version of ${PROTOCOL_VERSION} or more`,
      );
    }
  }

  /**
   * The hub speaks first: HELLO, then HANDSHAKE.
   * @throws LocalError `wrong-state` but for the first call
   */
  start(): HubSessionEvent[] {
    if (this.phase !== 'new') throw new LocalError('wrong-state', `start() in state ${this.phase}`);
    this.phase = 'awaiting-message-1';
    return [
      { type: 'transmit', data: writeEnvelope('hello', this.hello) },
      { type: 'transmit', data: writeEnvelope('shake', this.offer) },
    ];
  }

  /** @throws LocalError `wrong-state` before `start`; otherwise as every session */
  override receive(data: string | Uint8Array): HubSessionEvent[] {
    if (this.phase === 'new') {
      throw new LocalError('wrong-state', 'receive() before start(): the hub speaks first');
    }
    return super.receive(data);
  }

  protected override takeEnvelope(envelope: Envelope, events: HubSessionEvent[]): void {
    const state = this.phase as HubState;
    const input = inputOf(envelope);
    const action = TABLE[state][input];
    if (action === undefined) throw unexpected(input, state);
    if (action !== 'ignore') this[action](envelope.payload, events);
  }

  private takeMessage1(payload: JsonObject, events: HubSessionEvent[]): void {
    if (ownField(payload, 'max_protocol_version') !== undefined) assertProtocolVersion(payload);
    const noise = readNoise(payload)!;
    const pattern = ownField(noise, 'pattern');
    const suite = ownField(noise, 'suite');
    if (typeof pattern !== 'string' || typeof suite !== 'string') {
      throw new RemoteError('bad-payload', 'message 1 whose noise.pattern and noise.suite are not texts');
    }
    if (this.patterns.indexOf(pattern as Pattern) < 0 || this.suites.indexOf(suite as Suite) < 0) {
      throw new RemoteError('not-offered', 'message 1 with a pattern or suite that was not offered');
    }
    const message = readNoiseMessage(payload);
    this.pattern = pattern as Pattern;
    this.suite = suite as Suite;
    const handshake = new HandshakeState({
      crypto: this.crypto,
      role: 'responder',
      pattern: this.pattern,
      suite: this.suite,
      prologue: buildPrologue(this.hello, this.offer, protocolName(this.pattern, this.suite)),
      psk: this.psk,
      staticKey: this.staticKey,
      remoteStaticKey: this.pattern === 'KKpsk0' ? this.clientKey : undefined,
      randomBytes: this.randomBytes,
    });
    this.handshake = handshake;
    wipe(this.psk);
    this.asked = readMessage1Payload(this.openMessage1(handshake, message));
    const msg = bytesToHex(handshake.writeMessage(MESSAGE_2_PAYLOAD));
    events.push({ type: 'transmit', data: writeEnvelope('shake', { noise: { msg } }) });
    if (handshake.isFinished) this.finish(events);
    else this.phase = 'awaiting-message-3';
  }

  /** Reads message 1 and says what it means where that fails. */
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
        'the client has another prologue: it bound other HELLO or HANDSHAKE bytes',
      );
    }
  }

  private takeMessage3(payload: JsonObject, events: HubSessionEvent[]): void {
    const handshake = this.handshake!;
    handshake.readMessage(readNoiseMessage(payload));
    const key = handshake.remoteStaticKey!;
    if (this.clientKey === undefined) {
      events.push({ type: 'pin', key: copyBytes(key) });
    } else if (!equalBytes(this.clientKey, key)) {
      throw new RemoteError(
        'client-key-changed',
        'the client has another key than the one pinned for its access key',
      );
    }
    this.finish(events);
  }

  private finish(events: HubSessionEvent[]): void {
    const transport = this.establish();
    events.push({
      type: 'ready',
      pattern: this.pattern!,
      suite: this.suite!,
      clientKey: copyBytes(transport.remoteStaticKey),
      handshakeHash: copyBytes(transport.handshakeHash),
      binarize: this.asked!.binarize,
      encodings: this.asked!.encodings,
    });
  }

  protected override takeMessage(message: Reassembled, events: HubSessionEvent[]): void {
    if (this.expectsHello) {
      this.expectsHello = false;
      const hello = readHello(message);
      events.push(hello);
      if (hello.error?.code !== 'no-hello') return;
    }
    events.push(message);
  }

  /** A hub does not dial, so it never tries again; and many clients cannot choose a close code, so none is read. */
  protected override endedByPeer(code: number | 'timeout' | undefined): EndedEvent {
    if (code === 'timeout') {
      const error = new RemoteError('timeout', `nothing came from the client in state ${this.phase}`);
      return this.ended('timeout', 'never', error);
    }
    const hint =
      this.phase === 'awaiting-message-3'
        ? ': it may have another password, or another pin for this hub'
        : '';
    const error = new RemoteError('dropped', `the client went away in state ${this.phase}${hint}`);
    return this.ended('dropped', 'never', error);
  }

  protected override endedByFailure(error: LocalError | RemoteError): EndedEvent {
    return this.ended(this.established ? 'dropped' : 'refused', 'never', error);
  }

  protected override destroy(): void {
    super.destroy();
    wipe(this.psk);
  }
}
opaque(HubSession.prototype, 'HubSession');

/** JSON without an encoding, since nothing was asked that needs one; peers that cannot read an empty text can read this. */
const MESSAGE_2_PAYLOAD = utf8ToBytes('{}');

/** The suites of an option that the crypto can do, or all it can. */
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

/** The client's first transport message as its HELLO (spec, step 7). */
function readHello(message: Reassembled): HelloEvent {
  let envelope: Envelope | undefined;
  try {
    if (message.type === 'message' && message.kind === 'json') envelope = parseEnvelope(message.text);
  } catch {
    // Whatever it is, it is no HELLO.
  }
  if (envelope === undefined || envelope.type !== 'hello') {
    const error = new RemoteError('no-hello', 'the first message of a client is not its HELLO');
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
      'a HELLO whose session, site_id or pubkey is of the wrong type',
    );
    return { type: 'hello', payload: undefined, error };
  }
  return { type: 'hello', payload, error: undefined };
}
