/**
 * Runs the client at hubs, and on machines, that behave as badly as they can: docs/evidence/searches.md, "Hostile hubs".
 *
 *     evidence/searches/hostile/run --choices 1000000 --seed 1
 *     evidence/searches/hostile/run --keep build/hostile.jsonl   # goes on where it was stopped at the same commit
 *     evidence/searches/hostile/run --over MQTT --choices 20000
 *     evidence/searches/hostile/run --replay MQTT:1:345
 *     evidence/searches/hostile/run --planted
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundled } from '../../../test/world/bundled.ts';
import { grouped, table } from '../../../tools/draw.ts';
import { MEASURED, writeMeasured } from '../../../tools/measured.ts';
import { HOSTILE_FAULTS, planted } from './faults.ts';
import type { Report } from './worker.ts';

const WORKER = new URL('worker.ts', import.meta.url);
/** How many choices a process makes at most. */
const PART = 50_000;
/** How many lives a process leads before it counts. */
const WARM = 10;
/** The heap of a process, in MiB. V8 would let garbage grow as far as the machine has memory, and it would count as the client's. */
const HEAP = 128;

const { values: options } = parseArgs({
  options: {
    over: { type: 'string', multiple: true, default: ['WebSocket', 'page', 'MQTT', 'HTTPS'] },
    choices: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'string' },
    replay: { type: 'string' },
    planted: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

/** A report of a worker, as a line of the file of --keep. */
interface Part {
  readonly over: string;
  readonly seed: string;
  /** The commit that was measured, and when. */
  readonly measured: string;
  readonly report: Report;
}

const choices = Number(options.choices);
if (options.replay !== undefined) await replay(options.replay);
if (options.planted) await findPlanted();
const parts = readParts();
const code = await bundled(WORKER);
// Each transport in turn, so that a run that is stopped has tried all of them about as much.
for (let isDone = false; !isDone; ) {
  isDone = true;
  for (const over of options.over) {
    const { choices: made, next } = totalOf(over);
    if (made >= choices) continue;
    isDone = false;
    const wanted = Math.min(PART, choices - made);
    await run(code, over, wanted, options.seed, next, next + WARM, (report) => {
      if (report.broken !== undefined) fail(report, over, options.seed);
      keep({ over, seed: options.seed, measured: MEASURED, report });
    });
  }
}
const rows = options.over.map(rowOf);
for (const row of rows) console.log(row.join(' | '));
if (options.write) {
  const head = [
    'transport',
    'choices',
    'lives',
    'dials',
    'ready',
    'derivations',
    'most sockets',
    'lag',
    'memory',
    'at commit',
  ];
  writeMeasured(
    'docs/evidence/searches.md',
    { 'hostile hubs': table(head, rows) },
    parts.at(-1)?.measured ?? MEASURED,
  );
}
process.exit(0);

/** What earlier runs kept, each transport at one commit: this one, or one at which all its choices were made. */
function readParts(): Part[] {
  if (options.keep === undefined || !existsSync(options.keep)) return [];
  const lines = readFileSync(options.keep, 'utf8').split('\n').filter(Boolean);
  const kept = lines.map((line) => JSON.parse(line) as Part).filter(({ seed }) => seed === options.seed);
  return options.over.flatMap((over) => {
    const at = (commit: string): Part[] =>
      kept.filter((part) => part.over === over && commitOf(part) === commit);
    const made = (commit: string): number => at(commit).reduce((sum, { report }) => sum + report.choices, 0);
    const complete = kept.map(commitOf).find((commit) => made(commit) >= choices);
    return at(complete ?? commitOf({ measured: MEASURED }));
  });
}

function commitOf({ measured }: Pick<Part, 'measured'>): string {
  return measured.replace(/^Measured at commit | on .*$/g, '');
}

function keep(part: Part): void {
  parts.push(part);
  if (options.keep !== undefined) appendFileSync(options.keep, `${JSON.stringify(part)}\n`);
}

/** What the reports about a transport say together. */
function totalOf(transport: string): Omit<Report, 'broken' | 'case' | 'isLast'> & { readonly next: number } {
  const total = {
    choices: 0,
    cases: 0,
    dials: 0,
    ready: 0,
    derivations: 0,
    sockets: 0,
    lag: 0,
    memory: 0,
    seconds: 0,
    next: 0,
  };
  for (const { over, report } of parts) {
    if (over !== transport) continue;
    for (const name of ['choices', 'cases', 'dials', 'ready', 'derivations', 'seconds'] as const)
      total[name] += report[name];
    for (const name of ['sockets', 'lag', 'memory'] as const)
      total[name] = Math.max(total[name], report[name]);
    total.next = Math.max(total.next, report.case + 1);
  }
  return total;
}

function rowOf(over: string): string[] {
  const total = totalOf(over);
  const { measured } = parts.filter((part) => part.over === over).at(-1)!;
  const counts = [total.choices, total.cases, total.dials, total.ready, total.derivations, total.sockets];
  const memory = (total.memory / 2 ** 20).toFixed();
  return [over, ...counts.map(grouped), `${total.lag.toFixed()} ms`, `${memory} MiB`, commitOf({ measured })];
}

function fail(report: Report, over: string, seed: string): never {
  console.log(
    `${report.broken}\n\nAgain, alone: evidence/searches/hostile/run --replay ${over}:${seed}:${report.case}`,
  );
  process.exit(1);
}

/** Runs one life again, after some that warm up. */
async function replay(which: string): Promise<never> {
  const [over, seed, number] = which.split(':') as [string, string, string];
  const first = Math.max(0, Number(number) - WARM);
  const report = await run(await bundled(WORKER), over, 1, seed, first, Number(number));
  if (report.broken !== undefined) fail(report, over, seed);
  console.log(`${which}: ${report.choices} choices, no law is broken`);
  process.exit(0);
}

/** Plants each fault in turn, and says after how many choices it was found. */
async function findPlanted(): Promise<never> {
  let missed = 0;
  process.setMaxListeners(100); // each bundle is removed at the exit
  for (const fault of HOSTILE_FAULTS.filter(({ over }) => options.over.includes(over))) {
    const program = await bundled(WORKER, [planted(fault)]);
    const { broken, choices: made, seconds } = await run(program, fault.over, choices, options.seed, 0);
    if (broken === undefined) missed++;
    const found = broken === undefined ? 'NOT FOUND' : broken.split('\n')[0];
    console.log(`${fault.over}: ${fault.name}: ${found}, after ${made} choices, ${seconds.toFixed()} s`);
  }
  process.exit(missed > 0 ? 1 : 0);
}

/** Runs lives in a process of their own, and returns its last report. */
async function run(
  code: string,
  over: string,
  choices: number,
  seed: string,
  first: number,
  counted: number = first + WARM,
  hear: (report: Report) => void = () => {},
): Promise<Report> {
  const args = [over, choices, seed, first, counted].map(String);
  const execArgv = [
    '--expose-gc',
    `--max-old-space-size=${HEAP}`,
    ...(options.replay === undefined ? [] : ['--enable-source-maps']),
  ];
  const worker = fork(code, args, { execArgv });
  const exit = once(worker, 'exit').then(([status]) =>
    Promise.reject(new Error(`the process ended with ${status}`)),
  );
  exit.catch(() => {});
  const last = new Promise<Report>((resolve) => {
    worker.on('message', (report: Report) => {
      hear(report);
      if (report.isLast) resolve(report);
    });
  });
  return await Promise.race([last, exit]);
}
