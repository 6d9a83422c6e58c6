/**
 * Derives PSKs, one at a time: each takes 64 MiB. A derivation that nobody needs any more is stopped, and the next one starts
 * when it has ended.
 */
import type { PskNeededEvent } from 'hub-protocol';
import type { Derive } from './options.ts';

interface Derivation {
  readonly nodeId: string;
  readonly psk: Promise<Uint8Array>;
  readonly stopper: AbortController;
}

export class Derivations {
  readonly #password: string;
  readonly #derive: Derive;
  readonly #onProgress: (progress: number) => void;
  /**
   * Not stored: any server can name a node id. Kept in case the connection is lost before the hub has proved that it
   * knows the PSK.
   */
  #unproved: Derivation | undefined;
  /** Settles when the derivations so far have ended. */
  #earlier: Promise<unknown> = Promise.resolve();
  #isRunning = false;

  constructor(password: string, derive: Derive, onProgress: (progress: number) => void) {
    this.#password = password;
    this.#derive = derive;
    this.#onProgress = onProgress;
  }

  /** Returns the PSK of a hub. A derivation for another hub is stopped, and its result forgotten. */
  pskFor({ nodeId, salt }: PskNeededEvent): Promise<Uint8Array> {
    if (this.#unproved?.nodeId !== nodeId) {
      this.#unproved?.stopper.abort();
      this.#unproved = this.#start(nodeId, salt);
    }
    return this.#unproved!.psk;
  }

  /** Stops the derivation, if it has not ended yet. */
  stop(): void {
    if (this.#isRunning) this.forget();
  }

  /** Forgets the PSK: it is stored now, or the hub has another one. */
  forget(): void {
    this.#unproved?.stopper.abort();
    this.#unproved = undefined;
  }

  #start(nodeId: string, salt: Uint8Array): Derivation {
    const stopper = new AbortController();
    const { signal } = stopper;
    const onProgress = (progress: number): void => {
      if (!signal.aborted) this.#onProgress(progress);
    };
    const psk = this.#earlier.then(() => {
      if (signal.aborted) throw new Error('the derivation was stopped');
      return this.#derive(this.#password, salt, onProgress, signal);
    });
    const derivation = { nodeId, psk, stopper };
    this.#isRunning = true;
    const end = (isWanted: boolean): void => {
      if (this.#unproved !== derivation) return;
      this.#isRunning = false;
      if (!isWanted) this.#unproved = undefined;
    };
    this.#earlier = psk.then(
      () => end(true),
      () => end(false),
    );
    return derivation;
  }
}
