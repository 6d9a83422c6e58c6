/** The check of a vector: what it asks the adapter, and what its result rules out. */
import type { Fields } from './adapter.ts';
import type { Vector } from './vectors.ts';
import type { Verdict } from './verdict.ts';

/**
 * Sends a request to the adapter.
 * @throws Declined if the adapter declines, Failure if it gives no valid response
 */
export type Ask = (request: Fields) => Promise<Fields>;

export interface Check {
  readonly operation: string;
  /** @throws Failure, Declined */
  check(test: Vector, ask: Ask): Promise<void>;
  /** Whether passing this test rules out the mistake of this cause. */
  refutes?(test: Vector, cause: string): boolean;
  /** Whether failing this test in this way rules out the mistake of this cause. */
  contradicts?(test: Vector, failure: NonNullable<Verdict['failure']>, cause: string): boolean;
}
