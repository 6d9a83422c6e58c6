/**
 * Runs sessions with dist/hub-protocol.js in QuickJS-ng, where one allocation fails, or all do until the call returns. Each time
 * the session must fail, wipe its keys and end with `out-of-memory`, or go on as if nothing had failed: with the same messages as
 * without the failure, so no nonce is used twice. The stored keyring must stay readable. Then it does so with a life of
 * dist/hub-protocol.link.js: each question must end once, no key may be left after `end`, and nobody may be asked. Then it calls the
 * keyring, JSON, the policy and Argon2id, where what failed must have changed nothing, and the scheduler.
 *
 *     test/engines/run                             one allocation in 97, and of a link one in 194
 *     node --import tsx test/engines/full-heap.ts  every allocation, and of a link every second one, in an hour
 *     node --import tsx test/engines/full-heap.ts 1000 FILE one in 1000, with another file
 *
 * X25519 is remembered after the first session: it makes thousands of allocations. Some sessions compute it.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  type Keyring,
  type Order,
  RequestScheduler,
  serializeKeyring,
  updateKeyring,
} from '../../src/index.ts';
import { ClientSession, type SessionEvent } from '../../src/parts.ts';

/** What the script in QuickJS-ng is given. */
export interface Runs {
  /** The first allocation that fails, and how many lie between it and the next one. */
  readonly first: number;
  readonly stride: number;
  readonly remembersX25519: boolean;
  readonly sessions: readonly RecordedSession[];
  readonly link?: RecordedLink;
  /** Whether it also calls the keyring, JSON, the policy, Argon2id and the scheduler. */
  readonly calls?: true;
}

/** The connections of a link: the first contact, and the next one. */
export interface RecordedLink {
  readonly keyring: string;
  readonly psk: string;
  /** One for each connection. */
  readonly questions: readonly JsonObject[];
  readonly connections: readonly RecordedConnection[];
}

export interface RecordedConnection {
  readonly ephemeral: string;
  /** What the hub sends at first, and after each message of the client. */
  readonly replies: readonly (readonly string[])[];
}

/** A session of a client, in which its hub has sent `received`: JSON, or transport messages in hex. */
export interface RecordedSession {
  readonly pattern: string;
  readonly keyring: string;
  readonly ephemeral: string;
  readonly psk: string;
  readonly received: readonly string[];
  /** How many of these belong to the handshake. */
  readonly handshake: number;
}

/** How the sessions of one pattern ended. */
interface Counts {
  readonly pattern: string;
  readonly always: boolean;
  readonly allocations: number;
  readonly tried: number;
  readonly failed: number;
  readonly unaffected: number;
  /** What was wrong with the others. */
  readonly faults: readonly string[];
}

const PROGRAM = fileURLToPath(new URL('node_modules/quickjs-ng/full-heap', import.meta.url));
const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const FILE = join(DIST, 'hub-protocol.js');

const key = (first: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (first + 7 * i) & 0xff);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const PSK = key(90);

interface Contact {
  readonly session: RecordedSession;
  readonly keyring: Keyring;
  readonly clientKey: Uint8Array | undefined;
}

/** Connects a client to its hub, and records what the hub sends. */
function record(before: Keyring, ephemeral: Uint8Array, pinned?: Uint8Array): Contact {
  let keyring = before;
  let clientKey = pinned;
  let pattern = '';
  const received: string[] = [];
  const crypto = nodeCrypto;
  const client = new ClientSession({
    crypto,
    keyring,
    siteId: 'lobby',
    randomBytes: () => ephemeral.slice(),
  });
  const hub = new HubSession({
    crypto,
    nodeId: 'hub-1',
    staticKey: key(3),
    psk: PSK,
    randomBytes: () => key(60),
    clientKey,
  });
  function toClient(data: string | Uint8Array): void {
    received.push(typeof data === 'string' ? data : hex(data));
    take(client.receive(data));
  }
  function take(events: SessionEvent[]): void {
    for (const event of events) {
      keyring = updateKeyring(keyring, event);
      if (event.type === 'psk-needed') take(client.providePsk(PSK));
      if (event.type === 'ready') pattern = event.pattern;
      if (event.type === 'transmit') toHub(event.data);
    }
  }
  function toHub(data: string | Uint8Array): void {
    for (const event of hub.receive(data)) {
      if (event.type === 'pin') clientKey = event.key;
      if (event.type === 'transmit') toClient(event.data);
    }
  }
  for (const event of hub.start()) if (event.type === 'transmit') toClient(event.data);
  const handshake = received.length;
  const answers = [
    ...hub.sendJson({ type: 'speak', data: { utterance: 'It is “noon”.' } }),
    ...hub.sendBinary(key(1)),
    ...[[2, '{"a":"'] as const, [4, 'x'.repeat(200)] as const, [5, '"}'] as const].map(([marker, text]) =>
      chunk(hub, marker, text),
    ),
    ...hub.sendJson({ last: true }),
  ];
  answers.forEach(toClient);
  const session = {
    pattern,
    keyring: serializeKeyring(before),
    ephemeral: hex(ephemeral),
    psk: hex(PSK),
    received,
    handshake,
  };
  return { session, keyring, clientKey };
}

