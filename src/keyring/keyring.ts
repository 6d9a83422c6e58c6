/**
 * The keyring: everything that a client stores in addition to its identity, for as long as it has that identity. A
 * keyring is immutable: each update returns a new one. Store the new one before you send anything more.
 *
 *     let keyring = stored === undefined ? createKeyring({ accessKey, staticKey: randomBytes(32), crypto })
 *                                        : parseKeyring(stored, accessKey);
 *     const session = new ClientSession({ crypto, siteId, randomBytes, keyring });
 *     // for each event of the session
 *     const updated = updateKeyring(keyring, event);
 *     if (updated !== keyring) store(serializeKeyring((keyring = updated)));
 *
 * Spec, "Hub connection (protocol v3)", trust on first use.
 */

import { assertBytes, assertFlag, assertString, readArgument, readOptions } from '../arguments.ts';
import { type Bytes, copyBytes, equalBytes, utf8Length } from '../bytes.ts';
import { CheckedCrypto, readOwnKey } from '../crypto/checked.ts';
import type { CryptoProvider, StaticKey } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { KEY_LENGTH, MAX_HUBS } from '../limits.ts';
import { opaque } from '../opaque.ts';
import type { ReadyEvent, SessionEvent } from '../session/events.ts';
import { findHub, isHubKey, isKey } from '../session/keyring-fields.ts';

/** A pin: the static public key of a hub. */
export interface HubPin {
  /** The hub's node id. */
  readonly nodeId: string;
  /** The key, 32 bytes. */
  readonly key: Bytes;
  /**
   * Whether a KKpsk0 has failed since the pin was stored or confirmed. The pin is then tested with XXpsk2.
   */
  readonly isSuspect?: boolean | undefined;
}

/** The PSK of the identity at a hub. */
export interface HubPsk {
  /** The hub's node id. */
  readonly nodeId: string;
  /** The PSK, 32 bytes. This field does not enumerate. */
  readonly key: Bytes;
  /**
   * Whether the PSK was provisioned. No event removes such a PSK, since the device may be unable to derive it again.
   */
  readonly isProvisioned: boolean;
  /**
   * Whether a message 2 has failed to open with the PSK since it was stored or proved. The PSK is then derived again, and kept
   * until another has been proved.
   */
  readonly isSuspect: boolean;
}

/**
 * The keys of one client. Its fields do not enumerate, so logs and clones show none of them; `serializeKeyring` writes
 * them.
 */
export interface Keyring {
  /** The access key of the identity that the keyring belongs to. */
  readonly accessKey: string;
  /** The client's static key. Hubs pin the public key, so it is created once and never again. */
  readonly staticKey: StaticKey;
  /** Whether no hub has accepted the static key yet. */
  readonly staticKeyIsFresh: boolean;
  /** The pins, at most one for each hub, and 16. */
  readonly pins: readonly HubPin[];
  /** The PSKs, at most one for each hub, and 16. */
  readonly psks: readonly HubPsk[];
}

/**
 * Creates the keyring of a new client. Create one per access key. Never create one to replace a keyring that you cannot read: a
 * hub that has pinned the lost static key refuses a client with another one.
 * @param options - `accessKey`; `staticKey`: 32 random bytes, or `{ publicKey }` of 32 bytes if the private key is kept
 *   elsewhere, such as in a secure element; `crypto`: computes the public key, which the keyring then keeps. Without it,
 *   each session computes it
 * @returns the keyring, with a fresh static key and no pins or PSKs
 * @throws LocalError `bad-argument`, `bad-length`, `lone-surrogate`; `crypto-failed` if the injected crypto fails; `out-of-memory`
 * @see spec, "Hub connection (protocol v3)", trust on first use
 *
 * @example
 * import { createKeyring, serializeKeyring } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
 * const text = serializeKeyring(keyring); // a secret: store it before you connect
 * console.log(keyring.pins.length, keyring.staticKeyIsFresh, JSON.stringify(keyring)); // 0 true "[Keyring]"
 */
