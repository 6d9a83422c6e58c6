/**
 * The prologue of the Noise handshake, which binds the hub's cleartext into every key. Spec, "Hub connection (protocol
 * v3)".
 */
import { assertString } from '../arguments.ts';
import { type Bytes, concatBytes, utf8ToBytes } from '../bytes.ts';
import type { Json } from './json.ts';
import { canonicalJson } from './write-json.ts';

/**
 * Builds the prologue: the canonical JSON of the hub's HELLO and HANDSHAKE payloads and the protocol name, without
 * separators. Unknown fields are bound like all others, so pass both payloads as `parseJson` returned them.
 * @param hello - the payload of the hub's HELLO
 * @param handshake - the payload of the hub's HANDSHAKE
 * @param protocolName - such as `Noise_XXpsk2_25519_ChaChaPoly_SHA256`
 * @returns the prologue, of any length
 * @throws LocalError as `canonicalJson`; `bad-argument` if the protocol name is empty or not a string
 * @see spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { parseJson } from 'hub-protocol';
 * import { buildPrologue } from 'hub-protocol/parts';
 *
 * const hello = parseJson('{"node_id":"hub-1"}');
 * const prologue = buildPrologue(hello, { noise: {} }, 'Noise_XXpsk2_25519_ChaChaPoly_SHA256');
 * console.log(new TextDecoder().decode(prologue)); // {"node_id":"hub-1"}{"noise":{}}Noise_XXpsk2_25519_ChaChaPoly_SHA256
 */
export function buildPrologue(hello: Json, handshake: Json, protocolName: string): Bytes {
  assertString(protocolName, 'protocolName');
  return concatBytes([canonicalJson(hello), canonicalJson(handshake), utf8ToBytes(protocolName)]);
}
