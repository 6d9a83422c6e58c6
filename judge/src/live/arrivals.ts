/** The connections of a client under test, in the order in which they come. */
import { Failure } from '../verdict.ts';
import type { Connection } from './connection.ts';

export class Arrivals<Arrival extends { readonly connection: Connection }> {
  readonly #waiting: Arrival[] = [];
  readonly #patience: number;
  #wake = (): void => {};
  /** A client that misses one scene is not waited for again. */
  #isGone = false;
  #failure: Failure | undefined;

  /** @param patience - the longest wait for a connection, in milliseconds */
  constructor(patience: number) {
    this.#patience = patience;
  }

  add(arrival: Arrival): void {
    this.#waiting.push(arrival);
    this.#wake();
  }

  /** Something other than a connection came. The waiting scene fails. */
  fail(failure: Failure): void {
    this.#failure = failure;
    this.#wake();
  }

  /**
   * @param patience - another wait, in milliseconds
   * @throws Failure if no connection comes
   */
  async next(patience: number = this.#patience): Promise<Arrival> {
    while (this.#waiting[0]?.connection.isClosed) this.#waiting.shift();
    if (this.#waiting.length === 0 && !this.#isGone && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const arrival = this.#waiting.shift();
    if (arrival !== undefined) return arrival;
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
    this.#isGone = true;
    const got = `none within ${patience / 1000} s`;
    throw new Failure({ where: 'connection', expected: 'one for each scene', got });
  }
}
