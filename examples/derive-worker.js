/**
 * The worker of `derive-in-worker.ts`, for browsers and Node.js. It derives a PSK in slices, so that a cancellation can
 * arrive between two of them.
 */
import { Argon2id } from 'hub-protocol';
import { nobleCrypto as crypto } from 'hub-protocol/noble';

const BLOCKS_AT_ONCE = 4096; // about 10 ms on a desktop

const isBrowser = typeof globalThis.self === 'object';
const parent = isBrowser ? globalThis.self : (await import('node:worker_threads')).parentPort;
parent.addEventListener('message', ({ data }) => derive(data), { once: true });

async function derive({ port, password, salt }) {
  const parameters = { passes: 3, memoryKiB: 65536, parallelism: 1, length: 32 };
  const derivation = new Argon2id({ crypto, password, salt, ...parameters });
  let isCancelled = false;
  port.onmessage = () => {
    isCancelled = true;
  };
  let isDone = false;
  while (!isCancelled && !isDone) {
    isDone = derivation.run(BLOCKS_AT_ONCE);
    port.postMessage({ progress: derivation.progress });
    await new Promise((resolve) => setTimeout(resolve)); // lets messages arrive
  }
  port.postMessage({ psk: isDone ? derivation.result() : undefined });
  derivation.destroy(); // wipes the memory, also after a cancellation
  port.close();
}
