/** The pre-shared key of the handshake, derived from the client's password (spec, "Hub connection (protocol v3)"). */
import { readOptions } from '../arguments.ts';
import { assertString, utf8ToBytes } from '../bytes.ts';
import { assertFunction, callInjected } from '../crypto/checked.ts';
import type { Crypto } from '../crypto/crypto.ts';
import { KEY_LENGTH } from '../limits.ts';
import { argon2id } from '../noise/argon2id.ts';

/** The options of derivePsk(). */
export interface PskOptions {
  /** A Crypto, or the functions of it that are used: `sha256`, and `argon2id` or `blake2b`. */
  crypto: Pick<Crypto, 'sha256' | 'blake2b' | 'argon2id'>;
  /** The client's password; encoded as UTF-8, without normalization. */
  password: string;
  /** The hub's node id, as in the `psk-needed` event. */
  nodeId: string;
  /**
   * 64 MiB of memory to work in, aligned to 4 bytes; wiped at the end. Allocated if absent; unused by a native `argon2id`.
   */
  memory?: Uint8Array | undefined;
  /** Called about a hundred times with the progress, from 0 to 1; by a native `argon2id` once, with 1. */
  onProgress?: ((progress: number) => void) | undefined;
}

const OPTIONS: readonly (keyof PskOptions)[] = ['crypto', 'password', 'nodeId', 'memory', 'onProgress'];

/** The salt: SHA-256 of a hub's node id, 32 bytes. */
export function pskSalt(crypto: Pick<Crypto, 'sha256'>, nodeId: string): Uint8Array {
  const bytes = utf8ToBytes(nodeId);
  return callInjected('sha256', KEY_LENGTH, () => crypto.sha256(bytes));
}

/**
 * Derives the PSK: Argon2id (RFC 9106) of the password with the protocol's parameters: 3 passes over 64 MiB, 1 lane,
 * and the SHA-256 of the hub's node id as salt. Unless the crypto has a native `argon2id`, it takes seconds
 * and 64 MiB; a device that cannot afford them is provisioned with the result.
 * @param options - the password, the node id, and what to compute with
 * @returns 32 bytes, bound to this password and this hub
 * @throws LocalError the codes of {@link argon2id}, and `lone-surrogate`
 */
export function derivePsk(options: PskOptions): Uint8Array {
  const { crypto, password, nodeId, memory, onProgress } = readOptions(options, 'options', OPTIONS);
  assertFunction(crypto, 'crypto', 'sha256');
  assertString(password, 'password');
  assertString(nodeId, 'nodeId');
  return argon2id({
    crypto,
    password,
    salt: pskSalt(crypto, nodeId),
    passes: 3,
    memoryKiB: 65536,
    parallelism: 1,
    length: KEY_LENGTH,
    memory,
    onProgress,
  });
}
