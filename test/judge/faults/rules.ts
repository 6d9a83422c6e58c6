/**
 * Breaks each rule of docs/protocol.md once in this library, and shows that a vector which the rule names, or a scene of
 * live mode, fails.
 *
 *     npm run judge:rules                      all rules
 *     npm run judge:rules -- --only P-1,…      these rules
 *     npm run judge:rules -- --table           all rules; writes the table in docs/judge-rules.md
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Adapter, AdapterError, type Fields } from '../../../judge/src/adapter.ts';
import { listTasks, runVector, type Task } from '../../../judge/src/run-vectors.ts';
import { nodeCrypto } from '../../../src/crypto/node.ts';
import { isNamed, PAGE, type Rule, referencesOf, rulesOf } from '../../../tools/protocol-rules.ts';
import type { Breakage } from './breakage.ts';
import { isChild, runInChildren, serveTasks } from './children.ts';
import type { Fault, Patch } from './fault.ts';
import { LIBRARY_FAULTS } from './library-faults.ts';
import { CLIENT_FAULTS, HUB_FAULTS } from './live-faults.ts';
import { plantInLibrary, root, temporaryFolder } from './plant.ts';
import { RULE_FAULTS } from './rule-faults.ts';
import { runFault } from './run.ts';

/** The first test or scene that failed; empty if none did. */
type Outcome = { readonly first: string };

const { values: options } = parseArgs({ options: { only: { type: 'string' }, table: { type: 'boolean' } } });
const only = options.only?.split(',');
const rules = rulesOf(PAGE).filter(({ id }) => only === undefined || only.includes(id));
const tasks = rules.filter(({ id }) => !('reason' in breakageOf(id)));

const START = '<!-- The tables: npm run judge:rules -- --table -->';

if (isChild) serveTasks((index) => run(tasks[index]!));
else await runAll();

function breakageOf(id: string): Breakage {
  const breakage = RULE_FAULTS[id];
  if (breakage === undefined) throw new Error(`nothing breaks ${id}: add it to rule-faults.ts`);
  return breakage;
}

async function run(rule: Rule): Promise<Outcome> {
  const breakage = breakageOf(rule.id);
  if ('live' in breakage) {
    const place = CLIENT_FAULTS.some(({ name }) => name === breakage.live) ? 'client' : 'hub';
    const { first } = await runFault(place, faultOf(breakage.live), false);
    return { first: first && `scene ${first}` };
  }
  const patches = patchesOf(breakage);
  const named = vectorsOf(rule);
  if (named.length === 0)
    throw new Error(`${rule.id} names no vectors, so a scene has to show what breaks it`);
  return { first: await firstFailure(named, patches) };
}

function faultOf(name: string): Fault {
  const fault = [...LIBRARY_FAULTS, ...CLIENT_FAULTS, ...HUB_FAULTS].find((fault) => fault.name === name);
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
  allTasks ??= listTasks();
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
      const { result, name } = await runVector(task, adapter);
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
  const firsts = new Map<string, string>();
  let missed = 0;
  await runInChildren<Outcome>(fileURLToPath(import.meta.url), tasks.length, (index, outcome) => {
    const { id } = tasks[index]!;
    const first = typeof outcome === 'string' ? '' : outcome.first;
    firsts.set(id, first);
    if (first === '') missed++;
    const said = typeof outcome === 'string' ? outcome : first || 'NOT NOTICED';
    console.log(`${id.padEnd(6)} ${whatOf(breakageOf(id))}: ${said}`);
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `\n${tasks.length} of ${rules.length} rules broken in ${seconds} s: ${tasks.length - missed} noticed, ${missed} not`,
  );
  if (options.table) writeTable(firsts);
  if (missed > 0) process.exitCode = 1;
}

function whatOf(breakage: Breakage): string {
  if ('reason' in breakage) return breakage.reason;
  if ('what' in breakage) return breakage.what;
  return 'live' in breakage ? breakage.live : breakage.fault;
}

function writeTable(firsts: ReadonlyMap<string, string>): void {
  const path = root('docs/judge-rules.md');
  const text = readFileSync(path, 'utf8');
  const shown = ({ id }: Rule): string => `| ${id} | ${whatOf(breakageOf(id))} | ${firsts.get(id)} |`;
  const reasons = rules.filter((rule) => !tasks.includes(rule));
  const lines = [
    `Of ${rules.length} rules ${tasks.length} can be broken in the library, and each of these was noticed.`,
    '',
    '| rule | what breaks it | first test that fails |',
    '|---|---|---|',
    ...tasks.map(shown),
    '',
    'The others are not about what the library sends or returns:',
    '',
    '| rule | why nothing breaks it |',
    '|---|---|',
    ...reasons.map(({ id }) => `| ${id} | ${whatOf(breakageOf(id))} |`),
  ];
  writeFileSync(path, `${text.slice(0, text.indexOf(START))}${START}\n\n${lines.join('\n')}\n`);
}
