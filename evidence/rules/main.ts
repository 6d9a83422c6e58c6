/**
 * Breaks each rule of docs/reference/protocol.md once in this library, and shows that a vector which the rule names, or a scene of
 * live mode, fails; then plants further faults in the library and in the Python port, each of which the judge must notice. What the
 * protocol demands is judged with --spec-only, and what is a choice without it.
 *
 *     evidence/rules/run               all rules, and every fourth of the further faults
 *     evidence/rules/run --every       all rules and all faults
 *     evidence/rules/run --only P-1,…  these rules and faults, with what the judge says of each
 *     evidence/rules/run --write       all; draws the tables of docs/evidence/rules.md
 *     evidence/rules/run --choices 8   decides eight of the choices otherwise, by the hash of HEAD, each of which must pass with --spec-only
 *     evidence/rules/run --choices all
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Adapter, AdapterError, type Fields } from '../../judge/src/adapter.ts';
import { listTasks, runVector, type Task as Vector } from '../../judge/src/run-vectors.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { Breakage } from '../../test/judge/faults/breakage.ts';
import { RULE_FAULTS } from '../../test/judge/faults/rule-faults.ts';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { isNamed, PAGE, type Rule, referencesOf, rulesOf } from '../../tools/protocol-rules.ts';
import { isChild, runInChildren, serveTasks } from './children.ts';
import { CHOICES, type Choice } from './choices.ts';
import type { Fault, Patch } from './fault.ts';
import { LIBRARY_FAULTS } from './library-faults.ts';
import { CLIENT_FAULTS, HUB_FAULTS } from './live-faults.ts';
import { MQTT_CLIENT_FAULTS, MQTT_HUB_FAULTS } from './mqtt-faults.ts';
import { plantInLibrary, root, temporaryFolder } from './plant.ts';
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

/** Something that is planted and judged. */
interface Task {
  readonly name: string;
  readonly what: string;
  run(): Promise<Outcome>;
}

const { values: options } = parseArgs({
  options: {
    choices: { type: 'string' },
    every: { type: 'boolean' },
    only: { type: 'string' },
    write: { type: 'boolean' },
  },
});
const only = options.only?.split(',');
const isWanted = (name: string): boolean => only === undefined || only.includes(name);
const isWhole = options.every || options.write || only !== undefined;

const rules = rulesOf(PAGE).filter(({ id }) => id in RULE_FAULTS && isWanted(id));
const broken = rules.filter(({ id }) => !('reason' in RULE_FAULTS[id]!));
const further = furtherFaults().filter((_, i) => isWhole || i % 4 === 0);
const tasks: readonly Task[] =
  options.choices === undefined ? [...broken.map(taskOf), ...further] : chosenFrom(options.choices);

if (isChild) serveTasks((index) => tasks[index]!.run());
else await runAll();

/** Those that no rule names. */
function furtherFaults(): Task[] {
  const names = new Set(
    Object.values(RULE_FAULTS).map((one) => ('fault' in one ? one.fault : 'live' in one && one.live)),
  );
  return Object.entries(LISTS).flatMap(([place, faults]) =>
    faults
      .filter(({ name }) => !names.has(name) && isWanted(name))
      .map((fault) => ({ name: place, what: fault.name, run: () => runFault(place as Place, fault) })),
  );
}

/** All choices that a port decides otherwise, or as many as a number says, in the order of their hashes with HEAD. */
function chosenFrom(count: string): Task[] {
  type Otherwise = Required<Pick<Choice, 'rule' | 'fault'>>;
  const all = CHOICES.filter((choice): choice is Otherwise => choice.fault !== undefined);
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root(''), encoding: 'utf8' });
  const hashOf = ({ rule, fault }: Otherwise): string =>
    createHash('sha256').update(`${head}${rule}${fault.name}`).digest('hex');
  const sorted = all.sort((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1)).filter(({ rule }) => isWanted(rule));
  const chosen = count === 'all' || only !== undefined ? sorted : sorted.slice(0, Number(count));
  return chosen.map(({ rule, fault }) => ({
    name: rule,
    what: `a port that ${fault.name}`,
    run: () => runFault(fault.patches[0]![0].endsWith('.py') ? 'python' : 'library', fault, true),
  }));
}

