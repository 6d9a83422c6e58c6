/** The client against servers without secrets that answer as badly as they can, in a process whose memory and event loop are watched. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { HubSession, type HubSessionEvent } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type WebSocket, WebSocketServer } from 'ws';
import { compiled } from '../world/bundled.ts';
import type { Harm } from './victim.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const VICTIM = await compiled(new URL('victim.ts', import.meta.url));

/** The longest that anything may take, in milliseconds. */
const LIMIT = 90_000;

interface Server {
  readonly url: string;
  /** Resolves when every attack was tried. */
  readonly done: Promise<void>;
  stop(): void;
}

/** Runs a client at a server until every attack was tried. */
async function harmOf(entry: string, server: Server, derives = 'stub'): Promise<Harm> {
  const victim = fork(VICTIM, [entry, server.url, derives], { execArgv: ['--expose-gc'], stdio: 'inherit' });
  const exit = once(victim, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  exit.catch(() => {});
  const limit = setTimeout(() => victim.kill('SIGKILL'), LIMIT);
  try {
    await Promise.race([server.done, exit]);
    victim.send('stop');
    const [harm] = (await Promise.race([once(victim, 'message'), exit])) as [Harm];
    return harm;
  } finally {
    clearTimeout(limit);
    victim.kill('SIGKILL');
    server.stop();
  }
}

/**
 * Asserts that a server does little harm, in the best of three runs: on a busy machine the same work takes more time of the
 * processor.
 */
async function assertHarmless(entry: string, serve: () => Promise<Server>, derives?: string): Promise<void> {
  for (let run = 1; ; run++) {
    const { memory, blocked, derivations, counts } = await harmOf(entry, await serve(), derives);
    const isHarmless = memory <= 128 * MIB && blocked <= 200 && derivations <= 1;
    const figures = `${(memory / MIB).toFixed()} MiB, ${blocked.toFixed()} ms, ${derivations} at once`;
    if (process.env.SHOW_HARM) console.log(figures, counts);
    if (isHarmless) return;
    assert.ok(run < 3, `${figures}: ${JSON.stringify(counts)}`);
  }
}

/** A hub with a new name, and without the password. */
function newHub(nodeId: string = Buffer.from(randomBytes(16)).toString('hex')): HubSession {
  return new HubSession({ crypto, randomBytes, nodeId, staticKey: randomBytes(32), psk: randomBytes(32) });
}

function messagesIn(events: HubSessionEvent[]): (string | Uint8Array)[] {
  return events.flatMap((event) => (event.type === 'transmit' ? [event.data] : []));
}

const hello = (fields: string): string => `{"msg_type":"hello","payload":{${fields}}}`;
const offer = (fields: string): string => `{"msg_type":"shake","payload":{${fields}}}`;
const fill = (unit: string, length: number): string => unit.repeat(Math.floor(length / unit.length));
/** An array that has this length as JSON. */
const arrayOf = (unit: string, length: number): string => `[${fill(`${unit},`, length - 3)}0]`;
const nested = (length: number): string => `${fill('[', length / 2)}${fill(']', length / 2)}`;

/** Values that take much time or memory to read. */
const valuesOf = (length: number): string[] => [
  ...['{}', '[]', '""', '0', '1e9', '1.5', '{"a":{"a":[]}}'].map((unit) => arrayOf(unit, length)),
  nested(length),
  `"${fill('\\u0041', length - 2)}"`,
  `"${fill('é', (length - 2) / 2)}"`,
  `{${Array.from({ length: length / 12 }, (_, i) => `"${i.toString().padStart(7, '0')}":0`).join()}}`,
];

/** What a server says first in cleartext, as envelopes of up to 256 KiB. */
const greetings: string[][] = [
  ...valuesOf(255 * KIB).flatMap((value) => [
    [value],
    [hello(`"node_id":"hub-1","x":${value}`)],
    [hello('"node_id":"hub-1"'), offer(`"max_protocol_version":3,"noise":${value}`)],
    [
      hello('"node_id":"hub-1"'),
      offer(`"max_protocol_version":3,"noise":{"patterns":${value},"suites":${value.slice(0, 100)}}`),
    ],
  ]),
  [hello(`"node_id":"${'x'.repeat(250_000)}"`)],
  new Array(1000).fill(hello('"node_id":"hub-1"')),
  new Array(1000).fill('{}'),
];

type SocketAttack = (socket: WebSocket, raw: Socket) => void;

/** A frame of a server's WebSocket. */
function frame(first: number, payload: string | Uint8Array): Buffer {
  const body = Buffer.from(payload as string);
  const head = Buffer.from([first, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(body.length, 6);
  return Buffer.concat([body.length < 126 ? Buffer.from([first, body.length]) : head, body]);
}

/** Writes bytes again and again, as fast as the client reads them, even after it has closed. */
async function flood(raw: Socket, bytes: Buffer): Promise<void> {
  const many = Buffer.concat(new Array(Math.ceil((64 * KIB) / bytes.length)).fill(bytes));
  for (let sent = 0; sent < 4 * MIB && !raw.destroyed; sent += many.length) {
    await new Promise((resolve) => raw.write(many, resolve));
  }
}

/** Behaves as a hub until the client has sent this many messages, and then badly. */
function after(count: number, attack: SocketAttack, nodeId?: string): SocketAttack {
  return (socket, raw) => {
    const hub = newHub(nodeId);
    let heard = 0;
    for (const data of messagesIn(hub.start())) socket.send(data);
    socket.on('message', (data, isBinary) => {
      if (++heard === count) attack(socket, raw);
      else
        for (const answer of messagesIn(hub.receive(isBinary ? (data as Buffer) : data.toString())))
          socket.send(answer);
    });
    if (count === 0) attack(socket, raw);
  };
}

const endings: SocketAttack[] = [
  ...[1000, 1001, 1008, 1011, 4000].map(
    (code): SocketAttack =>
      (socket) =>
        socket.close(code, 'x'.repeat(100)),
  ),
  (socket) => socket.close(),
  (socket) => socket.terminate(),
];
const [TEXT, BINARY, PING] = [0x81, 0x82, 0x89] as const;
const floods: SocketAttack[] = [
  frame(TEXT, hello('"node_id":"hub-2"')),
  frame(TEXT, '{}'),
  frame(TEXT, 'x'.repeat(300 * KIB)),
  frame(BINARY, new Uint8Array(250 * KIB)),
  frame(BINARY, ''),
  frame(PING, new Uint8Array(125)),
  frame(0x01, ''), // the first fragment of a text
  Buffer.concat([frame(0x01, 'x'), ...new Array(100_000).fill(frame(0x00, 'x'))]),
  Buffer.alloc(KIB, 0xff),
].map(
  (bytes): SocketAttack =>
    (_, raw) =>
      flood(raw, bytes),
);
const attacks: SocketAttack[] = [
  ...endings,
  ...floods,
  ...endings.flatMap((attack) => [after(0, attack), after(1, attack)]),
  ...floods.flatMap((attack) => [after(0, attack), after(1, attack)]),
  after(2, () => {}), // message 2 under another password
  after(2, () => {}, 'x'.repeat(4096)),
  ...greetings.map(
    (texts): SocketAttack =>
      (socket) => {
        for (const text of texts) socket.send(text);
        setTimeout(() => socket.terminate(), 30);
      },
  ),
];

async function webSocketServer(tried: readonly SocketAttack[]): Promise<Server> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  let count = 0;
  const done = new Promise<void>((resolve) => {
    server.on('connection', (socket, { socket: raw }) => {
      socket.on('error', () => {});
      if (count === tried.length) resolve();
      else tried[count++]!(socket, raw);
    });
  });
  const stop = (): void => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  };
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, done, stop };
}

