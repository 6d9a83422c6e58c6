/** Where a client connects. */

/** Where a connection leads, as far as a sentence may name it. */
export interface Place {
  readonly scheme: string;
  /** A name or an address. */
  readonly host: string;
  /** The host and the port. */
  readonly at: string;
  /** What is to answer there. */
  readonly partner: 'hub' | 'broker';
  /** The proxy that the environment names for it, and whether this program uses it. */
  readonly proxy?: { readonly at: string; readonly isUsed: boolean };
  /** Whether the program has passed its own agent. */
  readonly hasAgent?: boolean;
}

const PORTS: { readonly [scheme: string]: string } = {
  ws: '80',
  http: '80',
  wss: '443',
  https: '443',
  mqtt: '1883',
  mqtts: '8883',
  ssl: '8883',
};

/** The place of a URL that was checked. Leaves out credentials, path and query. */
export function placeOf(url: string, partner: Place['partner'] = 'hub'): Place {
  const [start = '', rest = ''] = url.split('://');
  const authority = rest.split(/[/?#]/)[0]!;
  const [, host = '', port] = /([^@[\]:]+|\[[^\]]+\])(?::(\d+))?$/.exec(authority) ?? [];
  const scheme = start.toLowerCase();
  return { scheme, host, at: `${host}:${port ?? PORTS[scheme] ?? ''}`, partner };
}

/** Why there is no connection, for an operator, where the platform keeps it to itself. */
export function unknownCause({ at, partner }: Place): string {
  return `No connection to ${at} can be made, and the platform does not say why. Check whether the ${partner} is running, its address, this machine’s network, the certificate and its authority, and whether the hub admits the access key.`;
}
