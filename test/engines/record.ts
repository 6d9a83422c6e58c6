/** Puts the vectors to this library in Node, by the judge's checks, and records requests and responses. */
import type { Fields } from '../../judge/src/adapter.ts';
import { listTasks, runVector, type Task } from '../../judge/src/run-vectors.ts';
import type { Crypto } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { createAdapterWithAnyCounter } from '../judge/any-counter.ts';
import { asked, type X25519Answers } from './plain-crypto.ts';
import type { Dialogue } from './suite.ts';

export interface Recorded extends Dialogue {
  readonly operation: string;
  /** Whether it takes a hub's session, or AESGCM, or nonces put at a counter. */
  readonly needs: readonly ('hub' | 'AESGCM')[];
}

/** Messages of 32 MiB are left to Node, where `npm test` has them, and so are derivations over 64 MiB. */
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
  const needs: ('hub' | 'AESGCM')[] = [];
  if (operation === 'session' && test.steps[0].role === 'hub') needs.push('hub');
  const usesCiphers = ['handshake', 'seal', 'open', 'session'].includes(operation);
  if (usesCiphers && JSON.stringify(test).includes('AESGCM')) needs.push('AESGCM');
  return needs;
}

/** All dialogues, how many vectors were too large, and every answer of X25519 that was needed. */
export async function record(): Promise<{ dialogues: Recorded[]; left: number; answers: X25519Answers }> {
  const answers: { [asked: string]: string } = {};
  const keep = (key: string, answer: () => Uint8Array): Uint8Array => {
    const bytes = answer();
    answers[key] = Buffer.from(bytes).toString('hex');
    return bytes;
  };
  const { publicKey, sharedSecret } = nodeCrypto.x25519;
  const crypto: Crypto = {
    ...nodeCrypto,
    x25519: {
      publicKey: (own) => keep(asked(own), () => publicKey(own)),
      sharedSecret: (own, other) => keep(asked(own, other), () => sharedSecret(own, other)),
    },
  };
  const all = listTasks();
  const dialogues: Recorded[] = [];
  for (const task of all) {
    if (isTooLarge(task)) continue;
    const respond = createAdapterWithAnyCounter(crypto);
    const turns: { request: Fields; answer: Fields }[] = [];
    const send = async (request: Fields): Promise<Fields> => {
      const answer = JSON.parse(JSON.stringify(respond(request)));
      turns.push({ request, answer });
      return answer;
    };
    const { result, name } = await runVector(task, { send, stop: async () => {} });
    if (result !== 'passed') throw new Error(`${name} ${result} in Node: run npm test`);
    dialogues.push({ name, operation: task.operation, needs: needsOf(task), turns });
  }
  return { dialogues, left: all.length - dialogues.length, answers };
}
