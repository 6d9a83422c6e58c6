// biome-ignore-all assist/source/organizeImports: in this order code that is alike is closer together, and compresses better
/**
 * `dist/hub-protocol.core.js`: a client's session. You bring the cryptography, the keys and the identity's fields.
 */

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
