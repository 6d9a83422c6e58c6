/** Reads a recording (docs/reference/commands.md, "Recordings"): one side's view of one connection. */

import {
  bytesToHex,
  bytesToUtf8,
  canonicalJson,
  type ErrorCode,
  hexToBytes,
  isJsonObject,
  type Json,
  type JsonObject,
  OFFERED_PATTERNS,
  OFFERED_SUITES,
  ownField,
  type Pattern,
  parseEnvelope,
  parseJson,
  readNoise,
  readNoiseMessage,
  type Suite,
} from 'hub-protocol-judge/internals';
import { CannotRun } from '../command.ts';

export type Role = 'client' | 'hub';

/** A message as written or received. */
export interface Passed {
  /** In bytes. */
  readonly length: number;
  /** `other` also for an envelope that cannot be read. Of a sealed message only the length is recorded. */
  readonly type: 'hello' | 'offer' | 'message' | 'sealed' | 'other';
  readonly payload: JsonObject;
  /** Equal for envelopes that their reader reads alike, even if white space or the order of fields differs. */
  readonly content: string;
}

/** How this side's session ended, if it ended before both sides had heard each other. */
export interface Failure {
  /** Or what a recording of another version has in its place. */
  readonly code: ErrorCode;
  /** Whether the session itself failed; otherwise the peer or the transport ended the connection. */
  readonly isOwn: boolean;
  /** Whether it is a fault of this side: an argument, memory, storage. */
  readonly isLocal: boolean;
  readonly state: string;
  readonly closeCode: number | undefined;
  readonly status: number | undefined;
}

export interface Recording {
  readonly path: string;
  /** How many sessions the file has. This is the last one. */
  readonly sessions: number;
  readonly role: Role;
  readonly publicKey: string;
  readonly header: JsonObject;
  readonly sent: readonly Passed[];
  readonly received: readonly Passed[];
  /** This side's view of the hub's HELLO and HANDSHAKE. */
  readonly hello: Passed | undefined;
  readonly offer: Passed | undefined;
  readonly pattern: Pattern | undefined;
  readonly suite: Suite | undefined;
  /** The Noise messages in their order, as this side wrote or received them. */
  readonly messages: readonly (Uint8Array | undefined)[];
  /** The client's pin of this hub; `undefined` if there was none. */
  readonly pin: string | undefined;
  readonly foundPsk: boolean;
  readonly isReady: boolean;
  /** How many transport messages of the peer have opened. */
  readonly opened: number;
  readonly staticKeyIsFresh: boolean;
  readonly failure: Failure | undefined;
  /** What an implementation has computed, if it notes that as it does for the judge. */
  readonly trace: readonly JsonObject[];
  readonly ephemeralKey: Uint8Array | undefined;
  /** The first transport message of the peer, if it did not open. */
  readonly sealed: Uint8Array | undefined;
}

