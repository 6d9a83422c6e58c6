/** NIST's vectors in response files, made from our own vectors. */
import { createHash } from 'node:crypto';
import * as assert from 'uvu/assert';
import { readVectors } from '../world/vectors.ts';
import { counts, flip, rowOf, suiteWithFolder, write } from './files.ts';
import { run } from './run-vectors.ts';

const test = suiteWithFolder('CAVP');

/** A response file of NIST's CAVP. */
function cavp(title: string, common: string, ...tests: { [field: string]: string }[]): string {
  const blocks = tests.map((test) =>
    Object.entries(test)
      .map(([name, value]) => (name === 'FAIL' ? name : `${name} = ${value}`))
      .join('\r\n'),
  );
  return [`# CAVS 14.0\r\n# ${title}`, common, ...blocks].join('\r\n\r\n');
}

const GCM = readVectors('rfc', 'AESGCM').map(
  ({ key, nonce, associatedData, plaintext, ciphertext, tag }) => ({
    Key: key,
    IV: nonce,
    CT: ciphertext,
    AAD: associatedData,
    Tag: tag,
    PT: plaintext,
  }),
);
const GCM_SIZES = '[Keylen = 256]\r\n[IVlen = 96]\r\n[Taglen = 128]';

test('NIST’s AES-GCM: fails tests with a wrong tag or a wrong result', async ({ folder }) => {
  const damaged = GCM.map(({ Tag, ...test }) => ({ ...test, Tag: flip(Tag) }));
  const accepted = GCM.map((test) => ({ ...test, FAIL: '' }));
  write(folder, {
    'gcm.rsp': cavp('GCM Encrypt with keysize 256', GCM_SIZES, ...damaged, ...accepted),
  });
  assert.equal(counts(await rowOf(folder)), [0, 2 * GCM.length, {}]);
});

const sha256 = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();

test('NIST’s SHA-256: compares digests of as many bits as a test says', async ({ folder }) => {
  const digest = sha256(Buffer.from('abc')).toString('hex');
  const right = { Len: '24', Msg: '616263', MD: digest };
  const empty = { Len: '0', Msg: '00', MD: sha256().toString('hex') };
  const wrong = { ...right, MD: flip(digest) };
  write(folder, {
    'short.rsp': cavp('"SHA-256 ShortMsg" information', '[L = 32]', right, empty, wrong),
    'other.rsp': cavp('"SHA-384 ShortMsg" information', '[L = 48]', right),
  });
  const { rows } = await run([folder]);
  assert.equal(rows.map(counts), [
    [0, 0, { 'algorithm not used here': 1 }],
    [2, 1, {}],
  ]);
});

test('NIST’s SHA-256, Monte Carlo: each test continues from the previous one', async ({ folder }) => {
  const after = (seed: Buffer): Buffer => {
    const digests = [seed, seed, seed];
    for (let i = 0; i < 1000; i++) digests.push(sha256(...digests.slice(-3)));
    return digests.at(-1)!;
  };
  const seed = sha256(Buffer.from('a seed'));
  const [first, second] = [after(seed), after(after(seed))].map((digest) => digest.toString('hex'));
  const common = `[L = 32]\r\n\r\nSeed = ${seed.toString('hex')}`;
  const tests = [first, second, first].map((MD, i) => ({ COUNT: `${i}`, MD: MD! }));
  write(folder, { 'monte.rsp': cavp('"SHA-256 Monte" information', common, ...tests) });
  assert.equal(counts(await rowOf(folder)), [2, 1, {}]);
});

test.run();
