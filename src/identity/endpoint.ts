/** Selects the address to connect to, and the protocol. Spec, "Client library contract": WSS, then HTTPS, then MQTT. */

import { assertFlag, membersOf, readArgument, readOptions } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import { DATA_PLANE_ENDPOINTS, IDENTITY } from '../issued/aliases.ts';
import { currentName } from '../issued/fields.ts';
import { issuedOf } from '../issued/issued.ts';
import { readBrokerEndpoint } from '../mqtt-topics/broker-endpoint.ts';
import { type PlaintextOptions, splitUrl, trimSlashes } from '../url.ts';
import type { Identity, Protocols } from './identity.ts';
import { identityOf } from './read-identity.ts';

/** The options of selectEndpoint(). */
export interface EndpointOptions extends PlaintextOptions {
  /** The protocols that the caller supports (default all), in any order. */
  supported?: readonly (keyof Protocols)[] | undefined;
  /** The only protocol to consider (default any). */
  requested?: keyof Protocols | undefined;
}

/** The address to connect to. */
export interface SelectedEndpoint {
  /** The protocol to use. */
  readonly protocol: keyof Protocols;
  /** The URL, which may contain credentials. */
  readonly url: string;
  /** Whether connections to this URL use TLS. */
  readonly tls: boolean;
}

const PREFERENCE: readonly (keyof Protocols)[] = ['wss', 'https', 'mqtt'];
const WITHOUT_TLS = { wss: 'ws', https: 'http' };

/**
 * Selects the first of WSS, HTTPS and MQTT that the hub serves, that the caller supports, and for which the identity
 * has an address with TLS. If there is none, it selects the first with an address without TLS, but only with
 * `allowPlaintext: true`.
 *
 * The address for WSS and HTTPS is in `dataPlaneEndpoints`; without one, it is `defaultMaster` with port and path. For
 * MQTT it is `mqtt.endpoint`. An address that cannot be used is an error: it is not skipped.
 * @param identity - from parseIdentity(), or the object as issued
 * @param options - which protocols to consider, and whether to accept an address without TLS
 * @returns the protocol, its URL, and whether that uses TLS
 * @throws LocalError `unsupported-protocol` if the requested protocol is not among the supported ones; `no-endpoint`;
 *   `bad-endpoint` for an address that is not a URL, has another scheme, or was issued with a type that cannot be read;
 *   `plaintext-endpoint` if no address uses TLS and that is not allowed; `bad-argument`; and the codes of
 *   parseIdentity()
 * @see spec, "Local configuration"
 *
 * @example
 * import { parseIdentity, selectEndpoint } from 'hub-protocol';
 *
 * const issued = { access_key: 'kiosk-7', password: 'correct horse', default_master: 'wss://hub.example' };
 * const { protocol, url, tls } = selectEndpoint(parseIdentity(issued), { supported: ['wss', 'mqtt'] });
 * console.log(protocol, url, tls); // wss wss://hub.example:5679 true
 */
export function selectEndpoint(identity: Identity, options: EndpointOptions = {}): SelectedEndpoint {
  return readArgument('identity', () => {
    const given = readOptions(options, 'options', { supported: true, requested: true, allowPlaintext: true });
    const { supported = PREFERENCE, requested } = given;
    const allowPlaintext = assertFlag(given.allowPlaintext, 'allowPlaintext');
    if (!Array.isArray(supported)) {
      throw errors.expected('supported', 'an array of protocols');
    }
    if (requested !== undefined && supported.indexOf(requested) < 0) {
      throw errors.unsupportedProtocol();
    }
    const read = identityOf(identity);
    let plaintext: SelectedEndpoint | undefined;
    for (let i = 0; i < PREFERENCE.length; i++) {
      const protocol = PREFERENCE[i]!;
      if (requested === undefined ? supported.indexOf(protocol) < 0 : requested !== protocol) continue;
      const endpoint = read.protocols[protocol] ? endpointFor(protocol, read) : undefined;
      if (endpoint?.tls) return endpoint;
      plaintext = plaintext ?? endpoint;
    }
    if (plaintext === undefined) {
      throw errors.noEndpoint(() => misnomersIn(read));
    }
    if (!allowPlaintext) throw errors.plaintextAddress(plaintext);
    return plaintext;
  });
}

/** Names that people give to an address, but no identity has. No other unknown name is shown: it may be a secret. */
const MISNOMERS = /^(?:ur[il]|wss?|address|host(?:name)?|server|hub|endpoints?|websocket)$/i;

/** Lists the fields that look as if they were meant for an address. */
function misnomersIn(identity: Identity): string[] {
  return issuedOf(identity)!.unknown.filter((name) => MISNOMERS.test(name));
}

function endpointFor(protocol: keyof Protocols, identity: Identity): SelectedEndpoint | undefined {
  if (protocol === 'mqtt') {
    const { mqtt } = membersOf(identity, ['mqtt']);
    if (mqtt === undefined) return undefined;
    const { url, tls } = readBrokerEndpoint(mqtt);
    return { protocol, url, tls };
  }
  assertReadable(
    identity,
    `${currentName(IDENTITY.dataPlaneEndpoints)}.${currentName(DATA_PLANE_ENDPOINTS[protocol])}`,
  );
  const { [protocol]: address } = membersOf(identity.dataPlaneEndpoints, [protocol]);
  const url = address?.trim() || defaultAddress(protocol, identity);
  if (!url) return undefined;
  const scheme = splitUrl(url)?.scheme;
  if (scheme !== protocol && scheme !== WITHOUT_TLS[protocol]) {
    throw errors.badIdentityAddress(protocol);
  }
  return { protocol, url, tls: scheme === protocol };
}

/** The address that default_master, default_port and default_path form together. */
function defaultAddress(protocol: 'wss' | 'https', identity: Identity): string | undefined {
  assertReadable(identity, currentName(IDENTITY.defaultMaster));
  const master = membersOf(identity, ['defaultMaster']).defaultMaster?.trim();
  if (!master) return undefined;
  const parts = splitUrl(master.indexOf('://') < 0 ? `${protocol}://${master}` : master);
  if (parts === undefined || parts.query !== '' || parts.fragment !== '') {
    throw errors.badAddress(
      'the identity’s default_master',
      'is neither a host nor a URL without query and fragment',
    );
  }
  const isPlain = parts.scheme === WITHOUT_TLS.wss || parts.scheme === WITHOUT_TLS.https;
  if (!isPlain && parts.scheme !== 'wss' && parts.scheme !== 'https') {
    throw errors.badAddress(
      'the identity’s default_master',
      'has a scheme other than wss, ws, https and http',
    );
  }
  if (parts.port === undefined) assertReadable(identity, currentName(IDENTITY.defaultPort));
  assertReadable(identity, currentName(IDENTITY.defaultPath));
  const scheme = isPlain ? WITHOUT_TLS[protocol] : protocol;
  const port = parts.port ?? identity.defaultPort;
  const path = trimSlashes(`${trimSlashes(parts.path)}/${trimSlashes(identity.defaultPath.trim())}`);
  return `${scheme}://${parts.userinfo}${parts.host}:${port}${path && `/${path}`}`;
}

function assertReadable(identity: Identity, name: string): void {
  if (issuedOf(identity)!.unreadable.indexOf(name) < 0) return;
  throw errors.unreadableAddress(name);
}
