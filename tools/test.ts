/**
 * Runs test files (uvu) in one process for each core, and two more; each runs one file after the other. Unlike uvu alone, it
 * also fails if a test throws something other than an Error, a hook throws, a file has no tests or does not end, or a
 * process exits early. It shows what a file has printed only if that fails, and all failures once more at the end.
 *
 *     node --import tsx tools/test.ts [--serial] PATTERN        PATTERN matches paths of test files below test/
 *
 * What is random in tests comes from a seed, the same in each run. With FUZZ_RUNS=10000, tests of properties try that many
 * inputs, from a new seed, which is printed; FUZZ_SEED sets it.
 *
 * Many tests read the output of a build. This builds if nothing has been built yet; to test changes, build first.
 */
import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { findSourceMap, type SourceMapping } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { seedProcess } from '../test/world/seed.ts';

/** The result of one file. */
interface Report {
  readonly passed: number;
  readonly total: number;
  readonly failures: string;
}

/** A suite in uvu's queue. */
type Suite = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;

/** How long each file took in its last run, in seconds. The slowest start first, and before them those that never ran here. */
const SECONDS = new URL('../node_modules/.cache/test-seconds.json', import.meta.url);

/** The slowest of a clone in which none has run. One of them at the end would leave the other processors idle. */
const SLOWEST = /^(?:cli\/chat|client\/(?:causes|mqtt-hub|shells)|vectors\/vectors)\./;

/**
 * How many seconds of a processor a test may use, with the programs that it starts, or what a file does before its first one. It
 * may wait as long for something that uses less than one. So a busy machine fails no test. Other tests install packages.
 */
const limitOf = (file: string): number => (file.endsWith('.test.ts') ? 60 : 300);

/** A position in a stack. */
const POSITION = /((?:file:\/\/)?\/[^\s()]+\.ts):(\d+):(\d+)/g;

/** What a test file's name ends with. */
const IS_TEST = /\.(?:test|browser|interop|mqtt|package|search)\.ts$/;

/** What npm puts below test/, perhaps at this moment, in folders that come and go. */
const OF_OTHERS = 'node_modules';

const TESTS = new URL('../test/', import.meta.url);
const BUILT = new URL('../dist/.inputs', import.meta.url);
const self = fileURLToPath(import.meta.url);

async function runAll(): Promise<void> {
  if (!existsSync(BUILT)) await import('./build.ts');
  const { FUZZ_RUNS, FUZZ_SEED } = process.env;
  if (FUZZ_RUNS !== undefined && FUZZ_SEED === undefined) process.env.FUZZ_SEED = String(randomInt(2 ** 31));
  if (FUZZ_RUNS !== undefined) console.log(`FUZZ_SEED=${process.env.FUZZ_SEED} FUZZ_RUNS=${FUZZ_RUNS}\n`);
  const began = performance.now();
  const isSerial = process.argv[2] === '--serial';
  const pattern = new RegExp(process.argv[isSerial ? 3 : 2]!);
  const last = secondsOfLastRun();
  const expected = (file: string): number => last[file] ?? (SLOWEST.test(file) ? 2000 : 1000);
  const files = filesIn('')
    .filter((file) => IS_TEST.test(file) && pattern.test(file))
    .sort((a, b) => a.localeCompare(b))
    .sort((a, b) => expected(b) - expected(a));
  const count = files.length;
  const took: { [file: string]: number } = {};
  const failed: { readonly file: string; readonly failures: string }[] = [];
  let [done, passed, total] = [0, 0, 0];
  const report = (file: string, seconds: number, { failures, ...counts }: Report): void => {
    // A process may fail after its last file, which has been counted.
    if (took[file] === undefined) done++;
    passed += counts.passed;
    total += counts.total;
    took[file] = Math.round(seconds * 10) / 10;
    const place = `[${String(done).padStart(String(count).length)}/${count}]`;
    const verdict = failures === '' ? 'ok  ' : 'FAIL';
    console.log(
      `${place} ${verdict} ${file.padEnd(40)} ${String(counts.total).padStart(5)} ${seconds.toFixed(1).padStart(6)} s`,
    );
    if (failures === '') return;
    failed.push({ file, failures });
    console.log(failures);
  };

  // Four more than there are cores, since some files mostly wait.
  const processes = isSerial ? 1 : Math.min(availableParallelism() + 4, files.length);
  await Promise.all(Array.from({ length: processes }, () => drain(files, report)));
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  mkdirSync(new URL('./', SECONDS), { recursive: true });
  writeFileSync(SECONDS, JSON.stringify({ ...secondsOfLastRun(), ...took }));
  for (const { file, failures } of count > 1 ? failed : []) {
    const only = `^${file.replace(/\./g, '\\.')}$`;
    console.log(`\nFAIL ${file}: npm run build && node --import tsx tools/test.ts '${only}'\n${failures}`);
  }
  const names = failed.map(({ file }) => file).join(', ');
  console.log(`\n${passed} of ${total} tests passed in ${seconds} s${names && `; FAILED: ${names}`}`);
  if (names !== '' || total === 0) process.exitCode = 1;
}

