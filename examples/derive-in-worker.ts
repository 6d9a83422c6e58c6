/** Deriving the PSK off the main thread, in a browser or in Node, with progress and a way to cancel. */

export interface DeriveOptions {
  onProgress?: (progress: number) => void;
  /** Cancels: the memory is wiped, and the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** What is called the same in a browser and in Node. */
interface AnyWorker {
  postMessage(message: unknown, transfer: unknown[]): void;
  terminate(): unknown;
  on?(event: 'error', listener: (error: unknown) => void): void;
  onerror?: (error: unknown) => void;
}
type WorkerClass = new (url: URL, options: { type: 'module' }) => AnyWorker;

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
