/**
 * Deriving the PSK off the main thread, with progress and a way to cancel. In a browser, take the global Worker with
 * `{ type: 'module' }`; the message channel is the same.
 */
import { MessageChannel, Worker } from 'node:worker_threads';

export interface DeriveOptions {
  onProgress?: (progress: number) => void;
  /** Cancels: the memory is wiped, and the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

export function deriveInWorker(
  password: string,
  salt: Uint8Array,
  options: DeriveOptions = {},
): Promise<Uint8Array> {
  const { onProgress, signal } = options;
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(new URL('derive-worker.js', import.meta.url));
  return new Promise((resolve, reject) => {
    worker.on('error', reject);
    port1.on('message', (message: { progress: number } | { psk: Uint8Array | undefined }) => {
      if ('progress' in message) onProgress?.(message.progress);
      else if (message.psk !== undefined) resolve(message.psk);
      else reject(signal?.reason);
    });
    signal?.addEventListener('abort', () => port1.postMessage('cancel'), { once: true });
    worker.postMessage({ port: port2, password, salt }, [port2]);
  });
}
