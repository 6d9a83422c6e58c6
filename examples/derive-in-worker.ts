/** Derives the PSK in a worker, in a browser or in Node.js, with progress reports and cancellation. */

export interface DeriveOptions {
  /** Is called with the progress, from 0 to 1. */
  onProgress?: (progress: number) => void;
  /** Cancels the derivation: the worker wipes its memory, and the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** The methods that a worker has in a browser and in Node.js. `on` is Node's, `onerror` the browser's. */
interface AnyWorker {
  postMessage(message: unknown, transfer: unknown[]): void;
  terminate(): unknown;
  on?(event: 'error', listener: (error: unknown) => void): void;
  onerror?: (error: unknown) => void;
}
type WorkerClass = new (url: URL, options: { type: 'module' }) => AnyWorker;

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
  const global = globalThis as { Worker?: unknown };
  const Worker = global.Worker ?? (await import('node:worker_threads')).Worker;
  const worker = new (Worker as WorkerClass)(new URL('derive-worker.js', import.meta.url), {
    type: 'module',
  });
  const { port1, port2 } = new MessageChannel();
  try {
    return await new Promise((resolve, reject) => {
      if (worker.on !== undefined) worker.on('error', reject);
      else worker.onerror = reject;
      port1.addEventListener('message', (event) => {
        const { progress, psk } = (event as Event & { data: { progress?: number; psk?: Uint8Array } }).data;
        if (progress !== undefined) onProgress?.(progress);
        else if (psk !== undefined) resolve(psk);
        else reject(signal?.reason);
      });
      port1.start();
      signal?.addEventListener('abort', () => port1.postMessage('cancel'), { once: true });
      worker.postMessage({ port: port2, password, salt }, [port2]);
    });
  } finally {
    port1.close();
    worker.terminate();
  }
}
