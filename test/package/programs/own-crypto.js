// The least cryptography that a session needs, as somebody writes it who has OpenSSL and no package.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  randomBytes as random,
} from 'node:crypto';

const base64 = (bytes) => Buffer.from(bytes).toString('base64url');
const publicKeyOf = (bytes) =>
  createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: base64(bytes) }, format: 'jwk' });
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
const privateKeyOf = (bytes) =>
  createPrivateKey({ key: Buffer.concat([pkcs8, bytes]), format: 'der', type: 'pkcs8' });
const finish = (hash, parts) => new Uint8Array(parts.reduce((all, part) => all.update(part), hash).digest());
const cipherOptions = { authTagLength: 16 };

export const randomBytes = (length) => new Uint8Array(random(length));
export const crypto = {
  sha256: (...parts) => finish(createHash('sha256'), parts),
  hmacSha256: (secret, ...parts) => finish(createHmac('sha256', secret), parts),
  x25519: {
    publicKey: (own) =>
      new Uint8Array(
        Buffer.from(createPublicKey(privateKeyOf(own)).export({ format: 'jwk' }).x, 'base64url'),
      ),
    sharedSecret: (own, peer) =>
      new Uint8Array(
        diffieHellman({
          privateKey: privateKeyOf(own),
          publicKey: publicKeyOf(peer),
        }),
      ),
  },
  ciphers: {
    ChaChaPoly: (secret) => ({
      seal(nonce, associatedData, plaintext) {
        const cipher = createCipheriv('chacha20-poly1305', secret, nonce, cipherOptions);
        cipher.setAAD(associatedData);
        return new Uint8Array([...cipher.update(plaintext), ...cipher.final(), ...cipher.getAuthTag()]);
      },
      open(nonce, associatedData, sealed) {
        const decipher = createDecipheriv('chacha20-poly1305', secret, nonce, cipherOptions);
        decipher.setAAD(associatedData);
        decipher.setAuthTag(sealed.subarray(-16));
        const plaintext = decipher.update(sealed.subarray(0, -16));
        try {
          return new Uint8Array([...plaintext, ...decipher.final()]);
        } catch {
          return undefined;
        }
      },
    }),
  },
};
