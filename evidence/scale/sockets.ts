/**
 * What a program pays for a client over TLS, beside a bare WebSocket of `ws` and beside socket.io: its start, a connection, a question,
 * and a thousand clients that dial at once, as after a restart of their hub. The hub is another process of the same Node.js.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import module from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildUtterance, createKeyring, type Keyring, parseIdentity } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { type Client, connect } from 'hub-protocol-client';
import { WebSocket } from 'ws';
import { localhostCertificate } from '../../cli/src/certificate.ts';
import { awaited, type Contender } from './paired.ts';
import { dialSocketIo } from './peers/index.js';
import { compare, type Row } from './rows.ts';
import type { Served } from './socket-server.ts';

const CLIENTS = 1000;
const PASSWORD = 'one for all clients, so that the PSK is derived once';
const clock = (): number => performance.now();
const accessKeyOf = (i: number): string => `kiosk-${i}`;

/** What stays open until it is closed. */
type Close = () => void;
type Dial = (i: number) => Promise<Close>;
/** Options of a client, and of `ws`. */
type Socket = { readonly ca: string } | { readonly agent: Agent };

interface World {
  readonly ca: string;
  readonly served: Served;
  /** Waits until the servers answer, so that they have done most of their work. */
  settle(): Promise<unknown>;
}

/** Runs work beside a process that serves a hub, a bare WebSocket, and socket.io. */
async function withHub<T>(work: (world: World) => Promise<T>): Promise<T> {
  const { ca, ...tls } = await localhostCertificate();
  const path = fileURLToPath(new URL('socket-server.ts', import.meta.url));
  // In Bun the hub runs in Node.js all the same: the client is what is compared.
  const execPath = process.versions.bun === undefined ? process.execPath : 'node';
  const child: ChildProcess = fork(path, { execPath, execArgv: ['--import', 'tsx'] });
  const keys = Array.from({ length: CLIENTS }, (_, i) => accessKeyOf(i));
  child.send({ tls, password: PASSWORD, accessKeys: keys });
  const [served] = (await once(child, 'message')) as [Served];
  const settle = (): Promise<unknown> => {
    child.send('settle');
    return once(child, 'message');
  };
  try {
    return await work({ ca, served, settle });
  } finally {
    child.kill();
  }
}

function identityTextOf(i: number, { served }: World): string {
  return JSON.stringify({
    ...{ access_key: accessKeyOf(i), password: PASSWORD, site_id: 'lobby' },
    data_plane_endpoints: { wss: served.hub },
  });
}

/** Clients that keep what they learn, so that every connection but the first is a reconnect. */
function clientsOf(world: World, socket: Socket = { ca: world.ca }): (i: number) => Promise<Client> {
  const keyrings: Keyring[] = [];
  return async (i) => {
    keyrings[i] ??= createKeyring({
      ...{ accessKey: accessKeyOf(i), staticKey: randomBytes(32), crypto: nodeCrypto },
    });
    const client = connect({
      identity: parseIdentity(identityTextOf(i, world)),
      socket,
      keyring: {
        load: () => keyrings[i]!,
        update: (change) => {
          keyrings[i] = change(keyrings[i]!);
        },
      },
      derive: async () => Uint8Array.from(Buffer.from(world.served.psk, 'hex')),
    });
    await new Promise((resolve) => client.on('connect', resolve));
    return client;
  };
}

async function openWebSocket(world: World, options: Socket = { ca: world.ca }): Promise<WebSocket> {
  const socket = new WebSocket(world.served.ws, options);
  await once(socket, 'open');
  return socket;
}

/** The same three for all measurements. */
function dialsOf(world: World): readonly { readonly name: string; readonly dial: Dial }[] {
  const connectClient = clientsOf(world);
  return [
    {
      name: 'hub-protocol-client',
      dial: async (i) => {
        const client = await connectClient(i);
        return () => client.end();
      },
    },
    {
      name: 'ws',
      dial: async () => {
        const socket = await openWebSocket(world);
        return () => socket.terminate();
      },
    },
    {
      name: 'socket.io',
      dial: async () => {
        const socket = await dialSocketIo(world.served.socketIo, world.ca);
        return () => socket.disconnect();
      },
    },
  ];
}

