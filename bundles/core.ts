// biome-ignore-all assist/source/organizeImports: in this order code that is alike is closer together, and compresses better
/**
 * `dist/hub-protocol.core.js`: the smallest client, for a provisioned device. You bring the cryptography, the keys and the fields of
 * the identity. Its ClientSession has fewer options than that of the other files.
 */

export type { Bytes } from '../src/bytes.ts';
export type {
  Cipher,
  CipherFactory,
  CryptoProvider,
  KeyPair,
  RandomBytes,
  StaticKey,
} from '../src/crypto/crypto.ts';
export type { Pattern, Suite } from '../src/noise/patterns.ts';
export type { Closing } from '../src/session/endings.ts';
export type { EndedEvent, PskNeededEvent, ReadyEvent } from '../src/session/events.ts';
export type { ClientState } from '../src/session/transitions.ts';
export type { ClientOptions, KeyringFields, SessionEvent } from '../src/small/client-session.ts';
export type { DeliveredEvent } from '../src/wire/frame-joiner.ts';
export { type ErrorCode, LocalError, RemoteError } from '../src/errors.ts';
export { type Json, JsonNumber, type JsonObject } from '../src/wire/json.ts';
export { nextSlots, readSlots } from '../src/keyring/slots.ts';
export { ClientSession } from '../src/small/client-session.ts';
