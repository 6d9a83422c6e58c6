/** The worker of `derive-in-worker.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto } from 'hub-protocol/node';

const { password, salt } = workerData;
const onProgress = (progress) => parentPort.postMessage({ progress });
parentPort.postMessage({ psk: derivePsk({ crypto, password, salt, onProgress }) });
