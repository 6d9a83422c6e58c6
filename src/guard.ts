/** Keeps the methods of an object apart: none runs inside another, and none runs after the first failure. */
import type { LocalError, RemoteError } from './errors.ts';
import * as errors from './errors-table.ts';
import { failureOf } from './memory.ts';

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
  /** The first failure. */
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

  /** Keeps the first failure, and returns it. Never throws: first wipe the keys. */
  fail(error: unknown): LocalError | RemoteError {
    const failure = this.failure ?? failureOf(error);
    this.failure = failure;
    return failure;
  }
}

/** The guard of an object that its user can end. */
export class EndingGuard extends Guard {
  private hasEnded = false;

  /** Whether the object has failed or ended. */
  get isOver(): boolean {
    return this.hasEnded || this.failure !== undefined;
  }

  /** @throws LocalError `wrong-state` inside a method, and after the end; the failure, if there is one */
  assertUsable(): void {
    this.assertIdle();
    if (this.hasEnded) this.failure ??= errors.handshakeOver();
    if (this.failure !== undefined) throw this.failure;
  }

  /** Ends the object: later calls throw `wrong-state`, unless it has failed. Allocates nothing. */
  end(): void {
    this.hasEnded = true;
  }
}
