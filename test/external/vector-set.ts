/** What all formats share: a file becomes a set of vectors, each of which passes or throws a `Mismatch`. */
import { bytesToHex, concatBytes, copyBytes, hexToBytes } from '../../src/bytes.ts';
import type { CipherFactory, CipherName, CryptoProvider } from '../../src/crypto/crypto.ts';
import { deviceCrypto } from '../../src/crypto/device.ts';
import { chacha20InRows } from '../../src/crypto/device-chacha20.ts';
import { chaChaPolyOf } from '../../src/crypto/device-chachapoly.ts';
import { jsCrypto } from '../../src/crypto/js.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';

/** One vector, ready to run. */
export interface Vector {
  /** Identifies it in its file. */
  readonly name: string;
  /** A note for the table, shown if it passes. */
  readonly remark?: string;
  readonly runs: Runs;
}

/** What to run with each provider, by its name. It throws a Mismatch, or whatever the library threw unexpectedly. */
export type Runs = ReadonlyMap<string, () => void | Promise<void>>;

/** The vectors of one file. */
export interface VectorSet {
  readonly kind: string;
  readonly vectors: readonly Vector[];
  /** The number of vectors that this library cannot run, by reason. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Whether all files of this kind in a directory share one line of the table. */
  readonly isPartOfMany?: boolean;
}

/**
 * The package's providers of cryptography, by the names of their entries, and that of the single file for devices, with the
 * ChaCha20 that it takes where JavaScript is compiled, and with the one that it takes elsewhere.
 */
const PROVIDERS: readonly (readonly [string, CryptoProvider])[] = [
  ['noble', nobleCrypto],
  ['noble-aesgcm', nobleCryptoWithAesGcm],
  ['node', nodeCrypto],
  ['js', jsCrypto],
  ['device', deviceCrypto],
  ['device, interpreted', { ...deviceCrypto, ciphers: { ChaChaPoly: chaChaPolyOf(chacha20InRows) } }],
];

/** Runs the same with each provider, or with those that have a cipher. */
export function withProviders(
  run: (crypto: CryptoProvider, provider: string) => void,
  cipher?: CipherName,
): Map<string, () => void | Promise<void>> {
  const able = PROVIDERS.filter(([, { ciphers }]) => cipher === undefined || ciphers[cipher] !== undefined);
  return new Map(able.map(([provider, crypto]) => [provider, () => run(crypto, provider)]));
}

/** For vectors without cryptography. */
export function withoutProvider(run: () => void): Runs {
  return new Map([['none', run]]);
}

/** A result that differs from the expected one. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch';
  readonly expected: string;
  readonly got: string;

  constructor(what: string, expected: string, got: string) {
    super(what);
    this.expected = expected;
    this.got = got;
  }
}

/** Compares what a call returns with the expected bytes in hex, or with 'undefined'. */
export function expectResult(what: string, expected: string, call: () => Uint8Array | undefined): void {
  let got: string;
  try {
    const returned = call();
    got = returned === undefined ? 'undefined' : bytesToHex(returned);
  } catch (error) {
    got = `${error}`;
  }
  if (got !== expected.toLowerCase()) throw new Mismatch(what, expected.toLowerCase(), got);
}

/** Compares what a call throws with the name and code of an error, such as 'RemoteError [low-order-key]'. */
export function expectError(what: string, expected: string, call: () => Uint8Array): void {
  let got: string;
  try {
    got = bytesToHex(call());
  } catch (error) {
    got = `${error}`;
    if (got.startsWith(`${expected}: `)) return;
  }
  throw new Mismatch(what, expected, got);
}

/** Parses hex strictly, so that a truncated vector cannot pass as a shorter one. */
export function bytes(hex: string): Uint8Array {
  const read = typeof hex === 'string' ? hexToBytes(hex) : undefined;
  if (read === undefined) throw new Mismatch('a field of the vector', 'hex', String(hex));
  return read;
}

/** Adds to the count of a reason. */
export function count(reasons: Map<string, number>, reason: string, more = 1): void {
  reasons.set(reason, (reasons.get(reason) ?? 0) + more);
}

// biome-ignore lint/suspicious/noExplicitAny: files made by others may hold anything
export type Fields = { readonly [field: string]: any };

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One encryption, in hex. Without a plaintext, the tag must not verify. */
export interface AeadCase {
  readonly key: string;
  readonly nonce: string;
  readonly aad: string;
  readonly plaintext: string | undefined;
  readonly ct: string;
  readonly tag: string;
}

/** Seals and opens, in new arrays and, where the cipher can, in place. */
export function checkAead(createCipher: CipherFactory, provider: string, expected: AeadCase): void {
  const { key, nonce, aad, plaintext = 'undefined', ct, tag } = expected;
  const cipher = createCipher(bytes(key));
  const [nonceBytes, aadBytes, sealed] = [bytes(nonce), bytes(aad), concatBytes([bytes(ct), bytes(tag)])];
  expectResult(`${provider}, open`, plaintext, () => cipher.open(nonceBytes, aadBytes, sealed));
  if (cipher.openInPlace !== undefined) {
    const open = () => cipher.openInPlace!(nonceBytes, aadBytes, copyBytes(sealed));
    expectResult(`${provider}, openInPlace`, plaintext, open);
  }
  if (expected.plaintext === undefined) return;
  const text = bytes(plaintext);
  expectResult(`${provider}, seal`, ct + tag, () => cipher.seal(nonceBytes, aadBytes, text));
  if (cipher.sealInPlace !== undefined) {
    expectResult(`${provider}, sealInPlace`, ct + tag, () => {
      const buffer = concatBytes([text, bytes(tag).fill(0)]);
      cipher.sealInPlace!(nonceBytes, aadBytes, buffer);
      return buffer;
    });
  }
}
