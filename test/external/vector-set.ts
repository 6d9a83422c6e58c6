/**
 * What the formats have in common: a file is read into vectors, and each of them passes, or throws what was expected
 * and what came instead.
 */
import { bytesToHex, hexToBytes } from '../../src/bytes.ts';
import type { Crypto } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';

/** One vector, ready to run. */
export interface Vector {
  /** What finds it again in its file. */
  readonly name: string;
  /** What the table says of it once it passed, where that needs saying. */
  readonly remark?: string;
  /** @throws Mismatch, or an error that the library should not have thrown. */
  run(): void;
}

/** What a file holds. */
export interface VectorSet {
  readonly kind: string;
  readonly vectors: readonly Vector[];
  /** The number of vectors that are not for this library, by the reason. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Whether all the files of this kind in a directory are one line of the table. */
  readonly isPartOfMany?: boolean;
}

/** Each provider that the package has, by the name of its entry. */
export const PROVIDERS: readonly (readonly [string, Crypto])[] = [
  ['noble', nobleCrypto],
  ['noble-aesgcm', nobleCryptoWithAesGcm],
  ['node', nodeCrypto],
];

/** What a vector expected, and what the library answered instead. */
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

/** Compares what a call returns with bytes in hex, or with 'undefined'. */
export function answers(what: string, expected: string, call: () => Uint8Array | undefined): void {
  let got: string;
  try {
    const returned = call();
    got = returned === undefined ? 'undefined' : bytesToHex(returned);
  } catch (error) {
    got = `${error}`;
  }
  if (got !== expected.toLowerCase()) throw new Mismatch(what, expected.toLowerCase(), got);
}

/** Compares what a call throws with one of our errors, such as 'RemoteError [low-order-key]'. */
export function refuses(what: string, expected: string, call: () => Uint8Array): void {
  let got: string;
  try {
    got = bytesToHex(call());
  } catch (error) {
    got = `${error}`;
    if (got.startsWith(`${expected}: `)) return;
  }
  throw new Mismatch(what, expected, got);
}

/** Reads hex strictly: a vector that is cut short must not pass for a shorter one. */
export function bytes(hex: string): Uint8Array {
  const read = typeof hex === 'string' ? hexToBytes(hex) : undefined;
  if (read === undefined) throw new Mismatch('a field of the vector', 'hex', String(hex));
  return read;
}

/** Counts one more of this reason. */
export function count(reasons: Map<string, number>, reason: string, more = 1): void {
  reasons.set(reason, (reasons.get(reason) ?? 0) + more);
}

// biome-ignore lint/suspicious/noExplicitAny: what a stranger's file holds is found out by looking
export type Fields = { readonly [field: string]: any };

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
