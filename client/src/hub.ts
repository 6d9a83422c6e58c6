/** `hub-protocol-client/hub`: a hub over WebSocket for Node.js, with `ws`. docs/guides/hub.md has a whole program. */
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket as TcpSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import { LocalError, readAuthorization } from 'hub-protocol';
import { type Account, costOf } from './account.ts';
import {
  type Caller,
  callerOf,
  type HubConnection,
  SERVED,
  ServedConnection,
  type ServedOptions,
  type Shared,
  share,
  tellUnknown,
} from './hub-connection.ts';
import { type CountedSocket, LIMITS, watchArriving } from './pieces.ts';
import { COUNT, NAME, PAIR, PORT, readKinds, TIME, within } from './read-options.ts';
import { keepAlive } from './ws.ts';
import ws from './ws-on-node.cts';

export { deriveInWorker as derive } from './derive-on-node.ts';
export type {
  HubClient,
  HubClients,
  HubConnection,
  HubConnectionEvent,
  ServedOptions,
} from './hub-connection.ts';
export type { HubReport } from './reports.ts';

/** The options of a hub over WebSocket. */
export interface WebSocketHubOptions extends ServedOptions {
  /**
   * The most connections of known clients at a time (default 750: with 150 sockets whose request has not come, and 50 that are refused, they fit
   * the 1024 descriptors that many systems give a program; with more connections, a fifth as many sockets may wait, and instead of connections
   * that are not there as many more as a quarter of `maxMemory` has room for, at 32 KiB each). At a further one the
   * oldest gives way that is not ready and has sent nothing; if all are ready, it gets the HTTP status 503, and its client tries again
   * later. Of one access key only the newest that is ready stays.
   */
  maxConnections?: number | undefined;
  /** The most connections of one access key that are not ready (default 4). At a further one the oldest gives way that has sent nothing. */
  maxConnectionsPerKey?: number | undefined;
  /** The time between pings, in milliseconds (default 30 000). A connection ends that does not answer one before the next, and takes nothing of what was sent before it. */
  pingEvery?: number | undefined;
}

/** The options of a hub with a server of its own. */
export interface HubServerOptions extends WebSocketHubOptions {
  /** The server's certificate (default: none. Anyone on the network path can then read the access keys: only for a server behind a TLS proxy). */
  tls?:
    | {
        /** Its private key as PEM. */
        key: string;
        /** The certificate as PEM, with those between it and the authority. */
        cert: string;
      }
    | undefined;
  /** The port (default: any that is free). */
  port?: number | undefined;
  /** The address to listen at (default 127.0.0.1: only programs on this machine can connect). `0.0.0.0` is every IPv4 address. */
  host?: string | undefined;
}

/** A hub without a server. */
export interface Hub {
  /**
   * Takes a request for a WebSocket: pass this function to the event `upgrade` of an HTTP server.
   * @param request - the request
   * @param socket - its socket
   * @param head - what has arrived after the request
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The connections of known clients, also those that are not ready yet. */
  readonly connections: ReadonlySet<HubConnection>;
  /** Drops all connections silently, as a network does. */
  cut(): void;
  /** Drops all connections, tells the end of each, and accepts no more. */
  stop(): Promise<void>;
}

/** A hub with a server of its own. */
export interface HubServer extends Hub {
  /** The address on this machine, `wss://localhost:…` with TLS. */
  readonly url: string;
  /**
   * Uses another certificate from the next connection on, since the present one expires.
   * @param tls - the new one
   * @throws LocalError `wrong-state` if the hub has no TLS; `bad-argument`
   */
  renew(tls: NonNullable<HubServerOptions['tls']>): void;
}

/** The part of a WebSocket of `ws` that a hub needs. */
type Socket = Parameters<typeof keepAlive>[0] &
  CountedSocket & {
    readonly bufferedAmount?: number;
    send(data: string | Uint8Array): void;
    close(code?: number, reason?: string): void;
    on(
      event: 'message',
      listener: (data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean) => void,
    ): unknown;
    on(event: 'close', listener: (code: number) => void): unknown;
  };

const OPTIONS = { ...SERVED, maxConnections: COUNT, maxConnectionsPerKey: COUNT, pingEvery: TIME };
const SERVER_OPTIONS = { ...OPTIONS, tls: within(PAIR), port: PORT, host: NAME };

/** No WebSocket message is longer than the maximum of a cleartext envelope. */
const MAX_PAYLOAD = 256 * 1024;
const MAX_CONNECTIONS = 750;
const MAX_PER_KEY = 4;
/** How many sockets are told with the close code 1008 that their access key is not known, at a time: a page cannot see the status 401. */
const MAX_STRANGERS = 32;
/** How many sockets may have sent no whole request, or wait for the answer to it, beside as many connections as there may be. */
const openingsOf = ({ maxConnections = MAX_CONNECTIONS }: WebSocketHubOptions): number =>
  Math.max(150, Math.floor(maxConnections / 5));
