/** `dist/hub-protocol.js`: all that a device runs, with cryptography. */
export { deviceCrypto as nobleCrypto } from './device-crypto.ts';
export * from './no-crypto.ts';
