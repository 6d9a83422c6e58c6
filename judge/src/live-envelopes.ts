/** What live scenes of both sides write and read in clear. */
import { RemoteError } from '../../src/errors.ts';
import { parseEnvelope } from '../../src/wire/envelope.ts';
import { readNoise } from '../../src/wire/handshake.ts';
import { type JsonObject, ownField } from '../../src/wire/json.ts';
import { Failed } from './failed.ts';

/** A message with one bit changed. */
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

/** The payload of a HANDSHAKE with a Noise message in it. */
export function payloadOf(data: string | Uint8Array, what: string): JsonObject {
  const { type, payload } = read(what, () => parseEnvelope(data));
  const noise = read(what, () => readNoise(payload));
  if (type === 'shake' && noise !== undefined && ownField(noise, 'msg') !== undefined) return payload;
  throw new Failed({ where: what, expected: 'a shake envelope with noise.msg', got: `one of type ${type}` });
}

/** Reads what the port sent; what is wrong with it is the port's failure. */
export function read<Value>(where: string, reading: () => Value): Value {
  try {
    return reading();
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    const hint = error.code === 'payload-not-authentic' ? HINTS[where] : undefined;
    throw new Failed(
      { where, expected: 'one that can be read', got: `${error.code}: ${error.message}` },
      hint,
    );
  }
}

/** What a handshake message that does not open says of the port: see the design of the patterns. */
const HINTS: { readonly [message: string]: string } = {
  'message 1':
    'prologue (under XXpsk2), or psk, pinned key or static key (under KKpsk0), or the nonce’s byte order',
  'message 2': 'psk, or the nonce’s byte order: the static key before it did open',
  'message 3': 'the psk, or the order of nonces: the static key is sealed with counter 1',
};
