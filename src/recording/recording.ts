/**
 * Records a session as JSON lines, to find out later why its handshake failed: what went in and out, the states, the
 * events, and the codes of errors. A recording contains no secret: cleartext envelopes, which everybody between client
 * and hub can read anyway, are recorded whole; of everything else only the length. `docs/reference/commands.md` describes the
 * lines, and `hub-protocol explain` reads them.
 */
import { assertFlag, assertFunction, readOptions } from '../arguments.ts';
import { bytesToHex, bytesToUtf8, copyBytes, isBytes, utf8Length, wipe } from '../bytes.ts';
import { CheckedCrypto } from '../crypto/checked.ts';
import type { CryptoProvider, KeyPair, RandomBytes, StaticKey } from '../crypto/crypto.ts';
import { type ErrorCode, LocalError, type RemoteError } from '../errors.ts';
import { KEY_LENGTH, MAX_ENVELOPE } from '../limits.ts';
import { opaque } from '../opaque.ts';
import { CLIENT_OPTIONS, type ClientOptions } from '../session/client-options.ts';
import { ClientSession } from '../session/client-session.ts';
import type { HubSessionEvent, SessionEvent } from '../session/events.ts';
import { HUB_OPTIONS, type HubOptions } from '../session/hub-options.ts';
import { HubSession } from '../session/hub-session.ts';
import { lateInputOf, mayBeJson } from '../session/inputs.ts';
import { findHub, type KeyringFields, readKeyring } from '../session/keyring-fields.ts';
import { suitesOf } from '../session/negotiation.ts';
import { OFFERED_PATTERNS } from '../session/options.ts';
import type { ClientState, HubState } from '../session/transitions.ts';
import { parseEnvelope } from '../wire/envelope.ts';
import { readNodeId } from '../wire/handshake.ts';
import { type Json, type JsonObject, setField } from '../wire/json.ts';
import { stringifyJson } from '../wire/write-json.ts';

/** The version of the format. */
const VERSION = 1;

/** The destination and the content of a recording. */
export interface RecordingOptions {
  /** Takes each line: JSON, without a line feed. If it throws, the recording ends, and the session continues. */
  write: (line: string) => void;
  /**
   * Whether to record the private ephemeral key if the session ends before a message of the peer has arrived (default
   * false). With it and the PSK, `explain` can recompute the handshake. Such a recording is a secret: anyone who has it
   * can try passwords against it, and can read everything that this side sent before the session failed.
   */
  ephemeralKey?: boolean | undefined;
}

/** A recorded session. It has the methods of the session, and behaves the same. */
export type Recorded<Session extends ClientSession | HubSession> = Pick<Session, keyof Session>;

/**
 * Creates a recorded session of a client.
 * @param options - for the constructor of ClientSession
 * @param recording - `write` takes each line
 * @returns the session
 * @throws LocalError the codes of the constructor; `bad-argument`; `crypto-failed`
 *
 * @example
 * import { createKeyring } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 * import { recordClientSession } from 'hub-protocol/recording';
 *
 * const lines: string[] = []; // or a file, for `hub-protocol explain`
 * const write = (line: string): void => void lines.push(line);
 * const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
 * const session = recordClientSession({ crypto, randomBytes, siteId: 'lobby', keyring }, { write });
 * session.receive('{"msg_type":"hello","payload":{"node_id":"hub-1"}}');
 * console.log(lines.length > 0); // true
 */
export function recordClientSession(
  options: ClientOptions,
  recording: RecordingOptions,
): Recorded<ClientSession> {
  const recorder = new Recorder(recording);
  const given = readOptions(options, 'options', CLIENT_OPTIONS); // each option is read once
  given.keyring = readKeyring(given.keyring);
  const session = new ClientSession(recorder.withKeptKey(given));
  const { crypto, keyring, patterns, trust, onKkFailure } = given;
  recorder.begin('client', crypto, keyring.staticKey, {
    patterns: (patterns ?? OFFERED_PATTERNS).slice(),
    suites: suitesOf(crypto),
    trust: trust ?? null,
    onKkFailure: onKkFailure ?? null,
    hasPins: keyring.pins !== undefined && keyring.pins.length > 0,
    staticKeyIsFresh: keyring.staticKeyIsFresh === true,
  });
  recorder.keyring = keyring;
  return recorder.observe(session, ['start', 'providePsk', 'resume']);
}

/**
 * Creates a recorded session of a hub.
 * @param options - for the constructor of HubSession
 * @param recording - `write` takes each line
 * @returns the session
 * @throws LocalError the codes of the constructor; `bad-argument`; `crypto-failed`
 */