/** A connection, and a question with its answer. */
export function conversations(): Promise<Row[]> {
  return withHub(async (world) => {
    const rows: Row[] = [];
    const socketIo = await dialSocketIo(world.served.socketIo, world.ca);
    const reconnected = async (): Promise<void> => {
      socketIo.disconnect();
      await socketIo.reconnect();
    };
    // As a program that runs: the same client, hub and certificate. The client resumes TLS by itself, ws with an agent.
    const { ca } = world;
    for (const [i, [what, own, ofWs]] of [
      ['a reconnect with a whole TLS handshake', { agent: new Agent({ ca, maxCachedSessions: 0 }) }, { ca }],
      ['a reconnect that resumes TLS', { ca }, { agent: new Agent({ ca }) }],
    ].entries() as Iterable<[number, [string, Socket, Socket]]>) {
      const known = await clientsOf(world, own)(i);
      let connected = (): void => {};
      known.on('connect', () => connected());
      const ours = awaited(() => {
        known.end();
        known.resume();
        return new Promise<void>((resolve) => {
          connected = resolve;
        });
      }, clock);
      const bare = awaited(async () => (await openWebSocket(world, ofWs)).close(), clock);
      const peers = [{ name: 'ws', time: bare }];
      if (i === 0) peers.push({ name: 'socket.io', time: awaited(reconnected, clock) });
      rows.push(...(await compare(what, ours, peers, 8, 50)));
      known.end();
    }

    const client = await clientsOf(world)(2);
    const socket = await openWebSocket(world);
    let [replies, answered] = [0, (): void => {}];
    socket.on('message', (data) => {
      JSON.parse(String(data));
      if (++replies % 2 === 0) answered();
    });
    const asked = await compare(
      'a question and its answer over TLS',
      awaited(() => client.ask('hello'), clock),
      [
        {
          name: 'ws',
          time: awaited(() => {
            socket.send(JSON.stringify(buildUtterance({ text: 'hello', requestId: randomUUID() })));
            return new Promise<void>((resolve) => {
              answered = resolve;
            });
          }, clock),
        },
        { name: 'socket.io', time: awaited(() => socketIo.emitWithAck('ask', 'hello'), clock) },
      ],
      8,
      50,
    );
    client.end();
    socket.terminate();
    socketIo.disconnect();
    return [...rows, ...asked];
  });
}

/** All clients at once, until the last of them is ready. */
export function storm(): Promise<Row[]> {
  return withHub(async (world) => {
    const dials = dialsOf(world);
    const all = (dial: Dial): Promise<Close[]> =>
      Promise.all(Array.from({ length: CLIENTS }, (_, i) => dial(i)));
    const closed = async (closes: readonly Close[]): Promise<void> => {
      for (const close of closes) close();
      await world.settle();
    };
    for (const { dial } of dials) await closed(await all(dial)); // of ours, the first contact
    const [ours, ...peers] = dials.map(({ name, dial }): Contender => {
      const time = async (count: number): Promise<number> => {
        let ms = 0;
        for (let i = 0; i < count; i++) {
          const began = clock();
          const closes = await all(dial);
          ms += clock() - began;
          await closed(closes);
        }
        return ms;
      };
      return { name, time };
    });
    const what = `${CLIENTS.toLocaleString('en')} clients over TLS after a restart`;
    return compare(what, ours!.time, peers, 20);
  });
}

const IMPORTS = "import { readFileSync } from 'node:fs';\nconst ca = readFileSync('ca.pem', 'utf8');\n";

/** The time from the start of a program to its first answer, of a client that knows its hub. */
export function start(installed: string): Promise<Row[]> {
  return withHub(async (world) => {
    rmSync(join(installed, 'keyring.json'), { force: true }); // it pins the hub of another engine
    writeFileSync(join(installed, 'ca.pem'), world.ca);
    writeFileSync(join(installed, 'identity.json'), identityTextOf(0, world));
    const kiosk = `${IMPORTS}import { parseIdentity } from 'hub-protocol';
      import { connect } from 'hub-protocol-client';
      const identity = parseIdentity(readFileSync('identity.json', 'utf8'));
      await connect({ identity, socket: { ca }, keyring: 'keyring.json' }).ask('hello');
      process.exit();`;
    const bare = `${IMPORTS}import { WebSocket } from 'ws';
      const socket = new WebSocket('${world.served.ws}', { ca });
      socket.on('open', () => socket.send('{}'));
      socket.on('message', () => process.exit());`;
    const socketIo = `${IMPORTS}import { io } from 'socket.io-client';
      const socket = io('${world.served.socketIo}', { ca, transports: ['websocket'] });
      socket.emit('ask', 'hello', () => process.exit());`;
    for (const [name, program] of Object.entries({ kiosk, bare, socketIo }))
      writeFileSync(join(installed, `${name}.mjs`), program);
    const question = ['ask', 'identity.json', 'hello', '--ca', 'ca.pem', '--keyring', 'keyring.json'];
    const command = ['node_modules/hub-protocol-cli/dist/cli.js', ...question];
    const running = (args: readonly string[], env: { readonly [name: string]: string } = {}) => {
      const options = { cwd: installed, env: { ...process.env, ...env } };
      return awaited(() => promisify(execFile)(process.execPath, args, options), clock);
    };
    await running(command)(1); // derives the PSK, and pins the hub
    const ws = { name: 'ws', time: running(['bare.mjs']) };
    const rows = await compare(
      'a program’s first answer over TLS',
      running(['kiosk.mjs']),
      [ws, { name: 'socket.io', time: running(['socketIo.mjs']) }],
      10,
    );
    rows.push(...(await compare('first answer of `hub-protocol ask`', running(command), [ws], 7)));
    const cache = { NODE_COMPILE_CACHE: join(installed, 'compiled') };
    const cached = 'first answer, with a compile cache';
    if (!('enableCompileCache' in module))
      rows.push({ what: cached, beside: 'ws, too' }); // an empty cell: this Node.js has none
    else
      rows.push(
        ...(await compare(
          cached,
          running(['kiosk.mjs'], cache),
          [{ name: 'ws, too', time: running(['bare.mjs'], cache) }],
          10,
        )),
      );
    return rows;
  });
}
