/**
 * Plants faults in this library and in the Python port, one at a time, and shows which test of the judge notices each.
 *
 *     evidence/faults/run                every fourth fault
 *     evidence/faults/run --every        all faults
 *     evidence/faults/run --all          all faults, in every operation and every scene
 *     evidence/faults/run --only NAME,…  these faults, with what the judge says of each
 *     evidence/faults/run --write        all faults; draws the table of docs/evidence/faults.md
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { isChild, runInChildren, serveTasks } from './children.ts';
import type { Fault } from './fault.ts';
import { LIBRARY_FAULTS } from './library-faults.ts';
import { CLIENT_FAULTS, HUB_FAULTS } from './live-faults.ts';
import { MQTT_CLIENT_FAULTS, MQTT_HUB_FAULTS } from './mqtt-faults.ts';
import { PYTHON_FAULTS } from './python-faults.ts';
import { type Outcome, type Place, runFault } from './run-fault.ts';

const LISTS: { readonly [place in Place]: readonly Fault[] } = {
  python: PYTHON_FAULTS,
  client: CLIENT_FAULTS,
  hub: HUB_FAULTS,
  'mqtt-client': MQTT_CLIENT_FAULTS,
  'mqtt-hub': MQTT_HUB_FAULTS,
  library: LIBRARY_FAULTS,
};

const { values: options } = parseArgs({
  options: {
    every: { type: 'boolean' },
    all: { type: 'boolean' },
    only: { type: 'string' },
    write: { type: 'boolean' },
  },
});
const names = options.only?.split(',');
const isWhole = options.every || options.all || options.write || names !== undefined;
const tasks = Object.entries(LISTS)
  .flatMap(([place, faults]) => faults.map((fault) => ({ place: place as Place, fault })))
  .filter(({ fault }) => names === undefined || names.includes(fault.name))
  .filter((_task, index) => isWhole || index % 4 === 0);

if (isChild) serveTasks((index) => runFault(tasks[index]!.place, tasks[index]!.fault, options.all ?? false));
else await runAll();

async function runAll(): Promise<void> {
  const unknown = names?.find((name) => !tasks.some(({ fault }) => fault.name === name));
  if (unknown !== undefined) throw new Error(`there is no fault ${unknown}`);
  const began = performance.now();
  const caught: boolean[] = [];
  await runInChildren<Outcome>(fileURLToPath(import.meta.url), tasks.length, (index, outcome) => {
    const { place, fault } = tasks[index]!;
    const isBroken = typeof outcome === 'string' || outcome.defects > 0;
    caught[index] = !isBroken && outcome.failed > 0;
    const said = isBroken
      ? `BROKEN ${typeof outcome === 'string' ? outcome : 'a DEFECT of the judge'}`
      : outcome.first
        ? `${outcome.first}, ${outcome.failed} failed`
        : 'NOT CAUGHT';
    console.log(`${place} ${fault.name}: ${said}`);
    if (names !== undefined && !isBroken) for (const title of outcome.titles) console.log(`    ${title}`);
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  const count = caught.filter(Boolean).length;
  console.log(`\nOf ${tasks.length} faults ${count} were caught (${seconds} s)`);
  if (count < tasks.length) process.exitCode = 1;
  if (!options.write) return;
  const rows = Object.keys(LISTS).map((place) => {
    const own = tasks
      .map((task, index) => ({ task, isCaught: caught[index] }))
      .filter(({ task }) => task.place === place);
    return [place, String(own.length), String(own.filter(({ isCaught }) => isCaught).length)];
  });
  writeMeasured('docs/evidence/faults.md', { faults: table(['faults in', 'planted', 'caught'], rows) });
}
