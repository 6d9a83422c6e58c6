/** `dist/hub-protocol.full.js`: the whole library, with noble's cryptography for both suites and for argon2id. */
export * from '../index.ts';
export { nobleCryptoWithAesGcm as nobleCrypto } from '../noise/noble-aesgcm.ts';
