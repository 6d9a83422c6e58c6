/**
 * Runs sessions with dist/hub-protocol.js in QuickJS-ng, where one allocation fails, or all do until the call returns. Each time
 * the session must fail, wipe its keys and end with `out-of-memory`, or go on as if nothing had failed: with the same messages as
 * without the failure, so no nonce is used twice. The stored keyring must stay readable.
 *
 *     test/engines/run                             one allocation in 97
 *     node --import tsx test/engines/full-heap.ts  every allocation, in half an hour
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
  ClientSession,
  createKeyring,
  HubSession,
  type Keyring,
  type SessionEvent,
  serializeKeyring,
  updateKeyring,
} from '../../src/index.ts';

/** What the script in QuickJS-ng is given. */
export interface Runs {
  /** The first allocation that fails, and how many lie between it and the next one. */
  readonly first: number;
  readonly stride: number;
  readonly remembersX25519: boolean;
  readonly sessions: readonly RecordedSession[];
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
const FILE = fileURLToPath(new URL('../../dist/hub-protocol.js', import.meta.url));

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

/** Seals a chunk that is shorter than those of `sendJson`. */
function chunk(hub: HubSession, marker: number, text: string): Uint8Array {
  const frame = Buffer.concat([Buffer.from([marker]), Buffer.from(text), Buffer.alloc(16)]);
  const { channel } = hub as unknown as {
    channel: { cipherStates: { sending: { sealMessage(buffer: Uint8Array): Uint8Array } } };
  };
  return channel.cipherStates.sending.sealMessage(new Uint8Array(frame));
}

async function run(runs: Omit<Runs, 'sessions'>, file: string): Promise<Counts[]> {
  const first = record(
    createKeyring({ accessKey: 'kiosk-7', staticKey: key(200), crypto: nodeCrypto }),
    key(30),
  );
  const second = record(first.keyring, key(40), first.clientKey);
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('full-heap-steps.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2020',
  });
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const script = join(folder, 'steps.js');
  const given: Runs = { ...runs, sessions: [first.session, second.session] };
  writeFileSync(script, `const runs = ${JSON.stringify(given)};\n${outputFiles[0]!.text}`);
  const { stdout } = await promisify(execFile)(PROGRAM, [file, script], { maxBuffer: 1 << 26 });
  rmSync(folder, { recursive: true });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Counts);
}

/** Prints how the sessions ended. Returns what was wrong with them. */
export async function tryFullHeap(stride: number, file: string = FILE): Promise<string[]> {
  const all = [
    ...(await run({ first: 1, stride, remembersX25519: true }, file)),
    ...(await run({ first: 41, stride: stride * 499, remembersX25519: false }, file)),
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