export function createKeyring(options: {
  accessKey: string;
  staticKey: Uint8Array | StaticKey;
  crypto?: CryptoProvider | undefined;
}): Keyring {
  const known = { accessKey: true, staticKey: true, crypto: true } as const;
  const { accessKey, staticKey, crypto } = readOptions(options, 'options', known);
  assertUtf8(accessKey, 'accessKey');
  return keyringOf({
    accessKey,
    staticKey: readArgument('staticKey', () => keptKey(staticKey, crypto)),
    staticKeyIsFresh: true,
    pins: [],
    psks: [],
  });
}

/**
 * Applies an event of a ClientSession: `pin` stores, confirms or replaces a pin; after `pin-suspect` the pin is tested with
 * XXpsk2; `psk` stores a PSK that the hub has proved it knows; after `psk-suspect` a PSK that was not provisioned is derived
 * again; and once the hub has proved that it accepts the static key, the key is no longer fresh.
 * @param keyring - the keyring before the event
 * @param event - any event; most change nothing
 * @returns a new keyring, or the same one if nothing changes
 * @throws LocalError `pin-differs` if another key of the hub has been pinned in the meantime: the pin stays; `keyring-full`:
 *   the hub is not pinned. In both cases you must end the session; `bad-argument`, and for a `pin` event also `bad-length` and `lone-surrogate`
 *
 * @example
 * import { createKeyring, serializeKeyring, updateKeyring } from 'hub-protocol';
import type { SessionEvent } from 'hub-protocol/parts';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * let keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
 * let stored = serializeKeyring(keyring);
 * function onEvent(event: SessionEvent): void {
 *   const updated = updateKeyring(keyring, event);
 *   if (updated !== keyring) stored = serializeKeyring((keyring = updated)); // before anything more is sent
 * }
 * onEvent({ type: 'pin', nodeId: 'hub-1', key: randomBytes(32) });
 * console.log(keyring.pins.length, stored.includes('hub-1')); // 1 true
 */
export function updateKeyring(keyring: Keyring, event: SessionEvent): Keyring {
  assertKeyring(keyring);
  return readArgument('event', () => applyEvent(keyring, event));
}

function applyEvent(keyring: Keyring, event: SessionEvent): Keyring {
  const { pins, psks } = keyring;
  switch (event?.type) {
    case 'pin': {
      const { nodeId, key, replaces = key } = event;
      const pinned = findHub(pins, nodeId)?.key;
      if (pinned !== undefined && !equalBytes(pinned, key) && !equalBytes(pinned, replaces)) {
        throw errors.pinDiffers();
      }
      return pinHub(keyring, nodeId, key);
    }
    case 'pin-suspect': {
      const pinned = findHub(pins, event.nodeId);
      return pinned === undefined
        ? keyring
        : changed(
            keyring,
            withEntry(pins, { nodeId: pinned.nodeId, key: pinned.key, isSuspect: true }),
            psks,
          );
    }
    case 'psk':
      return findHub(psks, event.nodeId)?.isProvisioned
        ? keyring
        : withPsk(keyring, event.nodeId, event.key, false);
    case 'psk-suspect': {
      const stored = findHub(psks, event.nodeId);
      return stored?.isProvisioned === false
        ? changed(keyring, pins, withEntry(psks, hubPsk(stored.nodeId, stored.key, false, true)))
        : keyring;
    }
    case 'ready': // under KKpsk0 the hub has computed with our static public key; under XXpsk2 it has not seen it yet
    case 'message':
    case 'dropped': {
      const isUnseen = (event as Partial<ReadyEvent>).pattern === 'XXpsk2';
      return changed(keyring, pins, psks, keyring.staticKeyIsFresh && isUnseen);
    }
    case undefined:
      throw errors.expected('event', 'an event of a ClientSession');
    default:
      return keyring;
  }
}