/** The paths of the files in a folder below test/, and in its folders. */
function filesIn(folder: string): string[] {
  return readdirSync(new URL(folder, TESTS), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return entry.name === OF_OTHERS ? [] : filesIn(`${path}/`);
  });
}

function secondsOfLastRun(): { readonly [file: string]: number } {
  try {
    return JSON.parse(readFileSync(SECONDS, 'utf8'));
  } catch {
    return {}; // the first run, or two at the same time
  }
}

/** What a child sends when a test begins: its name, or nothing after the last. */
interface Running {
  readonly test: string;
}

/** Runs files in a process until none is left. If the process exits early, another one continues. */
async function drain(
  files: string[],
  report: (file: string, seconds: number, report: Report) => void,
): Promise<void> {
  let child: ChildProcess | undefined;
  let last = '';
  let running = '';
  let printed = '';
  let watch: Watch | undefined;
  const died = (): Report => {
    const how = child!.signalCode ?? `code ${child!.exitCode}`;
    const what = watch!.ended ?? `exited early, with ${how}`;
    child = undefined;
    const where = running === '' ? 'the process, outside of its tests,' : `"${running}"`;
    return { passed: 0, total: 1, failures: `${printed}  ${where} ${what}\n` };
  };
  for (let file = files.shift(); file !== undefined; file = files.shift()) {
    if (child && !child.connected) report(last, 0, died());
    const began = performance.now();
    if (child === undefined) {
      child = fork(self, {
        env: { ...process.env, FORCE_COLOR: '0' },
        stdio: ['inherit', 'pipe', 'pipe', 'ipc'],
      });
      for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (data) => (printed += data));
    }
    running = printed = '';
    const own = new Watch(child, limitOf(file));
    watch = own;
    const result = await answerOf(child, file, (test) => {
      running = test;
      own.begin();
    });
    own.stop();
    await new Promise(setImmediate); // what it printed has arrived then
    const { failures } = result ?? {};
    if (failures)
      report(file, (performance.now() - began) / 1000, { ...result!, failures: printed + failures });
    else report(file, (performance.now() - began) / 1000, result ?? died());
    last = file;
  }
  if (child === undefined) return;
  child.disconnect();
  running = '';
  // What a test has left open keeps the process running.
  watch = new Watch(child, limitOf(last));
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  watch.stop();
  if (child.exitCode !== 0) report(last, 0, died());
}

/** Ends a process of which a test uses too much of a processor, or waits too long. */
class Watch {
  /** Why it has ended the process. */
  ended: string | undefined;
  readonly #child: ChildProcess;
  readonly #limit: number;
  readonly #timer: NodeJS.Timeout = setInterval(() => this.#look(), 5000);
  /** What was used when the test began, if that is known, and what when a second more of it was last used, and the time then. */
  #began: number | undefined;
  #used = 0;
  #since = 0;

  constructor(child: ChildProcess, limit: number) {
    this.#child = child;
    this.#limit = limit;
  }

