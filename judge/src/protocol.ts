/** Everything that the judge and the commands import from the library, including internals. No other file of theirs does. */
export { decodeBinary } from '../../src/binary/binary-message.ts';
export {
  bytesToBase64,
  bytesToHex,
  bytesToUtf8,
  concatBytes,
  equalBytes,
  hexToBytes,
  utf8ToBytes,
} from '../../src/bytes.ts';
export type { Cipher } from '../../src/crypto/crypto.ts';
export { isLowOrder } from '../../src/crypto/low-order.ts';
export { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
export { type ErrorCode, LocalError, type RemoteCode, RemoteError } from '../../src/errors.ts';
export { LOCAL_ERRORS, REMOTE_ERRORS } from '../../src/errors-table.ts';
export { authorizedUrl } from '../../src/identity/authorized-url.ts';
export { selectEndpoint } from '../../src/identity/endpoint.ts';
export type { Identity } from '../../src/identity/identity.ts';
export { parseIdentity } from '../../src/identity/parse-identity.ts';
export { redactIdentity } from '../../src/identity/redact.ts';
export { createKeyring, type Keyring, storePsk, updateKeyring } from '../../src/keyring/keyring.ts';
export { parseKeyring, serializeChanges, serializeKeyring } from '../../src/keyring/keyring-text.ts';
export { nextSlots } from '../../src/keyring/slots.ts';
export { MAX_CHUNK, MAX_ENVELOPE, MAX_MESSAGE } from '../../src/limits.ts';
export { type BrokerEndpoint, brokerEndpoint } from '../../src/mqtt-topics/broker-endpoint.ts';
export { clientId } from '../../src/mqtt-topics/client-id.ts';
export { deriveTopics } from '../../src/mqtt-topics/topics.ts';
export { argon2id } from '../../src/noise/argon2id.ts';
export { HandshakeState } from '../../src/noise/handshake-state.ts';
export {
  cipherNameOf,
  PATTERNS,
  type Pattern,
  protocolName,
  type Suite,
  type Token,
} from '../../src/noise/patterns.ts';
export type { Transport } from '../../src/noise/transport.ts';
export { findHub, fingerprint } from '../../src/session/keyring-fields.ts';
export { type NoiseSelection, selectNoise } from '../../src/session/negotiation.ts';
export { OFFERED_PATTERNS, OFFERED_SUITES } from '../../src/session/options.ts';
export { derivePsk } from '../../src/session/psk.ts';
export { splitUrl } from '../../src/url.ts';
export { type Envelope, parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
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
export { canonicalJson, stringifyJson } from '../../src/wire/write-json.ts';
