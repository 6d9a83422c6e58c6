/**
 * The patterns and suites of protocol 3. noise/patterns.ts may have more: only those listed here are offered and
 * accepted. Spec, "Hub connection (protocol v3)".
 */
import type { Pattern, Suite } from '../noise/patterns.ts';

/** The patterns; every hub must offer the first one. */
export const OFFERED_PATTERNS: readonly Pattern[] = ['XXpsk2', 'KKpsk0'];

/** The suites; every hub must offer the first one. */
export const OFFERED_SUITES: readonly Suite[] = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];
