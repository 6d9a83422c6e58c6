/** The client's choice of pattern and suite (spec, "Hub connection (protocol v3)", Selection). */

import { assertFlag, readArgument, readOptions } from '../arguments.ts';
import type { CryptoProvider } from '../crypto/crypto.ts';
import * as errors from '../errors-table.ts';
import { cipherNameOf, type Pattern, type Suite } from '../noise/patterns.ts';
import { isStringArray } from '../wire/handshake.ts';
import { OFFERED_PATTERNS, OFFERED_SUITES } from './options.ts';

/** A hub's offer in its HANDSHAKE. A client skips names that it does not know. */
export interface Offer {
  /** The names of the handshake patterns. */
  readonly patterns: readonly string[];
  /** The names of the cipher suites. */
  readonly suites: readonly string[];
}

/** A client's choice. */
export interface NoiseSelection {
  /** The handshake pattern. */
  readonly pattern: Pattern;
  /** The cipher suite. */
  readonly suite: Suite;
}

/** The suites that a crypto supports, in its order of preference. */
export function suitesOf(crypto: Pick<CryptoProvider, 'ciphers'>): Suite[] {
  return Object.keys(crypto.ciphers)
    .map((name) => `25519_${name}_SHA256` as Suite)
    .filter(
      (suite) => OFFERED_SUITES.indexOf(suite) >= 0 && crypto.ciphers[cipherNameOf(suite)] !== undefined,
    );
}

/**
 * Selects the first of the client's suites that the hub offers too; then KKpsk0 if the hub is pinned and offers it,
 * otherwise XXpsk2.
 * @param offer - the patterns and suites that the hub offers
 * @param own - `suites`: the client's suites in order of preference; `pinned`: whether the client has pinned the hub
 * @returns the pattern and the suite
 * @throws RemoteError `no-common-suite`, `no-common-pattern`
 * @throws LocalError `bad-argument`
 * @see spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { selectNoise } from 'hub-protocol/parts';
 *
 * const offer = { patterns: ['XXpsk2', 'KKpsk0'], suites: ['25519_AESGCM_SHA256', '25519_ChaChaPoly_SHA256'] };
 * const { pattern, suite } = selectNoise(offer, { suites: ['25519_ChaChaPoly_SHA256'], pinned: true });
 * console.log(pattern, suite); // KKpsk0 25519_ChaChaPoly_SHA256
 */
export function selectNoise(
  offer: Offer,
  own: { suites: readonly Suite[]; pinned: boolean },
): NoiseSelection {
  const { suites: ownSuites, pinned } = readOptions(own, 'own', { suites: true, pinned: true });
  const { patterns, suites } = readArgument('offer', () => ({
    patterns: copyStrings(offer?.patterns),
    suites: copyStrings(offer?.suites),
  }));
  return select({ patterns, suites }, copyStrings(ownSuites), assertFlag(pinned, 'pinned'));
}

/** `selectNoise`, for arguments that were checked. */
export function select(
  { patterns, suites }: Offer,
  ownSuites: readonly Suite[],
  pinned: boolean,
): NoiseSelection {
  const suite = ownSuites.filter((name) => suites.indexOf(name) >= 0)[0];
  if (suite === undefined) throw errors.noCommonSuite();
  const pattern = pinned && patterns.indexOf('KKpsk0') >= 0 ? 'KKpsk0' : 'XXpsk2';
  if (patterns.indexOf(pattern) < 0) throw errors.noCommonPattern();
  return { pattern, suite };
}

/**
 * Checks that an offer has the pattern and the suite that every hub must offer. Otherwise a hub, or an impostor, could
 * choose which of the client's ciphers to attack.
 * @throws RemoteError `bad-offer`
 */
export function assertRequired({ patterns, suites }: Offer): void {
  if (patterns.indexOf(OFFERED_PATTERNS[0]!) < 0 || suites.indexOf(OFFERED_SUITES[0]!) < 0) {
    throw errors.incompleteOffer(OFFERED_PATTERNS, OFFERED_SUITES);
  }
}

function copyStrings<Name extends string>(names: readonly Name[]): Name[] {
  if (isStringArray(names)) return names.slice() as Name[];
  throw errors.badSelection();
}
