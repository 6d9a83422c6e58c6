/** The header Retry-After (RFC 9110, section 10.2.3). */

/** The longest pause that a server can ask for, unless the policy allows more, in milliseconds: the policy's own longest. */
const MAX_PAUSE = 600_000;

/**
 * Returns the pause that a server asks for, in milliseconds; 0 if it asks for none.
 * @param header - a number of seconds, or a date
 * @param maxPause - the policy's longest pause: without a bound any server could stop a client for years
 */
export function readRetryAfter(header: string | undefined, maxPause: number = MAX_PAUSE): number {
  const value = header?.trim() ?? '';
  const pause = /^\d+$/.test(value) ? 1000 * Number(value) : Date.parse(value) - Date.now();
  return pause > 0 ? Math.min(pause, maxPause) : 0; // NaN if it is neither
}
