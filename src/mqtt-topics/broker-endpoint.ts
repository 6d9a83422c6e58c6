/**
 * Where the broker is, and whether the connection uses TLS. The scheme of the resulting URL decides: the flag `tls`
 * turns mqtt: into mqtts: and ws: into wss:, and never turns TLS off.
 */

import { assertFlag, readArgument, readOptions } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import { type PlaintextOptions, splitUrl } from '../url.ts';
import { mqttFields, readMqtt } from './mqtt.ts';

/** The address of an MQTT broker. */
export interface BrokerEndpoint {
  /** The URL to connect to: mqtt:, mqtts:, ssl:, ws: or wss:. It contains no credentials. */
  readonly url: string;
  /** The host. An IPv6 address has no brackets. */
  readonly host: string;
  /** The port, 1 to 65535: from the URL, or the default of its scheme. */
  readonly port: number;
  /** Whether the connection uses TLS. */
  readonly tls: boolean;
}

const WITHOUT_TLS = ['mqtt', 'ws'];
const PORTS: { readonly [scheme: string]: number } = { mqtt: 1883, mqtts: 8883, ssl: 8883, ws: 80, wss: 443 };

/**
 * Returns the broker's address.
 * @param mqtt - `identity.mqtt`, or an `mqtt` object as issued
 * @param options - `allowPlaintext`: whether to accept an address without TLS (default false)
 * @returns the URL and its parts, without credentials
 * @throws LocalError `bad-endpoint` for anything but a URL with one of these schemes, and for a URL with a user, a
 *   password, a query or a fragment; `plaintext-endpoint` for a URL without TLS, unless it is allowed; `identity-field`
 *   if `mqtt` is not an object; `bad-argument`
 * @see spec, "Client identity"
 *
 * @example
 * import { brokerEndpoint } from 'hub-protocol';
 *
 * const mqtt = { endpoint: 'mqtts://broker.example', username: 'u', password: 'p', topic_prefix: 'hm/t1/kiosk-7' };
 * const { url, host, port, tls } = brokerEndpoint(mqtt);
 * console.log(url, host, port, tls); // mqtts://broker.example broker.example 8883 true
 */
export function brokerEndpoint(mqtt: object, options: PlaintextOptions = {}): BrokerEndpoint {
  return readArgument('mqtt', () => {
    const given = readOptions(options, 'options', { allowPlaintext: true });
    const allowPlaintext = assertFlag(given.allowPlaintext, 'allowPlaintext');
    const endpoint = readBrokerEndpoint(mqtt);
    if (!endpoint.tls && !allowPlaintext) throw errors.plaintextEndpoint('the broker’s address');
    return endpoint;
  });
}

/** The broker's address, with or without TLS. */
export function readBrokerEndpoint(mqtt: object): BrokerEndpoint {
  const { endpoint, tls } = readMqtt(mqttFields(mqtt));
  const parts = splitUrl((endpoint ?? '').trim());
  if (parts === undefined || !PORTS.hasOwnProperty(parts.scheme)) {
    throw errors.badAddress(
      'the broker’s address',
      'is not a URL that starts with mqtt, mqtts, ssl, ws or wss, then ://',
    );
  }
  const { host, path } = parts;
  // An unescaped slash in a password ends the host, and leaves the @ in the path.
  if (parts.userinfo !== '' || path.indexOf('@') >= 0) {
    throw errors.badAddress(
      'the broker’s address',
      'contains a user or a password: issue those in separate fields',
    );
  }
  if (parts.query !== '' || parts.fragment !== '')
    throw errors.badAddress('the broker’s address', 'has a query or a fragment');
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
