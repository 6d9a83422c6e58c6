/**
 * Changes the library in thousands of small ways, and shows which changes no test notices.
 *
 *     evidence/mutation/run                   all of src/, in some hours
 *     evidence/mutation/run --only src/wire   files whose path contains this
 *     evidence/mutation/run --changed main    lines that differ from a commit; without one, from the newest tag or the first parent
 *     evidence/mutation/run --seconds 60      stops after this time, with a random part of the mutants tried
 *     evidence/mutation/run --sample 50       one mutant in fifty
 *     evidence/mutation/run --tests '^wire/'  with these test files only, which is quicker and finds less;
 *                                             the vectors are vectors/session and so on
 *     evidence/mutation/run --list              also lists survivors that have a reason
 *     evidence/mutation/run --json FILE         also writes each mutant, and which test noticed it
 *     evidence/mutation/run --again FILE        what no test noticed in the run that wrote this
 *     evidence/mutation/run --write             draws the table of docs/evidence/mutation.md from this run, which must be whole
 *
 * A copy of the project has all mutants of all files in it, each behind a switch. So a mutant costs the tests that reach
 * it, the fastest first, until one fails. What survives must be in survivors.json, with a reason. Code that only runs when
 * its module is loaded is left out: that is over before a test can switch a mutant on.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { code, grouped, table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { type Mutant, mutated } from './mutants.ts';
import { isMutated, keyOf, readSurvivors } from './survivors.ts';
import type { Baseline, Order, Verdict } from './worker.ts';

const { values } = parseArgs({
  args: withCommit(process.argv.slice(2)),
  options: {
    seconds: { type: 'string', default: 'Infinity' },
    only: { type: 'string', default: '' },
    changed: { type: 'string' },
    sample: { type: 'string', default: '1' },
    tests: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    json: { type: 'string' },
    again: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

/** A mutant that takes longer than this has no end, and its process is ended. */
const MOST_MS = 120_000;

const root = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const mutants = makeCopy();
const known = readSurvivors();
refuseOutdated();
const wanted = choose(mutants);
say(`${mutants.length} mutants in all, ${wanted.length} chosen`);
if (wanted.length === 0) process.exit(0);
const { baselines, reaching, isLoadedOnly } = await firstRun();
const chosen = wanted.filter(({ id }) => !isLoadedOnly(id));
if (chosen.length < wanted.length)
  say(`${wanted.length - chosen.length} of them in code that only runs when it is loaded, and left out`);
const verdicts = await tryAll(chosen.filter(({ id }) => reaching(id).length > 0));
report();

/** Adds the commit with which a bare `--changed` compares. */
function withCommit(args: readonly string[]): string[] {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  return args.flatMap((arg, i) => {
    if (arg !== '--changed' || (args[i + 1] !== undefined && !args[i + 1]!.startsWith('--'))) return [arg];
    try {
      return [arg, git('describe', '--tags', '--abbrev=0')];
    } catch {
      return [arg, git('rev-parse', 'HEAD^')];
    }
  });
}

/** Copies what tests need, mutates `src/` there, and lets tests use our own `uvu`, and the adapter for the judge these sources. */
function makeCopy(): Mutant[] {
  const mutationUrl = (file: string): string => join(copy, 'evidence/mutation', file);
  for (const folder of [
    'src',
    'test',
    'evidence',
    'tools',
    'bundles',
    'examples',
    'ports',
    'package.json',
    'tsconfig.json',
  ]) {
    cpSync(join(root, folder), join(copy, folder), {
      recursive: true,
      filter: (path) => !/\/(?:node_modules|target)(?:\/|$)/.test(path),
    });
  }
  for (const entry of readdirSync(root)) {
    if (!readdirSync(copy).includes(entry) && entry !== '.git')
      symlinkSync(join(root, entry), join(copy, entry));
  }
  for (const file of filesIn('test')) {
    const text = readFileSync(join(copy, file), 'utf8');
    writeFileSync(join(copy, file), text.replace(/from 'uvu'/g, `from '${mutationUrl('uvu.ts')}'`));
  }
  for (const file of filesIn('ports/typescript')) {
    const text = readFileSync(join(copy, file), 'utf8');
    const own = text
      .replace(/from 'hub-protocol'/g, "from '../../src/index.ts'")
      .replace(/from 'hub-protocol\/binary'/g, "from '../../src/binary.ts'")
      .replace(/from 'hub-protocol\/node'/g, "from '../../src/crypto/node.ts'")
      .replace(/from 'hub-protocol\/parts'/g, "from '../../src/parts.ts'");
    // What was built has errors of its own classes, and is not mutated.
    if (/from 'hub-protocol/.test(own)) throw new Error(`${file} imports an entry that has no source here`);
    writeFileSync(join(copy, file), own);
  }
  const found: Mutant[] = [];
  for (const file of filesIn('src')) {
    if (!isMutated(file)) continue;
    const { code, mutants } = mutated(file, readFileSync(join(root, file), 'utf8'), found.length);
    writeFileSync(join(copy, file), `import { $m, $tick } from '${mutationUrl('state.ts')}';\n${code}`);
    for (const mutant of mutants) found.push(mutant);
  }
  return found;
}

function filesIn(folder: string): string[] {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => join(folder, file))
    .sort();
}

