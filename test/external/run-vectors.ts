/** Finds the vectors below the given paths, runs them, and counts the results. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cavp } from './cavp.ts';
import { jsonSuite } from './json-suite.ts';
import { noiseJson, noiseLines } from './noise-vectors.ts';
import { count, Mismatch, type Vector, type VectorSet } from './vector-set.ts';
import { wycheproof } from './wycheproof.ts';

export interface Failure {
  readonly path: string;
  readonly name: string;
  /** The provider and the step. */
  readonly what: string;
  readonly expected: string;
  readonly got: string;
}

/** One line of the table: a file, or the files of one kind in a directory. */
export interface Row {
  /** The first file. */
  readonly path: string;
  readonly kind: string;
  files: number;
  passed: number;
  /** How often each provider was right. */
  readonly right: Map<string, number>;
  readonly failures: Failure[];
  readonly skipped: Map<string, number>;
  readonly remarks: Map<string, number>;
}

export interface Outcome {
  readonly rows: Row[];
  /** Files in none of the known formats. */
  readonly unrecognised: string[];
}

/** Receives the share of the work that is done, from 0 to 1, and the current file and vector. */
export type OnProgress = (done: number, what: string) => void;

/** @throws the error of node:fs for a path that cannot be read */
export async function run(paths: readonly string[], onProgress: OnProgress = () => {}): Promise<Outcome> {
  const rows = new Map<string, Row>();
  const unrecognised: string[] = [];
  const files = [...new Set(paths.flatMap(filesIn))];
  for (const [index, path] of files.entries()) {
    onProgress(index / files.length, basename(path));
    const set = recognise(path);
    if (set === undefined) {
      unrecognised.push(path);
      continue;
    }
    const { kind, vectors, skipped, isPartOfMany } = set;
    const id = `${kind} ${isPartOfMany ? dirname(path) : path}`;
    const row: Row = rows.get(id) ?? {
      path,
      kind,
      files: 0,
      passed: 0,
      right: new Map(),
      failures: [],
      skipped: new Map(),
      remarks: new Map(),
    };
    rows.set(id, row);
    row.files++;
    for (const [reason, more] of skipped) count(row.skipped, reason, more);
    for (const [i, vector] of vectors.entries()) {
      const what = `${basename(path)}, ${i + 1} of ${vectors.length}`;
      onProgress((index + i / vectors.length) / files.length, what);
      const failure = await failureOf(vector, row.right);
      if (failure !== undefined) {
        row.failures.push({ path, name: vector.name, ...failure });
        continue;
      }
      row.passed++;
      if (vector.remark !== undefined) count(row.remarks, vector.remark);
    }
  }
  return { rows: [...rows.values()], unrecognised };
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== '.git' && (entry.isFile() || entry.isDirectory()))
    .map((entry) => join(path, entry.name))
    .sort()
    .flatMap(filesIn);
}

function recognise(path: string): VectorSet | undefined {
  const content = new Uint8Array(readFileSync(path));
  const suite = jsonSuite(basename(path), content);
  if (suite !== undefined) return suite;
  const text = new TextDecoder().decode(content); // without a byte order mark
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return cavp(text) ?? noiseLines(text);
  }
  return wycheproof(json) ?? noiseJson(json);
}

/** Runs a vector with one provider after the other, up to the first failure. */
async function failureOf(
  { runs }: Vector,
  right: Map<string, number>,
): Promise<Pick<Failure, 'what' | 'expected' | 'got'> | undefined> {
  try {
    for (const [provider, run] of runs) {
      await run();
      count(right, provider);
    }
    return undefined;
  } catch (error) {
    if (error instanceof Mismatch) {
      return { what: error.message, expected: error.expected, got: error.got };
    }
    return { what: 'the vector as a whole', expected: 'no error', got: `${error}` };
  }
}
