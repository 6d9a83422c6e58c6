/**
 * Searches for inputs that break the law of docs/evidence/searches.md, on all cores.
 *
 *     evidence/searches/fuzz/run --minutes 10 --seed 1
 *     evidence/searches/fuzz/run --target sessions --workers 1
 *     evidence/searches/fuzz/run --replay sessions:123456
 */
import { randomInt } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { bundled } from '../../../test/world/bundled.ts';
import { grouped } from '../../../tools/draw.ts';
import { TARGETS } from './targets.ts';
import { type Outcome, PROGRESS, type Task } from './worker.ts';

/**
 * A case that takes so much of the processor hangs, in milliseconds. Most take less than one. On a busy machine a worker may
 * stand still for longer, so it is not the clock that counts.
 */
const HANG = 30_000;
/** A worker that needs more memory grows without bound, in MiB. */
const MEMORY = 512;

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
    workers: { type: 'string', default: String(availableParallelism()) },
    target: { type: 'string', multiple: true, default: Object.keys(TARGETS) },
    replay: { type: 'string' },
  },
});

const [replayed, given] = options.replay?.split(':') ?? [];
const names = replayed === undefined ? options.target : [replayed];
for (const name of names) if (TARGETS[name] === undefined) throw new Error(`no target is called ${name}`);

if (replayed === undefined) console.log(`--seed ${options.seed}`);
const started = Date.now();
const until = started + Number(options.minutes) * 60_000;
const code = await bundled(new URL('worker.ts', import.meta.url));

const figures: Float64Array[] = [];
const runs = Array.from({ length: replayed === undefined ? Number(options.workers) : 1 }, (_, i) => start(i));
const timer = setInterval(watch, 1000);
const outcomes = await Promise.race([Promise.all(runs), firstBreach(runs)]);
clearInterval(timer);
if (process.stdout.isTTY) process.stdout.write('\r\x1b[K');
const broken = outcomes.find(({ breach }) => breach !== undefined);
console.log(summary());
for (const [i, name] of names.entries())
  console.log(`  ${name}: ${grouped(sum(PROGRESS.byTarget + i))} inputs`);
if (broken !== undefined)
  console.log(
    `${broken.breach}\n\nAgain, alone: evidence/searches/fuzz/run --replay ${broken.name}:${broken.seed}`,
  );
process.exit(broken === undefined ? 0 : 1);

/** Starts a worker. Resolves when it has ended. */
function start(index: number): Promise<Outcome> {
  const progress = new SharedArrayBuffer(8 * (PROGRESS.byTarget + names.length));
  const own = new Float64Array(progress);
  figures.push(own);
  const task: Task = {
    seed: Number(options.seed) * 1000 + index,
    names,
    until,
    progress,
    ...(replayed !== undefined && { only: Number(given) }),
  };
  const worker = new Worker(code, {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY },
    execArgv: ['--enable-source-maps'],
  });
  return new Promise((resolve) => {
    let since = cpuTime();
    let last = '';
    const failed = (breach: string): void => {
      clearInterval(check);
      resolve({ name: names[own[PROGRESS.target]!]!, seed: own[PROGRESS.seed]!, breach });
    };
    const check = setInterval(() => {
      const now = `${own[PROGRESS.cases]}:${own[PROGRESS.seed]}`;
      if (now !== last) since = cpuTime();
      last = now;
      if (cpuTime() - since > HANG * Number(options.workers))
        failed(`a case takes more than ${HANG / 1000} seconds`);
    }, 1000);
    worker.on('error', (error) => failed(error.stack ?? error.message));
    worker.on('message', (outcome: Outcome) => {
      clearInterval(check);
      resolve(outcome);
    });
  });
}

/** What all workers have used of the processor, in milliseconds. */
function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Resolves when a worker has found a breach. */
function firstBreach(runs: readonly Promise<Outcome>[]): Promise<Outcome[]> {
  return new Promise((resolve) => {
    for (const run of runs) run.then((outcome) => outcome.breach !== undefined && resolve([outcome]));
  });
}

function watch(): void {
  const seconds = Math.round((Date.now() - started) / 1000);
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${summary()}`);
  else if (seconds % 60 === 0) console.log(summary());
}

/** A figure of all workers. */
function sum(place: number): number {
  return figures.reduce((total, own) => total + own[place]!, 0);
}

function summary(): string {
  const seconds = Math.max(1, (Date.now() - started) / 1000);
  const heap = Math.max(...figures.map((own) => own[PROGRESS.heap]!));
  return [
    `${grouped(sum(PROGRESS.inputs))} inputs`,
    `${grouped(sum(PROGRESS.sessions))} sessions (${grouped(sum(PROGRESS.mutated))} mutated)`,
    `${grouped(sum(PROGRESS.cases))} cases`,
    `${grouped(Math.round(sum(PROGRESS.inputs) / seconds))} inputs/s`,
    `${Math.round(seconds)} s`,
    `at most ${Math.round(heap / 2 ** 20)} MiB of heap`,
  ].join(', ');
}
