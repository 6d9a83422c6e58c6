/** A thread of the search: explores one scenario. */
import { parentPort, workerData } from 'node:worker_threads';
import { allRows, watch } from './coverage.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Found, search } from './search.ts';

export interface Task {
  readonly scenario: string;
  readonly acts: number;
  /** When to give up, in milliseconds since 1970. */
  readonly until: number;
}

export interface Answer {
  readonly found: Found;
  /** The rows of the tables that were used. */
  readonly rows: string[];
}

if (parentPort !== null) {
  const { scenario, acts, until } = workerData as Task;
  delete (Error as { stackTraceLimit?: number }).stackTraceLimit; // to capture a stack takes longer than most steps
  const rows = allRows(); // to read them later would be a use
  const uses = watch();
  const found = search(SCENARIOS.find(({ name }) => name === scenario)!, acts, until);
  parentPort.postMessage({ found, rows: rows.filter((row) => uses.has(row)) } satisfies Answer);
}
