/** `dist/hub-protocol.full.js`: the whole library, with noble's cryptography for both suites. */

export { nobleCryptoWithAesGcm } from '../src/crypto/noble-aesgcm.ts';
export * from '../src/index.ts';
export * from '../src/parts.ts';
