/**
 * What protocol 3 offers and accepts. The Noise framework may know more patterns and suites than these: a pattern or a
 * suite is offered only if it is listed here. Spec, "Hub connection (protocol v3)".
 */
import type { CipherName } from '../crypto/crypto.ts';

/** A handshake pattern of protocol 3. */
export type Pattern = 'XXpsk2' | 'KKpsk0';

/** A cipher suite of protocol 3. */
export type Suite = '25519_ChaChaPoly_SHA256' | '25519_AESGCM_SHA256';

/** The patterns; the first one is required of every hub. */
export const PATTERNS: readonly Pattern[] = ['XXpsk2', 'KKpsk0'];

/** The suites; the first one is required of every hub. */
export const SUITES: readonly Suite[] = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];

/** The cipher of each suite. */
export const CIPHERS: { readonly [suite in Suite]: CipherName } = {
  '25519_ChaChaPoly_SHA256': 'ChaChaPoly',
  '25519_AESGCM_SHA256': 'AESGCM',
};

/** Whether a value is the name of a handshake pattern of protocol 3. */
export function isPattern(value: unknown): value is Pattern {
  return PATTERNS.indexOf(value as Pattern) >= 0;
}
