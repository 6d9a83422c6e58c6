/**
 * ClientSession: the client's side of protocol 3, sans I/O. What a device runs.
 * Spec, "Hub connection (protocol v3)".
 */
import { assertBytes, assertFlag, bytesToHex, copyBytes, equalBytes, isBytes, kindOf } from '../bytes.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { KEY_LENGTH } from '../limits.ts';
import { HandshakeState } from '../noise/handshake-state.ts';
import { type Pattern, protocolName, type Suite } from '../noise/patterns.ts';
import { opaque } from '../opaque.ts';
import { type Envelope, writeEnvelope } from '../wire/envelope.ts';
import {
  composePayload,
  isStringArray,
  readMessage2Payload,
  readNodeId,
  readNoiseMessage,
  readOffer,
} from '../wire/handshake.ts';
import type { JsonObject } from '../wire/json.ts';
import { buildPrologue } from '../wire/prologue.ts';
import type { Reassembled } from '../wire/reassembler.ts';
import { canonicalJson } from '../wire/write-json.ts';
import type { EndedEvent, SessionEvent } from './events.ts';
import { selectNoise, suitesOf } from './negotiation.ts';
import { pskSalt } from './psk.ts';
import {
  assertFields,
  assertFunction,
  assertPatterns,
  inputOf,
  Session,
  type SessionOptions,
  type Table,
  unexpected,
} from './session.ts';

/** A device record answers several of these: `...keyringOptions(device)`. */
export interface ClientOptions extends SessionOptions {
  /** The identity's site id, which the client tells the hub in its HELLO; may be empty. */
  siteId: string;
  /**
   * The stored static key of a hub, 32 bytes, or `undefined` where none was ever stored, and only then. A store that
   * cannot be read must throw: the session ends before message 1 rather than trust a stranger.
   */
  pin?: ((nodeId: string) => Uint8Array | undefined) | undefined;
  /** A provisioned or cached PSK for this identity at that hub; anything but 32 bytes counts as none. */
  psk?: ((nodeId: string) => Uint8Array | undefined) | undefined;
  /** Whether no session was ever ready with this static key (default false); a hub that is pinned knows another then. */
  staticKeyIsFresh?: boolean | undefined;
  /** Fields of the HELLO payload, over the defaults for `pubkey`, `session` and `site_id`. */
  hello?: JsonObject | undefined;
  /** Said in message 1: whether binary frames are preferred (default false). */
  binarize?: boolean | undefined;
  /** Said in message 1: the JSON encodings that are understood (default none). */
  encodings?: string[] | undefined;
  /** The handshake patterns to use (default both). XXpsk2 alone still enforces the pin. */
  patterns?: Pattern[] | undefined;
  /**
   * After a KKpsk0 that failed: 'unpin' (default, as the spec says) drops the pin, and the next attempt trusts whatever
   * hub knows the password; 'keep-pin' leaves it, and the next attempt is to be made with `patterns: ['XXpsk2']`, where
   * the pin still holds. The latter keeps whoever knows the password from shedding a pin by spoiling a handshake.
   */
  onKkFailure?: 'unpin' | 'keep-pin' | undefined;
  /**
   * Whether messages are handed over in parts, as `chunk` events, instead of being put together (default false): for
   * devices with less memory than a message may need. Each part is at most one transport message.
   */
  streams?: boolean | undefined;
}

export type ClientState = 'awaiting-hello' | 'awaiting-offer' | 'awaiting-psk' | 'awaiting-message-2';

const TABLE: Table<ClientState, 'takeHello' | 'takeOffer' | 'takeMessage2'> = {
  'awaiting-hello': { hello: 'takeHello' },
  'awaiting-offer': { hello: 'takeHello', offer: 'takeOffer' }, // the latest HELLO counts
  'awaiting-psk': { hello: 'ignore', offer: 'ignore', 'message-1': 'ignore', 'later-message': 'ignore' },
  'awaiting-message-2': {
    hello: 'ignore',
    offer: 'ignore',
    'message-1': 'takeMessage2', // from a hub that repeats the pattern
    'later-message': 'takeMessage2',
  },
};

