/**
 * Time and memory of every function that takes data of a peer, as its input doubles from 4 KiB to 8 MiB, or to the limit of
 * the function: both may double with it, and no more. Each measurement is a process of its own.
 *
 *     evidence/timing/linear          all
 *     evidence/timing/linear keyring  those with this in their names
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CASES, type Case } from './linear-cases.ts';

const SMALLEST = 2 ** 12;
const LARGEST = 2 ** 23;
/** For this long, calls are repeated, and the fastest counts. */
const PATIENCE_MS = 200;
/** Sizes below take less than the measurement's own noise, which is no growth. */
const LEAST_MS = 0.5;
const LEAST_BYTES = 4 * 2 ** 20;
/** The most that still counts as linear: 2 is exactly that, 4 is quadratic, and 2.8 the power of one and a half. */
const LINEAR = 2.8;

interface Cost {
  readonly ms: number;
  /** The peak above what the process held before. */
  readonly bytes: number;
}

/** The peak of resident memory, in bytes. Linux lets it be reset; elsewhere it is that of the whole process. */
function peak(): number {
  try {
    return 1024 * Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]);
  } catch {
    return 1024 * process.resourceUsage().maxRSS;
  }
}

function resetPeak(): void {
  try {
    writeFileSync('/proc/self/clear_refs', '5');
  } catch {
    // Not on Linux.
  }
}

function measure({ prepare }: Case, size: number): Cost {
  const first = prepare(size);
  globalThis.gc!();
  resetPeak();
  const before = peak();
  first();
  const bytes = peak() - before;
  let ms = Number.POSITIVE_INFINITY;
  const end = performance.now() + PATIENCE_MS;
  for (let i = 0; i < 3 || performance.now() < end; i++) {
    const call = prepare(size);
    globalThis.gc!();
    const began = process.cpuUsage();
    call();
    const { user, system } = process.cpuUsage(began); // which other processes change less than they change a clock
    ms = Math.min(ms, (user + system) / 1000);
  }
  return { ms, bytes };
}

function inAnotherProcess(name: string, size: number): Cost {
  const command = ['--expose-gc', '--import', 'tsx', fileURLToPath(import.meta.url), name, String(size)];
  return JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' })) as Cost;
}

/** The factor by which a cost grows as the input doubles: the median of the last five, since engines change their ways once. */
function growth(costs: readonly number[], least: number): number {
  const factors = costs.slice(1).map((cost, i) => Math.max(cost, least) / Math.max(costs[i]!, least));
  const last = factors.slice(-5).sort((a, b) => a - b);
  return last[last.length >> 1]!;
}

const row = (name: string, cells: string[]): string =>
  name.padEnd(54) + cells.map((cell) => cell.padStart(8)).join('');
const title = (size: number): string => (size < 2 ** 20 ? `${size / 2 ** 10} KiB` : `${size / 2 ** 20} MiB`);

function report(name: string): boolean {
  const { limit = LARGEST } = CASES[name]!;
  const costs: Cost[] = [];
  for (let size = SMALLEST; size <= LARGEST; size *= 2)
    if (size <= limit) costs.push(inAnotherProcess(name, size));
  const empty = Array.from({ length: Math.log2(LARGEST / SMALLEST) + 1 - costs.length }, () => '');
  const inTime = growth(
    costs.map(({ ms }) => ms),
    LEAST_MS,
  );
  const inMemory = growth(
    costs.map(({ bytes }) => bytes),
    LEAST_BYTES,
  );
  const isLinear = inTime <= LINEAR && inMemory <= LINEAR;
  const cells = (of: (cost: Cost) => string, factor: number): string[] => [
    ...costs.map(of),
    ...empty,
    `x${factor.toFixed(2)}`,
  ];
  console.log(
    `${row(
      name,
      cells(({ ms }) => ms.toPrecision(3), inTime),
    )}  ${isLinear ? 'linear' : 'NOT LINEAR'}`,
  );
  console.log(
    row(
      '',
      cells(({ bytes }) => (bytes / 2 ** 20).toFixed(1), inMemory),
    ),
  );
  return isLinear;
}

const [wanted = '', size] = process.argv.slice(2);
if (size !== undefined) {
  console.log(JSON.stringify(measure(CASES[wanted]!, Number(size))));
} else {
  const sizes: string[] = [];
  for (let each = SMALLEST; each <= LARGEST; each *= 2) sizes.push(title(each));
  console.log(row('first line ms, second line MiB at the peak', [...sizes, 'x2']));
  const names = Object.keys(CASES).filter((name) => name.includes(wanted));
  process.exitCode = names.map(report).every((isLinear) => isLinear) ? 0 : 1;
}