/** A rule is broken. What breaks the protocol must show without the choices. */
function taskOf(rule: Rule): Task {
  const breakage = RULE_FAULTS[rule.id]!;
  const isSpecOnly = rule.mark !== 'choice';
  const run = async (): Promise<Outcome> => {
    if ('live' in breakage) {
      const [place, fault] = faultOf(breakage.live);
      const outcome = await runFault(place, fault, isSpecOnly);
      return { ...outcome, first: outcome.first && `scene ${outcome.first}` };
    }
    const patches = 'fault' in breakage ? faultOf(breakage.fault)[1].patches : undefined;
    const named = vectorsOf(rule, isSpecOnly);
    if (named.length === 0)
      throw new Error(`${rule.id} names no vectors, so a scene has to show what breaks it`);
    const planted = patches ?? ('patches' in breakage ? breakage.patches : []);
    const first = await firstFailure(named, planted, isSpecOnly);
    return { first, failed: Number(first !== ''), defects: 0, names: [], titles: [] };
  };
  return { name: rule.id, what: whatOf(breakage), run };
}

function faultOf(name: string): readonly [Place, Fault] {
  for (const [place, faults] of Object.entries(LISTS)) {
    const fault = faults.find((one) => one.name === name);
    if (fault !== undefined) return [place as Place, fault];
  }
  throw new Error(`there is no fault ${name}`);
}

const vectors = new Map<boolean, Vector[]>(); // reading them takes longer than running those of a rule

/** The vectors that a rule names, and that the judge asks for. */
function vectorsOf(rule: Rule, isSpecOnly: boolean): Vector[] {
  const references = referencesOf(rule);
  const all = vectors.get(isSpecOnly) ?? listTasks(undefined, isSpecOnly);
  vectors.set(isSpecOnly, all);
  return all.filter(({ file, type, test }) =>
    references.some((reference) => reference.file === file && isNamed(reference, type, test)),
  );
}

async function firstFailure(
  named: readonly Vector[],
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
  const isChoices = options.choices !== undefined;
  const known = new Set(tasks.flatMap(({ name, what }) => [name, what]));
  const unknown = only?.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`there is no rule or fault ${unknown}`);
  const began = performance.now();
  const firsts: string[] = [];
  let wrong = 0;
  await runInChildren<Outcome>(fileURLToPath(import.meta.url), tasks.length, (index, outcome) => {
    const { name, what } = tasks[index]!;
    const { first, defects, failed, names, titles } = typeof outcome === 'string' ? ended(outcome) : outcome;
    firsts[index] = first;
    const isRight = defects === 0 && (failed === 0) === isChoices;
    if (!isRight) wrong++;
    let said = first || (isChoices ? 'free' : 'NOT NOTICED');
    if (isChoices && failed > 0) said = `REFUSED by ${failed}: ${names.slice(0, 5).join('; ')}`;
    if (defects > 0) said = `BROKEN: ${names[0] ?? 'a DEFECT of the judge'}`;
    console.log(`${name.padEnd(6)} ${what}: ${said}`);
    if (only !== undefined) for (const title of titles) console.log(`    ${title}`);
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  const right = isChoices
    ? 'ports that decide otherwise pass with --spec-only'
    : 'breakages and faults were noticed';
  console.log(`\n${tasks.length - wrong} of ${tasks.length} ${right} (${seconds} s)`);
  for (const { rule, reason } of isChoices ? CHOICES : [])
    if (reason !== undefined) console.log(`${rule.padEnd(6)} invisible: ${reason}`);
  if (options.write && wrong === 0) draw(firsts);
  if (wrong > 0) process.exitCode = 1;
}

/** A task that threw, or whose process exited. */
function ended(why: string): Outcome {
  return { first: '', failed: 0, defects: 1, names: [why], titles: [] };
}

function whatOf(breakage: Breakage): string {
  if ('reason' in breakage) return breakage.reason;
  if ('what' in breakage) return breakage.what;
  return 'live' in breakage ? breakage.live : breakage.fault;
}

function draw(firsts: readonly string[]): void {
  const spared = rules.filter((rule) => !broken.includes(rule));
  const demanded = broken.filter(({ mark }) => mark !== 'choice').length;
  const places = Object.keys(LISTS).map((place) => {
    const count = further.filter(({ name }) => name === place).length;
    return [place, String(count)];
  });
  const lines = [
    `Of ${rules.length} rules, those of the protocol and the choices that vectors or scenes show, ${broken.length} can be broken in the library. These breakages were all noticed, the ${demanded} that break the protocol with \`--spec-only\`:`,
    table(
      ['rule', 'what breaks it, and the first test that fails'],
      broken.map(({ id }, i) => [id, `${tasks[i]!.what}: ${firsts[i]!}`]),
    ),
    'The others are not about what the library sends or returns:',
    table(
      ['rule', 'why nothing breaks it'],
      spared.map(({ id }) => [id, whatOf(RULE_FAULTS[id]!)]),
    ),
  ];
  writeMeasured('docs/evidence/rules.md', {
    rules: lines.join('\n\n'),
    faults: table(['faults in', 'planted, and all noticed'], places),
  });
}
