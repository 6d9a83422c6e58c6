/**
 * Ceilings of what a reader has to find his way in: each is today's value, and one per cent. They may only fall, except that the
 * packages (src, client, cli) may exceed theirs with a reason in the commit. Whoever adds to tests, evidence, judge or tools names the
 * fault of the product that it found, or removes as many lines. The single files have theirs in evidence/devices/size.ts.
 *
 *     TABLE=1 node --import tsx test/ceilings.test.ts    prints each count and its ceiling
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

/** Lines that people wrote, by folder; `other` has the rest. */
const LINES: { readonly [room: string]: number } = {
  src: 18_660,
  client: 8_140,
  cli: 4_510,
  test: 61_070,
  evidence: 14_790,
  judge: 7_860,
  vectors: 7_370,
  tools: 3_930,
  ports: 5_740,
  examples: 3_190,
  other: 620,
};
const GENERATED = ['src/issued/aliases.ts', 'src/noise/argon2id-permutation.ts'];

const roomOf = (file: string): string => {
  const [folder] = file.split('/');
  return folder! in LINES ? folder! : 'other';
};

function linesOf(room: string): number {
  return FILES.filter((file) => /\.(?:ts|js|mjs|cts|py|go|c|h|rs|sh|vp)$/.test(file))
    .filter((file) => !GENERATED.includes(file) && (room === 'all' || roomOf(file) === room))
    .reduce((lines, file) => lines + read(file).split('\n').length - 1, 0);
}

const COUNTS: readonly (readonly [what: string, ceiling: number, count: () => number])[] = [
  ['scripts of package.json', 8, () => Object.keys(JSON.parse(read('package.json')).scripts).length],
  [
    'programs that have a script in their folder',
    29,
    () => FILES.filter((file) => /\/(?:constant-time|judge|linear|nodes|run|size)$/.test(file)).length,
  ],
  ['names that the entries export', 165, () => publicNames().length + clientNames().length],
  ['files in the repository', 1_114, () => FILES.length],
  [
    'words that people wrote in the documents',
    51_715,
    () => FILES.filter(isWritten).reduce((words, file) => words + written(file).split(/\s+/).length, 0),
  ],
  ...Object.entries(LINES).map(
    ([room, ceiling]) => [`hand-written lines in ${room}`, ceiling, () => linesOf(room)] as const,
  ),
];

if (process.env.TABLE !== undefined) {
  for (const [what, ceiling, count] of COUNTS)
    console.log(`${what.padEnd(45)}${String(count()).padStart(8)} of ${ceiling}`);
  console.log(`${'hand-written lines in all'.padEnd(45)}${String(linesOf('all')).padStart(8)}`);
}

for (const [what, ceiling, count] of COUNTS) {
  test(`the number of ${what} does not grow`, () => {
    const counted = count();
    const advice = `${counted} ${what}, and the ceiling is ${ceiling}: delete what the new ones replace, or raise the ceiling and say why in the commit`;
    assert.ok(counted <= ceiling, advice);
  });
}

test.run();