/** One connection to a hub. A new connection is a new object, whatever became of this one. */
export class ClientSession extends Session<ClientState, SessionEvent> {
  private readonly pinOf: ((nodeId: string) => unknown) | undefined;
  private readonly pskOf: ((nodeId: string) => unknown) | undefined;
  private readonly staticKeyIsFresh: boolean;
  private readonly ownHello: JsonObject;
  private readonly message1Payload: Uint8Array;
  private readonly patterns: readonly Pattern[];
  private readonly unpins: boolean;
  private announced = false;
  private nodeId = '';
  private hubHello: JsonObject = {};
  private pin: Uint8Array | undefined;
  /** After a refusal: at once where the next attempt will be another one, without the pin. */
  private retry: EndedEvent['retry'] = 'later';
  private suite: Suite | undefined;
  private prologue: Uint8Array = new Uint8Array(0);

  /** @throws LocalError `bad-argument`, `bad-length`, or what is wrong with `hello` as JSON */
  constructor(options: ClientOptions) {
    super(options, 'awaiting-hello');
    const { siteId, pin, psk, staticKeyIsFresh, hello, binarize, encodings, patterns, onKkFailure } = options;
    if (typeof siteId !== 'string') {
      throw new LocalError('bad-argument', `"siteId" expected string, got ${kindOf(siteId)}`);
    }
    if (pin !== undefined) assertFunction(pin, 'pin');
    if (psk !== undefined) assertFunction(psk, 'psk');
    if (encodings !== undefined && !isStringArray(encodings)) {
      throw new LocalError('bad-argument', '"encodings" expected an array of texts');
    }
    if (onKkFailure !== undefined && onKkFailure !== 'unpin' && onKkFailure !== 'keep-pin') {
      throw new LocalError('bad-argument', '"onKkFailure" expected "unpin" or "keep-pin"');
    }
    this.pinOf = pin;
    this.pskOf = psk;
    this.staticKeyIsFresh = assertFlag(staticKeyIsFresh, 'staticKeyIsFresh');
    this.ownHello = composePayload({ pubkey: '', site_id: siteId }, assertFields(hello, 'hello'));
    this.message1Payload = canonicalJson({
      binarize: assertFlag(binarize, 'binarize'),
      encodings: encodings ?? [],
    });
    this.patterns = assertPatterns(patterns);
    this.unpins = onKkFailure !== 'keep-pin';
  }

  /**
   * MQTT only: the cleartext HELLO that announces this client. Over a WebSocket the hub speaks first.
   * @throws LocalError `wrong-state` but for the first call, before anything was received
   */
  start(): SessionEvent[] {
    if (this.announced || this.phase !== 'awaiting-hello') {
      throw new LocalError('wrong-state', `start() in state ${this.phase}: each attempt is a new session`);
    }
    this.announced = true;
    return [{ type: 'transmit', data: writeEnvelope('hello', this.ownHello) }];
  }

  /**
   * The answer to `psk-needed`. Late or a second time it does nothing.
   * @param psk - 32 bytes, from `derivePsk` or provisioned
   * @throws LocalError `wrong-state` before it was asked for, `bad-argument` or `bad-length`, which change nothing
   */
  providePsk(psk: Uint8Array): SessionEvent[] {
    if (this.phase === 'awaiting-hello' || this.phase === 'awaiting-offer') {
      throw new LocalError(
        'wrong-state',
        'providePsk() before psk-needed: the psk option takes a stored PSK',
      );
    }
    if (this.phase !== 'awaiting-psk') return [];
    assertBytes(psk, 'psk', KEY_LENGTH);
    const events: SessionEvent[] = [];
    try {
      this.sendMessage1(psk, events);
    } catch (error) {
      events.push(this.fail(error));
    }
    return events;
  }

  protected override takeEnvelope(envelope: Envelope, events: SessionEvent[]): void {
    const state = this.phase as ClientState;
    const input = inputOf(envelope);
    const action = TABLE[state][input];
    if (action === undefined) throw unexpected(input, state);
    if (action !== 'ignore') this[action](envelope.payload, events);
  }

  protected override takeMessage(message: Reassembled, events: SessionEvent[]): void {
    events.push(message);
  }

