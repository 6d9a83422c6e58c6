/**
 * Breaks each rule of docs/reference/protocol.md once in this library, and shows that a vector which the rule names, or a scene of
 * live mode, fails. What the protocol demands is judged with --spec-only, and what is a choice without it.
 *
 *     evidence/rules/run               all rules
 *     evidence/rules/run --only P-1,…  these rules
 *     evidence/rules/run --write       draws the tables of docs/evidence/rules.md
 *     evidence/rules/run --choices 8   decides eight of the choices otherwise, by the hash of HEAD, each of which must pass with --spec-only
 *     evidence/rules/run --choices all
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Adapter, AdapterError, type Fields } from '../../judge/src/adapter.ts';
import { listTasks, runVector, type Task } from '../../judge/src/run-vectors.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { Breakage } from '../../test/judge/faults/breakage.ts';
import { RULE_FAULTS } from '../../test/judge/faults/rule-faults.ts';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { isNamed, PAGE, type Rule, referencesOf, rulesOf } from '../../tools/protocol-rules.ts';
import { isChild, runInChildren, serveTasks } from '../faults/children.ts';
import type { Fault, Patch } from '../faults/fault.ts';
import { LIBRARY_FAULTS } from '../faults/library-faults.ts';
import { CLIENT_FAULTS, HUB_FAULTS } from '../faults/live-faults.ts';
import { MQTT_CLIENT_FAULTS } from '../faults/mqtt-faults.ts';
import { plantInLibrary, root, temporaryFolder } from '../faults/plant.ts';
import { type Place, type Outcome as PortOutcome, runFault } from '../faults/run-fault.ts';
import { CHOICES, type Choice } from './choices.ts';

/** The first test or scene that failed; empty if none did. */
type Outcome = { readonly first: string };

/** A rule, and one thing that breaks it. */
interface Broken {
  readonly rule: Rule;
  readonly breakage: Exclude<Breakage, { reason: string }>;
}

const { values: options } = parseArgs({
  options: {
    choices: { type: 'string' },
    only: { type: 'string' },
    write: { type: 'boolean' },
  },
});
const only = options.only?.split(',');
const rules = rulesOf(PAGE).filter(
  ({ id }) => id in RULE_FAULTS && (only === undefined || only.includes(id)),
);
const tasks = rules.flatMap((rule): Broken[] => {
  const breakage = breakageOf(rule.id);
  return 'reason' in breakage ? [] : [{ rule, breakage }];
});

const choices = options.choices === undefined ? [] : chosenFrom(options.choices);

if (isChild)
  serveTasks((index) => (choices.length > 0 ? decideOtherwise(choices[index]!) : run(tasks[index]!)));
else await (choices.length > 0 ? runChoices() : runAll());

/** A rule that is a choice, and a port that decides otherwise. */
type Otherwise = Required<Pick<Choice, 'rule' | 'fault'>>;

/** All of them, or as many as a number says, in the order of their hashes with HEAD. */
function chosenFrom(count: string): Otherwise[] {
  const all = CHOICES.filter((choice): choice is Otherwise => choice.fault !== undefined);
  if (only !== undefined) return all.filter(({ rule }) => only.includes(rule));
  if (count === 'all') return all;
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root(''), encoding: 'utf8' });
  const hashOf = ({ rule, fault }: Otherwise): string =>
    createHash('sha256').update(`${head}${rule}${fault.name}`).digest('hex');
  return all.sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)).slice(0, Number(count));
}

function decideOtherwise({ fault }: Otherwise): Promise<PortOutcome> {
  return runFault(fault.patches[0]![0].endsWith('.py') ? 'python' : 'library', fault, false, true);
}

