/** Valid vectors for unit tests. test/vectors/vectors.test.ts checks every vector, valid and invalid. */
import { readVectorFile, type Vector } from '../../judge/src/vectors.ts';

export type { Vector };

/** The tests without an error of all groups of this type. Throws if there are none. */
export function readVectors(file: string, type: string): Vector[] {
  const groups = readVectorFile(file).testGroups.filter((group) => group.type === type);
  const tests = groups.flatMap((group) => group.tests).filter(({ error }) => error === undefined);
  if (tests.length === 0) throw new Error(`${file} has no valid tests of type ${type}`);
  return tests;
}

export function hex(digits: string): Uint8Array {
  return new Uint8Array(Buffer.from(digits, 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
