/**
 * NIST's CAVP, in the form of its response files: for AES-GCM (`gcmEncryptExtIV256.rsp`, `gcmDecrypt256.rsp`) and SHA-256
 * (`SHA256ShortMsg.rsp`, `SHA256LongMsg.rsp`, `SHA256Monte.rsp`). Fields in brackets hold for all that follows.
 */
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import {
  bytes,
  checkAead,
  count,
  expectResult,
  type Runs,
  type Vector,
  type VectorSet,
  withProviders,
} from './vector-set.ts';

/** The fields of a test by name. `FAIL` alone on its line is a field without a value. */
type Test = { readonly [field: string]: string };

interface Algorithm {
  readonly kind: string;
  skip(test: Test): string | undefined;
  runs(test: Test, previous: Test | undefined): Runs;
}

const AES_GCM: Algorithm = {
  kind: 'CAVP AES-GCM',
  skip({ Keylen, IVlen, Taglen }) {
    if (Keylen !== '256') return 'other key length';
    if (IVlen !== '96') return 'other nonce length';
    return Taglen === '128' ? undefined : 'other tag length';
  },
  runs: ({ Key, IV, AAD, PT, CT, Tag, FAIL }) =>
    withProviders((crypto, provider) => {
      const plaintext = FAIL === undefined ? PT : undefined;
      const expected = { key: Key!, nonce: IV!, aad: AAD!, plaintext, ct: CT!, tag: Tag! };
      checkAead(crypto.ciphers.AESGCM!, provider, expected);
    }, 'AESGCM'),
};

const SHA_256: Algorithm = {
  kind: 'CAVP SHA-256',
  skip: () => undefined,
  runs: ({ Len, Msg, MD }) =>
    withProviders((crypto, provider) =>
      expectResult(`${provider}, sha256`, MD!, () => crypto.sha256(bytes(Msg!).subarray(0, Number(Len) / 8))),
    ),
};

/** Each test goes on from the digest of the one before (SHAVS, section 6.4). */
const SHA_256_MONTE: Algorithm = {
  kind: 'CAVP SHA-256, Monte Carlo',
  skip: () => undefined,
  runs: ({ Seed, MD }, previous) =>
    withProviders((crypto, provider) =>
      expectResult(`${provider}, sha256`, MD!, () => monteCarlo(crypto, bytes(previous?.MD ?? Seed!))),
    ),
};

function monteCarlo(crypto: CryptoProvider, seed: Uint8Array): Uint8Array {
  let [first, second, third] = [seed, seed, seed];
  for (let i = 0; i < 1000; i++)
    [first, second, third] = [second, third, crypto.sha256(first, second, third)];
  return third;
}

/** Reads a response file. Returns `undefined` for anything else. */
export function cavp(text: string): VectorSet | undefined {
  const [, title] = /^# +CAVS [\d.]+\r?\n# +(.*?)\r?$/m.exec(text) ?? [];
  if (title === undefined) return undefined;
  const algorithm = title.startsWith('GCM ')
    ? AES_GCM
    : /^"SHA-256 (?:Short|Long)Msg"/.test(title)
      ? SHA_256
      : title.startsWith('"SHA-256 Monte"')
        ? SHA_256_MONTE
        : undefined;
  const tests = testsOf(text);
  const vectors: Vector[] = [];
  const skipped = new Map<string, number>();
  tests.forEach((test, i) => {
    const reason = algorithm === undefined ? 'algorithm not used here' : algorithm.skip(test);
    if (reason !== undefined) count(skipped, reason);
    else vectors.push({ name: `test ${i + 1}`, runs: algorithm!.runs(test, tests[i - 1]) });
  });
  if (vectors.length === 0) return { kind: 'CAVP, others', vectors, skipped, isPartOfMany: true };
  return { kind: algorithm!.kind, vectors, skipped };
}

/** The blocks of a file that have a result, each with the fields that hold for it. */
function testsOf(text: string): Test[] {
  const tests: Test[] = [];
  let common: Test = {};
  for (const block of text.split(/(?:\r?\n){2,}/)) {
    const fields: { [field: string]: string } = {};
    for (const [, opening, name, value] of block.matchAll(/^(\[?)(\w+)(?: = ?(.*?))?\]?\r?$/gm)) {
      if (opening === '[' || name === 'Seed') common = { ...common, [name!]: value ?? '' };
      else fields[name!] = value ?? '';
    }
    if ('MD' in fields || 'Tag' in fields) tests.push({ ...common, ...fields });
  }
  return tests;
}
