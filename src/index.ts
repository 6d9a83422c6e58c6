/**
 * hub-protocol: HiveMind's protocol 3 between a client and a hub, sans I/O. This is the core, which has no
 * dependencies. Cryptography is passed in: from `hub-protocol/noble`, `hub-protocol/noble-aesgcm` or
 * `hub-protocol/node`, or the integrator's own.
 */

export type { Bytes } from './bytes.ts';
export type {
  Argon2idParameters,
  Cipher,
  CipherFactory,
  Crypto,
  KeyPair,
  RandomBytes,
  StaticKey,
} from './crypto/crypto.ts';
export { type ErrorCode, type LocalCode, LocalError, type RemoteCode, RemoteError } from './errors.ts';
export { authorizedUrl } from './identity/authorized-url.ts';
export { type Disclosure, type DisclosureSituation, disclosureDue } from './identity/disclosure.ts';
export { type EndpointOptions, type SelectedEndpoint, selectEndpoint } from './identity/endpoint.ts';
export type { Endpoints, Identity, Protocols } from './identity/identity.ts';
export { parseIdentity } from './identity/parse-identity.ts';
export { type RedactedIdentity, redactIdentity } from './identity/redact.ts';
export { serializeIdentity } from './identity/serialize.ts';
export {
  createKeyring,
  dropPin,
  forgetPsks,
  type HubPin,
  type HubPsk,
  type Keyring,
  storePsk,
  updateKeyring,
} from './keyring/keyring.ts';
export { parseKeyring, serializeKeyring } from './keyring/keyring-text.ts';
export { type BrokerEndpoint, brokerEndpoint } from './mqtt-topics/broker-endpoint.ts';
export { clientId } from './mqtt-topics/client-id.ts';
export type { Mqtt } from './mqtt-topics/mqtt.ts';
export { type Presence, type PresenceMessage, presence } from './mqtt-topics/presence.ts';
export { deriveTopics, type Topics } from './mqtt-topics/topics.ts';
export { Argon2id, argon2id } from './noise/argon2id.ts';
export type { Argon2idOptions } from './noise/argon2id-options.ts';
export type { HandshakeOptions } from './noise/handshake-options.ts';
export { HandshakeState } from './noise/handshake-state.ts';
export { protocolName, type Suite } from './noise/patterns.ts';
export type { Transport } from './noise/transport.ts';
export {
  type AskDecision,
  type AwaitingState,
  ConnectionPolicy,
  type DialDecision,
  type DialOptions,
  type PolicyDecision,
  type PolicyOptions,
  type RestDecision,
} from './policy/connection-policy.ts';
export type { PolicyState } from './policy/tables.ts';
export {
  type ActionRequest,
  buildAction,
  buildCode,
  buildUtterance,
  type CodeRequest,
  type RequestFields,
  type UtteranceRequest,
} from './requests/build-request.ts';
export type { Choice, DisplayItem } from './requests/display-items.ts';
export { type HubEvent, readHubEvent } from './requests/hub-event.ts';
export { type Quota, type Refusal, readRefusal } from './requests/refusal.ts';
export {
  type CollectorOptions,
  type Reply,
  ReplyCollector,
  type ReplyEnding,
  type ReplyState,
} from './requests/reply-collector.ts';
export {
  type FinishDecision,
  type HandleDecision,
  type ReplyDeadlines,
  type RequestDecision,
  RequestScheduler,
  type SchedulerOptions,
  type SendDecision,
} from './requests/request-scheduler.ts';
export { sessionIdsMatch } from './requests/session-ids.ts';
export type { ClientOptions } from './session/client-options.ts';
export { ClientSession } from './session/client-session.ts';
export type { Closing } from './session/endings.ts';
export type * from './session/events.ts';
export type { HubOptions } from './session/hub-handshake.ts';
export { HubSession } from './session/hub-session.ts';
export type { KeyringFields } from './session/keyring-fields.ts';
export { type Offer, type Selection, selectNoise } from './session/negotiation.ts';
export type { Pattern } from './session/protocol.ts';
export { derivePsk, type PskInputs, type PskOptions, pskDerivation } from './session/psk.ts';
export type { ClientState, HubState } from './session/transitions.ts';
export type { PlaintextOptions } from './url.ts';
export { type Json, JsonNumber, type JsonObject } from './wire/json.ts';
export { type MessageKind, splitMessage } from './wire/markers.ts';
export { parseJson } from './wire/parse-json.ts';
export { buildPrologue } from './wire/prologue.ts';
export {
  type DroppedEvent,
  type MessageEvent,
  type Reassembled,
  Reassembler,
  type ReassemblerOptions,
} from './wire/reassembler.ts';
export { canonicalJson } from './wire/write-json.ts';