/** How long they may, in milliseconds. */
const OPENING_TIMEOUT = 10_000;
/** What such a socket costs at most, in bytes: 16 KiB of headers, and about as much for TLS. */
const OPENING_COST = 32 * 1024;
/** What a server takes beyond those: strangers, and some that are just being refused. */
const MORE_SOCKETS = 50;

/**
 * Makes a hub for an HTTP server of your own.
 * @param options - the clients, what to do with their messages, and limits
 * @returns the hub, whose `upgrade` the server calls
 * @throws LocalError `bad-argument` for options that do not exist or are out of range; as the constructor of HubSession, for `nodeId`,
 *   `staticKey` and `session`
 */
export function createHub(options: WebSocketHubOptions): Hub {
  return makeHub(readKinds(options, 'options', OPTIONS));
}

/** A hub, and what it shares with its server. */
interface MadeHub extends Hub {
  readonly openings: Openings;
}

function makeHub(options: WebSocketHubOptions): MadeHub {
  const shared = shareSockets(options);
  const least = openingsOf(options);
  const affordable = shared.budget.all / 4 / OPENING_COST;
  // After a restart honest clients wait so, too, and all of them at once.
  const mayOpen = (): number =>
    Math.max(
      least,
      Math.min(least + (options.maxConnections ?? MAX_CONNECTIONS) - connections.size, affordable),
    );
  const openings = new Openings(shared.account, mayOpen);
  const limits = {
    maxPayload: MAX_PAYLOAD,
    ...LIMITS,
    allowSynchronousEvents: false, // one message, then whatever else waits in the event loop
  };
  const sockets = new ws.WebSocketServer({ noServer: true, ...limits });
  const connections = new Set<HubConnection>();
  let strangers = 0;
  /** Why a caller gets no WebSocket; `undefined` if it gets one. */
  const refusalOf = (caller: Caller): string | undefined => {
    if (caller.is === 'known') return shared.admission.hasPlace(caller.accessKey) ? undefined : UNAVAILABLE;
    if (caller.is === 'in-doubt') return UNAVAILABLE;
    return strangers < MAX_STRANGERS ? undefined : '401 Unauthorized';
  };
  const accept = (caller: Caller, socket: Socket): void => {
    if (caller.is === 'unknown') {
      strangers++;
      socket.on('close', () => strangers--);
    }
    const connection = serve(socket, caller, shared, options);
    if (connection === undefined) return;
    connections.add(connection);
    socket.on('close', () => connections.delete(connection));
  };
  const cut = (): void => {
    for (const socket of sockets.clients) socket.terminate();
  };
  const answer = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const caller = await callerOf(readAuthorization(request.url!)?.accessKey, shared);
    openings.delete(socket);
    if (socket.destroyed) return;
    const refusal = refusalOf(caller);
    if (refusal === undefined)
      return sockets.handleUpgrade(request, socket, head, (accepted) => accept(caller, accepted));
    socket.on('finish', () => socket.destroy()); // the client may never close its side
    socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    if (caller.is === 'unknown') tellUnknown(caller.accessKey, shared);
  };
  return {
    openings,
    connections,
    cut,
    async stop() {
      const stopped = new Promise((resolve) => sockets.close(resolve)); // after the last WebSocket has closed
      cut();
      await stopped;
    },
    upgrade(request, socket, head) {
      socket.on('error', () => socket.destroy());
      openings.add(socket);
      answer(request, socket, head).catch((error) => {
        socket.destroy();
        shared.reports.fault(error);
      });
    },
  };
}

const UNAVAILABLE = '503 Service Unavailable';

function shareSockets(options: WebSocketHubOptions): Shared {
  const { maxConnections = MAX_CONNECTIONS, maxConnectionsPerKey = MAX_PER_KEY } = options;
  return share(options, { maxConnections, maxConnectionsPerKey });
}

/** The sockets before they are upgraded. At a further one the oldest gives way. */
class Openings {
  /** What ends each one, the oldest first. */
  readonly #ends = new Map<Duplex, () => void>();
  readonly #account: Account;

  readonly #most: () => number;

  constructor(account: Account, most: () => number) {
    this.#account = account;
    this.#most = most;
  }

  add(socket: Duplex): void {
    const [oldest] = this.#ends.size < this.#most() ? [] : this.#ends.keys();
    oldest?.destroy();
    if (oldest) this.delete(oldest);
    const end = (): void => void socket.destroy();
    const entry = this.#account.open(undefined, { unsent: () => 0, end });
    const late = setTimeout(end, OPENING_TIMEOUT);
    this.#ends.set(socket, () => {
      clearTimeout(late);
      this.#account.close(entry);
    });
    entry.set('arriving', OPENING_COST);
  }

  /** It has sent its request, or has ended. */
  delete(socket: Duplex): void {
    this.#ends.get(socket)?.();
    this.#ends.delete(socket);
  }
}

