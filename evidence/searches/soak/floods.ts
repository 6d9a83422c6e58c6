/** A hub with a server of its own, in another process, at which strangers do what they can while a client goes on asking. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createKeyring, type Keyring, parseIdentity, storePsk } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { type Client, connect } from 'hub-protocol-client';
import { serveHub } from 'hub-protocol-client/hub';
import { Random } from '../../../test/world/random.ts';

const ACCESS_KEY = 'kiosk-7';
const NODE_ID = 'hub-1';
const KIB = 1024;

interface FloodTask {
  readonly psk: string;
  readonly tls: { key: string; cert: string };
  /** How many clients there are, besides the one that asks. */
  readonly others: number;
}

interface FloodReport {
  /** The growth of the resident memory of the hub, in bytes. */
  readonly memory: number;
  /** The longest section in which it stood still, in milliseconds of its CPU time. */
  readonly lag: number;
}

export interface Floods extends FloodReport {
  readonly attacks: number;
  readonly answers: number;
  /** The slowest answer, in milliseconds. */
  readonly slowest: number;
  /** How often one of the other clients has lost its connection. */
  readonly lost: number;
}

const HEADS = [
  ['Origin: https://evil.example'],
  ['Origin: null'],
  ['Sec-WebSocket-Version: 99'],
  ['Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99'],
  ['Sec-WebSocket-Protocol: a, a, a'],
  ['Content-Length: 99999999'],
  ['Transfer-Encoding: chunked'],
  ['Upgrade: h2c'],
  [`X: ${'x'.repeat(20 * KIB)}`],
  new Array(3000).fill('X: y'),
];
const TARGETS = [
  '/',
  '//',
  '/?authorization',
  '/?authorization=%',
  '*',
  'http://[',
  `/?authorization=${'A'.repeat(8 * KIB)}`,
];

const upgrade = (target: string, headers: readonly string[]): string =>
  [
    `GET ${target} HTTP/1.1`,
    ...['Host: localhost', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'],
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    ...headers,
    '\r\n',
  ].join('\r\n');

/** A frame of a client, masked with zeros. */
function frame(first: number, length: number): Buffer {
  const head = Buffer.from([first, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(length, 6);
  return Buffer.concat([head, Buffer.alloc(length, 0x78)]);
}

/** What a stranger, or somebody with the access key alone, does with a connection. */
async function attack(open: () => Promise<TLSSocket>, random: Random): Promise<void> {
  const socket = await open();
  const known = Buffer.from(`x:${ACCESS_KEY}`).toString('base64');
  const target = random.oneIn(2) ? `/?authorization=${encodeURIComponent(known)}` : random.pick(TARGETS);
  const request = upgrade(target, random.oneIn(2) ? [] : random.pick(HEADS));
  socket.write(random.oneIn(5) ? request.slice(0, random.below(request.length)) : request);
  await sleep(random.below(30));
  const bytes = random.pick([
    Buffer.alloc(64 * KIB, 0xff),
    frame(0x81, 300 * KIB),
    frame(0x81, 200 * KIB),
    frame(0x82, 0),
    frame(0x89, 100),
    frame(0x01, 0),
  ]);
  for (let sent = 0; sent < 2 ** 20 && !socket.destroyed; sent += Math.max(bytes.length, 10 * KIB)) {
    await new Promise((resolve) => socket.write(bytes, resolve));
  }
  await sleep(random.pick([0, 10, 500]));
  if (random.oneIn(2)) socket.destroy();
  else socket.end();
}

/**
 * @param minutes - how long
 * @param others - how many clients are ready, and ask nothing
 */
export async function floods(minutes: number, others: number): Promise<Floods> {
  const { ca, ...tls } = await localhostCertificate();
  const psk = randomBytes(32);
  const hub = fork(new URL(import.meta.url), ['hub'], { execArgv: process.execArgv });
  hub.send({ psk: Buffer.from(psk).toString('hex'), tls, others } satisfies FloodTask);
  const url = await answer<string>(hub);
  const { port } = new URL(url);
  const open = async (): Promise<TLSSocket> => {
    const socket = connectTls({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
    socket.on('error', () => {}).resume();
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => {});
    return socket;
  };
  const wss = `wss://localhost:${port}`;
  const connectAs = (accessKey: string): Client => {
    const own = createKeyring({ accessKey, staticKey: randomBytes(32) });
    let kept: Keyring = storePsk(own, NODE_ID, psk);
    const keyring = {
      load: () => kept,
      update: (change: (stored: Keyring) => Keyring): void => {
        kept = change(kept);
      },
    };
    const identity = parseIdentity({ access_key: accessKey, password: 'x', data_plane_endpoints: { wss } });
    return connect({ identity, keyring, socket: { ca } });
  };
  let [attacks, answers, slowest, lost] = [0, 0, 0, 0];
  const clients: Client[] = [];
  while (clients.length < others) {
    const client = connectAs(`other-${clients.length}`);
    clients.push(client);
    await new Promise((resolve) => client.once('connect', resolve));
    client.on('close', () => lost++);
  }
  hub.send('begin');
  const client = connectAs(ACCESS_KEY);
  const until = Date.now() + minutes * 60_000;
  const strangers = Array.from({ length: 8 }, async (_, i) => {
    for (const random = new Random(i); Date.now() < until; attacks++)
      await attack(open, random).catch(() => {});
  });
  while (Date.now() < until || answers === 0) {
    const began = performance.now();
    const { ending } = await client.ask('hello', { timeout: 60_000 });
    if (ending !== 'handled') throw new Error(`a question ended with ${ending}`);
    slowest = Math.max(slowest, performance.now() - began);
    answers++;
    await sleep(100);
  }
  await Promise.all(strangers);
  client.end();
  hub.send('report');
  const report = await answer<FloodReport>(hub);
  const figures = { ...report, attacks, answers, slowest, lost };
  for (const other of clients) other.end();
  hub.kill();
  return figures;
}

function answer<T>(child: ChildProcess): Promise<T> {
  const exit = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the hub ended with ${code}`)));
  return Promise.race([once(child, 'message').then(([message]) => message as T), exit]);
}

/** The process of the hub. */
function serve(): void {
  process.once('message', async ({ psk, tls, others }: FloodTask) => {
    const names = [ACCESS_KEY, ...Array.from({ length: others }, (_, i) => `other-${i}`)];
    const clients = new Map(names.map((name) => [name, { psk: Buffer.from(psk, 'hex') }]));
    const maxConnections = names.length + 10;
    const own = { nodeId: NODE_ID, staticKey: randomBytes(32) };
    const { url } = await serveHub({ ...own, clients, maxConnections, tls });
    const cpu = (): number => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000;
    let before = process.memoryUsage.rss();
    let [memory, lag] = [0, 0];
    let last = { wall: performance.now(), cpu: cpu() };
    setInterval(() => {
      const now = { wall: performance.now(), cpu: cpu() };
      lag = Math.max(lag, Math.min(now.wall - last.wall - 5, now.cpu - last.cpu));
      last = now;
      memory = Math.max(memory, process.memoryUsage.rss() - before);
    }, 5);
    process.send!(url);
    process.on('message', (order) => {
      if (order === 'report') process.send!({ memory, lag } satisfies FloodReport);
      before = process.memoryUsage.rss();
      memory = 0;
      lag = 0;
    });
  });
  process.on('disconnect', () => process.exit());
}

if (process.argv[2] === 'hub') serve();
