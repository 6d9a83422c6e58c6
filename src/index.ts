/**
 * hub-protocol implements HiveMind's protocol 3 between a client and a hub. It does no I/O: you pass it the messages that
 * arrive, and carry out the events that it returns.
 *
 * For most use cases, read the issued identity with `parseIdentity`, choose an address with `selectEndpoint`, add the
 * credentials to it with `authorizedUrl`, and use a `ClientSession` with a keyring from `createKeyring`. Apply each event
 * of the session to the keyring with `updateKeyring`, and store it with `serializeKeyring`; `parseKeyring` reads it again.
 * When the session asks for the pre-shared key, compute it with `pskDerivation`. `ConnectionPolicy` says when to connect
 * again, and `RequestScheduler` says which reply belongs to which request. `ClientLink` combines all of these: it orders what to
 * open, write, store and derive, and a program only carries that out.
 *
 * Over MQTT, use `brokerEndpoint`, `deriveTopics`, `clientId` and `presence`. For the other side of a connection, use
 * `HubSession`.
 *
 * The core has no dependencies. Cryptography is passed in: use `hub-protocol/node`, `hub-protocol/noble` or
 * `hub-protocol/noble-aesgcm`, or implement `CryptoProvider`.
 *
 * If you port the protocol to another language, or need the type of a rarer event or of a part of an object, see
 * `hub-protocol/parts`; no name is in both. To find out why a handshake fails, record the session with `hub-protocol/recording`.
 */

export { type OptionNames, readOptions } from './arguments.ts';
export type { Bytes } from './bytes.ts';
export type {
  Argon2idParameters,
  Cipher,
  CipherFactory,
  CryptoProvider,
  KeyPair,
  RandomBytes,
  StaticKey,
} from './crypto/crypto.ts';
export { type ErrorCode, LocalError, RemoteError } from './errors.ts';
export { type Authorization, authorizedUrl, readAuthorization } from './identity/authorized-url.ts';
export { type Disclosure, type DisclosureSituation, disclosureDue } from './identity/disclosure.ts';
export { type EndpointOptions, type SelectedEndpoint, selectEndpoint } from './identity/endpoint.ts';
export type { Identity } from './identity/identity.ts';
export { parseIdentity } from './identity/parse-identity.ts';
export { type RedactedIdentity, redactIdentity } from './identity/redact.ts';
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
export { parseKeyring, serializeChanges, serializeKeyring } from './keyring/keyring-text.ts';
export { nextSlots, readSlots } from './keyring/slots.ts';
export { ClientLink } from './link/client-link.ts';
export type { LinkClosing, LinkOptions, LinkState } from './link/options.ts';
export type { LinkEvent, Order } from './link/orders.ts';
export { type BrokerEndpoint, brokerEndpoint } from './mqtt-topics/broker-endpoint.ts';
export { clientId } from './mqtt-topics/client-id.ts';
export { type Presence, presence } from './mqtt-topics/presence.ts';
export { deriveTopics, type Topics } from './mqtt-topics/topics.ts';
export type { Pattern, Suite } from './noise/patterns.ts';
export {
  ConnectionPolicy,
  type DialOptions,
  type PolicyDecision,
  type PolicyOptions,
} from './policy/connection-policy.ts';
export type { PolicyState } from './policy/tables.ts';
export {
  type ActionRequest,
  buildAction,
  buildCode,
  buildUtterance,
  type CodeRequest,
  type UtteranceRequest,
} from './requests/build-request.ts';
export { type HubEvent, readHubEvent } from './requests/hub-event.ts';
export { type Refusal, readRefusal } from './requests/refusal.ts';
export { type CollectorOptions, type Reply, ReplyCollector } from './requests/reply-collector.ts';
export {
  type FinishDecision,
  type RequestDecision,
  RequestScheduler,
  type SchedulerOptions,
} from './requests/request-scheduler.ts';
export { sessionIdsMatch } from './requests/session-ids.ts';
export { readSpeech, type Speech } from './requests/speakable.ts';
export { type WrapOptions, type WrapperType, wrap } from './requests/wrap.ts';
export type { ClientOptions } from './session/client-options.ts';
export { ClientSession } from './session/client-session.ts';
export type { Closing } from './session/endings.ts';
export type {
  EndedEvent,
  HubSessionEvent,
  PskNeededEvent,
  ReadyEvent,
  SessionEvent,
} from './session/events.ts';
export type { HubOptions } from './session/hub-options.ts';
export { HubSession } from './session/hub-session.ts';
export { fingerprint, type KeyringFields } from './session/keyring-fields.ts';
export { derivePsk, type PskOptions, pskDerivation } from './session/psk.ts';
export type { ClientState, HubState } from './session/transitions.ts';
export type { DeliveredEvent } from './wire/frame-joiner.ts';
export { type Json, JsonNumber, type JsonObject } from './wire/json.ts';
export { parseJson } from './wire/parse-json.ts';
export { canonicalJson } from './wire/write-json.ts';
