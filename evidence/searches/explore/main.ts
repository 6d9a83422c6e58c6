/**
 * Explores every course of events in a small world: docs/evidence/searches.md.
 *
 *     evidence/searches/explore/run --acts 1
 *     evidence/searches/explore/run --acts 3 --minutes 10 --scenario 'known hub' --workers 1
 *     evidence/searches/explore/run --acts 3 --minutes 10 --write
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { bundled } from '../../../test/world/bundled.ts';
import { code, grouped, table } from '../../../tools/draw.ts';
import { writeMeasured } from '../../../tools/measured.ts';
import { SCENARIOS } from './scenarios.ts';
import type { Found } from './search.ts';
import type { Task } from './worker.ts';

const { values: options } = parseArgs({
  options: {
    acts: { type: 'string', default: '1' },
    /** For all scenarios together. What one does not need, the others have. */
    minutes: { type: 'string', default: '60' },
    workers: { type: 'string', default: String(availableParallelism()) },
    scenario: { type: 'string', multiple: true, default: SCENARIOS.map(({ name }) => name) },
    write: { type: 'boolean', default: false },
  },
});

const started = Date.now();
const deadline = started + Number(options.minutes) * 60_000;
const program = await bundled(new URL('worker.ts', import.meta.url));
const waiting = options.scenario.slice();
const found: Found[] = [];
await Promise.all(Array.from({ length: Number(options.workers) }, explore));

/** Explores scenarios until none is left. */
async function explore(): Promise<void> {
  for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
    const share = Math.min(1, Number(options.workers) / (waiting.length + 1));
    const until = Date.now() + (deadline - Date.now()) * share;
    const task: Task = [scenario, Number(options.acts), until];
    const worker = new Worker(program, { workerData: task, execArgv: ['--enable-source-maps'] });
    const own = await new Promise<Found>((resolve, reject) => {
      worker.on('message', resolve);
      worker.on('error', reject);
    });
    found.push(own);
    console.log(own.violation ?? rowOf(own).join(' | '));
  }
}

const total = (count: (found: Found) => number): string =>
  grouped(found.reduce((sum, own) => sum + count(own), 0));
const minutes = Math.ceil((Date.now() - started) / 60_000);
const summary =
  `${total(({ explored }) => sumOf(explored))} states explored, ${total(({ transitions }) => transitions)} steps, ` +
  `in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}.`;
console.log(summary);
const isBroken = found.some(({ violation }) => violation !== undefined);
if (options.write && !isBroken) {
  const order = (name: string): number => SCENARIOS.findIndex((one) => one.name === name);
  const sorted = found.sort((a, b) => order(a.scenario) - order(b.scenario)).map(rowOf);
  const heads = Array.from({ length: Number(options.acts) + 1 }, (_, i) => (i === 1 ? '1 act' : `${i} acts`));
  const exploration = `${table(['begins with', ...heads, 'depth', 'back in', 'a person is asked'], sorted)}\n\n${summary}`;
  writeMeasured('docs/evidence/searches.md', { exploration });
}
process.exit(isBroken ? 1 : 0);

/** A row of the table: the states for each number of acts, of how many all were explored. */
function rowOf({ scenario, states, explored, depth, longest, asks, questions }: Found): string[] {
  const cells = Array.from({ length: Number(options.acts) + 1 }, (_, i) => {
    if (states[i] === undefined) return '';
    return states[i] === explored[i]
      ? grouped(states[i])
      : `${grouped(explored[i]!)} of more than ${grouped(states[i])}`;
  });
  const asked = [...questions].sort().map(code).join(', ');
  return [
    scenario,
    ...cells,
    String(depth),
    `${longest} steps`,
    asked === '' ? 'no' : `${asked}; at most ${asks} in a row`,
  ];
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
