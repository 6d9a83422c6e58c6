/**
 * `dist/hub-protocol.no-crypto.js`: a client for devices without cryptography, which you bring: sessions, identities,
 * MQTT topics, keyrings, and when to connect.
 */

export { authorizedUrl } from '../src/identity/authorized-url.ts';
export { selectEndpoint } from '../src/identity/endpoint.ts';
export { parseIdentity } from '../src/identity/parse-identity.ts';
export { redactIdentity } from '../src/identity/redact.ts';
export { serializeIdentity } from '../src/identity/serialize.ts';
export { brokerEndpoint } from '../src/mqtt-topics/broker-endpoint.ts';
export { clientId } from '../src/mqtt-topics/client-id.ts';
export { presence } from '../src/mqtt-topics/presence.ts';
export { deriveTopics } from '../src/mqtt-topics/topics.ts';
export { ConnectionPolicy } from '../src/policy/connection-policy.ts';
export {
  createKeyring,
  dropPin,
  forgetPsks,
  storePsk,
  updateKeyring,
} from '../src/keyring/keyring.ts';
export { parseKeyring, serializeKeyring } from '../src/keyring/keyring-text.ts';
export * from './core.ts';
