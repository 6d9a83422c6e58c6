/**
 * What single files and sessions take in the engines of devices: heap, in bytes above an empty realm, live and at the peak,
 * and milliseconds. Fails above the ceilings. In XS, also shows that a session with a limited heap survives a message larger than the
 * heap.
 *
 *     evidence/devices/run [MIB]    the size of that message, 32 by default
 *     evidence/devices/run --write  also writes all into docs/reference/devices.md
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSync } from 'esbuild';
import { writeMeasured } from '../../tools/measured.ts';
import { drawMemory, drawSmall, type Seen } from './draw.ts';
import { measureLarge } from './large.ts';
import { type Cost, type Metered, meteredQuickJs, meteredXs } from './metered-engines.ts';
import { hex, Peer, textOf } from './peer.ts';
import { measureSmallEngines } from './small-engines.ts';

const KB = 1024;
const { values, positionals } = parseArgs({
  options: { write: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const LARGE = Number(positionals[0] ?? 32) * KB * KB;
const CHUNKS = 5;
/** The ceilings of the heap that the device file takes in XS, with room for a small change. */
const CEILINGS = { live: 142 * KB, peak: 224 * KB };
/** The ceiling of a session in MicroQuickJS for 32 bits, whose code is in flash. */
const SMALL_CEILING = 38 * KB;
/** The ceiling of a longer message there, in bytes for each character. */
const ceilingOf = (what: string): number =>
  what.includes('sent') ? 2 : what.includes('inPlace') ? 3.2 : 4.2;

/** The row of the highest peak, to which the ceiling belongs. */
const HIGHEST = 'XXpsk2 handshake';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

type Cell = number | string;

const seen: Seen[] = [];

function row(what: string, live: Cell, peak: Cell, ms: Cell = '', verdict = ''): void {
  const cells = [live, peak, typeof ms === 'number' ? ms.toFixed(1) : ms];
  console.log(`  ${what.padEnd(44)}${cells.map((cell) => String(cell).padStart(11)).join('')}  ${verdict}`);
}

function held(value: number, ceiling: number): string {
  if (value <= ceiling) return `at most ${ceiling}`;
  process.exitCode = 1;
  return `TOO MUCH: ${ceiling}`;
}

const DEVICE = path('../../dist/hub-protocol.js');
const AES_GCM = join(mkdtempSync(join(tmpdir(), 'hub-protocol-')), 'aes-gcm.js');
buildSync({
  entryPoints: [path('../../examples/aes-gcm.ts')],
  bundle: true,
  minify: true,
  format: 'esm',
  outfile: AES_GCM,
});
const FILES = [
  path('../../dist/hub-protocol.core.js'),
  DEVICE,
  path('../../dist/hub-protocol.full.js'),
  AES_GCM,
];

