/** The servers that sockets.ts measures with, in a process of their own: a hub, a bare WebSocket, and socket.io. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type HubClient, type HubServerOptions, serveHub } from 'hub-protocol-client/hub';
import { WebSocketServer } from 'ws';
import { serveSocketIo } from './peers/index.js';

/** What the parent sends first. */
export interface Wanted {
  readonly tls: NonNullable<HubServerOptions['tls']>;
  readonly password: string;
  readonly accessKeys: readonly string[];
}

/** What it gets: the addresses, and the PSK in hexadecimal. */
export interface Served {
  readonly hub: string;
  readonly ws: string;
  readonly socketIo: string;
  readonly psk: string;
}

process.once('message', async ({ tls, password, accessKeys }: Wanted) => {
  const nodeId = 'hub-1';
  const psk = derivePsk({ crypto, password, nodeId });
  const clients = new Map(accessKeys.map((accessKey): [string, HubClient] => [accessKey, { psk }]));
  const maxConnections = 2 * accessKeys.length; // those of the round before may still be closing
  const hub = await serveHub({ nodeId, tls, clients, maxConnections, staticKey: randomBytes(32) });

  const bare = createServer(tls);
  // As the hub does for a question, it reads JSON, and answers with two messages like it.
  new WebSocketServer({ server: bare }).on('connection', (socket) =>
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      for (const type of ['speak', 'ovos.utterance.handled'])
        socket.send(JSON.stringify({ ...message, type }));
    }),
  );
  const socketIo = createServer(tls);
  serveSocketIo(socketIo);
  const served: Served = {
    hub: hub.url,
    ws: `wss://localhost:${await listen(bare)}`,
    socketIo: `https://localhost:${await listen(socketIo)}`,
    psk: Buffer.from(psk).toString('hex'),
  };
  process.on('message', () => process.send!('settled'));
  process.send!(served);
});

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
