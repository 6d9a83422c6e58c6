/** Refuses addresses without TLS, unless the caller allows them. */
import { LocalError } from '../errors.ts';

/** The option of functions that refuse addresses without TLS. */
export interface PlaintextOptions {
  /**
   * Whether to accept an address without TLS (default false). Anyone on the network path can then read the credentials.
   */
  allowPlaintext?: boolean | undefined;
}

/**
 * The error for an address without TLS.
 * @param what - which address, for the message
 */
export function plaintextEndpoint(what: string): LocalError {
  return new LocalError(
    'plaintext-endpoint',
    `${what} is without TLS, so anyone on the network path could read the credentials: issue one with TLS, or pass allowPlaintext: true if the network is trusted`,
  );
}
