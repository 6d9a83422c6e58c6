/** Derives the PSK in a worker of Node.js, to keep the event loop running. */
import { Worker } from 'node:worker_threads';
import type { Derive } from './options.ts';

export const deriveInWorker: Derive = async (password, salt, onProgress, signal) => {
  const worker = new Worker(new URL('./derive-worker-on-node.js', import.meta.url), {
    workerData: { password, salt },
  });
  try {
    return await new Promise((resolve, reject) => {
      worker.on('error', reject);
      signal.addEventListener('abort', () => reject(new Error('the derivation was stopped')));
      worker.on('message', ({ progress, psk }: { progress: number; psk?: Uint8Array }) => {
        onProgress(progress);
        if (psk !== undefined) resolve(psk);
      });
    });
  } finally {
    await worker.terminate(); // with its memory
  }
};