export function recordHubSession(options: HubOptions, recording: RecordingOptions): Recorded<HubSession> {
  const recorder = new Recorder(recording);
  const given = readOptions(options, 'options', HUB_OPTIONS); // each option is read once
  const session = new HubSession(recorder.withKeptKey(given));
  const { nodeId, clientKey, patterns, suites, crypto, staticKey } = given;
  recorder.begin('hub', crypto, staticKey, {
    patterns: (patterns ?? OFFERED_PATTERNS).slice(),
    suites: (suites ?? suitesOf(crypto)).slice(),
    nodeId,
    clientKey: clientKey === undefined ? null : bytesToHex(clientKey),
  });
  return recorder.observe(session, ['start']);
}

/** The states in which cleartext arrives. */
const CLEARTEXT_STATES: readonly (ClientState | HubState | 'failed' | 'closed')[] = [
  'awaiting-hello',
  'awaiting-offer',
  'awaiting-psk',
  'sealing-message-1',
  'awaiting-message-1',
  'awaiting-message-2',
  'opening-message-2',
  'sealing-message-3',
  'awaiting-message-3',
];

const SENDERS = ['sendJson', 'sendBinary'];

/** The fields of events that are recorded unchanged: none was sealed. */
const SHOWN = ['nodeId', 'pattern', 'suite', 'code', 'status', 'reason', 'retry', 'kind'];
/** The fields of events that hold a public key. */
const PUBLIC_KEYS = ['key', 'hubKey', 'clientKey'];

/** The events that show that a message of the peer has arrived. */
const HEARD = ['message', 'dropped', 'hello'];
/** The errors of a transport message that opens but breaks the framing rules. */
const HEARD_ERRORS: readonly ErrorCode[] = [
  'empty-plaintext',
  'unknown-marker',
  'chunk-without-start',
  'message-while-open',
];

type Event = SessionEvent | HubSessionEvent;
type State = ClientSession['state'] | HubSession['state'];
/** The methods of a session that are recorded. */
type Methods = { readonly [method: string]: (argument: unknown) => unknown };

class Recorder {
  private readonly write: (line: string) => void;
  private readonly wantsEphemeralKey: boolean;
  private ephemeralKey: Uint8Array | undefined = undefined;
  private isBroken = false;
  /** Whether a message of the peer has arrived. */
  private peerProved = false;
  /** The keyring of a client. */
  keyring: KeyringFields | undefined = undefined;
  /** The node id in the latest HELLO of the hub. */
  private nodeId = '';

  constructor(recording: RecordingOptions) {
    const { write, ephemeralKey } = readOptions(recording, 'recording', { write: true, ephemeralKey: true });
    assertFunction(write, 'write');
    this.write = write;
    this.wantsEphemeralKey = assertFlag(ephemeralKey, 'ephemeralKey');
  }

  begin(
    role: 'client' | 'hub',
    crypto: CryptoProvider,
    staticKey: Uint8Array | StaticKey | KeyPair,
    options: JsonObject,
  ): void {
    const pair = new CheckedCrypto(crypto).ownKey(staticKey, 'staticKey');
    const line: JsonObject = { recording: VERSION, role, publicKey: bytesToHex(pair.publicKey) };
    pair.destroy();
    const names = Object.keys(options);
    for (let i = 0; i < names.length; i++) setField(line, names[i]!, options[names[i]!]!);
    this.record(line);
  }

  /** Options whose randomBytes() keeps a copy of the private ephemeral key, the only bytes that sessions request. */
  withKeptKey<Options extends { randomBytes: RandomBytes }>(options: Options): Options {
    const { randomBytes } = options;
    if (!this.wantsEphemeralKey || typeof randomBytes !== 'function') return options;
    const kept = (length: number): Uint8Array => {
      const bytes = randomBytes(length);
      if (isBytes(bytes) && bytes.length === KEY_LENGTH) this.ephemeralKey = copyBytes(bytes);
      return bytes;
    };
    return { ...options, randomBytes: kept };
  }

  /** Makes an object that calls a session and records its inputs and outputs. */
  observe<Session extends ClientSession | HubSession>(
    session: Session,
    methods: readonly string[],
  ): Recorded<Session> {
    const called = session as unknown as Methods;
    const observed = {};
    const add = (name: string, body: (argument: unknown, state: State) => unknown): void => {
      const value = (argument: unknown): unknown => {
        try {
          return body(argument, session.state);
        } catch (error) {
          this.record({ threw: (error as LocalError).code });
          throw error;
        }
      };
      Object.defineProperty(observed, name, { value });
    };
    for (const name of methods.concat(['receive', 'closed'])) {
      add(name, (argument, state) => {
        const line: JsonObject = { call: name, state };
        if (name === 'receive') describe(line, argument, isCleartext(argument, state));
        this.record(line);
        const events = called[name]!.call(session, argument) as Event[];
        if (name === 'receive') this.recordLookups(argument, state, session.state);
        this.recordEvents(events, argument, state);
        return events;
      });
    }
    for (const name of SENDERS) {
      add(name, (argument, state) => {
        this.record({ call: name, state });
        const sent = called[name]!.call(session, argument) as Uint8Array[];
        this.record({ lengths: sent.map((message) => message.length) });
        return sent;
      });
    }
    Object.defineProperty(observed, 'state', { get: () => session.state });
    opaque(observed, 'RecordedSession');
    return observed as Recorded<Session>;
  }

