/** Random choices from a seed: the same seed, the same choices (sfc32). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = 0x9e3779b9 ^ Math.imul(seed, 0x85ebca6b);
    this.#c = Math.floor(seed / 0x100000000) ^ 0x243f6a88;
    for (let i = 0; i < 12; i++) this.#step();
  }

  /** A whole number of 32 bits. */
  next(): number {
    return this.#step();
  }

  #step(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** A whole number from 0, less than `limit`. */
  below(limit: number): number {
    return this.next() % limit;
  }

  /** True once in so many times. */
  oneIn(times: number): boolean {
    return this.next() % times === 0;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.next() % values.length]!;
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length);
    for (let i = 0; i < length; i++) bytes[i] = this.next();
    return bytes;
  }

  /** A length: mostly short, rarely long, and often a power of two or next to one. */
  length(limit: number): number {
    const size = this.below(Math.ceil(Math.log2(limit + 1)) + 1);
    const length = this.oneIn(2) ? (1 << size) + this.below(3) - 1 : this.below(1 << size);
    return Math.max(0, Math.min(limit, length));
  }
}

/** Random bytes as an option, from a seed. */
export function seeded(seed: number): (length: number) => Uint8Array {
  const random = new Random(seed);
  return (length) => random.bytes(length);
}
