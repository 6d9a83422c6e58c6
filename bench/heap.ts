/**
 * What a vendored file takes of the heap, in bytes above the bare realm: live, and at most meanwhile. In XS with slots of
 * 32 bits, metered; in QuickJS, looked at each 10000 operations. `npm run bench:heap`
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ClientSession, HubSession } from '../dist/index.js';
import { nodeCrypto, randomBytes } from '../dist/noise/node.js';
import { getQuickJS, startXs } from '../test/engines/engines.ts';

const KB = 1024;
const CHUNKS = 5;
const CEILINGS = { live: 130 * KB, peak: 200 * KB };

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const client = path('heap-client.js');

/** An engine whose heap is read after each statement. */
interface Metered {
  name: string;
  /** Bytes in use at most while the statement ran. */
  run(statement: string): Promise<number>;
  /** Bytes in use, once garbage is collected. */
  live(): Promise<number>;
  load(file: string): Promise<number>;
  stop(): void;
}

async function meteredXs(): Promise<Metered> {
  let reports = '';
  let count = 0;
  const worker = path('../test/engines/node_modules/xs-meter/build/bin/lin/release/xsnap-worker');
  const engine = await startXs([], worker, (text) => {
    reports += text;
  });
  const run = async (statement: string): Promise<[live: number, peak: number]> => {
    await engine.run(statement);
    count++;
    for (;;) {
      const all = [...reports.matchAll(/^heap live=(\d+) peak=(\d+) slot=16\n/gm)];
      if (all.length >= count) return [Number(all[count - 1]![1]), Number(all[count - 1]![2])];
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await run(readFileSync(client, 'utf8'));
  return {
    name: 'XS, 32-bit slots',
    run: async (statement) => (await run(statement))[1],
    async live() {
      await run('gc()');
      return (await run('0'))[0];
    },
    load: async (file) =>
      (await run(`import(${JSON.stringify(file)}).then((all) => { globalThis.hubProtocol = all; }); 0`))[1],
    stop: engine.stop,
  };
}

async function meteredQuickJs(): Promise<Metered> {
  const runtime = (await getQuickJS()).newRuntime();
  runtime.setModuleLoader((name) => readFileSync(name, 'utf8'));
  const context = runtime.newContext();
  let peak = 0;
  const used = (): number => {
    const handle = runtime.computeMemoryUsage();
    const bytes = context.getNumber(context.getProp(handle, 'memory_used_size'));
    handle.dispose();
    return bytes;
  };
  const look = (): false => {
    peak = Math.max(peak, used());
    return false;
  };
  runtime.setInterruptHandler(look);
  const run = async (code: string, type: 'global' | 'module' = 'global'): Promise<number> => {
    peak = 0;
    context.unwrapResult(context.evalCode(code, 'code.js', { type })).dispose();
    look();
    return peak;
  };
  await run(readFileSync(client, 'utf8'));
  return {
    name: 'QuickJS',
    run: (statement) => run(statement),
    live: async () => used(),
    load: (file) =>
      run(`import * as all from ${JSON.stringify(file)}; globalThis.hubProtocol = all;`, 'module'),
    stop() {
      context.dispose();
      runtime.dispose();
    },
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const keys = { staticKey: randomBytes(32), ephemeralKey: randomBytes(32), psk: randomBytes(32) };

/** A hub for the client in the engine: it talks to a client in Node with the same keys, which says the same. */
class Peer {
  readonly #crypto = { ...nodeCrypto, ciphers: { ChaChaPoly: nodeCrypto.ciphers.ChaChaPoly! } };
  readonly #client = new ClientSession({
    crypto: this.#crypto,
    identity: { siteId: 'lobby' },
    staticKey: keys.staticKey,
    randomBytes: () => keys.ephemeralKey,
    psk: () => keys.psk,
  });
  readonly #hub = new HubSession({
    crypto: this.#crypto,
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    randomBytes,
    psk: keys.psk,
  });

  /** What the hub says until the client is ready. */
  handshake(): string[] {
    const said: string[] = [];
    const toClient = (events: ReturnType<HubSession['start']>): void => {
      for (const event of events) {
        if (event.type !== 'transmit') continue;
        said.push(event.data as string);
        for (const answer of this.#client.receive(event.data)) {
          if (answer.type === 'transmit') toClient(this.#hub.receive(answer.data));
        }
      }
    };
    toClient(this.#hub.start());
    return said;
  }

  /** A binary message of so many chunks. */
  chunks(count: number): string[] {
    return this.#hub.sendBinary(new Uint8Array(count * 65000)).map(hex);
  }

  messages(count: number, length: number): string[] {
    const text = textOf(length);
    return Array.from({ length: count }, () => this.#hub.sendJson(text).map(hex)).flat();
  }
}

/** JSON text of so many bytes. */
const textOf = (length: number): string => JSON.stringify('x'.repeat(length - 2));

function row(what: string, live: number | string, peak: number | string, verdict = ''): void {
  console.log(`  ${what.padEnd(44)}${String(live).padStart(9)}${String(peak).padStart(10)}  ${verdict}`);
}

function held(bytes: number, ceiling: number): string {
  if (bytes <= ceiling) return `at most ${ceiling}`;
  process.exitCode = 1;
  return `TOO MUCH: ${ceiling}`;
}

for (const start of [meteredXs, meteredQuickJs]) {
  const isXs = start === meteredXs;
  for (const file of ['hub-protocol.core.js', 'hub-protocol.js', 'hub-protocol.full.js']) {
    const engine = await start();
    if (file === 'hub-protocol.core.js')
      console.log(`${`\n${engine.name}`.padEnd(48)}${'live'.padStart(7)}${'peak'.padStart(10)}`);
    const bare = await engine.live();
    const peak = await engine.load(path(`../dist/${file}`));
    const live = (await engine.live()) - bare;
    const isDevice = file === 'hub-protocol.js';
    row(`load ${file}`, live, peak - bare, isXs && isDevice ? held(live, CEILINGS.live) : '');
    if (isDevice) await measureSession(engine, bare, isXs);
    engine.stop();
  }
}

async function measureSession(engine: Metered, bare: number, isXs: boolean): Promise<void> {
  const peer = new Peer();
  /** The greatest of the peaks of some statements, and what is live afterwards. */
  const measure = async (...statements: string[]): Promise<[live: number, peak: number]> => {
    let peak = 0;
    for (const statement of statements) peak = Math.max(peak, await engine.run(statement));
    return [(await engine.live()) - bare, peak - bare];
  };
  const give = async (data: string[]): Promise<void> => {
    await engine.run(`incoming = ${JSON.stringify(data)}.map(bytes); 0`);
    await engine.live();
  };
  const shown = JSON.stringify({
    staticKey: hex(keys.staticKey),
    ephemeralKey: hex(keys.ephemeralKey),
    psk: hex(keys.psk),
  });
  let highest = 0;
  const report = (what: string, [live, peak]: [number, number], isCapped = false): void => {
    if (isCapped) highest = Math.max(highest, peak);
    row(`  ${what}`, live, peak);
  };

  const handshake = peer
    .handshake()
    .map(
      (text, i) =>
        `incoming = [${JSON.stringify(text)}]; receive(${['undefined', "'transmit'", "'ready'"][i]}); 0`,
    );
  report('XXpsk2 handshake', await measure(`open(${shown})`, ...handshake), true);
  for (const [name, length] of [
    ['1 KiB', KB],
    ['64 KiB', 64 * KB],
  ] as const) {
    await engine.run(`outgoing = ${JSON.stringify(textOf(length))}; 0`);
    report(`${name} sent`, await measure('send()'), length === KB);
    await give(peer.messages(1, length));
    report(`${name} received`, await measure(`receive('message')`), length === KB);
  }
  if (isXs) row('  at most, up to 1 KiB each way', '', highest, held(highest, CEILINGS.peak));
  // Every statement leaves its name behind in XS, so that runs of two lengths are compared, after one that warms up.
  const growth: number[] = [];
  for (const count of [1500, 500, 1500]) {
    const before = await engine.live();
    await give(peer.messages(count, 100));
    const statement = `receive('message'); for (let i = 0; i < ${count}; i++) { outgoing = '"hello"'; send(); } 0`;
    const [live] = await measure(statement);
    growth.push(live + bare - before);
  }
  const grown = growth[2]! - growth[1]!;
  row('  more after 1000 messages each way', grown, '', grown === 0 ? 'none' : 'IT GROWS');
  if (grown !== 0) process.exitCode = 1;

  // A message in chunks takes what one of them does, however many there are.
  for (const [how, options, last] of [
    ['streamed', { streams: true }, 'chunk'],
    ['beyond a cap of 16 KiB', { maxMessage: 16 * KB }, 'dropped'],
  ] as const) {
    const hub = new Peer();
    await engine.run(`open(${JSON.stringify({ ...JSON.parse(shown), ...options })}); 0`);
    for (const text of hub.handshake())
      await engine.run(`incoming = [${JSON.stringify(text)}]; receive(); 0`);
    const chunks = hub.chunks(CHUNKS);
    let most = 0;
    for (const [i, chunk] of chunks.entries()) {
      await give([chunk]);
      const start = await engine.live();
      const peak = await engine.run(`receive(${i === CHUNKS - 1 ? `'${last}'` : 'undefined'}); 0`);
      most = Math.max(most, peak - start);
    }
    row(`  each 65000 bytes of a large message, ${how}`, (await engine.live()) - bare, most);
  }
}
