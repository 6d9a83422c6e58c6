/** Writes keyrings as JSON, to be stored, and reads them: whole, or what changes apart from the static key. */

import { assertString } from '../arguments.ts';
import { type Bytes, bytesToHex, hexToBytes, isZero } from '../bytes.ts';
import type { StaticKey } from '../crypto/crypto.ts';
import { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH } from '../limits.ts';
import { findHub } from '../session/keyring-fields.ts';
import { isJsonObject, type Json, type JsonObject, ownField, ownText } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { stringifyJson } from '../wire/write-json.ts';
import {
  assertKeyring,
  type HubPin,
  type HubPsk,
  hubPsk,
  type Keyring,
  keyringOf,
  staticKeyOf,
} from './keyring.ts';

const VERSION = 1;

/**
 * Writes a keyring as JSON. The string contains every secret of the keyring: store it where only this client can read
 * it, and replace it atomically.
 * @param keyring - the keyring to store
 * @returns the JSON, a secret
 * @throws LocalError `bad-argument` for anything but a keyring
 */
export function serializeKeyring(keyring: Keyring): string {
  assertKeyring(keyring);
  return write(keyring, keyring.staticKey);
}

/**
 * Writes what changes in a keyring as JSON: everything but its static key. A device stores this, and never writes the keyring
 * with the static key again. The string contains the PSKs. To store it, use `nextSlots`.
 * @param keyring - the keyring to store
 * @returns the JSON, a secret, for the third argument of `parseKeyring`
 * @throws LocalError `bad-argument` for anything but a keyring
 */
export function serializeChanges(keyring: Keyring): string {
  assertKeyring(keyring);
  return write(keyring, {});
}

function write(keyring: Keyring, { publicKey, privateKey }: Partial<StaticKey>): string {
  const { accessKey, staticKeyIsFresh, pins, psks } = keyring;
  const fields: JsonObject = { version: VERSION, access_key: accessKey };
  if (privateKey !== undefined) fields.static_key = bytesToHex(privateKey);
  if (publicKey !== undefined) fields.static_public_key = bytesToHex(publicKey);
  fields.static_key_is_fresh = staticKeyIsFresh;
  fields.pins = pins.map(entryOf);
  fields.psks = psks.map((psk) => {
    const entry = entryOf(psk);
    entry.is_provisioned = psk.isProvisioned;
    return entry;
  });
  return stringifyJson(fields);
}

function entryOf({ nodeId, key, isSuspect }: HubPin): JsonObject {
  const entry: JsonObject = { node_id: nodeId, key: bytesToHex(key) };
  if (isSuspect) entry.is_suspect = true;
  return entry;
}

/**
 * Reads a stored keyring. A keyring that cannot be read is an error. Do not treat it as missing: without its pins the
 * client would trust an impostor, and with a new static key it would be locked out. Keep the stored string, and restore
 * it. Only a derived PSK that cannot be read is left out, since it can be derived again.
 * @param input - the result of `serializeKeyring`, as a string or as UTF-8 bytes
 * @param accessKey - the access key of the identity, to which the keyring must belong
 * @param changes - the result of `serializeChanges`, if that is stored apart (default none): only the static key is then read
 *   from `input`
 * @returns the keyring
 * @throws LocalError `keyring-not-json`; `keyring-version` if another version of this library wrote it;
 *   `keyring-field`; `keyring-other-identity`; `bad-argument`. No error shows a value.
 *
 * @example
 * import { createKeyring, LocalError, parseKeyring, serializeKeyring } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const stored = serializeKeyring(createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto }));
 * console.log(parseKeyring(stored, 'kiosk-7').staticKeyIsFresh); // true
 * try {
 *   parseKeyring(stored.slice(1), 'kiosk-7'); // damaged: never make a new one instead
 * } catch (error) {
 *   if (error instanceof LocalError) console.log(error.code); // keyring-not-json
 * }
 */
export function parseKeyring(
  input: string | Uint8Array,
  accessKey: string,
  changes?: string | Uint8Array | undefined,
): Keyring {
  assertString(accessKey, 'accessKey');
  const kept = readFields(input, accessKey);
  const fields = changes === undefined ? kept : readFields(changes, accessKey);
  const staticKeyIsFresh = ownField(fields, 'static_key_is_fresh');
  if (typeof staticKeyIsFresh !== 'boolean') throw errors.badKeyring('static_key_is_fresh is not a boolean');
  return keyringOf({
    accessKey,
    staticKey: readStaticKey(kept),
    staticKeyIsFresh,
    pins: readPins(ownField(fields, 'pins')),
    psks: readPsks(ownField(fields, 'psks')),
  });
}

