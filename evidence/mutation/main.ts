/**
 * Changes the library, or the shells around it, in thousands of small ways, and shows which changes no test notices.
 *
 *     evidence/mutation/run                   all of src/, in an hour or two
 *     evidence/mutation/run --only src/wire   files whose path contains this
 *     evidence/mutation/run --only client/    the same in client/src and cli/src, if it begins with client or cli
 *     evidence/mutation/run --changed main    lines that differ from a commit
 *     evidence/mutation/run --seconds 60      stops after this time, with a random part of the mutants tried; Ctrl-C stops it
 *                                             likewise, and a second one at once
 *     evidence/mutation/run --sample 50       one mutant in fifty; with 50,7 one in fifty others, from the eighth
 *     evidence/mutation/run --tests '^wire/'  with these test files only, which is quicker and finds less;
 *                                             the vectors are vectors/session and so on
 *     evidence/mutation/run --list              also lists survivors that have a reason
 *     evidence/mutation/run --json FILE         also writes each mutant, and which test noticed it
 *     evidence/mutation/run --matrix FILE       the same with all tests that noticed it, which takes many times as long
 *     evidence/mutation/run --again FILE        all but what a test noticed in the run that wrote this, in files with the same code;
 *                                             what it writes with --json stands for both runs
 *     evidence/mutation/run --write             draws the table of docs/evidence/mutation.md from this run, and the one that it tries
 *                                             again; it says how many were not tried
 *
 * A copy of the project has all mutants of all files in it, each behind a switch. So a mutant costs the tests that reach
 * it, the fastest first, until one fails. In the shells many tests wait, so quick ones that noticed other mutants come
 * first. What survives must be in survivors.json, with a reason. Code that only runs when its module is loaded is left
 * out: that is over before a test can switch a mutant on. In the shells a mutant is on in the programs, too, that a test
 * starts; a file whose tests need what earlier ones leave behind runs whole, in a process of its own for each mutant.
 */
