/**
 * Plants faults in this library and in the Python port, one at a time, and shows what the judge says of each.
 *
 *     evidence/faults/run                every second fault in the library, and every fifth of the others, which take longer
 *     evidence/faults/run --every        all faults
 *     evidence/faults/run --all          all faults, in every operation and every scene
 *     evidence/faults/run --only NAME,…  these faults, with the report's words
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
import { NOISEPROTOCOL_FAULTS, PYTHON_FAULTS } from './python-faults.ts';
import { type Outcome, type Place, runFault } from './run-fault.ts';

const LISTS: { readonly [place in Place]: readonly Fault[] } = {
  noiseprotocol: NOISEPROTOCOL_FAULTS,
  python: PYTHON_FAULTS,
  client: CLIENT_FAULTS,
  hub: HUB_FAULTS,
  'mqtt-client': MQTT_CLIENT_FAULTS,
  'mqtt-hub': MQTT_HUB_FAULTS,
  library: LIBRARY_FAULTS,
};

interface Task {
  readonly place: Place;
  readonly fault: Fault;
}

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
const tasks: Task[] = Object.entries(LISTS).flatMap(([place, faults]) =>
  faults
    .filter(({ name }) => names === undefined || names.includes(name))
    .filter((_fault, index) => isWhole || index % (place === 'library' ? 2 : 5) === 0)
    .map((fault) => ({ place: place as Place, fault })),
);

if (isChild) {
  serveTasks((index) => runFault(tasks[index]!.place, tasks[index]!.fault, options.all ?? false));
} else await runAll();

async function runAll(): Promise<void> {
  const unknown = names?.find((name) => !tasks.some(({ fault }) => fault.name === name));
  if (unknown !== undefined) throw new Error(`there is no fault ${unknown}`);
  const began = performance.now();
  const outcomes: Outcome[] = [];
  let isBroken = false;
  await runInChildren<Outcome>(fileURLToPath(import.meta.url), tasks.length, (index, outcome) => {
    const { place, fault } = tasks[index]!;
    if (typeof outcome === 'string') {
      isBroken = true;
      console.log(`BROKEN      ${place} ${fault.name}: ${outcome}`);
      return;
    }
    outcomes[index] = outcome;
    const { result, failed, defects, seconds, titles } = outcome;
    console.log(`${result.padEnd(11)} ${place} ${fault.name} (${failed} failed, ${seconds} s)`);
    if (defects > 0) isBroken = true;
    if (defects > 0) console.log('            DEFECT of the judge');
    if (result !== 'right' || names !== undefined)
      for (const title of titles) console.log(`            ${title}`);
  });
  const count = (result: Outcome['result']): number =>
    outcomes.filter((outcome) => outcome?.result === result).length;
  const [right, unnamed, wrong, missed] = (['right', 'unnamed', 'wrong', 'not caught'] as const).map(count);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `\n${tasks.length} faults in ${seconds} s: ${right} named rightly, ${unnamed} unnamed, ${wrong} named wrongly, ${missed} not caught`,
  );
  if (options.write) draw(outcomes);
  if (isBroken || wrong! + missed! > 0 || right! < 0.85 * tasks.length) process.exitCode = 1;
}

function draw(outcomes: readonly Outcome[]): void {
  const faults = new Map<string, Set<string>>();
  for (const [index, { fault }] of tasks.entries()) {
    const { result, titles } = outcomes[index]!;
    const said = result === 'right' ? titles.find((title) => fault.says.test(title))! : `*${result}*`;
    const short = said
      .replace(/^(?:cause|about): /, '')
      .replace(/[;.(].*/s, '')
      .replace(/\|/g, '\\|')
      .trim();
    faults.set(short, (faults.get(short) ?? new Set()).add(fault.name));
  }
  const count = (result: Outcome['result']): number =>
    outcomes.filter((each) => each.result === result).length;
  const [right, unnamed, wrong] = (['right', 'unnamed', 'wrong'] as const).map(count);
  const sum = `Of ${tasks.length} faults ${right} were named rightly, ${unnamed} were not named, ${wrong} named wrongly, and ${count('not caught')} not caught.`;
  const rows = [...faults].map(([said, names]) => [said, [...names].join(', ')]);
  const faultsTable = table(['what the judge says first', 'faults'], rows);
  writeMeasured('docs/evidence/faults.md', { faults: `${sum}\n\n${faultsTable}` });
}
