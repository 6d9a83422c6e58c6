/** Derives the PSK in a worker of the browser, to keep the page responsive. */
import type { Derive } from './options.ts';

const NOT_LOADED =
  'the browser cannot load derive-worker-in-browser.js: serve it beside the script of the page, and allow it in the ' +
  'Content-Security-Policy with worker-src';

export const deriveInWorker: Derive = async (password, salt, onProgress, signal) => {
  // Bundlers recognize the worker by exactly this expression.
  const worker = new Worker(new URL('./derive-worker-in-browser.js', import.meta.url), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.onerror = ({ message }) => reject(new Error(message || NOT_LOADED)); // without a message if it did not load
      signal.addEventListener('abort', () => reject(new Error('the derivation was stopped')));
      worker.onmessage = ({ data }: { data: { progress: number; psk?: Uint8Array } }) => {
        onProgress(data.progress);
        if (data.psk !== undefined) resolve(data.psk);
      };
      worker.postMessage({ password, salt });
    });
  } finally {
    worker.terminate(); // with its memory
  }
};
