/**
 * Measures the heap that single files and sessions take, in bytes above an empty realm: live, and at the peak. In XS, also
 * shows that a session with a limited heap survives a message larger than the heap.
 *
 *     npm run bench:heap -- [MIB]        the size of that message, 32 by default
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { type Metered, meteredQuickJs, meteredXs } from './heap-engines.ts';
import { measureLarge } from './heap-large.ts';
import { hex, Peer, textOf } from './heap-peer.ts';

const KB = 1024;
const LARGE = Number(process.argv[2] ?? 32) * KB * KB;
const CHUNKS = 5;
const CEILINGS = { live: 168 * KB, peak: 272 * KB };

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

function row(what: string, live: number | string, peak: number | string, verdict = ''): void {
  console.log(`  ${what.padEnd(44)}${String(live).padStart(9)}${String(peak).padStart(10)}  ${verdict}`);
}

function held(bytes: number, ceiling: number): string {
  if (bytes <= ceiling) return `at most ${ceiling}`;
  process.exitCode = 1;
  return `TOO MUCH: ${ceiling}`;
}

const DEVICE = path('../dist/hub-protocol.js');
const AES_GCM = join(mkdtempSync(join(tmpdir(), 'hub-protocol-')), 'aes-gcm.js');
buildSync({
  entryPoints: [path('../examples/aes-gcm.ts')],
  bundle: true,
  minify: true,
  format: 'esm',
  outfile: AES_GCM,
});
const FILES = [
  path('../dist/hub-protocol.core.js'),
  path('../dist/hub-protocol.no-crypto.js'),
  DEVICE,
  path('../dist/hub-protocol.full.js'),
  AES_GCM,
];

for (const start of [meteredXs, meteredQuickJs]) {
  const isXs = start === meteredXs;
  for (const file of FILES) {
    const engine = await start();
    if (file === FILES[0])
      console.log(`${`\n${engine.name}`.padEnd(48)}${'live'.padStart(7)}${'peak'.padStart(10)}`);
    const bare = await engine.live();
    const peak = await engine.load(file);
    const live = (await engine.live()) - bare;
    const isCapped = isXs && file === DEVICE;
    row(`load ${basename(file)}`, live, peak - bare, isCapped ? held(live, CEILINGS.live) : '');
    if (file === DEVICE) await measureSession(engine, bare, isXs);
    engine.stop();
    if (!isCapped) continue;
    console.log(`  ${LARGE / KB / KB} MiB, with 100 KB of heap free when the file is loaded`);
    await measureLarge(file, LARGE, (what, verdict, isGood) => {
      if (!isGood) process.exitCode = 1;
      console.log(`    ${what.padEnd(42)}  ${verdict}`);
    });
  }
}
rmSync(dirname(AES_GCM), { recursive: true });

async function measureSession(engine: Metered, bare: number, isXs: boolean): Promise<void> {
  const peer = new Peer();
  /** Returns the bytes live after some statements, and the highest of their peaks. */
  const measure = async (...statements: string[]): Promise<[live: number, peak: number]> => {
    let peak = 0;
    for (const statement of statements) peak = Math.max(peak, await engine.run(statement));
    return [(await engine.live()) - bare, peak - bare];
  };
  const give = async (messages: Uint8Array[]): Promise<void> => {
    await engine.run(`incoming = ${JSON.stringify(messages.map(hex))}.map(bytes); 0`);
    await engine.live();
  };
  let highest = 0;
  const report = (what: string, [live, peak]: [number, number], isCapped = false): void => {
    if (isCapped) highest = Math.max(highest, peak);
    row(`  ${what}`, live, peak);
  };

  report('XXpsk2 handshake', await measure(...peer.handshake()), true);
  for (const [name, length] of [
    ['1 KiB', KB],
    ['64 KiB', 64 * KB],
  ] as const) {
    await engine.run(`outgoing = ${JSON.stringify(textOf(length))}; 0`);
    report(`${name} sent`, await measure('send()'), length === KB);
    await give(peer.json(1, length));
    report(`${name} received`, await measure(`receive('message')`), length === KB);
  }
  if (isXs) row('  at most, up to 1 KiB each way', '', highest, held(highest, CEILINGS.peak));
  // Each statement leaves its name behind in XS, so runs of two lengths are compared, after one that warms up.
  const growth: number[] = [];
  for (const count of [1500, 500, 1500]) {
    const before = await engine.live();
    await give(peer.json(count, 100));
    const statement = `receive('message'); for (let i = 0; i < ${count}; i++) { outgoing = '"hello"'; send(); } 0`;
    const [live] = await measure(statement);
    growth.push(live + bare - before);
  }
  const grown = growth[2]! - growth[1]!;
  row('  more after 1000 messages each way', grown, '', grown === 0 ? 'none' : 'IT GROWS');
  if (grown !== 0) process.exitCode = 1;

  // A message in chunks takes no more than one chunk. XS collects garbage as late as it can, so heap-large.ts measures it.
  if (isXs) return;
  for (const [how, options, last] of [
    ['streamed', { streams: true }, 'chunk'],
    ['beyond a cap of 16 KiB', { maxMessage: 16 * KB }, 'dropped'],
  ] as const) {
    const hub = new Peer();
    for (const statement of hub.handshake({ ...options, inPlace: true })) await engine.run(statement);
    const chunks = hub.binary(CHUNKS * 65000);
    let most = 0;
    for (const [i, chunk] of chunks.entries()) {
      await give([chunk]);
      const start = await engine.live();
      const peak = await engine.run(`receive(${i === CHUNKS - 1 ? `'${last}'` : 'undefined'}); 0`);
      most = Math.max(most, peak - start);
    }
    row(`  each 65000 bytes, ${how}`, (await engine.live()) - bare, most);
  }
}
