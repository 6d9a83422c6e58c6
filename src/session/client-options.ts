/** The options of a ClientSession, and their form until the handshake is done. */
import { assertChoice, assertFlag, assertFunction, type OptionNames, readOptions } from '../arguments.ts';
import { isBytes } from '../bytes.ts';
import { CheckedCrypto } from '../crypto/checked.ts';
import * as errors from '../errors-table.ts';
import type { Pattern } from '../noise/patterns.ts';
import { composePayload, isStringArray } from '../wire/handshake.ts';
import type { JsonObject } from '../wire/json.ts';
import { canonicalJson } from '../wire/write-json.ts';
import { type KeyringFields, type ReadKeyring, readKeyring } from './keyring-fields.ts';
import { assertFields, assertPatterns, type SessionOptions } from './options.ts';

/** The options of a ClientSession. */
export interface ClientOptions extends SessionOptions {
  /** The identity's site id, which the client sends to the hub in its HELLO. It may be empty. */
  siteId: string;
  /**
   * The client's static key, pins and PSKs: a keyring from `createKeyring`, `parseKeyring` or `updateKeyring`, or a literal
   * with those fields. The session reads the keyring and never changes it: apply its events with `updateKeyring`.
   */
  keyring: KeyringFields;
  /**
   * Which hubs to trust (default `first-use`, as in the spec). `first-use` trusts and pins a hub that is not pinned if it
   * knows the password. `pinned-only` ends the session with `unknown-hub` before message 1 is sent to such a hub.
   */
  trust?: 'first-use' | 'pinned-only' | undefined;
  /** Further fields of the HELLO payload. They replace the defaults for `pubkey`, `session` and `site_id` (default none). */
  hello?: JsonObject | undefined;
  /**
   * Sent in message 1: whether binary messages are preferred (default false). HiveMind's hub then sends bus messages in a
   * binary form, most of them compressed: this needs `readBinary`, made with an `inflate`.
   */
  binarize?: boolean | undefined;
  /** Sent in message 1: the JSON encodings that the client understands (default none). */
  encodings?: string[] | undefined;
  /** The handshake patterns to use (default both). With XXpsk2 alone, pins still count. */
  patterns?: Pattern[] | undefined;
  /**
   * What to do if a KKpsk0 has failed, and the XXpsk2 that follows shows that the hub has another key (default `replace-pin`, as
   * in the spec). `replace-pin` pins that key, since the hub knows the password, and says so: `pin` with `replaces`. `keep-pin`
   * ends the session with `hub-key-changed`. Anyone between client and hub can make a KKpsk0 fail, without knowing any secret;
   * the pin is then only suspect. With `trust: 'pinned-only'` the pin is always kept.
   */
  onKkFailure?: 'replace-pin' | 'keep-pin' | undefined;
  /**
   * Whether no call of the handshake may take much longer than a single X25519 (default false), its longest step. It
   * then stops after each step: the session emits `waiting`, and continues when you call `resume`. Needs a static key with
   * its public key, as `createKeyring` makes it.
   */
  paced?: boolean | undefined;
}

/** The names of all options. */
export const CLIENT_OPTIONS: OptionNames<ClientOptions> = {
  crypto: true,
  randomBytes: true,
  maxMessage: true,
  maxFrame: true,
  inPlace: true,
  readBinary: true,
  siteId: true,
  keyring: true,
  trust: true,
  hello: true,
  binarize: true,
  encodings: true,
  patterns: true,
  onKkFailure: true,
  paced: true,
};

/** The options, read once and checked, in the form that the handshake needs. */
export interface ClientPlan {
  /** As given. The channel checks those that it reads. */
  readonly options: SessionOptions;
  readonly crypto: CheckedCrypto;
  readonly keyring: ReadKeyring;
  readonly trustsNewHubs: boolean;
  readonly replacesPins: boolean;
  readonly hello: JsonObject;
  readonly message1Payload: Uint8Array;
  readonly patterns: readonly Pattern[];
  readonly isPaced: boolean;
}

/**
 * Reads and checks the options.
 * @throws LocalError `bad-argument`; `not-json`, `unsafe-number`, `lone-surrogate` or `json-depth` if `encodings` or
 *   `hello` cannot be written as JSON
 */
export function readClientOptions(options: ClientOptions): ClientPlan {
  const given = readOptions(options, 'options', CLIENT_OPTIONS);
  const { siteId, encodings, trust, onKkFailure } = given;
  if (typeof siteId !== 'string') {
    throw errors.expectedType('siteId', 'string', siteId);
  }
  if (encodings !== undefined && !isStringArray(encodings)) {
    throw errors.expected('encodings', 'an array of strings');
  }
  assertFunction(given.randomBytes, 'randomBytes');
  const keyring = readKeyring(given.keyring);
  const isPaced = assertFlag(given.paced, 'paced');
  if (isPaced && (isBytes(keyring.staticKey) || keyring.staticKey.publicKey === undefined)) {
    throw errors.expected('keyring.staticKey', 'its public key too, since the session is paced');
  }
  const binarize = assertFlag(given.binarize, 'binarize');
  if (binarize) assertFunction(given.readBinary, 'readBinary');
  const trustsNewHubs = assertChoice(trust, 'trust', ['first-use', 'pinned-only']) === 'first-use';
  return {
    options: given,
    crypto: new CheckedCrypto(given.crypto),
    keyring,
    trustsNewHubs,
    replacesPins:
      assertChoice(onKkFailure, 'onKkFailure', ['replace-pin', 'keep-pin']) === 'replace-pin' &&
      trustsNewHubs,
    hello: composePayload({ site_id: siteId }, assertFields(given.hello, 'hello')),
    message1Payload: canonicalJson({
      binarize,
      encodings: encodings ?? [],
    }),
    patterns: assertPatterns(given.patterns),
    isPaced,
  };
}
