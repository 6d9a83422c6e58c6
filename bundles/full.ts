/**
 * `dist/hub-protocol.full.js`: the whole library, with noble's cryptography for both suites. The one file that can derive
 * a PSK from a password (`derivePsk`).
 */

export { nobleCryptoWithAesGcm } from '../src/crypto/noble-aesgcm.ts';
export * from '../src/index.ts';
