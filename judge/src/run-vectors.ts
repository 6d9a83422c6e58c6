/** Sends every vector to an adapter and collects the verdicts. */
import { type Adapter, AdapterError, CannotStart, type Fields, LATE } from './adapter.ts';
import { CHECKS, OPERATIONS } from './checks/checks.ts';
import { start } from './difference.ts';
import { applies, type Profile, readProfile } from './profile.ts';
import { demandedOf, withoutChoices } from './spec-only.ts';
import { firstWrongValue, seenIn } from './trace.ts';
import { readVectorFile, rulesOf, type Vector, vectorFiles, vectorsId } from './vectors.ts';
import { Declined, Failure, narrowCauses, runTest, type Verdict } from './verdict.ts';

export interface Task {
  readonly operation: string;
  /** Type of the vector's group. */
  readonly type: string;
  readonly file: string;
  /** Those of the group. */
  readonly pattern?: string | undefined;
  readonly suite?: string | undefined;
  readonly test: Vector;
  /** The meaning of each flag of the test. */
  readonly notes: { readonly [flag: string]: string };
}

/**
 * Every vector of these operations, or of all, in the order in which to implement them.
 * @param isSpecOnly - leaves out tests that the protocol leaves open
 */
export function listTasks(only?: readonly string[], isSpecOnly = false): Task[] {
  const tasks: Task[] = [];
  for (const file of vectorFiles()) {
    const { notes, testGroups } = readVectorFile(file);
    for (const { type, tests, pattern, suite } of testGroups) {
      const operation = CHECKS[type]?.operation;
      if (operation === undefined) continue; // known answers of primitives, which no operation exposes
      for (const test of tests) {
        if (only !== undefined && !only.includes(operation) && !only.includes(`${file}-${test.tcId}`))
          continue;
        if (isSpecOnly && test.result === 'acceptable') continue;
        const own = {
          ...Object.fromEntries(test.flags.map((flag) => [flag, notes[flag]!])),
          ...closingsOf(test),
        };
        const demanded = isSpecOnly ? demandedOf(test) : test;
        tasks.push({ operation, type, file, pattern, suite, test: demanded, notes: own });
      }
    }
  }
  const names = OPERATIONS.map(({ name }) => name);
  return tasks.sort((a, b) => names.indexOf(a.operation) - names.indexOf(b.operation));
}

/** A note for each close code and each HTTP status with which the connection of a session ends. */
function closingsOf({ steps = [] }: Vector): { [note: string]: string } {
  const closings = (steps as Fields[]).filter((step) => step.do === 'closed');
  const names = closings.flatMap(({ code, status }) => [
    ...(code === undefined ? [] : [`close code ${code}`]),
    ...(status === undefined ? [] : [`status ${status}`]),
  ]);
  return Object.fromEntries(names.map((name) => [name, `The connection ends with ${name}.`]));
}

export interface RunOptions {
  adapter: Adapter;
  /** Only these operations, and these tests. */
  only?: readonly string[] | undefined;
  /** Compares only the parts that the protocol demands. */
  isSpecOnly?: boolean;
  /** What the implementation is; without it, what the adapter says. */
  profile?: Profile | undefined;
  /** Called before the tests: what the implementation is, and how many tests do not apply. */
  onProfile?: (profile: Profile, outside: number) => void;
  onProgress?: (done: number, total: number, operation: string) => void;
}

/** @throws CannotRun if the adapter does not start */
export async function runVectors({
  adapter,
  only,
  isSpecOnly = false,
  profile: given,
  onProfile,
  onProgress,
}: RunOptions): Promise<Verdict[]> {
  const profile = given ?? (await askAbout(adapter));
  const all = listTasks(only, isSpecOnly);
  const tasks = profile === undefined ? all : all.filter((task) => applies(task, profile));
  if (profile !== undefined) onProfile?.(profile, all.length - tasks.length);
  const verdicts: Verdict[] = [];
  let [operation, inVain, inAll, late] = ['', 0, 0, 0];
  for (const task of tasks) {
    onProgress?.(verdicts.length, tasks.length, task.operation);
    if (task.operation !== operation) [operation, inVain] = [task.operation, 0];
    const isSilent = inVain >= MAX_IN_VAIN || inAll >= 2 * MAX_IN_VAIN;
    const asked = late === MAX_LATE ? ASLEEP : isSilent ? SILENT : adapter;
    const verdict = await runVector(task, asked, isSpecOnly, profile);
    const { where, got } = verdict.failure?.difference ?? { where: '', got: '' };
    inVain = where === 'adapter' ? inVain + 1 : 0;
    if (asked === adapter) inAll = where === 'adapter' ? inAll + 1 : 0;
    if (asked === adapter) late = where === 'adapter' && got.startsWith(LATE) ? late + 1 : 0;
    verdicts.push(verdict);
  }
  onProgress?.(tasks.length, tasks.length, '');
  return narrowCauses(withoutRefuted(verdicts, tasks));
}

