import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sha256 } from '../../src/crypto/sha256.ts';
import { hex, readVectors, toHex } from '../vectors.ts';

const digestOf = (message: Uint8Array): string => createHash('sha256').update(message).digest('hex');

for (const { tcId, comment, message, digest } of readVectors('rfc', 'Sha256')) {
  test(`hashes as published: ${comment} (${tcId})`, () => {
    assert.is(toHex(sha256(hex(message))), digest);
  });
}

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
