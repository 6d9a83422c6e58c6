/**
 * Measures the library against its peers, and prints one table. Each benchmark has a process of its own: what V8 learned about a
 * function in one would slow it down in the next.
 *
 *     evidence/scale/run
 *     evidence/scale/run --only TEXT      only what has this in its name
 *     evidence/scale/run --before FOLDER  compares handshakes and argon2id with an earlier build, too, whose dist/ this is
 *     evidence/scale/run --json           prints JSON instead, from which evidence/scale/draw.ts makes what docs/evidence/scale.md shows
 */
import { fork } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MEASURED } from '../../tools/measured.ts';
import { derivation } from './argon2id.ts';
import { handshakes } from './handshakes.ts';
import { json } from './json.ts';
import { messages } from './messages.ts';
import { startProgress } from './paired.ts';
import { type Benchmark, COLUMNS, cells, line, type Row } from './rows.ts';
import { sessions } from './sessions.ts';
import { slowEngines } from './slow-engines.ts';

/** What --json prints. */
export interface Report {
  /** At which commit, and when. */
  readonly measured: string;
  readonly machine: string;
  readonly benchmarks: { readonly name: string; readonly rows: readonly Row[] }[];
}

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    before: { type: 'string' },
  },
});

const all: Benchmark[] = [
  ...handshakes(values.before),
  ...messages,
  ...json,
  derivation(values.before),
  slowEngines,
  ...sessions,
];
if (process.send === undefined) await measureAll(all.filter(({ name }) => name.includes(values.only)));
else process.once('message', measureOne);

/** Runs one benchmark, which the parent process names. */
async function measureOne([name, progress]: [string, string]): Promise<void> {
  startProgress(progress);
  process.send!(await all.find((benchmark) => benchmark.name === name)!.run());
  process.disconnect();
}

/** Runs one benchmark in a new process. */
function inProcess(name: string, progress: string): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), process.argv.slice(2));
    child.once('message', (rows) => resolve(rows as Row[]));
    child.once('exit', () => reject(new Error(`${name} ended without a result`)));
    child.send([name, progress]);
  });
}

async function measureAll(chosen: readonly Benchmark[]): Promise<void> {
  const seconds = chosen.reduce((sum, benchmark) => sum + benchmark.seconds, 0);
  const say = (text: string): void => void (values.json ? process.stderr : process.stdout).write(`${text}\n`);

  const machine = `${cpus().length} × ${cpus()[0]!.model.trim()}, Node ${process.versions.node}`;
  say(
    `${machine}. This takes about ${seconds < 90 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`}.`,
  );
  say('Ratios come from measurements that follow each other; times depend on what else the machine does.\n');
  if (!values.json) say(line(COLUMNS));

  const report: Report = { measured: MEASURED, machine, benchmarks: [] };
  for (const [i, { name }] of chosen.entries()) {
    const rows = await inProcess(name, `${i + 1} of ${chosen.length}`);
    report.benchmarks.push({ name, rows });
    if (!values.json) for (const row of rows) say(line(cells(row)));
  }
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else {
    const judged = report.benchmarks.flatMap(({ rows }) => rows).filter(({ isMet }) => isMet !== undefined);
    say(`\n${judged.filter(({ isMet }) => isMet).length} of ${judged.length} targets met`);
  }
}
