/** Finds the vectors below the given paths, runs them, and counts the results. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
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
export function run(paths: readonly string[], onProgress: OnProgress = () => {}): Outcome {
  const rows = new Map<string, Row>();
  const unrecognised: string[] = [];
  const files = [...new Set(paths.flatMap(filesIn))];
  files.forEach((path, index) => {
    onProgress(index / files.length, basename(path));
    const set = recognise(path);
    if (set === undefined) {
      unrecognised.push(path);
      return;
    }
    const { kind, vectors, skipped, isPartOfMany } = set;
    const id = `${kind} ${isPartOfMany ? dirname(path) : path}`;
    const row: Row = rows.get(id) ?? {
      path,
      kind,
      files: 0,
      passed: 0,
      failures: [],
      skipped: new Map(),
      remarks: new Map(),
    };
    rows.set(id, row);
    row.files++;
    for (const [reason, more] of skipped) count(row.skipped, reason, more);
    vectors.forEach((vector, i) => {
      const what = `${basename(path)}, ${i + 1} of ${vectors.length}`;
      onProgress((index + i / vectors.length) / files.length, what);
      const failure = failureOf(vector, path);
      if (failure !== undefined) {
        row.failures.push(failure);
        return;
      }
      row.passed++;
      if (vector.remark !== undefined) count(row.remarks, vector.remark);
    });
  });
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
    return noiseLines(text);
  }
  return wycheproof(json) ?? noiseJson(json);
}

function failureOf(vector: Vector, path: string): Failure | undefined {
  try {
    vector.run();
    return undefined;
  } catch (error) {
    const failure = { path, name: vector.name };
    if (error instanceof Mismatch) {
      return { ...failure, what: error.message, expected: error.expected, got: error.got };
    }
    return { ...failure, what: 'the vector as a whole', expected: 'no error', got: `${error}` };
  }
}
