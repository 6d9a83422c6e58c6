/** Runs tests with one mutant after the other. Its parent is main.ts, which copied the project and mutated src/ in the copy. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import state from './state.ts';
import { startFile, type Test, tests } from './uvu.ts';
import { addVectors } from './vectors.ts';

/**
 * What the parent asks: either to run all tests and to write to `hits` which mutants each of them reaches, and last those that
 * loading them reaches, or to try a mutant.
 */
export type Order =
  | { readonly hits: string }
  | { readonly mutant: number; readonly tests: readonly number[]; readonly limits: readonly Limits[] };

/** How long a test may take. */
export interface Limits {
  readonly ms: number;
  readonly ticks: number;
}

/** What a test took without a mutant, or why it failed. */
export interface Baseline extends Limits {
  readonly file: string;
  readonly name: string;
  readonly failure?: string;
}

/** Which test noticed a mutant, and how; or none. */
export interface Verdict {
  readonly by?: string;
  readonly failure?: string;
  /** True if the test now fails without the mutant, too. */
  readonly isSpoilt?: boolean;
}

/**
 * These read the sources or start processes, so they try nothing of the mutated modules. vectors.ts stands for the one that
 * puts the vectors to the library.
 */
const LEFT_OUT =
  /^(?:browser|bundles|cli|client|docs|engines|examples|external|interop|judge|mqtt|package|tools)\/|^crypto\/js-.*-proof\.|^(?:ceilings|house)\.|^evidence\/planted\.|^issued\/aliases\./;

const UNLIMITED: Limits = { ms: 60_000, ticks: Number.POSITIVE_INFINITY };

const folder = new URL('../../test/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
const wanted = new RegExp(process.argv[2]!);
/** What imports the package tests what was built, and not the mutated modules. */
const usesPackage = (path: string): boolean =>
  /from 'hub-protocol/.test(readFileSync(new URL(path, folder), 'utf8'));
const isTest = (path: string): boolean =>
  path.endsWith('.test.ts') && wanted.test(path) && !LEFT_OUT.test(path) && !usesPackage(path);
const mutants = Number(process.argv[3]);
const loaded = new Uint8Array(mutants);
state.hits = loaded;
for (const file of files.filter(isTest).sort()) {
  startFile(file);
  await import(new URL(file, folder).href);
}
addVectors((path) => wanted.test(path));
state.hits = undefined;
// What a mutant throws later, and nobody awaits, is no answer to the test that runs then.
process.on('unhandledRejection', () => {});
process.on('uncaughtException', () => {});
process.on('message', async (order: Order) => {
  process.send!('hits' in order ? await baseline(order.hits) : await attempt(order));
});
process.send!('ready');

async function baseline(path: string): Promise<Baseline[]> {
  const hits = new Uint8Array((tests.length + 1) * mutants);
  hits.set(loaded, tests.length * mutants);
  const results: Baseline[] = [];
  for (const [i, test] of tests.entries()) {
    state.hits = hits.subarray(i * mutants, (i + 1) * mutants);
    const began = performance.now();
    const failure = await failureOf(test, UNLIMITED);
    const { file, name } = test;
    const taken = { ms: performance.now() - began, ticks: state.ticks };
    results.push({ file, name, ...taken, ...(failure === undefined ? {} : { failure }) });
  }
  state.hits = undefined;
  writeFileSync(path, hits);
  return results;
}

async function attempt(order: Extract<Order, { mutant: number }>): Promise<Verdict> {
  for (const [i, index] of order.tests.entries()) {
    const test = tests[index]!;
    state.active = order.mutant;
    const failure = await failureOf(test, order.limits[i]!);
    state.active = -1;
    if (failure === undefined) continue;
    const isSpoilt = (await failureOf(test, UNLIMITED)) !== undefined;
    return { by: `${test.file}: ${test.name}`, failure, isSpoilt };
  }
  return {};
}

/** Runs a test. Returns why it failed. */
async function failureOf(test: Test, limits: Limits): Promise<string | undefined> {
  state.ticks = 0;
  state.mostTicks = limits.ticks;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('it does not end'), limits.ms);
  });
  try {
    return await Promise.race([late, test.run().then(() => undefined)]);
  } catch (error) {
    return String(error).slice(0, 200);
  } finally {
    clearTimeout(timer);
  }
}
