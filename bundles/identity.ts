/**
 * `dist/hub-protocol.identity.js`: identities and MQTT topics, for a client that receives its identity as issued. Load
 * it together with any of the other files. It shares no classes with the other files.
 */

export { type ErrorCode, LocalError } from '../src/errors.ts';
export { authorizedUrl } from '../src/identity/authorized-url.ts';
export { type EndpointOptions, type SelectedEndpoint, selectEndpoint } from '../src/identity/endpoint.ts';
export type { Identity } from '../src/identity/identity.ts';
export { parseIdentity } from '../src/identity/parse-identity.ts';
export { type RedactedIdentity, redactIdentity } from '../src/identity/redact.ts';
export { serializeIdentity } from '../src/identity/serialize.ts';
export { type BrokerEndpoint, brokerEndpoint } from '../src/mqtt-topics/broker-endpoint.ts';
export { clientId } from '../src/mqtt-topics/client-id.ts';
export { type Presence, presence } from '../src/mqtt-topics/presence.ts';
export { deriveTopics, type Topics } from '../src/mqtt-topics/topics.ts';