/**
 * Starts a hub.
 * @param options - the clients, what to do with their messages, where to listen
 * @returns the hub, when it listens
 * @throws LocalError as `createHub`; the system's error, with the `syscall` `listen`, if the port cannot be used
 */
export async function serveHub(options: HubServerOptions): Promise<HubServer> {
  const given = readKinds(options, 'options', SERVER_OPTIONS);
  const { tls, port = 0, host = '127.0.0.1', maxConnections = MAX_CONNECTIONS } = given;
  const { openings, ...hub } = makeHub(given);
  const server = tls === undefined ? createHttpServer() : createServer(tls);
  server.on('request', (_, response) => response.writeHead(426, { Upgrade: 'websocket' }).end());
  server.maxConnections = maxConnections + openingsOf(given) + MORE_SOCKETS;
  const sockets = new Set<TcpSocket>(); // also those on which TLS is not agreed yet
  const byPeer = new Map<string, TcpSocket>();
  server.on('connection', (socket: TcpSocket) => {
    const peer = peerOf(socket);
    sockets.add(socket);
    byPeer.set(peer, socket);
    openings.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      if (byPeer.get(peer) === socket) byPeer.delete(peer);
      openings.delete(socket);
    });
  });
  server.on('upgrade', (request, socket: TcpSocket, head) => {
    openings.delete(byPeer.get(peerOf(socket)) ?? socket); // the one below TLS
    hub.upgrade(request, socket, head);
  });
  await new Promise<void>((resolve, reject) => {
    server.on('listening', resolve).on('error', reject); // such as a port that is in use
    server.listen(port, host);
  });
  const address = server.address() as AddressInfo;
  const literal = host.includes(':') ? `[${host}]` : host; // RFC 3986, section 3.2.2
  const name = /^(?:127\.0\.0\.1|0\.0\.0\.0|::1?)$/.test(host) ? 'localhost' : literal;
  return {
    ...hub,
    url: `${tls === undefined ? 'ws' : 'wss'}://${name}:${address.port}`,
    renew(renewed) {
      if (tls === undefined) throw new LocalError('wrong-state', 'this hub has no TLS: pass the option tls');
      (server as Server).setSecureContext(readKinds(renewed, 'tls', PAIR));
    },
    async stop() {
      const stopped = new Promise((resolve) => server.close(resolve));
      await hub.stop();
      for (const socket of sockets) socket.destroy();
      await stopped;
    },
  };
}

/** The other end of a socket: a TLS socket and the one below have nothing else public in common. */
function peerOf({ remoteAddress, remotePort }: TcpSocket): string {
  return `${remoteAddress} ${remotePort}`;
}

/**
 * Serves one connection that your own server has accepted. An error ends the connection, and `onFault` is called.
 * @param socket - a WebSocket of `ws`, or what behaves like one
 * @param accessKey - what the client says it is; `undefined` if it does not say
 * @param options - as for `createHub`
 * @returns the connection; `undefined` if the client is unknown, or cannot be served, or has closed meanwhile
 * @throws LocalError `bad-argument` for options that do not exist or are out of range, and for nothing else
 */
export async function serveSocket(
  socket: Socket,
  accessKey: string | undefined,
  options: WebSocketHubOptions,
): Promise<HubConnection | undefined> {
  const given = readKinds(options, 'options', OPTIONS);
  const shared = sharedBy.get(options) ?? shareSockets(given);
  sharedBy.set(options, shared);
  let isClosed = false;
  socket.on('close', () => {
    isClosed = true;
  });
  const caller = await callerOf(accessKey, shared);
  return isClosed ? undefined : serve(socket, caller, shared, given);
}

/** The connections that are served with the same object of options share their memory. */
const sharedBy = new WeakMap<WebSocketHubOptions, Shared>();

function serve(
  socket: Socket,
  caller: Caller,
  shared: Shared,
  { pingEvery }: WebSocketHubOptions,
): HubConnection | undefined {
  socket.on('error', () => socket.terminate()); // its message may contain the URL, so it is not logged
  let waiting = 0; // messages, at most
  const connection = ServedConnection.of(caller, shared, {
    write(data) {
      waiting++;
      socket.send(data);
    },
    close: (code, reason) => socket.close(code, reason),
    cut: () => socket.terminate(),
    unsent() {
      const { bufferedAmount = 0 } = socket;
      if (bufferedAmount === 0) waiting = 0;
      return Math.max(bufferedAmount, costOf(0) * waiting);
    },
  });
  if (connection === undefined) return undefined;
  keepAlive(socket, pingEvery);
  watchArriving(socket, connection);
  socket.on('message', (data, isBinary) => connection.receive(isBinary ? (data as Buffer) : data.toString()));
  socket.on('close', (code) => connection.closed(code));
  connection.start();
  return connection;
}
