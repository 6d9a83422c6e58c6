/**
 * `hub-protocol-client/react-native`: a client in an app, with React Native's WebSocket. The app brings the storage of the keyring,
 * `globalThis.crypto.getRandomValues`, and the derivation of the PSK, since it has no workers. docs/guides/react-native.md has all three.
 */
import type { Client } from './client.ts';
import { KeyringText, type TextStorage } from './keyring-storage.ts';
import type { ConnectOptions, Derive } from './options.ts';
import { CONNECT_OPTIONS, readConnectOptions } from './read-options.ts';
import { connectByWebSocket } from './web-socket.ts';

export type { Client } from './client.ts';
export type { TextStorage } from './keyring-storage.ts';
export type * from './options.ts';

/** The options of `connect` in React Native. */
export interface ReactNativeOptions extends ConnectOptions {
  /** The store of the keyring, as text: storage that the device encrypts. */
  storage: TextStorage;
  derive: Derive;
}

/**
 * Connects to the hub of an identity, and stays connected until `end` is called.
 * @throws LocalError if the hub must not be used, `keyring-…` if the keyring cannot be read; any error of the storage
 */
export function connect(options: ReactNativeOptions): Client {
  const given = readConnectOptions(options, { ...CONNECT_OPTIONS, storage: true });
  const { identity, storage, derive } = given;
  return connectByWebSocket(given, { keyring: new KeyringText(identity.accessKey, storage), derive });
}
