/** `hub-protocol-client/browser`: a client in a page, with the browser's WebSocket, and the keyring in localStorage. */
import { authorizedUrl, selectEndpoint } from 'hub-protocol';
import { binaryReader } from 'hub-protocol/binary';
import { jsCrypto as crypto } from 'hub-protocol/js';
import { Client } from './client.ts';
import { deriveInWorker as derive } from './derive-in-browser.ts';
import { KeyringStorage } from './keyring-storage.ts';
import type { Connection, ConnectOptions, KeyringStore, Transport } from './options.ts';

export type { Client } from './client.ts';
export { KeyringStorage } from './keyring-storage.ts';
export type * from './options.ts';

/** What `connect` takes in a browser. */
export interface BrowserOptions extends ConnectOptions {
  /** Where the keyring is kept (default: in localStorage, by the access key). */
  keyring?: KeyringStore | undefined;
}

const PING = { msg_type: 'ping', payload: {} }; // a message, since a browser cannot ping
const randomBytes = (length: number): Uint8Array<ArrayBuffer> =>
  globalThis.crypto.getRandomValues(new Uint8Array(length));

/**
 * Connects to the hub of an identity, and stays connected until `end` is called.
 * @throws LocalError if the hub must not be used, `keyring-…` if the keyring cannot be read; DOMException if the browser
 *   stores nothing
 */
export function connect(options: BrowserOptions): Client {
  const { identity, allowPlaintext, pingEvery = 60_000, userAgent = 'hub-protocol-client' } = options;
  const { url } = selectEndpoint(identity, { supported: ['wss'], allowPlaintext });
  const authorized = authorizedUrl(url, userAgent, identity.accessKey, { allowPlaintext });
  const keyring = options.keyring ?? new KeyringStorage(identity.accessKey);

  function open({ session, send, received, closed }: Connection): Transport {
    const socket = new WebSocket(authorized);
    socket.binaryType = 'arraybuffer';
    const pings = setInterval(() => {
      if (socket.bufferedAmount > 0)
        closed('timeout'); // nothing of the last ping has left: the hub does not read
      else if (session.state === 'ready') send(PING);
    }, pingEvery);
    socket.onmessage = ({ data }) => received(typeof data === 'string' ? data : new Uint8Array(data));
    socket.onclose = ({ code, reason }) => closed({ code, reason });
    return {
      write: (data) => socket.send(data as Uint8Array<ArrayBuffer>),
      close() {
        clearInterval(pings);
        socket.close(); // a browser takes other codes than the session's
      },
    };
  }

  const readBinary = binaryReader(); // browsers inflate asynchronously only
  return new Client(options, { crypto, randomBytes, readBinary, derive, keyring, open });
}