  /** Another test begins. */
  begin(): void {
    this.#began = undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now() / 1000;
    const used = secondsOf(this.#child.pid!);
    const isNew = this.#began === undefined;
    this.#began ??= used;
    if (isNew || Math.abs(used - this.#used) >= 1) [this.#used, this.#since] = [used, now];
    if (used - this.#began >= this.#limit) this.ended = `used a processor for ${this.#limit} s`;
    else if (now - this.#since >= this.#limit) this.ended = `waited for ${this.#limit} s`;
    else return;
    this.ended += ', and was ended';
    this.#child.kill('SIGKILL');
  }
}

/** The seconds of a processor that a process and what it has started have used; where it is not Linux, the time that has passed. */
function secondsOf(pid: number): number {
  if (process.platform !== 'linux') return performance.now() / 1000;
  const { stdout } = spawnSync('ps', ['S', '-eo', 'pid=,ppid=,cputimes='], { encoding: 'utf8' });
  const all = stdout.split('\n').map((line) => line.trim().split(/ +/).map(Number));
  const of = (id: number): number =>
    all.reduce(
      (sum, [own, parent, seconds]) => sum + (own === id ? seconds! : parent === id ? of(own!) : 0),
      0,
    );
  return of(pid);
}

/** Runs a file in a process. Returns `undefined` if the process exits instead of reporting. */
function answerOf(
  child: ChildProcess,
  file: string,
  begins: (test: string) => void,
): Promise<Report | undefined> {
  return new Promise((resolve) => {
    const end = (report?: Report): void => {
      child.off('exit', exit).off('message', take);
      resolve(report);
    };
    const exit = (): void => end();
    const take = (message: Report | Running): void => {
      if ('test' in message) begins(message.test);
      else end(message);
    };
    child.on('exit', exit).on('message', take);
    child.send(file);
  });
}

/** The child process: runs the files that it is sent. */
function work(): void {
  // This process has read it. What tests start is not counted, and so is faster, unless a test gives it the folder.
  process.env.COVERAGE_FOLDER = process.env.NODE_V8_COVERAGE ?? '';
  delete process.env.NODE_V8_COVERAGE;
  const queue: Suite[][] = [];
  Object.assign(globalThis, { UVU_DEFER: 1, UVU_QUEUE: queue, UVU_INDEX: 0 });
  // uvu sets this field of its state when a test begins, and does not call anything else that is told which test it is.
  Object.defineProperty(Object.prototype, '__test__', {
    set: (test: string) => process.send!({ test } satisfies Running),
    configurable: true,
  });
  process.on('message', async (file: string) => {
    process.channel!.unref(); // the process then exits if a test waits for ever
    const report = await run(new URL(file, TESTS).href, queue);
    process.channel!.ref();
    process.send!(report);
  });
}

async function run(url: string, queue: Suite[][]): Promise<Report> {
  // Interoperability and browsers are tested with keys that nobody has tried before.
  if (/\.(?:test|search)\.ts$/.test(url)) seedProcess();
  const suites: Suite[] = [];
  queue[0] = suites;
  let [passed, total, failures] = [0, 0, ''];
  try {
    await import(url);
    // The source map of each stack is expensive, and errors of the library read theirs when they are made.
    process.setSourceMapsEnabled(false);
    for (const suite of suites) {
      const [errors, ran, , all] = await suite();
      passed += ran;
      total += all;
      if (errors !== true) failures += errors;
      else if (ran !== all)
        failures += `  ${ran} of ${all} tests ran: a hook failed, or a test threw something other than an Error\n`;
    }
    if (total === 0) failures += '  no tests: does the file end with test.run()?\n';
  } catch (error) {
    failures += `  ${(error as Error)?.stack ?? error}\n`;
  }
  process.setSourceMapsEnabled(true);
  return { passed, total, failures: failures.replace(POSITION, inSource) };
}

/** The position in the source, of one in what tsx has made of it. */
function inSource(compiled: string, path: string, line: string, column: string): string {
  const { originalLine, originalColumn } = {
    ...findSourceMap(path)?.findEntry(Number(line) - 1, Number(column) - 1),
  } as Partial<SourceMapping>;
  return originalLine === undefined ? compiled : `${path}:${originalLine + 1}:${originalColumn! + 1}`;
}

if (process.send !== undefined) work();
else await runAll();
