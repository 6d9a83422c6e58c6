/**
 * hub-protocol implements HiveMind's protocol 3 between a client and a hub. It does no I/O: you pass it the messages that
 * arrive, and carry out the events that it returns.
 *
 * For most use cases, read the issued identity with `parseIdentity`, choose an address with `selectEndpoint`, add the
 * credentials to it with `authorizedUrl`, and use a `ClientSession` with a keyring from `createKeyring`. Apply each event
 * of the session to the keyring with `updateKeyring`, and store it with `serializeKeyring`; `parseKeyring` reads it again.
 * When the session asks for the pre-shared key, compute it with `pskDerivation`. `ConnectionPolicy` says when to connect
 * again, and `RequestScheduler` says which reply belongs to which request.
 *
 * Over MQTT, use `brokerEndpoint`, `deriveTopics`, `clientId` and `presence`. For the other side of a connection, use
 * `HubSession`.
 *
 * The core has no dependencies. Cryptography is passed in: use `hub-protocol/node`, `hub-protocol/noble` or
 * `hub-protocol/noble-aesgcm`, or implement `CryptoProvider`.
 *
 * If you port the protocol to another language, or need the type of a single event or decision, see
 * `hub-protocol/parts`. To find out why a handshake fails, record the session with `hub-protocol/recording`.
 */

export { type OptionNames, readOptions } from './arguments.ts';
export type { Bytes } from './bytes.ts';
export type {
  Cipher,
  CipherFactory,
  CryptoProvider,
  KeyPair,
  RandomBytes,
  StaticKey,
} from './crypto/crypto.ts';
export { type ErrorCode, LocalError, RemoteError } from './errors.ts';
export { type Authorization, authorizedUrl, readAuthorization } from './identity/authorized-url.ts';
export { disclosureDue } from './identity/disclosure.ts';
export { selectEndpoint } from './identity/endpoint.ts';
export type { Identity } from './identity/identity.ts';
export { parseIdentity } from './identity/parse-identity.ts';
export { redactIdentity } from './identity/redact.ts';
export { serializeIdentity } from './identity/serialize.ts';
export {
  createKeyring,
  dropPin,
  forgetPsks,
  type Keyring,
  pinHub,
  storePsk,
  updateKeyring,
} from './keyring/keyring.ts';
export { parseKeyring, serializeKeyring } from './keyring/keyring-text.ts';
export { brokerEndpoint } from './mqtt-topics/broker-endpoint.ts';
export { clientId } from './mqtt-topics/client-id.ts';
export { presence } from './mqtt-topics/presence.ts';
export { deriveTopics } from './mqtt-topics/topics.ts';
export { Argon2id, argon2id } from './noise/argon2id.ts';
export { HandshakeState } from './noise/handshake-state.ts';
export { type Pattern, protocolName, type Suite } from './noise/patterns.ts';
export { ConnectionPolicy, type PolicyDecision, type PolicyOptions } from './policy/connection-policy.ts';
export { buildAction, buildCode, buildUtterance } from './requests/build-request.ts';
export { type HubEvent, readHubEvent } from './requests/hub-event.ts';
export { readRefusal } from './requests/refusal.ts';
export { type Reply, ReplyCollector } from './requests/reply-collector.ts';
export {
  type FinishDecision,
  type RequestDecision,
  RequestScheduler,
  type SchedulerOptions,
} from './requests/request-scheduler.ts';
export { sessionIdsMatch } from './requests/session-ids.ts';
export { type WrapOptions, type WrapperType, wrap } from './requests/wrap.ts';
export type { ClientOptions } from './session/client-options.ts';
export { ClientSession } from './session/client-session.ts';
export type { Closing } from './session/endings.ts';
export type { HubSessionEvent, SessionEvent } from './session/events.ts';
export type { HubOptions } from './session/hub-handshake.ts';
export { HubSession } from './session/hub-session.ts';
export { fingerprint, type KeyringFields } from './session/keyring-fields.ts';
export { selectNoise } from './session/negotiation.ts';
export { derivePsk, pskDerivation } from './session/psk.ts';
export type { ClientState, HubState } from './session/transitions.ts';
export { type Json, JsonNumber, type JsonObject } from './wire/json.ts';
export { splitMessage } from './wire/markers.ts';
export { parseJson } from './wire/parse-json.ts';
export { buildPrologue } from './wire/prologue.ts';
export { Reassembler } from './wire/reassembler.ts';
export { canonicalJson } from './wire/write-json.ts';
