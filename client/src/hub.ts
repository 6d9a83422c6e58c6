/** `hub-protocol-client/hub`: a hub over WebSocket for Node.js, with `ws`, that answers utterances. */
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  HubSession,
  type HubSessionEvent,
  type LocalError,
  RemoteError,
  readAuthorization,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { type WebSocket, WebSocketServer } from 'ws';
import { Assistant } from './assistant.ts';

export { deriveInWorker as derive } from './derive-on-node.ts';

export interface HubServerOptions {
  /** The server's key and certificate as PEM. Without it anyone on the network path can read the access keys: only for a server behind a TLS proxy. */
  tls?: { key: string; cert: string } | undefined;
  /** The port on the loopback interface (default: any that is free). */
  port?: number | undefined;
  /** The name of the hub. Every PSK depends on it. */
  nodeId: string;
  /** The hub's X25519 private key, 32 bytes. */
  staticKey: Uint8Array;
  /** The clients by access key. Changes apply to the next connection. */
  clients: Map<string, HubClient>;
  /** Answers an utterance of a client (default: repeats it). */
  answer?: ((utterance: string) => string) | undefined;
  /** Called when the static key of a client is pinned, to store it. */
  onPinned?: ((accessKey: string) => void) | undefined;
  /**
   * Called when a connection ends before it is ready, with the cause and the state that the session was in. A client whose password is
   * wrong is `dropped` in the state `awaiting-message-3`: message 2 shows it to the client, and to nobody else.
   */
  onRefused?: ((error: LocalError | RemoteError, state: HubSession['state']) => void) | undefined;
  /** Called with an error that was thrown while a message was handled. The error ends only that connection. */
  onFault?: ((error: unknown) => void) | undefined;
}

/** What a hub stores of a client. */
export interface HubClient {
  /** 32 bytes: `derivePsk` of the client's password. */
  psk: Uint8Array;
  /** The client's static public key, 32 bytes, which the hub sets at first contact. */
  clientKey?: Uint8Array;
}

export interface HubServer {
  /** The address on this machine, `wss://localhost:…` with TLS. */
  readonly url: string;
  /** Drops all connections silently, as a network does. */
  cut(): void;
  stop(): Promise<void>;
}

/**
 * Starts a hub on the loopback interface.
 * @throws the system's error, with the `syscall` `listen`, if the port cannot be used
 */
export async function serveHub(options: HubServerOptions): Promise<HubServer> {
  const { tls, port = 0 } = options;
  const server = tls === undefined ? createHttpServer() : createServer(tls);
  // No WebSocket message is longer than the maximum of a cleartext envelope.
  const sockets = new WebSocketServer({ server, maxPayload: 256 * 1024 });
  sockets.on('connection', (socket, request) =>
    serveSocket(socket, readAuthorization(request.url!)?.accessKey, options),
  );
  await new Promise<void>((resolve, reject) => {
    sockets.on('listening', resolve).on('error', reject); // events of the server, such as a port that is in use
    server.listen(port, '127.0.0.1');
  });
  const address = server.address() as AddressInfo;
  const cut = (): void => {
    for (const socket of sockets.clients) socket.terminate();
  };
  return {
    url: `${tls === undefined ? 'ws' : 'wss'}://localhost:${address.port}`,
    cut,
    async stop() {
      cut();
      sockets.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Stores a client's key, and returns whether it is the stored one: another may have been stored since the session began. */
export function pin(client: HubClient, key: Uint8Array): boolean {
  client.clientKey ??= key;
  return Buffer.compare(client.clientKey, key) === 0;
}

/**
 * Serves one connection.
 * @param accessKey - what the client says it is; `undefined` if it does not say
 */
export function serveSocket(
  socket: WebSocket,
  accessKey: string | undefined,
  options: HubServerOptions,
): void {
  const { nodeId, staticKey, clients, answer, onPinned, onRefused, onFault } = options;
  socket.on('error', () => socket.terminate()); // its message may contain the URL, so it is not logged
  const client = accessKey === undefined ? undefined : clients.get(accessKey);
  if (accessKey === undefined || client === undefined) {
    socket.close(1008);
    const message =
      accessKey === undefined ? 'it names no access key' : 'this hub does not know its access key';
    onRefused?.(new RemoteError('access-refused', message), 'new');
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
  let isOlder = false;
  let state = session.state; // before the latest input
  const assistant = new Assistant(session, answer);
  const handle = (input: () => HubSessionEvent[]): void => {
    state = session.state;
    try {
      carryOut(input());
    } catch (error) {
      session.closed();
      socket.terminate(); // one client's messages must not end the connections of the others
      onFault?.(error);
    }
  };
  const carryOut = (events: HubSessionEvent[]): void => {
    for (const event of events) {
      if (event.type === 'transmit') socket.send(event.data);
      else if (event.type === 'pin' && !pin(client, event.key)) {
        session.closed(); // ignore messages of this client until the socket is closed
        socket.close(1008);
        const message = 'a faster connection of this access key has pinned another key';
        onRefused?.(new RemoteError('client-key-changed', message), state);
        return;
      } else if (event.type === 'pin') onPinned?.(accessKey);
      else if (event.type === 'close') socket.close(event.code);
      else if (event.type === 'ready') isReady = true;
      else if (event.type === 'ended' && !isReady) {
        const message = 'the client does not speak protocol 3: update it';
        onRefused?.(isOlder ? new RemoteError('protocol-version', message) : event.error, state);
      }
      for (const message of assistant.handle(event)) socket.send(message);
    }
  };
  // Time for a slow client to derive its PSK.
  const deadline = setTimeout(() => {
    if (session.state !== 'ready') socket.terminate();
  }, 120_000);
  socket.on('message', (data, isBinary) => {
    handle(() => session.receive(isBinary ? (data as Buffer) : data.toString()));
    // The session ignores a HANDSHAKE without `noise`.
    const isIgnored = state === 'awaiting-message-1' && session.state === state;
    if (isIgnored && JSON.parse(data.toString()).msg_type === 'shake') isOlder = true;
  });
  socket.on('close', (code) => {
    clearTimeout(deadline);
    handle(() => session.closed(code));
  });
  handle(() => session.start());
}
