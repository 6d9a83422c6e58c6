/** Live mode against our own sessions, which pass, and against ones that were spoiled, which do not. */
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket, { WebSocketServer } from 'ws';
import type { Verdict } from '../../judge/src/judge.ts';
import { connectTo, listen } from '../../judge/src/live.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { authorizedUrl } from '../../src/identity/endpoint.ts';
import {
  type ClientOptions,
  ClientSession,
  derivePsk,
  type HubOptions,
  HubSession,
  type HubSessionEvent,
  parseIdentity,
  type SessionEvent,
} from '../../src/index.ts';

const NODE_ID = 'judge';
const PASSWORD = 'correct horse battery staple';
const ACCESS_KEY = 'kiosk+7/ü';
const PSK = derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: NODE_ID });
const IDENTITY = parseIdentity({ access_key: ACCESS_KEY, password: PASSWORD, site_id: 'lobby' });
const PATIENCE = { answer: 10_000, long: 60_000 };
const IMPATIENT = { answer: 1000, long: 60_000 };
const QUIET = { password: PASSWORD, patience: PATIENCE, onProgress: () => {} };

interface Spoiled<Options> {
  /** Options of each session, in place of the right ones. */
  options?: () => Partial<Options>;
  accessKey?: string;
  patience?: typeof PATIENCE;
  only?: string[];
  /** Stays where it should go. */
  stays?: true;
  /** Keeps every message to itself. */
  silent?: true;
}

function handle(
  session: ClientSession | HubSession,
  socket: WebSocket,
  events: (SessionEvent | HubSessionEvent)[],
  { stays, silent }: Spoiled<unknown>,
): void {
  for (const event of events) {
    if (event.type === 'transmit') socket.send(event.data);
    if (event.type === 'close' && !stays) socket.close(event.code);
    if (event.type === 'message' && !silent) {
      const messages = event.kind === 'json' ? session.sendJson(event.text) : session.sendBinary(event.bytes);
      for (const message of messages) socket.send(message);
    }
  }
}

/** Judges a client that connects again and again. */
async function judgeClient(spoiled: Spoiled<ClientOptions> = {}): Promise<Verdict[]> {
  const staticKey = randomBytes(32);
  const pins = new Map<string, Uint8Array>();
  let isOver = false;
  let url = '';
  const dial = (): void => {
    if (isOver) return;
    const socket = new WebSocket(url);
    const session = new ClientSession({
      crypto: nodeCrypto,
      siteId: IDENTITY.siteId,
      staticKey,
      randomBytes,
      pin: (nodeId) => pins.get(nodeId),
      psk: () => PSK,
      ...spoiled.options?.(),
    });
    socket.on('message', (data, isBinary) => {
      const events = session.receive(isBinary ? (data as Buffer) : data.toString());
      for (const event of events) if (event.type === 'pin') pins.set(event.nodeId, event.key);
      handle(session, socket, events, spoiled);
    });
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(dial, 1));
  };
  const onListening = (address: string): void => {
    url = authorizedUrl(address, 'test', spoiled.accessKey ?? ACCESS_KEY);
    dial();
  };
  const { patience = PATIENCE, only } = spoiled;
  const hub = { port: 0, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening };
  try {
    return await listen({ ...QUIET, patience, only, ...hub });
  } finally {
    isOver = true;
  }
}

