/** The memory of a process, measured after a collection. Needs `node --expose-gc`. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes of the heap and of what it holds outside, such as the contents of typed arrays. */
export async function memoryInUse(): Promise<number> {
  globalThis.gc!();
  await sleep(20); // finalizers run, and what they release goes with the second
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Measurements at equal distances. */
export class Samples {
  readonly #values: number[] = [];

  add(bytes: number): void {
    this.#values.push(bytes);
  }

  /** By how much the last third is above the second, in bytes. What is allocated once, and caches, are in the first. */
  get growth(): number {
    const third = Math.floor(this.#values.length / 3);
    if (third === 0) return 0;
    return median(this.#values.slice(-third)) - median(this.#values.slice(-2 * third, -third));
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
