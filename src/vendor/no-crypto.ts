/** `dist/hub-protocol.no-crypto.js`: all that a device runs, for an integrator who brings the cryptography. */
export {
  createDevice,
  deviceOptions,
  dropPin,
  forgetPsks,
  parseDevice,
  serializeDevice,
  storePsk,
  updateDevice,
} from '../identity/device.ts';
export { authorizedUrl, selectEndpoint } from '../identity/endpoint.ts';
export { parseIdentity } from '../identity/identity.ts';
export { redactIdentity } from '../identity/redact.ts';
export { serializeIdentity } from '../identity/serialize.ts';
export { brokerEndpoint } from '../mqtt-topics/broker-endpoint.ts';
export { clientId } from '../mqtt-topics/client-id.ts';
export { presence } from '../mqtt-topics/presence.ts';
export { deriveTopics } from '../mqtt-topics/topics.ts';
export * from './core.ts';
