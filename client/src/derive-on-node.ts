/** Derives the PSK in a worker of Node.js, to keep the event loop running. */

/**
 * Derives a PSK, as `derivePsk` does, in a worker.
 * @param password - the password of the identity
 * @param salt - SHA-256 of the hub's node id, 32 bytes
 * @param onProgress - called with the progress, from 0 to 1
 * @param signal - aborted when nobody needs the PSK any more
 * @returns the PSK, 32 bytes
 * @throws an error if the worker ends, or after an abort
 */
export async function deriveInWorker(
  password: string,
  salt: Uint8Array,
  onProgress: (progress: number) => void = () => {},
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const { Worker } = await import('node:worker_threads'); // only a first contact needs it
  const worker = new Worker(new URL('./derive-worker-on-node.js', import.meta.url), {
    workerData: { password, salt },
  });
  try {
    return await new Promise((resolve, reject) => {
      worker.on('error', reject);
      const stop = (): void => reject(new Error('the derivation was stopped'));
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop);
      worker.on('message', ({ progress, psk }: { progress: number; psk?: Uint8Array }) => {
        onProgress(progress);
        if (psk !== undefined) resolve(psk);
      });
    });
  } finally {
    await worker.terminate(); // with its memory
  }
}