/**
 * Stores a PSK, such as one that is provisioned to a device. Do not call it for `psk-needed`, since any server can name a
 * node id: once the hub has proved that it knows the password, `updateKeyring` stores the PSK.
 * @param keyring - the keyring before the change
 * @param nodeId - of the hub
 * @param psk - 32 bytes, which are copied
 * @param options - `isProvisioned`: whether the PSK was provisioned (default false); no event then removes it
 * @returns a new keyring, or the same one if nothing changes
 * @throws LocalError `bad-argument`, `bad-length`, `lone-surrogate`, `keyring-full`
 *
 * @example
 * import { createKeyring, storePsk } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const keyring = createKeyring({ accessKey: 'sensor-1', staticKey: randomBytes(32), crypto });
 * const psk = randomBytes(32); // derived where there are 64 MiB, and brought to the device
 * const provisioned = storePsk(keyring, 'hub-1', psk, { isProvisioned: true });
 * console.log(provisioned.psks.length, keyring.psks.length); // 1 0
 */
export function storePsk(
  keyring: Keyring,
  nodeId: string,
  psk: Uint8Array,
  options: { isProvisioned?: boolean | undefined } = {},
): Keyring {
  assertKeyring(keyring);
  const given = readOptions(options, 'options', { isProvisioned: true });
  const isProvisioned = assertFlag(given.isProvisioned, 'isProvisioned');
  return withPsk(keyring, nodeId, psk, isProvisioned);
}

/**
 * Removes all PSKs, including provisioned ones. Call this when the password of the identity has changed.
 * @param keyring - the keyring before the change
 * @returns a new keyring, or the same one if it has no PSK
 * @throws LocalError `bad-argument`
 */
export function forgetPsks(keyring: Keyring): Keyring {
  assertKeyring(keyring);
  return keyring.psks.length === 0 ? keyring : changed(keyring, keyring.pins, []);
}

/**
 * Removes the pin of a hub. Leave the decision to a person: the client then pins whatever hub answers next under this node
 * id. If the hub has a new key, use `pinHub`.
 * @param keyring - the keyring before the change
 * @param nodeId - of the hub
 * @returns a new keyring, or the same one if the hub is not pinned
 * @throws LocalError `bad-argument`, `lone-surrogate`
 */
export function dropPin(keyring: Keyring, nodeId: string): Keyring {
  assertKeyring(keyring);
  assertUtf8(nodeId, 'nodeId');
  const rest = keyring.pins.filter((pin) => pin.nodeId !== nodeId);
  return rest.length === keyring.pins.length ? keyring : changed(keyring, rest, keyring.psks);
}

/**
 * Pins the key that a hub presented, in place of another one. Leave the decision to a person. This binds the client to exactly
 * that key: after `dropPin`, it would pin whatever hub answers next.
 * @param keyring - the keyring before the change
 * @param nodeId - of the hub, as in the error `hub-key-changed`
 * @param key - the `hubKey` of that error, 32 bytes, which are copied
 * @returns a new keyring, or the same one if the hub already has that pin
 * @throws LocalError `bad-argument`, `bad-length`, `lone-surrogate`, `keyring-full`
 *
 * @example
 * import { createKeyring, pinHub } from 'hub-protocol';
 * import { randomBytes } from 'hub-protocol/node';
 *
 * const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32) });
 * const pinned = pinHub(keyring, 'hub-1', randomBytes(32));
 * console.log(pinHub(pinned, 'hub-1', randomBytes(32)).pins.length); // 1
 */
export function pinHub(keyring: Keyring, nodeId: string, key: Uint8Array): Keyring {
  assertKeyring(keyring);
  assertUtf8(nodeId, 'nodeId');
  assertBytes(key, 'key', KEY_LENGTH);
  return changed(keyring, withEntry(keyring.pins, { nodeId, key: copyBytes(key) }), keyring.psks);
}

/** A keyring with the PSK of a hub, not suspect; the same keyring if it already has that PSK. */
function withPsk(keyring: Keyring, nodeId: string, psk: Uint8Array, isProvisioned: boolean): Keyring {
  assertUtf8(nodeId, 'nodeId');
  assertBytes(psk, 'psk', KEY_LENGTH);
  const entry = hubPsk(nodeId, copyBytes(psk), isProvisioned);
  return changed(keyring, keyring.pins, withEntry(keyring.psks, entry));
}

