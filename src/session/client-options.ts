/** The options of a ClientSession, and the form in which it keeps them until the handshake is done. */
import { assertBytes, assertChoice, assertFlag, assertFunction, kindOf } from '../arguments.ts';
import { type Bytes, copyBytes, isBytes } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { KEY_LENGTH } from '../limits.ts';
import { composePayload, isStringArray } from '../wire/handshake.ts';
import type { JsonObject } from '../wire/json.ts';
import { canonicalJson } from '../wire/write-json.ts';
import { assertFields, assertPatterns } from './options.ts';
import type { Pattern } from './protocol.ts';
import { SESSION_OPTIONS, type SessionOptions } from './session.ts';

/** The options of a ClientSession. A keyring supplies several of them: `...keyringOptions(keyring)`. */
export interface ClientOptions extends SessionOptions {
  /** The identity's site id, which the client sends to the hub in its HELLO. It may be empty. */
  siteId: string;
  /**
   * Looks up the stored static key of a hub (default none: no hub counts as pinned). Return its 32 bytes, or `undefined` if none was ever stored. If the pin
   * store is unreadable, throw; never return `undefined`. The session then ends before message 1.
   */
  pin?: ((nodeId: string) => Uint8Array | undefined) | undefined;
  /**
   * Looks up the stored PSK, 32 bytes, of this identity at a hub. Anything else, or a throw, counts as none
   * (default none: the session asks with `psk-needed`).
   */
  psk?: ((nodeId: string) => Uint8Array | undefined) | undefined;
  /**
   * Which hubs to trust (default `first-use`, as in the spec). `first-use` trusts a hub that is not pinned if it knows the
   * password, and pins it. `pinned-only` ends the session with `unknown-hub` before message 1 is sent to such a hub.
   */
  trust?: 'first-use' | 'pinned-only' | undefined;
  /** Whether any hub is pinned (default false). If so, a hub that is not pinned is announced by the event `new-hub`. */
  hasPins?: boolean | undefined;
  /**
   * Whether no hub has accepted this static key yet (default false). If so, a pinned hub most likely knows another key
   * of this client, and the session warns with the event `static-key-fresh`.
   */
  staticKeyIsFresh?: boolean | undefined;
  /** Further fields of the HELLO payload. They replace the defaults for `pubkey`, `session` and `site_id` (default none). */
  hello?: JsonObject | undefined;
  /**
   * Sent in message 1: whether binary frames are preferred (default false). HiveMind's hub then sends bus messages in a binary form
   * of its own, which this library delivers as bytes and does not read: leave it out unless your application does.
   */
  binarize?: boolean | undefined;
  /** Sent in message 1: the JSON encodings that the client understands (default none). */
  encodings?: string[] | undefined;
  /** The handshake patterns to use (default both). With XXpsk2 alone the pin still holds. */
  patterns?: Pattern[] | undefined;
  /**
   * What to do with the pin after a failed KKpsk0 (default `unpin`, as in the spec). `unpin` drops it, and the next attempt
   * trusts any hub that knows the password. `keep-pin` keeps it; make the next attempt with `patterns: ['XXpsk2']`, with
   * which the pin still holds, as ConnectionPolicy does. Anyone between client and hub can make a KKpsk0 fail, without
   * knowing any secret. With `trust: 'pinned-only'` the pin is always kept: without it, the client could not connect again.
   */
  onKkFailure?: 'unpin' | 'keep-pin' | undefined;
  /**
   * Whether to deliver messages in parts, as `chunk` events, instead of reassembling them (default false). For devices
   * with less memory than a message may need. A part is at most one transport message.
   */
  streams?: boolean | undefined;
  /**
   * The static key of the hub that will most likely answer, 32 bytes, such as the only pin: what KKpsk0 computes from it is
   * then computed in the constructor, before the connection is made (default none). It decides nothing about trust.
   */
  expectedHubKey?: Uint8Array | undefined;
  /**
   * Whether no call may take much longer than an X25519 (default false), the longest step on a device. The handshake then pauses
   * after each step: the session emits `paused` and goes on when `resume` is called. Needs a `staticKey` with its public key.
   */
  paced?: boolean | undefined;
}

