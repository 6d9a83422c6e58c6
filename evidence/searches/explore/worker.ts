/** A thread of the search: explores one scenario. */
import { parentPort, workerData } from 'node:worker_threads';
import { explore } from './search.ts';

/** The arguments of `explore`. */
export type Task = Parameters<typeof explore>;

delete (Error as { stackTraceLimit?: number }).stackTraceLimit; // to capture a stack takes longer than most steps
parentPort!.postMessage(explore(...(workerData as Task)));