/** Lets a link ask a question on each of two connections, and records what their hub sends. */
function recordLink(): RecordedLink {
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
    return ['speak', 'ovos.utterance.handled'].flatMap((type) => {
      const payload = { type, data: { utterance: 'It is “noon”.' }, context: { request_id } };
      return hub.sendJson({ msg_type: 'bus', payload });
    });
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
  return { keyring: serializeKeyring(keyring), psk: hex(PSK), questions, connections };
}

/** Seals a chunk that is shorter than those of `sendJson`. */
function chunk(hub: HubSession, marker: number, text: string): Uint8Array {
  const frame = Buffer.concat([Buffer.from([marker]), Buffer.from(text), Buffer.alloc(16)]);
  const { channel } = hub as unknown as {
    channel: { cipherStates: { sending: { encryptWithAd(buffer: Uint8Array): Uint8Array } } };
  };
  return channel.cipherStates.sending.encryptWithAd(new Uint8Array(frame));
}

function recordSessions(): RecordedSession[] {
  const first = record(
    createKeyring({ accessKey: 'kiosk-7', staticKey: key(200), crypto: nodeCrypto }),
    key(30),
  );
  return [first.session, record(first.keyring, key(40), first.clientKey).session];
}

/** Builds the file of a link with a scheduler, as a device loads it, and with Argon2id. */
async function withScheduler(folder: string): Promise<string> {
  const outfile = join(folder, 'link.js');
  const contents = `export * from './hub-protocol.link.js';
    export { RequestScheduler } from './hub-protocol.requests.js';
    export { argon2id, nobleCryptoWithAesGcm } from './hub-protocol.full.js';`;
  await build({
    stdin: { contents, resolveDir: DIST },
    bundle: true,
    outfile,
    format: 'esm',
    target: 'es2020',
  });
  return outfile;
}

async function run(given: Runs, file?: string): Promise<Counts[]> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('full-heap-steps.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2020',
  });
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const script = join(folder, 'steps.js');
  writeFileSync(script, `const runs = ${JSON.stringify(given)};\n${outputFiles[0]!.text}`);
  const module = file ?? (await withScheduler(folder));
  const { stdout } = await promisify(execFile)(PROGRAM, [module, script], { maxBuffer: 1 << 26 });
  rmSync(folder, { recursive: true });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Counts);
}

/** Prints how the sessions ended. Returns what was wrong with them. */
export async function tryFullHeap(stride: number, file: string = FILE): Promise<string[]> {
  const sessions = recordSessions();
  const all = [
    ...(await run({ first: 1, stride, remembersX25519: true, sessions }, file)),
    ...(await run({ first: 41, stride: stride * 499, remembersX25519: false, sessions }, file)),
    ...(await run({ first: 1, stride: 2 * stride, remembersX25519: true, sessions: [], link: recordLink() })),
    ...(await run({ first: 1, stride, remembersX25519: true, sessions: [], calls: true })),
  ];
  for (const { pattern, always, allocations, tried, failed, unaffected, faults } of all) {
    const which = always ? 'all from one on' : 'one';
    console.log(
      `QuickJS-ng   ${pattern}, ${which} of ${allocations} allocations fails, ${tried} times: ` +
        `${failed} failed, ${unaffected} unaffected, ${faults.length} WRONG`,
    );
  }
  return all.flatMap(({ faults }) => faults);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = await tryFullHeap(Number(process.argv[2] ?? 1), process.argv[3]);
  for (const fault of faults.slice(0, 20)) console.log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