type HttpAttack = (path: string, response: ServerResponse, message: string | undefined) => void;

const say = (response: ServerResponse, body: string, status = 200): void => {
  response.writeHead(status).end(body);
};

/** Answers each request in one way, except those that end an earlier connection. */
const always =
  (body: string, status?: number): HttpAttack =>
  (path, response) =>
    say(response, path === 'disconnect' ? '{}' : body, status);

/** Answers polls in one way. */
const onPolls =
  (body: string): HttpAttack =>
  (path, response) =>
    say(response, path.startsWith('get') ? body : '{}');

/** Behaves as a hub without the password, until it has a message for the client that is not its greeting. */
function likeHub(body?: string): HttpAttack {
  const hub = newHub();
  const queue = messagesIn(hub.start()) as string[];
  return (path, response, message) => {
    if (message !== undefined) queue.push(...(messagesIn(hub.receive(message)) as string[]));
    const isLast = message !== undefined && body !== undefined;
    if (isLast) queue.splice(0);
    if (path === 'get_messages') say(response, JSON.stringify({ messages: queue.splice(0) }));
    else say(response, isLast ? body : '{}');
  };
}

/** A body without end. */
const endless: HttpAttack = async (path, response) => {
  if (path === 'disconnect') return say(response, '{}');
  response.writeHead(200);
  const part = Buffer.alloc(64 * KIB, '[');
  while (!response.destroyed) await new Promise((resolve) => response.write(part, resolve));
};

/** Answers each request with these bytes, except those that end an earlier connection. */
const raw =
  (bytes: string): HttpAttack =>
  (path, response) =>
    path === 'disconnect' ? say(response, '{}') : response.socket!.end(bytes);

