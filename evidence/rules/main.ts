/**
 * Breaks each rule of docs/reference/protocol.md once in this library, and shows that a vector which the rule names, or a scene of
 * live mode, fails.
 *
 *     evidence/rules/run               all rules
 *     evidence/rules/run --every       all rules, and the further things that some of them say
 *     evidence/rules/run --only P-1,…  these rules, with all that they say
 *     evidence/rules/run --spec-only   the rules that are no choices, as judge --spec-only judges: something must fail for each
 *     evidence/rules/run --write       as --every; draws the tables of docs/evidence/rules.md
 */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Adapter, AdapterError, type Fields } from '../../judge/src/adapter.ts';
import { listTasks, runVector, type Task } from '../../judge/src/run-vectors.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { Breakage } from '../../test/judge/faults/breakage.ts';
import { FURTHER_RULES } from '../../test/judge/faults/further-rule-faults.ts';
import { RULE_FAULTS } from '../../test/judge/faults/rule-faults.ts';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { isNamed, PAGE, type Rule, referencesOf, rulesOf } from '../../tools/protocol-rules.ts';
import { isChild, runInChildren, serveTasks } from '../faults/children.ts';
import type { Fault, Patch } from '../faults/fault.ts';
import { LIBRARY_FAULTS } from '../faults/library-faults.ts';
import { CLIENT_FAULTS, HUB_FAULTS } from '../faults/live-faults.ts';
import { MQTT_CLIENT_FAULTS } from '../faults/mqtt-faults.ts';
import { plantInLibrary, temporaryFolder } from '../faults/plant.ts';
import { type Place, runFault } from '../faults/run-fault.ts';

/** The first test or scene that failed; empty if none did. */
type Outcome = { readonly first: string };

/** A rule, and one thing that breaks it. */
interface Broken {
  readonly rule: Rule;
  readonly breakage: Exclude<Breakage, { reason: string }>;
}

const { values: options } = parseArgs({
  options: {
    every: { type: 'boolean' },
    only: { type: 'string' },
    'spec-only': { type: 'boolean', default: false },
    write: { type: 'boolean' },
  },
});
const isSpecOnly = options['spec-only'];
const only = options.only?.split(',');
const isWhole = options.every || options.write || isSpecOnly || only !== undefined;
const rules = rulesOf(PAGE).filter(
  ({ id, mark }) => (only === undefined || only.includes(id)) && !(isSpecOnly && mark === 'choice'),
);
const tasks = rules.flatMap((rule) => {
  const all = [breakageOf(rule.id), ...((isWhole && FURTHER_RULES[rule.id]) || [])];
  return all.flatMap((breakage): Broken[] => ('reason' in breakage ? [] : [{ rule, breakage }]));
});

if (isChild) serveTasks((index) => run(tasks[index]!));
else await runAll();

function breakageOf(id: string): Breakage {
  const breakage = RULE_FAULTS[id];
  if (breakage === undefined) throw new Error(`nothing breaks ${id}: add it to rule-faults.ts`);
  return breakage;
}

async function run({ rule, breakage }: Broken): Promise<Outcome> {
  if ('live' in breakage) {
    const { first } = await runFault(placeOf(breakage.live), faultOf(breakage.live), false, isSpecOnly);
    return { first: first && `scene ${first}` };
  }
  const patches = patchesOf(breakage);
  const named = vectorsOf(rule);
  if (named.length === 0)
    throw new Error(`${rule.id} names no vectors, so a scene has to show what breaks it`);
  return { first: await firstFailure(named, patches) };
}

function placeOf(live: string): Place {
  const isIn = (faults: readonly Fault[]): boolean => faults.some(({ name }) => name === live);
  if (isIn(CLIENT_FAULTS)) return 'client';
  return isIn(HUB_FAULTS) ? 'hub' : 'mqtt-client';
}

function faultOf(name: string): Fault {
  const all = [...LIBRARY_FAULTS, ...CLIENT_FAULTS, ...HUB_FAULTS, ...MQTT_CLIENT_FAULTS];
  const fault = all.find((fault) => fault.name === name);
  if (fault === undefined) throw new Error(`there is no fault ${name}`);
  return fault;
}

