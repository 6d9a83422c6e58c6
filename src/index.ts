/**
 * hub-protocol implements HiveMind's protocol 3 between a client and a hub. It does no I/O: you pass it the messages that
 * arrive, and carry out what it orders.
 *
 * For a client, read the issued identity with `parseIdentity`, choose an address with `selectEndpoint`, add the credentials to
 * it with `authorizedUrl`, and use a `ClientLink` with a keyring from `createKeyring`. It orders what to open, write, store and
 * derive, and a program only carries that out. Store the keyring with `serializeKeyring`; `parseKeyring` reads it again. When
 * the link asks for the pre-shared key, compute it with `pskDerivation`. `buildUtterance` and its neighbours make what to ask,
 * and `readHubEvent` reads what a hub says.
 *
 * Over MQTT, use `brokerEndpoint`, `deriveTopics`, `clientId` and `presence`. For the other side of a connection, use
 * `HubSession`.
 *
 * The core has no dependencies. Cryptography is passed in: use `hub-protocol/node`, `hub-protocol/noble` or
 * `hub-protocol/noble-aesgcm`, or implement `CryptoProvider`.
 *
 * If you port the protocol to another language, or write a loop of your own in place of the link, see `hub-protocol/parts`; no name
 * is in both. To find out why a handshake fails, record the session with `hub-protocol/recording`.
 */

export type { Bytes } from './bytes.ts';
export type { CipherFactory, CryptoProvider, RandomBytes, StaticKey } from './crypto/crypto.ts';
export { type ErrorCode, LocalError, RemoteError } from './errors.ts';
export { authorizedUrl, readAuthorization } from './identity/authorized-url.ts';
export { disclosureDue } from './identity/disclosure.ts';
export { type EndpointOptions, type SelectedEndpoint, selectEndpoint } from './identity/endpoint.ts';
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
export { parseKeyring, serializeChanges, serializeKeyring } from './keyring/keyring-text.ts';
export { nextSlots, readSlots } from './keyring/slots.ts';
export { ClientLink } from './link/client-link.ts';
export type { LinkClosing, LinkOptions } from './link/options.ts';
export type { LinkEvent, Order } from './link/orders.ts';
export { type BrokerEndpoint, brokerEndpoint } from './mqtt-topics/broker-endpoint.ts';
export { clientId } from './mqtt-topics/client-id.ts';
export { type Presence, presence } from './mqtt-topics/presence.ts';
export { deriveTopics, type Topics } from './mqtt-topics/topics.ts';
export type { Pattern, Suite } from './noise/patterns.ts';
export {
  type ActionRequest,
  buildAction,
  buildCode,
  buildUtterance,
  type CodeRequest,
  type UtteranceRequest,
} from './requests/build-request.ts';
export type { HubEvent } from './requests/hub-event.ts';
export { readHubEvent } from './requests/plain-event.ts';
export { readRefusal } from './requests/refusal.ts';
export type { Reply } from './requests/reply-collector.ts';
export { RequestScheduler, type SchedulerOptions } from './requests/request-scheduler.ts';
export { readSpeech } from './requests/speakable.ts';
export { wrap } from './requests/wrap.ts';
export type { Closing } from './session/endings.ts';
export type { HubSessionEvent } from './session/events.ts';
export type { HubOptions } from './session/hub-options.ts';
export { HubSession } from './session/hub-session.ts';
export { fingerprint } from './session/keyring-fields.ts';
export { derivePsk, type PskOptions, pskDerivation } from './session/psk.ts';
export { type Json, JsonNumber, type JsonObject } from './wire/json.ts';
export { parseJson } from './wire/parse-json.ts';
export { canonicalJson } from './wire/write-json.ts';
