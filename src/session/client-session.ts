/**
 * ClientSession: the client's side of protocol 3, for one connection to a hub. Spec, "Hub connection (protocol v3)".
 */

import { assertBytes, assertChoice, readOptions } from '../arguments.ts';
import {
  type Bytes,
  bytesToHex,
  concatBytes,
  copyBytes,
  equalBytes,
  isBytes,
  utf8ToBytes,
  wipe,
} from '../bytes.ts';
import { CheckedCrypto, type CheckedKeyPair, failureOf, randomKey } from '../crypto/checked.ts';
import { LocalError, RemoteError } from '../errors.ts';
import { KEY_LENGTH, MAX_MESSAGE_2_PAYLOAD } from '../limits.ts';
import { HandshakeState } from '../noise/handshake-state.ts';
import type { Suite } from '../noise/patterns.ts';
import { protocolName } from '../noise/patterns.ts';
import { hideFields, opaque } from '../opaque.ts';
import { writeEnvelope } from '../wire/envelope.ts';
import {
  mergeFields,
  readMessage2Payload,
  readNodeId,
  readNoiseMessage,
  readOffer,
} from '../wire/handshake.ts';
import { isJsonObject, type JsonObject, ownField } from '../wire/json.ts';
import { canonicalJson } from '../wire/write-json.ts';
import { CLIENT_OPTIONS, type ClientOptions, type Preparation, prepare } from './client-options.ts';
import {
  CLIENT_ENDINGS,
  CLIENT_FAILURES,
  clientEndingError,
  type EndingFacts,
  findEnding,
  kkFailed,
} from './endings.ts';
import type { EndedEvent, PskEvent, SessionEvent } from './events.ts';
import { assertRequired, selectNoise, suitesOf } from './negotiation.ts';
import type { Pattern } from './protocol.ts';
import { pskSalt } from './psk.ts';
import { type Incoming, Session } from './session.ts';
import { type After, CLIENT_TRANSITIONS } from './transitions.ts';

/** The state of a ClientSession. */
export type ClientState = keyof typeof CLIENT_TRANSITIONS;

type Next<Action extends string> = After<typeof CLIENT_TRANSITIONS, Action>;

/**
 * One connection to a hub. Create a new session for each connection, however the last one ended.
 * @see spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { ClientSession } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const session = new ClientSession({ crypto, randomBytes, siteId: 'lobby', staticKey: randomBytes(32) });
 * const noise = { patterns: ['XXpsk2'], suites: ['25519_ChaChaPoly_SHA256'] };
 * const received = [
 *   { msg_type: 'hello', payload: { node_id: 'hub-1' } },
 *   { msg_type: 'shake', payload: { max_protocol_version: 3, noise } },
 * ];
 * for (const message of received) {
 *   for (const event of session.receive(JSON.stringify(message))) {
 *     if (event.type === 'psk-needed') console.log(event.nodeId, event.salt.length); // hub-1 32
 *   }
 * }
 * console.log(session.state); // awaiting-psk
 */
export class ClientSession extends Session<ClientState, SessionEvent> {
  private preparation: Preparation | undefined;
  private staticKey: CheckedKeyPair | undefined = undefined;
  private ephemeralKey: CheckedKeyPair | undefined = undefined;
  private readonly unpins: boolean;
  private hasStarted = false;
  private nodeId = '';
  private suite: Suite | undefined = undefined;
  private hasUnpinned = false;
  private hasSharedSecret = false;

