/** The pre-shared key of the handshake, derived from the client's password (spec, "Hub connection (protocol v3)"). */
import { assertBytes, assertMethods, assertString, type OptionNames, readOptions } from '../arguments.ts';
import { type Bytes, utf8ToBytes } from '../bytes.ts';
import { callInjected } from '../crypto/checked.ts';
import type { CryptoProvider } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import { KEY_LENGTH } from '../limits.ts';
import { Argon2id, argon2id } from '../noise/argon2id.ts';
import type { Argon2idOptions } from '../noise/argon2id-options.ts';

/** The options of derivePsk() and pskDerivation() in addition to the hub. */
export interface PskInputs {
  /** The client's password; encoded as UTF-8, without normalization. */
  password: string;
  /**
   * 64 MiB of memory to work in, aligned to 4 bytes; wiped at the end (default: allocated). A native `argon2id` does not
   * use it.
   */
  memory?: Uint8Array | undefined;
  /**
   * Called about a hundred times with the progress, from 0 to 1; by a native `argon2id` once, with 1
   * (default none).
   */
  onProgress?: ((progress: number) => void) | undefined;
}

/** The options of derivePsk() and pskDerivation(). Name the hub by its node id or by the salt computed from it. */
export type PskOptions = PskInputs &
  (
    | {
        /** A CryptoProvider, or the functions of it that are used: `sha256`, and `blake2b` or, for derivePsk(), `argon2id`. */
        crypto: Pick<CryptoProvider, 'sha256' | 'blake2b' | 'argon2id'>;
        /** The hub's node id, as in the `psk-needed` event. */
        nodeId: string;
        salt?: undefined;
      }
    | {
        /** A CryptoProvider, or the one function of it that is used: `blake2b` or, for derivePsk(), `argon2id`. */
        crypto: Pick<CryptoProvider, 'blake2b' | 'argon2id'>;
        /** The salt, 32 bytes, as in the `psk-needed` event: the SHA-256 of the node id. */
        salt: Uint8Array;
        nodeId?: undefined;
      }
  );

const OPTIONS: OptionNames<PskOptions> = {
  crypto: true,
  password: true,
  nodeId: true,
  salt: true,
  memory: true,
  onProgress: true,
};

/** The salt: SHA-256 of a hub's node id, 32 bytes. */
export function pskSalt(crypto: Pick<CryptoProvider, 'sha256'>, nodeId: string): Bytes {
  const bytes = utf8ToBytes(nodeId);
  return callInjected(KEY_LENGTH, () => crypto.sha256(bytes), 'sha256');
}

/**
 * Derives the PSK in one call: Argon2id (RFC 9106) of the password with the protocol's parameters, which are 3 passes over
 * 64 MiB in 1 lane, and the SHA-256 of the hub's node id as salt. Without a native `argon2id` in the crypto, it takes
 * seconds and 64 MiB; provision a device that cannot afford them with the result.
 * @param options - the password, the hub, and the crypto
 * @returns 32 bytes, bound to this password and this hub
 * @throws LocalError the codes of {@link argon2id}, and `lone-surrogate`
 * @see RFC 9106; spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { derivePsk } from 'hub-protocol';
 * import { nobleBlake2b } from 'hub-protocol/noble';
 * import { nodeCrypto as crypto } from 'hub-protocol/node';
 *
 * const password = 'correct horse';
 * const psk = derivePsk({ crypto, password, nodeId: 'hub-1' });
 * console.log(psk.length); // 32
 *
 * // In a worker: the salt of the `psk-needed` event, and BLAKE2b alone.
 * const salt = crypto.sha256(new TextEncoder().encode('hub-1'));
 * const same = derivePsk({ crypto: { blake2b: nobleBlake2b }, password, salt });
 * console.log(same.join() === psk.join()); // true
 */
export function derivePsk(options: PskOptions): Bytes {
  return argon2id(readPskOptions(options));
}

/**
 * Starts the same derivation in slices, always with the library's own Argon2id: call `run` until it returns true, then
 * `result`, which returns the 32 bytes; or `destroy` at any time.
 * @param options - the password, the hub, and the crypto
 * @returns the derivation, not yet started
 * @throws LocalError the codes of {@link Argon2id}, and `lone-surrogate`
 * @see RFC 9106; spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { pskDerivation } from 'hub-protocol';
 * import { nodeCrypto as crypto } from 'hub-protocol/node';
 *
 * const derivation = pskDerivation({ crypto, password: 'correct horse', nodeId: 'hub-1' });
 * while (!derivation.run(1024)) {
 *   // 1 MiB was filled: feed the watchdog, draw the bar, or let others have a turn.
 *   if (derivation.progress > 0.01) break; // so can the person, who wants to stop
 * }
 * derivation.destroy(); // where it was not stopped: const psk = derivation.result();
 */
export function pskDerivation(options: PskOptions): Argon2id {
  return new Argon2id(readPskOptions(options));
}

/** The protocol's parameters of Argon2id. */
function readPskOptions(options: PskOptions): Argon2idOptions {
  const { crypto, password, nodeId, salt, memory, onProgress } = readOptions(options, 'options', OPTIONS);
  assertString(password, 'password');
  if (salt === undefined) {
    assertMethods(crypto, 'crypto', ['sha256']);
    assertString(nodeId, 'nodeId');
  } else {
    if (nodeId !== undefined) {
      throw errors.expected('nodeId', 'undefined beside a salt: pass one of the two');
    }
    assertBytes(salt, 'salt', KEY_LENGTH);
  }
  return {
    crypto,
    password,
    salt: salt ?? pskSalt(crypto as Pick<CryptoProvider, 'sha256'>, nodeId as string),
    passes: 3,
    memoryKiB: 65536,
    parallelism: 1,
    length: KEY_LENGTH,
    memory,
    onProgress,
  };
}
