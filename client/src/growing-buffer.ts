/** Bytes that come in parts, in one buffer outside of the engine's heap: a list of small parts would take many times their length. */
export class GrowingBuffer {
  readonly #maxLength: number;
  #buffer = new Uint8Array(0);
  #length = 0;

  /** @param maxLength - the most that it may hold, in bytes */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** What it takes, in bytes. */
  get room(): number {
    return this.#buffer.length;
  }

  /** What has come so far, in the same buffer. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** @returns false if it would be too long */
  add(part: Uint8Array): boolean {
    const length = this.#length + part.length;
    if (length > this.#maxLength) return false;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.min(2 * length, this.#maxLength));
      larger.set(this.bytes);
      this.#buffer = larger;
    }
    this.#buffer.set(part, this.#length);
    this.#length = length;
    return true;
  }
}