  /**
   * Makes the ephemeral key, and computes what needs no hub: create the session before you connect.
   * @throws LocalError `bad-argument`, also for an unknown option; `bad-length`; `not-json`, `unsafe-number`,
   *   `lone-surrogate` or `json-depth` if `hello` or `encodings` cannot be written as JSON; `bad-random` if `randomBytes`
   *   returns anything but 32 bytes, or zeros; `crypto-failed` if it throws, or if the injected crypto fails
   */
  constructor(options: ClientOptions) {
    const given = readOptions(options, 'options', CLIENT_OPTIONS);
    super(given, 'awaiting-hello', CLIENT_TRANSITIONS, CLIENT_FAILURES);
    this.preparation = prepare(given);
    this.unpins =
      assertChoice(given.onKkFailure, 'onKkFailure', ['unpin', 'keep-pin']) === 'unpin' &&
      given.trust !== 'pinned-only';
    hideFields(this);
    try {
      const crypto = new CheckedCrypto(given.crypto);
      this.staticKey = crypto.ownKeyPair(given.staticKey);
      this.ephemeralKey = crypto.keyPair(randomKey(given.randomBytes));
      const { expectedHubKey, patterns, isPaced } = this.preparation;
      if (expectedHubKey !== undefined && !isPaced && patterns.indexOf('KKpsk0') >= 0) {
        this.staticKey.computeAhead(expectedHubKey);
        this.ephemeralKey.computeAhead(expectedHubKey);
      }
    } catch (error) {
      this.forgetHandshake();
      throw failureOf(error);
    }
  }

  /**
   * MQTT only: sends the cleartext HELLO that makes the hub greet this client. It names neither session nor site; the
   * sealed HELLO names them later. Over a WebSocket the hub speaks first.
   * @returns one `transmit` event
   * @throws LocalError `wrong-state` unless it is the first call, before anything was received
   */
  start(): SessionEvent[] {
    if (this.hasStarted || this.phase !== 'awaiting-hello') {
      throw new LocalError('wrong-state', `start() in state ${this.phase}: each attempt is a new session`);
    }
    return this.run((events) => {
      this.hasStarted = true;
      events.push({ type: 'transmit', data: writeEnvelope('hello', { pubkey: null, site_id: '' }) });
    });
  }

  /**
   * Answers `psk-needed`. A late or second call does nothing.
   * @param psk - 32 bytes, derived by `derivePsk` or provisioned; the caller may wipe them afterwards
   * @returns the events that follow, in order
   * @throws LocalError `wrong-state` before `psk-needed` and in a callback of this session; `bad-argument`;
   *   `bad-length`. None of these changes anything.
   */
  providePsk(psk: Uint8Array): SessionEvent[] {
    this.assertIdle();
    if (this.phase === 'awaiting-hello' || this.phase === 'awaiting-offer') {
      throw new LocalError(
        'wrong-state',
        'providePsk() before psk-needed: a stored PSK goes into the psk option',
      );
    }
    if (!this.handles('psk')) return [];
    assertBytes(psk, 'psk', KEY_LENGTH);
    return this.run((events) => {
      this.preparation!.derivedPsk = copyBytes(psk);
      this.dispatch('psk', psk, events);
    });
  }

  /**
   * Answers `dh-needed`. Each call answers the last `dh-needed` that has no answer yet; if there is none, it does nothing.
   * @param sharedSecret - X25519 of the client's static private key and the public key of the event, 32 bytes; the
   *   caller may wipe them afterwards
   * @returns the events that follow, in order
   * @throws LocalError `wrong-state` before `dh-needed` and in a callback of this session; `bad-argument`;
   *   `bad-length`. None of these changes anything.
   */
  provideSharedSecret(sharedSecret: Uint8Array): SessionEvent[] {
    this.assertIdle();
    if (this.handshake?.dhNeeded === undefined) {
      if (this.hasSharedSecret || this.isOver() || this.phase === 'ready') return [];
      throw new LocalError('wrong-state', `provideSharedSecret() in state ${this.phase}: wait for dh-needed`);
    }
    assertBytes(sharedSecret, 'sharedSecret', KEY_LENGTH);
    return this.run((events) => {
      this.hasSharedSecret = true;
      this.dispatch('shared-secret', sharedSecret, events);
    });
  }

  /**
   * Answers `paused`: does the next step of the handshake. In any other state, it does nothing.
   * @returns the events that follow, in order
   * @throws LocalError `wrong-state` in a callback of this session
   */
  resume(): SessionEvent[] {
    this.assertIdle();
    if (!this.handles('resume') || this.handshake!.dhNeeded !== undefined) return [];
    return this.run((events) => this.dispatch('resume', undefined, events));
  }

