// biome-ignore-all assist/source/organizeImports: in this order code that is alike is closer together, and compresses better
/**
 * `dist/hub-protocol.js`: a client for devices: session, keyring, when to connect, and cryptography (ChaChaPoly only). Despite
 * its name it is not the whole library, which is `hub-protocol.full.js`. `hub-protocol-cli provision` gives a device its
 * address and its PSK. Without provisioning, `hub-protocol.identity.js` reads the identity, and `hub-protocol.psk.js` derives
 * the PSK.
 */

export { deviceCrypto } from '../src/crypto/device.ts';
export {
  createKeyring,
  dropPin,
  forgetPsks,
  type Keyring,
  pinHub,
  storePsk,
  updateKeyring,
} from '../src/keyring/keyring.ts';
export { parseKeyring, serializeChanges, serializeKeyring } from '../src/keyring/keyring-text.ts';
export * from './core.ts';
export {
  ConnectionPolicy,
  type DialOptions,
  type PolicyDecision,
  type PolicyOptions,
} from '../src/policy/connection-policy.ts';
export type { PolicyState } from '../src/policy/tables.ts';
