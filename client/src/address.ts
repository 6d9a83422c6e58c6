/**
 * Addresses that the platform refuses although the core accepts them, such as `300.1.1.1`. The errors of a platform quote the
 * URL, which contains the access key, so none of them is passed on, not even as a cause.
 */
import { type Identity, LocalError, type SelectedEndpoint, selectEndpoint } from 'hub-protocol';
import type { ConnectOptions } from './options.ts';

const ENTRIES = {
  wss: 'hub-protocol-client (in a page: hub-protocol-client/browser)',
  https: 'hub-protocol-client/https',
  mqtt: 'hub-protocol-client/mqtt',
} as const;

/**
 * Selects the address of an identity for a protocol.
 * @throws LocalError `unsupported-protocol` if the identity has only addresses for other protocols; otherwise as `selectEndpoint`, and
 *   `bad-endpoint` for an address that the platform refuses
 */
export function addressOf(
  identity: Identity,
  protocol: keyof typeof ENTRIES,
  { allowPlaintext }: Pick<ConnectOptions, 'allowPlaintext'>,
): SelectedEndpoint {
  try {
    const endpoint = selectEndpoint(identity, { requested: protocol, allowPlaintext });
    assertAddress(endpoint.url);
    return endpoint;
  } catch (error) {
    const { code } = error as LocalError;
    if (code === 'bad-endpoint' && hasZone(identity)) {
      throw new LocalError(
        'bad-endpoint',
        'the identity’s address has an IPv6 address with a zone (%), which is not supported: use an address without one, or a name',
      );
    }
    if (code !== 'no-endpoint') throw error;
    const other = selectEndpoint(identity, { allowPlaintext: true }).protocol; // throws the same error if there is none
    throw new LocalError(
      'unsupported-protocol',
      `the identity has an address for ${other}, but none for ${protocol}: import connect from ${ENTRIES[other]}`,
    );
  }
}

function hasZone({ defaultMaster, dataPlaneEndpoints, mqtt }: Identity): boolean {
  const { wss, https } = dataPlaneEndpoints;
  return [defaultMaster, wss, https, mqtt?.endpoint].some((address) => /\[[^\]]*%/.test(address ?? ''));
}

/**
 * Checks that the platform accepts an address, as far as it has a URL class.
 * @throws LocalError `bad-endpoint`
 */
function assertAddress(url: string): void {
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

/** The header by which firewalls know programs: many refuse a request without one. */
export function userAgentHeader(userAgent: string): { readonly 'user-agent': string } {
  return { 'user-agent': userAgent.replace(/[^\x20-\x7e]/g, '?') };
}