/** @param path - for messages */
export function readRecording(path: string, contents: Uint8Array): Recording {
  const sessions = sessionsOf(path, contents);
  const lines = sessions.at(-1) ?? [];
  const header = lines[0];
  const role = header && ownField(header, 'role');
  if (header === undefined || (role !== 'client' && role !== 'hub')) {
    throw new CannotRun(
      `${path} is not a recording: its first line has no role. See docs/reference/commands.md, "Recordings"`,
    );
  }
  if (ownField(header, 'recording') !== 1) {
    throw new CannotRun(
      `${path} is a recording of another version: use the commands of the version that wrote it`,
    );
  }
  const publicKey = keyIn(path, header, 'publicKey');
  const sent = lines.flatMap(sentIn);
  const received = lines.flatMap(receivedIn);
  const fromHub = role === 'client' ? received : sent;
  const offerAt = fromHub.findIndex(({ type }) => type === 'offer');
  const beforeOffer = fromHub.slice(0, Math.max(0, offerAt)); // without an offer, HELLO says nothing
  const hellos = beforeOffer.filter(({ type }) => type === 'hello');
  const messages = messagesOf(role, sent, received);
  const first = (role === 'client' ? sent : received).find(({ type }) => type === 'message');
  const noise = first && readNoise(first.payload);
  const pin = lines.find(({ lookedUp }) => lookedUp === 'pin');
  const end = lines.find(({ ephemeralKey }) => ephemeralKey !== undefined);
  const opened = countOpened(lines);
  return {
    path,
    sessions: sessions.length,
    role,
    publicKey: bytesToHex(publicKey),
    header,
    sent,
    received,
    hello: hellos.at(-1),
    offer: fromHub[offerAt],
    pattern: OFFERED_PATTERNS.find((known) => known === noise?.pattern),
    suite: OFFERED_SUITES.find((suite) => suite === noise?.suite),
    messages,
    pin: pin && text(pin, 'key'),
    foundPsk: lines.some(({ lookedUp, found }) => lookedUp === 'psk' && found === true),
    isReady: lines.some(({ event }) => event === 'ready'),
    opened,
    staticKeyIsFresh: lines.some(({ event }) => event === 'static-key-fresh'),
    failure: failureOf(lines, opened),
    trace: lines.flatMap(({ trace }) => (Array.isArray(trace) ? trace.filter(isJsonObject) : [])),
    ephemeralKey: end && keyIn(path, end, 'ephemeralKey'),
    sealed: end && text(end, 'sealed') ? hexToBytes(text(end, 'sealed')!) : undefined,
  };
}

/** The lines of each session: a program may append one after the other. */
function sessionsOf(path: string, contents: Uint8Array): JsonObject[][] {
  const sessions: JsonObject[][] = [];
  let [count, rest] = [0, contents];
  while (rest.length > 0) {
    const end = rest.indexOf(LINE_FEED);
    const line = end < 0 ? rest : rest.subarray(0, end);
    rest = rest.subarray(line.length + 1);
    if (line.every(isBlank)) continue;
    count++;
    const value = parseLine(line);
    // A program that was killed leaves an incomplete line.
    const isCut = value === undefined && count > 1 && rest.every(isBlank);
    if (isCut) break;
    if (!isJsonObject(value)) {
      throw new CannotRun(`${path} is not a recording: line ${count} is not a JSON object`);
    }
    if (sessions.length === 0 || value.recording !== undefined) sessions.push([]);
    sessions.at(-1)!.push(value);
  }
  return sessions;
}

const LINE_FEED = 0x0a;
const isBlank = (byte: number): boolean => byte <= 0x20;

function parseLine(line: Uint8Array): Json | undefined {
  try {
    return parseJson(line);
  } catch {
    return undefined;
  }
}

function text(line: JsonObject, name: string): string | undefined {
  const value = ownField(line, name);
  return typeof value === 'string' ? value : undefined;
}

/** A state or an error code. Sessions do not write other forms. */
function nameIn(line: JsonObject | undefined, field: string): string {
  const name = line && text(line, field);
  return name !== undefined && /^[a-z][a-z0-9-]{0,50}$/.test(name) ? name : 'unknown';
}

function keyIn(path: string, line: JsonObject, name: string): Uint8Array {
  const key = hexToBytes(String(ownField(line, name)));
  if (key?.length === 32) return key;
  throw new CannotRun(`${path} is not a recording: its ${name} is not a key of 32 bytes in hex`);
}

function passed(line: JsonObject): Passed {
  const envelope = line.text as string;
  const length = Buffer.byteLength(envelope);
  try {
    const { type, payload } = parseEnvelope(envelope);
    const isShake = type === 'shake';
    const isMessage = isShake && ownField(readNoise(payload) ?? {}, 'msg') !== undefined;
    const kind = isMessage ? 'message' : isShake ? 'offer' : type === 'hello' ? 'hello' : 'other';
    const content = `${type} ${bytesToUtf8(canonicalJson(isMessage ? boundIn(payload) : payload))}`;
    return { length, type: kind, payload, content };
  } catch {
    return { length, type: 'other', payload: {}, content: envelope };
  }
}

