/** Where to connect to, and by which protocol. Spec, "Client library contract": WSS, then HTTPS, then MQTT. */
import { assertString, bytesToBase64, utf8ToBytes } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { splitUrl, trimSlashes } from '../issued/url.ts';
import { brokerEndpoint } from '../mqtt-topics/broker-endpoint.ts';
import type { Identity, Protocols } from './identity.ts';

export interface EndpointOptions {
  /** What the caller can speak; all three by default. Their order does not matter. */
  supported?: readonly (keyof Protocols)[] | undefined;
  /** The only one to consider, if any. */
  requested?: keyof Protocols | undefined;
}

export interface SelectedEndpoint {
  readonly protocol: keyof Protocols;
  /** It may hold credentials. */
  readonly url: string;
}

const PREFERENCE: readonly (keyof Protocols)[] = ['wss', 'https', 'mqtt'];
const WITHOUT_TLS = { wss: 'ws', https: 'http' };

/**
 * The first protocol that the hub serves, the caller supports, and the identity has an address for. An address without
 * TLS is answered where the identity says so: whether to use it is the caller's decision.
 * @param identity - what parseIdentity() answers
 * @throws LocalError `unsupported-protocol`, `no-endpoint`, `bad-endpoint`; `bad-argument`
 */
export function selectEndpoint(identity: Identity, options: EndpointOptions = {}): SelectedEndpoint {
  const { supported = PREFERENCE, requested } = options;
  if (!identity?.protocols || !identity.dataPlaneEndpoints) {
    throw new LocalError('bad-argument', '"identity" expected what parseIdentity() answers');
  }
  if (!Array.isArray(supported)) {
    throw new LocalError('bad-argument', '"supported" expected an array of protocols');
  }
  if (requested !== undefined && supported.indexOf(requested) < 0) {
    throw new LocalError('unsupported-protocol', 'the protocol asked for is not among the supported ones');
  }
  for (let i = 0; i < PREFERENCE.length; i++) {
    const protocol = PREFERENCE[i]!;
    if (requested === undefined ? supported.indexOf(protocol) < 0 : requested !== protocol) continue;
    const url = identity.protocols[protocol] ? addressOf(identity, protocol) : undefined;
    if (url !== undefined) return { protocol, url };
  }
  throw new LocalError(
    'no-endpoint',
    'the identity has no address for a protocol that the hub serves and that may be used here',
  );
}

function addressOf(identity: Identity, protocol: keyof Protocols): string | undefined {
  if (protocol === 'mqtt') return identity.mqtt && brokerEndpoint(identity.mqtt).url;
  const url = identity.dataPlaneEndpoints[protocol]?.trim() || defaultAddress(identity, protocol);
  if (!url) return undefined;
  const parts = splitUrl(url);
  if (parts === undefined || (parts.scheme !== protocol && parts.scheme !== WITHOUT_TLS[protocol])) {
    throw badEndpoint(`the identity’s address for ${protocol} is no URL for that`);
  }
  return url;
}

/** What default_master, default_port and default_path make together. */
function defaultAddress(identity: Identity, protocol: 'wss' | 'https'): string | undefined {
  const master = identity.defaultMaster?.trim();
  if (!master) return undefined;
  const parts = splitUrl(master.indexOf('://') < 0 ? `${protocol}://${master}` : master);
  if (parts === undefined || parts.query !== '' || parts.fragment !== '') {
    throw badEndpoint('the identity’s default_master is neither a host nor a URL without query and fragment');
  }
  const isPlain = parts.scheme === WITHOUT_TLS.wss || parts.scheme === WITHOUT_TLS.https;
  if (!isPlain && parts.scheme !== 'wss' && parts.scheme !== 'https') {
    throw badEndpoint('the identity’s default_master has a scheme other than wss, ws, https and http');
  }
  const scheme = isPlain ? WITHOUT_TLS[protocol] : protocol;
  const port = parts.port ?? identity.defaultPort;
  const path = trimSlashes(`${trimSlashes(parts.path)}/${trimSlashes(identity.defaultPath.trim())}`);
  return `${scheme}://${parts.userinfo}${parts.host}:${port}${path && `/${path}`}`;
}

/**
 * The URL of a WebSocket, with the authorization that a hub expects in its query. It is a secret like the access key:
 * follow no redirect, and log neither it nor the messages of libraries that show it.
 * @param url - ws: or wss:, as selectEndpoint() answers it; its query stays, an authorization in it does not
 * @param userAgent - the program's name, without a colon
 * @throws LocalError `bad-endpoint`, `bad-argument`; `lone-surrogate` for a text without a form in UTF-8
 */
export function authorizedUrl(url: string, userAgent: string, accessKey: string): string {
  assertString(url, 'url');
  assertString(userAgent, 'userAgent');
  assertString(accessKey, 'accessKey');
  if (userAgent.indexOf(':') >= 0) {
    throw new LocalError(
      'bad-argument',
      '"userAgent" expected a text without a colon, which ends it at the hub',
    );
  }
  const parts = splitUrl(url);
  if (parts === undefined || (parts.scheme !== 'wss' && parts.scheme !== 'ws') || parts.fragment !== '') {
    throw badEndpoint('"url" is no URL of a WebSocket');
  }
  const { path, query } = parts;
  const authorization = encodeURIComponent(bytesToBase64(utf8ToBytes(`${userAgent}:${accessKey}`)));
  const others = query
    .slice(1)
    .split('&')
    .filter((field) => field !== '' && field.indexOf('authorization=') !== 0);
  const address = url.slice(0, url.length - query.length) + (path === '' ? '/' : '');
  return `${address}?${others.concat(`authorization=${authorization}`).join('&')}`;
}

function badEndpoint(fault: string): LocalError {
  return new LocalError('bad-endpoint', fault);
}
