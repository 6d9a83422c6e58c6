/** Derives the PSK on Node.js in a worker, to keep the event loop running. */
import { pskDerivation } from 'hub-protocol';
import { nodeCrypto as crypto } from 'hub-protocol/node';

/** KiB that are filled before others have a turn: some hundredths of a second. */
const SLICE = 1024;

/**
 * Derives a PSK, as `derivePsk` does, in a worker; in slices where none can be made, as in a program whose bundler left out its file.
 * @param password - the password of the identity
 * @param salt - SHA-256 of the hub's node id, 32 bytes
 * @param onProgress - called with the progress, from 0 to 1
 * @param signal - aborted when nobody needs the PSK any more
 * @returns the PSK, 32 bytes
 * @throws an error if a worker ends that has begun, or after an abort
 */
export async function deriveInWorker(
  password: string,
  salt: Uint8Array,
  onProgress: (progress: number) => void = () => {},
  signal?: AbortSignal,
): Promise<Uint8Array> {
  let hasBegun = false;
  const tell = (progress: number): void => {
    hasBegun = true;
    onProgress(progress);
  };
  try {
    return await inWorker(password, salt, tell, signal);
  } catch (error) {
    if (hasBegun || signal?.aborted) throw error;
    return inSlices(password, salt, onProgress, signal);
  }
}

async function inWorker(
  password: string,
  salt: Uint8Array,
  onProgress: (progress: number) => void,
  signal: AbortSignal | undefined,
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

async function inSlices(
  password: string,
  salt: Uint8Array,
  onProgress: (progress: number) => void,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const derivation = pskDerivation({ crypto, password, salt, onProgress });
  try {
    while (!derivation.run(SLICE)) {
      await new Promise(setImmediate);
      signal?.throwIfAborted();
    }
    return derivation.result();
  } finally {
    derivation.destroy();
  }
}
