/**
 * Cryptography with Moddable's module `crypt`, which has SHA-256 and ChaCha20 in C. Poly1305 (RFC 8439, section 2.5) uses BigInt,
 * and X25519 is the library's, since Moddable has neither.
 */
import { Digest, StreamCipher } from 'crypt';
import { deviceCrypto } from 'hub-protocol';

const CLAMP = 0x0ffffffc0ffffffc0ffffffc0fffffffn;
const LOW_130 = (1n << 130n) - 1n;
const P = LOW_130 - 4n;
const TAG = 16; // bytes, as a piece of Poly1305
const BLOCK = 64; // bytes, of SHA-256 and of ChaCha20

function sha256(...parts) {
  const digest = new Digest('SHA256');
  for (const part of parts) digest.write(part);
  return new Uint8Array(digest.close());
}

function hmacSha256(key, ...parts) {
  const inner = new Uint8Array(BLOCK);
  inner.set(key.length > BLOCK ? sha256(key) : key);
  const outer = inner.map((byte) => byte ^ 0x5c);
  const tag = sha256(
    outer,
    sha256(
      inner.map((byte) => byte ^ 0x36),
      ...parts,
    ),
  );
  inner.fill(0);
  outer.fill(0);
  return tag;
}

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
/** `crypt` takes keys and nonces as whole buffers. */
const bufferOf = (bytes) => (bytes.length === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer);

function pieceAt(view, at) {
  let piece = 0n;
  for (let i = 12; i >= 0; i -= 4) piece = (piece << 32n) | BigInt(view.getUint32(at + i, true));
  return piece;
}

/**
 * Absorbs bytes, padded with zeros to whole pieces.
 * @param {bigint} sum
 * @param {bigint} r
 */
function absorb(sum, r, bytes) {
  const whole = bytes.length - (bytes.length % TAG);
  const view = viewOf(bytes);
  for (let at = 0; at < whole; at += TAG) {
    const product = (sum + pieceAt(view, at) + (1n << 128n)) * r;
    sum = (product & LOW_130) + 5n * (product >> 130n);
  }
  if (whole === bytes.length) return sum;
  const last = new Uint8Array(TAG);
  last.set(bytes.subarray(whole));
  return absorb(sum, r, last);
}

/** The first block of a keystream, which starts with the key of Poly1305. The text is encrypted with those after it. */
function firstBlock(stream) {
  const block = new Uint8Array(BLOCK);
  stream.encrypt(block, block);
  return block;
}

function tagOf(key, associatedData, ciphertext) {
  const r = pieceAt(viewOf(key), 0) & CLAMP;
  const s = pieceAt(viewOf(key), TAG);
  key.fill(0);
  const tag = new Uint8Array(TAG);
  const view = viewOf(tag);
  view.setUint32(0, associatedData.length, true);
  view.setUint32(8, ciphertext.length, true);
  let sum = (absorb(absorb(absorb(0n, r, associatedData), r, ciphertext), r, tag) % P) + s;
  for (let i = 0; i < TAG; i += 4, sum >>= 32n) view.setUint32(i, Number(sum & 0xffffffffn), true);
  return tag;
}

function isEqual(a, b) {
  let difference = 0;
  for (let i = 0; i < TAG; i++) difference |= a[i] ^ b[i];
  return difference === 0;
}

function chaChaPoly(key) {
  const streamOf = (nonce) => new StreamCipher('ChaCha', bufferOf(key), bufferOf(nonce), 0);

  function sealInPlace(nonce, associatedData, buffer) {
    const text = buffer.subarray(0, -TAG);
    const stream = streamOf(nonce);
    const key = firstBlock(stream);
    stream.encrypt(text, text);
    buffer.set(tagOf(key, associatedData, text), text.length);
  }

  function openInPlace(nonce, associatedData, sealed) {
    const text = sealed.subarray(0, -TAG);
    const stream = streamOf(nonce);
    if (!isEqual(tagOf(firstBlock(stream), associatedData, text), sealed.subarray(-TAG))) return undefined;
    stream.decrypt(text, text);
    return text;
  }

  return {
    seal(nonce, associatedData, plaintext) {
      const sealed = new Uint8Array(plaintext.length + TAG);
      sealed.set(plaintext);
      sealInPlace(nonce, associatedData, sealed);
      return sealed;
    },
    sealInPlace,
    open: (nonce, associatedData, sealed) => openInPlace(nonce, associatedData, sealed.slice()),
    openInPlace,
  };
}

export default {
  sha256,
  hmacSha256,
  x25519: deviceCrypto.x25519,
  ciphers: { ChaChaPoly: chaChaPoly },
};