/** The fields of a Noise message that its reader uses. */
function boundIn(payload: JsonObject): JsonObject {
  const noise = readNoise(payload)!;
  const fields: JsonObject = {};
  for (const name of ['msg', 'pattern', 'suite']) fields[name] = ownField(noise, name) ?? null;
  return { ...fields, max_protocol_version: ownField(payload, 'max_protocol_version') ?? null };
}

function sealed(length: Json | undefined): Passed[] {
  return typeof length === 'number'
    ? [{ length, type: 'sealed', payload: {}, content: `${length} bytes` }]
    : [];
}

function sentIn(line: JsonObject): Passed[] {
  if (Array.isArray(line.lengths)) return line.lengths.flatMap(sealed);
  if (line.event !== 'transmit') return [];
  return typeof line.text === 'string' ? [passed(line)] : sealed(line.length);
}

function receivedIn(line: JsonObject): Passed[] {
  if (line.call !== 'receive' || OVER.includes(nameIn(line, 'state'))) return [];
  return typeof line.text === 'string' ? [passed(line)] : sealed(line.length);
}

/** The Noise messages, alternately of client and hub. */
function messagesOf(
  role: Role,
  sent: readonly Passed[],
  received: readonly Passed[],
): (Uint8Array | undefined)[] {
  const own = sent.filter(({ type }) => type === 'message');
  const others = received.filter(({ type }) => type === 'message');
  const [client, hub] = role === 'client' ? [own, others] : [others, own];
  // Message 1 may be repeated before message 3 comes; only message 1 names a pattern or a suite.
  const third = client.slice(1).find(({ payload }) => !namesPatternOrSuite(payload));
  return [client[0], hub[0], third].map((message) => message && bytesOf(message));
}

function namesPatternOrSuite(payload: JsonObject): boolean {
  const noise = readNoise(payload) ?? {};
  return ownField(noise, 'pattern') !== undefined || ownField(noise, 'suite') !== undefined;
}

function bytesOf({ payload }: Passed): Uint8Array | undefined {
  try {
    return readNoiseMessage(payload);
  } catch {
    return undefined; // it is not hex: the session reports this
  }
}

const ENCRYPTED: readonly string[] = ['ready', 'awaiting-first-message'];
const OVER: readonly string[] = ['failed', 'closed'];

/** Transport messages that arrived and did not end the session. */
function countOpened(lines: readonly JsonObject[]): number {
  let opened = 0;
  let isOpen = false; // whether the call before this line is such a message, as far as known
  for (const line of lines) {
    if (line.event === 'close' || line.threw !== undefined) isOpen = false;
    if (line.call === undefined) continue;
    if (isOpen) opened++;
    isOpen = line.call === 'receive' && line.isText === false && ENCRYPTED.includes(nameIn(line, 'state'));
  }
  return isOpen ? opened + 1 : opened;
}

/** Endings that say nothing about the handshake once the peer was heard. */
function failureOf(lines: readonly JsonObject[], opened: number): Failure | undefined {
  const close = lines.find(({ event }) => event === 'close');
  const ended = lines.find(({ event }) => event === 'ended');
  const end = close ?? ended;
  if (end === undefined || (close === undefined && opened > 0)) return undefined;
  const call = lines
    .slice(0, lines.indexOf(end))
    .filter((line) => line.call !== undefined)
    .at(-1);
  const [closeCode, status] = [numberOf(ended?.code), numberOf(ended?.status)];
  // A refusal is 1008 or an HTTP status. Earlier versions took other close codes for one, too.
  const isLoss =
    close === undefined &&
    closeCode !== 1008 &&
    status === undefined &&
    nameIn(ended, 'reason').endsWith('refused');
  return {
    code: isLoss ? 'dropped' : (nameIn(end, 'error') as ErrorCode),
    isOwn: close !== undefined,
    isLocal: end.isLocal === true,
    state: nameIn(call, 'state'),
    closeCode,
    status,
  };
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
