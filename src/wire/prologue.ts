/**
 * The prologue of the Noise handshake: what the hub sent in clear, bound into every key.
 * Spec, "Hub connection (protocol v3)".
 */
import { concatBytes, utf8ToBytes } from '../bytes.ts';
import type { Json } from './json.ts';
import { canonicalJson } from './write-json.ts';

/**
 * The canonical JSON of the hub's HELLO payload, that of its HANDSHAKE payload, and the protocol name, one
 * after the other without separators. Fields this library does not know are bound like all others, so both
 * payloads must be as `parseJson` read them.
 * @throws LocalError as `canonicalJson` does
 */
export function buildPrologue(hello: Json, handshake: Json, protocolName: string): Uint8Array {
  return concatBytes([canonicalJson(hello), canonicalJson(handshake), utf8ToBytes(protocolName)]);
}
