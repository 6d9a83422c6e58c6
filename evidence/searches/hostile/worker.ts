/**
 * A process that runs cases in memory, and reports what they took: `worker.ts OVER CHOICES SEED FIRST COUNTED`. The first cases, before the one
 * that counts, only compile and allocate what is needed once. It needs --expose-gc.
 */
import { peers, real, time } from './virtual.ts';

time.install();
const { broken: laws, Case, SECRETS, seen } = await import('./case.ts');
type Over = import('./case.ts').Over;

/** What a worker tells its parent from time to time: what happened since it last did. */
export interface Report {
  readonly choices: number;
  readonly cases: number;
  readonly dials: number;
  readonly ready: number;
  readonly derivations: number;
  /** The most sockets that were open at the same time. */
  readonly sockets: number;
  /** The longest section in which the event loop stood still, in milliseconds of the CPU time of this process. */
  readonly lag: number;
  /** By how much the resident memory grew at most, in bytes. */
  readonly memory: number;
  readonly seconds: number;
  /** What was found: the law that is broken, and the number of the case. */
  readonly broken: string | undefined;
  readonly case: number;
  readonly isLast: boolean;
}

/** After how many choices a worker reports: a search that is stopped loses them. */
const REPORTED = 5000;
const MOST_LAG = 200;
/** A case that takes so much of the processor hangs, in milliseconds. Most take 30. */
const HANG = 20_000;
const MOST_MEMORY = 128 * 2 ** 20;
const over = process.argv[2] as Over;
const [choices, seed, first, counted] = process.argv.slice(3).map(Number) as [number, number, number, number];

let number = first;
let broken: string | undefined;
const fail = (what: string): void => {
  broken ??= what;
};
process.on('uncaughtException', (error) => fail(`uncaught: ${error?.stack ?? error}`));
process.on('unhandledRejection', (error) => fail(`unhandled: ${(error as Error)?.stack ?? error}`));
process.on('warning', (warning) => fail(`warning: ${warning.stack ?? warning}`));
for (const stream of [process.stdout, process.stderr]) {
  stream.write = (chunk: string | Uint8Array) => {
    const text = Buffer.from(chunk as string).toString();
    fail(
      `printed${SECRETS.some((secret) => text.includes(secret)) ? ' a secret' : ''}: ${text.slice(0, 300)}`,
    );
    return true;
  };
}

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const collect = (globalThis as unknown as { gc?: () => void }).gc ?? (() => {});
let began = real.now();
/** How many choices were reported. */
let reported = 0;
let lag = 0;
let memory = 0;
let base = Number.POSITIVE_INFINITY;
let isWarm = false;
let caseBegan = cpu();
let last = { wall: real.now(), cpu: cpu() };
let spent = 0;
const watch = real.setInterval(() => {
  const now = { wall: real.now(), cpu: cpu() };
  lag = Math.max(lag, Math.min(now.wall - last.wall - 5, now.cpu - last.cpu) - (peers.spent - spent));
  spent = peers.spent;
  last = now;
  memory = Math.max(memory, process.memoryUsage.rss() - base);
  if (now.cpu - caseBegan > HANG) {
    fail(`a case takes more than ${HANG / 1000} s`);
    finish();
  }
  if (isWarm && lag > MOST_LAG) fail(`the event loop stood still for ${lag.toFixed()} ms`);
  if (memory > MOST_MEMORY) fail(`the memory grew by ${(memory / 2 ** 20).toFixed()} MiB`);
}, 5);

function report(isLast: boolean, sent: () => void = () => {}): void {
  const seconds = (real.now() - began) / 1000;
  const report: Report = { ...seen, lag, memory, seconds, broken, case: number, isLast };
  process.send!(report, sent);
  reported += seen.choices;
  for (const name of Object.keys(seen) as (keyof typeof seen)[]) seen[name] = 0;
  lag = memory = 0;
  began = real.now();
}

function finish(): void {
  clearInterval(watch);
  report(true, () => process.exit());
}

async function runCase(): Promise<void> {
  caseBegan = cpu();
  try {
    await new Case(over, seed * 1_000_000 + number).run();
  } catch (error) {
    fail(laws[0] ?? (error as Error).stack ?? String(error));
  }
  if (laws[0] !== undefined) fail(laws[0]);
}

while (number < counted && broken === undefined) {
  await runCase();
  if (broken === undefined) number++;
}
for (const name of Object.keys(seen) as (keyof typeof seen)[]) seen[name] = 0;
collect();
base = process.memoryUsage.rss();
isWarm = true;
lag = memory = 0;
last = { wall: real.now(), cpu: cpu() };
while (broken === undefined) {
  await runCase();
  if (broken !== undefined || reported + seen.choices >= choices) break;
  if (seen.choices >= REPORTED) report(false);
  number++;
}
finish();
