/**
 * `dist/hub-protocol.core.js`: a client's session and what it is made of, for an integrator who brings the cryptography
 * and keeps the keys.
 */
export { ClientSession } from '../client-session.ts';
export { LocalError, RemoteError } from '../errors.ts';
export { HandshakeState } from '../noise/handshake-state.ts';
export { selectNoise } from '../noise/negotiation.ts';
export { protocolName } from '../noise/patterns.ts';
export { JsonNumber } from '../wire/json.ts';
export { splitMessage } from '../wire/markers.ts';
export { parseJson } from '../wire/parse-json.ts';
export { buildPrologue } from '../wire/prologue.ts';
export { Reassembler } from '../wire/reassembler.ts';
export { canonicalJson } from '../wire/write-json.ts';
