/**
 * `hub-protocol/node`: the Crypto interface over Node's own OpenSSL, with both ciphers, ChaChaPoly preferred, and
 * Node's randomness. BLAKE2b is noble's: OpenSSL's has one output length only.
 */
import {
  type CipherChaCha20Poly1305Types,
  type CipherGCMTypes,
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type Hash,
  type Hmac,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import { assertBytes, copyBytes, wipe } from '../bytes.ts';
import { KEY_LENGTH, TAG_LENGTH } from '../limits.ts';
import type { CipherFactory, Crypto, RandomBytes } from './crypto.ts';
import { isLowOrder } from './low-order.ts';
import { nobleCrypto } from './noble.ts';

/** What precedes the 32 bytes of an X25519 key in DER (RFC 8410, section 7 and 4). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex');
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

function privateKeyObject(privateKey: Uint8Array): KeyObject {
  assertBytes(privateKey, 'privateKey', KEY_LENGTH);
  const der = Buffer.concat([PKCS8_PREFIX, privateKey]);
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } finally {
    wipe(der);
  }
}

/** Node answers a Buffer, often a slice of memory it shares; a plain copy is the caller's alone. */
function plain(buffer: Buffer): Uint8Array {
  const bytes = copyBytes(buffer);
  wipe(buffer);
  return bytes;
}

function digest(hash: Hash | Hmac, parts: Uint8Array[]): Uint8Array {
  for (const part of parts) hash.update(part);
  return plain(hash.digest());
}

function aead(name: CipherGCMTypes | CipherChaCha20Poly1305Types): CipherFactory {
  const options = { authTagLength: TAG_LENGTH };
  return (key) => ({
    seal(nonce, associatedData, plaintext) {
      const cipher = createCipheriv(name as CipherGCMTypes, key, nonce, options);
      cipher.setAAD(associatedData);
      const sealed = new Uint8Array(plaintext.length + TAG_LENGTH);
      sealed.set(cipher.update(plaintext));
      cipher.final();
      sealed.set(cipher.getAuthTag(), plaintext.length);
      return sealed;
    },
    open(nonce, associatedData, sealed) {
      const end = sealed.length - TAG_LENGTH;
      if (end < 0) return undefined;
      const decipher = createDecipheriv(name as CipherGCMTypes, key, nonce, options);
      decipher.setAAD(associatedData);
      decipher.setAuthTag(sealed.subarray(end));
      const plaintext = decipher.update(sealed.subarray(0, end));
      try {
        decipher.final(); // which throws where the tag does not verify, and for nothing else
      } catch {
        wipe(plaintext);
        return undefined;
      }
      return plain(plaintext);
    },
  });
}

export const nodeCrypto: Crypto = {
  sha256: (...parts) => digest(createHash('sha256'), parts),
  hmacSha256: (key, ...parts) => digest(createHmac('sha256', key), parts),
  x25519: {
    publicKey(privateKey) {
      const spki = createPublicKey(privateKeyObject(privateKey)).export({ format: 'der', type: 'spki' });
      return plain(spki.subarray(SPKI_PREFIX.length));
    },
    sharedSecret(privateKey, publicKey) {
      assertBytes(publicKey, 'publicKey', KEY_LENGTH);
      const own = privateKeyObject(privateKey);
      const spki = Buffer.concat([SPKI_PREFIX, publicKey]);
      try {
        const remote = createPublicKey({ key: spki, format: 'der', type: 'spki' });
        return plain(diffieHellman({ privateKey: own, publicKey: remote }));
      } catch (error) {
        if (isLowOrder(publicKey)) return new Uint8Array(KEY_LENGTH);
        throw error;
      }
    },
  },
  ciphers: { ChaChaPoly: aead('chacha20-poly1305'), AESGCM: aead('aes-256-gcm') },
  blake2b: nobleCrypto.blake2b!,
};

/** Bytes from the operating system's generator. */
export const randomBytes: RandomBytes = (length) => randomFillSync(new Uint8Array(length));
