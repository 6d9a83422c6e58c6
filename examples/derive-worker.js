/**
 * The worker of `derive-in-worker.ts`: it derives a PSK in slices, so that it hears a cancellation between two of them.
 * In a browser, `self` takes the place of `parentPort`, and `hub-protocol/noble` that of `hub-protocol/node`.
 */
import { parentPort } from 'node:worker_threads';
import { Argon2id } from 'hub-protocol';
import { nodeCrypto as crypto } from 'hub-protocol/node';

const BLOCKS_AT_ONCE = 4096; // about 10 ms on a desktop

/** @param {{ port: import('node:worker_threads').MessagePort, password: string, salt: Uint8Array }} start */
async function answer({ port, password, salt }) {
  const parameters = { passes: 3, memoryKiB: 65536, parallelism: 1, length: 32 };
  const derivation = new Argon2id({ crypto, password, salt, ...parameters });
  let isCancelled = false;
  port.once('message', () => {
    isCancelled = true;
  });
  let isDone = false;
  while (!isCancelled && !isDone) {
    isDone = derivation.run(BLOCKS_AT_ONCE);
    port.postMessage({ progress: derivation.progress });
    await new Promise(setImmediate); // a turn for messages
  }
  port.postMessage({ psk: isDone ? derivation.result() : undefined });
  derivation.destroy(); // wipes the memory, also after a cancellation
  port.close();
}

parentPort?.once('message', answer);