async function runChoices(): Promise<void> {
  let refused = 0;
  await runInChildren<PortOutcome>(fileURLToPath(import.meta.url), choices.length, (index, outcome) => {
    const { rule, fault } = choices[index]!;
    const names = typeof outcome === 'string' ? [outcome] : outcome.names;
    const isFree = names.length === 0 && typeof outcome !== 'string' && outcome.defects === 0;
    if (!isFree) refused++;
    const said = isFree ? 'free' : `REFUSED by ${names.length}: ${names.slice(0, 5).join('; ')}`;
    console.log(`${rule.padEnd(6)} a port that ${fault.name}: ${said}`);
  });
  console.log(
    `\n${choices.length} ports that decide otherwise: ${choices.length - refused} pass with --spec-only`,
  );
  for (const { rule, reason } of CHOICES)
    if (reason !== undefined) console.log(`${rule.padEnd(6)} invisible: ${reason}`);
  if (refused > 0) process.exitCode = 1;
}

function breakageOf(id: string): Breakage {
  return RULE_FAULTS[id]!;
}

/** Whether this breaks the protocol, so that it must show without the choices. */
function isDemanded({ rule }: Broken): boolean {
  return rule.mark !== 'choice';
}

async function run(broken: Broken): Promise<Outcome> {
  const { rule, breakage } = broken;
  const isSpecOnly = isDemanded(broken);
  if ('live' in breakage) {
    const { first } = await runFault(placeOf(breakage.live), faultOf(breakage.live), false, isSpecOnly);
    return { first: first && `scene ${first}` };
  }
  const patches = patchesOf(breakage);
  const named = vectorsOf(rule, isSpecOnly);
  if (named.length === 0)
    throw new Error(`${rule.id} names no vectors, so a scene has to show what breaks it`);
  return { first: await firstFailure(named, patches, isSpecOnly) };
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

const allTasks = new Map<boolean, Task[]>(); // reading them takes longer than running those of a rule

/** The vectors that a rule names, and that the judge asks for. */
function vectorsOf(rule: Rule, isSpecOnly: boolean): Task[] {
  const references = referencesOf(rule);
  const all = allTasks.get(isSpecOnly) ?? listTasks(undefined, isSpecOnly);
  allTasks.set(isSpecOnly, all);
  return all.filter(({ file, type, test }) =>
    references.some((reference) => reference.file === file && isNamed(reference, type, test)),
  );
}

async function firstFailure(
  named: readonly Task[],
  patches: readonly Patch[],
  isSpecOnly: boolean,
): Promise<string> {
  const folder = temporaryFolder();
  try {
    const planted = await plantInLibrary('test/vectors/any-counter.ts', { patches }, folder);
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
  await runInChildren<Outcome>(fileURLToPath(import.meta.url), tasks.length, (index, outcome) => {
    const { rule, breakage } = tasks[index]!;
    const first = typeof outcome === 'string' ? '' : outcome.first;
    firsts[index] = first;
    const said = typeof outcome === 'string' ? outcome : first || 'NOT NOTICED';
    console.log(`${rule.id.padEnd(6)} ${whatOf(breakage)}: ${said}`);
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `\n${rules.length} rules, ${tasks.length} breakages in ${seconds} s: ${firsts.filter(Boolean).length} noticed, ${firsts.filter((first) => !first).length} not`,
  );
  if (options.write) draw(firsts);
  if (firsts.includes('')) process.exitCode = 1;
}

function whatOf(breakage: Breakage): string {
  if ('reason' in breakage) return breakage.reason;
  if ('what' in breakage) return breakage.what;
  return 'live' in breakage ? breakage.live : breakage.fault;
}

function draw(firsts: readonly string[]): void {
  const spared = rules.filter(({ id }) => 'reason' in breakageOf(id));
  const demanded = tasks.filter(isDemanded).length;
  const lines = [
    `Of ${rules.length} rules, those of the protocol and the choices that vectors or scenes show, ${rules.length - spared.length} can be broken in the library. These breakages were all noticed, the ${demanded} that break the protocol with \`--spec-only\`:`,
    '',
    table(
      ['rule', 'what breaks it, and the first test that fails'],
      tasks.map(({ rule, breakage }, index) => [rule.id, `${whatOf(breakage)}: ${firsts[index]!}`]),
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
