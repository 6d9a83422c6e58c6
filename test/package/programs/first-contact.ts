// A program of a user, compiled and run in an empty folder: first contact over a WebSocket.
import { derivePsk, HubSession, type HubSessionEvent } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { ClientSession, type SessionEvent } from 'hub-protocol/parts';
import { WebSocket, WebSocketServer } from 'ws';

const password = 'correct horse';
const psk = derivePsk({ crypto, password, nodeId: 'hub-1' });

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 }, connect);
server.on('connection', (socket) => {
  const hub = new HubSession({ crypto, randomBytes, nodeId: 'hub-1', staticKey: randomBytes(32), psk });
  const handle = (event: HubSessionEvent): void => {
    if (event.type === 'transmit') socket.send(event.data);
    if (event.type === 'message' && event.kind === 'json') {
      for (const data of hub.sendJson({ echo: event.text })) socket.send(data);
    }
  };
  socket.on('message', (data: Buffer, isBinary) => {
    hub.receive(isBinary ? new Uint8Array(data) : data.toString()).forEach(handle);
  });
  hub.start().forEach(handle);
});

function connect(): void {
  const { port } = server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  const client = new ClientSession({
    crypto,
    randomBytes,
    siteId: 'lobby',
    keyring: { staticKey: randomBytes(32) },
  });
  const handle = (event: SessionEvent): void => {
    if (event.type === 'transmit') socket.send(event.data);
    if (event.type === 'psk-needed') {
      client.providePsk(derivePsk({ crypto, password, salt: event.salt })).forEach(handle);
    }
    if (event.type === 'ready') for (const data of client.sendJson({ say: 'hello' })) socket.send(data);
    if (event.type === 'message' && event.kind === 'json') {
      console.log('the hub says', event.text);
      socket.close();
      server.close();
    }
    if (event.type === 'close') throw event.error;
  };
  socket.on('message', (data: Buffer, isBinary) => {
    client.receive(isBinary ? new Uint8Array(data) : data.toString()).forEach(handle);
  });
}