  protected override act(
    action: string,
    incoming: Incoming | undefined,
    events: SessionEvent[],
  ): ClientState {
    return this[action as Action](incoming as JsonObject & Uint8Array, events);
  }

  private takeHello(payload: JsonObject): Next<'takeHello'> {
    this.nodeId = readNodeId(payload);
    this.preparation!.hubHello = canonicalJson(payload);
    return 'awaiting-offer';
  }

  private takeOffer(payload: JsonObject, events: SessionEvent[]): Next<'takeOffer'> {
    const preparation = this.preparation!;
    const { nodeId } = this;
    const offer = readOffer(payload);
    assertRequired(offer);
    const { patterns, suites } = offer;
    const pin = this.lookUpPin(preparation);
    if (pin === undefined && !preparation.trustsNewHubs) {
      throw new RemoteError(
        'unknown-hub',
        'the hub is not pinned, and only pinned hubs are trusted: make sure which hub this is, then provision its pin',
      );
    }
    const { pattern, suite } = selectNoise(
      { patterns: patterns.filter((name) => preparation.patterns.indexOf(name as Pattern) >= 0), suites },
      { suites: suitesOf(this.crypto), pinned: pin !== undefined },
    );
    this.pattern = pattern;
    this.suite = suite;
    preparation.pin = pin;
    preparation.prologue = concatBytes([
      preparation.hubHello,
      canonicalJson(payload),
      utf8ToBytes(protocolName(pattern, suite)),
    ]);
    if (pin === undefined && preparation.hasPins) events.push({ type: 'new-hub', nodeId });
    if (pin !== undefined && preparation.staticKeyIsFresh) {
      events.push({ type: 'static-key-fresh', nodeId, error: staticKeyFresh() });
    }
    const psk = this.lookUpPsk(preparation);
    if (psk !== undefined) return this.takePsk(psk, events);
    events.push({ type: 'psk-needed', nodeId, salt: copyBytes(pskSalt(this.crypto, nodeId)) });
    return 'awaiting-psk';
  }

  private takePsk(psk: Uint8Array, events: SessionEvent[]): Next<'takePsk'> {
    const { prologue, pin, message1Payload, isPaced } = this.preparation!;
    const pattern = this.pattern!;
    const handshake = new HandshakeState({
      crypto: this.crypto,
      role: 'initiator',
      pattern,
      suite: this.suite!,
      prologue,
      psk,
      staticKey: this.staticKey!,
      remoteStaticKey: pattern === 'KKpsk0' ? pin : undefined,
      ephemeralKey: this.ephemeralKey,
      paced: isPaced,
    });
    this.handshake = handshake;
    return this.sendMessage1(handshake.write(message1Payload), events);
  }

  private sealMessage1(sharedSecret: Uint8Array | undefined, events: SessionEvent[]): Next<'sealMessage1'> {
    return this.sendMessage1(this.handshake!.resume(sharedSecret), events);
  }

  private sendMessage1(message: Uint8Array | undefined, events: SessionEvent[]): Next<'sealMessage1'> {
    if (message === undefined) return this.wait('sealing-message-1', events);
    const noise: JsonObject = { pattern: this.pattern!, suite: this.suite!, msg: bytesToHex(message) };
    events.push({ type: 'transmit', data: writeEnvelope('shake', { noise }) });
    return 'awaiting-message-2';
  }

  private takeMessage2(payload: JsonObject, events: SessionEvent[]): Next<'takeMessage2'> {
    return this.readMessage2(
      () => this.handshake!.read(readNoiseMessage(payload), MAX_MESSAGE_2_PAYLOAD),
      events,
    );
  }

  private openMessage2(sharedSecret: Uint8Array | undefined, events: SessionEvent[]): Next<'openMessage2'> {
    return this.readMessage2(() => this.handshake!.resume(sharedSecret), events);
  }

