/** `hub-protocol-client/browser`: a client in a page, with the browser's WebSocket, and the keyring in localStorage. */
import { LocalError } from 'hub-protocol';
import type { Client } from './client.ts';
import { deriveInWorker } from './derive-in-browser.ts';
import { KeyringStorage } from './keyring-storage.ts';
import type { ConnectOptions, KeyringStore } from './options.ts';
import { connectByWebSocket } from './page-socket.ts';
import { ANY, CONNECT, readKinds, STORE } from './read-options.ts';

export type { Client } from './client.ts';
export { KeyringStorage } from './keyring-storage.ts';
export type * from './options.ts';

/** The options of `connect` in a browser. */
export interface BrowserOptions extends ConnectOptions {
  /** The store of the keyring (default: in localStorage, by the access key). */
  keyring?: KeyringStore | undefined;
}

/**
 * Connects to the hub of an identity, and stays connected until `end` is called.
 * @param options - the identity, where to keep the keyring, and what may differ from the defaults
 * @returns the client. It connects once the code that called this has ended, so listeners that you add at once hear everything
 * @throws LocalError if the hub must not be used, `bad-argument` for the path of a keyring and for `socket`, `keyring-…` if the keyring cannot be read; DOMException if the browser
 *   stores nothing
 * @example
 * import { parseIdentity } from 'hub-protocol';
 * import { connect } from 'hub-protocol-client/browser';
 *
 * const identity = parseIdentity({ access_key: 'kiosk-7', password: 'correct horse', default_master: 'wss://hub.example' });
 * const client = connect({ identity });
 * client.on('connect', ({ nodeId }) => console.log('connected to', nodeId));
 * client.on('ask', ({ advice }) => console.error(advice)); // only a person can help
 * client.on('end', () => console.log('ended')); // ended
 * client.end(); // when the program ends
 */
export function connect(options: BrowserOptions): Client {
  const given = readKinds<BrowserOptions & { ca?: unknown; socket?: unknown }>(options, 'options', {
    ...CONNECT,
    keyring: STORE,
    ca: ANY,
    socket: ANY,
  });
  if (given.ca !== undefined || given.socket !== undefined)
    throw new LocalError(
      'bad-argument',
      'socket: a browser decides itself how it connects, and which authorities it trusts',
    );
  const { keyring = new KeyringStorage(given.identity.accessKey) } = given;
  return connectByWebSocket(given, { keyring, derive: deriveInWorker });
}
