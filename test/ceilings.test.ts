/**
 * Ceilings of what a reader has to find his way in. They may only fall: each is today's value, rounded up. The sizes of the
 * single files have theirs in evidence/devices/size.ts.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clientNames, publicNames } from '../tools/declared.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FILES = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .slice(0, -1);
const read = (file: string): string => readFileSync(`${ROOT}/${file}`, 'utf8');

/** The documents that people write, and not those that are drawn. */
const isWritten = (file: string): boolean =>
  file.endsWith('.md') && !/^docs\/(?:reference\/api\/|evidence\/status\.md)/.test(file);

/** A document without what programs have measured or drawn, and written into it. */
const written = (file: string): string => read(file).replace(/<!-- (?:measured|drawn):.*?<!-- end -->/gs, '');

const COUNTS: readonly (readonly [what: string, ceiling: number, count: () => number])[] = [
  ['scripts of package.json', 8, () => Object.keys(JSON.parse(read('package.json')).scripts).length],
  [
    'programs that have a script in their folder',
    30,
    () => FILES.filter((file) => /\/(?:constant-time|judge|linear|nodes|run|size)$/.test(file)).length,
  ],
  ['names that the entries export', 165, () => publicNames().length + clientNames().length],
  ['files in the repository', 1_117, () => FILES.length],
  [
    'words that people wrote in the documents',
    69_020,
    () => FILES.filter(isWritten).reduce((words, file) => words + written(file).split(/\s+/).length, 0),
  ],
];

for (const [what, ceiling, count] of COUNTS) {
  test(`the number of ${what} does not grow`, () => {
    const counted = count();
    const advice = `${counted} ${what}, and the ceiling is ${ceiling}: delete what the new ones replace, or raise the ceiling and say why in the commit`;
    assert.ok(counted <= ceiling, advice);
  });
}

test.run();
