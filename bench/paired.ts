/** Measures contenders in turns within one run, so that whatever slows the machine down slows all of them down. */

export interface Contender {
  name: string;
  run: () => unknown;
}

/** The CPU time of this process in milliseconds, which other processes hardly change. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns the median time of each contender in milliseconds, and its ratio to that of the first one. */
export async function paired(
  contenders: Contender[],
  rounds: number,
  clock: () => number = () => performance.now(),
): Promise<{ name: string; ms: number; ratio: number }[]> {
  const times = contenders.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [i, { run }] of contenders.entries()) {
      const began = clock();
      await run();
      if (round >= 0) times[i]!.push(clock() - began); // the first round warms up
    }
  }
  const medians = times.map(median);
  return contenders.map(({ name }, i) => ({ name, ms: medians[i]!, ratio: medians[i]! / medians[0]! }));
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}

/** Prints a heading and a line for each contender. */
export function report(heading: string, results: Awaited<ReturnType<typeof paired>>): void {
  console.log(`\n${heading}`);
  for (const { name, ms, ratio } of results) {
    console.log(`  ${name.padEnd(34)}${ms.toFixed(1).padStart(8)} ms${ratio.toFixed(2).padStart(8)} ×`);
  }
}
