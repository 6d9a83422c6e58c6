/**
 * Runs the vectors against each single file, in the engines that the file is for.
 *
 *     test/engines/run    all vectors
 *     test/engines/run 4  one vector in four, another quarter of them in each engine
 *
 * Each engine is first given a wrong expected response, which must fail. At the end Hermes runs the example for React Native, and
 * QuickJS-ng runs sessions in which allocations fail.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FILES, writeBundle } from '../../tools/bundles.ts';
import { bundleSuite } from './bundle-suite.ts';
import {
  type Source,
  type StartEngine,
  startDuktape,
  startHermes,
  startMicroQuickJs,
  startNode,
  startQuickJs,
  startQuickJsNg,
  startXs,
  startXsMcu,
} from './engines.ts';
import { tryFullHeap } from './full-heap.ts';
import { tryReactNative } from './react-native.ts';
import { type Recorded, record } from './record.ts';

type IsFor = (dialogue: Recorded) => boolean;
type Task = [start: StartEngine, file: string, isFor: IsFor, index: number];

/** What only files built for this test have. */
const PARTS = ['prologue', 'select', 'handshake', 'seal', 'open', 'split', 'reassemble'];
const DEVICE = ['canonical-json', 'session', 'policy'];

const IDENTITY = ['identity', 'endpoint', 'authorization', 'topics', 'broker', 'client-id', 'presence'];

const REQUESTS = ['disclosure', 'request', 'session-ids', 'reply', 'schedule'];

const BINARY = ['encode-binary', 'decode-binary'];

const isForParts: IsFor = ({ operation, needs }) => PARTS.includes(operation) && needs.length === 0;
/** The smallest client has its PSKs from the start. */
const isForCore: IsFor = ({ operation, needs, turns }) =>
  operation === 'session' && needs.length === 0 && !turns.some(({ request }) => request.do === 'psk');
const isForDevice: IsFor = ({ operation, needs }) => DEVICE.includes(operation) && needs.length === 0;
const isForLink: IsFor = ({ operation }) => operation === 'link';

const isForIdentity: IsFor = ({ operation }) => IDENTITY.includes(operation);

const isForRequests: IsFor = ({ operation }) => REQUESTS.includes(operation);

const isBinary: IsFor = ({ operation }) => BINARY.includes(operation);
/** No engine has zlib. */
const isForBinary: IsFor = (one) => isBinary(one) && one.needs.length === 0;

/** The engines that load modules, and those that load scripts without BigInt. */
const MODULES = [startNode, startXs, startXsMcu, startQuickJs, startQuickJsNg];
const SCRIPTS = [startNode, startHermes, startDuktape, startMicroQuickJs];

const TESTED_ABOVE = [isForDevice, isForLink, isForParts, isForIdentity];

const RUNS: [engines: StartEngine[], file: string, isFor: IsFor][] = [
  [MODULES, 'hub-protocol.js', isForDevice],
  [MODULES, 'hub-protocol.link.js', isForLink],
  [[startNode, startXsMcu], 'hub-protocol.link.js', isForDevice],
  [MODULES, 'hub-protocol.core.js', isForCore],
  [MODULES, 'device-parts.js', isForParts],
  [SCRIPTS, 'core-parts.es5.js', isForParts],
  [MODULES, 'hub-protocol.identity.js', isForIdentity],
  [MODULES, 'hub-protocol.requests.js', isForRequests],
  [SCRIPTS, 'hub-protocol.requests.es5.js', isForRequests],
  [MODULES, 'hub-protocol.binary.js', isForBinary],
  [[startNode], 'hub-protocol.full.js', (one) => !isBinary(one)],
  // The rest of it is in files that are tested above.
  [
    [startXs, startQuickJs],
    'hub-protocol.full.js',
    (one) => !TESTED_ABOVE.some((isFor) => isFor(one)) && !isBinary(one),
  ],
  [SCRIPTS, 'hub-protocol.es5.js', isForDevice],
  [SCRIPTS, 'hub-protocol.link.es5.js', isForLink],
  [[startNode, startMicroQuickJs], 'hub-protocol.link.es5.js', isForDevice],
  [SCRIPTS, 'hub-protocol.core.es5.js', isForCore],
];

