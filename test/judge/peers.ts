/** A client and a hub over this library for live mode: they send back every message, and keep their keys. */
import type { AddressInfo } from 'node:net';
import WebSocket, { WebSocketServer } from 'ws';
import { hexToBytes, utf8ToBytes } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { authorizedUrl } from '../../src/identity/authorized-url.ts';
import { type HubOptions, HubSession, type HubSessionEvent } from '../../src/index.ts';
import { type ClientOptions, ClientSession, type SessionEvent } from '../../src/parts.ts';

export const NODE_ID = 'judge';
export const PASSWORD = 'correct horse battery staple';

export interface Faults<Options> {
  /** Options of each session, in place of its own. */
  options?: (own: Options) => Partial<Options>;
  /** The PSK that a client has for every hub. */
  psk?: Uint8Array;
  /** Does not close connections. */
  stays?: true;
  /** Of the WebSocket of a client. */
  socket?: WebSocket.ClientOptions;
  /** Changes what the library of WebSockets does. */
  tune?: (socket: WebSocket) => void;
  /** Changes JSON that is sent back. */
  write?: (text: string) => string;
  /** Sends no message back. */
  silent?: true;
  /** Changes what is sent. */
  change?: (data: string | Uint8Array) => string | Uint8Array;
}

/** What is running, and how to stop it. */
export interface Peer {
  readonly url: string;
  stop(): void;
}

/** The PSK of the password, by argon2-cffi. */
const DERIVED = '0f6fc86158335f2dc5ff6266a1b76b0af743847ad7577bd5ac3b089e63c0f043';
export const SHARED_PSK: Uint8Array = hexToBytes(DERIVED)!;

/** The PSK for a hub. Those of other hubs are stand-ins, and take time as a derived one does, but no work. */
export function pskFor(nodeId: string): Uint8Array {
  if (nodeId === NODE_ID) return SHARED_PSK;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  return nodeCrypto.sha256(utf8ToBytes(nodeId));
}

/** Doubles with each connection that ends before the other side has said anything. In milliseconds. */
export class Pause {
  #next = 0;

  after(state: string): number {
    this.#next = state === 'awaiting-hello' ? Math.min(Math.max(50, 2 * this.#next), 100) : 0;
    return this.#next;
  }
}

function handle(
  session: ClientSession | HubSession,
  socket: WebSocket,
  events: (SessionEvent | HubSessionEvent)[],
  {
    stays,
    silent,
    change = (data) => data,
    write = (text) => text,
  }: Pick<Faults<unknown>, 'stays' | 'silent' | 'change' | 'write'>,
): void {
  for (const event of events) {
    if (event.type === 'transmit') socket.send(change(event.data));
    if (event.type === 'close' && !stays) socket.close(event.code);
    if (event.type === 'message' && !silent) {
      const messages =
        event.kind === 'json' ? session.sendJson(write(event.text)) : session.sendBinary(event.bytes);
      for (const message of messages) socket.send(message);
    }
  }
}

/** What is stored of hubs, as in a keyring. */
export function entriesOf(
  keys: ReadonlyMap<string, Uint8Array>,
  suspects: ReadonlySet<string> = new Set(),
): { nodeId: string; key: Uint8Array; isSuspect: boolean }[] {
  return Array.from(keys, ([nodeId, key]) => ({ nodeId, key, isSuspect: suspects.has(nodeId) }));
}

/** Starts a client that connects to the hub at this address, again after each close. */
export function startClient(
  address: string,
  accessKey: string,
  siteId: string,
  faults: Faults<ClientOptions> = {},
): Peer {
  const url = authorizedUrl(address, 'test', accessKey, { allowPlaintext: true });
  const staticKey = randomBytes(32);
  const pins = new Map<string, Uint8Array>();
  const suspects = new Set<string>();
  const psks = new Map<string, Uint8Array>();
  const pause = new Pause();
  let isOver = false;
  const dial = (): void => {
    if (isOver) return;
    const socket = new WebSocket(url, faults.socket);
    socket.once('open', () => faults.tune?.(socket));
    const own = {
      crypto: nodeCrypto,
      siteId,
      randomBytes,
      keyring: { staticKey, pins: entriesOf(pins, suspects), psks: entriesOf(psks) },
    };
    const session = new ClientSession({ ...own, ...faults.options?.(own) });
    const take = (events: SessionEvent[]): void => {
      for (const event of events) {
        if (event.type === 'pin') pins.set(event.nodeId, event.key);
        if (event.type === 'pin') suspects.delete(event.nodeId);
        if (event.type === 'pin-suspect') suspects.add(event.nodeId);
        if (event.type === 'psk-suspect') psks.delete(event.nodeId);
        if (event.type !== 'psk-needed') continue;
        const psk = faults.psk ?? pskFor(event.nodeId);
        psks.set(event.nodeId, psk);
        const answer = session.providePsk(psk);
        handle(session, socket, answer, faults);
      }
    };
    socket.on('message', (data, isBinary) => {
      const events = session.receive(isBinary ? (data as Buffer) : data.toString());
      take(events);
      handle(session, socket, events, faults);
    });
    socket.on('error', () => {});
    socket.on('close', (code, reason) => {
      const wait = pause.after(session.state);
      take(session.closed({ code, reason: reason.toString() }));
      setTimeout(dial, wait);
    });
  };
  dial();
  return {
    url,
    stop() {
      isOver = true;
    },
  };
}

/** Starts a hub with one client. */
export async function startHub(accessKey: string, faults: Faults<HubOptions> = {}): Promise<Peer> {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: ({ req }, admit) => admit(accessKeyOf(req.url!) === accessKey, 401),
  });
  const staticKey = randomBytes(32);
  let clientKey: Uint8Array | undefined;
  server.on('connection', (socket) => {
    faults.tune?.(socket);
    const own = { crypto: nodeCrypto, nodeId: NODE_ID, staticKey, randomBytes, psk: SHARED_PSK, clientKey };
    const session = new HubSession({ ...own, ...faults.options?.(own) });
    socket.on('message', (data, isBinary) => {
      const events = session.receive(isBinary ? (data as Buffer) : data.toString());
      for (const event of events) if (event.type === 'pin') clientKey = event.key;
      handle(session, socket, events, faults);
    });
    socket.on('error', () => {});
    handle(session, socket, session.start(), faults);
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

function accessKeyOf(url: string): string {
  const authorization = new URL(url, 'ws://hub').searchParams.get('authorization') ?? '';
  return Buffer.from(authorization, 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
}

/** How often something waits as long as it may: counted, and not measured. */
export async function waitsOf(milliseconds: number, call: () => Promise<unknown>): Promise<number> {
  const { setTimeout } = globalThis;
  let count = 0;
  const counting = (run: () => void, delay?: number): NodeJS.Timeout => {
    if (delay === milliseconds) count++;
    return setTimeout(run, delay);
  };
  globalThis.setTimeout = Object.assign(counting, setTimeout);
  try {
    await call();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  return count;
}
