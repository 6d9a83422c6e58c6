import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fractionsOfRoots, sha256 } from '../../src/crypto/sha256.ts';
import { fc } from '../world/property.ts';
import { hex, readVectors, toHex } from '../world/vectors.ts';

const digestOf = (message: Uint8Array): string => createHash('sha256').update(message).digest('hex');

for (const { tcId, comment, message, digest } of readVectors('rfc', 'Sha256')) {
  test(`hashes as published: ${comment} (${tcId})`, () => {
    assert.is(toHex(sha256(hex(message))), digest);
  });
}

test('computes the initial hash value and the constants as published (FIPS 180-4, sections 5.3.3 and 4.2.2)', () => {
  const words = (...all: [count: number, exponent: number]): string[] =>
    fractionsOfRoots(...all).map((word) => (word >>> 0).toString(16).padStart(8, '0'));
  assert.is(
    words(8, 1 / 2).join(' '),
    '6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19',
  );
  const constants = words(64, 1 / 3);
  assert.is(constants.slice(0, 4).join(' '), '428a2f98 71374491 b5c0fbcf e9b5dba5');
  assert.is(constants.slice(-4).join(' '), '90befffa a4506ceb bef9a3f7 c67178f2');
});

test('agrees with node:crypto for every length of the last block', () => {
  for (let length = 0; length <= 130; length++) {
    const message = new Uint8Array(length).map((_, i) => i * 7);
    assert.is(toHex(sha256(message)), digestOf(message), `${length} bytes`);
  }
});

test('agrees with node:crypto for any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1000 }), (message) => {
      assert.is(toHex(sha256(message)), digestOf(message));
    }),
  );
});

test('does not change the message', () => {
  const message = new Uint8Array([1, 2, 3]);
  sha256(message);
  assert.equal([...message], [1, 2, 3]);
});

test.run();