function choose(all: readonly Mutant[]): Mutant[] {
  const changed = values.changed === undefined ? undefined : changedLines(values.changed);
  const survived = values.again === undefined ? undefined : survivorsIn(values.again);
  return all
    .filter(({ file, isStatic }) => !isStatic && file.includes(values.only))
    .filter((mutant) => survived?.has(keyOf(mutant)) ?? true)
    .filter(({ file, line }) => changed?.has(`${file}:${line}`) ?? true)
    .filter((_, i) => i % Number(values.sample) === 0);
}

/** The mutants that survived in an earlier run; lines may have moved since. */
function survivorsIn(path: string): Set<string> {
  const rows = JSON.parse(readFileSync(path, 'utf8')) as (Mutant & Verdict)[];
  return new Set(rows.filter(({ by }) => by === undefined).map(keyOf));
}

/** The lines of `src/` that differ from a commit, as `file:line`. */
function changedLines(commit: string): Set<string> {
  const diff = execFileSync('git', ['diff', '--unified=0', '--no-color', commit, '--', 'src'], {
    cwd: root,
    encoding: 'utf8',
  });
  const lines = new Set<string>();
  let file = '';
  for (const text of diff.split('\n')) {
    if (text.startsWith('+++ b/')) file = text.slice(6);
    const [, first, count = '1'] = /^@@ .* \+(\d+)(?:,(\d+))? @@/.exec(text) ?? [];
    for (let i = 0; first !== undefined && i < Number(count); i++) lines.add(`${file}:${Number(first) + i}`);
  }
  return lines;
}

/** Runs all tests without a mutant, and learns which mutants each of them reaches. */
async function firstRun(): Promise<{
  baselines: Baseline[];
  reaching: (mutant: number) => number[];
  isLoadedOnly: (mutant: number) => boolean;
}> {
  const path = join(copy, 'hits');
  const worker = await startWorker();
  const baselines = (await ask<Baseline[]>(worker, { hits: path }))!;
  worker.kill();
  const hits = readFileSync(path);
  for (const { file, name, failure } of baselines) {
    if (failure === undefined) continue;
    say(`left out, for it fails here: ${file}: ${name}: ${failure.split('\n')[0]}`);
    process.exitCode = 1; // a mutant that only this test notices would seem to survive
  }
  say(
    `${baselines.length} tests run in ${Math.round(baselines.reduce((sum, { ms }) => sum + ms, 0) / 1000)} s`,
  );
  const order = [...baselines.keys()].filter((i) => baselines[i]!.failure === undefined);
  order.sort((a, b) => baselines[a]!.ms - baselines[b]!.ms);
  const reaching = (mutant: number): number[] => order.filter((i) => hits[i * mutants.length + mutant] === 1);
  const isLoadedOnly = (mutant: number): boolean =>
    hits[baselines.length * mutants.length + mutant] === 1 && reaching(mutant).length === 0;
  return { baselines, reaching, isLoadedOnly };
}

async function tryAll(todo: Mutant[]): Promise<Map<Mutant, Verdict>> {
  const verdicts = new Map<Mutant, Verdict>();
  const began = performance.now();
  // In an order that has nothing to do with the files, for a run that is ended early.
  const shuffled = (id: number): number => Math.imul(id, 0x9e3779b1) >>> 0;
  const queue = [...todo].sort((a, b) => shuffled(a.id) - shuffled(b.id));
  const work = async (): Promise<void> => {
    let worker = await startWorker();
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      if (performance.now() - began > 1000 * Number(values.seconds)) {
        queue.length = 0;
        break;
      }
      let verdict = await attempt(worker, mutant);
      // A mutant can leave the process in a state that fails tests by itself. Then only a new process can tell.
      if (verdict === undefined || verdict.isSpoilt) {
        worker.kill('SIGKILL');
        worker = await startWorker();
        if (verdict !== undefined) verdict = await attempt(worker, mutant);
        if (verdict?.isSpoilt) {
          worker.kill('SIGKILL');
          worker = await startWorker();
        }
      }
      verdicts.set(mutant, verdict ?? { by: 'the clock', failure: 'it does not end' });
      const seconds = (performance.now() - began) / 1000;
      progress(
        `${verdicts.size} of ${todo.length}, ${[...verdicts.values()].filter(({ by }) => by === undefined).length} survive, ` +
          `${Math.round((seconds / verdicts.size) * (todo.length - verdicts.size))} s to go`,
      );
    }
    worker.kill();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  progress('');
  return verdicts;
}

function attempt(worker: ChildProcess, { id }: Mutant): Promise<Verdict | undefined> {
  const tests = reaching(id);
  const limits = tests.map((i) => ({
    ms: baselines[i]!.ms * 20 + 3000,
    ticks: baselines[i]!.ticks * 20 + 100_000,
  }));
  return ask<Verdict>(worker, { mutant: id, tests, limits });
}

