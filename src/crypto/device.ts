/**
 * The Crypto interface for `dist/hub-protocol.js`: all of our own, since noble's would take 40 KB more of a device's heap. There
 * is no BLAKE2b, which only argon2id needs: no such device runs it.
 */
import { concatBytes, wipe } from '../bytes.ts';
import type { Crypto } from './crypto.ts';
import { deviceChaChaPoly } from './device-chachapoly.ts';
import { deviceX25519 } from './device-x25519.ts';
import { sha256 } from './sha256.ts';

const BLOCK = 64;

/** HMAC-SHA-256 (RFC 2104). */
function hmacSha256(key: Uint8Array, parts: Uint8Array[]): Uint8Array {
  const shortKey = key.length > BLOCK ? sha256(key) : key;
  const inner = new Uint8Array(BLOCK).fill(0x36);
  const outer = new Uint8Array(BLOCK).fill(0x5c);
  for (let i = 0; i < shortKey.length; i++) {
    inner[i]! ^= shortKey[i]!;
    outer[i]! ^= shortKey[i]!;
  }
  const hashed = hash([inner as Uint8Array].concat(parts));
  const tag = hash([outer, hashed]);
  wipe(inner);
  wipe(outer);
  wipe(hashed);
  return tag;
}

/** SHA-256 of the concatenated parts. The concatenation is wiped. */
function hash(parts: Uint8Array[]): Uint8Array {
  const message = concatBytes(parts);
  const digest = sha256(message);
  wipe(message);
  return digest;
}

export const deviceCrypto: Crypto = {
  sha256: (...parts) => hash(parts),
  hmacSha256: (key, ...parts) => hmacSha256(key, parts),
  x25519: deviceX25519,
  ciphers: { ChaChaPoly: deviceChaChaPoly },
};