/** Asks an adapter what it is. Those that do not know the request decline it, or end. */
async function askAbout(adapter: Adapter): Promise<Profile | undefined> {
  const response = await adapter.send({ op: 'about' }).catch((error) => {
    if (error instanceof CannotStart) throw error;
    return {};
  });
  return readProfile(response);
}

/** How many requests in a row, of one operation, an adapter may leave without a valid response; and twice as many of all. Each costs a new process. */
const MAX_IN_VAIN = 20;

/** How many requests in a row an adapter may leave without any response. Each costs the whole timeout. */
const MAX_LATE = 5;

/** In place of an adapter that has left more. */
const silent = (count: number, what: string): Adapter => ({
  send: () => Promise.reject(new AdapterError(`not asked, since ${count} requests in a row had ${what}`)),
  stop: () => Promise.resolve(),
});
const SILENT = silent(MAX_IN_VAIN, 'no valid response');
const ASLEEP = silent(MAX_LATE, 'no response in time');

/** Leaves out the causes that a test rules out, by passing or by the way it failed. */
function withoutRefuted(verdicts: readonly Verdict[], tasks: readonly Task[]): Verdict[] {
  const causes = new Set(verdicts.flatMap(({ failure }) => failure?.causes ?? []));
  const refuted = new Set<string>();
  for (const [index, verdict] of verdicts.entries()) {
    const { type, test } = tasks[index]!;
    const { refutes } = CHECKS[type]!;
    if (refutes === undefined || (verdict.result !== 'passed' && verdict.result !== 'failed')) continue;
    for (const cause of causes) if (!refuted.has(cause) && refutes(test, verdict, cause)) refuted.add(cause);
  }
  return verdicts.map((verdict) => {
    if (verdict.failure === undefined) return verdict;
    const left = verdict.failure.causes.filter((cause) => !refuted.has(cause));
    return { ...verdict, failure: { ...verdict.failure, causes: left } };
  });
}

export async function runVector(
  { operation, type, file, test, notes }: Task,
  adapter: Adapter,
  isSpecOnly = false,
  profile?: Profile,
): Promise<Verdict> {
  const own = profile === undefined ? test : { ...test, roles: profile.roles };
  const rules = rulesOf(file, type, test);
  const name = `${file} ${test.tcId}`;
  const size = JSON.stringify(test).length;
  const isChoice = test.result === 'acceptable';
  const isRefusal = test.error !== undefined;
  const kind = { ...(isChoice && { isChoice }), ...(isRefusal && { isRefusal }) };
  const traces: Trace[] = [];
  const verdict = await runTest(
    { operation, name, file, tcId: test.tcId, comment: test.comment, notes, rules, size, ...kind },
    () =>
      CHECKS[type]!.check(own, async (request) => {
        if (request.do === 'start' || request.do === 'open') traces.push({ request, entries: [], passed: 0 });
        const { trace, ...response } = await ask(adapter, request);
        const [own] = traces.slice(-1);
        if (Array.isArray(trace)) own?.entries.push(...trace);
        const isMessage = request.do === 'write' || request.do === 'read';
        if (own !== undefined && isMessage && response.error === undefined) own.passed++;
        return isSpecOnly ? withoutChoices(response, test) : response;
      }),
  );
  return withWrongValue(verdict, test, traces);
}

/** What an adapter has traced since this request, which began a handshake or a session. */
interface Trace {
  readonly request: Fields;
  readonly entries: Fields[];
  /** How many messages of a handshake were written or read. */
  passed: number;
}

/** A failure that is explained by the first wrong value of a trace, if one is wrong. */
function withWrongValue(verdict: Verdict, test: Vector, traces: readonly Trace[]): Verdict {
  const { failure } = verdict;
  if (failure === undefined) return verdict;
  for (const { request, entries, passed } of traces.filter(({ entries }) => entries.length > 0)) {
    const seen = seenIn(test, request);
    const wrong = seen && firstWrongValue(seen, entries, passed);
    if (wrong === undefined) continue;
    const causes = [`first wrong value: ${wrong.says}`];
    return { ...verdict, failure: { ...failure, causes, wrongValue: wrong.difference } };
  }
  return verdict;
}