for (const start of [meteredXs, meteredQuickJs]) {
  const isXs = start === meteredXs;
  for (const file of FILES) {
    const engine = await start();
    if (file === FILES[0]) {
      console.log(`\n${engine.name}`);
      row('', 'live', 'peak', 'ms');
    }
    const bare = await engine.live();
    const { peak, ms } = await engine.load(file);
    const live = (await engine.live()) - bare;
    const isCapped = isXs && file === DEVICE;
    const verdict = isCapped ? held(live, CEILINGS.live) : '';
    const ceilings = isCapped ? { live: CEILINGS.live } : {};
    seen.push({ engine: engine.name, what: `load ${basename(file)}`, live, peak: peak - bare, ceilings });
    row(`load ${basename(file)}`, live, peak - bare, ms, verdict);
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

const small = measureSmallEngines();
for (const [i, { engine, what, peak, length }] of small.entries()) {
  if (engine !== small[i - 1]?.engine) console.log(`\n${engine}`);
  const isCapped = length !== undefined || what.includes('each way');
  const ceiling = SMALL_CEILING + (length === undefined ? 0 : Math.ceil(ceilingOf(what) * length));
  row(what, '', peak, '', isCapped ? held(peak, ceiling) : '');
}
if (values.write) {
  const parts = {
    'memory of engines': drawMemory(seen),
    'small engines': drawSmall(small),
  };
  writeMeasured('docs/reference/devices.md', parts);
}

async function measureSession(engine: Metered, bare: number, isXs: boolean): Promise<void> {
  let highest = 0;
  const report = (what: string, live: number, { peak, ms }: Cost): void => {
    const ceilings = what === HIGHEST ? { peak: CEILINGS.peak } : {};
    seen.push({ engine: engine.name, what, live, peak: peak - bare, ceilings });
    row(`  ${what}`, live, peak - bare, ms);
  };
  const measure = async (what: string, isCapped: boolean, statement: string): Promise<Cost> => {
    const cost = await engine.run(statement);
    if (isCapped) highest = Math.max(highest, cost.peak - bare);
    report(what, (await engine.live()) - bare, cost);
    return cost;
  };
  const give = async (messages: Uint8Array[]): Promise<void> => {
    await engine.run(`incoming = ${JSON.stringify(messages.map(hex))}.map(bytes); 0`);
    await engine.live();
  };

  let peer!: Peer;
  for (const pattern of ['KKpsk0', 'XXpsk2'] as const) {
    peer = new Peer(pattern);
    const { prepare, ...steps } = peer.handshake();
    await engine.run(prepare);
    const whole = { peak: 0, ms: 0 };
    for (const [step, statement] of Object.entries(steps)) {
      const { peak, ms } = await measure(`${pattern}, ${step}`, true, statement);
      whole.peak = Math.max(whole.peak, peak);
      whole.ms += ms;
    }
    report(`${pattern} handshake`, (await engine.live()) - bare, whole);
  }
  for (const [name, length] of [
    ['1 KiB', KB],
    ['64 KiB', 64 * KB],
  ] as const) {
    await engine.run(`outgoing = ${JSON.stringify(textOf(length))}; 0`);
    await measure(`${name} sent`, length === KB, 'send()');
    await give(peer.json(1, length));
    await measure(`${name} received`, length === KB, `receive('message')`);
  }
  if (isXs) row('  at most, up to 1 KiB each way', '', highest, '', held(highest, CEILINGS.peak));
  // Each statement leaves its name behind in XS, so runs of two lengths are compared, after one that warms up.
  const growth: number[] = [];
  for (const count of [1500, 500, 1500]) {
    const before = await engine.live();
    await give(peer.json(count, 100));
    const statement = `receive('message'); for (let i = 0; i < ${count}; i++) { outgoing = '"hello"'; send(); } 0`;
    await engine.run(statement);
    growth.push((await engine.live()) - before);
  }
  const grown = growth[2]! - growth[1]!;
  row('  more after 1000 messages each way', grown, '', '', grown === 0 ? 'none' : 'IT GROWS');
  if (grown !== 0) process.exitCode = 1;
  seen.push({ engine: engine.name, what: 'growth after 1000 messages each way', live: grown, ceilings: {} });

  // A message that is too large takes no more than one chunk. XS collects garbage as late as it can, so large.ts measures it.
  if (isXs) return;
  const hub = new Peer();
  for (const statement of Object.values(hub.handshake({ maxMessage: 16 * KB, inPlace: true })))
    await engine.run(statement);
  const chunks = hub.binary(CHUNKS * 65000);
  let most = 0;
  for (const [i, chunk] of chunks.entries()) {
    await give([chunk]);
    const start = await engine.live();
    const { peak } = await engine.run(`receive(${i === CHUNKS - 1 ? `'dropped'` : 'undefined'}); 0`);
    most = Math.max(most, peak - start);
  }
  row('  each 65000 bytes, beyond a cap of 16 KiB', (await engine.live()) - bare, most);
}
