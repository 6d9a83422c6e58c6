/** Which pattern and suite a client chooses (spec, "Hub connection (protocol v3)", Selection). */

import type { CipherName, Crypto } from '../crypto/crypto.ts';
import { RemoteError } from '../errors.ts';
import { ALL_SUITES, type Pattern, SUITES, type Suite } from '../noise/patterns.ts';

/** The patterns and suites of a hub's HANDSHAKE; names it does not know are of no concern to a client. */
export interface Offer {
  readonly patterns: readonly string[];
  readonly suites: readonly string[];
}

export interface Selection {
  readonly pattern: Pattern;
  readonly suite: Suite;
}

/** The suites that a crypto can do, in its order of preference. */
export function suitesOf(crypto: Crypto): Suite[] {
  const suites: Suite[] = [];
  const names = Object.keys(crypto.ciphers) as CipherName[];
  for (let i = 0; i < names.length; i++) {
    for (let j = 0; j < ALL_SUITES.length; j++) {
      if (SUITES[ALL_SUITES[j]!] === names[i] && crypto.ciphers[names[i]!] !== undefined) {
        suites.push(ALL_SUITES[j]!);
      }
    }
  }
  return suites;
}

/**
 * Takes the first of the client's suites that the hub offers too, then KKpsk0 where the client holds a pin for the
 * hub and the hub offers it, XXpsk2 otherwise.
 * @param own - the client's suites in order of preference, and whether it holds the hub's static key
 * @throws RemoteError `no-common-suite`, `no-common-pattern`
 */
export function selectNoise(offer: Offer, own: { suites: readonly Suite[]; pinned: boolean }): Selection {
  for (let i = 0; i < own.suites.length; i++) {
    const suite = own.suites[i]!;
    if (offer.suites.indexOf(suite) < 0) continue;
    if (own.pinned && offer.patterns.indexOf('KKpsk0') >= 0) return { pattern: 'KKpsk0', suite };
    if (offer.patterns.indexOf('XXpsk2') >= 0) return { pattern: 'XXpsk2', suite };
    throw new RemoteError(
      'no-common-pattern',
      'the hub offers no handshake pattern that this client can use',
    );
  }
  throw new RemoteError(
    'no-common-suite',
    'the hub offers no cipher suite that this client has the cryptography for',
  );
}
