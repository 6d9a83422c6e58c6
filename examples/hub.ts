/** A hub over a WebSocket server: HubSession between `ws` and an application that answers requests (`assistant.ts`). */
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { HubSession, type HubSessionEvent } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { type WebSocket, WebSocketServer } from 'ws';
import { Assistant } from './assistant.ts';

export interface HubOptions {
  /** PEM. Without it everybody on the way reads the access keys: for a server behind a proxy that has TLS. */
  tls?: { key: string; cert: string };
  port?: number;
  nodeId: string;
  staticKey: Uint8Array;
  /** By access key: the client's PSK, and its static key once that is pinned. */
  clients: Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>;
  /** Is called with what clients say. */
  hear?: (utterance: string) => void;
  /** Answers what clients say (default: repeats it). */
  answer?: ((utterance: string) => string) | undefined;
  /** Is called when the static key of a client is pinned, so that it can be stored. */
  pinned?: (accessKey: string) => void;
  /** Is called with what was thrown while a message was handled. It ends that connection alone. */
  fault?: (error: unknown) => void;
}

export interface Hub {
  url: string;
  /** Drops all connections without a word, as a network does. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startHub(options: HubOptions): Promise<Hub> {
  const { tls } = options;
  const server = tls === undefined ? createHttpServer() : createServer(tls);
  // No WebSocket message is longer than a cleartext envelope may be.
  const sockets = new WebSocketServer({ server, maxPayload: 256 * 1024 });
  sockets.on('connection', (socket, request) => serve(socket, accessKeyOf(request.url ?? ''), options));
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets.clients) socket.terminate();
  };
  return {
    url: `${tls === undefined ? 'ws' : 'wss'}://localhost:${port}`,
    cut,
    async stop() {
      cut();
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Stores a client's key, unless another one has been stored since its session began. */
export function pin(client: { clientKey?: Uint8Array }, key: Uint8Array): boolean {
  client.clientKey ??= key;
  return Buffer.compare(client.clientKey, key) === 0;
}

/** Serves one connection. */
export function serve(socket: WebSocket, accessKey: string, options: HubOptions): void {
  const { nodeId, staticKey, clients, hear, answer, pinned, fault } = options;
  socket.on('error', () => socket.terminate()); // its message may contain the URL, so it is not logged
  const client = clients.get(accessKey);
  if (client === undefined) {
    socket.close(1008);
    return;
  }
  const { psk, clientKey } = client;
  const session = new HubSession({
    crypto: nodeCrypto,
    nodeId,
    staticKey,
    randomBytes,
    psk,
    clientKey,
  });

  const assistant = new Assistant(session, hear, answer);
  const handle = (events: HubSessionEvent[]): void => {
    try {
      carryOut(events);
    } catch (error) {
      session.closed();
      socket.terminate(); // what one client sends must not end the connections of the others
      fault?.(error);
    }
  };
  const carryOut = (events: HubSessionEvent[]): void => {
    for (const event of events) {
      if (event.type === 'transmit') socket.send(event.data);
      else if (event.type === 'pin' && !pin(client, event.key)) {
        session.closed(); // what this client sends before the socket is closed is not heard
        socket.close(1008); // a faster session of this access key has pinned another key
        return;
      } else if (event.type === 'pin') pinned?.(accessKey);
      else if (event.type === 'close') socket.close(event.code);
      for (const message of assistant.handle(event)) socket.send(message);
    }
  };
  // Time for a slow client to derive its PSK.
  const deadline = setTimeout(() => {
    if (session.state !== 'ready') socket.terminate();
  }, 120_000);
  socket.on('message', (data, isBinary) =>
    handle(session.receive(isBinary ? (data as Buffer) : data.toString())),
  );
  socket.on('close', (code) => {
    clearTimeout(deadline);
    handle(session.closed(code));
  });
  handle(session.start());
}

/**
 * The access key in `?authorization=base64(<user agent>:<access key>)`. Some clients do not percent-encode the base64, so
 * its + arrives as a space.
 */
export function accessKeyOf(url: string): string {
  // The path is whatever a stranger sends, and not always one that `new URL` takes.
  const query = new URLSearchParams(url.split('?')[1]);
  const authorization = query.get('authorization') ?? '';
  const text = Buffer.from(authorization.replace(/ /g, '+'), 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}
