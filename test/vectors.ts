/** Reads the vector files: groups of tests, each with an id and a comment. */
import { readFileSync } from 'node:fs';

// biome-ignore lint/suspicious/noExplicitAny: each file has a form of its own, and a test reads its own file
export type Vector = { readonly tcId: number; readonly comment: string } & Readonly<Record<string, any>>;

/** The tests of all groups of a type, of which there must be some. */
export function readVectors(file: string, type: string): Vector[] {
  const path = new URL(`../vectors/${file}`, import.meta.url);
  const { testGroups } = JSON.parse(readFileSync(path, 'utf8'));
  const tests = testGroups
    .filter((group: { type: string }) => group.type === type)
    .flatMap((group: { tests: Vector[] }) => group.tests);
  if (tests.length === 0) throw new Error(`${file} has no tests of type ${type}`);
  return tests;
}

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
