/** Every provider against the known answers of RFC 7748, 8439, 4231, 7693, FIPS 180-4 and the paper on GCM. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { compactAesGcm } from '../../examples/aes-gcm.ts';
import { readVectorFile } from '../../judge/src/vectors.ts';
import { concatBytes } from '../../src/bytes.ts';
import type { CipherFactory, CryptoProvider } from '../../src/crypto/crypto.ts';
import { deviceCrypto } from '../../src/crypto/device.ts';
import { chacha20InRows } from '../../src/crypto/device-chacha20.ts';
import { chaChaPolyOf } from '../../src/crypto/device-chachapoly.ts';
import { jsCrypto } from '../../src/crypto/js.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { hex, readVectors, toHex } from '../world/vectors.ts';

const PROVIDERS: [string, CryptoProvider][] = [
  ['noble', nobleCrypto],
  ['noble with AESGCM', nobleCryptoWithAesGcm],
  ['node', nodeCrypto],
  ['js', jsCrypto],
  ['the device file', deviceCrypto],
  ['the example of a compact AESGCM', { ...deviceCrypto, ciphers: { AESGCM: compactAesGcm } }],
];

/** Bytes in three pieces, the middle one empty. */
function inPieces(bytes: Uint8Array): Uint8Array[] {
  const at = bytes.length >> 1;
  return [bytes.subarray(0, at), new Uint8Array(0), bytes.subarray(at)];
}

test('each provider has the ciphers that it documents, ChaChaPoly first', () => {
  const names = PROVIDERS.map(([, crypto]) => Object.keys(crypto.ciphers));
  assert.equal(names, [
    ['ChaChaPoly'],
    ['ChaChaPoly', 'AESGCM'],
    ['ChaChaPoly', 'AESGCM'],
    ['ChaChaPoly'],
    ['ChaChaPoly'],
    ['AESGCM'],
  ]);
});

for (const [name, crypto] of PROVIDERS) {
  for (const { tcId, comment, message, digest } of readVectors('rfc', 'Sha256')) {
    test(`${name} computes SHA-256 (${tcId}, ${comment}), also in pieces`, () => {
      assert.is(toHex(crypto.sha256(hex(message))), digest);
      assert.is(toHex(crypto.sha256(...inPieces(hex(message)))), digest);
    });
  }

  test(`${name} computes SHA-256 of no parts as of no bytes`, () => {
    const { digest } = readVectors('rfc', 'Sha256').find(({ message }) => message === '')!;
    assert.is(toHex(crypto.sha256()), digest);
  });

  for (const { tcId, comment, key, message, mac } of readVectors('rfc', 'HmacSha256')) {
    test(`${name} computes HMAC-SHA-256 (${tcId}, ${comment}), also in pieces`, () => {
      assert.is(toHex(crypto.hmacSha256(hex(key), hex(message))), mac);
      assert.is(toHex(crypto.hmacSha256(hex(key), ...inPieces(hex(message)))), mac);
    });
  }

  for (const { tcId, comment, length, message, digest } of readVectors('rfc', 'Blake2b')) {
    if (crypto.blake2b === undefined) continue;
    test(`${name} computes BLAKE2b (${tcId}, ${comment}), also in pieces`, () => {
      assert.is(toHex(crypto.blake2b!(length, hex(message))), digest);
      assert.is(toHex(crypto.blake2b!(length, ...inPieces(hex(message)))), digest);
    });
  }

  for (const { tcId, comment, privateKey, publicKey, sharedSecret } of readVectors('rfc', 'X25519')) {
    test(`${name} computes X25519 (${tcId}, ${comment})`, () => {
      assert.is(toHex(crypto.x25519.sharedSecret(hex(privateKey), hex(publicKey))), sharedSecret);
    });
  }

  for (const { tcId, comment, iterations, output } of readVectors('rfc', 'X25519Iterated')) {
    const [first] = PROVIDERS.find(([, other]) => other.x25519 === crypto.x25519)!;
    if (first !== name) continue; // the same functions, which take a second
    test(`${name} computes X25519 iterated ${iterations} times (${tcId}, ${comment})`, () => {
      let scalar = hex('09'.padEnd(64, '0'));
      let u = scalar;
      for (let i = 0; i < iterations; i++) {
        [scalar, u] = [crypto.x25519.sharedSecret(scalar, u), scalar];
      }
      assert.is(toHex(scalar), output);
    });
  }

  for (const { tcId, comment, privateKey, publicKey } of readVectors('rfc', 'X25519PublicKey')) {
    test(`${name} computes X25519 public key (${tcId}, ${comment})`, () => {
      assert.is(toHex(crypto.x25519.publicKey(hex(privateKey))), publicKey);
    });
  }

  for (const [cipherName, createCipher] of Object.entries(crypto.ciphers) as [string, CipherFactory][]) {
    testCipher(name, cipherName, createCipher);
  }
}

testCipher('the device file, interpreted,', 'ChaChaPoly', chaChaPolyOf(chacha20InRows));

function testCipher(name: string, cipherName: string, createCipher: CipherFactory): void {
  for (const vector of readVectors('rfc', cipherName)) {
    const [key, nonce, associatedData, plaintext] = [
      hex(vector.key),
      hex(vector.nonce),
      hex(vector.associatedData),
      hex(vector.plaintext),
    ];
    const sealed = concatBytes([hex(vector.ciphertext), hex(vector.tag)]);

    test(`${name} seals with ${cipherName} (${vector.tcId}, ${vector.comment})`, () => {
      assert.is(toHex(createCipher(key).seal(nonce, associatedData, plaintext)), toHex(sealed));
    });

    test(`${name} opens with ${cipherName} (${vector.tcId}, ${vector.comment})`, () => {
      assert.is(toHex(createCipher(key).open(nonce, associatedData, sealed)!), toHex(plaintext));
    });
  }
}

test('every group of rfc.json is read by a test', () => {
  const here = [
    'X25519',
    'X25519PublicKey',
    'X25519Iterated',
    'ChaChaPoly',
    'AESGCM',
    'HmacSha256',
    'Sha256',
    'Blake2b',
  ];
  const types = readVectorFile('rfc').testGroups.map(({ type }) => type);
  assert.equal(types, [...here, 'Argon2id']); // Argon2id has its own tests
});

test.run();
