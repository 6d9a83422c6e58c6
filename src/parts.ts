/**
 * `hub-protocol/parts`: what a port of the protocol needs, or a program with a loop of its own in place of `ClientLink`: the session of a
 * client, the policy, replies, frames, the prologue, the Noise handshake and Argon2id. `hub-protocol` exports the rest; no name is in both.
 */

export { type OptionNames, readOptions } from './arguments.ts';
export type { KeyPair } from './crypto/crypto.ts';
export { Argon2id, argon2id } from './noise/argon2id.ts';
export type { Argon2idOptions } from './noise/argon2id-options.ts';
export type { HandshakeOptions } from './noise/handshake-options.ts';
export { HandshakeState } from './noise/handshake-state.ts';
export { protocolName } from './noise/patterns.ts';
export type { Transport } from './noise/transport.ts';
export { ConnectionPolicy, type PolicyDecision, type PolicyOptions } from './policy/connection-policy.ts';
export type { DisplayItem } from './requests/display-items.ts';
export { type CollectorOptions, ReplyCollector } from './requests/reply-collector.ts';
export type { RequestDecision } from './requests/request-scheduler.ts';
export { sessionIdsMatch } from './requests/session-ids.ts';
export type { ClientOptions } from './session/client-options.ts';
export { ClientSession } from './session/client-session.ts';
export type { SessionEvent } from './session/events.ts';
export type { KeyringFields } from './session/keyring-fields.ts';
export { selectNoise } from './session/negotiation.ts';
export { splitMessage } from './wire/markers.ts';
export { buildPrologue } from './wire/prologue.ts';
export { Reassembler, type ReassemblerOptions } from './wire/reassembler.ts';
