/**
 * The payloads of HELLO and HANDSHAKE: the hub's node id, its offer, the Noise messages in hex, and the JSON inside
 * these. Spec, "Hub connection (protocol v3)", steps 1 to 7.
 */
import { hexToBytes, utf8Length } from '../bytes.ts';
import { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { MAX_NODE_ID } from '../limits.ts';
import { isJsonObject, JsonNumber, type JsonObject, ownField, ownText, setField } from './json.ts';
import { parseJson } from './parse-json.ts';
import { jsonToBytes } from './write-json.ts';

/** HiveMind's protocol version that this library implements. */
export const PROTOCOL_VERSION = 3;

/** Merges two objects: if both have a field, the second counts. The values are shared with both. */
export function mergeFields(fields: JsonObject, overrides: JsonObject): JsonObject {
  const merged: JsonObject = {};
  const sources = [fields, overrides];
  for (let i = 0; i < sources.length; i++) {
    const source = sources[i]!;
    const keys = Object.keys(source);
    for (let j = 0; j < keys.length; j++) setField(merged, keys[j]!, source[keys[j]!]!);
  }
  return merged;
}

/**
 * Makes a payload as `mergeFields` does, in the form that the peer will read: the prologue binds the payload as sent, and
 * no later change of either object affects it.
 * @throws LocalError as `jsonToBytes`
 */
export function composePayload(fields: JsonObject, overrides: JsonObject): JsonObject {
  return parseJson(jsonToBytes(mergeFields(fields, overrides))) as JsonObject;
}

/**
 * Reads the hub's node id from its HELLO.
 * @throws RemoteError `missing-node-id`, `bad-node-id`
 */
export function readNodeId(hello: JsonObject): string {
  const nodeId = ownField(hello, 'node_id');
  if (nodeId === undefined) {
    throw errors.noNodeId();
  }
  if (typeof nodeId !== 'string' || nodeId === '' || utf8Length(nodeId) > MAX_NODE_ID) {
    throw errors.badNodeId(MAX_NODE_ID);
  }
  return nodeId;
}

/** Whether a payload's `max_protocol_version` is 3 or more. */
export function speaksProtocol3(payload: JsonObject): boolean {
  const version = ownField(payload, 'max_protocol_version');
  const number = version instanceof JsonNumber ? version.valueOf() : version;
  return typeof number === 'number' && number >= PROTOCOL_VERSION;
}

/**
 * Checks that a payload's `max_protocol_version` is 3 or more.
 * @throws RemoteError `protocol-version`
 */
export function assertProtocolVersion(payload: JsonObject): void {
  if (!speaksProtocol3(payload)) {
    throw errors.protocolVersion();
  }
}

/**
 * Reads the patterns and suites that a hub offers in its HANDSHAKE.
 * @throws RemoteError `protocol-version`, `bad-payload`, `bad-offer`
 */
export function readOffer(payload: JsonObject): { patterns: string[]; suites: string[] } {
  assertProtocolVersion(payload);
  const noise = readNoise(payload);
  const patterns = noise && ownField(noise, 'patterns');
  const suites = noise && ownField(noise, 'suites');
  if (!isStringArray(patterns) || !isStringArray(suites)) {
    throw errors.badOffer();
  }
  return { patterns, suites };
}

/**
 * Reads the `noise` object of a HANDSHAKE, if it has one.
 * @throws RemoteError `bad-payload` if `noise` is not an object
 */
export function readNoise(payload: JsonObject): JsonObject | undefined {
  const noise = ownField(payload, 'noise');
  if (noise !== undefined && !isJsonObject(noise)) {
    throw errors.noNoiseField();
  }
  return noise;
}

/**
 * Reads the Noise message of a HANDSHAKE, in hex of either case.
 * @throws RemoteError `bad-hex`
 */
export function readNoiseMessage(payload: JsonObject): Uint8Array {
  const noise = readNoise(payload);
  const message = noise && ownText(noise, 'msg');
  const bytes = message === undefined ? undefined : hexToBytes(message);
  if (bytes === undefined) throw errors.badHex();
  return bytes;
}

/** The payload of message 1. */
export interface Message1Payload {
  readonly binarize: boolean;
  readonly encodings: string[];
}

/**
 * Reads the payload of message 1.
 * @throws RemoteError `bad-handshake-payload`
 */
export function readMessage1Payload(bytes: Uint8Array): Message1Payload {
  const payload = readSealedPayload(bytes);
  if (payload === undefined) throw errors.badHandshakePayload('it is not a JSON object');
  const binarize = ownField(payload, 'binarize') ?? false;
  const encodings = ownField(payload, 'encodings') ?? [];
  if (typeof binarize !== 'boolean' || !isStringArray(encodings))
    throw errors.badHandshakePayload('check binarize and encodings');
  return { binarize, encodings };
}

/** The payload of message 2. */
export interface Message2Payload {
  /** The JSON encoding that the hub names, if it names one. */
  readonly encoding: string | undefined;
}

/**
 * Reads the payload of message 2.
 * @returns the payload; `undefined` if it is not a JSON object, which shows that it was not written under this PSK
 * @throws RemoteError `bad-handshake-payload`
 */
export function readMessage2Payload(bytes: Uint8Array): Message2Payload | undefined {
  const payload = readSealedPayload(bytes);
  if (payload === undefined) return undefined;
  const encoding = ownField(payload, 'encoding') ?? undefined;
  if (encoding !== undefined && typeof encoding !== 'string')
    throw errors.badHandshakePayload('encoding is not a string');
  return { encoding };
}

/** Reads the payload of a handshake message: a JSON object, or nothing, which counts as an empty one. */
function readSealedPayload(bytes: Uint8Array): JsonObject | undefined {
  if (bytes.length === 0) return {};
  try {
    const payload = parseJson(bytes);
    return isJsonObject(payload) ? payload : undefined;
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error; // such as out-of-memory, which is not the peer's fault
    return undefined; // The fault depends on bytes that were sealed, so no error shows it.
  }
}

/** Whether a value is an array of strings. One that throws when it is read, as a revoked Proxy does, is not. */
export function isStringArray(value: unknown): value is string[] {
  try {
    if (!Array.isArray(value)) return false;
    for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'string') return false;
    return true;
  } catch {
    return false;
  }
}