/** The fields of a stored keyring, which must belong to the access key. */
function readFields(input: string | Uint8Array, accessKey: string): JsonObject {
  const fields = parseObject(input);
  if (ownField(fields, 'version') !== VERSION) {
    throw errors.keyringVersion(VERSION);
  }
  if (
    !hasOnly(fields, [
      'version',
      'access_key',
      'static_key',
      'static_public_key',
      'static_key_is_fresh',
      'pins',
      'psks',
    ])
  ) {
    throw errors.badKeyring('is unknown or misspelt');
  }
  const owner = ownText(fields, 'access_key');
  if (!owner) throw errors.badKeyring('access_key is not a string');
  if (owner !== accessKey) {
    throw errors.otherIdentity();
  }
  return fields;
}

function parseObject(input: string | Uint8Array): JsonObject {
  let value: Json | undefined;
  try {
    value = parseJson(input);
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
  }
  if (isJsonObject(value)) return value;
  throw errors.keyringNotJson(input, value !== undefined);
}

function hasOnly(fields: JsonObject, names: string[]): boolean {
  return Object.keys(fields).every((name) => names.indexOf(name) >= 0);
}

function readStaticKey(fields: JsonObject): StaticKey {
  const privateKey = readStored(fields, 'static_key');
  const publicKey = readStored(fields, 'static_public_key');
  if (publicKey === undefined && privateKey === undefined) {
    throw errors.badKeyring('static_key or static_public_key is missing');
  }
  return staticKeyOf(publicKey, privateKey);
}

/** A key of the client, if it is present. */
function readStored(fields: JsonObject, name: string): Uint8Array | undefined {
  if (ownField(fields, name) === undefined) return undefined;
  const key = readKey(fields, name);
  if (key === undefined || isZero(key)) throw errors.badStoredKey(name);
  return key;
}

/** 32 bytes in hex, or `undefined`. */
function readKey(fields: JsonObject, name: string): Bytes | undefined {
  const key = hexToBytes(ownText(fields, name) ?? '');
  return key?.length === KEY_LENGTH ? key : undefined;
}

function readPins(entries: Json | undefined): HubPin[] {
  if (!Array.isArray(entries)) throw errors.badKeyring('pins is not a list');
  const pins: HubPin[] = [];
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!;
    const pin =
      isJsonObject(entry) && hasOnly(entry, ['node_id', 'key', 'is_suspect']) ? readEntry(entry) : undefined;
    if (pin === undefined) {
      throw errors.badKeyring('pins has an entry that is not a node_id and a key of 32 bytes in hex');
    }
    if (findHub(pins, pin.nodeId) !== undefined) throw errors.badKeyring('pins has two keys for one hub');
    pins.push(pin);
  }
  return pins;
}

/** Reads the PSKs. If there are two for a hub, the first counts; if it is wrong, its first use shows that. */
function readPsks(entries: Json | undefined): HubPsk[] {
  const psks: HubPsk[] = [];
  for (let i = 0; Array.isArray(entries) && i < entries.length; i++) {
    const entry = entries[i]!;
    if (!isJsonObject(entry)) continue;
    const psk = readEntry(entry);
    const isProvisioned = ownField(entry, 'is_provisioned') ?? false;
    if (typeof isProvisioned !== 'boolean')
      throw errors.badKeyring('psks has an is_provisioned that is not a boolean');
    if (psk === undefined) {
      if (isProvisioned) throw errors.badKeyring('psks has a provisioned entry that cannot be read');
    } else if (findHub(psks, psk.nodeId) === undefined) {
      psks.push(hubPsk(psk.nodeId, psk.key, isProvisioned, psk.isSuspect));
    }
  }
  return psks;
}

/** An entry; `undefined` if its node id or its key is missing or wrong. */
function readEntry(entry: JsonObject): HubPin | undefined {
  const nodeId = ownText(entry, 'node_id');
  const key = readKey(entry, 'key');
  return nodeId && key ? { nodeId, key, isSuspect: ownField(entry, 'is_suspect') === true } : undefined;
}
