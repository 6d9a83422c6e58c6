/** Everything that the judge imports from the library, including internals. No other file imports from outside the judge. */
export {
  bytesToHex,
  bytesToUtf8,
  concatBytes,
  equalBytes,
  hexToBytes,
  utf8ToBytes,
} from '../../src/bytes.ts';
export type { Cipher } from '../../src/crypto/crypto.ts';
export { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
export { LocalError, RemoteError } from '../../src/errors.ts';
export { authorizedUrl } from '../../src/identity/authorized-url.ts';
export { parseIdentity } from '../../src/identity/parse-identity.ts';
export { MAX_CHUNK, MAX_MESSAGE } from '../../src/limits.ts';
export { argon2id } from '../../src/noise/argon2id.ts';
export { HandshakeState } from '../../src/noise/handshake-state.ts';
export {
  PATTERNS,
  protocolName,
  SUITES,
  type Suite,
  type Token,
} from '../../src/noise/patterns.ts';
export type { Transport } from '../../src/noise/transport.ts';
export { OFFERED_PATTERNS, OFFERED_SUITES, type Pattern } from '../../src/session/protocol.ts';
export { derivePsk } from '../../src/session/psk.ts';
export { parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
export {
  readMessage1Payload,
  readMessage2Payload,
  readNodeId,
  readNoise,
  readNoiseMessage,
  readOffer,
} from '../../src/wire/handshake.ts';
export { isJsonObject, type Json, JsonNumber, type JsonObject, ownField } from '../../src/wire/json.ts';
export { MARKER_FINAL, MARKER_MIDDLE, type MessageKind, splitMessage } from '../../src/wire/markers.ts';
export { parseJson } from '../../src/wire/parse-json.ts';
export { buildPrologue } from '../../src/wire/prologue.ts';
export { Reassembler } from '../../src/wire/reassembler.ts';
export { canonicalJson } from '../../src/wire/write-json.ts';