/** Judges a hub that knows one client. */
async function judgeHub(spoiled: Spoiled<HubOptions> = {}): Promise<Verdict[]> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const staticKey = randomBytes(32);
  let clientKey: Uint8Array | undefined;
  server.on('connection', (socket) => {
    const options = { crypto: nodeCrypto, nodeId: NODE_ID, staticKey, randomBytes, psk: PSK, clientKey };
    const session = new HubSession({ ...options, ...spoiled.options?.() });
    socket.on('message', (data, isBinary) => {
      const events = session.receive(isBinary ? (data as Buffer) : data.toString());
      for (const event of events) if (event.type === 'pin') clientKey = event.key;
      handle(session, socket, events, spoiled);
    });
    socket.on('error', () => {});
    handle(session, socket, session.start(), spoiled);
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const { patience = PATIENCE, only } = spoiled;
    return await connectTo({ ...QUIET, patience, only, url: `ws://127.0.0.1:${port}/` });
  } finally {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
}

/** The names of the scenes with this result. */
function scenes(verdicts: readonly Verdict[], result: Verdict['result']): string[] {
  return verdicts.filter((verdict) => verdict.result === result).map(({ name }) => name);
}

function failures(verdicts: readonly Verdict[]): string {
  return JSON.stringify(
    verdicts.filter(({ result }) => result === 'failed'),
    undefined,
    1,
  );
}

test('our client passes every scene of --listen', async () => {
  const verdicts = await judgeClient();
  assert.equal(scenes(verdicts, 'failed'), [], failures(verdicts));
  assert.equal(scenes(verdicts, 'declined'), []);
  assert.ok(verdicts.length > 30);
});

test('our hub passes every scene of --connect', async () => {
  const verdicts = await judgeHub();
  assert.equal(scenes(verdicts, 'failed'), [], failures(verdicts));
  assert.equal(scenes(verdicts, 'declined'), []);
  assert.ok(verdicts.length > 25);
});

test('--listen finds a client that does not enforce its pin, and one that has none', async () => {
  const verdicts = await judgeClient({ options: () => ({ pin: () => undefined }) });
  assert.equal(scenes(verdicts, 'failed'), ['changed-key']);
  assert.equal(scenes(verdicts, 'declined'), ['reconnect']); // KKpsk0 is optional
});

test('--listen finds a client that makes a new static key each time', async () => {
  const only = ['first-contact', 'still-there'];
  const verdicts = await judgeClient({ options: () => ({ staticKey: randomBytes(32) }), only });
  assert.ok(scenes(verdicts, 'failed').includes('still-there'), failures(verdicts));
});

test('--listen finds a client with another password', async () => {
  const only = ['first-contact', 'version'];
  const verdicts = await judgeClient({ options: () => ({ psk: () => randomBytes(32) }), only });
  assert.equal(scenes(verdicts, 'failed'), ['first-contact']);
});

test('--listen finds a client that does not say its access key', async () => {
  const verdicts = await judgeClient({ accessKey: 'another' });
  assert.is(scenes(verdicts, 'failed').length, verdicts.length);
  assert.is(verdicts[0]!.failure!.difference.where, 'the URL');
});

test('--listen and --connect find who stays after a breach', async () => {
  const breaches = ['text', 'flipped-bit', 'replay', 'unknown-marker', 'interleaved', 'low-order-key'];
  const spoiled = { stays: true as const, patience: IMPATIENT, only: ['first-contact', ...breaches] };
  for (const verdicts of [await judgeClient(spoiled), await judgeHub(spoiled)]) {
    assert.equal(scenes(verdicts, 'passed'), ['first-contact']);
    for (const { failure } of verdicts.slice(1)) assert.match(failure!.difference.got, /^still open/);
  }
});

test('--listen and --connect find who does not send messages back', async () => {
  const spoiled = { silent: true as const, patience: IMPATIENT, only: ['messages', 'low-order-key'] };
  for (const verdicts of [await judgeClient(spoiled), await judgeHub(spoiled)]) {
    assert.equal(scenes(verdicts, 'failed'), ['messages']);
  }
});

test('--listen and --connect name the scenes that there are to who asks for another', async () => {
  for (const judge of [judgeClient, judgeHub]) {
    await judge({ only: ['scene'] }).then(
      () => assert.unreachable(),
      (error) => assert.match(error.message, /no scene scene: there are first-contact, /),
    );
  }
});

test('--listen waits but once for a client that does not come', async () => {
  const patience = { answer: 50, long: 500 };
  const start = Date.now();
  const hub = { port: 0, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening: () => {} };
  const verdicts = await listen({ ...QUIET, patience, ...hub });
  assert.is(scenes(verdicts, 'failed').length, verdicts.length);
  assert.ok(Date.now() - start < (500 * verdicts.length) / 2);
});

test('--connect finds a hub that takes any static key for a client', async () => {
  const only = ['first-contact', 'reconnect', 'other-static-key', 'still-there'];
  const verdicts = await judgeHub({ options: () => ({ clientKey: undefined }), only, patience: IMPATIENT });
  assert.equal(scenes(verdicts, 'failed'), ['other-static-key']);
  assert.equal(scenes(verdicts, 'declined'), ['reconnect']);
});

test('--connect finds a hub with a new key on each connection', async () => {
  const only = ['first-contact', 'still-there'];
  const verdicts = await judgeHub({ options: () => ({ staticKey: randomBytes(32) }), only });
  assert.ok(scenes(verdicts, 'failed').includes('still-there'));
});

test('--connect says of an address where nobody listens that it is wrong', async () => {
  const verdicts = await connectTo({ ...QUIET, url: 'ws://127.0.0.1:1/' });
  assert.is(scenes(verdicts, 'failed').length, verdicts.length);
  assert.match(verdicts[0]!.failure!.difference.got, /address/);
});

test.run();
