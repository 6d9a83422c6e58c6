/** Keeps the methods of an object apart: none runs inside another, and none runs after the first failure. */
import { LocalError, RemoteError } from './errors.ts';
import * as errors from './errors-table.ts';

/**
 * Injected code is called in the middle of a method: a second method called from there would use a nonce or a key
 * twice.
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
  /** The first failure, or the error that the object has ended. */
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

/** The error itself, if it is one of ours; `crypto-failed` for anything that the engine threw, such as for lack of memory. */
export function failureOf(error: unknown): LocalError | RemoteError {
  if (error instanceof LocalError || error instanceof RemoteError) return error;
  return errors.cryptoIncomplete(error);
}
