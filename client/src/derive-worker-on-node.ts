/** The worker of `derive-on-node.ts`. */
import { parentPort, workerData } from 'node:worker_threads';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto } from 'hub-protocol/node';

const { password, salt } = workerData as { password: string; salt: Uint8Array };
const onProgress = (progress: number): void => parentPort!.postMessage({ progress });
parentPort!.postMessage({ progress: 1, psk: derivePsk({ crypto, password, salt, onProgress }) });
