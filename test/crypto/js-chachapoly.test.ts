/** The ChaCha20-Poly1305 in JavaScript, and that of node, which has it for short messages, beside OpenSSL's. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';
import { jsCrypto } from '../../src/crypto/js.ts';
import * as bytes from '../../src/crypto/keystream-bytes.ts';
import * as words from '../../src/crypto/keystream-words.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { raisesAbout } from '../world/raises.ts';
import { Random } from '../world/random.ts';
import { openSslSeal } from './series.ts';

for (const [name, crypto] of [
  ['js', jsCrypto],
  ['node', nodeCrypto],
] as const) {
  test(`${name} seals and opens messages of every length up to 4 KiB as OpenSSL does, and nothing damaged`, () => {
    const random = new Random(8439);
    for (let length = 0; length <= 4096; length++) {
      const [key, nonce, plaintext] = [random.bytes(32), random.bytes(12), random.bytes(length)];
      const associatedData = random.bytes(length % 67);
      const cipher = crypto.ciphers.ChaChaPoly!(key);
      const expected = openSslSeal(key, nonce, associatedData, plaintext);
      const sealed = cipher.seal(nonce, associatedData, plaintext);
      assert.is(Buffer.compare(sealed, expected), 0, `${length} bytes`);
      assert.is(Buffer.compare(cipher.open(nonce, associatedData, sealed)!, plaintext), 0, `${length} bytes`);
      const damaged = copyBytes(sealed);
      damaged[length + random.below(16)]! ^= 1 << random.below(8);
      assert.is(cipher.open(nonce, associatedData, damaged), undefined, `${length} bytes`);
    }
  });
}

test('applies keystream words byte by byte with the same result as with DataView', () => {
  const random = new Random(32);
  for (let i = 0; i < 100; i++) {
    const [text, word] = [random.bytes(12), random.next() - (i % 2) * 2 ** 32];
    const [expected, made] = [new Uint8Array(12), new Uint8Array(12)];
    words.applyWord(words.viewOf(text), words.viewOf(expected), 5, word);
    bytes.applyWord(bytes.viewOf(text), bytes.viewOf(made), 5, word);
    assert.equal(made, expected);
  }
});

test('js refuses a nonce that is not 12 bytes long, and a key that is not 32', () => {
  const cipher = jsCrypto.ciphers.ChaChaPoly!(new Uint8Array(32));
  for (const length of [0, 8, 11, 13]) {
    const nonce = new Uint8Array(length);
    raisesAbout('nonce', () => cipher.seal(nonce, new Uint8Array(0), new Uint8Array(3)));
    raisesAbout('nonce', () => cipher.open(nonce, new Uint8Array(0), new Uint8Array(19)));
  }
  const short = jsCrypto.ciphers.ChaChaPoly!(new Uint8Array(31));
  raisesAbout('key', () => short.seal(new Uint8Array(12), new Uint8Array(0), new Uint8Array(3)));
});

test('js authenticates associated data of every length up to 1 KiB as OpenSSL does', () => {
  const random = new Random(1024);
  const [key, nonce] = [random.bytes(32), random.bytes(12)];
  for (let length = 0; length <= 1024; length++) {
    const associatedData = random.bytes(length);
    const sealed = jsCrypto.ciphers.ChaChaPoly!(key).seal(nonce, associatedData, new Uint8Array(3));
    assert.is(Buffer.compare(sealed, openSslSeal(key, nonce, associatedData, new Uint8Array(3))), 0);
  }
});

test.run();