const SPACE_BY_SPACE = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(590 * KIB)}0\r\n\r\n`;
const HUGE = 20 * MIB;
const httpAttacks: (() => HttpAttack)[] = [
  ...[302, 401, 409, 500].map((status) => () => always('<html>', status)),
  () => always(JSON.stringify({ error: 'x'.repeat(HUGE) })),
  () => endless,
  () => raw('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
  () => raw(SPACE_BY_SPACE),
  ...valuesOf(590 * KIB).flatMap((value) => [
    () => always(value),
    () => onPolls(`{"messages":${value}}`),
    () => onPolls(JSON.stringify({ messages: [value.slice(0, 255 * KIB)] })),
  ]),
  ...['{}', '""', '[]'].map((unit) => () => onPolls(`{"messages":${arrayOf(unit, HUGE)}}`)),
  () => onPolls(`{"messages":${nested(HUGE)}}`),
  () => onPolls(JSON.stringify({ messages: new Array(256).fill(hello('"node_id":"hub-1"')) })),
  () => onPolls(JSON.stringify({ messages: new Array(10_000).fill('{}') })),
  () => likeHub(),
  () => likeHub(),
  () => likeHub('{"error":"Client is not connected"}'),
  () => likeHub(arrayOf('{}', HUGE)),
];

async function httpsServer(): Promise<Server> {
  let count = -1;
  let attack: HttpAttack = () => {};
  let finish!: () => void;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const server = createHttpServer(async (request, response) => {
    const body = new URLSearchParams((await request.setEncoding('utf8').toArray()).join(''));
    const path = new URL(request.url!, 'http://localhost').pathname.slice(1);
    if (path === 'disconnect' && count + 1 < httpAttacks.length) attack = httpAttacks[++count]!();
    else if (path === 'disconnect') finish();
    attack(path, response, body.get('message') ?? undefined);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, done, stop };
}

/** Called when a client has subscribed, with its topics. */
type BrokerAttack = (socket: Socket, inbound: string) => void;

/** The length of the rest of an MQTT packet. */
function lengthOf(rest: number): number[] {
  return rest < 128 ? [rest] : [(rest % 128) + 128, ...lengthOf(Math.floor(rest / 128))];
}

/** A PUBLISH, or the start of one that is longer than its payload. */
function publish(topic: string, payload: string | Uint8Array, length = payload.length): Buffer {
  const head = [0x30, ...lengthOf(2 + topic.length + length), topic.length >> 8, topic.length & 255];
  return Buffer.concat([Buffer.from(head), Buffer.from(topic), Buffer.from(payload as string)]);
}

const brokerAttacks: BrokerAttack[] = [
  (socket) => socket.destroy(),
  (socket) => socket.end(),
  (socket) => flood(socket, Buffer.alloc(KIB, 0xff)),
  (socket, topic) => flood(socket, publish(topic, '')),
  (socket, topic) => flood(socket, publish(topic, hello('"node_id":"hub-1"'))),
  (socket) => flood(socket, publish('elsewhere', 'x'.repeat(100))),
  (socket) => flood(socket, publish('elsewhere', new Uint8Array(400 * KIB))),
  (socket) => flood(socket, Buffer.from([0xd0, 0])), // PINGRESP
  (socket, topic) => {
    socket.write(publish(topic, '', 250 * MIB));
    flood(socket, Buffer.alloc(64 * KIB));
  },
  ...[0, 1, 2, 3].map(
    (): BrokerAttack => (socket, topic) => {
      for (const data of messagesIn(newHub().start())) socket.write(publish(topic, data));
      setTimeout(() => socket.destroy(), 20); // while the PSK is derived
    },
  ),
  ...greetings.map(
    (texts): BrokerAttack =>
      (socket, topic) => {
        for (const text of texts) socket.write(publish(topic, text));
        setTimeout(() => socket.destroy(), 30);
      },
  ),
];

async function broker(): Promise<Server> {
  let count = 0;
  let finish!: () => void;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    socket.on('data', (packet) => {
      const type = packet[0]! >> 4;
      if (type === 1) socket.write(Buffer.from([0x20, 2, 0, 0]));
      if (type !== 8) return;
      socket.write(Buffer.from([0x90, 3, packet[2]!, packet[3]!, 0]));
      const topic = packet.subarray(6, 6 + packet.readUInt16BE(4)).toString();
      if (count === brokerAttacks.length) finish();
      else brokerAttacks[count++]!(socket, topic);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const stop = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, done, stop };
}

/** Names a new node id, and goes away while the PSK is derived. */
const leave: SocketAttack = (socket, raw) =>
  after(0, () => setTimeout(() => socket.terminate(), 500))(socket, raw);

const BOUND = 'takes at most 128 MiB, blocks for at most 0.2 s, and derives one PSK at a time';

test(`at a WebSocket server that is not a hub, the client ${BOUND}`, () =>
  assertHarmless('', () => webSocketServer(attacks)));

test(`at an HTTPS server that is not a hub, the client ${BOUND}`, () =>
  assertHarmless('/https', httpsServer));

test(`at a broker without a hub, the client ${BOUND}`, () => assertHarmless('/mqtt', broker));

test('the worker that derives is stopped when the server goes away', () =>
  assertHarmless('', () => webSocketServer([leave, leave, leave]), 'worker'));

test.run();
