/** A search that is led by the branches that its cases reach, as libFuzzer and AFL are: it keeps what reached more, and changes it. */
import { Random } from '../../../test/world/random.ts';

/** The longest input, in bytes. */
export const MAX_LENGTH = 2048;

/** Choices that bytes make, one for each where that is enough. After the last one a generator makes more. */
export class Choices extends Random {
  readonly #bytes: Uint8Array;
  #length: number;
  #position = 0;

  /**
   * @param bytes - at most MAX_LENGTH
   * @param place - MAX_LENGTH bytes, which it uses
   */
  constructor(bytes: Uint8Array, place: Uint8Array = new Uint8Array(MAX_LENGTH)) {
    super(bytes.length);
    this.#bytes = place;
    place.set(bytes);
    this.#length = bytes.length;
  }

  /** The bytes that made the choices so far, with those that the generator added. */
  get used(): Uint8Array {
    return this.#bytes.slice(0, this.#position);
  }

  #byte(): number {
    if (this.#position < this.#length) return this.#bytes[this.#position++]!;
    const byte = super.next() & 0xff;
    if (this.#length < MAX_LENGTH) {
      this.#bytes[this.#position++] = byte;
      this.#length++;
    }
    return byte;
  }

  override next(): number {
    const high = (this.#byte() << 8) | this.#byte();
    return ((high << 16) | (this.#byte() << 8) | this.#byte()) >>> 0;
  }

  override below(limit: number): number {
    return limit > 256 ? super.below(limit) : this.#byte() % limit;
  }

  override oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  override pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!;
  }

  /** Bytes that differ wherever they are made, so that no change of the input makes a message that has a key in it. */
  override bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#byte() ^ (Math.imul(this.#position, 0x9e3779b1) >>> 24));
  }
}

/** The inputs that reached what none before had reached, and what that was. */
export class Corpus {
  readonly inputs: Uint8Array[] = [];
  /** A bit for each branch and magnitude: whether it was taken once, twice, 3, 4 to 7, up to 15, 31, 127, or more often. */
  readonly reached: Uint8Array;
  readonly #counters: Uint8Array;
  readonly #place: Uint8Array | undefined;
  readonly #run: (choices: Choices) => void;

  /**
   * @param counters - what instrumented code counts
   * @param run - runs a case
   * @param place - for the choices of the case that runs
   */
  constructor(counters: Uint8Array, run: (choices: Choices) => void, place?: Uint8Array) {
    this.#counters = counters;
    this.#place = place;
    this.#run = run;
    this.reached = new Uint8Array(counters.length);
  }

  /** An input to try: a changed one of the corpus, or bytes at random. */
  next(random: Random): Uint8Array {
    const { inputs } = this;
    if (inputs.length === 0 || random.oneIn(50)) return random.bytes(random.length(256));
    // The newest have been changed least.
    const recent = random.oneIn(2) ? Math.max(0, inputs.length - 30) : 0;
    let input = inputs[recent + random.below(inputs.length - recent)]!;
    do input = changed(input, random, random.pick(inputs));
    while (!random.oneIn(3));
    return input.subarray(0, MAX_LENGTH);
  }

  /** Runs a case, and keeps its input if it reached more. */
  try(input: Uint8Array): void {
    const choices = this.#count(input);
    let isNew = false;
    for (let i = 0; i < this.#counters.length; i++) {
      const count = this.#counters[i]!;
      if (count === 0) continue;
      const bit = 1 << magnitude(count);
      if ((this.reached[i]! & bit) !== 0) continue;
      this.reached[i]! |= bit;
      isNew = true;
    }
    if (isNew) this.inputs.push(choices.used);
  }

  #count(input: Uint8Array): Choices {
    this.#counters.fill(0);
    const choices = new Choices(input, this.#place);
    this.#run(choices);
    return choices;
  }

  /** Short inputs that together reach every branch that all reach. */
  smallest(): Uint8Array[] {
    const seen = new Uint8Array(this.#counters.length);
    const byLength = this.inputs.slice().sort((a, b) => a.length - b.length);
    return byLength.filter((input) => {
      this.#count(input);
      let isNew = false;
      for (let i = 0; i < seen.length; i++) {
        if (this.#counters[i] === 0 || seen[i] === 1) continue;
        seen[i] = 1;
        isNew = true;
      }
      return isNew;
    });
  }
}

function magnitude(count: number): number {
  if (count < 4) return count - 1;
  const bits = 32 - Math.clz32(count); // 3 to 8
  return bits < 6 ? bits : bits < 8 ? 6 : 7;
}

/** An input that differs from another in one place. */
function changed(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array {
  const at = random.below(input.length + 1);
  const length = 1 + random.below(random.oneIn(4) ? 64 : 4);
  const [before, after] = [input.subarray(0, at), input.subarray(at)];
  const rest = after.subarray(length);
  switch (random.below(7)) {
    case 0:
      return joined(before, rest);
    case 1:
      return joined(before, random.bytes(length), after);
    case 2:
      return joined(before, after.subarray(0, length), after);
    case 3:
      return joined(before, other.subarray(random.below(other.length + 1)));
    case 4:
      return joined(before, other.subarray(at, at + length), rest);
    case 5:
      return joined(
        before,
        after.subarray(0, 1).map((byte) => byte ^ (1 << random.below(8))),
        after.subarray(1),
      );
    default:
      return joined(before, random.bytes(length), rest);
  }
}

function joined(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