async function ask(adapter: Adapter, request: Fields): Promise<Fields> {
  const response = await adapter.send(request).catch((error) => {
    if (!(error instanceof AdapterError)) throw error;
    const difference = { where: 'adapter', expected: 'a response', got: error.message };
    throw new Failure(difference, ['the adapter itself, or an implementation that crashes or hangs']);
  });
  if (response.declined === true) throw new Declined();
  return response;
}

/** Tests to print. */
export interface Printed {
  readonly only: readonly string[] | undefined;
  /** Leaves out tests that the protocol leaves open. */
  readonly specOnly: boolean;
  /** Leaves out those of other implementations, and known answers, which no operation takes. */
  readonly profile?: Profile | undefined;
}

/**
 * A line about the vectors, then one for each test of these operations, or of all files. It has the fields of the test and of its
 * group, the file, and the operation, or null if no operation takes it. A test of more than 8 KiB has several lines.
 */
export function* jsonLines({ only, specOnly, profile }: Printed): Generator<string> {
  yield JSON.stringify({ vectors: vectorsId() });
  for (const file of vectorFiles()) {
    for (const { source, tests, ...group } of readVectorFile(file).testGroups) {
      const operation = CHECKS[group.type]?.operation ?? null;
      const isOurs = (test: Vector): boolean =>
        profile === undefined || (operation !== null && applies({ operation, ...group, test }, profile));
      for (const test of tests) {
        const isNamed = only?.some((name) => name === operation || name === `${file}-${test.tcId}`);
        if (isNamed === false || (specOnly && test.result === 'acceptable') || !isOurs(test)) continue;
        yield* inParts({ file, operation, ...group, ...test });
      }
    }
  }
}

const LONGEST_LINE = 8192; // bytes
const PART = 2600; // characters, each of which takes at most three bytes

/** A line, or several whose `text`s together are it. */
function* inParts(fields: Fields): Generator<string> {
  const line = JSON.stringify(fields);
  if (Buffer.byteLength(line) <= LONGEST_LINE) return yield line;
  const { file, tcId } = fields;
  const parts = Math.ceil(line.length / PART);
  for (let part = 1; part <= parts; part++)
    yield JSON.stringify({ file, tcId, part, parts, text: line.slice(PART * (part - 1), PART * part) });
}

/** The same tests for people: a step a line, with what is expected below it, and long values cut. */
export function* readableLines({ only, specOnly, profile }: Printed): Generator<string> {
  const tasks = listTasks(only, specOnly);
  for (const { file, type, test } of profile ? tasks.filter((task) => applies(task, profile)) : tasks) {
    const { tcId, comment, flags, result, steps = [], results = [], ...fields } = test;
    const inLists = Array.isArray(steps) && steps.length > 0;
    yield `${file}-${tcId} ${type}: ${comment} (${[...flags, result].join(', ')})`;
    yield* shownFields(inLists ? fields : { ...fields, ...(results.length > 0 && { results }) }, '  ');
    for (const [index, { events, ...input }] of (steps as Fields[]).entries()) {
      yield `  ${index + 1}. ${named(input)}`;
      for (const given of (events ?? []) as unknown[]) yield `     > ${named(given)}`;
      const { orders, decisions, ...rest } = Object(results[index]) as Fields;
      for (const given of (orders ?? decisions ?? []) as unknown[]) yield `     > ${named(given)}`;
      if (Object.keys(rest).length > 0) yield `     = ${named(rest)}`;
    }
    yield '';
  }
}

function* shownFields(fields: Fields, indent: string): Generator<string> {
  for (const [name, value] of Object.entries(fields)) yield `${indent}${name}: ${short(value)}`;
}

/** What is done, or happens, and its fields. */
function named(value: unknown): string {
  const { do: what, type, ...rest } = Object(value) as Fields;
  const fields = what === undefined || type === undefined ? rest : { type, ...rest };
  return [what ?? type, ...shownFields(fields, '')].filter((part) => part !== undefined).join('  ');
}

const MAX_TEXT = 60; // characters

/** A value in few characters: hexadecimal by its beginning and length, an envelope by its type and payload. */
function short(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(short).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const { msg_type: type, payload } = value as Fields;
    if (typeof type === 'string' && payload !== undefined) return `${type} ${short(payload)}`;
    return `{${[...shownFields(value as Fields, '')].join(', ')}}`;
  }
  if (typeof value !== 'string') return String(value);
  if (/^(?:[\da-f]{2}){13,}$/.test(value)) return `${value.slice(0, 8)}… (${value.length / 2} bytes)`;
  if (value.includes('"payload"')) {
    try {
      return short(JSON.parse(value));
    } catch {
      // It is no JSON.
    }
  }
  return start(JSON.stringify(value), MAX_TEXT);
}
