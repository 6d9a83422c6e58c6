/** `dist/hub-protocol.js`: all that a device runs, with cryptography. */
export { deviceCrypto } from '../src/crypto/device.ts';
export * from './no-crypto.ts';
