/**
 * `dist/hub-protocol.core.js`: a client's session. You bring the cryptography, the keys and the identity's fields.
 */

export { LocalError, RemoteError } from '../src/errors.ts';
export { ClientSession } from '../src/session/client-session.ts';
export { JsonNumber } from '../src/wire/json.ts';
export { parseJson } from '../src/wire/parse-json.ts';
export { canonicalJson } from '../src/wire/write-json.ts';
