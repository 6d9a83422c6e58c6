/** The handshake patterns and cipher suites of protocol 3, as data (Noise spec, sections 7.5, 9.4 and 8). */
import type { CipherName } from '../crypto/crypto.ts';

/** A pattern that HandshakeState knows. Which of them a protocol offers is for the protocol to say. */
export type HandshakePatternName = 'XXpsk2' | 'KKpsk0';
export type Pattern = HandshakePatternName;
export type Suite = '25519_ChaChaPoly_SHA256' | '25519_AESGCM_SHA256';

export type Token = 'e' | 's' | 'ee' | 'es' | 'se' | 'ss' | 'psk';

export interface HandshakePattern {
  /** Whether both static keys are known beforehand: the pre-messages `-> s` and `<- s`. */
  readonly staticKeysKnown: boolean;
  /** The messages, the first one the initiator's. */
  readonly messages: readonly (readonly Token[])[];
}

export const PATTERNS: { readonly [name in HandshakePatternName]: HandshakePattern } = {
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

/** The cipher of each suite. */
export const SUITES: { readonly [suite in Suite]: CipherName } = {
  '25519_ChaChaPoly_SHA256': 'ChaChaPoly',
  '25519_AESGCM_SHA256': 'AESGCM',
};

/** The protocol's patterns, the required one first. */
export const ALL_PATTERNS: readonly Pattern[] = Object.keys(PATTERNS) as Pattern[];

/** The protocol's suites, the required one first. */
export const ALL_SUITES: readonly Suite[] = Object.keys(SUITES) as Suite[];

/** Whether a value names a pattern of the protocol. */
export function isPattern(value: unknown): value is Pattern {
  return ALL_PATTERNS.indexOf(value as Pattern) >= 0;
}

/** Whether a value names a suite of the protocol. */
export function isSuite(value: unknown): value is Suite {
  return ALL_SUITES.indexOf(value as Suite) >= 0;
}

/** `Noise_<pattern>_<suite>`, the ASCII name that the handshake hash starts from (Noise spec, section 8). */
export function protocolName(pattern: Pattern, suite: Suite): string {
  return `Noise_${pattern}_${suite}`;
}
