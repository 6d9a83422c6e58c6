/** Runs the vectors against this library in Node, by the judge's checks, and records requests and responses. */
import type { Fields } from '../../judge/src/adapter.ts';
import { listTasks, runVector, type Task } from '../../judge/src/run-vectors.ts';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { createAdapterWithAnyCounter } from '../vectors/any-counter.ts';
import { inputsOf, type X25519Results } from './plain-crypto.ts';
import type { Dialogue } from './suite.ts';

export interface Recorded extends Dialogue {
  readonly operation: string;
  /** What not every single file or engine has: hub sessions, AESGCM, zlib. */
  readonly needs: readonly ('hub' | 'AESGCM' | 'zlib')[];
}

/** Messages of 32 MiB and derivations in 64 MiB are left to `npm test`. */
function isTooLarge({ type, test }: Task): boolean {
  if (type === 'Psk') return true;
  if (type === 'Argon2id') return test.memoryKiB * test.passes > 256;
  if (type === 'Split') return test.length > LARGE;
  if (type !== 'Reassemble') return false;
  const lengths = (test.frames as { length?: number }[]).map(({ length = 0 }) => length);
  return lengths.reduce((sum, length) => sum + length, 0) > LARGE;
}
const LARGE = 1024 * 1024;

function needsOf({ operation, test }: Task): Recorded['needs'] {
  const needs: ('hub' | 'AESGCM' | 'zlib')[] = [];
  if (operation === 'session' && test.steps[0].role === 'hub') needs.push('hub');
  const usesCiphers = ['handshake', 'seal', 'open', 'session'].includes(operation);
  if (usesCiphers && JSON.stringify(test).includes('AESGCM')) needs.push('AESGCM');
  if (test.flags.includes('Compressed')) needs.push('zlib');
  return needs;
}

/** @returns all dialogues, how many vectors were left out, and the results of X25519 that they need */
export async function record(): Promise<{ dialogues: Recorded[]; left: number; results: X25519Results }> {
  const results: { [inputs: string]: string } = {};
  const keep = (inputs: string, result: Uint8Array): Uint8Array => {
    results[inputs] = Buffer.from(result).toString('hex');
    return result;
  };
  const { publicKey, sharedSecret } = nodeCrypto.x25519;
  const crypto: CryptoProvider = {
    ...nodeCrypto,
    x25519: {
      publicKey: (own) => keep(inputsOf(own), publicKey(own)),
      sharedSecret: (own, other) => keep(inputsOf(own, other), sharedSecret(own, other)),
    },
  };
  const all = listTasks();
  const dialogues: Recorded[] = [];
  for (const task of all) {
    if (isTooLarge(task)) continue;
    const respond = createAdapterWithAnyCounter(crypto);
    const turns: { request: Fields; response: Fields }[] = [];
    const send = async (request: Fields): Promise<Fields> => {
      const response = JSON.parse(JSON.stringify(respond(request)));
      turns.push({ request, response });
      return response;
    };
    const { result, name } = await runVector(task, { send, stop: async () => {} });
    if (result !== 'passed') throw new Error(`${name} ${result} in Node: mend that first, with npm test`);
    dialogues.push({ name, operation: task.operation, needs: needsOf(task), turns });
  }
  return { dialogues, left: all.length - dialogues.length, results };
}
