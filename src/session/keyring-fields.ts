/** The keys of a session: the fields of a keyring that it reads. */
import {
  assertBytes,
  assertFlag,
  assertObject,
  type OptionNames,
  readArgument,
  readOptions,
} from '../arguments.ts';
import { bytesToHex, isBytesOf } from '../bytes.ts';
import type { KeyPair, StaticKey } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH } from '../limits.ts';

/** The fields of a keyring that a ClientSession reads. A device that stores them its own way can pass a literal. */
export interface KeyringFields {
  /** The static key: as in a Keyring, a private key of 32 bytes, or a key pair with `sharedSecret`. */
  readonly staticKey: Uint8Array | StaticKey | KeyPair;
  /**
   * Whether no hub has accepted the static key yet (default false). If so, a pinned hub that refuses KKpsk0 may know another
   * key of this client, and the session warns with the event `static-key-fresh`. Only then can a connection end with
   * `client-key-refused`.
   */
  readonly staticKeyIsFresh?: boolean | undefined;
  /**
   * The pins (default none). If there are any, a hub that is not pinned is announced by the event `new-hub`. A pin that
   * `isSuspect` is tested with XXpsk2.
   */
  readonly pins?:
    | readonly {
        readonly nodeId: string;
        readonly key: Uint8Array;
        readonly isSuspect?: boolean | undefined;
      }[]
    | undefined;
  /** The PSKs (default none: the session asks with `psk-needed`). A PSK that `isSuspect` is not used. */
  readonly psks?:
    | readonly { readonly nodeId: string; readonly key: Uint8Array; readonly isSuspect?: boolean }[]
    | undefined;
}

/** A keyring as a session reads it. */
export type ReadKeyring = { readonly [name in keyof KeyringFields]-?: NonNullable<KeyringFields[name]> };

const KEYRING_FIELDS: OptionNames<KeyringFields> = {
  staticKey: true,
  staticKeyIsFresh: true,
  pins: true,
  psks: true,
};

/**
 * Checks that an argument is a keyring, or a literal with its fields that a session reads. The static key's shape is
 * checked when it becomes a key pair.
 * @throws LocalError `bad-argument`
 */
export function readKeyring(keyring: KeyringFields): ReadKeyring {
  return readArgument('keyring', () => {
    assertObject(keyring, 'keyring');
    const isLiteral = !('accessKey' in keyring);
    // A misspelt field would be a keyring without pins. A Keyring is not checked: we spell its fields, and it has more.
    const given: KeyringFields = isLiteral ? readOptions(keyring, 'keyring', KEYRING_FIELDS) : keyring;
    const { staticKey, staticKeyIsFresh, pins = [], psks = [] } = given;
    if (!pins.every(isHubKey) || !psks.every(isHubKey)) {
      throw errors.expected('keyring', 'pins and psks with a nodeId and a key of 32 bytes');
    }
    return {
      staticKey,
      staticKeyIsFresh: assertFlag(staticKeyIsFresh, 'keyring.staticKeyIsFresh'),
      pins,
      psks,
    };
  });
}

/** The entry of a hub. A list is enough, since few clients have many hubs, and safe, since a hub may be called `__proto__`. */
export function findHub<Entry extends { readonly nodeId: string }>(
  entries: readonly Entry[],
  nodeId: string,
): Entry | undefined {
  for (let i = 0; i < entries.length; i++) if (entries[i]!.nodeId === nodeId) return entries[i];
  return undefined;
}

/** Whether a value is the key of a hub: a pin, or a PSK. */
export function isHubKey({ nodeId, key }: { readonly nodeId: unknown; readonly key: unknown }): boolean {
  return typeof nodeId === 'string' && isKey(key);
}

/** Whether a value is a key of 32 bytes. */
export function isKey(key: unknown): boolean {
  return isBytesOf(key, KEY_LENGTH);
}

/**
 * The fingerprint of a public key, for two people to compare.
 * @param key - the static public key of a hub or of a client, 32 bytes
 * @returns the first 8 bytes, as 16 lower-case hex digits
 * @throws LocalError `bad-argument`, `bad-length`
 *
 * @example
 * import { fingerprint } from 'hub-protocol';
 *
 * console.log(fingerprint(new Uint8Array(32).fill(0xab))); // abababababababab
 */
export function fingerprint(key: Uint8Array): string {
  assertBytes(key, 'key', KEY_LENGTH);
  return bytesToHex(key.subarray(0, 8));
}
