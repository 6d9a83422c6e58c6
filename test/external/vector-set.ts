/** What all formats share: a file becomes a set of vectors, each of which passes or throws a `Mismatch`. */
import { bytesToHex, hexToBytes } from '../../src/bytes.ts';
import type { Crypto } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';

/** One vector, ready to run. */
export interface Vector {
  /** Identifies it in its file. */
  readonly name: string;
  /** A note for the table, shown if it passes. */
  readonly remark?: string;
  /** @throws Mismatch, or whatever the library threw unexpectedly */
  run(): void;
}

/** The vectors of one file. */
export interface VectorSet {
  readonly kind: string;
  readonly vectors: readonly Vector[];
  /** The number of vectors that this library cannot run, by reason. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Whether all files of this kind in a directory share one line of the table. */
  readonly isPartOfMany?: boolean;
}

/** The package's providers of cryptography, by the names of their entries. */
export const PROVIDERS: readonly (readonly [string, Crypto])[] = [
  ['noble', nobleCrypto],
  ['noble-aesgcm', nobleCryptoWithAesGcm],
  ['node', nodeCrypto],
];

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
