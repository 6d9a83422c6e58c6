/**
 * What the payloads of HELLO and HANDSHAKE hold: the hub's node id, its offer, the Noise messages in hex, and the
 * JSON that those carry. Spec, "Hub connection (protocol v3)", steps 1 to 7.
 */
import { hexToBytes } from '../bytes.ts';
import { RemoteError } from '../errors.ts';
import { isJsonObject, type Json, JsonNumber, type JsonObject, ownField, setField } from './json.ts';
import { parseJson } from './parse-json.ts';
import { stringifyJson } from './write-json.ts';

export const PROTOCOL_VERSION = 3;

/**
 * A payload of these fields and the integrator's, which count where both have one. It comes back as the peer will
 * read it, so that what is bound into the prologue is what was sent.
 * @throws LocalError what is wrong with a field as JSON
 */
export function composePayload(fields: JsonObject, further: JsonObject): JsonObject {
  const payload: JsonObject = {};
  const sources = [fields, further];
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i]!;
    const keys = Object.keys(source);
    for (let j = 0; j < keys.length; j++) setField(payload, keys[j]!, source[keys[j]!]!);
  }
  return parseJson(stringifyJson(payload)) as JsonObject;
}

/** @throws RemoteError `missing-node-id`, `bad-node-id` */
export function readNodeId(hello: JsonObject): string {
  const nodeId = ownField(hello, 'node_id');
  if (nodeId === undefined) {
    throw new RemoteError('missing-node-id', 'a HELLO without node_id: is this a hub?');
  }
  if (typeof nodeId !== 'string' || nodeId === '') {
    throw new RemoteError('bad-node-id', 'a HELLO whose node_id is not a text, or an empty one');
  }
  return nodeId;
}

/** Whether a payload's `max_protocol_version` is 3 or more. */
export function speaksProtocol3(payload: JsonObject): boolean {
  const version = ownField(payload, 'max_protocol_version');
  const number = version instanceof JsonNumber ? version.valueOf() : version;
  return typeof number === 'number' && number >= PROTOCOL_VERSION;
}

/** @throws RemoteError `protocol-version` */
export function assertProtocolVersion(payload: JsonObject): void {
  if (!speaksProtocol3(payload)) {
    throw new RemoteError('protocol-version', 'the peer does not speak protocol 3: it has to be updated');
  }
}

/**
 * The patterns and suites that a hub offers.
 * @throws RemoteError `protocol-version`, `bad-payload`, `bad-offer`
 */
export function readOffer(payload: JsonObject): { patterns: string[]; suites: string[] } {
  assertProtocolVersion(payload);
  const noise = readNoise(payload);
  const patterns = noise && ownField(noise, 'patterns');
  const suites = noise && ownField(noise, 'suites');
  if (!isStringArray(patterns) || !isStringArray(suites)) {
    throw new RemoteError(
      'bad-offer',
      'a HANDSHAKE whose noise.patterns and noise.suites are not lists of texts',
    );
  }
  return { patterns, suites };
}

/**
 * The `noise` object of a HANDSHAKE.
 * @throws RemoteError `bad-payload` where it is something else
 */
export function readNoise(payload: JsonObject): JsonObject | undefined {
  const noise = ownField(payload, 'noise');
  if (noise !== undefined && !isJsonObject(noise)) {
    throw new RemoteError('bad-payload', 'a HANDSHAKE whose noise field is not an object');
  }
  return noise;
}

/**
 * The Noise message of a HANDSHAKE, hex of either case.
 * @throws RemoteError `bad-hex`
 */
export function readNoiseMessage(payload: JsonObject): Uint8Array {
  const noise = readNoise(payload);
  const message = noise && ownField(noise, 'msg');
  const bytes = typeof message === 'string' ? hexToBytes(message) : undefined;
  if (bytes === undefined) {
    throw new RemoteError('bad-hex', 'a HANDSHAKE whose noise.msg is not a text of hex digits');
  }
  return bytes;
}

/** What a client may say in message 1. */
export interface Message1Payload {
  readonly binarize: boolean;
  readonly encodings: string[];
}

/** @throws RemoteError `bad-handshake-payload` */
export function readMessage1Payload(bytes: Uint8Array): Message1Payload {
  const payload = readSealedPayload(bytes);
  const binarize = ownField(payload, 'binarize') ?? false;
  const encodings = ownField(payload, 'encodings') ?? [];
  if (typeof binarize !== 'boolean' || !isStringArray(encodings)) throw badPayload('binarize or encodings');
  return { binarize, encodings };
}

/**
 * The JSON encoding that a hub names in message 2, if it does.
 * @throws RemoteError `bad-handshake-payload`
 */
export function readMessage2Payload(bytes: Uint8Array): string | undefined {
  const encoding = ownField(readSealedPayload(bytes), 'encoding') ?? undefined;
  if (encoding !== undefined && typeof encoding !== 'string') throw badPayload('encoding');
  return encoding;
}

/** The payload of a handshake message: a JSON object, or nothing, which counts as an empty one. */
function readSealedPayload(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) return {};
  let payload: Json | undefined;
  try {
    payload = parseJson(bytes);
  } catch {
    // What is wrong with it follows from bytes that were sealed, and goes into no error.
  }
  if (!isJsonObject(payload)) throw badPayload('not a JSON object');
  return payload;
}

function badPayload(what: string): RemoteError {
  return new RemoteError(
    'bad-handshake-payload',
    `a handshake message with a payload that cannot be read: ${what}`,
  );
}

/** Whether a value is an array of strings. A revoked proxy, which throws even here, is not. */
export function isStringArray(value: unknown): value is string[] {
  try {
    if (!Array.isArray(value)) return false;
    for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'string') return false;
    return true;
  } catch {
    return false;
  }
}
