/** `dist/hub-protocol.no-crypto.js`: all that a device runs, for an integrator who brings the cryptography. */

export { authorizedUrl, selectEndpoint } from '../src/identity/endpoint.ts';
export { parseIdentity } from '../src/identity/identity.ts';
export { redactIdentity } from '../src/identity/redact.ts';
export { serializeIdentity } from '../src/identity/serialize.ts';
export { brokerEndpoint } from '../src/mqtt-topics/broker-endpoint.ts';
export { clientId } from '../src/mqtt-topics/client-id.ts';
export { presence } from '../src/mqtt-topics/presence.ts';
export { deriveTopics } from '../src/mqtt-topics/topics.ts';
export {
  createKeyring,
  dropPin,
  forgetPsks,
  keyringOptions,
  parseKeyring,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../src/session/keyring.ts';
export * from './core.ts';
