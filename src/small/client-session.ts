/**
 * The ClientSession of `hub-protocol.core.js`, the smallest file: what that of the other files does, for a device with a provisioned PSK and its own
 * cryptography (ChaChaPoly, private key in memory), in one class. JSON is the engine's, except in the prologue, which keeps the hub's
 * tokens. Spec, "Hub connection (protocol v3)".
 */
import {
  assertBytes,
  assertChoice,
  assertSize,
  type OptionNames,
  readArgument,
  readOptions,
} from '../arguments.ts';
import {
  type Bytes,
  bytesToHex,
  copyBytes,
  EMPTY,
  equalBytes,
  hexToBytes,
  isBytes,
  isBytesOf,
  isZero,
  utf8ToBytes,
  wipe,
} from '../bytes.ts';
import type { CryptoProvider, RandomBytes, StaticKey } from '../crypto/crypto.ts';
import { type EndingCode, LocalError, RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { KEY_LENGTH, MAX_ENVELOPE, MAX_MESSAGE, MAX_MESSAGE_2_PAYLOAD } from '../limits.ts';
import { failureOf } from '../memory.ts';
import type { Pattern } from '../noise/patterns.ts';
import type { Closing } from '../session/endings.ts';
import type {
  CommonEvent,
  EndedEvent,
  NewHubEvent,
  PinEvent,
  PinSuspectEvent,
  PskNeededEvent,
  PskSuspectEvent,
  ReadyEvent,
  StaticKeyFreshEvent,
} from '../session/events.ts';
import { findHub, fingerprint, isHubKey } from '../session/keyring-fields.ts';
import { assertRequired, select } from '../session/negotiation.ts';
import type { ClientState } from '../session/transitions.ts';
import { composeEnvelope } from '../wire/envelope.ts';
import { FrameJoiner } from '../wire/frame-joiner.ts';
import { isStringArray, readNodeId, readNoise } from '../wire/handshake.ts';
import { isJsonObject, type JsonObject, ownField, ownText } from '../wire/json.ts';
import { countFrames, frameAt, type MessageKind } from '../wire/markers.ts';
import { canonicalize, encode } from './canonical.ts';
import { type CipherKey, Initiator, nameOf, type OwnKey, ownKey, SUITE } from './noise.ts';

/** The keyring. Both lists are required: without one, a misspelt name would be a keyring that trusts any hub. */
export interface KeyringFields {
  /** The private key, 32 bytes, or with it the public key, which saves its computation. */
  readonly staticKey: Uint8Array | StaticKey;
  /** Whether no hub has accepted the static key yet (default false). */
  readonly staticKeyIsFresh?: boolean | undefined;
  /** A pin that `isSuspect` is tested with XXpsk2. */
  readonly pins: readonly {
    readonly nodeId: string;
    readonly key: Uint8Array;
    readonly isSuspect?: boolean | undefined;
  }[];
  /** The provisioned PSKs, of 32 bytes each. */
  readonly psks: readonly { readonly nodeId: string; readonly key: Uint8Array }[];
}

/** The options, which mean what those of the other files do. */
export interface ClientOptions {
  crypto: CryptoProvider;
  randomBytes: RandomBytes;
  siteId: string;
  keyring: KeyringFields;
  /** Further fields of the HELLO payload, written by JSON.stringify. */
  hello?: JsonObject | undefined;
  trust?: 'first-use' | 'pinned-only' | undefined;
  patterns?: Pattern[] | undefined;
  onKkFailure?: 'replace-pin' | 'keep-pin' | undefined;
  maxMessage?: number | undefined;
  maxFrame?: number | undefined;
}

const OPTIONS: OptionNames<ClientOptions> = {
  crypto: true,
  randomBytes: true,
  siteId: true,
  keyring: true,
  hello: true,
  trust: true,
  patterns: true,
  onKkFailure: true,
  maxMessage: true,
  maxFrame: true,
};

/** The events. `psk-needed` says that the device has no PSK for this hub: close, and provision it again. */
export type SessionEvent =
  | CommonEvent
  | PskNeededEvent
  | PskSuspectEvent
  | NewHubEvent
  | PinEvent
  | PinSuspectEvent
  | StaticKeyFreshEvent
  | ReadyEvent;

interface Envelope {
  /** `shake` also for the type `handshake`. */
  readonly type: string;
  readonly payload: JsonObject;
  /** The payload in canonical JSON. */
  readonly canonical: string;
}

/** One connection to a hub. */
export class ClientSession {
  state: ClientState | 'failed' | 'closed' = 'awaiting-hello';
  private readonly options: ClientOptions;
  private readonly frames: FrameJoiner;
  private readonly maxFrame: number;
  private readonly replacesPins: boolean;
  private staticKey: OwnKey | undefined = undefined;
  private ephemeralKey: OwnKey | undefined = undefined;
  private nodeId = '';
  private peer: string | undefined = undefined;
  /** The hub's payloads so far. */
  private prologue = '';
  private pattern: Pattern | undefined = undefined;
  private binarize = false;
  private pin: Bytes | undefined = undefined;
  private isSuspect = false;
  private handshake: Initiator | undefined = undefined;
  private sending: CipherKey | undefined = undefined;
  private receiving: CipherKey | undefined = undefined;
  private isEstablished = false;
  private hasDoubted = false;
  private hasHeard = false;
  /** Whether a method runs: injected code that calls another would use a nonce twice. */
  private isBusy = false;
  private failure: LocalError | RemoteError | undefined = undefined;
  private events: SessionEvent[] = [];

  /** @throws LocalError `bad-argument`, `bad-random`, `crypto-failed`, `out-of-memory` */
  constructor(given: ClientOptions) {
    const options = readOptions(given, 'options', OPTIONS);
    const { keyring, siteId, crypto } = options;
    if (typeof siteId !== 'string') throw errors.expectedType('siteId', 'string', siteId);
    const trust = assertChoice(options.trust, 'trust', ['first-use', 'pinned-only']);
    const onKkFailure = assertChoice(options.onKkFailure, 'onKkFailure', ['replace-pin', 'keep-pin']);
    const { privateKey, publicKey } = readArgument('keyring', () => {
      const { staticKey, pins, psks } = keyring;
      const own = isBytes(staticKey) ? { privateKey: staticKey, publicKey: undefined } : staticKey;
      if (isKey(own.privateKey) && pins.every(isHubKey) && psks.every(isHubKey)) return own;
      throw errors.expected('keyring', 'staticKey, pins and psks, with keys of 32 bytes');
    });
    this.options = options;
    this.replacesPins = trust === 'first-use' && onKkFailure === 'replace-pin';
    this.frames = new FrameJoiner(options.maxMessage);
    this.maxFrame = assertSize(options.maxFrame, 'maxFrame', MAX_MESSAGE);
    hideFields(this); // before there are keys, since it may throw for lack of memory
    try {
      this.staticKey = ownKey(crypto, privateKey!, publicKey);
      const random = options.randomBytes(KEY_LENGTH);
      if (!isKey(random)) throw errors.badRandom(KEY_LENGTH);
      this.ephemeralKey = ownKey(crypto, random);
      wipe(random);
      if (equalBytes(this.ephemeralKey.publicKey, this.staticKey.publicKey))
        throw errors.badRandom(KEY_LENGTH);
    } catch (error) {
      throw this.fail(error);
    }
  }

  start(): SessionEvent[] {
    if (this.state !== 'awaiting-hello') throw errors.clientStarted(this);
    return [transmit(writeEnvelope('hello', { pubkey: null, site_id: '' }))];
  }

  receive(data: string | Uint8Array): SessionEvent[] {
    if (typeof data !== 'string' && !isBytes(data))
      throw errors.expectedType('data', 'string or Uint8Array', data);
    return this.run(this.read, data);
  }

  sendJson(value: object | string): Bytes[] {
    return this.send('json', value);
  }

  sendBinary(bytes: Uint8Array): Bytes[] {
    return this.send('binary', bytes);
  }

  closed(closing?: Closing): SessionEvent[] {
    return this.run(this.end, closing);
  }

  /** Runs a method that emits events. If it throws, the session fails, for good. */
  private run<Given>(method: (given: Given) => void, given: Given): SessionEvent[] {
    this.enter();
    try {
      const events: SessionEvent[] = [];
      this.events = events;
      try {
        if (this.state !== 'closed') method.call(this, given);
      } catch (error) {
        events.push({ type: 'close', code: this.isEstablished ? 1002 : 1008, error: this.fail(error) });
      }
      return events;
    } catch (error) {
      throw this.fail(error);
    } finally {
      this.isBusy = false;
    }
  }

  private enter(): void {
    if (this.isBusy) throw errors.calledInside();
    this.isBusy = true;
  }

  /** Wipes before it makes the error, for which there may be no memory. */
  private fail(error: unknown): LocalError | RemoteError {
    this.state = 'failed';
    this.destroy();
    this.failure ??= failureOf(error);
    return this.failure;
  }

  private destroy(): void {
    wipe(this.staticKey?.privateKey);
    wipe(this.ephemeralKey?.privateKey);
    this.handshake?.destroy();
    this.sending?.destroy();
    this.receiving?.destroy();
    this.sending = this.receiving = undefined;
    this.frames.destroy();
  }

  private read(data: string | Uint8Array): void {
    if (this.failure !== undefined) return;
    if (!this.isEstablished) this.take(parseEnvelope(data));
    else if (typeof data === 'string' || '{ \n\r\t'.indexOf(String.fromCharCode(data[0]!)) >= 0)
      this.takeLate(data);
    else this.open(data);
  }

  /** Takes what may be cleartext, and ignores a repeat of the handshake. Over MQTT cleartext is bytes, and a HELLO is no repeat. */
  private takeLate(data: string | Uint8Array): void {
    const isText = typeof data === 'string';
    const envelope = attempt(parseEnvelope, data);
    if (envelope !== undefined) {
      const { type, payload } = envelope;
      if (
        isText ? type === 'hello' || type === 'shake' : type === 'shake' && messageOf(payload) !== undefined
      )
        return;
    }
    if (isText || envelope !== undefined) throw errors.textAfterReady();
    this.open(data);
  }

  private open(data: Uint8Array): void {
    if (data.length > this.maxFrame) throw errors.frameTooLong(this.maxFrame);
    const frame = this.receiving!.open(EMPTY, data, errors.notAuthentic);
    this.hasHeard = true;
    const message = this.frames.push(frame);
    if (message !== undefined) this.events.push(message);
  }

  /** Takes an envelope before the session is encrypted. What has no place in a state is a repeat, which is ignored, or an error. */
  private take({ type, payload, canonical }: Envelope): void {
    const { state } = this;
    const isWaiting = state === 'awaiting-hello' || state === 'awaiting-offer';
    const message = messageOf(payload);
    if (type === 'hello' && isWaiting) {
      this.nodeId = readNodeId(payload);
      this.peer = ownText(payload, 'peer');
      this.prologue = canonical;
      this.state = 'awaiting-offer';
    } else if (type !== 'shake' && type !== 'hello') throw errors.unexpectedMessage(state);
    else if (state === 'awaiting-hello') throw errors.handshakeBeforeHello();
    else if (isWaiting) {
      if (message !== undefined) throw errors.unexpectedMessage(state);
      this.prologue += canonical;
      this.choose(payload);
    } else if (state === 'awaiting-message-2' && message !== undefined) this.conclude(message);
  }

  /** Chooses from the hub's offer, if the hub is to be trusted, and sends message 1. */
  private choose(payload: JsonObject): void {
    const { nodeId, events, options } = this;
    const { crypto, keyring, patterns: own, trust } = options;
    const version = ownField(payload, 'max_protocol_version');
    if (!(typeof version === 'number' && version >= 3)) throw errors.protocolVersion();
    const noise = readNoise(payload);
    const patterns = noise && ownField(noise, 'patterns');
    const suites = noise && ownField(noise, 'suites');
    if (!isStringArray(patterns) || !isStringArray(suites)) throw errors.badOffer();
    assertRequired({ patterns, suites });
    const stored = findHub(keyring.pins, nodeId);
    if (stored === undefined && trust === 'pinned-only') throw errors.unknownHub(nodeId);
    this.isSuspect = stored?.isSuspect === true;
    const usable = patterns.filter((name) => own === undefined || own.indexOf(name as Pattern) >= 0);
    const { pattern } = select(
      { patterns: usable, suites },
      [SUITE],
      stored !== undefined && !this.isSuspect,
    );
    this.pattern = pattern;
    this.pin = stored && copyBytes(stored.key);
    this.binarize = ownField(payload, 'binarize') === true;
    if (stored === undefined && keyring.pins.length > 0) events.push({ type: 'new-hub', nodeId });
    this.state = 'awaiting-psk';
    const psk = findHub(keyring.psks, nodeId);
    if (psk === undefined) {
      events.push({ type: 'psk-needed', nodeId, salt: copyBytes(crypto.sha256(utf8ToBytes(nodeId))) });
      return;
    }
    const prologue = encode(this.prologue + nameOf(pattern));
    const handshake = new Initiator(
      crypto,
      pattern,
      prologue,
      psk.key,
      this.staticKey!,
      this.ephemeralKey!,
      this.pin,
    );
    this.handshake = handshake;
    const message = handshake.writeFirst(utf8ToBytes('{"binarize":false,"encodings":[]}'));
    this.sendNoise({ pattern, suite: SUITE, msg: bytesToHex(message) });
    this.state = 'awaiting-message-2';
  }

  private sendNoise(noise: JsonObject): void {
    this.events.push(transmit(writeEnvelope('shake', { noise })));
  }

  /** Reads message 2; under XXpsk2 sends message 3; sends the HELLO. */
  private conclude(hex: unknown): void {
    const { nodeId, pin, isSuspect, events, peer, binarize } = this;
    const pattern = this.pattern!;
    const isKk = pattern === 'KKpsk0';
    const handshake = this.handshake!;
    let opened: JsonObject | undefined;
    try {
      const message = typeof hex === 'string' ? hexToBytes(hex) : undefined;
      if (message === undefined) throw errors.badHex();
      const payload = handshake.readSecond(message, MAX_MESSAGE_2_PAYLOAD);
      opened = payload.length === 0 ? {} : attempt(parseObject, payload);
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      if (error.code !== 'payload-not-authentic') {
        if (isKk) this.doubtPin();
        throw error;
      }
    }
    // What does not open, and what opens to noise, end alike: the peer would learn whether one of many passwords is right.
    if (opened === undefined) {
      if (isKk) {
        this.doubtPin();
        throw errors.kkFailed();
      }
      events.push({ type: 'psk-suspect', nodeId });
      throw errors.pskDiffers();
    }
    const encoding = ownField(opened, 'encoding') ?? undefined;
    if (encoding !== undefined && typeof encoding !== 'string')
      throw errors.badHandshakePayload('encoding is not a string');
    const hubKey = copyBytes(handshake.rs!);
    const isPinned = pin !== undefined && equalBytes(pin, hubKey);
    // Send nothing more to a hub with the wrong key, above all not this client's static key in message 3.
    if (pin !== undefined && !isPinned && !(isSuspect && this.replacesPins))
      throw errors.hubKeyChanged(nodeId, pin, hubKey, fingerprint);
    if (!isPinned || isSuspect)
      events.push({ type: 'pin', nodeId, key: hubKey, replaces: isPinned ? undefined : pin });
    if (!isKk) this.sendNoise({ msg: bytesToHex(handshake.writeThird(EMPTY)) });
    const { sending, receiving, handshakeHash } = handshake.split();
    this.destroy(); // the handshake, and the private keys
    this.sending = sending;
    this.receiving = receiving;
    this.isEstablished = true;
    const { hello = {}, siteId } = this.options;
    const session_id = bytesToHex(handshakeHash.subarray(0, 16));
    const greeting: JsonObject = { pubkey: null, session: { session_id }, site_id: siteId };
    const names = Object.keys(hello);
    for (let i = 0; i < names.length; i++) greeting[names[i]!] = hello[names[i]!]!;
    const sealed = this.seal('json', utf8ToBytes(writeEnvelope('hello', greeting)));
    for (let i = 0; i < sealed.length; i++) events.push(transmit(sealed[i]!));
    this.state = 'ready';
    const { session } = greeting;
    const sessionId = isJsonObject(session) ? ownText(session, 'session_id') : undefined;
    events.push({
      type: 'ready',
      nodeId,
      pattern,
      suite: SUITE,
      hubKey,
      handshakeHash,
      sessionId,
      encoding,
      peer,
      binarize,
    });
  }

  private doubtPin(): void {
    this.hasDoubted = true;
    this.events.push({ type: 'pin-suspect', nodeId: this.nodeId });
  }

  private send(kind: MessageKind, content: object | string): Bytes[] {
    this.enter();
    let isSealing = false;
    try {
      if (this.failure !== undefined || this.state === 'closed') throw errors.sessionOver(this.failure);
      if (this.state !== 'ready') throw errors.notReady(this);
      if (kind === 'binary') assertBytes(content, 'bytes');
      const payload = kind === 'binary' ? (content as Uint8Array) : textOf(content);
      if (payload.length > MAX_MESSAGE) throw errors.messageTooLong(payload, MAX_MESSAGE);
      isSealing = true;
      return this.seal(kind, payload);
    } catch (error) {
      if (!isSealing && error instanceof LocalError && error.code !== 'out-of-memory') throw error;
      throw this.fail(error);
    } finally {
      this.isBusy = false;
    }
  }

  private seal(kind: MessageKind, payload: Uint8Array): Bytes[] {
    const sealed: Bytes[] = [];
    const count = countFrames(payload.length);
    for (let i = 0; i < count; i++) sealed.push(this.sending!.seal(EMPTY, frameAt(kind, payload, i)));
    return sealed;
  }

  private end(closing: Closing | undefined): void {
    const { failure, state, pattern, events, options, nodeId } = this;
    const isFresh = options.keyring.staticKeyIsFresh;
    const isTimeout = closing === 'timeout';
    const facts = typeof closing === 'object' ? (closing ?? {}) : { code: isTimeout ? undefined : closing };
    const {
      code,
      status,
      reason: closeReason,
      cause,
      platformCode,
    }: Exclude<Closing, number | 'timeout'> = facts;
    const isUnauthorized = status === 401 || status === 403;
    // The rows of CLIENT_ENDINGS and CLIENT_FAILURES: the code of the error, the reason, and when to retry.
    let row = 'dropped,dropped,now';
    if (failure !== undefined) {
      if (failure.code === 'hub-key-changed' || failure.code === 'unknown-hub') row = ',refused,never';
      else if (failure instanceof LocalError) row = ',dropped,later';
      else if (!this.isEstablished) row = ',refused,later';
    } else if (cause !== undefined) row = `${cause},dropped,later`;
    else if (isTimeout) row = 'timeout,timeout,later';
    else if (closeReason === 'connection_limit' || status! >= 500 || status === 408 || status === 429)
      row = 'unavailable,dropped,later';
    else if (status !== undefined && !isUnauthorized) row = 'not-a-hub,dropped,later';
    else if ((isUnauthorized || code === 1008) && !this.hasHeard) {
      row = 'refused,refused,later';
      if (isUnauthorized || (state !== 'ready' && state !== 'awaiting-message-2')) row = `access-${row}`;
      else if (state === 'ready') {
        if (pattern === 'XXpsk2' && isFresh) row = 'client-key-refused,client-key-refused,later';
      } else if (pattern === 'XXpsk2') row = `negotiation-${row}`;
      else {
        row = `kk-${row}`;
        if (isFresh) events.push({ type: 'static-key-fresh', nodeId, error: errors.staticKeyFresh() });
        this.doubtPin();
      }
    }
    const names = row.split(',');
    const error = failure ?? errors.clientEnding(names[0] as EndingCode, { state, status, platformCode });
    const reason = names[1] as EndedEvent['reason'];
    const retry = this.hasDoubted ? 'now' : (names[2] as EndedEvent['retry']);
    events.push({ type: 'ended', reason, retry, error, pattern, code, status, closeReason });
    this.state = 'closed';
    this.destroy();
  }
}

const isKey = (key: unknown): key is Uint8Array => isBytesOf(key, KEY_LENGTH) && !isZero(key);

const writeEnvelope = (type: string, payload: JsonObject): string =>
  JSON.stringify(composeEnvelope(type, payload));

const transmit = (data: string | Bytes): SessionEvent => ({ type: 'transmit', data });

/** Reads an envelope. @throws RemoteError `envelope-too-large`, `bad-envelope`, `bad-payload`; or as `canonicalize` */
function parseEnvelope(data: string | Uint8Array): Envelope {
  if (data.length > MAX_ENVELOPE) throw errors.envelopeTooLarge(MAX_ENVELOPE);
  const { text, payload: canonical } = canonicalize(typeof data === 'string' ? encode(data) : data);
  const envelope: unknown = JSON.parse(text);
  const type = isJsonObject(envelope) ? ownText(envelope, 'msg_type') : undefined;
  if (type === undefined) throw errors.badMessageType();
  const payload = ownField(envelope as JsonObject, 'payload');
  if (!isJsonObject(payload)) throw errors.badPayload('an envelope');
  return { type: type === 'handshake' ? 'shake' : type, payload, canonical: canonical! };
}

/** The Noise message of a payload; `undefined` if it has none, as an offer. */
function messageOf(payload: JsonObject): unknown {
  const noise = ownField(payload, 'noise');
  return isJsonObject(noise) ? ownField(noise, 'msg') : undefined;
}

/** @returns the JSON object; `undefined` for anything else */
function parseObject(bytes: Uint8Array): JsonObject | undefined {
  const value: unknown = JSON.parse(canonicalize(bytes).text);
  return isJsonObject(value) ? value : undefined;
}

/** What a function reads; `undefined` if it refuses the data. */
function attempt<Data, Value>(read: (data: Data) => Value, data: Data): Value | undefined {
  try {
    return read(data);
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    return undefined;
  }
}

/** JSON in UTF-8 of a value, or of a string that contains JSON. @throws LocalError `not-json` */
function textOf(value: object | string): Bytes {
  try {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const bytes = encode(text);
    if (text === value) canonicalize(bytes);
    return bytes;
  } catch (error) {
    if (failureOf(error).code === 'out-of-memory') throw error;
    throw errors.stringIsNotJson();
  }
}