import { type ChildProcess, execFileSync, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { transformSync } from 'esbuild';
import { code, grouped, table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { type Mutant, mutated } from './mutants.ts';
import { MUTANT } from './state.ts';
import { AREAS, areaOf, isMutated, keyOf, readSurvivors } from './survivors.ts';
import type { Baseline, Order, Running, Verdict } from './worker.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: 'Infinity' },
    only: { type: 'string', default: '' },
    changed: { type: 'string' },
    sample: { type: 'string', default: '1' },
    tests: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    json: { type: 'string' },
    matrix: { type: 'string' },
    again: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

const area = areaOf(values.only);
const isMatrix = values.matrix !== undefined;
const json = values.matrix ?? values.json;

/** A worker that begins no other test is looked at each time so many milliseconds have passed. */
const LOOK_MS = 60_000;
/** It is ended if it runs for so many seconds of a processor more, or for less than one until it is looked at again. */
const MOST_SECONDS = 60;
/** How long the tests take together that are tried first in the shells, in milliseconds, without a mutant. */
const QUICK_MS = 3500;
/** How many mutants a process tries. */
const MOST_MUTANTS = 300;
const ENDLESS = 'it does not end';
const ENDED = 'its process ends';

/** What is copied in each area. */
const COPIED = ['test', 'evidence', 'tools', 'package.json', 'tsconfig.json'];

const root = fileURLToPath(new URL('../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'mutation-'));
/** The processes that run. Each begins a group, with the programs that its tests start. */
const workers = new Set<ChildProcess>();
/** The test that a worker began last. */
const running = new WeakMap<ChildProcess, string>();
process.on('exit', () => {
  for (const worker of workers) end(worker);
  try {
    rmSync(copy, { recursive: true, force: true });
  } catch {
    // A test that was ended has left something mounted there.
  }
});
/** Whether the run is to end with what it has. */
let isStopping = false;
let isTrying = false;
/** How many mutants each test was the first to notice. */
const noticedBy = new Map<string, number>();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (isStopping || !isTrying) process.exit(130);
    isStopping = true;
  });

const commit = git('rev-parse', '--short=7', 'HEAD');
const mutants = area === 'library' ? copyLibrary() : await copyShells();
const known = readSurvivors().filter(({ file }) => areaOf(file) === area);
const reasons = new Map(known.map((survivor) => [keyOf(survivor), survivor.reason]));
refuseOutdated();
const earlier = values.again === undefined ? new Map<Mutant, Row>() : noticedIn(values.again);
const wanted = choose(mutants);
say(`${mutants.length} mutants in all, ${wanted.length} chosen`);
if (wanted.length === 0) process.exit(1);
const { baselines, units, reaching, isReached, isLoadedOnly } = await firstRun();
const chosen = wanted.filter(({ id }) => !isLoadedOnly(id));
if (chosen.length < wanted.length)
  say(`${wanted.length - chosen.length} of them in code that only runs when it is loaded, and left out`);
const verdicts = await tryAll(chosen.filter(isReached));
report();

function git(...words: string[]): string {
  return execFileSync('git', words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** A file of this program in the copy: there the mutated modules ask which mutant is on. */
function ours(file: string): string {
  return join(copy, 'evidence/mutation', file);
}

/** Copies folders and files, links the others, and lets tests use our own `uvu`. */
function copyProject(copied: readonly string[]): void {
  for (const folder of copied) {
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
    writeFileSync(join(copy, file), text.replace(/from 'uvu'/g, `from '${ours('uvu.ts')}'`));
  }
}

/** Mutates the modules of the area. `write` gets the code of each. */
function mutateAll(state: string, write: (file: string, code: string) => void): Mutant[] {
  const found: Mutant[] = [];
  for (const file of AREAS[area].flatMap(filesIn)) {
    if (!isMutated(file)) continue;
    const { code, mutants } = mutated(file, readFileSync(join(root, file), 'utf8'), found.length);
    write(file, `import { $m, $tick } from '${state}';\n${code}`);
    for (const mutant of mutants) found.push(mutant);
  }
  return found;
}

/** Mutates `src/` in a copy, which the adapter for the judge uses, too. */
function copyLibrary(): Mutant[] {
  copyProject([...COPIED, 'src', 'bundles', 'examples', 'ports']);
  return mutateAll(ours('state.ts'), (file, code) => writeFileSync(join(copy, file), code));
}

/** Mutates the client, its sources and what was built of them, and the commands, their sources and the program. */
async function copyShells(): Promise<Mutant[]> {
  // Packages are found by name: these are the copies of the client and the commands, with the library as it was built.
  const copies: { readonly [name: string]: string } = {
    'hub-protocol': root,
    'hub-protocol-client': join(copy, 'client'),
    'hub-protocol-cli': join(copy, 'cli'),
  };
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')))
    symlinkSync(copies[name] ?? join(root, 'node_modules', name), join(copy, 'node_modules', name));
  copyProject([...COPIED, 'client', 'cli']);
  // Not every process that a test starts reads TypeScript.
  const state = transformSync(readFileSync(ours('state.ts'), 'utf8'), { loader: 'ts' });
  writeFileSync(ours('state.js'), state.code);
  const found = mutateAll(ours('state.js'), (file, code) => {
    writeFileSync(join(copy, file), code);
    if (!file.startsWith('client/')) return;
    const built = file.replace('/src/', '/dist/').replace(/ts$/, 'js');
    writeFileSync(join(copy, built), code.replace(/( from "\.[^"]*)\.(c?)ts"/g, '$1.$2js"'));
  });
  const { bundled } = (await import(join(copy, 'test/world/bundled.ts'))) as {
    bundled: (program: URL) => Promise<string>;
  };
  for (const [program, built] of [
    ['cli/src/cli.ts', 'cli.js'],
    ['client/src/derive-worker-on-node.ts', 'derive-worker-on-node.js'],
  ] as const)
    cpSync(await bundled(pathToFileURL(join(copy, program))), join(copy, 'cli/dist', built));
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
  const [each, first = 0] = values.sample.split(',').map(Number) as [number, number?];
  return all
    .filter((mutant) => !mutant.isStatic && isInScope(mutant) && !earlier.has(mutant))
    .filter(({ file, line }) => changed?.has(`${file}:${line}`) ?? true)
    .filter((_, i) => i % each === first % each);
}

function isInScope({ file }: Mutant): boolean {
  return file.includes(values.only);
}

/** The mutants that tests noticed in an earlier run, if the code of their files is still the same; lines may have moved. */
function noticedIn(path: string): Map<Mutant, Row> {
  const rows = JSON.parse(readFileSync(path, 'utf8')) as Row[];
  const known = new Map<string, boolean>();
  const hasSameCode = ({ file, commit }: Row): boolean => {
    const name = `${commit}:${file}`;
    const isSame = known.get(name) ?? minified(git('show', name)) === minified(readFileSync(file, 'utf8'));
    known.set(name, isSame);
    return isSame;
  };
  const here = new Set(mutants.map(({ file }) => file));
  const noticed = byKey(rows.filter((row) => row.by !== undefined && here.has(row.file) && hasSameCode(row)));
  const found = new Map<Mutant, Row>();
  // Equal lines of a file have equal mutants: which of them were noticed is certain only if all were.
  for (const [key, equal] of byKey(mutants.filter(({ isStatic }) => !isStatic))) {
    const their = noticed.get(key) ?? [];
    if (their.length === equal.length)
      for (const [i, mutant] of equal.entries()) found.set(mutant, their[i]!);
  }
  return found;
}

/** Code without comments. */
function minified(code: string): string {
  return transformSync(code, { loader: 'ts', minifyWhitespace: true }).code;
}

function byKey<T extends Mutant>(all: readonly T[]): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const each of all) found.set(keyOf(each), [...(found.get(keyOf(each)) ?? []), each]);
  return found;
}

/** The lines of the area that differ from a commit, as `file:line`. */
function changedLines(commit: string): Set<string> {
  const diff = execFileSync('git', ['diff', '--unified=0', '--no-color', commit, '--', ...AREAS[area]], {
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

/** What a run writes of a mutant. */
interface Row extends Mutant, Verdict {
  readonly commit: string;
}

/** A file of tests that need what earlier ones leave behind, and so run whole. */
interface Unit {
  readonly file: string;
  readonly baselines: readonly Baseline[];
  /** Which mutants they reach. */
  readonly hits: Uint8Array;
}

/** Runs all tests without a mutant, and learns which mutants each of them reaches. */
async function firstRun(): Promise<{
  baselines: readonly Baseline[];
  units: readonly Unit[];
  reaching: (mutant: number) => number[];
  isReached: (mutant: Mutant) => boolean;
  isLoadedOnly: (mutant: number) => boolean;
}> {
  const { baselines, hits } = await runWithout(values.tests, area === 'shells');
  const isAlone = ({ failure, failureAgain }: Baseline): boolean => (failure ?? failureAgain) === undefined;
  const units: Unit[] = [];
  if (area === 'shells') {
    for (const file of new Set(baselines.filter((test) => !isAlone(test)).map(({ file }) => file))) {
      const whole = await runWithout(patternOf(file), false);
      if (!whole.baselines.every(isAlone)) continue;
      const reached = new Uint8Array(mutants.length);
      for (const [i, hit] of whole.hits.entries()) if (hit === 1) reached[i % mutants.length] = 1;
      units.push({ file, baselines: whole.baselines, hits: reached });
    }
  }
  const isInUnit = (test: Baseline): boolean => units.some(({ file }) => file === test.file);
  for (const test of baselines) {
    if (isInUnit(test) || isAlone(test)) continue;
    const [why] = (test.failure ?? test.failureAgain)!.split('\n');
    say(`left out, for it fails here: ${test.file}: ${test.name}: ${why}`);
    process.exitCode = 1; // a mutant that only this test notices would seem to survive
  }
  const files = units.length === 0 ? '' : `; whole run those of ${units.map(({ file }) => file).join(', ')}`;
  say(
    `${baselines.length} tests run in ${Math.round(baselines.reduce((sum, { ms }) => sum + ms, 0) / 1000)} s${files}`,
  );
  const order = [...baselines.keys()].filter((i) => isAlone(baselines[i]!) && !isInUnit(baselines[i]!));
  order.sort((a, b) => baselines[a]!.ms - baselines[b]!.ms);
  const reaching = (mutant: number): number[] => order.filter((i) => hits[i * mutants.length + mutant] === 1);
  const isReached = ({ id }: Mutant): boolean =>
    reaching(id).length > 0 || units.some((unit) => unit.hits[id] === 1);
  const isLoadedOnly = (mutant: number): boolean =>
    hits[baselines.length * mutants.length + mutant] === 1 && !isReached(mutants[mutant]!);
  return { baselines, units, reaching, isReached, isLoadedOnly };
}

/** Runs tests in a new process without a mutant. */
async function runWithout(
  tests: string,
  isTwice: boolean,
): Promise<{ baselines: readonly Baseline[]; hits: Uint8Array }> {
  const path = join(copy, 'hits');
  const worker = await startLoaded(tests);
  const baselines = await ask<readonly Baseline[]>(worker, { hits: path, isTwice });
  end(worker);
  if (baselines === undefined) throw new Error(`without a mutant: ${running.get(worker)}: ${ENDLESS}`);
  return { baselines, hits: readFileSync(path) };
}

function patternOf(file: string): string {
  return `^${file.replace(/\./g, '\\.')}$`;
}

async function tryAll(todo: Mutant[]): Promise<Map<Mutant, Verdict>> {
  const verdicts = new Map<Mutant, Verdict>();
  const began = performance.now();
  isTrying = true;
  // In an order that has nothing to do with the files, for a run that is ended early; last what is known to survive.
  const isKnown = (mutant: Mutant): number => Number(reasonOf(mutant) !== undefined);
  const shuffled = (id: number): number => Math.imul(id, 0x9e3779b1) >>> 0;
  const queue = [...todo].sort((a, b) => isKnown(a) - isKnown(b) || shuffled(a.id) - shuffled(b.id));
  const work = async (): Promise<void> => {
    let worker = await startLoaded(values.tests);
    let tried = 0;
    const renew = async (): Promise<void> => {
      end(worker);
      worker = await startLoaded(values.tests);
      tried = 0;
    };
    const attemptHere = async (mutant: Mutant): Promise<Verdict> => {
      tried++;
      const quick = area === 'shells' && !isMatrix ? quickTests(mutant) : [];
      const verdict =
        quick.length === 0 ? {} : await attempt(worker, mutant, quick, baselines, quickLimitsOf);
      if (verdict.by === undefined) return attempt(worker, mutant);
      noticedBy.set(verdict.by, (noticedBy.get(verdict.by) ?? 0) + 1);
      return verdict;
    };
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      if (isStopping || performance.now() - began > 1000 * Number(values.seconds)) {
        queue.length = 0;
        break;
      }
      if (tried === MOST_MUTANTS) await renew();
      let verdict = await attemptHere(mutant);
      // What earlier tests left in a process can fail tests by itself, and can hide a mutant, since some code runs only once in a
      // process: what it makes is kept. Then only a new process can tell.
      const isHidden = verdict.by === undefined && reasonOf(mutant) === undefined;
      if (tried > 1 && (isHidden || verdict.isSpoilt || verdict.failure === ENDED)) {
        await renew();
        verdict = await attemptHere(mutant);
      }
      if (verdict.isSpoilt || !workers.has(worker)) await renew();
      if (verdict.by === undefined) verdict = await attemptInUnits(mutant);
      verdicts.set(mutant, verdict);
      const seconds = (performance.now() - began) / 1000;
      progress(
        `${verdicts.size} of ${todo.length}, ${[...verdicts.values()].filter(({ by }) => by === undefined).length} survive, ` +
          `${Math.round((seconds / verdicts.size) * (todo.length - verdicts.size))} s to go`,
      );
    }
    end(worker);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  progress('');
  return verdicts;
}

/** Tries a mutant with tests, and with all that reach it by default. */
async function attempt(
  worker: ChildProcess,
  { id }: Mutant,
  tests: readonly number[] = reaching(id),
  taken: readonly Baseline[] = baselines,
  limitsFor = limitsOf,
): Promise<Verdict> {
  const limits = tests.map((i) => limitsFor(taken[i]!));
  const verdict = await ask<Verdict>(worker, { mutant: id, tests, limits, isMatrix });
  if (verdict !== undefined) return verdict;
  const hasEnded = worker.exitCode !== null || worker.signalCode !== null;
  end(worker);
  return { by: running.get(worker)!, failure: hasEnded ? ENDED : ENDLESS };
}

/** Those of the quick tests that reach a mutant first which noticed the most others for what they take. */
function quickTests({ id }: Mutant): number[] {
  const worth = (i: number): number => {
    const { file, name, ms } = baselines[i]!;
    return (noticedBy.get(`${file}: ${name}`) ?? 0) / (ms + 30);
  };
  const sorted = reaching(id)
    .filter((i) => baselines[i]!.ms < QUICK_MS / 2)
    .sort((a, b) => worth(b) - worth(a) || baselines[a]!.ms - baselines[b]!.ms);
  let left = QUICK_MS;
  return sorted.filter((i) => {
    left -= baselines[i]!.ms;
    return left > 0;
  });
}

/** A test that only waits is late soon. */
function quickLimitsOf({ ms, ticks }: Baseline): Pick<Baseline, 'ms' | 'ticks'> {
  return { ms: ms * 5 + 2500, ticks: ticks * 20 + 100_000 };
}

/** How long a test may take. In the shells as long as in `tools/test.ts`, so that what waits there in vain fails by itself. */
function limitsOf({ ms, ticks }: Baseline): Pick<Baseline, 'ms' | 'ticks'> {
  const busy = Math.max(1, loadavg()[0]! / availableParallelism());
  return {
    ms: area === 'library' ? ms * 20 + 3000 : Math.max(ms * 3, 20_000 * busy),
    ticks: ticks * 20 + 100_000,
  };
}

/** Tries a mutant with each file that runs whole, in a new process in which it is on from the start. */
async function attemptInUnits(mutant: Mutant): Promise<Verdict> {
  for (const { file, baselines, hits } of units) {
    if (hits[mutant.id] !== 1) continue;
    const worker = startWorker(patternOf(file), mutant.id);
    const verdict = await attempt(worker, mutant, [...baselines.keys()], baselines);
    end(worker);
    if (verdict.by !== undefined) return verdict;
  }
  return {};
}

async function startLoaded(tests: string): Promise<ChildProcess> {
  const worker = startWorker(tests);
  const [message] = await Promise.race([once(worker, 'message'), once(worker, 'exit')]);
  if (!isRunning(message)) throw new Error('the tests cannot be loaded');
  return worker;
}

function isRunning(message: unknown): message is Running {
  return typeof message === 'object' && message !== null && 'running' in message;
}

/** @param mutant - what is on while the tests are loaded */
function startWorker(tests: string, mutant = -1): ChildProcess {
  const worker = fork(join(copy, 'evidence/mutation/worker.ts'), [tests, String(mutants.length), area], {
    cwd: copy,
    env: { ...process.env, [MUTANT]: String(mutant), ...(area === 'shells' && { TMPDIR: copy }) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
  });
  workers.add(worker);
  running.set(worker, 'before the first test');
  worker.on('message', (message) => {
    if (isRunning(message)) running.set(worker, message.running);
  });
  return worker;
}

/** Ends a worker, and the programs that its tests have started. */
function end(worker: ChildProcess): void {
  workers.delete(worker);
  try {
    process.kill(-worker.pid!, 'SIGKILL');
  } catch {
    // They have ended.
  }
}

/** Returns what a worker answers, or `undefined` if it ends or takes too long. */
function ask<T extends object>(worker: ChildProcess, order: Order): Promise<T | undefined> {
  return new Promise((resolve) => {
    if (!worker.connected) return resolve(undefined);
    // In a test that does not answer. On a busy machine it may only wait for its turn.
    let used: number[] = [];
    const look = (): void => {
      used.push(secondsOf(worker));
      const [first, last, before] = [used[0]!, used.at(-1)!, used.at(-2)];
      if (before === undefined || (last - before >= 1 && last - first < MOST_SECONDS)) timer.refresh();
      else done(undefined);
    };
    const timer = setTimeout(look, LOOK_MS);
    const hear = (message: T | Running): void => {
      if (!isRunning(message)) done(message);
      else {
        used = [];
        timer.refresh();
      }
    };
    const done = (answer: T | undefined): void => {
      clearTimeout(timer);
      worker.off('message', hear);
      worker.off('exit', lost);
      resolve(answer);
    };
    const lost = (): void => done(undefined);
    worker.on('message', hear);
    worker.once('exit', lost);
    worker.send(order);
  });
}

/** How many seconds of a processor a process has used. */
function secondsOf({ pid }: ChildProcess): number {
  const { stdout } = spawnSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0);
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

function reasonOf(mutant: Mutant): string | undefined {
  return reasons.get(keyOf(mutant));
}

function report(): void {
  const tried = chosen.filter((mutant) => verdicts.has(mutant) || !isReached(mutant));
  if (tried.length < chosen.length)
    say(`${chosen.length - tried.length} mutants were not tried, for want of time`);
  const survivors = tried.filter((mutant) => verdicts.get(mutant)?.by === undefined);
  const unknown = survivors.filter((mutant) => reasonOf(mutant) === undefined);
  for (const mutant of values.list ? survivors : unknown) {
    const { file, line, kind, before, after } = mutant;
    const how = !isReached(mutant) ? 'no test reaches it' : (reasonOf(mutant) ?? 'SURVIVES');
    say(`${file}:${line}  ${kind}: ${short(before)}  =>  ${short(after)}  ${how}`);
  }
  const noticedBefore = [...earlier.keys()].filter(isInScope);
  if (values.changed === undefined && values.sample === '1' && tried.length === chosen.length) {
    const files = new Set([...chosen, ...noticedBefore].map(({ file }) => file));
    const used = new Set(survivors.map(keyOf));
    for (const each of known.filter((each) => files.has(each.file) && !used.has(keyOf(each))))
      say(
        `${each.file}: ${short(each.before)}  =>  ${short(each.after)}  does not survive: remove its reason`,
      );
  }
  const endless = tried.filter((mutant) => verdicts.get(mutant)?.failure === ENDLESS);
  for (const mutant of values.list ? endless : []) {
    const { file, line, kind, before, after } = mutant;
    const { by } = verdicts.get(mutant)!;
    say(`${file}:${line}  ${kind}: ${short(before)}  =>  ${short(after)}  ${ENDLESS}: ${by}`);
  }
  const killed = tried.length - survivors.length;
  say(
    `\n${killed} of ${tried.length} mutants noticed (${((100 * killed) / tried.length).toFixed(1)} %), ` +
      `${endless.length} of them by a test that does not end, ` +
      `${survivors.length - unknown.length} survive with a reason, ${unknown.length} without`,
  );
  if (json !== undefined) {
    const rows = tried.map((mutant) => ({
      ...mutant,
      ...verdicts.get(mutant),
      commit,
      reason: reasonOf(mutant),
    }));
    writeFileSync(json, JSON.stringify([...earlier.values(), ...rows], null, 1));
  }
  if (values.write) {
    const isTried = new Set([...earlier.keys(), ...tried]);
    const left = mutants.filter(
      (mutant) => !mutant.isStatic && !isLoadedOnly(mutant.id) && !isTried.has(mutant),
    );
    draw([...isTried], survivors, unknown, left);
  }
  if (unknown.length > 0) process.exitCode = 1;
}

/** Draws what was tried and what survived, folder by folder. What was not tried and has a reason counts as a survivor. */
function draw(
  tried: readonly Mutant[],
  survivors: readonly Mutant[],
  unknown: readonly Mutant[],
  left: readonly Mutant[],
): void {
  const rest = 'other files of `src`';
  const assumed = left.filter((mutant) => reasonOf(mutant) !== undefined);
  const untried = left.filter((mutant) => reasonOf(mutant) === undefined);
  const folderOf = ({ file }: Mutant): string =>
    file.split('/').length > 2 ? code(file.slice(0, file.lastIndexOf('/'))) : rest;
  const folders = [...new Set([...tried, ...left].map(folderOf))].sort();
  folders.sort((a, b) => Number(a === rest) - Number(b === rest));
  const rows = [...folders, 'all'].map((name) => {
    const [all, alive, without, open] = [
      [...tried, ...assumed],
      [...survivors, ...assumed],
      unknown,
      untried,
    ].map((mutants) => mutants.filter((mutant) => name === 'all' || folderOf(mutant) === name).length) as [
      number,
      number,
      number,
      number,
    ];
    const noticed = all === 0 ? '' : `${((100 * (all - alive)) / all).toFixed(1)} %`;
    return [name, grouped(all), noticed, grouped(alive - without), grouped(without), grouped(open)];
  });
  const head = ['changes in', 'tried', 'noticed', 'survive, with a reason', 'survive, without', 'not tried'];
  const commits = new Map<string, number>();
  for (const { commit } of earlier.values()) commits.set(commit, (commits.get(commit) ?? 0) + 1);
  const runs = [...commits].map(([commit, count]) => `${grouped(count)} at \`${commit}\``);
  const before =
    runs.length === 0 ? '' : ` Noticed in earlier runs, and not tried again: ${runs.join(', ')}.`;
  const again =
    assumed.length === 0 ? '' : ` Of those with a reason, ${grouped(assumed.length)} were not tried again.`;
  writeMeasured('docs/evidence/mutation.md', {
    mutants: `${table(head, rows)}\n\nWith Node.js ${process.versions.node}.${before}${again}`,
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
