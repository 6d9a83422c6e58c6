/** The mutants that no test notices, each with the reason why: survivors.json. */
import { readFileSync } from 'node:fs';
import type { Mutant } from './mutants.ts';

export interface Survivor extends Pick<Mutant, 'file' | 'source' | 'before' | 'after'> {
  readonly reason: string;
}

/** Generated code, without a branch: the known answers of Argon2id show each of its lines. */
const GENERATED = 'src/noise/argon2id-permutation.ts';

/** Starts the commands, as a program. */
const START = 'cli/src/cli.ts';

/** What is mutated: the library, or the shells around it. */
export const AREAS = { library: ['src'], shells: ['client/src', 'cli/src'] } as const;
export type Area = keyof typeof AREAS;

/** The area of a path, or of the beginning of one. */
export function areaOf(path: string): Area {
  return /^(?:client|cli)\b/.test(path) ? 'shells' : 'library';
}

/** Whether a file has mutants. */
export function isMutated(file: string): boolean {
  return !file.endsWith('.d.ts') && file !== GENERATED && file !== START;
}

/** What tells mutants apart even if lines have moved. */
export function keyOf({ file, source, before, after }: Omit<Survivor, 'reason'>): string {
  return [file, source, before, after].join('\n');
}

export function readSurvivors(): Survivor[] {
  return JSON.parse(readFileSync(new URL('survivors.json', import.meta.url), 'utf8'));
}
