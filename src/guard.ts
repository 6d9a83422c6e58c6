/** Keeps the methods of an object apart: none runs inside another, and after the first failure none runs at all. */
import { LocalError, RemoteError } from './errors.ts';
import * as errors from './errors-table.ts';

/**
 * Injected code is called in the middle of a method, where a second one would use a nonce or a key twice.
 *
 *     this.guard.enter();
 *     try {
 *       …
 *     } catch (error) {
 *       throw this.guard.fail(error);
 *     } finally {
 *       this.guard.leave();
 *     }
 */
export class Guard {
  /** The first failure, or that the object is over. */
  failure: LocalError | RemoteError | undefined = undefined;
  private isBusy = false;

  /** Begins a method. @throws LocalError `wrong-state` inside another */
  enter(): void {
    this.assertIdle();
    this.isBusy = true;
  }

  /** Ends the method. */
  leave(): void {
    this.isBusy = false;
  }

  /** @throws LocalError `wrong-state` inside a method */
  assertIdle(): void {
    if (this.isBusy) {
      throw errors.calledInside();
    }
  }

  /** @throws LocalError `wrong-state` inside a method; the failure, if there is one */
  assertUsable(): void {
    this.assertIdle();
    if (this.failure !== undefined) throw this.failure;
  }

  /** Keeps the first failure, and returns it. */
  fail(error: unknown): LocalError | RemoteError {
    this.failure ??= failureOf(error);
    return this.failure;
  }

  /** Ends the object: later calls throw `wrong-state`, unless it has failed. */
  end(): void {
    this.failure ??= errors.handshakeOver();
  }
}

/** What was thrown, if it is one of our errors; `crypto-failed` for what the engine threw, such as for lack of memory. */
export function failureOf(error: unknown): LocalError | RemoteError {
  if (error instanceof LocalError || error instanceof RemoteError) return error;
  return errors.cryptoIncomplete(error);
}
