/**
 * Addresses that the platform refuses although the core accepts them, such as `300.1.1.1`. The errors of a platform quote the
 * URL, which contains the access key, so none of them is passed on, not even as a cause.
 */
import { LocalError } from 'hub-protocol';

/**
 * Checks that the platform accepts an address, as far as it has a URL class.
 * @throws LocalError `bad-endpoint`
 */
export function assertAddress(url: string): void {
  if (typeof URL === 'undefined') return;
  try {
    new URL(url.replace(/^[^:]+/, 'https')); // other schemes have weaker rules for hosts
  } catch {
    throw new LocalError('bad-endpoint', 'the identity’s address has a host that no URL can have');
  }
}

/** The error for whatever a platform throws when it opens a connection. It has the code of the platform's error. */
export function cannotOpen(error: unknown): LocalError {
  const { code } = Object(error) as { code?: unknown };
  const shown = typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? ` (${code})` : '';
  return new LocalError(
    'bad-endpoint',
    `the platform cannot open a connection to the identity’s address${shown}: check the address and the options of the connection`,
  );
}
