/** The cleartext that scenes of both sides write and read. */
import { type JsonObject, ownField, parseEnvelope, RemoteError, readNoise } from '../protocol.ts';
import { type Causes, Failure } from '../verdict.ts';

/** A copy with one bit changed. */
export function flip(message: Uint8Array, at: number): Uint8Array {
  const flipped = message.slice();
  flipped[at]! ^= 1;
  return flipped;
}

export function envelope(type: string, payload: string): string {
  return `{"msg_type":"${type}","payload":${payload},"metadata":{},"route":[]}`;
}

export function shake(noise: JsonObject): string {
  return envelope('shake', JSON.stringify({ noise }));
}

const OFFER_FIRST = 'order: the offer comes before HELLO; HELLO comes first';

/** The payload of an envelope of this type. */
export function payloadOfType(wanted: 'hello' | 'shake', data: string | Uint8Array): JsonObject {
  const { type, payload } = read(wanted, () => parseEnvelope(data));
  if (type === wanted) return payload;
  const causes = wanted === 'hello' && type === 'shake' ? [OFFER_FIRST] : [];
  throw new Failure({ where: wanted, expected: `msg_type ${wanted}`, got: `msg_type ${type}` }, causes);
}

/** The payload of a HANDSHAKE that carries a Noise message. */
export function payloadWithMessage(what: string, data: string | Uint8Array): JsonObject {
  const { type, payload } = read(what, () => parseEnvelope(data));
  const noise = read(what, () => readNoise(payload));
  if (type === 'shake' && noise !== undefined && ownField(noise, 'msg') !== undefined) return payload;
  const got = `an envelope of msg_type ${type} without it`;
  throw new Failure({ where: what, expected: 'an envelope of msg_type shake with noise.msg', got });
}

/**
 * Reads a message of the implementation. If it cannot be read, the implementation fails.
 * @param causes - by error code, the mistakes to name
 */
export function read<Value>(
  where: string,
  reader: () => Value,
  causes: { readonly [code: string]: Causes } = {},
): Value {
  try {
    return reader();
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    const { code, message } = error;
    const hint = code === 'payload-not-authentic' ? HINTS[where] : undefined;
    const got = `${code}: ${message}${hint === undefined ? '' : ` (look at ${hint})`}`;
    throw new Failure({ where, expected: 'a message that can be read', got }, causes[code]);
  }
}

/** The further inputs that the payload of each handshake message depends on. */
const HINTS: { readonly [message: string]: string } = {
  'message 1': 'the prologue; under KKpsk0 also at the psk and the static keys',
  'message 2': 'the psk',
  'message 3': 'the order in which the nonce counts: the static key is sealed with counter 1',
};
