/** A thread of the search: explores one scenario, of a session with its policy, or of a ClientLink. */
import { parentPort, workerData } from 'node:worker_threads';
import { attacks, freeActs } from './acts.ts';
import { allRows, watch } from './coverage.ts';
import { describe } from './describe.ts';
import { describeLink, freeLinkActs, linkAttacks } from './link-acts.ts';
import { LinkWorld } from './link-world.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { type Explored, type Found, type Model, search } from './search.ts';
import { World } from './world.ts';

/** The scenarios that a ClientLink is explored with. */
const OF_LINKS = [
  'first contact',
  'known hub',
  'known hub, pins replaced',
  'stale PSK',
  'hub knows another client key',
  'key kept elsewhere',
  'paced, first contact',
  'known hub, provisioned, MQTT',
];

function modelOf(scenario: Scenario): Model<World> {
  return { name: scenario.name, begin: () => new World(scenario), describe, freeActs, attacks };
}

function linkModelOf(scenario: Scenario): Model<LinkWorld> {
  return {
    name: `a link: ${scenario.name}`,
    begin: () => new LinkWorld(scenario),
    describe: describeLink,
    freeActs: freeLinkActs,
    attacks: linkAttacks,
  };
}

/** A search that is not begun yet, by the name of what it explores. */
export interface Exploration {
  readonly name: string;
  /** See `search`. */
  run(acts: number, until: number): Found;
}

export const EXPLORATIONS: readonly Exploration[] = [
  ...SCENARIOS.map(modelOf).map((model) => explorationOf(model)),
  ...SCENARIOS.filter(({ name }) => OF_LINKS.includes(name))
    .map(linkModelOf)
    .map((model) => explorationOf(model)),
];

function explorationOf<Own extends Explored<Own>>(model: Model<Own>): Exploration {
  return { name: model.name, run: (acts, until) => search(model, acts, until) };
}

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
  const found = EXPLORATIONS.find(({ name }) => name === scenario)!.run(acts, until);
  parentPort.postMessage({ found, rows: rows.filter((row) => uses.has(row)) } satisfies Answer);
}
