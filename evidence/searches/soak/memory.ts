/** The memory of a process, measured after a collection. Needs `node --expose-gc`. */
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes of the heap and of what it holds outside, such as the contents of typed arrays. */
export async function memoryInUse(): Promise<number> {
  globalThis.gc!();
  await sleep(20); // finalizers run, and what they release goes with the second
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * Lets mqtt-packet write packets of each length below 16,384. It keeps the bytes of such a length as soon as it has written it, and
 * with them often the 8 KB that they were cut from: a hundred megabytes in the end, which would hide what the library loses.
 */
export function fillCacheOfLengths(): void {
  const require = createRequire(createRequire(import.meta.url).resolve('mqtt'));
  const { generate } = require('mqtt-packet') as { generate(packet: object): Uint8Array };
  for (let length = 0; length < 16_384; length++)
    generate({ cmd: 'publish', topic: 'a', payload: Buffer.alloc(length), qos: 0 });
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
