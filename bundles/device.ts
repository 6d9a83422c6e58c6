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
export type { Bytes } from '../src/bytes.ts';
export type {
  Argon2idParameters,
  Cipher,
  CipherFactory,
  CryptoProvider,
  KeyPair,
  RandomBytes,
  StaticKey,
} from '../src/crypto/crypto.ts';
export type { Pattern, Suite } from '../src/noise/patterns.ts';
export type { ClientOptions } from '../src/session/client-options.ts';
export type { Closing } from '../src/session/endings.ts';
export type { EndedEvent, PskNeededEvent, ReadyEvent, SessionEvent } from '../src/session/events.ts';
export type { KeyringFields } from '../src/session/keyring-fields.ts';
export type { ClientState } from '../src/session/transitions.ts';
export type { DeliveredEvent } from '../src/wire/frame-joiner.ts';
export { type ErrorCode, LocalError, RemoteError } from '../src/errors.ts';
export { type Json, JsonNumber, type JsonObject } from '../src/wire/json.ts';
export { parseJson } from '../src/wire/parse-json.ts';
export { canonicalJson } from '../src/wire/write-json.ts';
export { nextSlots, readSlots } from '../src/keyring/slots.ts';
export { ClientSession } from '../src/session/client-session.ts';
export {
  ConnectionPolicy,
  type DialOptions,
  type PolicyDecision,
  type PolicyOptions,
} from '../src/policy/connection-policy.ts';
export type { PolicyState } from '../src/policy/tables.ts';
