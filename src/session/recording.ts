/**
 * Records a session as JSON lines, to find out later why its handshake failed: what went in and out, the states, the
 * events, and the codes of errors. A recording contains no secret: cleartext envelopes, which everybody between client
 * and hub can read anyway, are recorded whole; of everything else only the length. `docs/commands.md` describes the
 * lines, and `hub-protocol explain` reads them.
 */
import { assertFlag, assertFunction, readOptions } from '../arguments.ts';
import { bytesToHex, bytesToUtf8, copyBytes, isBytes, utf8Length, wipe } from '../bytes.ts';
import { CheckedCrypto } from '../crypto/checked.ts';
import type { RandomBytes } from '../crypto/crypto.ts';
import { LocalError, type RemoteError } from '../errors.ts';
import { KEY_LENGTH, MAX_ENVELOPE } from '../limits.ts';
import { type Json, type JsonObject, setField } from '../wire/json.ts';
import { stringifyJson } from '../wire/write-json.ts';
import { CLIENT_OPTIONS, type ClientOptions } from './client-options.ts';
import { ClientSession } from './client-session.ts';
import type { HubSessionEvent, SessionEvent } from './events.ts';
import { HUB_OPTIONS, type HubOptions, HubSession } from './hub-session.ts';
import { isRepeat, lateInputOf, mayBeJson } from './inputs.ts';
import { suitesOf } from './negotiation.ts';
import { OFFERED_PATTERNS } from './protocol.ts';
import type { SessionOptions } from './session.ts';

/** The version of the format. */
const VERSION = 1;

/** Where a recording goes, and what is in it. */
export interface RecordingOptions {
  /** Takes each line: JSON, without a line feed. If it throws, the recording ends, and the session goes on. */
  write: (line: string) => void;
  /**
   * Whether to record the private ephemeral key if the session ends before a transport message of the peer has opened
   * (default false). With it and the PSK, `explain` can recompute the handshake. Such a recording is a secret: whoever
   * has it can try passwords against it, and can read what this side had sent before the session failed.
   */
  ephemeralKey?: boolean | undefined;
}

/**
 * Creates a client's session that is recorded.
 * @param options - for the constructor of ClientSession
 * @param recording - `write` takes each line
 * @returns the session, which works like any other
 * @throws LocalError the codes of the constructor; `bad-argument`; `crypto-failed`
 *
 * @example
 * import { recordClientSession } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const lines: string[] = []; // or a file, for `hub-protocol explain`
 * const write = (line: string): void => void lines.push(line);
 * const options = { crypto, randomBytes, siteId: 'lobby', staticKey: randomBytes(32) };
 * const session = recordClientSession(options, { write });
 * session.receive('{"msg_type":"hello","payload":{"node_id":"hub-1"}}');
 * console.log(lines.length > 0); // true
 */
export function recordClientSession(options: ClientOptions, recording: RecordingOptions): ClientSession {
  const given = readOptions(options, 'options', CLIENT_OPTIONS);
  const recorder = new Recorder(recording);
  const { pin, psk, patterns, trust, onKkFailure, hasPins, staticKeyIsFresh } = given;
  if (typeof pin === 'function') given.pin = recorder.lookUp('pin', pin);
  if (typeof psk === 'function') given.psk = recorder.lookUp('psk', psk);
  recorder.keepRandomBytes(given);
  const session = new ClientSession(given);
  recorder.begin('client', given, {
    patterns: (patterns ?? OFFERED_PATTERNS).slice(),
    suites: suitesOf(given.crypto),
    trust: trust ?? null,
    onKkFailure: onKkFailure ?? null,
    hasPins: hasPins === true,
    staticKeyIsFresh: staticKeyIsFresh === true,
  });
  recorder.intercept(session, ['start', 'providePsk', 'provideSharedSecret', 'resume']);
  return session;
}

/**
 * Creates a hub's session that is recorded.
 * @param options - for the constructor of HubSession
 * @param recording - `write` takes each line
 * @returns the session, which works like any other
 * @throws LocalError the codes of the constructor; `bad-argument`; `crypto-failed`
 */
export function recordHubSession(options: HubOptions, recording: RecordingOptions): HubSession {
  const given = readOptions(options, 'options', HUB_OPTIONS);
  const recorder = new Recorder(recording);
  recorder.keepRandomBytes(given);
  const session = new HubSession(given);
  const { nodeId, clientKey, patterns, suites, crypto } = given;
  recorder.begin('hub', given, {
    patterns: (patterns ?? OFFERED_PATTERNS).slice(),
    suites: (suites ?? suitesOf(crypto)).slice(),
    nodeId,
    clientKey: clientKey === undefined ? null : bytesToHex(clientKey),
  });
  recorder.intercept(session, ['start']);
  return session;
}

