/** Addresses without TLS are refused unless the caller allows them. */
import { LocalError } from '../errors.ts';

export interface PlaintextOptions {
  /** Whether an address without TLS will do (default false): anyone on the way can read the credentials. */
  allowPlaintext?: boolean | undefined;
}

/** @param what - the address */
export function plaintextEndpoint(what: string): LocalError {
  return new LocalError(
    'plaintext-endpoint',
    `${what} is without TLS, and anyone on the way could read the credentials: issue one with TLS, or pass allowPlaintext: true where the network is trusted`,
  );
}
