/**
 * Asks Verifpal about the models, and compares its answers with those in cases.ts: docs/evidence/proofs.md.
 *
 *     evidence/proofs/run
 *     evidence/proofs/run --only 'XXpsk2, offer' --workers 1
 *     evidence/proofs/run --seconds 15
 *     evidence/proofs/run --write
 *     evidence/proofs/run --seconds 0 --write    models that have not changed keep their verdicts and their seconds
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { code, table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { CASES, type Case, MUTANTS, type Mutant, UNNOTICED, type Unnoticed } from './cases.ts';
import { textOf } from './model.ts';

const VERIFIER = fileURLToPath(new URL('verifier/target/release/verifier', import.meta.url));
const DURATIONS = new URL('durations.json', import.meta.url);

const { values: options } = parseArgs({
  options: {
    /** Runs the cases whose names contain this, and their mutants. */
    only: { type: 'string', default: '' },
    /** Leaves out models that have not changed since a run in which they took longer. */
    seconds: { type: 'string', default: 'Infinity' },
    workers: { type: 'string', default: String(availableParallelism()) },
    /** Draws the tables of docs/evidence/proofs.md, and notes in durations.json how long each model took. */
    write: { type: 'boolean', default: false },
  },
});

/** What the verifier prints. */
interface Run {
  readonly models: readonly {
    readonly error?: string;
    readonly analysis?: {
      readonly queries: readonly {
        readonly query: string;
        /** Whether an attack was found. */
        readonly resolved: boolean;
        readonly conclusion: string;
        readonly envelope: { readonly exhausted: boolean; readonly summary: string };
      }[];
    };
  }[];
}

/** A model for Verifpal, and the values about which it has to find an attack. */
interface Job {
  readonly name: string;
  /** The name of the case. */
  readonly of: string;
  readonly text: string;
  readonly sessions: number;
  readonly attacked: readonly string[];
}

/** For the SHA-256 of each model, in hex, the seconds of CPU that it took when the tables were drawn. */
const durations = JSON.parse(readFileSync(DURATIONS, 'utf8')) as Record<string, number>;
const seconds = new Map<string, number>();
const failures: string[] = [];
const all = [
  ...CASES.map((own) => jobOf(own)),
  ...[...MUTANTS, ...UNNOTICED].map((change) => jobOf(caseOf(change), change)),
];
const jobs = all.filter(
  (job) => job.of.includes(options.only) && (durations[idOf(job)] ?? 0) <= Number(options.seconds),
);
const ids = new Map(all.map((job) => [job.name, idOf(job)]));
for (const [name, id] of ids) if (durations[id] !== undefined) seconds.set(name, durations[id]);
const total = jobs.length;
const began = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-proofs-'));
await Promise.all(Array.from({ length: Number(options.workers) }, work));
const minutes = ((Date.now() - began) / 60_000).toFixed(1);

if (failures.length === 0) rmSync(folder, { recursive: true });
else console.log(`\n${failures.join('\n')}\nThe models are in ${folder}.`);
console.log(`${total - failures.length} of ${total} as expected, in ${minutes} minutes`);
if (total === 0 || failures.length > 0) process.exitCode = 1;
else if (options.write && options.only === '') {
  const drawn = {
    cases: table(['case', 'runs', 'no attack found on', 'attack found on', 'seconds'], CASES.map(rowOf)),
    mutants: table(['mistake', 'in', 'attack found on'], MUTANTS.map(mutantRowOf)),
    unnoticed: table(
      ['change', 'in'],
      UNNOTICED.map(({ name, of }) => [name, of]),
    ),
  };
  writeMeasured('docs/evidence/proofs.md', drawn);
  const taken = [...seconds].map(([name, duration]) => [ids.get(name), Number(duration.toFixed(1))]);
  writeFileSync(DURATIONS, `${JSON.stringify(Object.fromEntries(taken), undefined, 2)}\n`);
}

function caseOf({ of }: Mutant | Unnoticed): Case {
  return CASES.find(({ name }) => name === of)!;
}

function jobOf(own: Case, change?: Mutant | Unnoticed): Job {
  return {
    name: change === undefined ? own.name : `${own.name}; ${change.name}`,
    of: own.name,
    text: textOf(own, change),
    sessions: own.sessions ?? 2,
    attacked: change !== undefined && 'fails' in change ? change.fails : own.attacked,
  };
}

function idOf({ text, sessions }: Job): string {
  return createHash('sha256').update(`${sessions} ${text}`).digest('hex');
}

/** Runs jobs until none is left. */
async function work(): Promise<void> {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    show(`${total - jobs.length} of ${total}: ${job.name}`);
    const wrong = await run(job);
    show('');
    const text = `${wrong === '' ? 'ok  ' : 'FAIL'} ${seconds.get(job.name)!.toFixed(1).padStart(6)} s  ${job.name}`;
    console.log(text);
    if (wrong !== '') failures.push(`${job.name}: ${wrong}`);
  }
}

/** Shows on a terminal what is under way. */
function show(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${text}`);
}

/** Returns what differs from what is expected, if anything. */
async function run({ name, text, sessions, attacked }: Job): Promise<string> {
  const path = join(folder, `${total - jobs.length}.vp`);
  writeFileSync(path, text);
  const timed = ['-c', 'TIMEFORMAT=%U; time "$0" "$@"', VERIFIER, path, String(sessions)];
  const { stdout, stderr } = await promisify(execFile)('bash', timed, { maxBuffer: 2 ** 28 });
  const { error, analysis } = (JSON.parse(stdout) as Run).models[0]!;
  seconds.set(name, Number(stderr.trim().split('\n').pop())); // of CPU, whatever else runs
  if (analysis === undefined) return `${path}: ${error}`;
  const wrong = analysis.queries.flatMap(({ query, resolved, conclusion, envelope }) => {
    // Verifpal writes names in lower case.
    const value = query.slice(query.lastIndexOf(' ') + 1);
    if (resolved !== attacked.some((name) => name.toLowerCase() === value))
      return [resolved ? `${query}: ${conclusion}` : `${query}: no attack was found`];
    return resolved || envelope.exhausted ? [] : [`${query}: ${envelope.summary}`];
  });
  return wrong.join('; ');
}

function rowOf({ name, sessions, holds, attacked }: Case): string[] {
  return [name, `${sessions ?? 2}`, codes(holds), codes(attacked), seconds.get(name)!.toFixed(0)];
}

function mutantRowOf({ name, of, fails }: Mutant): string[] {
  return [name, of, codes(fails)];
}

function codes(names: readonly string[]): string {
  return names.map(code).join(', ');
}
