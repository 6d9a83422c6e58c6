/** The PSK of a password at a hub. A derivation takes about a second: test/vectors/vectors.test.ts compares each with argon2-cffi. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isZero } from '../../src/bytes.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { LocalCode } from '../../src/errors.ts';
import { derivePsk, type PskOptions, pskDerivation, pskSalt } from '../../src/session/psk.ts';
import { raisesLocal } from '../world/raises.ts';
import { hex, readVectors, toHex, type Vector } from '../world/vectors.ts';

const VECTORS = readVectors('argon2id', 'Psk');
const MEMORY_BYTES = 64 * 1024 * 1024;

for (const { tcId, nodeId, salt } of VECTORS) {
  test(`the salt is the SHA-256 of the node id in UTF-8 (${tcId})`, () => {
    assert.is(toHex(pskSalt(nobleCrypto, nodeId)), salt);
    assert.is(toHex(pskSalt(nodeCrypto, nodeId)), salt);
  });
}

test('derives in slices even if the crypto has a native argon2id, which cannot do that', () => {
  const argon2id = () => new Uint8Array(32).fill(1);
  const options = { crypto: { ...nobleCrypto, argon2id }, password: 'password', nodeId: 'hub' };
  assert.is(derivePsk(options)[0], 1);
  const derivation = pskDerivation(options);
  assert.is(derivation.run(1), false);
  derivation.destroy();
});

test('derives in slices from the salt, with no function but blake2b, in memory that it wipes', () => {
  const [, { password, salt, psk }] = VECTORS as [Vector, Vector];
  const memory = new Uint8Array(MEMORY_BYTES).fill(0xff);
  const reports: number[] = [];
  const onProgress = (progress: number) => reports.push(progress);
  const crypto = { blake2b: nobleCrypto.blake2b! };
  const derivation = pskDerivation({ crypto, password, salt: hex(salt), memory, onProgress });
  let slices = 1;
  while (!derivation.run(50_000)) slices++;
  assert.is(slices, 4); // 3 passes over 65536 blocks
  assert.is(toHex(derivation.result()), psk);
  assert.ok(isZero(memory));
  assert.ok(reports.length >= 95 && reports.length <= 101, `${reports.length} reports`);
  assert.is(reports.at(-1), 1);
});

const WITHOUT_BLAKE2B = { ...nobleCrypto, blake2b: undefined };
const REFUSED: [object, LocalCode][] = [
  [{ password: '' }, 'bad-argument'],
  [{ password: undefined }, 'bad-argument'],
  [{ password: new Uint8Array(8) }, 'bad-argument'],
  [{ nodeId: '' }, 'bad-argument'],
  [{ nodeId: null }, 'bad-argument'],
  [{ nodeId: 17 }, 'bad-argument'],
  [{ password: '\ud83d' }, 'lone-surrogate'],
  [{ nodeId: '\udd11' }, 'lone-surrogate'],
  [{ memory: new Uint8Array(1024) }, 'bad-length'],
  [{ memory: [0] }, 'bad-argument'],
  [{ crypto: WITHOUT_BLAKE2B }, 'blake2b-unavailable'],
  [{ salt: new Uint8Array(32) }, 'bad-argument'], // beside a node id
  [{ nodeId: undefined }, 'bad-argument'],
  [{ nodeId: undefined, salt: new Uint8Array(31) }, 'bad-length'],
  [{ nodeId: undefined, salt: 'hub' }, 'bad-argument'],
  [{ crypto: { blake2b: nobleCrypto.blake2b } }, 'bad-argument'], // a node id needs sha256
];
for (const [changes, code] of REFUSED) {
  const shown = inspect(changes, { depth: 0, maxArrayLength: 1 });
  test(`refuses ${shown} as ${code}`, () => {
    const options: object = { crypto: nobleCrypto, password: 'password', nodeId: 'hub', ...changes };
    raisesLocal(() => derivePsk(options as PskOptions), code);
    raisesLocal(() => pskDerivation(options as PskOptions), code);
  });
}

test('an error of the injected sha256 names it', () => {
  const crypto = { ...nobleCrypto, sha256: () => new Uint8Array(31) };
  const derive = () => derivePsk({ crypto, password: 'password', nodeId: 'hub' });
  assert.match(raisesLocal(derive, 'crypto-failed').message, 'sha256()');
});

test('refuses memory one byte short of 64 MiB', () => {
  const memory = new Uint8Array(MEMORY_BYTES - 1);
  raisesLocal(
    () => derivePsk({ crypto: nobleCrypto, password: 'password', nodeId: 'hub', memory }),
    'bad-length',
  );
});

test('wipes the memory and stops when onProgress throws', () => {
  const memory = new Uint8Array(MEMORY_BYTES).fill(0xff);
  const onProgress = () => {
    throw new Error('the display is gone');
  };
  assert.throws(
    () => derivePsk({ crypto: nobleCrypto, password: 'password', nodeId: 'hub', memory, onProgress }),
    /the display is gone/,
  );
  assert.ok(isZero(memory));
});

test.run();
