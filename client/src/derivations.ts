/**
 * Derives PSKs, one at a time: each takes 64 MiB. The link orders at most one, but a function that is told to stop may take a while,
 * so the next derivation starts when the earlier one has ended.
 */
import type { Derive } from './options.ts';

export class Derivations {
  readonly #password: string;
  readonly #derive: Derive;
  readonly #onProgress: (progress: number) => void;
  #stopper: AbortController | undefined;
  /** Settles when the derivations so far have ended. */
  #earlier: Promise<unknown> = Promise.resolve();

  constructor(password: string, derive: Derive, onProgress: (progress: number) => void) {
    this.#password = password;
    this.#derive = derive;
    this.#onProgress = onProgress;
  }

  /** @param answer - called with the PSK, or with the reason why there is none */
  start(salt: Uint8Array, answer: (psk: Uint8Array | Error) => void): void {
    const stopper = new AbortController();
    const { signal } = stopper;
    const onProgress = (progress: number): void => {
      if (!signal.aborted) this.#onProgress(progress);
    };
    this.#stopper = stopper;
    this.#earlier = this.#earlier
      .then(() =>
        outcomeOf(async () => {
          if (signal.aborted) throw new Error('the derivation was stopped');
          return this.#derive(this.#password, salt, onProgress, signal);
        }),
      )
      .then((psk) => {
        if (this.#stopper === stopper) this.#stopper = undefined;
        answer(psk);
      });
  }

  /** Stops the derivation that runs. */
  stop(): void {
    this.#stopper?.abort();
  }
}

/** What injected code returns or throws, as the link takes it: bytes, or an Error. */
export async function outcomeOf(work: () => Promise<Uint8Array>): Promise<Uint8Array | Error> {
  try {
    const bytes: unknown = await work();
    return ArrayBuffer.isView(bytes) ? (bytes as Uint8Array) : toError(bytes);
  } catch (error) {
    return toError(error);
  }
}

/** Code may throw anything, such as a text. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
