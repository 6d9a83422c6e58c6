/**
 * Runs the client at hubs, and on machines, that behave as badly as they can: docs/evidence/searches.md, "Hostile hubs".
 *
 *     evidence/searches/hostile/run --choices 1000000 --seed 1
 *     evidence/searches/hostile/run --over MQTT --choices 20000
 *     evidence/searches/hostile/run --replay MQTT:1:345
 *     evidence/searches/hostile/run --planted
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { bundled } from '../../../test/world/bundled.ts';
import { grouped, table } from '../../../tools/draw.ts';
import { writeMeasured } from '../../../tools/measured.ts';
import { HOSTILE_FAULTS, planted } from './faults.ts';
import type { Report } from './worker.ts';

const WORKER = new URL('worker.ts', import.meta.url);

const { values: options } = parseArgs({
  options: {
    over: { type: 'string', multiple: true, default: ['WebSocket', 'page', 'MQTT', 'HTTPS'] },
    choices: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    replay: { type: 'string' },
    planted: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const [replayed, seed = options.seed, only] = options.replay?.split(':') ?? [];
if (options.planted) await findPlanted();
const code = await bundled(WORKER);
const rows: string[][] = [];
let isBroken = false;
for (const over of replayed === undefined ? options.over : [replayed]) {
  const { broken, ...report } = await run(code, over);
  const row = [
    ...[
      over,
      report.choices,
      report.cases,
      report.dials,
      report.ready,
      report.derivations,
      report.sockets,
    ].map((value) => (typeof value === 'number' ? grouped(value) : value)),
    `${report.lag.toFixed()} ms`,
    `${(report.memory / 2 ** 20).toFixed()} MiB`,
  ];
  rows.push(row);
  console.log(`${row.join(' | ')} | ${report.seconds.toFixed()} s`);
  if (broken === undefined) continue;
  isBroken = true;
  console.log(
    `${broken}\n\nAgain, alone: evidence/searches/hostile/run --replay ${over}:${seed}:${report.case}`,
  );
}
if (options.write && !isBroken) {
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
  ];
  writeMeasured('docs/evidence/searches.md', { 'hostile hubs': table(head, rows) });
}
process.exit(isBroken ? 1 : 0);

/** Plants each fault in turn, and says after how many choices it was found. */
async function findPlanted(): Promise<never> {
  let missed = 0;
  process.setMaxListeners(100); // each bundle is removed at the exit
  for (const fault of HOSTILE_FAULTS.filter(({ over }) => options.over.includes(over))) {
    const { broken, choices, seconds } = await run(await bundled(WORKER, [planted(fault)]), fault.over);
    if (broken === undefined) missed++;
    const found = broken === undefined ? 'NOT FOUND' : broken.split('\n')[0];
    console.log(`${fault.over}: ${fault.name}: ${found}, after ${choices} choices, ${seconds.toFixed()} s`);
  }
  process.exit(missed > 0 ? 1 : 0);
}

/** Runs cases in a process of their own. */
async function run(code: string, over: string): Promise<Report> {
  const args = [over, options.choices, seed, ...(only === undefined ? [] : [only])];
  const execArgv = ['--expose-gc', ...(only === undefined ? [] : ['--enable-source-maps'])];
  const worker = fork(code, args, { execArgv });
  const exit = once(worker, 'exit').then(([status]) =>
    Promise.reject(new Error(`the process ended with ${status}`)),
  );
  exit.catch(() => {});
  const [report] = (await Promise.race([once(worker, 'message'), exit])) as [Report];
  return report;
}