function patchesOf(breakage: Breakage): readonly Patch[] {
  if ('patches' in breakage) return breakage.patches;
  return 'fault' in breakage ? faultOf(breakage.fault).patches : [];
}

let allTasks: Task[] | undefined; // reading them takes longer than running those of a rule

/** The vectors that a rule names, and that the judge asks for. */
function vectorsOf(rule: Rule): Task[] {
  const references = referencesOf(rule);
  allTasks ??= listTasks(undefined, isSpecOnly);
  return allTasks.filter(({ file, type, test }) =>
    references.some((reference) => reference.file === file && isNamed(reference, type, test)),
  );
}

async function firstFailure(named: readonly Task[], patches: readonly Patch[]): Promise<string> {
  const folder = temporaryFolder();
  try {
    const planted = await plantInLibrary('test/judge/any-counter.ts', { patches }, folder);
    const { createAdapterWithAnyCounter } = await import(planted);
    const respond = createAdapterWithAnyCounter(nodeCrypto);
    const adapter: Adapter = {
      async send(request: Fields): Promise<Fields> {
        try {
          return JSON.parse(JSON.stringify(respond(JSON.parse(JSON.stringify({ id: 1, ...request })))));
        } catch (error) {
          throw new AdapterError(`the adapter threw ${error}`);
        }
      },
      async stop() {},
    };
    for (const task of named) {
      const { result, name } = await runVector(task, adapter, isSpecOnly);
      if (result === 'failed') return name;
    }
    return '';
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runAll(): Promise<void> {
  const unknown = only?.find((id) => !rules.some((rule) => rule.id === id));
  if (unknown !== undefined) throw new Error(`there is no rule ${unknown}`);
  const began = performance.now();
  const firsts: string[] = [];
  const noticed = new Set<string>();
  await runInChildren<Outcome>(fileURLToPath(import.meta.url), tasks.length, (index, outcome) => {
    const { rule, breakage } = tasks[index]!;
    const first = typeof outcome === 'string' ? '' : outcome.first;
    firsts[index] = first;
    if (first !== '') noticed.add(isSpecOnly ? rule.id : `${index}`);
    const said = typeof outcome === 'string' ? outcome : first || 'NOT NOTICED';
    console.log(`${rule.id.padEnd(6)} ${whatOf(breakage)}: ${said}`);
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `\n${rules.length} rules, ${tasks.length} breakages in ${seconds} s: ${firsts.filter(Boolean).length} noticed, ${firsts.filter((first) => !first).length} not`,
  );
  // Some breakages change what is a choice only, such as a code: one of each rule has to fail nevertheless.
  const due = new Set(tasks.map(({ rule }, index) => (isSpecOnly ? rule.id : `${index}`)));
  const missed = [...due].filter((one) => !noticed.has(one));
  if (isSpecOnly && missed.length > 0) console.log(`nothing fails for ${missed.join(', ')}`);
  if (options.write) draw(firsts);
  if (missed.length > 0) process.exitCode = 1;
}

function whatOf(breakage: Breakage): string {
  if ('reason' in breakage) return breakage.reason;
  if ('what' in breakage) return breakage.what;
  return 'live' in breakage ? breakage.live : breakage.fault;
}

function draw(firsts: readonly string[]): void {
  const rows = new Map<string, string[]>();
  for (const [index, { rule, breakage }] of tasks.entries()) {
    rows.set(rule.id, [...(rows.get(rule.id) ?? []), `${whatOf(breakage)}: ${firsts[index]!}`]);
  }
  const spared = rules.filter(({ id }) => 'reason' in breakageOf(id));
  const lines = [
    `Of ${rules.length} rules ${rules.length - spared.length} can be broken in the library. These ${tasks.length} breakages were all noticed:`,
    '',
    table(
      ['rule', 'what breaks it, and the first test that fails'],
      [...rows].map(([id, breakages]) => [id, breakages.join('<br>')]),
    ),
    '',
    'The others are not about what the library sends or returns:',
    '',
    table(
      ['rule', 'why nothing breaks it'],
      spared.map(({ id }) => [id, whatOf(breakageOf(id))]),
    ),
  ];
  writeMeasured('docs/evidence/rules.md', { rules: lines.join('\n') });
}
