/** `hub-protocol.js` and the parts of a session, which no device needs, but which have vectors of their own. */
export * from '../../bundles/device.ts';
export { HandshakeState } from '../../src/noise/handshake-state.ts';
export { protocolName } from '../../src/noise/patterns.ts';
export { selectNoise } from '../../src/session/negotiation.ts';
export { splitMessage } from '../../src/wire/markers.ts';
export { buildPrologue } from '../../src/wire/prologue.ts';
export { Reassembler } from '../../src/wire/reassembler.ts';
