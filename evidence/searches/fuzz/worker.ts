/** A thread of the search: runs cases until it is time, or until one breaks the law. */
import { parentPort, workerData } from 'node:worker_threads';
import { Random } from '../../../test/world/random.ts';
import { tally } from './law.ts';
import { TARGETS } from './targets.ts';

/** What a worker is told. */
export interface Task {
  readonly seed: number;
  readonly names: readonly string[];
  /** When to stop, in milliseconds since 1970. */
  readonly until: number;
  /** The seed of a case to run alone. */
  readonly only?: number;
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

/** How a worker ends. */
export interface Outcome {
  readonly name: string;
  readonly seed: number;
  readonly breach?: string;
}

function work({ seed, names, until, only, progress }: Task): void {
  const figures = new Float64Array(progress);
  const random = new Random(seed);
  if (only === undefined) delete (Error as { stackTraceLimit?: number }).stackTraceLimit; // to capture a stack takes as long as a case
  let failure: Outcome | undefined;
  const run = (name: string, caseSeed: number): void => {
    figures[PROGRESS.target] = names.indexOf(name);
    figures[PROGRESS.seed] = caseSeed;
    try {
      TARGETS[name]!.run(new Random(caseSeed));
    } catch (error) {
      failure ??= { name, seed: caseSeed, breach: describe(error) };
    }
    figures[PROGRESS.cases]!++;
  };
  if (only !== undefined) run(names[0]!, only);
  while (only === undefined && Date.now() < until && failure === undefined) {
    for (const [index, name] of names.entries()) {
      const before = tally.inputs;
      for (let i = TARGETS[name]!.cases; i > 0 && failure === undefined; i--) run(name, random.next());
      figures[PROGRESS.byTarget + index]! += tally.inputs - before;
    }
    figures[PROGRESS.inputs] = tally.inputs;
    figures[PROGRESS.sessions] = tally.sessions;
    figures[PROGRESS.mutated] = tally.mutated;
    figures[PROGRESS.heap] = Math.max(figures[PROGRESS.heap]!, process.memoryUsage().heapUsed);
  }
  parentPort!.postMessage(failure ?? { name: '', seed });
}

function describe(error: unknown): string {
  const { stack, message, cause } = error as Error & { cause?: unknown };
  const why = cause instanceof Error ? `\n  caused by ${cause.stack || cause.message}` : '';
  return (stack || message || String(error)) + why;
}

if (parentPort !== null) work(workerData as Task);
