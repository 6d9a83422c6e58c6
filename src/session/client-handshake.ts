/**
 * The client's side of the handshake, from the hub's HELLO to the client's own. Its methods have the names of the inputs
 * that they take; transitions.ts lists the inputs of each state. Spec, "Hub connection (protocol v3)".
 *
 * A first contact, from HELLO to `ready`:
 *
 * 1. `hello` keeps the node id and the payload for the prologue. Over MQTT, `start` first asks the hub for its HELLO.
 * 2. `offer` reads the HANDSHAKE, and `choose` takes pattern and suite: KKpsk0 for a pinned hub, XXpsk2 for a new one. A PSK
 *    that the keyring has goes to `psk`. Otherwise `psk-needed` asks for one, and `providePsk` passes it to `psk`.
 * 3. `psk` makes the Noise handshake and writes message 1. `advance` takes every step of Noise from here on. If it needs a shared
 *    secret from outside, or the session is paced, it emits `waiting`, and `resume` continues with `advance`.
 * 4. `noise` reads message 2. If that fails, `advance` and `unopened` name the cause, and put the pin or the PSK in doubt.
 * 5. `takePayload` compares the hub's key with the pin, and emits `psk` and `pin`: the hub has proved that it knows the
 *    password. A suspect pin is confirmed or replaced. Under XXpsk2, `advance` then writes message 3, with this client's static key.
 * 6. `finish` replaces the handshake by the keys of the session, seals the client's HELLO and emits `ready`. `release` has then
 *    wiped everything that only the handshake needed, as after any failure.
 * 7. `deliver` passes on the messages of the hub.
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
import type { CheckedKeyPair } from '../crypto/checked.ts';
import { type LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { MAX_MESSAGE_2_PAYLOAD } from '../limits.ts';
import { failureOf } from '../memory.ts';
import { Handshake, newEphemeral, noSecrets, wipeSecrets } from '../noise/handshake.ts';
import { nameOf, type Pattern, type Suite } from '../noise/patterns.ts';
import { opaque } from '../opaque.ts';
import { composeEnvelope, writeEnvelope } from '../wire/envelope.ts';
import type { Reassembled } from '../wire/frame-joiner.ts';
import {
  mergeFields,
  readMessage2Payload,
  readNodeId,
  readNoiseMessage,
  readOffer,
} from '../wire/handshake.ts';
import { isJsonObject, type JsonObject, ownField, ownText } from '../wire/json.ts';
import { canonicalJson, jsonToBytes } from '../wire/write-json.ts';
import { Channel, type Side } from './channel.ts';
import { type ClientOptions, type ClientPlan, readClientOptions } from './client-options.ts';
import {
  CLIENT_ENDINGS,
  CLIENT_FAILURES,
  type Ending,
  type EndingFacts,
  findEnding,
  findFailure,
} from './endings.ts';
import type { PskEvent, SessionEvent } from './events.ts';
import { findHub, fingerprint } from './keyring-fields.ts';
import { assertRequired, select, suitesOf } from './negotiation.ts';
import { CLIENT_TRANSITIONS, type ClientState } from './transitions.ts';

export class ClientHandshake implements Side<ClientState> {
  readonly channel: Channel<ClientState, SessionEvent>;
  pattern: Pattern | undefined = undefined;
  /** Until the handshake is done. */
  handshake: Handshake | undefined = undefined;
  /** Whether no hub has accepted the static key yet. */
  readonly isFresh: boolean;
  private hasDoubted = false;
  private nodeId = '';
  // The following fields are dropped when the handshake is done, and when the session ends.
  private plan: ClientPlan | undefined;
  private staticKey: CheckedKeyPair | undefined = undefined;
  private ephemeralKey: CheckedKeyPair | undefined = undefined;
  /** The shared secrets of KKpsk0 with the only pinned hub. */
  private readonly ahead = noSecrets();
  private suite: Suite | undefined = undefined;
  /** The canonical JSON of the hub's HELLO payload; then the prologue. */
  private prologue: Uint8Array | undefined = undefined;
  private pin: Bytes | undefined = undefined;
  /** Whether the pin is suspect: XXpsk2 shows whether it is stale. */
  private isSuspect = false;
  /** The PSK from `providePsk`, until it is proved. */
  private derivedPsk: Bytes | undefined = undefined;
  /** The encoding that message 2 named. */
  private encoding: string | undefined = undefined;
  /** The name of this client in the hub's HELLO. */
  private peer: string | undefined = undefined;
  /** Whether the offer says that the hub can write binary messages. */
  private binarize = false;

  constructor(options: ClientOptions) {
    const plan = readClientOptions(options);
    const { crypto, keyring, patterns, isPaced } = plan;
    this.channel = new Channel(plan.options, 'awaiting-hello', CLIENT_TRANSITIONS, this);
    this.plan = plan;
    this.isFresh = keyring.staticKeyIsFresh;
    try {
      this.staticKey = crypto.ownKey(keyring.staticKey, 'keyring.staticKey');
      this.ephemeralKey = newEphemeral(crypto, plan.options.randomBytes, this.staticKey);
      if (keyring.pins.length === 1 && !isPaced && patterns.indexOf('KKpsk0') >= 0) {
        // Most likely this hub will answer: compute KKpsk0's shared secrets with its key before the connection is made.
        const { key } = keyring.pins[0]!;
        const { ahead } = this;
        if (!this.staticKey.isAsynchronous) ahead.ss = this.staticKey.sharedSecret(key);
        ahead.es = this.ephemeralKey.sharedSecret(key);
      }
    } catch (error) {
      this.release();
      throw failureOf(error);
    }
  }

  start(): void {
    this.channel.emit({ type: 'transmit', data: writeEnvelope('hello', { pubkey: null, site_id: '' }) });
  }

  hello(payload: JsonObject): void {
    this.nodeId = readNodeId(payload);
    this.prologue = canonicalJson(payload);
    this.peer = ownText(payload, 'peer');
  }

  offer(payload: JsonObject): void {
    this.choose(payload);
    this.binarize = ownField(payload, 'binarize') === true;
    const { channel, nodeId } = this;
    const { crypto, keyring } = this.plan!;
    const stored = findHub(keyring.psks, nodeId);
    if (stored !== undefined && !stored.isSuspect) {
      channel.reach('psk');
      this.begin(stored.key);
    } else {
      channel.emit({ type: 'psk-needed', nodeId, salt: copyBytes(crypto.sha256(utf8ToBytes(nodeId))) });
    }
  }

  /** Chooses from the hub's offer, if the hub is to be trusted. */
  private choose(payload: JsonObject): void {
    const { channel, nodeId } = this;
    const { crypto, keyring, patterns, trustsNewHubs } = this.plan!;
    const offer = readOffer(payload);
    assertRequired(offer);
    const stored = findHub(keyring.pins, nodeId);
    const pin = stored?.key;
    const isSuspect = stored?.isSuspect === true;
    if (pin === undefined && !trustsNewHubs) {
      throw errors.unknownHub(nodeId);
    }
    const usable = offer.patterns.filter((name) => patterns.indexOf(name as Pattern) >= 0);
    const { pattern, suite } = select(
      { patterns: usable, suites: offer.suites },
      suitesOf(crypto),
      pin !== undefined && !isSuspect,
    );
    this.isSuspect = isSuspect;
    this.pin = pin && copyBytes(pin); // the caller's array may change before message 2
    this.pattern = pattern;
    this.suite = suite;
    this.prologue = concatBytes([
      this.prologue!,
      canonicalJson(payload),
      utf8ToBytes(nameOf(pattern, suite)),
    ]);
    if (pin === undefined && keyring.pins.length > 0) channel.emit({ type: 'new-hub', nodeId });
  }

  psk(psk: Uint8Array): void {
    this.derivedPsk = copyBytes(psk);
    this.begin(psk);
  }

  /** Begins the Noise handshake. */
  private begin(psk: Uint8Array): void {
    const { crypto, message1Payload, isPaced } = this.plan!;
    const handshake = new Handshake({
      crypto,
      isInitiator: true,
      pattern: this.pattern!,
      suite: this.suite!,
      prologue: this.prologue!,
      psk,
      staticKey: this.staticKey!,
      remoteStaticKey: this.pattern === 'KKpsk0' ? this.pin : undefined,
      ephemeralKey: this.ephemeralKey,
      isPaced,
    });
    if (this.pattern === 'KKpsk0') handshake.ahead = this.ahead;
    this.handshake = handshake;
    this.advance(() => handshake.writeMessage(message1Payload));
  }

  noise(payload: JsonObject): void {
    this.advance(() => this.handshake!.readMessage(readNoiseMessage(payload), MAX_MESSAGE_2_PAYLOAD));
  }

  /** Some hubs repeat the choice in message 2. It was made in message 1, so it is ignored. */
  'noise-with-choice'(payload: JsonObject): void {
    this.noise(payload);
  }

  resume(sharedSecret: Uint8Array | undefined): void {
    this.advance(() => this.handshake!.resume(sharedSecret));
  }

  deliver(message: Reassembled | undefined): void {
    if (message !== undefined) this.channel.emit(message);
  }

  /** Takes a step of the Noise handshake. If that completes a message, processes it. */
  private advance(step: () => Bytes | undefined): void {
    const { channel } = this;
    let message: Bytes | undefined;
    try {
      message = step();
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      if (error.code === 'payload-not-authentic') throw this.unopened();
      if (this.pattern === 'KKpsk0') this.doubtPin();
      throw error;
    }
    const handshake = this.handshake!;
    if (message === undefined) {
      channel.emit({ type: 'waiting', publicKey: handshake.dhNeeded });
    } else if (channel.state === 'sealing-message-1') {
      this.sendNoise({ pattern: this.pattern!, suite: this.suite!, msg: bytesToHex(message) });
      channel.reach('written');
    } else if (channel.state === 'sealing-message-3') {
      this.sendNoise({ msg: bytesToHex(message) });
      this.finish(handshake);
    } else {
      this.takePayload(message, handshake.rs!);
      if (handshake.isFinished) this.finish(handshake);
      else {
        channel.reach('read');
        this.advance(() => handshake.writeMessage(EMPTY));
      }
    }
  }

  private sendNoise(noise: JsonObject): void {
    this.channel.emit({ type: 'transmit', data: writeEnvelope('shake', { noise }) });
  }

  /** Takes the payload of message 2, and the hub's key. */
  private takePayload(bytes: Bytes, key: Bytes): void {
    // One ciphertext can be made to open under many PSKs, with noise under all but one of them. So noise ends like a
    // payload that does not open, and nothing else is decided first: the peer would learn whether one of many passwords
    // is right.
    const payload = readMessage2Payload(bytes);
    if (payload === undefined) throw this.unopened();
    this.encoding = payload.encoding;
    const { channel, nodeId, pin, isSuspect } = this;
    const isPinned = pin !== undefined && equalBytes(pin, key);
    // Send nothing more to a hub with the wrong key, above all not this client's static key in message 3. Under KKpsk0 the
    // key is the pin. Only now is a suspect pin known to be stale: the hub knows the password, and has another key.
    if (pin !== undefined && !isPinned && !(isSuspect && this.plan!.replacesPins)) {
      throw errors.hubKeyChanged(nodeId, copyBytes(pin), copyBytes(key), fingerprint);
    }
    if (this.derivedPsk !== undefined) {
      channel.emit(pskEvent(nodeId, this.derivedPsk));
      this.derivedPsk = undefined; // the event has it now
    }
    if (!isPinned || isSuspect) {
      channel.emit({ type: 'pin', nodeId, key: copyBytes(key), replaces: isPinned ? undefined : pin });
    }
  }

  private finish(handshake: Handshake): void {
    const { channel } = this;
    const { hello } = this.plan!;
    const { handshakeHash, remoteStaticKey } = channel.establish(handshake);
    // The default session is this connection's own: its id comes from the handshake hash.
    const session = { session_id: bytesToHex(handshakeHash.subarray(0, 16)) };
    const greeting = mergeFields({ pubkey: null, session }, hello); // the field order of other clients
    const messages = channel.seal('json', jsonToBytes(composeEnvelope('hello', greeting)));
    for (let i = 0; i < messages.length; i++) channel.emit({ type: 'transmit', data: messages[i]! });
    channel.reach('done');
    channel.emit({
      type: 'ready',
      nodeId: this.nodeId,
      pattern: this.pattern!,
      suite: this.suite!,
      hubKey: remoteStaticKey,
      handshakeHash,
      sessionId: sessionIdOf(greeting),
      encoding: this.encoding,
      peer: this.peer,
      binarize: this.binarize,
    });
  }

  /** Emits the doubts that are raised if the payload of message 2 does not open, or opens to noise, and returns the error. */
  private unopened(): RemoteError {
    if (this.pattern === 'KKpsk0') {
      this.doubtPin();
      return errors.kkFailed();
    }
    this.channel.emit({ type: 'psk-suspect', nodeId: this.nodeId });
    return errors.pskDiffers();
  }

  /**
   * A KKpsk0 has failed. That does not show that the pin is stale; the next XXpsk2 shows it.
   * @param mayBeLost - whether the hub may have pinned another key of this client
   */
  private doubtPin(mayBeLost?: boolean): void {
    const { channel, nodeId } = this;
    this.hasDoubted = true;
    if (mayBeLost) channel.emit({ type: 'static-key-fresh', nodeId, error: errors.staticKeyFresh() });
    channel.emit({ type: 'pin-suspect', nodeId });
  }

  ended(facts: EndingFacts<ClientState>): Ending {
    const { reason, retry, error, doubtsPin } = findEnding(CLIENT_ENDINGS, facts);
    if (doubtsPin) this.doubtPin(this.isFresh);
    return { reason, retry, error: errors.clientEnding(error, facts) };
  }

  /** If the pin is suspect, the next attempt is a different one, so it may be made immediately. */
  failed(error: LocalError | RemoteError, isEstablished: boolean): Ending {
    const { reason, retry } = findFailure(CLIENT_FAILURES, error, isEstablished);
    return { reason, retry: this.hasDoubted ? 'now' : retry, error };
  }

  release(): void {
    this.handshake?.destroy();
    wipe(this.derivedPsk);
    this.staticKey?.destroy();
    this.ephemeralKey?.destroy();
    wipeSecrets(this.ahead);
    this.handshake = undefined;
    this.derivedPsk = undefined;
    this.staticKey = undefined;
    this.ephemeralKey = undefined;
    this.plan = undefined;
    this.pin = undefined;
    this.prologue = undefined;
  }
}
opaque(ClientHandshake.prototype, 'ClientHandshake');

function pskEvent(nodeId: string, key: Bytes): PskEvent {
  const event: PskEvent = { type: 'psk', nodeId, key };
  opaque(event, () => ({ type: 'psk', nodeId }));
  return hideFields(event, ['key']);
}

/** The session id in a HELLO payload; `undefined` if the `session` of the `hello` option has none. */
function sessionIdOf({ session }: JsonObject): string | undefined {
  return isJsonObject(session) ? ownText(session, 'session_id') : undefined;
}
