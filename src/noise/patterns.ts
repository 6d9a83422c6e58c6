/**
 * The handshake patterns and cipher suites that HandshakeState knows, as data (Noise spec, sections 7.5, 9.4 and 8). The
 * protocol decides which of them to offer. DH function and hash are the same in all suites and are called by name.
 */
import { readArgument } from '../arguments.ts';
import type { CipherName } from '../crypto/crypto.ts';

/** A handshake pattern, by its name in the Noise spec. */
export type Pattern = 'XXpsk2' | 'KKpsk0';

/** A DH function, a cipher and a hash function, by their names in the Noise spec. */
export type Suite = '25519_ChaChaPoly_SHA256' | '25519_AESGCM_SHA256';

/** Section 7.1. `psk` mixes in the pre-shared key (section 9). */
export type Token = 'e' | 's' | 'ee' | 'es' | 'se' | 'ss' | 'psk';

/** A handshake pattern as data. */
export interface HandshakePattern {
  /** Whether both static keys are known beforehand, as pre-messages `-> s` and `<- s`. */
  readonly staticKeysKnown: boolean;
  /** The tokens of the messages, the initiator's first. */
  readonly messages: readonly (readonly Token[])[];
}

export const PATTERNS: { readonly [name in Pattern]: HandshakePattern } = {
  XXpsk2: {
    staticKeysKnown: false,
    messages: [['e'], ['e', 'ee', 's', 'es', 'psk'], ['s', 'se']],
  },
  KKpsk0: {
    staticKeysKnown: true,
    messages: [
      ['psk', 'e', 'es', 'ss'],
      ['e', 'ee', 'se'],
    ],
  },
};

export const ALL_PATTERNS: readonly Pattern[] = /* @__PURE__ */ Object.keys(PATTERNS) as Pattern[];

export const ALL_SUITES: readonly Suite[] = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];

/** Whether a value is the name of a pattern that HandshakeState knows. */
export function isPattern(value: unknown): value is Pattern {
  return ALL_PATTERNS.indexOf(value as Pattern) >= 0;
}

/** Whether a value is the name of a suite that HandshakeState knows. */
export function isSuite(value: unknown): value is Suite {
  return ALL_SUITES.indexOf(value as Suite) >= 0;
}

/** The cipher of a suite. */
export function cipherNameOf(suite: Suite): CipherName {
  return suite === '25519_ChaChaPoly_SHA256' ? 'ChaChaPoly' : 'AESGCM'; // a part of its name would be a string in RAM
}

/** The name of a Noise protocol. */
export function nameOf(pattern: Pattern, suite: Suite): string {
  return `Noise_${pattern}_${suite}`;
}

/**
 * The name of the Noise protocol, from which the handshake hash starts (Noise spec, section 8).
 * @param pattern - as in the options of HandshakeState; whether there is such a pattern is not checked
 * @param suite - as in the options of HandshakeState; whether there is such a suite is not checked
 * @returns `Noise_<pattern>_<suite>`
 * @throws LocalError `bad-argument` for a value that cannot be written as a string
 *
 * @example
 * import { protocolName } from 'hub-protocol/parts';
 *
 * console.log(protocolName('XXpsk2', '25519_ChaChaPoly_SHA256')); // Noise_XXpsk2_25519_ChaChaPoly_SHA256
 */
export function protocolName(pattern: Pattern, suite: Suite): string {
  return readArgument('pattern', () => nameOf(pattern, suite));
}
