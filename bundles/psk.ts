/**
 * `dist/hub-protocol.psk.js`: the derivation of a PSK from a password, with the two hash functions that it needs. In a
 * browser, load it in a worker, and `hub-protocol.js` in the page. It shares no classes with the other files.
 */
import { concatBytes } from '../src/bytes.ts';
import { blake2b } from '../src/crypto/blake2b.ts';
import type { CryptoProvider } from '../src/crypto/crypto.ts';
import { sha256 } from '../src/crypto/sha256.ts';

/** The crypto for `derivePsk` and `pskDerivation`. */
export const pskCrypto: Required<Pick<CryptoProvider, 'sha256' | 'blake2b'>> = {
  sha256: (...parts) => sha256(concatBytes(parts)),
  blake2b,
};
export type { Bytes } from '../src/bytes.ts';
export type {
  Argon2idParameters,
  Cipher,
  CipherFactory,
  CryptoProvider,
  KeyPair,
} from '../src/crypto/crypto.ts';
export { type ErrorCode, LocalError } from '../src/errors.ts';
export { derivePsk, type PskOptions, pskDerivation } from '../src/session/psk.ts';
