/**
 * Where the broker is, and whether the way there is encrypted. The effective URL decides: `tls` makes mqtt: to mqtts:
 * and ws: to wss:, and no flag makes a scheme that cannot be trusted with credentials one that can.
 */
import { LocalError } from '../errors.ts';
import { splitUrl } from '../issued/url.ts';
import { readMqtt } from './mqtt.ts';

export interface BrokerEndpoint {
  /** To connect to. It holds no credentials. */
  readonly url: string;
  /** An IPv6 address is without its brackets. */
  readonly host: string;
  /** As given, or the scheme's own. */
  readonly port: number;
  readonly tls: boolean;
}

const WITHOUT_TLS = ['mqtt', 'ws'];
const PORTS: { readonly [scheme: string]: number } = { mqtt: 1883, mqtts: 8883, ssl: 8883, ws: 80, wss: 443 };

/**
 * The broker's address, as mqtt:, mqtts:, ssl:, ws: or wss:.
 * @param mqtt - as issued, under any names, or `identity.mqtt`
 * @throws LocalError `bad-endpoint` for any other URL and for one with user, password, query or fragment;
 *   `identity-field`
 */
export function brokerEndpoint(mqtt: object): BrokerEndpoint {
  const { endpoint, tls } = readMqtt(mqtt);
  const parts = splitUrl((endpoint ?? '').trim());
  if (parts === undefined || !PORTS.hasOwnProperty(parts.scheme)) {
    throw badEndpoint('is no URL that starts with mqtt, mqtts, ssl, ws or wss, then ://');
  }
  const { host, path } = parts;
  // An unescaped slash in a password ends the host, and leaves the @ in the path.
  if (parts.userinfo !== '' || path.indexOf('@') >= 0) {
    throw badEndpoint('holds a user or a password, which have fields of their own');
  }
  if (parts.query !== '' || parts.fragment !== '') throw badEndpoint('has a query or a fragment');
  const scheme = tls && WITHOUT_TLS.indexOf(parts.scheme) >= 0 ? `${parts.scheme}s` : parts.scheme;
  const port = parts.port === undefined ? '' : `:${parts.port}`;
  const isWebSocket = scheme === 'ws' || scheme === 'wss';
  return {
    url: `${scheme}://${host}${port}${isWebSocket ? path.replace(/\/$/, '') : ''}`,
    host: host.charAt(0) === '[' ? host.slice(1, -1) : host,
    port: parts.port ?? PORTS[scheme]!,
    tls: WITHOUT_TLS.indexOf(scheme) < 0,
  };
}

function badEndpoint(fault: string): LocalError {
  return new LocalError('bad-endpoint', `the broker’s endpoint ${fault}`);
}