  private readMessage2(read: () => Uint8Array | undefined, events: SessionEvent[]): Next<'openMessage2'> {
    let opened: Uint8Array | undefined;
    try {
      opened = read();
    } catch (error) {
      throw error instanceof RemoteError ? this.explained(error, events) : error;
    }
    if (opened === undefined) return this.wait('opening-message-2', events);
    // One ciphertext can be made to open under many PSKs, and is noise under all but one of them. So noise ends as what
    // does not open, and nothing else is decided before: the peer would learn whether one of many passwords is right.
    const message2Payload = readMessage2Payload(opened);
    if (message2Payload === undefined) throw this.unopened(events);
    const preparation = this.preparation!;
    preparation.encoding = message2Payload.encoding;
    if (this.pattern === 'KKpsk0') {
      this.announcePsk(preparation, events);
      return this.finish(events);
    }
    const { pin } = preparation;
    const handshake = this.handshake!;
    // A hub with the wrong key is sent nothing more, above all not the static key of this client in message 3.
    const key = handshake.remoteStaticKey!;
    if (pin !== undefined && !equalBytes(pin, key)) {
      throw new RemoteError(
        'hub-key-changed',
        'the hub has a different key from the one that is pinned: make sure that it is the same hub, then drop the pin',
      );
    }
    this.announcePsk(preparation, events);
    if (pin === undefined) events.push({ type: 'pin', nodeId: this.nodeId, key: copyBytes(key) });
    return this.sendMessage3(handshake.write(), events);
  }

  private sealMessage3(sharedSecret: Uint8Array | undefined, events: SessionEvent[]): Next<'sealMessage3'> {
    return this.sendMessage3(this.handshake!.resume(sharedSecret), events);
  }

  private sendMessage3(message: Uint8Array | undefined, events: SessionEvent[]): Next<'sealMessage3'> {
    if (message === undefined) return this.wait('sealing-message-3', events);
    events.push({ type: 'transmit', data: writeEnvelope('shake', { noise: { msg: bytesToHex(message) } }) });
    return this.finish(events);
  }

  private finish(events: SessionEvent[]): 'ready' {
    const { hello, encoding } = this.preparation!;
    const { handshakeHash, remoteStaticKey } = this.establish();
    // The default session is this connection's own: its id comes from the handshake hash.
    const session = { session_id: bytesToHex(handshakeHash.subarray(0, 16)) };
    const greeting = mergeFields({ pubkey: null, session }, hello); // in the order of other clients
    const messages = this.sealText(writeEnvelope('hello', greeting));
    for (let i = 0; i < messages.length; i++) events.push({ type: 'transmit', data: messages[i]! });
    events.push({
      type: 'ready',
      nodeId: this.nodeId,
      pattern: this.pattern!,
      suite: this.suite!,
      hubKey: copyBytes(remoteStaticKey),
      handshakeHash: copyBytes(handshakeHash),
      sessionId: sessionIdOf(greeting),
      encoding,
    });
    return 'ready';
  }

  private takeFrame(sealed: Uint8Array, events: SessionEvent[]): Next<'takeFrame'> {
    const message = this.open(sealed);
    if (message !== undefined) events.push(message);
    return 'ready';
  }

  private wait<Waiting extends ClientState>(state: Waiting, events: SessionEvent[]): Waiting {
    const publicKey = this.handshake!.dhNeeded;
    events.push(publicKey === undefined ? { type: 'paused' } : { type: 'dh-needed', publicKey });
    return state;
  }

  /** Emits what is in doubt if message 2 cannot be read, and returns an error that names the cause. */
  private explained(error: RemoteError, events: SessionEvent[]): RemoteError {
    if (error.code === 'payload-not-authentic') return this.unopened(events);
    if (this.pattern === 'KKpsk0') this.doubtPin(events);
    return error;
  }

  /** Emits what is in doubt if the payload of message 2 does not open, or opens to noise, and returns the error. */
  private unopened(events: SessionEvent[]): RemoteError {
    if (this.pattern === 'KKpsk0') {
      this.doubtPin(events);
      return kkFailed();
    }
    events.push({ type: 'psk-suspect', nodeId: this.nodeId });
    return new RemoteError(
      'psk-differs',
      'the hub has another password for this client, or a third party interfered: check the password of the identity',
    );
  }

