/** Folders of vector files for tests, and what comes of running them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite, type Test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Row, run } from './run-vectors.ts';

/** A suite whose tests have a folder each. */
export function suiteWithFolder(name: string): Test<{ folder: string }> {
  const test = suite<{ folder: string }>(name, { folder: '' });
  test.before.each((context) => {
    context.folder = mkdtempSync(join(tmpdir(), 'external-'));
  });
  test.after.each(({ folder }) => rmSync(folder, { recursive: true }));
  return test;
}

/** Writes files, given by their paths. Values other than strings are written as JSON. */
export function write(folder: string, files: { [path: string]: unknown }): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** Runs the vectors of a folder, and returns the only row of the table. */
export async function rowOf(folder: string): Promise<Row> {
  const { rows, unrecognised } = await run([folder]);
  assert.equal(unrecognised, []);
  assert.is(rows.length, 1);
  return rows[0]!;
}

export function counts({ passed, failures, skipped }: Row): unknown[] {
  return [passed, failures.length, Object.fromEntries(skipped)];
}

/** Changes the last digit of hex. */
export function flip(hex: string): string {
  return hex.slice(0, -1) + (Number.parseInt(hex.slice(-1), 16) ^ 1).toString(16);
}
