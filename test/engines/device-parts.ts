/** The parts of a session with the cryptography of `hub-protocol.js`. */
export { deviceCrypto } from '../../src/crypto/device.ts';
export * from './core-parts.ts';
