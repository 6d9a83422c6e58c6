/**
 * `hub-protocol-client/react-native`: a client in an app, with React Native's WebSocket. The app brings the storage of the keyring,
 * `globalThis.crypto.getRandomValues`, and the derivation of the PSK, since it has no workers. docs/guides/react-native.md has all three.
 */
import { LocalError } from 'hub-protocol';
import type { Client } from './client.ts';
import { KeyringText, type TextStorage } from './keyring-storage.ts';
import type { ConnectOptions, Derive, KeyringStore } from './options.ts';
import { connectByWebSocket } from './page-socket.ts';
import { ANY, CONNECT, readKinds, STORE } from './read-options.ts';

export type { Client } from './client.ts';
export { type AsyncTextStorage, openKeyring, type TextStorage } from './keyring-storage.ts';
export type * from './options.ts';

/** The options of `connect` in React Native. */
export interface ReactNativeOptions extends ConnectOptions {
  /** Where the keyring is kept as text: storage that the device encrypts, without promises (default: none, which needs `keyring`). */
  storage?: TextStorage | undefined;
  /** The store of the keyring (default: in `storage`), such as `await openKeyring(accessKey, storage)`, where `storage` has promises. */
  keyring?: KeyringStore | undefined;
  /** Derives the PSK. Do it in native code: in JavaScript it would stop the app for half a minute. */
  derive: Derive;
}

/**
 * Connects to the hub of an identity, and stays connected until `end` is called.
 * @param options - the identity, where to keep the keyring, and what may differ from the defaults
 * @returns the client. It connects once the code that called this has ended, so listeners that you add at once hear everything
 * @throws LocalError if the hub must not be used, `keyring-…` if the keyring cannot be read; any error of the storage
 * @example
 * import { derivePsk, parseIdentity } from 'hub-protocol';
 * import { jsCrypto as crypto } from 'hub-protocol/js';
 * import { connect } from 'hub-protocol-client/react-native';
 *
 * const identity = parseIdentity({ access_key: 'kiosk-7', password: 'correct horse', default_master: 'wss://hub.example' });
 * const items = new Map<string, string>(); // in an app: storage that the device encrypts
 * const client = connect({
 *   identity,
 *   storage: { getItem: (name) => items.get(name) ?? null, setItem: (name, text) => void items.set(name, text) },
 *   derive: async (password, salt) => derivePsk({ crypto, password, salt }), // in an app: in native code
 * });
 * client.on('connect', ({ nodeId }) => console.log('connected to', nodeId));
 * client.on('ask', ({ advice }) => console.error(advice)); // only a person can help
 * client.on('end', () => console.log('ended')); // ended
 * client.end(); // when the program ends
 */
export function connect(options: ReactNativeOptions): Client {
  const given = readKinds(options, 'options', { ...CONNECT, storage: ANY, keyring: STORE });
  const { identity, storage, derive } = given;
  if (derive === undefined) {
    throw new LocalError(
      'bad-argument',
      '"derive" expected a function: an app has no worker that derives the PSK',
    );
  }
  const keyring = given.keyring ?? new KeyringText(identity.accessKey, storage);
  return connectByWebSocket(given, { keyring, derive });
}
