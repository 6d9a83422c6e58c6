/**
 * `dist/hub-protocol.core.js`: a client's session and its parts. You bring the cryptography, the keys and the identity's
 * fields.
 */

export { LocalError, RemoteError } from '../src/errors.ts';
export { HandshakeState } from '../src/noise/handshake-state.ts';
export { protocolName } from '../src/noise/patterns.ts';
export { ClientSession } from '../src/session/client-session.ts';
export { selectNoise } from '../src/session/negotiation.ts';
export { JsonNumber } from '../src/wire/json.ts';
export { splitMessage } from '../src/wire/markers.ts';
export { parseJson } from '../src/wire/parse-json.ts';
export { buildPrologue } from '../src/wire/prologue.ts';
export { Reassembler } from '../src/wire/reassembler.ts';
export { canonicalJson } from '../src/wire/write-json.ts';
