/**
 * The JSON envelopes of HELLO and HANDSHAKE: `{"msg_type": …, "payload": {…}, …}`. A hub sends HELLO in cleartext, a client
 * as its first transport message. HANDSHAKE (`shake`) is always in cleartext.
 * Spec, "Hub connection (protocol v3)", steps 1 to 7.
 */
import * as errors from '../errors-table.ts';
import { MAX_ENVELOPE } from '../limits.ts';
import { isJsonObject, type JsonObject, ownField, ownText } from './json.ts';
import { encodeJson, parseJson } from './parse-json.ts';
import { stringifyJson } from './write-json.ts';

export interface Envelope {
  /** `shake` also for the type `handshake`; any other type unchanged. */
  readonly type: string;
  readonly payload: JsonObject;
}

/**
 * Reads an envelope: an object with a string `msg_type` and an object `payload`. A string that contains JSON is read
 * as a string.
 * @param data - the envelope as a string or as UTF-8 bytes
 * @throws RemoteError `envelope-too-large`, before anything is parsed; `bad-envelope`, `bad-payload`; or as `parseJson`
 */
export function parseEnvelope(data: string | Uint8Array): Envelope {
  const bytes = typeof data === 'string' && data.length <= MAX_ENVELOPE ? encodeJson(data) : data;
  if (bytes.length > MAX_ENVELOPE) {
    throw errors.envelopeTooLarge(MAX_ENVELOPE);
  }
  const envelope = parseJson(bytes);
  if (!isJsonObject(envelope)) {
    throw errors.notAnEnvelope();
  }
  const type = ownText(envelope, 'msg_type');
  const payload = ownField(envelope, 'payload');
  if (type === undefined) {
    throw errors.badMessageType();
  }
  if (!isJsonObject(payload)) {
    throw errors.badPayload('an envelope');
  }
  return { type: type === 'handshake' ? 'shake' : type, payload };
}

/** Makes an envelope: for `shake` with four fields, for all others with eight. */
export function composeEnvelope(type: string, payload: JsonObject): JsonObject {
  const envelope: JsonObject = { msg_type: type, payload, metadata: {}, route: [] };
  if (type !== 'shake') {
    envelope.node = null;
    envelope.target_site_id = null;
    envelope.target_pubkey = null;
    envelope.source_peer = null;
  }
  return envelope;
}

/** Writes an envelope as JSON. */
export function writeEnvelope(type: 'hello' | 'shake', payload: JsonObject): string {
  return stringifyJson(composeEnvelope(type, payload));
}
