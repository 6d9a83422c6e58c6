/**
 * The connection of an app in React Native: the keyring in the secure storage of the phone, the PSK derived natively. See
 * docs/guides/react-native.md.
 */
import 'react-native-get-random-values'; // first: it makes globalThis.crypto
import * as SecureStore from 'expo-secure-store';
import { parseIdentity } from 'hub-protocol';
import { type Client, connect, type Derive, type TextStorage } from 'hub-protocol-client/react-native';
import { AppState } from 'react-native';
import argon2 from 'react-native-argon2';

/** SecureStore takes names of letters, digits, ".", "-" and "_". */
const nameOf = (name: string): string =>
  name.replace(/[^\w-]/g, (other) => `.${other.charCodeAt(0).toString(16)}.`);

/** iOS keeps these in its keychain; Android encrypts them with a key of its Keystore. */
const storage: TextStorage = {
  getItem: (name) => SecureStore.getItem(nameOf(name)),
  setItem: (name, text) =>
    SecureStore.setItem(nameOf(name), text, {
      keychainAccessible: SecureStore.AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY, // not in a backup: another phone would have the same key
    }),
};

/** Argon2id with the protocol's parameters (docs/reference/protocol.md, P-44), by the phone's own code, since Hermes would take half a minute or more. */
const derive: Derive = async (password, salt) => {
  const hex = Array.from(salt, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const { rawHash } = await argon2(password, hex, {
    ...{ mode: 'argon2id', iterations: 3, memory: 65_536, parallelism: 1, hashLength: 32 },
    saltEncoding: 'hex',
  });
  return Uint8Array.from(rawHash.match(/../g)!, (digits: string) => Number.parseInt(digits, 16));
};

/** @param issued - the identity, as the operator of the hub issued it */
export function connectToHub(issued: string): Client {
  const client = connect({
    identity: parseIdentity(issued),
    storage,
    derive,
    policy: { onKkFailure: 'keep-pin' }, // ask a person before accepting another key of the hub
  });
  // A phone cuts the connections of an app in the background. Back in the foreground, do not wait for the next attempt.
  AppState.addEventListener('change', (state: string) => {
    if (state === 'active' && client.state === 'waiting') client.resume();
  });
  return client;
}
