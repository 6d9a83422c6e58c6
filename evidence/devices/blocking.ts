/** What blocks the loop longest: the longest call of a session, paced and not, beside an X25519 in the same run. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Engine,
  type StartEngine,
  startQuickJs,
  startQuickJsNg,
  startXs,
  startXsMcu,
} from '../../test/engines/engines.ts';
import { cpuTime } from '../scale/paired.ts';
import { Peer } from './peer.ts';

/** The longest call, as a multiple of the time that an X25519 takes. */
export interface Longest {
  readonly call: string;
  readonly ratio: number;
}

export interface Blocking {
  readonly engine: string;
  readonly unpaced: Longest;
  readonly paced: Longest;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
/** Those with BigInt: without it X25519 is not in JavaScript. Hermes has no clock that is fine enough. */
const ENGINES: readonly StartEngine[] = [startXs, startXsMcu, startQuickJs, startQuickJsNg];
/** The two keys are those of `prepare`. */
const X25519 =
  'hubProtocol.deviceCrypto.x25519.sharedSecret(new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)); 0';

/** @param rounds - of which the fastest one counts, call by call, since garbage is collected in some */
export async function measureBlocking(rounds: number): Promise<Blocking[]> {
  const all: Blocking[] = [];
  for (const start of ENGINES) {
    const engine = await start([
      { module: path('../../dist/hub-protocol.js') },
      { script: path('client.js') },
    ]);
    const times = {
      x25519: [] as number[],
      paced: new Map<string, number>(),
      unpaced: new Map<string, number>(),
    };
    for (let i = 0; i < rounds; i++) {
      times.x25519.push(await timeOf(engine, X25519));
      for (const pace of ['paced', 'unpaced'] as const) {
        for (const pattern of ['XXpsk2', 'KKpsk0'] as const)
          await connect(engine, pattern, pace, times[pace]);
      }
    }
    engine.stop();
    const x25519 = Math.min(...times.x25519);
    const longest = (pace: 'paced' | 'unpaced'): Longest => {
      const [call, ms] = [...times[pace]].reduce((most, each) => (each[1] > most[1] ? each : most));
      return { call, ratio: ms / x25519 };
    };
    all.push({ engine: engine.name, unpaced: longest('unpaced'), paced: longest('paced') });
  }
  return all;
}

/** Opens a session, and keeps the least time of each call. */
async function connect(
  engine: Engine,
  pattern: 'XXpsk2' | 'KKpsk0',
  pace: 'paced' | 'unpaced',
  least: Map<string, number>,
): Promise<void> {
  const { keys, hello, offer, message2 } = new Peer(pattern).transcript();
  const note = async (call: string, statement: string): Promise<void> => {
    const ms = await timeOf(engine, statement);
    least.set(call, Math.min(ms, least.get(call) ?? Number.POSITIVE_INFINITY));
  };
  await engine.run(`prepare(${JSON.stringify({ ...keys, paced: pace === 'paced' })}); 0`);
  await note(`the constructor, ${pattern}`, 'open(); 0');
  for (const [name, envelope] of [
    ['HELLO', hello],
    ['the offer', offer],
    ['message 2', message2],
  ] as const) {
    await engine.run(`incoming = [${JSON.stringify(envelope)}]; 0`);
    await note(`${name}, ${pattern}`, 'receive(); 0');
    for (let count = 1; await isWaiting(engine); count++) {
      await note(`call ${count} of \`resume()\` after ${name}, ${pattern}`, 'resume(); 0');
    }
  }
  await engine.run(`if (state() !== 'ready') throw new Error(state()); 0`);
}

const isWaiting = (engine: Engine): Promise<boolean> =>
  engine.run('expectWaiting(); 0').then(
    () => true,
    () => false,
  );

/** Milliseconds of CPU, which other processes change less than they change a clock. */
async function timeOf(engine: Engine, statement: string): Promise<number> {
  const began = cpuOf(engine);
  await engine.run(statement);
  return cpuOf(engine) - began;
}

/** An engine runs in this process, or in its own, for which Linux counts nanoseconds. */
const cpuOf = ({ pid }: Engine): number =>
  pid === undefined ? cpuTime() : Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
