/**
 * The prologue of the Noise handshake, which binds what the hub sent in cleartext into every key.
 * Spec, "Hub connection (protocol v3)".
 */
import { type Bytes, concatBytes, utf8ToBytes } from '../bytes.ts';
import type { Json } from './json.ts';
import { canonicalJson } from './write-json.ts';

/**
 * Builds the prologue: the canonical JSON of the hub's HELLO payload, that of its HANDSHAKE payload, and the protocol name,
 * without separators. Fields that this library does not know are bound like all others, so pass both payloads as
 * `parseJson` returned them.
 * @param protocolName - such as `Noise_XXpsk2_25519_ChaChaPoly_SHA256`
 * @throws LocalError as `canonicalJson`
 */
export function buildPrologue(hello: Json, handshake: Json, protocolName: string): Bytes {
  return concatBytes([canonicalJson(hello), canonicalJson(handshake), utf8ToBytes(protocolName)]);
}
