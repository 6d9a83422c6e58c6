/** What the options of both sessions share, and the patterns and suites of protocol 3. */
import { readArgument } from '../arguments.ts';
import type { CryptoProvider, RandomBytes } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import type { Pattern, Suite } from '../noise/patterns.ts';
import type { ReadBinary } from '../wire/frame-joiner.ts';
import { isStringArray, mergeFields } from '../wire/handshake.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';

/** The options that both sessions share. */
export interface SessionOptions {
  /** The cryptography, such as `nobleCrypto` or `nodeCrypto`. */
  crypto: CryptoProvider;
  /** The random number generator, called once for the 32 bytes of the ephemeral key. */
  randomBytes: RandomBytes;
  /** The longest message to accept, in bytes (default 32 MiB, which is the maximum). A longer one is dropped. */
  maxMessage?: number | undefined;
  /**
   * The longest transport message to open, in bytes (default: any that Noise allows, which is 65535), and so a bound on the time
   * that `receive` takes. A longer one ends the session with `frame-too-long` before anything is decrypted. A transport
   * message has 17 bytes more than the message or chunk in it.
   */
  maxFrame?: number | undefined;
  /**
   * Whether `receive` may decrypt a transport message inside the array that it is given (default false). This saves a
   * second array of up to 65519 bytes, but overwrites the first one, and events contain views of it. It needs a cipher
   * with `openInPlace`, such as noble's ChaChaPoly; with any other cipher it has no effect.
   */
  inPlace?: boolean | undefined;
  /**
   * Reads the peer's binary messages: `binaryReader` of `hub-protocol/binary` makes it. An envelope in binary form is then a
   * `message` of the kind `json`, like any other, and a payload of bytes has its `bin_type` and `metadata` (default none:
   * binary messages are delivered as they are).
   */
  readBinary?: ReadBinary | undefined;
}

/**
 * The patterns that are offered and accepted: noise/patterns.ts may have more. Every hub must offer the first one. Spec,
 * "Hub connection (protocol v3)".
 */
export const OFFERED_PATTERNS: readonly Pattern[] = ['XXpsk2', 'KKpsk0'];

/** The suites that are offered and accepted. Every hub must offer the first one. */
export const OFFERED_SUITES: readonly Suite[] = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];

/**
 * Checks patterns.
 * @returns the patterns, by default all of protocol 3
 * @throws LocalError `bad-argument`
 */
export function assertPatterns(patterns: readonly Pattern[] | undefined): readonly Pattern[] {
  if (patterns === undefined) return OFFERED_PATTERNS;
  const isOffered = (name: Pattern): boolean => OFFERED_PATTERNS.indexOf(name) >= 0;
  if (!isStringArray(patterns) || patterns.length === 0 || !patterns.every(isOffered)) {
    throw errors.expected('patterns', 'an array of "XXpsk2" and "KKpsk0"');
  }
  return patterns.slice();
}

/**
 * Checks further fields of a payload, and reads each once.
 * @returns a copy of the fields, by default none
 * @throws LocalError `bad-argument`
 */
export function assertFields(fields: JsonObject | undefined, name: string): JsonObject {
  if (fields === undefined) return {};
  if (!isJsonObject(fields)) {
    throw errors.expectedType(name, 'object', fields);
  }
  return readArgument(name, () => mergeFields(fields, {}));
}
