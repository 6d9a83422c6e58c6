/** Derives the PSK in a worker of the browser, with progress reports and cancellation. */

/**
 * @param {string} password - the password of the identity
 * @param {Uint8Array} salt - the `salt` of the `psk-needed` event, 32 bytes
 * @param {{ onProgress?: (progress: number) => void, signal?: AbortSignal }} [options] - `onProgress` is called with the
 *   progress, from 0 to 1; `signal` ends the worker, and the promise rejects with its reason
 * @returns {Promise<Uint8Array>} the PSK, 32 bytes
 */
export async function derive(password, salt, { onProgress, signal } = {}) {
  const worker = new Worker(new URL('derive-worker.js', import.meta.url), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.onmessage = ({ data: { progress, psk } }) => {
        if (psk === undefined) onProgress?.(progress);
        else resolve(psk);
      };
      worker.postMessage({ password, salt });
    });
  } finally {
    worker.terminate(); // with its memory
  }
}