  private takeHello(payload: JsonObject): void {
    this.nodeId = readNodeId(payload);
    this.hubHello = payload;
    this.phase = 'awaiting-offer';
  }

  private takeOffer(payload: JsonObject, events: SessionEvent[]): void {
    const { patterns, suites } = readOffer(payload);
    this.pin = this.lookUpPin();
    const { pattern, suite } = selectNoise(
      { patterns: patterns.filter((pattern) => this.patterns.indexOf(pattern as Pattern) >= 0), suites },
      { suites: suitesOf(this.crypto), pinned: this.pin !== undefined },
    );
    this.pattern = pattern;
    this.suite = suite;
    this.prologue = buildPrologue(this.hubHello, payload, protocolName(pattern, suite));
    if (this.pin !== undefined && this.staticKeyIsFresh) {
      const error = new LocalError('static-key-fresh', STATIC_KEY_FRESH);
      events.push({ type: 'static-key-fresh', nodeId: this.nodeId, error });
    }
    this.phase = 'awaiting-psk';
    const psk = this.lookUpPsk();
    if (psk !== undefined) this.sendMessage1(psk, events);
    else events.push({ type: 'psk-needed', nodeId: this.nodeId, salt: pskSalt(this.crypto, this.nodeId) });
  }

  private sendMessage1(psk: Uint8Array, events: SessionEvent[]): void {
    const pattern = this.pattern!;
    const suite = this.suite!;
    this.handshake = new HandshakeState({
      crypto: this.crypto,
      role: 'initiator',
      pattern,
      suite,
      prologue: this.prologue,
      psk,
      staticKey: this.staticKey,
      remoteStaticKey: pattern === 'KKpsk0' ? this.pin : undefined,
      randomBytes: this.randomBytes,
    });
    const msg = bytesToHex(this.handshake.writeMessage(this.message1Payload));
    this.phase = 'awaiting-message-2';
    events.push({ type: 'transmit', data: writeEnvelope('shake', { noise: { pattern, suite, msg } }) });
  }

  private takeMessage2(payload: JsonObject, events: SessionEvent[]): void {
    const encoding = readMessage2Payload(this.openMessage2(payload, events));
    const { nodeId, pin } = this;
    const pattern = this.pattern!;
    const suite = this.suite!;
    const handshake = this.handshake!;
    if (pattern === 'XXpsk2') {
      // Nothing more goes to a hub with the wrong key, least of all our own static key in message 3.
      const key = handshake.remoteStaticKey!;
      if (pin !== undefined && !equalBytes(pin, key)) {
        throw new RemoteError(
          'hub-key-changed',
          'the hub has another key than the one pinned: make sure that it is the same hub, then drop the pin deliberately',
        );
      }
      if (pin === undefined) events.push({ type: 'pin', nodeId, key: copyBytes(key) });
      const msg = bytesToHex(handshake.writeMessage());
      events.push({ type: 'transmit', data: writeEnvelope('shake', { noise: { msg } }) });
    }
    const transport = this.establish();
    const handshakeHash = copyBytes(transport.handshakeHash);
    // A session id of this connection's own, unless the integrator gave one.
    const session = { session_id: bytesToHex(handshakeHash.subarray(0, 16)) };
    const messages = this.sendJson(
      writeEnvelope('hello', composePayload({ pubkey: '', session }, this.ownHello)),
    );
    for (let i = 0; i < messages.length; i++) events.push({ type: 'transmit', data: messages[i]! });
    events.push({
      type: 'ready',
      pattern,
      suite,
      hubKey: copyBytes(transport.remoteStaticKey),
      handshakeHash,
      encoding,
    });
  }

  /** Reads message 2 and says what it means where that fails. */
  private openMessage2(payload: JsonObject, events: SessionEvent[]): Uint8Array {
    const isKk = this.pattern === 'KKpsk0';
    try {
      return this.handshake!.readMessage(readNoiseMessage(payload));
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      if (isKk) this.suspect(events);
      if (error.code !== 'payload-not-authentic') throw error;
      if (isKk) throw new RemoteError('kk-failed', KK_FAILED);
      events.push({ type: 'psk-suspect', nodeId: this.nodeId });
      throw new RemoteError(
        'psk-differs',
        'the hub has another password for this client: forget a stored PSK, then check the identity’s password',
      );
    }
  }

