/** Many sessions in one process: the bytes that an idle one takes, and handshakes while others are idle. */
import type { HubSession } from '../../dist/index.js';
import type { ClientSession } from '../../dist/parts.js';
import { connect } from './both-ends.ts';
import { rawNode } from './handshakes.ts';
import { calls, progress, spread } from './paired.ts';
import { type Benchmark, compare, judged, type Row } from './rows.ts';

/** What is in use after a garbage collection: V8's heap, and the memory of arrays outside of it. */
function inUse(): number {
  globalThis.gc!();
  globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage(); // external includes the memory of array buffers
  return heapUsed + external;
}

const MANY = 10_000;
const COUNTS = [1, 10, 100, 1000, MANY];

type Keep = () => HubSession | ClientSession;

const MESSAGES = 50_000;

/** Returns the bytes for each session of so many, that are ready and have received nothing more. */
function idle(count: number, make: Keep): [bytes: number, kept: unknown[]] {
  const kept: unknown[] = new Array(count).fill(null);
  const before = inUse();
  for (let i = 0; i < count; i++) {
    kept[i] = make();
    if (i % 100 === 99) progress(`idle sessions: ${i + 1} of ${count}`);
  }
  progress('');
  return [(inUse() - before) / count, kept];
}

const hubs: Keep = () => connect().hub;
const clients: Keep = () => connect().client;

const memory: Benchmark = {
  name: 'idle sessions',
  seconds: 45,
  async run() {
    const rows: Row[] = [];
    for (const [what, make] of [
      ['an idle session of a client', clients],
      ['an idle session of a hub', hubs],
    ] as const) {
      idle(100, make); // compiled, and its shapes made
      rows.push(judged({ what, bytes: idle(MANY, make)[0] }));
    }
    return rows;
  },
};

const byCount: Benchmark = {
  name: 'sessions in one process',
  seconds: 40,
  async run() {
    idle(100, hubs);
    const rows: Row[] = [];
    for (const x of COUNTS) {
      const sizes = Array.from({ length: x < 1000 ? 31 : 1 }, () => idle(x, hubs)[0]);
      rows.push({ what: `an idle session of ${x}`, x, bytes: spread(sizes).median });
      const [, kept] = idle(x, hubs);
      const raw = rawNode('KKpsk0');
      const connecting = calls(() => connect());
      rows.push(...(await compare(`a connection while ${x} are idle`, connecting, [raw], 3, { x })));
      if (kept.length !== x) throw new Error('the idle sessions are gone');
    }
    return rows;
  },
};

const growth: Benchmark = {
  name: 'growth over 100,000 messages',
  seconds: 20,
  async run() {
    const { client, hub } = connect();
    const value = { utterance: 'turn on the light' };
    const exchange = (count: number): void => {
      for (let i = 0; i < count; i++) {
        hub.receive(client.sendJson(value)[0]!);
        client.receive(hub.sendJson(value)[0]!);
      }
    };
    const left = Array.from({ length: 4 }, () => {
      const before = inUse();
      exchange(MESSAGES);
      return (inUse() - before) / (2 * MESSAGES);
    });
    return [judged({ what: 'left behind by a message', bytes: spread(left.slice(1)).median })]; // the first one compiles
  },
};

export const sessions: Benchmark[] = [memory, growth, byCount];
