/** SHA-256 of parts, and HMAC-SHA-256 (RFC 2104), for the providers of our own. */
import { concatBytes, wipe } from '../bytes.ts';
import { sha256 } from './sha256.ts';

const BLOCK = 64;

/** HMAC-SHA-256. */
export function hmacSha256(key: Uint8Array, parts: Uint8Array[]): Uint8Array {
  const shortKey = key.length > BLOCK ? sha256(key) : key;
  const inner = new Uint8Array(BLOCK);
  const outer = new Uint8Array(BLOCK);
  for (let i = 0; i < BLOCK; i++) {
    const byte = i < shortKey.length ? shortKey[i]! : 0;
    inner[i] = byte ^ 0x36; // ipad
    outer[i] = byte ^ 0x5c; // opad
  }
  const hashed = hash([inner as Uint8Array].concat(parts));
  const tag = hash([outer, hashed]);
  wipe(inner);
  wipe(outer);
  wipe(hashed);
  return tag;
}

/** SHA-256 of the concatenated parts. The concatenation is wiped. */
export function hash(parts: Uint8Array[]): Uint8Array {
  const message = concatBytes(parts);
  const digest = sha256(message);
  wipe(message);
  return digest;
}