  /** What a KKpsk0 that failed puts in doubt. */
  private suspect(events: SessionEvent[]): void {
    events.push({ type: 'psk-suspect', nodeId: this.nodeId });
    if (!this.unpins) return;
    events.push({ type: 'unpin', nodeId: this.nodeId });
    this.retry = 'now';
  }

  private lookUpPin(): Uint8Array | undefined {
    if (this.pinOf === undefined) return undefined;
    let pin: unknown;
    try {
      pin = this.pinOf(this.nodeId);
    } catch (error) {
      throw new LocalError(
        'trust-unreadable',
        'pin() threw: restore the store of pins before connecting',
        error,
      );
    }
    if (pin === undefined) return undefined;
    if (!isBytes(pin) || pin.length !== KEY_LENGTH) {
      throw new LocalError(
        'trust-unreadable',
        'pin() answered neither 32 bytes nor undefined: restore the store of pins',
      );
    }
    return copyBytes(pin);
  }

  /** A PSK that cannot be read is derived again. */
  private lookUpPsk(): Uint8Array | undefined {
    if (this.pskOf === undefined) return undefined;
    try {
      const psk = this.pskOf(this.nodeId);
      return isBytes(psk) && psk.length === KEY_LENGTH ? psk : undefined;
    } catch {
      return undefined;
    }
  }

  protected override endedByPeer(code: number | 'timeout' | undefined, events: SessionEvent[]): EndedEvent {
    const state = this.phase;
    if (code === 'timeout') {
      const error = new RemoteError(
        'timeout',
        `nothing came in state ${state}: the hub is slow, or refuses in silence`,
      );
      return this.ended('timeout', 'later', error);
    }
    if (!isRefusal(code) || this.heard) {
      const error = new RemoteError('dropped', `the connection was lost in state ${state}: connect again`);
      return this.ended('dropped', 'now', error);
    }
    const isKk = this.pattern === 'KKpsk0';
    if (state === 'awaiting-message-2' && isKk) {
      this.suspect(events);
      return this.ended('refused', this.retry, new RemoteError('kk-refused', KK_FAILED));
    }
    if (state === 'awaiting-message-2') {
      return this.ended('refused', 'later', new RemoteError('negotiation-refused', NEGOTIATION_REFUSED));
    }
    if (state !== 'ready')
      return this.ended('refused', 'later', new RemoteError('access-refused', ACCESS_REFUSED));
    if (isKk) return this.ended('refused', 'later', new RemoteError('refused', ACCESS_REFUSED));
    const error = new RemoteError('client-key-refused', CLIENT_KEY_REFUSED);
    return this.ended('client-key-refused', 'never', error);
  }

  protected override endedByFailure(error: LocalError | RemoteError): EndedEvent {
    if (this.established) return this.ended('dropped', 'now', error);
    if (error.code === 'hub-key-changed' || error.code === 'trust-unreadable')
      return this.ended('refused', 'never', error);
    return this.ended('refused', this.retry, error);
  }
}
opaque(ClientSession.prototype, 'ClientSession');

const STATIC_KEY_FRESH =
  'this hub is pinned, and was never shown the present static key: it most likely holds another for this client, and will ' +
  'refuse this one. Restore the key that was lost, share it between programs, or have the hub’s operator reset it';
const KK_FAILED =
  'the handshake with the pinned key failed: the password changed, a stored PSK is stale, or the hub has a new key. ' +
  'Forget the stored PSK; the next attempt with XXpsk2 tells which';
const NEGOTIATION_REFUSED =
  'the hub closed on message 1: it refuses the access key, the pattern or the suite, or saw another HELLO and offer';
const ACCESS_REFUSED =
  'the hub closed the connection: it does not know the access key, does not admit it yet, or takes no more clients';
const CLIENT_KEY_REFUSED =
  'the hub has another static key for this client: another program may use the identity, or the key was lost. Share the ' +
  'key or restore it, or have the hub’s operator reset it or issue a new identity';

/** The close codes with which a hub refuses; with any other, or none, a connection was lost. */
function isRefusal(code: number | undefined): boolean {
  return code === 1000 || code === 1005 || code === 1008;
}