const BATCH = 1 << 20; // characters
const dist = fileURLToPath(new URL('../../dist', import.meta.url));
const oneIn = Number(process.argv[2] ?? 1);
if (!Number.isInteger(oneIn) || oneIn < 1)
  throw new Error('expected a whole number: one vector in how many?');
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
const suite = join(folder, 'suite.js');
writeFileSync(suite, await bundleSuite());
const renamed = join(folder, 'renamed.js'); // the suite uses the global of the other files
writeFileSync(renamed, 'var hubProtocol = hubProtocolRequests;');
const withScheduler = join(folder, 'with-scheduler.js');
writeFileSync(withScheduler, 'hubProtocol.RequestScheduler = hubProtocolRequests.RequestScheduler;');
const linkWithRequests = join(folder, 'link-with-requests.js');
writeFileSync(
  linkWithRequests,
  `export * from ${JSON.stringify(join(dist, 'hub-protocol.link.js'))};
  export { RequestScheduler } from ${JSON.stringify(join(dist, 'hub-protocol.requests.js'))};`,
);
for (const entry of ['device', 'core'] as const) {
  const name = entry === 'device' ? 'device-parts.js' : 'core-parts.es5.js';
  const syntax = entry === 'device' ? 'es2020' : 'es5';
  const like = FILES.find((file) => file.entry === entry && file.syntax === syntax)!;
  await writeBundle({ ...like, name }, folder, 'test/engines/device-parts.ts');
}
const minutes = Math.ceil(6 / oneIn);
console.log(`Recording the vectors in Node; all of it takes about ${minutes} minutes on two free cores.`);
const { dialogues, left, results } = await record();
console.log(
  `${dialogues.length} vectors. ${left} more need 32 MiB or 64 MiB of memory: npm test has them.\n`,
);

let [passed, failed] = [0, 0];
async function run([start, file, isFor, index]: Task): Promise<void> {
  const chosen = dialogues.filter(isFor).filter((_, i) => i % oneIn === index % oneIn);
  const began = performance.now();
  const [name, failures] = await runVectors(start, file, chosen);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  failed += failures.length;
  passed += chosen.length - failures.length;
  const verdict = failures.length === 0 ? `${chosen.length} vectors pass` : `${failures.length} FAIL`;
  console.log(`${name.padEnd(12)} ${file.padEnd(30)} ${verdict.padStart(18)}  ${seconds.padStart(6)} s`);
  for (const failure of failures.slice(0, 3)) console.log(`  ${failure.slice(0, 2000)}`);
}

// Engines that are programs run side by side; those within this process run after them.
let index = 0;
const tasks: Task[] = RUNS.flatMap(([engines, file, isFor]) =>
  engines.map((start): Task => [start, file, isFor, index++]),
);
const isWithin = ([start]: Task): boolean => [startNode, startQuickJs, startQuickJsNg].includes(start);
const queue = tasks.filter((task) => !isWithin(task));
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await run(task);
  }),
);
for (const task of tasks.filter(isWithin)) await run(task);
rmSync(folder, { recursive: true });
const failure = await tryReactNative().catch(String);
console.log(
  `Hermes       examples/react-native          ${failure ?? 'a first contact and a reconnect as bytecode'}`,
);
if (failure !== undefined) failed++;
const faults = await tryFullHeap(97 * oneIn).catch((error: unknown) => [String(error)]);
for (const fault of faults.slice(0, 3)) console.log(`  ${fault.slice(0, 2000)}`);
failed += faults.length;
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

/** Runs dialogues against a file in an engine. Returns the name of the engine, and what failed. */
async function runVectors(start: StartEngine, file: string, chosen: Recorded[]): Promise<[string, string[]]> {
  const engine = await start([...sourcesOf(file), { script: suite }]);
  const setUp = file.includes('core') ? `suite.providePlainCrypto(${parsed(results)});` : '';
  const check = (some: Recorded[]): Promise<void> => engine.run(`${setUp} suite.check(${parsed(some)});`);
  const failures: string[] = [];
  const [first] = chosen;
  const wrong = {
    ...first!,
    turns: first!.turns.map((turn) => ({ ...turn, response: { canonical: 'ff' } })),
  };
  if (
    await check([wrong]).then(
      () => true,
      () => false,
    )
  )
    failures.push('a wrong response passes');
  for (const batch of batches(chosen)) {
    try {
      await check(batch);
    } catch (error) {
      failures.push(String((error as Error).message));
    }
  }
  engine.stop();
  return [engine.name, failures];
}

/** What to load for a file. A link has its scheduler from a file of its own. */
function sourcesOf(file: string): Source[] {
  const path = join(file.startsWith('hub-protocol.') ? dist : folder, file);
  if (file === 'hub-protocol.link.js') return [{ module: linkWithRequests }];
  if (!file.endsWith('.es5.js')) return [{ module: path }];
  if (file === 'hub-protocol.requests.es5.js') return [{ script: path }, { script: renamed }];
  if (file !== 'hub-protocol.link.es5.js') return [{ script: path }];
  return [
    { script: path },
    { script: join(dist, 'hub-protocol.requests.es5.js') },
    { script: withScheduler },
  ];
}

/**
 * Code that parses the value from JSON: in an object literal `__proto__` would not be a field. In ASCII, since engines
 * disagree on line separators in string literals.
 */
function parsed(value: unknown): string {
  const literal = JSON.stringify(JSON.stringify(value));
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return `JSON.parse(${literal.replace(/[^ -~]/g, escaped)})`;
}

function* batches(all: Recorded[]): Generator<Recorded[]> {
  let batch: Recorded[] = [];
  let size = 0;
  for (const dialogue of all) {
    batch.push(dialogue);
    size += JSON.stringify(dialogue).length;
    if (size > BATCH) {
      yield batch;
      [batch, size] = [[], 0];
    }
  }
  if (batch.length > 0) yield batch;
}
