/** A client over WebSocket for Node.js. To be copied, with the files that it and `stay-connected.ts` import. */
import { authorizedUrl, selectEndpoint } from 'hub-protocol';
import WebSocket from 'ws';
import type { Client, ClientOptions } from './client-options.ts';
import { keepAlive } from './keep-alive.ts';
import { stayConnected } from './stay-connected.ts';

/** Throws if the hub of the identity must not be used. */
export function startClient(options: ClientOptions): Client {
  const { identity, ca, allowPlaintext, pingEvery } = options;
  const { url } = selectEndpoint(identity, { supported: ['wss'], allowPlaintext });
  // This URL is a secret: it is not logged, and redirects are not followed.
  const authorized = authorizedUrl(url, 'example', identity.accessKey, { allowPlaintext });

  return stayConnected(options, ({ received, closed }) => {
    // No message is longer than a cleartext envelope may be.
    const socket = new WebSocket(authorized, { ca, maxPayload: 256 * 1024 });
    keepAlive(socket, pingEvery);
    socket.on('message', (data, isBinary) => received(isBinary ? (data as Buffer) : data.toString()));
    socket.on('unexpected-response', (_, { statusCode }) => closed({ status: statusCode }));
    socket.on('close', (code, reason) => closed({ code, reason: reason.toString() }));
    return {
      write: (data) => socket.send(data, (error) => error && closed()),
      close: (code) => socket.close(code),
    };
  });
}
