/** The example hub and the client over a real WebSocket with TLS: behaviour that only a socket shows. */

import { EventEmitter, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import tlsModule, { connect as connectTls } from 'node:tls';
import { X509Certificate as Certificate } from '@peculiar/x509';
import { type ErrorCode, HubSession, type Identity, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import {
  type Client,
  connect as connectClient,
  KeyringFile,
  type NodeOptions,
  type Traced,
} from 'hub-protocol-client';
import { connect as connectInPage } from 'hub-protocol-client/browser';
import { type HubServer, type HubServerOptions, serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { keepAlive } from '../../client/dist/ws.js';
import { closeAll, webSockets } from '../world/servers.ts';
import { impatient, soon, turnsOf, until } from './world.ts';

const test = suite('the client over WebSocket');
const NODE_ID = 'hub.example';
const ACCESS_KEY = 'kiosk-7/é+';
const psk = randomBytes(32);
const hubStatic = randomBytes(32);
/** The first byte of a frame that closes a WebSocket (RFC 6455, section 5.2). */
const CLOSE_FRAME = 0x88;
const clients = new Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>();
const { ca: authority, ...tls } = await localhostCertificate();
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
let hub: HubServer;
let keyring: KeyringFile;
let opened: Client[] = [];

async function restart(
  staticKey: Uint8Array = hubStatic,
  options: Partial<HubServerOptions> = {},
): Promise<void> {
  const port = hub === undefined ? 0 : Number(new URL(hub.url).port);
  await soon(Promise.resolve(hub?.stop()));
  hub = await serveHub({ tls, port, nodeId: NODE_ID, staticKey, clients, ...options });
}

test.before.each(async () => {
  clients.clear();
  clients.set(ACCESS_KEY, { psk });
  rmSync(join(folder, 'keyring.json'), { force: true });
  keyring = new KeyringFile(join(folder, 'keyring.json'), ACCESS_KEY);
  await restart();
});
test.after.each(() => {
  for (const client of opened) client.end();
  opened = [];
  return closeAll();
});
test.after(async () => {
  await soon(hub.stop());
  rmSync(folder, { recursive: true });
});

interface Watched extends Client {
  seen: Traced[];
  /** Waits for an event or a decision. */
  next(is: (what: Traced) => boolean): Promise<Traced>;
  asked: (ErrorCode | undefined)[];
}

const isReady = (what: Traced): boolean => 'type' in what && what.type === 'ready';
const isEnded = (what: Traced): boolean => 'type' in what && what.type === 'ended';

function connect(options: Partial<NodeOptions> = {}, identity: object = {}): Watched {
  const seen: Traced[] = [];
  const asked: (ErrorCode | undefined)[] = [];
  let listeners: { is: (what: Traced) => boolean; resolve: (what: Traced) => void }[] = [];
  const client = connectClient({
    identity: identityOf(identity),
    keyring,
    socket: { ca: authority },
    derive: async () => psk,
    policy: { basePause: 20, maxPause: 100 },
    ...options,
  });
  client.on('ask', ({ error }) => asked.push((error as { code?: ErrorCode }).code));
  client.on('trace', ({ what }) => {
    seen.push(what);
    listeners = listeners.filter(({ is, resolve }) => !is(what) || resolve(what));
  });
  opened.push(client);
  const next: Watched['next'] = (is) => soon(new Promise((resolve) => listeners.push({ is, resolve })));
  return impatient(Object.assign(client, { seen, asked, next }));
}

function identityOf(changes: object): Identity {
  return parseIdentity({
    access_key: ACCESS_KEY,
    password: 'correct horse',
    site_id: 'lobby',
    data_plane_endpoints: { wss: hub.url },
    ...changes,
  });
}

const patternsOf = (seen: Traced[]): string[] =>
  seen.flatMap((what) => ('type' in what && what.type === 'ready' ? [what.pattern] : []));

test('connects, asks over the bus, and reconnects with the pinned key when the hub restarts', async () => {
  const client = connect();
  await client.next(isReady);
  const { ending, reply } = await client.ask('é\u{1f600}');
  assert.equal([ending, reply.text], ['handled', 'You said: é\u{1f600}']);
  const again = client.next(isReady);
  await restart();
  await again;
  assert.equal(patternsOf(client.seen), ['XXpsk2', 'KKpsk0']);
  assert.is((await client.ask('And now?')).reply.text, 'You said: And now?');
});

test('the hub sends the certificate of its authority after its own, which Moddable requires', async () => {
  const { port } = new URL(hub.url);
  const socket = connectTls({ host: 'localhost', port: Number(port), ca: [], rejectUnauthorized: false });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const own = socket.getPeerCertificate(true);
  socket.destroy();
  assert.is(own.subject.CN, 'localhost');
  assert.is(own.subjectaltname, 'DNS:localhost, IP Address:127.0.0.1');
  assert.is(own.issuerCertificate.subject.CN, 'an authority for localhost');
  const keyOf = (name: string, pem: string) => new Certificate(pem).getExtension(name)!.value;
  const [keyId, issuersKeyId] = ['2.5.29.14', '2.5.29.35'].map((oid) => keyOf(oid, authority));
  assert.ok(Buffer.from(issuersKeyId!).includes(Buffer.from(keyId!).subarray(2)));
});

/** A server without TLS that is no hub, and calls a function for each connection. Returns its address. */
async function serve(
  connected: (socket: WebSocket, request: IncomingMessage) => void,
): Promise<{ data_plane_endpoints: { wss: string } }> {
  return { data_plane_endpoints: { wss: `ws://127.0.0.1:${await webSockets(connected)}` } };
}

test('trusts the authority that its own options name, and not that of the client before', async () => {
  await connect().next(isReady);
  const { ca } = await localhostCertificate();
  const causes: (string | undefined)[] = [];
  const foreign = connect({ socket: { ca } });
  foreign.on('ask', ({ error }) => causes.push((error as { code?: string }).code));
  await soon(new Promise((resolve) => foreign.on('ask', resolve)));
  assert.equal(causes, ['certificate-refused']);
});

test('trusts each authority of several, also without a line break between them', async () => {
  const { ca } = await localhostCertificate();
  await connect({ socket: { ca: ca.trim() + authority } }).next(isReady);
});

test('parses the certificate of the authority once, however often it connects', async () => {
  const { createSecureContext } = tlsModule;
  const parsed: unknown[] = [];
  const counted: typeof createSecureContext = (options) => {
    if (options?.ca !== undefined) parsed.push(options.ca);
    return createSecureContext(options);
  };
  const { ca, ...own } = await localhostCertificate();
  const other = await serveHub({ tls: own, nodeId: NODE_ID, staticKey: hubStatic, clients });
  Object.assign(tlsModule, { createSecureContext: counted });
  try {
    const client = connect({ socket: { ca } }, { data_plane_endpoints: { wss: other.url } });
    for (let i = 0; i < 3; i++) {
      const ready = client.next(isReady);
      if (i > 0) other.cut();
      await ready;
    }
    client.end();
  } finally {
    Object.assign(tlsModule, { createSecureContext });
    await soon(other.stop());
  }
  assert.equal(parsed, [ca]);
});

test('reads a message of 256 KiB, and ends the connection at a longer one', async () => {
  const lengths = [256 * 1024, 256 * 1024 + 1];
  const address = await serve((socket) => socket.send('x'.repeat(lengths.shift() ?? 0)));
  const client = connect({ allowPlaintext: true }, address);
  await client.next(isEnded);
  await client.next(isEnded);
  const seen = client.seen.flatMap((what): (number | string)[] => {
    if (!('type' in what)) return [];
    return what.type === 'received' ? [what.data.length] : what.type === 'ended' ? [what.error.code] : [];
  });
  assert.equal(seen, [256 * 1024, 'bad-json', 'dropped']);
});

test('a message that cannot be written ends the connection, however long the hub takes to close it', async () => {
  let closing!: () => void;
  const isClosing = new Promise<void>((resolve) => {
    closing = resolve;
  });
  const address = await serve((socket, { socket: stream }) => {
    stream.end = () => stream; // otherwise the WebSocket would be closed
    stream.on('data', ([first]: Buffer) => first === CLOSE_FRAME && closing());
    const session = new HubSession({ crypto, randomBytes, nodeId: NODE_ID, staticKey: hubStatic, psk });
    for (const event of session.start()) if (event.type === 'transmit') socket.send(event.data);
    socket.close(1008);
  });
  const derive = (): Promise<Uint8Array> => isClosing.then(() => psk);
  const policy = { deadlines: { 'awaiting-message-2': 5000 } };
  const client = connect({ allowPlaintext: true, derive, policy }, address);
  const ended = await client.next(isEnded);
  assert.is('error' in ended && (ended.error as { code?: string }).code, 'dropped'); // the hub closed it with 1008
});

test('offers no compression of messages, and names the program to servers in front of the hub', async () => {
  let seen: unknown[] = [];
  const address = await serve((socket, { headers }) => {
    seen = [headers['sec-websocket-extensions'], headers['user-agent']];
    socket.close();
  });
  await connect({ allowPlaintext: true, userAgent: 'kiosk é' }, address).next(isEnded);
  assert.equal(seen, [undefined, 'kiosk ?']);
});

test('lets the event loop run between two messages that arrive together', async () => {
  const hello = '{"msg_type":"hello","payload":{"node_id":"hub-1"},"metadata":{},"route":[]}';
  const address = await serve((socket, { socket: stream }) => {
    stream.cork();
    socket.send(hello);
    socket.send('second');
    stream.uncork();
  });
  const client = connect({ allowPlaintext: true }, address);
  const turns = turnsOf(client);
  await client.next(isEnded);
  assert.equal(turns, ['message', 'other work', 'message']);
});

test('terminates a socket whose other end answers no ping, or does not close, and no other', async () => {
  const outcomeOf = (
    isAnswered: boolean,
    readyState: number = WebSocket.OPEN,
    bufferedAmount = 0,
  ): Promise<string> =>
    new Promise((resolve) => {
      const events = new EventEmitter();
      let pings = 0;
      const end = (what: string): void => {
        resolve(`${what} after ${pings}`);
        events.emit('close');
      };
      const ping = (): void => {
        pings++;
        if (isAnswered) events.emit('pong');
        if (pings === 5) end('open');
      };
      const on: Parameters<typeof keepAlive>[0]['on'] = (event, listener) => events.on(event, listener);
      // Between the first two pings the system takes something of what waits.
      const handle = {
        writeQueueSize: 0,
        get bytesWritten(): number {
          return Math.min(pings, 1);
        },
      };
      const terminate = (): void => end('terminated');
      const socket = { readyState, ping, on, terminate, bufferedAmount, _socket: { _handle: handle } };
      keepAlive(socket, 1);
    });
  assert.equal(
    [
      await outcomeOf(true),
      await outcomeOf(false),
      await outcomeOf(false, WebSocket.CLOSING),
      await outcomeOf(false, WebSocket.OPEN, 1),
    ],
    ['open after 5', 'terminated after 1', 'terminated after 0', 'terminated after 3'],
  );
});

/** A connection that a proxy makes slow. */
class SlowWay {
  /** In bytes for a turn, a hundredth of a second if the machine is not busy. */
  rate = Number.POSITIVE_INFINITY;
  readonly #server = createServer((near) => {
    const far = connectTcp(Number(new URL(hub.url).port), '127.0.0.1').on('data', (data) => near.write(data));
    let taken = 0;
    const timer = setInterval(() => {
      taken = 0;
      if (this.rate > 0) near.resume();
    }, 10);
    near.on('data', (data) => {
      far.write(data);
      taken += data.length;
      if (taken >= this.rate) near.pause();
    });
    const end = (): void => {
      clearInterval(timer);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
  });

  async open(): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    return `wss://localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
  }
}

/**
 * Runs `body` while pings come every 70 turns of a SlowWay, in which all others have theirs, however busy the machine is.
 * @param before - called in the same turn of the event loop as each ping, before it
 */
async function withPings(body: (pingEvery: number) => Promise<void>, before = (): void => {}): Promise<void> {
  const pingEvery = 123_456;
  const { setInterval } = globalThis;
  globalThis.setInterval = ((run: () => void, time?: number) => {
    let turns = 0;
    const ping = (): void => {
      if (++turns % 70 > 0) return;
      before();
      run();
    };
    return time === pingEvery ? setInterval(ping, 10) : setInterval(run, time);
  }) as typeof setInterval;
  try {
    await body(pingEvery);
  } finally {
    globalThis.setInterval = setInterval;
  }
}

for (const [rate, pinging, outcome] of [
  [50_000, 'a client', 'stays connected while the hub slowly takes what waits before its pings'],
  [0, 'a client', 'is cut if the hub takes nothing of what waits before its pings'],
  [50_000, 'a hub', 'stays connected while its client slowly sends what waits before its pongs'],
] as const) {
  test(`${pinging} ${outcome}`, () =>
    withPings(async (pingEvery) => {
      if (pinging === 'a hub') await restart(hubStatic, { pingEvery });
      const way = new SlowWay();
      const client = connect(pinging === 'a client' ? { pingEvery } : {}, {
        data_plane_endpoints: { wss: await way.open() },
      });
      try {
        await client.ask('hello');
        const ending = new Promise((resolve) => {
          client.on('close', ({ error }) => resolve(error.code));
          client.on('bytes', () => resolve('sent back'));
        });
        way.rate = rate;
        assert.ok(client.sendBytes(new Uint8Array(2 ** 24), 'file'));
        assert.is(await soon(ending), rate === 0 ? 'dropped' : 'sent back');
      } finally {
        client.end();
        way.close();
      }
    }));
}

test('a client that sends something just before each ping is cut all the same if its hub is silent', async () => {
  const way = new SlowWay();
  let client: Client | undefined;
  const before = (): void => void client?.send({ msg_type: 'bus', payload: {} });
  await withPings(async (pingEvery) => {
    try {
      client = connect({ pingEvery }, { data_plane_endpoints: { wss: await way.open() } });
      await client.ask('hello');
      const ending = new Promise((resolve) => client!.on('close', ({ error }) => resolve(error.code)));
      way.rate = 0;
      assert.is(await soon(ending), 'dropped');
    } finally {
      client?.end();
      way.close();
    }
  }, before);
});

/** The client of a page, over the same sockets. */
function connectPage(): Client {
  const { WebSocket: before } = globalThis as { WebSocket?: unknown };
  const trusting = class extends WebSocket {
    constructor(url: string) {
      super(url, { ca: authority });
    }
  };
  Object.assign(globalThis, { WebSocket: trusting });
  const derive = async (): Promise<Uint8Array> => psk;
  const client = connectInPage({
    identity: identityOf({}),
    keyring,
    derive,
    policy: { basePause: 20, maxPause: 100 },
  });
  opened.push(client);
  client.on('end', () => Object.assign(globalThis, { WebSocket: before }));
  return client;
}

/** Stops the hub, and waits until the client has lost it. */
async function goAway(client: Client): Promise<void> {
  await soon(hub.stop());
  await until(() => client.state !== 'ready');
}

/** The hub that was stopped is there again. */
async function comeBack(heard: string[]): Promise<void> {
  const port = Number(new URL(hub.url).port);
  const answer = (question: string): string => {
    heard.push(question);
    return question;
  };
  hub = await serveHub({ tls, port, nodeId: NODE_ID, staticKey: hubStatic, clients, answer });
}

/** How long the hub is away, in milliseconds. */
const AWAY = Number(process.env.AWAY ?? 400);
const QUESTIONS = Array.from({ length: 22 }, (_, i) => `question ${i + 1}`);

for (const [what, start] of [
  ['a kiosk', connect],
  ['a page', connectPage],
] as const) {
  test(`all questions of ${what} are answered, in order, although the hub goes away meanwhile`, async () => {
    const client = start();
    await client.ask('hello');
    await goAway(client);
    const heard: string[] = [];
    const asked = QUESTIONS.map(async (question, i) => {
      await pause((i * AWAY) / QUESTIONS.length);
      return client.ask(question);
    });
    await pause(AWAY);
    await comeBack(heard);
    const answers = await Promise.all(asked);
    assert.equal(
      answers.map(({ reply }) => reply.text),
      QUESTIONS,
    );
    assert.equal(heard, QUESTIONS);
    client.end();
  });

  test(`each question of ${what} rejects at its timeout with the cause if the hub does not return, and is never sent`, async () => {
    const client = start();
    await client.ask('hello');
    const codes: string[] = [];
    client.on('close', ({ error }) => codes.push(error.code));
    await goAway(client);
    await until(() => codes.includes('not-reachable'));
    const errors = await Promise.all(
      QUESTIONS.map(async (question, i) => {
        const timeout = AWAY / 2 + i;
        const before = performance.now();
        const { code, advice } = await client.ask(question, { timeout }).catch((error) => error);
        assert.ok(performance.now() - before >= timeout - 1);
        assert.match(advice, 'localhost');
        return code;
      }),
    );
    assert.equal(
      errors,
      QUESTIONS.map(() => 'not-reachable'),
    );
    const heard: string[] = [];
    await comeBack(heard);
    await client.ask('and now?');
    assert.equal(heard, ['and now?']);
    client.end();
  });
}

test.run();