async function startWorker(): Promise<ChildProcess> {
  const worker = fork(join(copy, 'evidence/mutation/worker.ts'), [values.tests, String(mutants.length)], {
    cwd: copy,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [message] = await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
  if (message !== 'ready') throw new Error('the tests cannot be loaded');
  return worker;
}

/** Returns what a worker answers, or `undefined` if it ends or takes too long. */
function ask<T>(worker: ChildProcess, order: Order): Promise<T | undefined> {
  return new Promise((resolve) => {
    const timer = 'hits' in order ? undefined : setTimeout(() => done(undefined), MOST_MS);
    const done = (answer: T | undefined): void => {
      clearTimeout(timer);
      worker.off('message', done);
      worker.off('exit', lost);
      resolve(answer);
    };
    const lost = (): void => done(undefined);
    worker.on('message', done);
    worker.once('exit', lost);
    worker.send(order);
  });
}

/** Names reasons for mutants that are gone, because the line has changed or moved to another file. */
function refuseOutdated(): void {
  const keys = new Set(mutants.map(keyOf));
  for (const each of known.filter((each) => !keys.has(keyOf(each)))) {
    say(
      `${each.file}: ${short(each.before)}  =>  ${short(each.after)}  is no longer there: remove its reason`,
    );
    process.exitCode = 1;
  }
}

function report(): void {
  const reasonOf = (mutant: Mutant): string | undefined =>
    known.find((survivor) => keyOf(survivor) === keyOf(mutant))?.reason;
  const tried = chosen.filter((mutant) => verdicts.has(mutant) || reaching(mutant.id).length === 0);
  if (tried.length < chosen.length)
    say(`${chosen.length - tried.length} mutants were not tried, for want of time`);
  const survivors = tried.filter((mutant) => verdicts.get(mutant)?.by === undefined);
  const unknown = survivors.filter((mutant) => reasonOf(mutant) === undefined);
  for (const mutant of values.list ? survivors : unknown) {
    const { id, file, line, kind, before, after } = mutant;
    const how = reaching(id).length === 0 ? 'no test reaches it' : (reasonOf(mutant) ?? 'SURVIVES');
    say(`${file}:${line}  ${kind}: ${short(before)}  =>  ${short(after)}  ${how}`);
  }
  const isWhole = values.changed === undefined && values.sample === '1' && tried.length === chosen.length;
  if (values.again === undefined && isWhole) {
    const files = new Set(chosen.map(({ file }) => file));
    const used = new Set(survivors.map(keyOf));
    for (const each of known.filter((each) => files.has(each.file) && !used.has(keyOf(each))))
      say(
        `${each.file}: ${short(each.before)}  =>  ${short(each.after)}  does not survive: remove its reason`,
      );
  }
  const killed = tried.length - survivors.length;
  say(
    `\n${killed} of ${tried.length} mutants noticed (${((100 * killed) / tried.length).toFixed(1)} %), ` +
      `${survivors.length - unknown.length} survive with a reason, ${unknown.length} without`,
  );
  if (values.json !== undefined) {
    const rows = tried.map((mutant) => ({ ...mutant, ...verdicts.get(mutant), reason: reasonOf(mutant) }));
    writeFileSync(values.json, JSON.stringify(rows, null, 1));
  }
  if (values.write) {
    if (tried.length < mutants.filter(({ isStatic, id }) => !isStatic && !isLoadedOnly(id)).length)
      throw new Error('this run is not whole, so it draws no table');
    draw(tried, survivors, unknown);
  }
  if (unknown.length > 0) process.exitCode = 1;
}

/** Draws what was tried and what survived, folder by folder. */
function draw(tried: readonly Mutant[], survivors: readonly Mutant[], unknown: readonly Mutant[]): void {
  const rest = 'other files of `src`';
  const folderOf = ({ file }: Mutant): string =>
    file.split('/').length > 2 ? code(file.slice(0, file.lastIndexOf('/'))) : rest;
  const folders = [...new Set(tried.map(folderOf))].sort((a, b) => Number(a === rest) - Number(b === rest));
  const rows = [...folders, 'all'].map((name) => {
    const [all, left, without] = [tried, survivors, unknown].map(
      (mutants) => mutants.filter((mutant) => name === 'all' || folderOf(mutant) === name).length,
    ) as [number, number, number];
    const noticed = `${((100 * (all - left)) / all).toFixed(1)} %`;
    return [name, grouped(all), noticed, grouped(left - without), grouped(without)];
  });
  const head = ['changes in', 'tried', 'noticed', 'survive, with a reason', 'survive, without'];
  writeMeasured('docs/evidence/mutation.md', {
    mutants: `${table(head, rows)}\n\nWith Node.js ${process.versions.node}.`,
  });
}

function short(code: string): string {
  const line = code.replace(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 67)}...` : line;
}

function say(text: string): void {
  progress('');
  console.log(text);
}

/** Shows how far it is, on a terminal only. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
