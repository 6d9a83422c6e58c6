/** A hub over a WebSocket server: HubSession between `ws` and an application that answers requests (`assistant.ts`). */
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { HubSession, type HubSessionEvent } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { type WebSocket, WebSocketServer } from 'ws';
import { Assistant } from './assistant.ts';

export interface HubOptions {
  /** PEM. Without it anyone on the network path can read the access keys: only for a server behind a TLS proxy. */
  tls?: { key: string; cert: string };
  port?: number;
  nodeId: string;
  staticKey: Uint8Array;
  /** By access key: the client's PSK, and its static key once it is pinned. */
  clients: Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>;
  /** Called with clients' utterances. */
  hear?: (utterance: string) => void;
  /** Answers an utterance (default: repeats it). */
  answer?: ((utterance: string) => string) | undefined;
  /** Called when the static key of a client is pinned, to store it. */
  pinned?: (accessKey: string) => void;
  /** Called with the cause when a connection ends before it is ready. */
  refused?: (error: Error & { code?: string }) => void;
  /** Called with an error that was thrown while a message was handled. The error ends only that connection. */
  fault?: (error: unknown) => void;
}

export interface Hub {
  url: string;
  /** Drops all connections silently, as a network does. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startHub(options: HubOptions): Promise<Hub> {
  const { tls } = options;
  const server = tls === undefined ? createHttpServer() : createServer(tls);
  // No WebSocket message is longer than the maximum of a cleartext envelope.
  const sockets = new WebSocketServer({ server, maxPayload: 256 * 1024 });
  sockets.on('connection', (socket, request) => serve(socket, accessKeyOf(request.url ?? ''), options));
  await new Promise<void>((resolve, reject) => {
    sockets.on('listening', resolve).on('error', reject); // events of the server, such as a port that is in use
    server.listen(options.port ?? 0, '127.0.0.1');
  });
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
  const { nodeId, staticKey, clients, hear, answer, pinned, refused, fault } = options;
  socket.on('error', () => socket.terminate()); // its message may contain the URL, so it is not logged
  const client = clients.get(accessKey);
  if (client === undefined) {
    socket.close(1008);
    refused?.(new Error('this hub does not know its access key'));
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

  let isReady = false;
  const assistant = new Assistant(session, hear, answer);
  const handle = (events: HubSessionEvent[]): void => {
    try {
      carryOut(events);
    } catch (error) {
      session.closed();
      socket.terminate(); // one client's messages must not end the connections of the others
      fault?.(error);
    }
  };
  const carryOut = (events: HubSessionEvent[]): void => {
    for (const event of events) {
      if (event.type === 'transmit') socket.send(event.data);
      else if (event.type === 'pin' && !pin(client, event.key)) {
        session.closed(); // ignore messages of this client until the socket is closed
        socket.close(1008); // a faster session of this access key has pinned another key
        return;
      } else if (event.type === 'pin') pinned?.(accessKey);
      else if (event.type === 'close') socket.close(event.code);
      else if (event.type === 'ready') isReady = true;
      else if (event.type === 'ended' && !isReady) refused?.(event.error);
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
  // Strangers choose the path, and `new URL` does not accept all paths.
  const query = new URLSearchParams(url.split('?')[1]);
  const authorization = query.get('authorization') ?? '';
  const text = Buffer.from(authorization.replace(/ /g, '+'), 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}