  /** Emits `psk` if the PSK was provided on this connection: it has opened message 2. */
  private announcePsk(preparation: Preparation, events: SessionEvent[]): void {
    const { derivedPsk } = preparation;
    if (derivedPsk === undefined) return;
    events.push(pskEvent(this.nodeId, derivedPsk));
    preparation.derivedPsk = undefined; // the event has it now
  }

  /** Emits `unpin` after a failed KKpsk0, unless the options say to keep the pin. */
  private doubtPin(events: SessionEvent[]): void {
    if (!this.unpins) return;
    this.hasUnpinned = true;
    events.push({ type: 'unpin', nodeId: this.nodeId });
  }

  private lookUpPin({ pinOf }: Preparation): Uint8Array | undefined {
    let pin: unknown;
    try {
      pin = pinOf?.(this.nodeId);
    } catch (error) {
      throw new LocalError(
        'trust-unreadable',
        'pin() threw: restore the pin store before you connect',
        error,
      );
    }
    if (pin === undefined) return undefined;
    if (!isBytes(pin) || pin.length !== KEY_LENGTH) {
      throw new LocalError(
        'trust-unreadable',
        'pin() returned neither 32 bytes nor undefined: restore the pin store before you connect',
      );
    }
    return copyBytes(pin);
  }

  /** A stored PSK that cannot be read counts as none, since it can be derived again. */
  private lookUpPsk({ pskOf }: Preparation): Uint8Array | undefined {
    try {
      const psk = pskOf?.(this.nodeId);
      return isBytes(psk) && psk.length === KEY_LENGTH ? psk : undefined;
    } catch {
      return undefined;
    }
  }

  protected override endedByPeer(
    facts: EndingFacts,
    events: SessionEvent[],
  ): Pick<EndedEvent, 'reason' | 'retry' | 'error'> {
    const { reason, retry, error, unpins } = findEnding(CLIENT_ENDINGS, facts);
    if (unpins) this.doubtPin(events);
    return {
      reason,
      retry: unpins && !this.unpins ? 'later' : retry,
      error: clientEndingError(error, facts.state, facts.status),
    };
  }

  /** If the pin was dropped, the next attempt is a different one, so it may be made at once. */
  protected override endedByFailure(
    failure: LocalError | RemoteError,
  ): Pick<EndedEvent, 'reason' | 'retry' | 'error'> {
    const { reason, retry, error } = super.endedByFailure(failure);
    return { reason, retry: this.hasUnpinned ? 'now' : retry, error };
  }

  protected override forgetHandshake(): void {
    super.forgetHandshake();
    wipe(this.preparation?.derivedPsk);
    this.staticKey?.destroy();
    this.ephemeralKey?.destroy();
    this.staticKey = undefined;
    this.ephemeralKey = undefined;
    this.preparation = undefined;
  }
}
opaque(ClientSession.prototype, 'ClientSession');

/** The methods that CLIENT_TRANSITIONS names. */
type Action =
  | 'takeHello'
  | 'takeOffer'
  | 'takePsk'
  | 'sealMessage1'
  | 'takeMessage2'
  | 'openMessage2'
  | 'sealMessage3'
  | 'takeFrame';

function pskEvent(nodeId: string, key: Bytes): PskEvent {
  const event: PskEvent = { type: 'psk', nodeId, key };
  opaque(event, () => ({ type: 'psk', nodeId }));
  hideFields(event, ['key']);
  return event;
}

function staticKeyFresh(): LocalError {
  return new LocalError(
    'static-key-fresh',
    'this hub is pinned, but no hub has accepted the present static key yet: the hub most likely holds another key for ' +
      'this client and will refuse this one. Restore the lost key, share one key between programs, or ask the operator ' +
      'of the hub to reset it',
  );
}

/** The session id in a HELLO payload; `undefined` if the `session` of the `hello` option has none. */
function sessionIdOf({ session }: JsonObject): string | undefined {
  const id = isJsonObject(session) ? ownField(session, 'session_id') : undefined;
  return typeof id === 'string' ? id : undefined;
}