  /** Records the keyring's entries for the hub, once the session has looked them up. */
  private recordLookups(data: unknown, before: State, after: State): void {
    if (before !== 'awaiting-hello' && before !== 'awaiting-offer') return;
    try {
      const { type, payload } = parseEnvelope(data as string | Uint8Array);
      if (type === 'hello') this.nodeId = readNodeId(payload);
    } catch {
      // The session has failed, and says why.
    }
    if (this.keyring === undefined || before !== 'awaiting-offer' || after === 'awaiting-offer') return;
    const { pins = [], psks = [] } = this.keyring;
    const pin = findHub(pins, this.nodeId);
    this.record({
      lookedUp: 'pin',
      found: pin !== undefined,
      ...(pin === undefined ? {} : { key: bytesToHex(pin.key) }),
    });
    const psk = findHub(psks, this.nodeId);
    this.record({ lookedUp: 'psk', found: psk !== undefined && !psk.isSuspect });
  }

  private recordEvents(events: Event[], argument: unknown, state: State): void {
    let isOver = false;
    for (let i = 0; i < events.length; i++) {
      const event = events[i]!;
      this.record(lineOf(event));
      isOver = isOver || event.type === 'close' || event.type === 'ended';
      if (HEARD.indexOf(event.type) >= 0) this.peerProved = true;
      if (event.type === 'close' && HEARD_ERRORS.indexOf(event.error.code) >= 0) this.peerProved = true;
    }
    if (!isOver && !this.peerProved) return;
    // Once a message of the peer has arrived, the handshake has not failed.
    if (!this.peerProved && this.ephemeralKey !== undefined) {
      const line: JsonObject = { ephemeralKey: bytesToHex(this.ephemeralKey) };
      if (isBytes(argument) && !isCleartext(argument, state)) line.sealed = bytesToHex(argument);
      this.record(line);
    }
    wipe(this.ephemeralKey);
    this.ephemeralKey = undefined;
  }

  private record(line: JsonObject): void {
    if (this.isBroken) return;
    try {
      this.write(stringifyJson(line));
    } catch {
      this.isBroken = true;
    }
  }
}

/**
 * Whether a received message is a cleartext part of the handshake. Over MQTT, where cleartext arrives as bytes, one may
 * also come after the session is encrypted: from a hub that has forgotten the session, or as a repeat.
 */
function isCleartext(data: unknown, state: State): boolean {
  if (CLEARTEXT_STATES.indexOf(state) >= 0) return true;
  if (!isBytes(data) || !mayBeJson(data)) return false;
  const input = lateInputOf(data);
  return input !== undefined && input !== 'other';
}

/** Adds a message that was received or is to be transmitted: cleartext whole, anything else by its length. */
function describe(line: JsonObject, data: unknown, isCleartext: boolean): void {
  const text = isCleartext && isBytes(data) ? bytesToUtf8(data) : data;
  if (isCleartext && typeof text === 'string' && text.length <= MAX_ENVELOPE && utf8Length(text) >= 0) {
    line.text = text;
  } else {
    line.isText = typeof data === 'string';
    if (isBytes(data) || typeof data === 'string') line.length = data.length;
  }
}

function lineOf(event: Event): JsonObject {
  const line: JsonObject = { event: event.type };
  const fields = event as unknown as { readonly [field: string]: Json | Uint8Array | undefined };
  if (event.type === 'transmit') {
    describe(line, event.data, typeof event.data === 'string');
    return line;
  }
  for (let i = 0; i < SHOWN.length; i++) {
    const value = fields[SHOWN[i]!];
    if (value !== undefined) line[SHOWN[i]!] = value as Json;
  }
  for (let i = 0; event.type !== 'psk' && i < PUBLIC_KEYS.length; i++) {
    const key = fields[PUBLIC_KEYS[i]!];
    if (isBytes(key)) line[PUBLIC_KEYS[i]!] = bytesToHex(key);
  }
  const { text, bytes } = event as { text?: string; bytes?: Uint8Array | number };
  const content = text ?? bytes;
  if (content !== undefined) line.length = typeof content === 'number' ? content : content.length;
  const { error } = event as { error?: LocalError | RemoteError };
  if (error !== undefined) {
    line.error = error.code;
    line.isLocal = error instanceof LocalError;
  }
  return line;
}
