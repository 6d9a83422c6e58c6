/**
 * Plants faults in this library and in the Python port, one at a time, and shows what the judge says of each.
 *
 *     evidence/faults/run                every sixth fault in the library, and every 15th of the others, which take longer
 *     evidence/faults/run --every        all faults
 *     evidence/faults/run --all          all faults, in every operation and every scene
 *     evidence/faults/run --only NAME,…  these faults, with the report's words
 *     evidence/faults/run --write        all faults; draws the table of docs/evidence/faults.md
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { code, table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { isChild, runInChildren, serveTasks } from './children.ts';
import type { Fault } from './fault.ts';
import { LIBRARY_FAULTS } from './library-faults.ts';
import { CLIENT_FAULTS, HUB_FAULTS } from './live-faults.ts';
import { MQTT_CLIENT_FAULTS, MQTT_HUB_FAULTS } from './mqtt-faults.ts';
import { NOISEPROTOCOL_FAULTS, PYTHON_FAULTS } from './python-faults.ts';
import { type Outcome, type Place, type Result, runFault } from './run-fault.ts';

/**
 * The share of faults that must be named: a little less than CI's run reaches, since live ones may run out of time on a busy machine.
 * The goal is 0.9. None may be named wrongly.
 */
const LEAST = 0.86;

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
    .filter((_fault, index) => isWhole || index % (place === 'library' ? 6 : 15) === 0)
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
    if (result !== 'named' || names !== undefined)
      for (const title of titles) console.log(`            ${title}`);
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`\n${sumOf(outcomes)} (${seconds} s)`);
  if (options.write) draw(outcomes);
  const count = (result: Result): number => outcomes.filter((outcome) => outcome?.result === result).length;
  const isGood = count('not caught') === 0 && count('wrong') === 0 && count('named') >= LEAST * tasks.length;
  if (isBroken || !isGood) process.exitCode = 1;
}

function sumOf(outcomes: readonly Outcome[]): string {
  const count = (result: Result): number => outcomes.filter((outcome) => outcome?.result === result).length;
  const share = Math.round((100 * count('named')) / tasks.length);
  return `Of ${tasks.length} faults ${count('named')} (${share} %) were named, ${count('about')} were shown by what the failures are about, ${count('unnamed')} were not named, ${count('wrong')} were named wrongly, and ${count('not caught')} not caught.`;
}

/** The faults of each kind, and the words for those that are not named. */
function draw(outcomes: readonly Outcome[]): void {
  const rows = (Object.keys(LISTS) as Place[]).map((place) => {
    const own = outcomes.filter((_outcome, index) => tasks[index]!.place === place);
    const count = (result: Result): number => own.filter((outcome) => outcome.result === result).length;
    return [place, own.length, count('named'), count('about'), count('unnamed')].map(String);
  });
  const listed = (result: Result): string => {
    const names = tasks.filter((_task, index) => outcomes[index]!.result === result);
    return names.map(({ fault }) => code(fault.name)).join(', ') || 'none';
  };
  const parts = [
    sumOf(outcomes),
    table(['faults in', 'faults', 'named', 'about', 'not named'], rows),
    `Shown by what the failures are about: ${listed('about')}.`,
    `Not named: ${listed('unnamed')}.`,
  ];
  writeMeasured('docs/evidence/faults.md', { faults: parts.join('\n\n') });
}
