/**
 * The keyring record: all that a client keeps beside its identity for as long as it has that identity. It is a value:
 * each change answers a new record, to be stored before the next message leaves, and the old one stays as it was.
 *
 *     let keyring = stored === undefined ? createKeyring({ accessKey, staticKey: randomBytes(32) })
 *                                       : parseKeyring(stored, accessKey);
 *     const session = new ClientSession({ crypto, identity, randomBytes, ...keyringOptions(keyring) });
 *     // for each event of the session
 *     const updated = updateKeyring(keyring, event);
 *     if (updated !== keyring) store(serializeKeyring((keyring = updated)));
 *
 * Spec, "Hub connection (protocol v3)", trust on first use.
 */
import {
  assertBytes,
  assertString,
  bytesToHex,
  copyBytes,
  equalBytes,
  hexToBytes,
  utf8Length,
} from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { KEY_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import { isJsonObject, type Json, type JsonObject, ownField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { stringifyJson } from '../wire/write-json.ts';
import type { SessionEvent } from './events.ts';

/** A key that belongs to one hub. */
export interface HubKey {
  readonly nodeId: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

/** One client's keys. It shows nothing of itself in JSON.stringify and in inspection: `serializeKeyring` writes it. */
export interface Keyring {
  /** Whose it is: the access key of the identity. */
  readonly accessKey: string;
  /** The client's static private key; 32 bytes. Hubs pin its public key, so it is made once and never again. */
  readonly staticKey: Uint8Array;
  /** Whether no session was ever ready with the static key. */
  readonly staticKeyIsFresh: boolean;
  /** The static public keys of the hubs, by node id. */
  readonly pins: readonly HubKey[];
  /** The PSKs derived from the identity's password, by node id. */
  readonly psks: readonly HubKey[];
}

/** What a ClientSession takes from a keyring record. */
export interface KeyringOptions {
  staticKey: Uint8Array;
  staticKeyIsFresh: boolean;
  pin: (nodeId: string) => Uint8Array | undefined;
  psk: (nodeId: string) => Uint8Array | undefined;
}

/**
 * The record of a client that has none. Make it once for each access key, never where a stored one cannot be read: a
 * hub that has pinned the key before locks out a client with another.
 * @param options - `accessKey`; `staticKey`: 32 random bytes
 * @throws LocalError `bad-argument`, `bad-length`, `lone-surrogate`
 */
export function createKeyring(options: { accessKey: string; staticKey: Uint8Array }): Keyring {
  const { accessKey, staticKey } = options;
  assertUtf8(accessKey, 'accessKey');
  assertBytes(staticKey, 'staticKey', KEY_LENGTH);
  return record({ accessKey, staticKey: copyBytes(staticKey), staticKeyIsFresh: true, pins: [], psks: [] });
}

/** What to spread into the options of a ClientSession. It answers from this record, whatever later ones hold. */
export function keyringOptions(keyring: Keyring): KeyringOptions {
  const { staticKey, staticKeyIsFresh, pins, psks } = keyring;
  return {
    staticKey,
    staticKeyIsFresh,
    pin: (nodeId) => keyOf(pins, nodeId),
    psk: (nodeId) => keyOf(psks, nodeId),
  };
}

/**
 * What a session's event makes of the record: `pin` and `unpin` change the pins, `psk-suspect` forgets a PSK, and after
 * `ready` the static key is not fresh any more. Where nothing changes, it answers the same object.
 * @throws LocalError `pin-differs` where the hub has another key pinned: the pin stays, and the session must not go on
 */
export function updateKeyring(keyring: Keyring, event: SessionEvent): Keyring {
  const { pins, psks } = keyring;
  switch (event.type) {
    case 'pin': {
      const { nodeId, key } = event;
      const pinned = keyOf(pins, nodeId);
      if (pinned !== undefined && !equalBytes(pinned, key)) {
        throw new LocalError(
          'pin-differs',
          'another key of this hub was pinned in between: close this session, and make sure which hub it is',
        );
      }
      return changed(keyring, { pins: withKey(pins, nodeId, key) });
    }
    case 'unpin':
      return dropPin(keyring, event.nodeId);
    case 'psk-suspect':
      return changed(keyring, { psks: withoutKey(psks, event.nodeId) });
    case 'ready':
      return changed(keyring, { staticKeyIsFresh: false });
    default:
      return keyring;
  }
}

/**
 * Keeps a PSK that was provisioned, or derived at `psk-needed`: the latter once the session is ready, since until then
 * nobody has proved to be the hub of that node id.
 * @param psk - 32 bytes
 * @throws LocalError `bad-argument`, `bad-length`, `lone-surrogate`
 */
export function storePsk(keyring: Keyring, nodeId: string, psk: Uint8Array): Keyring {
  return changed(keyring, { psks: withKey(keyring.psks, nodeId, psk) });
}

/** Forgets all PSKs, as is due whenever the identity's password has changed. */
export function forgetPsks(keyring: Keyring): Keyring {
  return keyring.psks.length === 0 ? keyring : changed(keyring, { psks: [] });
}

/** Drops the pin of a hub that is known to have a new key: a person's decision. */
export function dropPin(keyring: Keyring, nodeId: string): Keyring {
  return changed(keyring, { pins: withoutKey(keyring.pins, nodeId) });
}

/** The record as JSON text, which holds all of its secrets: store it where only this client can read it. */
export function serializeKeyring(keyring: Keyring): string {
  return stringifyJson({
    version: VERSION,
    access_key: keyring.accessKey,
    static_key: bytesToHex(keyring.staticKey),
    static_key_is_fresh: keyring.staticKeyIsFresh,
    pins: writeKeys(keyring.pins),
    psks: writeKeys(keyring.psks),
  });
}

/**
 * Reads a record that was stored. What cannot be read is never taken for absent, since a pin that is absent lets a
 * stranger in and a new static key locks the client out: keep the stored text, and restore it. PSKs alone are left out
 * where they cannot be read; they are derived again.
 * @param input - what `serializeKeyring` wrote, as text or UTF-8 bytes
 * @param accessKey - the identity's, to which the record must belong
 * @throws LocalError `keyring-not-json`; `keyring-version` for a record of another version of this library;
 *   `keyring-field`; `keyring-other-identity`; `bad-argument`. No error shows a value.
 */
export function parseKeyring(input: string | Uint8Array, accessKey: string): Keyring {
  assertString(accessKey, 'accessKey');
  const fields = objectOf(input);
  if (ownField(fields, 'version') !== VERSION) {
    throw new LocalError(
      'keyring-version',
      `the keyring record has another version than ${VERSION}: which program wrote it?`,
    );
  }
  if (!hasOnly(fields, FIELDS)) throw badField('that is unknown, or misspelt');
  const owner = ownField(fields, 'access_key');
  if (typeof owner !== 'string' || owner === '') throw badField('access_key that is no text');
  if (owner !== accessKey) {
    throw new LocalError(
      'keyring-other-identity',
      'the keyring record belongs to another access key: each identity has its own, with its own static key',
    );
  }
  const staticKey = readKey(ownField(fields, 'static_key'));
  if (staticKey === undefined) throw badField('static_key that is no hex of 32 bytes');
  const staticKeyIsFresh = ownField(fields, 'static_key_is_fresh');
  if (typeof staticKeyIsFresh !== 'boolean') throw badField('static_key_is_fresh that is no boolean');
  return record({
    accessKey,
    staticKey,
    staticKeyIsFresh,
    pins: readPins(ownField(fields, 'pins')),
    psks: readPsks(ownField(fields, 'psks')),
  });
}

const VERSION = 1;
const FIELDS = ['version', 'access_key', 'static_key', 'static_key_is_fresh', 'pins', 'psks'];
const ENTRY = ['node_id', 'key'];

function objectOf(input: string | Uint8Array): JsonObject {
  let value: Json | undefined;
  try {
    value = parseJson(input);
  } catch (error) {
    if (error instanceof LocalError) throw error;
  }
  if (isJsonObject(value)) return value;
  throw new LocalError(
    'keyring-not-json',
    'the keyring record is no JSON object in UTF-8: was it written to the end? Restore it',
  );
}

function badField(fault: string): LocalError {
  return new LocalError('keyring-field', `the keyring record has a field ${fault}: restore the record`);
}

function hasOnly(fields: JsonObject, names: string[]): boolean {
  return Object.keys(fields).every((name) => names.indexOf(name) >= 0);
}

/** 32 bytes in hex, or `undefined`. */
function readKey(hex: Json | undefined): Uint8Array | undefined {
  const key = typeof hex === 'string' ? hexToBytes(hex) : undefined;
  return key !== undefined && key.length === KEY_LENGTH ? key : undefined;
}

function readHubKey(entry: Json): HubKey | undefined {
  if (!isJsonObject(entry) || !hasOnly(entry, ENTRY)) return undefined;
  const nodeId = ownField(entry, 'node_id');
  const key = readKey(ownField(entry, 'key'));
  return typeof nodeId === 'string' && nodeId !== '' && key !== undefined ? hubKey(nodeId, key) : undefined;
}

function readPins(entries: Json | undefined): HubKey[] {
  if (!Array.isArray(entries)) throw badField('pins that is no list');
  const pins: HubKey[] = [];
  for (let i = 0; i < entries.length; i++) {
    const pin = readHubKey(entries[i]!);
    if (pin === undefined)
      throw badField('pins with an entry that is not a node_id and a key of 32 bytes in hex');
    if (keyOf(pins, pin.nodeId) !== undefined) throw badField('pins with two keys for one hub');
    pins.push(pin);
  }
  return pins;
}

/** Of two for one hub the first counts; a wrong one is forgotten at its first use. */
function readPsks(entries: Json | undefined): HubKey[] {
  const psks: HubKey[] = [];
  for (let i = 0; Array.isArray(entries) && i < entries.length; i++) {
    const psk = readHubKey(entries[i]!);
    if (psk !== undefined && keyOf(psks, psk.nodeId) === undefined) psks.push(psk);
  }
  return psks;
}

function writeKeys(keys: readonly HubKey[]): Json {
  return keys.map(({ nodeId, key }) => ({ node_id: nodeId, key: bytesToHex(key) }));
}

// Lists, and not objects by node id: a hub may be called __proto__, and few clients have more than one hub.

function keyOf(keys: readonly HubKey[], nodeId: string): Uint8Array | undefined {
  for (let i = 0; i < keys.length; i++) if (keys[i]!.nodeId === nodeId) return keys[i]!.key;
  return undefined;
}

/** The same list where the hub has this key in it. */
function withKey(keys: readonly HubKey[], nodeId: string, key: Uint8Array): readonly HubKey[] {
  assertUtf8(nodeId, 'nodeId');
  assertBytes(key, 'key', KEY_LENGTH);
  const present = keyOf(keys, nodeId);
  if (present !== undefined && equalBytes(present, key)) return keys;
  return withoutKey(keys, nodeId).concat(hubKey(nodeId, copyBytes(key)));
}

/** The same list where the hub is not in it. */
function withoutKey(keys: readonly HubKey[], nodeId: string): readonly HubKey[] {
  return keyOf(keys, nodeId) === undefined ? keys : keys.filter((entry) => entry.nodeId !== nodeId);
}

function hubKey(nodeId: string, key: Uint8Array): HubKey {
  const entry: HubKey = { nodeId, key };
  opaque(entry, () => ({ nodeId }));
  return entry;
}

function record(keyring: Keyring): Keyring {
  opaque(keyring, 'Keyring');
  return keyring;
}

/** The same record where nothing changes. */
function changed(keyring: Keyring, change: Partial<Keyring>): Keyring {
  const { staticKeyIsFresh = keyring.staticKeyIsFresh, pins = keyring.pins, psks = keyring.psks } = change;
  if (staticKeyIsFresh === keyring.staticKeyIsFresh && pins === keyring.pins && psks === keyring.psks) {
    return keyring;
  }
  return record({
    accessKey: keyring.accessKey,
    staticKey: keyring.staticKey,
    staticKeyIsFresh,
    pins,
    psks,
  });
}

/** Checks a text that is to be stored. */
function assertUtf8(text: unknown, name: string): asserts text is string {
  assertString(text, name);
  if (utf8Length(text) < 0) {
    throw new LocalError('lone-surrogate', `"${name}" has a lone surrogate, and so no UTF-8 form`);
  }
}
