/**
 * `dist/hub-protocol.js`: a client for devices, with ChaChaPoly and X25519. Despite its name it is not the whole library,
 * which is `hub-protocol.full.js`: there are no hub sessions, no AESGCM, and no `derivePsk`. A browser that has only the
 * password loads `hub-protocol.psk.js` in a worker; a device is usually given its PSK.
 */
export { deviceCrypto } from '../src/crypto/device.ts';
export * from './no-crypto.ts';
