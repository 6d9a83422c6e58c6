/**
 * The JSON envelopes around HELLO and HANDSHAKE: `{"msg_type": …, "payload": {…}, …}`. HELLO travels in clear
 * from the hub and as the first transport message from the client; HANDSHAKE (`shake`) only in clear.
 * Spec, "Hub connection (protocol v3)", steps 1 to 7.
 */
import { RemoteError } from '../errors.ts';
import { MAX_ENVELOPE } from '../limits.ts';
import { isJsonObject, type JsonObject, ownField } from './json.ts';
import { encodeJson, parseJson } from './parse-json.ts';
import { stringifyJson } from './write-json.ts';

export interface Envelope {
  /** `handshake` is read as `shake`; any other type is kept as it came. */
  readonly type: string;
  readonly payload: JsonObject;
}

/**
 * Reads an envelope: an object with a string `msg_type` and an object `payload`. A string that contains JSON is read
 * as a string.
 * @param data - the envelope as a string or as UTF-8 bytes
 * @param maxEnvelope - the longest envelope to read, in bytes of UTF-8 (default MAX_ENVELOPE, 256 KiB)
 * @throws RemoteError `envelope-too-large`, before anything is parsed; `bad-envelope`, `bad-payload`; or as `parseJson`
 */
export function parseEnvelope(data: string | Uint8Array, maxEnvelope: number = MAX_ENVELOPE): Envelope {
  const bytes = typeof data === 'string' && data.length <= maxEnvelope ? encodeJson(data) : data;
  if (bytes.length > maxEnvelope) {
    throw new RemoteError('envelope-too-large', `a cleartext envelope of more than ${maxEnvelope} bytes`);
  }
  const envelope = parseJson(bytes);
  if (!isJsonObject(envelope)) {
    throw new RemoteError('bad-envelope', 'a cleartext message that is not a JSON object');
  }
  const type = ownField(envelope, 'msg_type');
  const payload = ownField(envelope, 'payload');
  if (typeof type !== 'string') {
    throw new RemoteError('bad-envelope', 'an envelope whose msg_type is not a text');
  }
  if (!isJsonObject(payload)) {
    throw new RemoteError('bad-payload', 'an envelope whose payload is not an object');
  }
  return { type: type === 'handshake' ? 'shake' : type, payload };
}

/** An envelope: of handshakes with four fields, of all others with eight. */
export function composeEnvelope(type: 'hello' | 'shake' | 'bus', payload: JsonObject): JsonObject {
  const envelope: JsonObject = { msg_type: type, payload, metadata: {}, route: [] };
  if (type !== 'shake') {
    envelope.node = null;
    envelope.target_site_id = null;
    envelope.target_pubkey = null;
    envelope.source_peer = null;
  }
  return envelope;
}

/** The same as JSON text. */
export function writeEnvelope(type: 'hello' | 'shake', payload: JsonObject): string {
  return stringifyJson(composeEnvelope(type, payload));
}
