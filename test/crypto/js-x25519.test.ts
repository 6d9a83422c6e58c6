/** The X25519 in doubles beside OpenSSL's. js-x25519-proof.test.ts proves its arithmetic, noise/known-answers.test.ts has the RFC's values. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';
import { jsX25519 } from '../../src/crypto/js-x25519.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { Random } from '../world/random.ts';
import { hex, toHex } from '../world/vectors.ts';
import { wipedIn } from '../world/wiped.ts';

const random = new Random(25519);

const P = 2n ** 255n - 19n;

/** A number as 32 bytes, little-endian. */
const encoded = (value: bigint): Uint8Array => hex(value.toString(16).padStart(64, '0')).reverse();

function compare(privateKey: Uint8Array, publicKey: Uint8Array): void {
  const expected = toHex(nodeCrypto.x25519.sharedSecret(privateKey, publicKey));
  const shown = `${toHex(privateKey)} and ${toHex(publicKey)}`;
  assert.is(toHex(jsX25519.sharedSecret(privateKey, publicKey)), expected, shown);
}

test('computes the shared secrets of random keys as OpenSSL does', () => {
  for (let i = 0; i < 1000; i++) compare(random.bytes(32), random.bytes(32));
});

test('computes the public keys of random keys as OpenSSL does', () => {
  for (let i = 0; i < 200; i++) {
    const privateKey = random.bytes(32);
    assert.equal(jsX25519.publicKey(privateKey), nodeCrypto.x25519.publicKey(privateKey));
  }
});

test('computes the shared secrets of public keys near 0, p and 2^255 as OpenSSL does', () => {
  for (const middle of [0n, P, 2n ** 255n]) {
    for (let offset = -20n; offset <= 20n; offset++) {
      const value = middle + offset;
      if (value >= 0n) compare(random.bytes(32), encoded(value));
    }
  }
});

test('computes the shared secrets of keys with one bit, and with all but one, as OpenSSL does', () => {
  const key = random.bytes(32);
  for (let bit = 0n; bit < 256n; bit++) {
    for (const value of [1n << bit, (2n ** 256n - 1n) ^ (1n << bit)]) {
      compare(key, encoded(value));
      compare(encoded(value), key);
    }
  }
});

test('wipes the scalar derived from a private key', () => {
  const privateKey = random.bytes(32);
  const clamped = copyBytes(privateKey);
  clamped[0]! &= 248;
  clamped[31] = (clamped[31]! & 127) | 64;
  const wiped = wipedIn(() => jsX25519.sharedSecret(privateKey, encoded(9n)));
  assert.ok(wiped.includes(toHex(clamped)));
});

// Three minutes. noise/known-answers.test.ts has a thousand.
if (process.env.MILLION !== undefined) {
  test('computes a million iterations of RFC 7748, section 5.2', () => {
    let u: Uint8Array = encoded(9n);
    let k = copyBytes(u);
    for (let i = 0; i < 1_000_000; i++) [k, u] = [copyBytes(jsX25519.sharedSecret(k, u)), k];
    assert.is(toHex(k), '7c3911e0ab2586fd864497297e575e6f3bc601c0883c30df5f4dd2d24f665424');
  });
}

test.run();
