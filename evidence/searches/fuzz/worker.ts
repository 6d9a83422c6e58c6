/** A thread of the search: runs cases until it is time, or until one breaks the law. */
import { parentPort, workerData } from 'node:worker_threads';
import { Random } from '../../../test/world/random.ts';
import { Choices, Corpus } from './guided.ts';
import { tally } from './law.ts';
import { TARGETS } from './targets.ts';

/** What a worker is told. */
export interface Task {
  readonly seed: number;
  readonly names: readonly string[];
  /** When to stop, in milliseconds since 1970. */
  readonly until: number;
  /** A case to run alone: its seed, or the bytes that make its choices. */
  readonly only?: number | Uint8Array;
  /** If the branches that cases reach lead the search: what each target begins with. */
  readonly corpora?: Corpora;
  /** Where the bytes are that make the choices of a case, for one that does not return. */
  readonly place: SharedArrayBuffer;
  /** Where the worker says what it is doing: see PROGRESS. */
  readonly progress: SharedArrayBuffer;
}

/** The places of a worker's figures. The inputs of each target follow. */
export const PROGRESS = {
  cases: 0,
  inputs: 1,
  sessions: 2,
  mutated: 3,
  target: 4,
  seed: 5,
  heap: 6,
  byTarget: 7,
};

/** The inputs of each target. */
export type Corpora = { readonly [target: string]: readonly Uint8Array[] };

/** How a worker ends. */
export interface Outcome {
  readonly name: string;
  readonly case: number | Uint8Array;
  readonly breach?: string;
  /** What reaches every branch, and how many branches that is. */
  readonly corpora?: Corpora;
  readonly branches?: number;
}

/** Counts the branches of an instrumented program. It is absent in others. */
declare const __branches: Uint8Array;

function work({ seed, names, until, only, corpora, progress, place }: Task): void {
  const figures = new Float64Array(progress);
  const random = new Random(seed);
  if (only === undefined) delete (Error as { stackTraceLimit?: number }).stackTraceLimit; // to capture a stack takes as long as a case
  let failure: Outcome | undefined;
  const run = (name: string, choices: Random | Choices, caseSeed: number): void => {
    figures[PROGRESS.target] = names.indexOf(name);
    figures[PROGRESS.seed] = caseSeed;
    try {
      TARGETS[name]!.run(choices);
    } catch (error) {
      failure ??= { name, case: 'used' in choices ? choices.used : caseSeed, breach: describe(error) };
    }
    figures[PROGRESS.cases]!++;
  };
  const led = corpora && names.map((name) => newCorpus(place, (choices) => run(name, choices, 0)));
  led?.forEach((corpus, index) => {
    for (const input of corpora![names[index]!]!) corpus.try(input);
  });
  if (only !== undefined) {
    const isSeed = typeof only === 'number';
    run(names[0]!, isSeed ? new Random(only) : new Choices(only), isSeed ? only : 0);
  }
  while (only === undefined && Date.now() < until && failure === undefined) {
    for (const [index, name] of names.entries()) {
      const before = tally.inputs;
      for (let i = TARGETS[name]!.cases; i > 0 && failure === undefined; i--) {
        const caseSeed = random.next();
        if (led === undefined) run(name, new Random(caseSeed), caseSeed);
        else led[index]!.try(led[index]!.next(random));
      }
      figures[PROGRESS.byTarget + index]! += tally.inputs - before;
    }
    figures[PROGRESS.inputs] = tally.inputs;
    figures[PROGRESS.sessions] = tally.sessions;
    figures[PROGRESS.mutated] = tally.mutated;
    figures[PROGRESS.heap] = Math.max(figures[PROGRESS.heap]!, process.memoryUsage().heapUsed);
  }
  parentPort!.postMessage(failure ?? { name: '', case: seed, ...(led && reachedBy(names, led)) });
}

function newCorpus(place: SharedArrayBuffer, run: (choices: Choices) => void): Corpus {
  return new Corpus(__branches, run, new Uint8Array(place));
}

function reachedBy(names: readonly string[], led: readonly Corpus[]): Partial<Outcome> {
  const branches = led[0]!.reached.filter((_, i) => led.some(({ reached }) => reached[i] !== 0)).length;
  return {
    branches,
    corpora: Object.fromEntries(names.map((name, index) => [name, led[index]!.smallest()])),
  };
}

function describe(error: unknown): string {
  const { stack, message, cause } = error as Error & { cause?: unknown };
  const why = cause instanceof Error ? `\n  caused by ${cause.stack || cause.message}` : '';
  return (stack || message || String(error)) + why;
}

if (parentPort !== null) work(workerData as Task);
