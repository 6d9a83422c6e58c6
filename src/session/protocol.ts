/**
 * What protocol 3 offers and accepts. The Noise framework may know more patterns and suites than these: a pattern or a
 * suite is offered only if it is listed here. Spec, "Hub connection (protocol v3)".
 */
import type { Suite } from '../noise/patterns.ts';

/** A handshake pattern of protocol 3. */
export type Pattern = 'XXpsk2' | 'KKpsk0';

/** The patterns; the first one is required of every hub. */
export const OFFERED_PATTERNS: readonly Pattern[] = ['XXpsk2', 'KKpsk0'];

/** The suites; the first one is required of every hub. */
export const OFFERED_SUITES: readonly Suite[] = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];
