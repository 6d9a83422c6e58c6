/** Derives the PSK in a worker of Node.js, with progress reports and cancellation. For browsers: `browser/derive.js`. */
import { Worker } from 'node:worker_threads';

export interface DeriveOptions {
  /** Is called with the progress, from 0 to 1. */
  onProgress?: (progress: number) => void;
  /** Ends the worker; the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/**
 * @param password - the password of the identity
 * @param salt - the `salt` of the `psk-needed` event, 32 bytes
 * @returns the PSK, 32 bytes
 */
export async function deriveInWorker(
  password: string,
  salt: Uint8Array,
  { onProgress, signal }: DeriveOptions = {},
): Promise<Uint8Array> {
  const worker = new Worker(new URL('derive-worker.js', import.meta.url), { workerData: { password, salt } });
  try {
    return await new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      worker.on('error', reject);
      worker.on('message', ({ progress, psk }: { progress?: number; psk?: Uint8Array }) => {
        if (psk !== undefined) resolve(psk);
        else onProgress?.(progress!);
      });
    });
  } finally {
    await worker.terminate(); // with its memory
  }
}