/** The names of all options. Any other is refused. */
export const CLIENT_OPTIONS: readonly (keyof ClientOptions)[] = (
  SESSION_OPTIONS as readonly (keyof ClientOptions)[]
).concat([
  'siteId',
  'pin',
  'psk',
  'trust',
  'hasPins',
  'staticKeyIsFresh',
  'hello',
  'binarize',
  'encodings',
  'patterns',
  'onKkFailure',
  'streams',
  'expectedHubKey',
  'paced',
]);

/** What only the handshake needs. It is dropped when the handshake is done, and when the session ends. */
export interface Preparation {
  readonly pinOf: ((nodeId: string) => unknown) | undefined;
  readonly pskOf: ((nodeId: string) => unknown) | undefined;
  readonly staticKeyIsFresh: boolean;
  readonly trustsNewHubs: boolean;
  readonly hasPins: boolean;
  readonly hello: JsonObject;
  readonly message1Payload: Uint8Array;
  readonly patterns: readonly Pattern[];
  /** The canonical JSON of the hub's HELLO payload. */
  hubHello: Uint8Array;
  prologue: Uint8Array;
  pin: Uint8Array | undefined;
  /** The encoding that message 2 named, while message 3 waits for a shared secret. */
  encoding: string | undefined;
  /** The PSK from `providePsk`, until it is proved. */
  derivedPsk: Bytes | undefined;
  readonly expectedHubKey: Uint8Array | undefined;
  readonly isPaced: boolean;
}

const EMPTY = new Uint8Array(0);

/**
 * Checks the options that only the handshake needs.
 * @throws LocalError `bad-argument`; `not-json`, `unsafe-number`, `lone-surrogate` or `json-depth` if `encodings` or
 *   `hello` cannot be written as JSON
 */
export function prepare(options: ClientOptions): Preparation {
  const { siteId, pin, psk, trust, hasPins, staticKeyIsFresh, hello, binarize, encodings, patterns } =
    options;
  const { staticKey, expectedHubKey } = options;
  if (typeof siteId !== 'string') {
    throw new LocalError('bad-argument', `"siteId" expected string, got ${kindOf(siteId)}`);
  }
  if (pin !== undefined) assertFunction(pin, 'pin');
  if (psk !== undefined) assertFunction(psk, 'psk');
  if (encodings !== undefined && !isStringArray(encodings)) {
    throw new LocalError('bad-argument', '"encodings" expected an array of strings');
  }
  if (expectedHubKey !== undefined) assertBytes(expectedHubKey, 'expectedHubKey', KEY_LENGTH);
  const isPaced = assertFlag(options.paced, 'paced');
  if (isPaced && isBytes(staticKey)) {
    throw new LocalError('bad-argument', '"staticKey" expected a key pair, since the session is paced');
  }
  return {
    pinOf: pin,
    pskOf: psk,
    staticKeyIsFresh: assertFlag(staticKeyIsFresh, 'staticKeyIsFresh'),
    trustsNewHubs: assertChoice(trust, 'trust', ['first-use', 'pinned-only']) === 'first-use',
    hasPins: assertFlag(hasPins, 'hasPins'),
    hello: composePayload({ pubkey: null, site_id: siteId }, assertFields(hello, 'hello')),
    message1Payload: canonicalJson({
      binarize: assertFlag(binarize, 'binarize'),
      encodings: encodings ?? [],
    }),
    patterns: assertPatterns(patterns),
    hubHello: EMPTY,
    prologue: EMPTY,
    pin: undefined,
    encoding: undefined,
    derivedPsk: undefined,
    expectedHubKey: expectedHubKey === undefined ? undefined : copyBytes(expectedHubKey),
    isPaced,
  };
}
