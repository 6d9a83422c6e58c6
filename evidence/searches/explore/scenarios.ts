/** Where the searches begin: what a client has stored, what its hub knows, and how they are connected. */
import { createKeyring, type Keyring, storePsk, updateKeyring } from '../../../src/index.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';

export const NODE_ID = 'hub-1';

/** A key from a name. */
export function keyOf(name: string): Uint8Array {
  return toyCrypto.sha256(Buffer.from(name));
}

export const CLIENT_STATIC: Uint8Array = keyOf('client');
export const CLIENT_KEY: Uint8Array = toyCrypto.x25519.publicKey(CLIENT_STATIC);
export const HUB_STATIC: Uint8Array = keyOf('hub');
export const HUB_KEY: Uint8Array = toyCrypto.x25519.publicKey(HUB_STATIC);
export const IMPOSTOR_STATIC: Uint8Array = keyOf('impostor');
export const PSK: Uint8Array = keyOf('psk');
/** What an impostor uses who does not know the password. */
export const GUESSED_PSK: Uint8Array = keyOf('a guessed psk');
const OTHER_PSK = keyOf('another psk');

export interface Scenario {
  readonly name: string;
  readonly overMqtt?: true;
  readonly keyring: Keyring;
  /** The client's key as the hub has pinned it. */
  readonly pinned?: Uint8Array;
  readonly trust?: 'pinned-only';
  readonly onKkFailure?: 'replace-pin';
  readonly isPaced?: true;
  /** Not even without an attacker is the client connected, unless a person acts. */
  readonly isForPerson?: true;
}

const NEW = createKeyring({ accessKey: 'key', staticKey: CLIENT_STATIC, crypto: toyCrypto });
const pinned = (keyring: Keyring, key: Uint8Array): Keyring =>
  updateKeyring(keyring, { type: 'pin', nodeId: NODE_ID, key: new Uint8Array(key) });
/** The static key is kept elsewhere. */
const ELSEWHERE = createKeyring({ accessKey: 'key', staticKey: { publicKey: CLIENT_KEY } });
const DERIVED = storePsk(NEW, NODE_ID, PSK);
const DERIVED_ELSEWHERE = storePsk(ELSEWHERE, NODE_ID, PSK);
const PROVISIONED = storePsk(NEW, NODE_ID, PSK, { isProvisioned: true });
const KNOWN = pinned(DERIVED, HUB_KEY);
const KNOWN_PROVISIONED = pinned(PROVISIONED, HUB_KEY);
export const OLD_KEY: Uint8Array = toyCrypto.x25519.publicKey(keyOf('old hub'));
const KNOWN_OF_TWO = updateKeyring(KNOWN, { type: 'pin', nodeId: 'hub-2', key: new Uint8Array(OLD_KEY) });

export const SCENARIOS: readonly Scenario[] = [
  { name: 'first contact', keyring: NEW },
  { name: 'known hub', keyring: KNOWN, pinned: CLIENT_KEY },
  { name: 'known hub, pinned hubs only', keyring: KNOWN, pinned: CLIENT_KEY, trust: 'pinned-only' },
  {
    name: 'known hub, pins replaced',
    keyring: KNOWN_PROVISIONED,
    pinned: CLIENT_KEY,
    onKkFailure: 'replace-pin',
  },
  { name: 'new hub key', keyring: pinned(PROVISIONED, OLD_KEY), pinned: CLIENT_KEY, isForPerson: true },
  {
    name: 'new hub key, pins replaced',
    keyring: pinned(PROVISIONED, OLD_KEY),
    pinned: CLIENT_KEY,
    onKkFailure: 'replace-pin',
  },
  { name: 'stale PSK', keyring: pinned(storePsk(NEW, NODE_ID, OTHER_PSK), HUB_KEY), pinned: CLIENT_KEY },
  { name: 'hub knows another client key', keyring: DERIVED, pinned: OLD_KEY, isForPerson: true },
  { name: 'unknown hub, pinned hubs only', keyring: DERIVED, trust: 'pinned-only', isForPerson: true },
  { name: 'key kept elsewhere', keyring: pinned(DERIVED_ELSEWHERE, HUB_KEY), pinned: CLIENT_KEY },
  { name: 'key kept elsewhere, first contact', keyring: DERIVED_ELSEWHERE },
  { name: 'paced, first contact', keyring: NEW, isPaced: true },
  { name: 'paced, one hub of two', keyring: KNOWN_OF_TWO, pinned: CLIENT_KEY, isPaced: true },
  { name: 'paced, key kept elsewhere', keyring: DERIVED_ELSEWHERE, isPaced: true },
  { name: 'first contact, provisioned, MQTT', keyring: PROVISIONED, overMqtt: true },
  {
    name: 'new hub key, MQTT',
    keyring: pinned(PROVISIONED, OLD_KEY),
    pinned: CLIENT_KEY,
    overMqtt: true,
    isForPerson: true,
  },
  { name: 'known hub, provisioned, MQTT', keyring: KNOWN_PROVISIONED, pinned: CLIENT_KEY, overMqtt: true },
];

/** What a client stores, as a short text. */
export function storedLabel({ pins, psks, staticKeyIsFresh }: Keyring): string {
  const psk = psks.map(({ key, isProvisioned, isSuspect }) => `${short(key)}${isProvisioned}${isSuspect}`);
  const pin = pins.map(({ key, isSuspect = false }) => `${short(key)}${isSuspect}`);
  return `${pin}/${psk}/${staticKeyIsFresh}`;
}

export function short(key: Uint8Array): string {
  return `${key[0]}.${key[1]}`;
}
