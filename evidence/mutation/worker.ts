/** Runs tests with one mutant after the other. Its parent is main.ts, which copied the project and mutated it in the copy. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import state, { HITS, MUTANT } from './state.ts';
import type { Area } from './survivors.ts';
import { startFile, type Test, tests } from './uvu.ts';

/**
 * What the parent asks: either to run all tests, perhaps again, and to write to `hits` which mutants each of them reaches, and last
 * those that loading them reaches, or to try a mutant.
 */
export type Order =
  | { readonly hits: string; readonly isTwice: boolean }
  | {
      readonly mutant: number;
      readonly tests: readonly number[];
      readonly limits: readonly Limits[];
      /** Whether it goes on after the first test that notices the mutant. */
      readonly isMatrix: boolean;
    };

/** How long a test may take, without what it waits for a processor. */
export interface Limits {
  readonly ms: number;
  readonly ticks: number;
}

/** What a test took without a mutant, or why it failed. */
export interface Baseline extends Limits {
  readonly file: string;
  readonly name: string;
  readonly failure?: string;
  /** Why it failed when it ran again, after all others: it depends on what others leave behind, or leaves something behind. */
  readonly failureAgain?: string;
}

/** Sent when the tests are loaded, and before one runs, so that the parent can name one that does not end. */
export interface Running {
  readonly running: string;
}

/** Which test noticed a mutant, and how; or none. */
export interface Verdict {
  readonly by?: string;
  readonly failure?: string;
  /** All tests that noticed it, or only the first. */
  readonly all?: readonly string[];
  /** True if the test now fails without the mutant, too. */
  readonly isSpoilt?: boolean;
}

/**
 * These read the sources or start processes, so they try nothing of the mutated modules. vectors.ts stands for the one that
 * puts the vectors to the library.
 */
const LEFT_OUT =
  /^(?:browser|bundles|cli|client|docs|engines|examples|external|interop|judge|mqtt|package|tools|vectors)\/|^crypto\/js-.*-proof\.|^(?:ceilings|house)\.|^entries\/entries\.|^evidence\/planted\.|^issued\/aliases\./;

const ENDLESS = 'it does not end';
const UNLIMITED: Limits = { ms: 60_000, ticks: Number.POSITIVE_INFINITY };

const [pattern, count, area] = process.argv.slice(2) as [string, string, Area];
const folder = new URL('../../test/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
const wanted = new RegExp(pattern);
/** What imports the package tests what was built, and not the mutated modules. */
const usesPackage = (path: string): boolean =>
  /from 'hub-protocol/.test(readFileSync(new URL(path, folder), 'utf8'));
const isOfArea = (path: string): boolean =>
  area === 'shells' ? /^(?:cli|client)\//.test(path) : !LEFT_OUT.test(path) && !usesPackage(path);
const isTest = (path: string): boolean => path.endsWith('.test.ts') && wanted.test(path) && isOfArea(path);
const mutants = Number(count);
const loaded = new Uint8Array(mutants);
state.hits = loaded;
for (const file of files.filter(isTest).sort()) {
  startFile(file);
  await import(new URL(file, folder).href);
}
if (area === 'library') (await import('./vectors.ts')).addVectors((path) => wanted.test(path));
state.hits = undefined;
// What a mutant throws later, and nobody awaits, is no answer to the test that runs then.
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => {});
process.on('message', async (order: Order) => {
  process.send!('hits' in order ? await baseline(order.hits, order.isTwice) : await attempt(order));
});
process.send!({ running: 'no test' } satisfies Running); // they are loaded

/** Runs all tests, the second time backwards. */
async function baseline(path: string, isTwice: boolean): Promise<Baseline[]> {
  const hits = new Uint8Array((tests.length + 1) * mutants);
  hits.set(loaded, tests.length * mutants);
  const results: Baseline[] = [];
  for (const [i, test] of tests.entries()) {
    const began = ownTime();
    const failure = await hitting(test, hits.subarray(i * mutants, (i + 1) * mutants));
    const { file, name } = test;
    const taken = { ms: ownTime() - began, ticks: state.ticks };
    results.push({ file, name, ...taken, ...(failure !== undefined && { failure }) });
  }
  writeFileSync(path, hits);
  for (const [i, test] of isTwice ? [...tests.entries()].reverse() : []) {
    const failureAgain = await failureOf(test, UNLIMITED);
    if (failureAgain !== undefined) results[i] = { ...results[i]!, failureAgain };
  }
  return results;
}

/** Runs a test, and marks the mutants that it reaches; in the shells, also in the programs that it starts. */
async function hitting(test: Test, hits: Uint8Array): Promise<string | undefined> {
  const written = new URL(`../../hits-${process.pid}/`, import.meta.url);
  if (area === 'shells') {
    mkdirSync(written);
    process.env[HITS] = written.pathname;
  }
  state.hits = hits;
  const failure = await failureOf(test, UNLIMITED);
  state.hits = undefined;
  if (area === 'library') return failure;
  delete process.env[HITS];
  for (const name of readdirSync(written)) {
    for (const id of readFileSync(new URL(name, written), 'utf8').split(' '))
      if (id !== '') hits[Number(id)] = 1;
  }
  rmSync(written, { recursive: true });
  return failure;
}

async function attempt(order: Extract<Order, { mutant: number }>): Promise<Verdict> {
  const all: string[] = [];
  let verdict: Verdict = {};
  for (const [i, index] of order.tests.entries()) {
    const test = tests[index]!;
    state.active = order.mutant;
    process.env[MUTANT] = String(order.mutant);
    const failure = await failureOf(test, order.limits[i]!);
    state.active = -1;
    process.env[MUTANT] = '-1';
    if (failure === undefined) continue;
    const isSpoilt = (await failureOf(test, UNLIMITED)) !== undefined;
    all.push(nameOf(test));
    verdict = { by: all[0]!, failure: verdict.failure ?? failure, all, isSpoilt };
    if (!order.isMatrix || isSpoilt || failure === ENDLESS) break; // others would take as long
  }
  return verdict;
}

function nameOf({ file, name }: Test): string {
  return `${file}: ${name}`;
}

/** Runs a test. Returns why it failed. */
async function failureOf(test: Test, limits: Limits): Promise<string | undefined> {
  process.send!({ running: nameOf(test) } satisfies Running);
  state.ticks = 0;
  state.mostTicks = limits.ticks;
  let timer: NodeJS.Timeout | undefined;
  const end = ownTime() + limits.ms;
  const late = new Promise<string>((resolve) => {
    const look = (): void => {
      const left = end - ownTime();
      if (left > 0) timer = setTimeout(look, left);
      else resolve(ENDLESS);
    };
    look();
  });
  try {
    return await Promise.race([late, test.run().then(() => undefined)]);
  } catch (error) {
    return String(error).slice(0, 200);
  } finally {
    clearTimeout(timer);
  }
}

/** The time of this process in milliseconds, without what it waits for a processor: a machine may be busy. */
function ownTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + performance.eventLoopUtilization().idle;
}
