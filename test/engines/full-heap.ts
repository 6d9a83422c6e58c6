/**
 * Runs sessions and a link with dist/hub-protocol.link.js in QuickJS-ng, where one allocation fails, or all do until the call
 * returns. Each time they must be over with their keys wiped, and another link must connect; or they go on as if nothing had
 * failed, with the same messages, so no nonce is used twice. The cryptography of hub-protocol.es5.js, whose numbers all sessions
 * share, must be right afterwards, and keep no key.
 *
 *     test/engines/run                             one allocation in 97
 *     node --import tsx test/engines/full-heap.ts  every allocation, in an hour
 *
 * X25519 is remembered after the first life: it makes thousands of allocations.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  buildUtterance,
  ClientLink,
  createKeyring,
  HubSession,
  type HubSessionEvent,
  type JsonObject,
  type Order,
  RequestScheduler,
  serializeKeyring,
} from '../../src/index.ts';

/** What the script in QuickJS-ng is given: two connections, the first contact and the next one, and the allocations that fail. */
export interface Runs {
  readonly stride: number;
  readonly keyring: string;
  readonly psk: string;
  /** One for each connection. */
  readonly questions: readonly JsonObject[];
  readonly connections: readonly RecordedConnection[];
}

export interface RecordedConnection {
  readonly ephemeral: string;
  /** What the hub sends at first, and after each message of the client: JSON, or transport messages in hex. */
  readonly replies: readonly (readonly string[])[];
}

/** How the lives of one kind ended. */
interface Counts {
  readonly kind: string;
  readonly always: boolean;
  readonly allocations: number;
  readonly tried: number;
  readonly failed: number;
  /** What was wrong with the others. */
  readonly faults: readonly string[];
}

const PROGRAM = fileURLToPath(new URL('node_modules/quickjs-ng/full-heap', import.meta.url));
const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));

const key = (first: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (first + 7 * i) & 0xff);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const PSK = key(90);

/** Lets a link ask a question on each of two connections, and records what their hub sends. */
function record(stride: number): Runs {
  const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: key(200), crypto: nodeCrypto });
  const ephemerals = [key(30), key(40)];
  const questions = ['q1', 'q2'].map((requestId) => buildUtterance({ requestId, text: 'What time is it?' }));
  const connections: { ephemeral: string; replies: string[][] }[] = [];
  let hub: HubSession;
  let clientKey: Uint8Array | undefined;
  const queue: (() => void)[] = [];
  const link = new ClientLink({
    crypto: nodeCrypto,
    randomBytes: (length) =>
      length === 32 ? ephemerals[connections.length]!.slice() : key(1).slice(0, length),
    siteId: 'lobby',
    keyring,
    requests: ({ sessionId }) => new RequestScheduler({ sessionId }),
  });
  function hubDoes(events: readonly HubSessionEvent[]): void {
    const sent = events.flatMap((event): (string | Uint8Array)[] => {
      if (event.type === 'pin') clientKey = event.key;
      if (event.type === 'message' && event.kind === 'json') return answers(event.text);
      return event.type === 'transmit' ? [event.data] : [];
    });
    connections.at(-1)!.replies.push(sent.map((data) => (typeof data === 'string' ? data : hex(data))));
    for (const data of sent) queue.push(() => take(link.received(connections.length, data, 0)));
  }
  function answers(question: string): Uint8Array[] {
    const { request_id } = JSON.parse(question).payload.context;
    const bytes = hub.sendBinary(key(1));
    const said = ['speak', 'ovos.utterance.handled'].flatMap((type) => {
      const payload = { type, data: { utterance: 'It is “noon”.' }, context: { request_id } };
      return hub.sendJson({ msg_type: 'bus', payload });
    });
    return [...bytes, ...said];
  }
  function carryOut(order: Order): void {
    if (order.do === 'open') {
      const options = { crypto: nodeCrypto, nodeId: 'hub-1', staticKey: key(3), psk: PSK };
      hub = new HubSession({ ...options, randomBytes: () => key(60), clientKey });
      connections.push({ ephemeral: hex(ephemerals[connections.length]!), replies: [] });
      hubDoes(hub.start());
    } else if (order.do === 'write') hubDoes(hub.receive(order.data));
    else if (order.do === 'store') take(link.stored(undefined, 0));
    else if (order.do === 'derive') take(link.derived(order.derivation, PSK, 0));
  }
  function take(orders: readonly Order[]): void {
    for (const order of orders) queue.push(() => carryOut(order));
  }
  for (const question of questions) {
    take(connections.length === 0 ? link.start(0) : link.closed(connections.length, { code: 1006 }, 0));
    take(link.start(0));
    take(link.ask(question, 0));
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) next();
  }
  return { stride, keyring: serializeKeyring(keyring), psk: hex(PSK), questions, connections };
}

/** Prints how the lives ended. Returns what was wrong with them. */
export async function tryFullHeap(stride: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const bundle = { bundle: true, target: 'es2020' } as const;
  const es5 = `var module; ${readFileSync(join(DIST, 'hub-protocol.es5.js'), 'utf8')}; export const es5 = hubProtocol;`;
  const contents = ['link', 'requests'].map((name) => `export * from './hub-protocol.${name}.js';`).join('');
  const module = join(folder, 'link.js');
  await build({
    ...bundle,
    stdin: { contents: contents + es5, resolveDir: DIST },
    outfile: module,
    format: 'esm',
  });
  const steps = fileURLToPath(new URL('full-heap-steps.ts', import.meta.url));
  const { outputFiles } = await build({ ...bundle, entryPoints: [steps], write: false, format: 'iife' });
  const script = join(folder, 'steps.js');
  writeFileSync(script, `const runs = ${JSON.stringify(record(stride))};\n${outputFiles[0]!.text}`);
  const { stdout } = await promisify(execFile)(PROGRAM, [module, script], { maxBuffer: 1 << 26 });
  rmSync(folder, { recursive: true });
  const all = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Counts);
  for (const { kind, always, allocations, tried, failed, faults } of all) {
    const which = always ? 'all from one on' : 'one';
    console.log(
      `QuickJS-ng   ${kind}, ${which} of ${allocations} allocations fails, ${tried} times: ` +
        `${failed} over and wiped, ${tried - failed} unaffected, ${faults.length} WRONG`,
    );
  }
  return all.flatMap(({ faults }) => faults);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = await tryFullHeap(Number(process.argv[2] ?? 1));
  for (const fault of faults.slice(0, 20)) console.log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
