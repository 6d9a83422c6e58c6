/**
 * `hub-protocol/parts`: the parts of sessions, for ports of the protocol and their tests: JSON, frames, the Noise
 * handshake and Argon2id. Also the component types of `hub-protocol`'s types, such as each event's. Programs that use
 * sessions need none of this.
 */

export type { Argon2idParameters } from './crypto/crypto.ts';
export type { LocalCode, RemoteCode } from './errors.ts';
export type { Disclosure, DisclosureSituation } from './identity/disclosure.ts';
export type { EndpointOptions, SelectedEndpoint } from './identity/endpoint.ts';
export type { Endpoints, Protocols } from './identity/identity.ts';
export type { RedactedIdentity } from './identity/redact.ts';
export type { HubPin, HubPsk } from './keyring/keyring.ts';
export type { BrokerEndpoint } from './mqtt-topics/broker-endpoint.ts';
export type { Mqtt } from './mqtt-topics/mqtt.ts';
export type { Presence, PresenceMessage } from './mqtt-topics/presence.ts';
export type { Topics } from './mqtt-topics/topics.ts';
export { Argon2id, argon2id } from './noise/argon2id.ts';
export type { Argon2idOptions } from './noise/argon2id-options.ts';
export type { HandshakeOptions } from './noise/handshake-options.ts';
export { HandshakeState } from './noise/handshake-state.ts';
export { protocolName } from './noise/patterns.ts';
export type { Transport } from './noise/transport.ts';
export type {
  AskDecision,
  AwaitingState,
  DialDecision,
  DialOptions,
  RestDecision,
} from './policy/connection-policy.ts';
export type { PolicyState } from './policy/tables.ts';
export type {
  ActionRequest,
  CodeRequest,
  RequestFields,
  UtteranceRequest,
} from './requests/build-request.ts';
export type { Choice, DisplayItem } from './requests/display-items.ts';
export type { Quota, Refusal } from './requests/refusal.ts';
export type { CollectorOptions, ReplyEnding, ReplyState } from './requests/reply-collector.ts';
export type { HandleDecision, ReplyDeadlines, SendDecision } from './requests/request-scheduler.ts';
export type * from './session/events.ts';
export { type NoiseSelection, type Offer, selectNoise } from './session/negotiation.ts';
export { derivePsk, type PskInputs, type PskOptions } from './session/psk.ts';
export type { PlaintextOptions } from './url.ts';
export { type Json, JsonNumber, type JsonObject } from './wire/json.ts';
export { type MessageKind, splitMessage } from './wire/markers.ts';
export { parseJson } from './wire/parse-json.ts';
export { buildPrologue } from './wire/prologue.ts';
export {
  type DeliveredEvent,
  type DroppedEvent,
  type Reassembled,
  Reassembler,
  type ReassemblerOptions,
} from './wire/reassembler.ts';
export { canonicalJson } from './wire/write-json.ts';
