/** The options of a ClientLink, and the types of its inputs. */
import { assertFlag, assertFunction, type OptionNames, readOptions } from '../arguments.ts';
import type { CryptoProvider, RandomBytes } from '../crypto/crypto.ts';
import { assertKeyring, type Keyring } from '../keyring/keyring.ts';
import type { PolicyOptions } from '../policy/connection-policy.ts';
import type { RequestScheduler } from '../requests/request-scheduler.ts';
import type { ClientOptions } from '../session/client-options.ts';
import type { Closing } from '../session/endings.ts';
import type { ReadyEvent } from '../session/events.ts';

/** The options of a ClientLink. */
export interface LinkOptions {
  /** The cryptography. */
  crypto: CryptoProvider;
  /** The random number generator. */
  randomBytes: RandomBytes;
  /** The identity's site id. It may be empty. */
  siteId: string;
  /** The keyring as it is stored. */
  keyring: Keyring;
  /** Further options of each ClientSession (default none). */
  session?: Partial<Omit<ClientOptions, 'crypto' | 'randomBytes' | 'siteId' | 'keyring'>> | undefined;
  /** Further options of the ConnectionPolicy (default none). */
  policy?: Partial<Omit<PolicyOptions, 'randomBytes'>> | undefined;
  /**
   * Makes the scheduler for the questions of a connection (default none: the link takes no questions, and a device need not load
   * the scheduler). It may be one of another file, such as `hub-protocol.requests.js`.
   */
  requests?: ((ready: ReadyEvent) => Pick<RequestScheduler, keyof RequestScheduler>) | undefined;
  /**
   * Whether others write to the same store, such as a second tab (default false). Before each connection the link then orders
   * `store`, even without a change: answer with what is stored.
   */
  shared?: boolean | undefined;
  /** Whether to tell each event of the session and each decision of the policy (default false). */
  trace?: boolean | undefined;
}

const LINK_OPTIONS: OptionNames<LinkOptions> = {
  crypto: true,
  randomBytes: true,
  siteId: true,
  keyring: true,
  session: true,
  policy: true,
  requests: true,
  shared: true,
  trace: true,
};

/**
 * What a link is doing, for people: `waiting` is the pause before it connects again, or before the first `start`; `asking`, from a
 * question to a person until it is `ready`, while it dials on.
 */
export type LinkState = 'connecting' | 'ready' | 'waiting' | 'asking' | 'ended';

/** How a transport ended: what `ClientSession.closed` takes, and what the server wants. */
export type LinkClosing = Exclude<Closing, number | 'timeout'> & {
  /** How long the server wants to be left alone, in milliseconds (default 0). Ten times the policy's `maxPause` limits it. */
  retryAfter?: number | undefined;
};

/** @throws LocalError `bad-argument`. The policy and each session check their own options */
export function readLinkOptions(options: LinkOptions): LinkOptions {
  const own = readOptions(options, 'options', LINK_OPTIONS);
  assertKeyring(own.keyring);
  if (own.requests !== undefined) assertFunction(own.requests, 'requests');
  assertFlag(own.shared, 'shared');
  assertFlag(own.trace, 'trace');
  return own;
}