/** The states in which what arrives is cleartext. */
const CLEARTEXT_STATES = [
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

const SENDERS = ['sendJson', 'sendBinary', 'streamJson', 'streamBinary'];

/** The fields of events that are recorded as they are: none was sealed. */
const SHOWN = ['nodeId', 'pattern', 'suite', 'code', 'status', 'reason', 'retry', 'kind', 'last'];
/** The fields of events that hold a public key. */
const PUBLIC_KEYS = ['key', 'hubKey', 'clientKey'];

type Event = SessionEvent | HubSessionEvent;
/** The methods of a session that are recorded, by their names. */
type Methods = { [method: string]: (argument: unknown) => unknown };

class Recorder {
  private readonly write: (line: string) => void;
  private readonly wantsEphemeralKey: boolean;
  private ephemeralKey: Uint8Array | undefined = undefined;
  private isBroken = false;

  constructor(recording: RecordingOptions) {
    const { write, ephemeralKey } = readOptions(recording, 'recording', ['write', 'ephemeralKey']);
    assertFunction(write, 'write');
    this.write = write;
    this.wantsEphemeralKey = assertFlag(ephemeralKey, 'ephemeralKey');
  }

  begin(role: 'client' | 'hub', { crypto, staticKey }: SessionOptions, options: JsonObject): void {
    const line: JsonObject = { recording: VERSION, role };
    let { publicKey } = staticKey as { publicKey: Uint8Array };
    if (isBytes(staticKey)) {
      const pair = new CheckedCrypto(crypto).keyPair(copyBytes(staticKey));
      publicKey = pair.publicKey;
      pair.destroy();
    }
    line.publicKey = bytesToHex(publicKey);
    const names = Object.keys(options);
    for (let i = 0; i < names.length; i++) setField(line, names[i]!, options[names[i]!]!);
    this.record(line);
  }

  lookUp(
    name: string,
    find: (nodeId: string) => Uint8Array | undefined,
  ): (nodeId: string) => Uint8Array | undefined {
    return (nodeId) => {
      const key = find(nodeId);
      const line: JsonObject = { lookedUp: name, found: key !== undefined };
      if (name === 'pin' && isBytes(key)) line.key = bytesToHex(key);
      this.record(line);
      return key;
    };
  }

  /** Keeps a copy of the private ephemeral key, the only thing that sessions ask randomBytes() for. */
  keepRandomBytes(options: { randomBytes: RandomBytes }): void {
    const { randomBytes } = options;
    if (!this.wantsEphemeralKey || typeof randomBytes !== 'function') return;
    options.randomBytes = (length) => {
      const bytes = randomBytes(length);
      if (isBytes(bytes) && bytes.length === KEY_LENGTH) this.ephemeralKey = copyBytes(bytes);
      return bytes;
    };
  }

  intercept(session: ClientSession | HubSession, methods: string[]): void {
    const names = methods.concat(['receive', 'closed']);
    for (let i = 0; i < names.length; i++) {
      this.replace(session, names[i]!, (argument, state, call) => {
        const line: JsonObject = { call: names[i]!, state };
        if (names[i] === 'receive') describe(line, argument, isCleartext(argument, state));
        this.record(line);
        const events = call() as Event[];
        this.recordEvents(events, session, argument, state);
        return events;
      });
    }
    for (let i = 0; i < SENDERS.length; i++) {
      this.replace(session, SENDERS[i]!, (_, state, call) => {
        this.record({ call: SENDERS[i]!, state });
        const sent = call() as Uint8Array[] | { count: number };
        this.record(
          'count' in sent ? { messages: sent.count } : { lengths: sent.map((message) => message.length) },
        );
        return sent;
      });
    }
  }

  /** Replaces a method of a session by one that calls it. What it throws is recorded, and thrown. */
  private replace(
    session: ClientSession | HubSession,
    name: string,
    body: (argument: unknown, state: string, call: () => unknown) => unknown,
  ): void {
    const original = (session as unknown as Methods)[name]!;
    const value = (argument: unknown): unknown => {
      try {
        return body(argument, session.state, () => original.call(session, argument));
      } catch (error) {
        this.record({ threw: (error as LocalError).code });
        throw error;
      }
    };
    Object.defineProperty(session, name, { value });
  }

  private recordEvents(events: Event[], session: object, argument: unknown, state: string): void {
    let isOver = false;
    for (let i = 0; i < events.length; i++) {
      const event = events[i]!;
      this.record(lineOf(event));
      isOver = isOver || event.type === 'close' || event.type === 'ended';
    }
    const { heard } = session as { readonly heard: boolean };
    if (!isOver && !heard) return;
    // Once a transport message of the peer has opened, no one needs to ask why the handshake failed.
    if (!heard && this.ephemeralKey !== undefined) {
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
 * Whether what was received is a part of the handshake in clear. Over MQTT, where cleartext arrives as bytes, it may come
 * once the session is encrypted too: from a hub that has forgotten the session, or as a repeat.
 */
function isCleartext(data: unknown, state: string): boolean {
  if (CLEARTEXT_STATES.indexOf(state) >= 0) return true;
  if (!isBytes(data) || !mayBeJson(data)) return false;
  const input = lateInputOf(data, MAX_ENVELOPE);
  return input !== undefined && isRepeat(input);
}

/** Adds what was received or is to be transmitted: cleartext whole, anything else by its length. */
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