/** A list with the entry of a hub, in place of another one or at its end; the same list if it already has that entry. */
function withEntry<Entry extends HubPin & { readonly isProvisioned?: boolean }>(
  entries: readonly Entry[],
  entry: Entry,
): readonly Entry[] {
  const old = findHub(entries, entry.nodeId);
  if (old === undefined) {
    if (entries.length >= MAX_HUBS) throw errors.keyringFull();
    return entries.concat(entry);
  }
  const isSame =
    !old.isSuspect === !entry.isSuspect &&
    old.isProvisioned === entry.isProvisioned &&
    equalBytes(old.key, entry.key);
  return isSame ? entries : entries.map((other) => (other === old ? entry : other));
}

/** Makes an entry, whose key does not enumerate. */
export function hubPsk(nodeId: string, key: Bytes, isProvisioned: boolean, isSuspect = false): HubPsk {
  const psk: HubPsk = { nodeId, key, isProvisioned, isSuspect };
  opaque(psk, () => ({ nodeId, isProvisioned, isSuspect }));
  return hideFields(psk, ['key']);
}

/** Turns an object into a keyring: its fields no longer enumerate. */
export function keyringOf(fields: Keyring): Keyring {
  opaque(fields, 'Keyring');
  return hideFields(fields);
}

/** A keyring with other pins, PSKs, or freshness; the same keyring if nothing changes. */
function changed(
  keyring: Keyring,
  pins: Keyring['pins'],
  psks: Keyring['psks'],
  staticKeyIsFresh: boolean = keyring.staticKeyIsFresh,
): Keyring {
  if (staticKeyIsFresh === keyring.staticKeyIsFresh && pins === keyring.pins && psks === keyring.psks) {
    return keyring;
  }
  const { accessKey, staticKey } = keyring;
  return keyringOf({ accessKey, staticKey, staticKeyIsFresh, pins, psks });
}

/** A copy of a static key, with its public key if it can be computed. */
function keptKey(staticKey: Uint8Array | StaticKey, crypto: CryptoProvider | undefined): StaticKey {
  const { publicKey, privateKey } = readOwnKey(staticKey, 'staticKey');
  if (publicKey !== undefined || crypto === undefined) return staticKeyOf(publicKey, privateKey);
  const pair = new CheckedCrypto(crypto).keyPair(copyBytes(privateKey!));
  pair.destroy();
  return staticKeyOf(pair.publicKey, privateKey);
}

/** Makes a static key of copies. Its private key, if any, does not enumerate. */
export function staticKeyOf(
  publicKey: Uint8Array | undefined,
  privateKey: Uint8Array | undefined,
): StaticKey {
  const key = {
    publicKey: publicKey && copyBytes(publicKey),
    privateKey: privateKey && copyBytes(privateKey),
  };
  opaque(key, () => ({ publicKey }));
  return hideFields(key, ['privateKey']);
}

/**
 * Checks that an argument is a keyring.
 * @throws LocalError `bad-argument`
 */
export function assertKeyring(keyring: unknown): asserts keyring is Keyring {
  const isKeyring = readArgument('keyring', () => {
    const { accessKey, staticKey, staticKeyIsFresh, pins, psks } = keyring as Keyring;
    return (
      typeof accessKey === 'string' &&
      typeof staticKeyIsFresh === 'boolean' &&
      isKey(staticKey.publicKey ?? staticKey.privateKey) &&
      pins.every(isHubKey) &&
      psks.every(isHubKey)
    );
  });
  if (!isKeyring) {
    throw errors.expectedType('keyring', 'what createKeyring() or parseKeyring() returned', keyring);
  }
}

/**
 * Checks a string to be stored: not empty, and without lone surrogates.
 * @throws LocalError `bad-argument`, `lone-surrogate`
 */
export function assertUtf8(value: unknown, name: string): asserts value is string {
  assertString(value, name);
  if (utf8Length(value) < 0) {
    throw errors.expectedUnicode(name);
  }
}
