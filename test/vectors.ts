/** What unit tests take from the vector files. All of them, and what must fail, are put by the judge: judge/self.test.ts. */
import { readVectorFile, type Vector } from '../judge/src/vectors.ts';

export type { Vector };

/** The valid tests of all groups of a type, of which there must be some. */
export function readVectors(file: string, type: string): Vector[] {
  const groups = readVectorFile(file).testGroups.filter((group) => group.type === type);
  const tests = groups.flatMap((group) => group.tests).filter(({ result }) => result === 'valid');
  if (tests.length === 0) throw new Error(`${file} has no valid tests of type ${type}`);
  return tests;
}

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
