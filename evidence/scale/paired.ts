/**
 * Measures contenders in turns within one run, so that whatever slows the machine down slows all of them down. What counts is
 * the ratio of two measurements that follow each other.
 */

/** Does something so many times, and returns the milliseconds that it took. */
export type Timer = (count: number) => number | Promise<number>;

export interface Contender {
  readonly name: string;
  readonly time: Timer;
}

export interface Measurement {
  readonly name: string;
  /** The median time of one call. */
  readonly ms: number;
  /** The median of the time of the first contender divided by that of this one. */
  readonly ratio: number;
}

/** What is measured at once takes so long: short enough that both contenders meet the same load of the machine. */
const LEAST_MS = 5;
const LEAST_ROUNDS = 5;

/** The CPU time of this process in milliseconds, which other processes change less than they change a clock. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Measures a function by CPU time. */
export const calls =
  (run: () => unknown): Timer =>
  (count) => {
    const began = cpuTime();
    for (let i = 0; i < count; i++) run();
    return cpuTime() - began;
  };

/** Measures a function that returns a promise, by CPU time, or by a clock where another process does the work. */
export const awaited =
  (run: () => Promise<unknown>, clock: () => number = cpuTime): Timer =>
  async (count) => {
    const began = clock();
    for (let i = 0; i < count; i++) await run();
    return clock() - began;
  };

/** Returns how many calls take long enough to be measured; this warms up, too. */
async function enough(time: Timer, leastMs: number): Promise<number> {
  for (let count = 1; ; count *= 2) {
    if ((await time(count)) >= leastMs) return count;
  }
}

/**
 * Measures all contenders in each round, for so many seconds, and for five rounds at least. No garbage is collected in
 * between: V8 would throw optimized code away with it.
 * @param leastMs - longer for contenders that leave much garbage, so that each pays for its own
 */
export async function paired(
  contenders: readonly Contender[],
  seconds: number,
  leastMs: number = LEAST_MS,
): Promise<Measurement[]> {
  const until = performance.now() + 1000 * seconds;
  const counts: number[] = [];
  for (const { time } of contenders) counts.push(await enough(time, leastMs));
  const times = contenders.map((): number[] => []);
  const order = contenders.map((_, i) => i);
  for (let round = 1; round <= LEAST_ROUNDS || performance.now() < until; round++) {
    for (const i of order) {
      times[i]!.push((await contenders[i]!.time(counts[i]!)) / counts[i]!);
    }
    order.reverse();
    progress(`${contenders[0]!.name}: round ${round}`);
  }
  progress('');
  return contenders.map(({ name }, i) => ({
    name,
    ms: median(times[i]!),
    ratio: median(times[0]!.map((time, round) => time / times[i]![round]!)),
  }));
}

/** Shows what goes on, on a terminal only. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)]!;
}
