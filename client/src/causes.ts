/**
 * Why a connection could not be made: what the platforms' codes mean, the sentence for a person, and the pause that a server asks
 * for. The commands use it too.
 *
 * The messages of a platform's errors quote URLs, and thus the access key, and what a server says may be anything. So only codes
 * are read and shown.
 */

/** What prevented a connection. The library has errors with these codes. */
export type Cause = 'not-reachable' | 'certificate-refused' | 'not-a-hub' | 'broker-refused';

/** A cause, and the code of the platform: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `HTTP_404`, `CONNACK_5`. */
export interface Finding {
  readonly cause: Cause;
  readonly platformCode?: string | undefined;
}

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

/** Whether the code of an error names a cause. */
export function isCause(code: string): code is Cause {
  return OTHERS[code as Cause] !== undefined;
}

/** A code, and nothing else that an error could say. */
const CODE = /^[A-Z][A-Z0-9_/]{1,63}$/;
/** The codes of OpenSSL and of Node.js for a certificate that is not accepted, as far as they are not in the table. */
const OF_CERTIFICATE =
  /CERT|CRL|ISSUER|^INVALID_(CA|PURPOSE)$|^(CA|EE)_|^HOSTNAME_MISMATCH$|^PATH_LENGTH|^UNABLE_TO_VERIFY|^UNSPECIFIED$/;
/** The codes for a server that does not speak TLS, HTTP, or the protocol of WebSocket, as far as they are not in the table. */
const OF_ANOTHER_SERVER = /^(ERR_SSL_|TLS_ALERT_|HPE_|WS_ERR_)/;

/** Of the addresses of one name, the one that answered says more than one without a route. */
const TELLING = ['ECONNREFUSED', 'ETIMEDOUT'];

interface Coded {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  /** Of an AggregateError: one for each address of a name. */
  readonly errors?: readonly unknown[];
}

/**
 * Reads the error of a connection that could not be made: of a socket, of an HTTP request, or of `fetch`.
 * @returns `undefined` if the error has no code
 */
export function causeOf(error: unknown): Finding | undefined {
  const { code, message, cause, errors = [] } = Object(error) as Coded;
  const codes = [...errors.map((each) => Object(each).code), code, Object(cause).code].filter(
    (given) => typeof given === 'string' && CODE.test(given),
  ) as string[];
  // The code says less than this number, and often EPROTO, as of a server that does not speak TLS.
  const [, alert] = / alert number (\d{1,3})/.exec(`${message} ${Object(cause).message}`) ?? [];
  const platformCode = alert
    ? `TLS_ALERT_${alert}`
    : (TELLING.find((known) => codes.includes(known)) ?? codes[0]);
  if (platformCode === undefined) return undefined;
  return { cause: SENTENCES[platformCode]?.[0] ?? causeOfKind(platformCode), platformCode };
}

/**
 * Reads the error with which a connection failed before the other side had answered.
 * @param isConnected - whether the transport below was connected: TCP, or the HTTP of a WebSocket
 */
export function causeOfOpening(error: unknown, isConnected: boolean): Finding {
  const { name, message, cause } = Object(error) as Partial<Error & { cause: unknown }>;
  const [, status] = /^Unexpected server response: (\d{3})$/.exec(`${message}`) ?? []; // of ws, which has no other code for it
  if (status !== undefined)
    return { cause: isTemporary(+status) ? 'not-reachable' : 'not-a-hub', platformCode: `HTTP_${status}` };
  const isLate =
    [name, Object(cause).name].includes('TimeoutError') || /timed out|timeout/i.test(`${message}`);
  if (isLate) return causeOfSilence(isConnected);
  return causeOf(error) ?? { cause: isConnected ? 'not-a-hub' : 'not-reachable' };
}

/** The cause if the other side has not answered in time. */
export function causeOfSilence(isConnected: boolean): Finding {
  return { cause: isConnected ? 'not-a-hub' : 'not-reachable', platformCode: 'ETIMEDOUT' };
}

/** How long to wait for the other side to answer, in milliseconds: less than the deadline for its HELLO, which says less. */
export function openingTimeout(deadlines: { readonly 'awaiting-hello'?: number | undefined } = {}): number {
  return Math.ceil((2 / 3) * (deadlines['awaiting-hello'] ?? 30_000));
}

/**
 * The options of every socket: how long each address of a name may take before the next one is tried. The quarter second of Node.js is
 * less than a slow line takes for an answer, or any line for a packet that is sent again, so that no address would ever be reached.
 * @param timeout - how long the connection may take, in milliseconds
 */
export function socketOptions(timeout: number): { readonly autoSelectFamilyAttemptTimeout: number } {
  return { autoSelectFamilyAttemptTimeout: Math.min(5000, Math.ceil(timeout / 4)) };
}

function causeOfKind(platformCode: string): Cause {
  if (OF_ANOTHER_SERVER.test(platformCode)) return 'not-a-hub';
  return OF_CERTIFICATE.test(platformCode) ? 'certificate-refused' : 'not-reachable';
}

/**
 * Reads the HTTP status of an upgrade that was refused.
 * @returns `undefined` if a hub may have answered: 401 and 403, if it does not admit the client, and 408, 429 and 5xx, if it has no time
 */
export function causeOfStatus(status: number): Finding | undefined {
  if (isTemporary(status) || [401, 403].includes(status)) return undefined;
  return { cause: 'not-a-hub', platformCode: `HTTP_${status}` };
}

/** Whether a server that refuses with this status may accept later. */
const isTemporary = (status: number): boolean => status >= 500 || [408, 429].includes(status);

type Sentence = (place: Place) => string;

export const hasTls = ({ scheme }: Place): boolean => ['wss', 'https', 'mqtts', 'ssl'].includes(scheme);
const today = (): string => new Date().toISOString().slice(0, 10);

const NO_TLS: Sentence = ({ at }) =>
  `The server at ${at} most likely does not speak TLS. Check the port, and whether the address should use TLS.`;

/** Why a server refuses TLS: `TLS_ALERT_` and a number of RFC 8446, section 6. */
const NO_NAME: Sentence = ({ at, host }) =>
  `The server at ${at} refuses TLS: most likely it has no certificate for ${host}. ${/^\[|^[\d.]+$/.test(host) ? 'Use its name in the address, not the IP address.' : 'Check the name.'}`;
const TOO_OLD: Sentence = ({ at }) =>
  `The server at ${at} refuses TLS: most likely it has only old versions or ciphers, or no certificate. Ask its operator to update it.`;

/** The causes and sentences of single codes. */
export const SENTENCES: { readonly [platformCode: string]: readonly [Cause, Sentence] } = {
  ENOTFOUND: [
    'not-reachable',
    ({ host }) =>
      `There is no host with the name ${host}. Check the name, and the DNS server of this network.`,
  ],
  EAI_AGAIN: [
    'not-reachable',
    ({ host }) =>
      `The name ${host} cannot be resolved at the moment. Check whether this machine is connected to the network.`,
  ],
  ECONNREFUSED: [
    'not-reachable',
    (place) =>
      `Nothing listens at ${place.at}. Check the address and the port, and whether the ${place.partner} is running.`,
  ],
  EHOSTUNREACH: [
    'not-reachable',
    ({ host }) => `The host ${host} cannot be reached. Check whether it is switched on and connected.`,
  ],
  ENETUNREACH: [
    'not-reachable',
    ({ host }) => `This machine has no route to ${host}. Check its network connection.`,
  ],
  ETIMEDOUT: [
    'not-reachable',
    ({ at, partner }) =>
      `Nothing answered at ${at} in time. Check whether the ${partner} is switched on, the address, and whether a firewall blocks it.`,
  ],
  ECONNRESET: [
    'not-reachable',
    (place) =>
      place.partner === 'broker'
        ? `The broker at ${place.at} ended the connection without an answer. Check the port, whether it has TLS, the account, and whether the broker allows a will that is retained, with QoS 1: its log says why.`
        : hasTls(place)
          ? `The server at ${place.at} ended the connection without an answer. Check the port, and whether the hub is starting.`
          : `The server at ${place.at} ended the connection before it said anything. Check the port: if it has TLS, the address must start with ${place.scheme}s:.`,
  ],
  ANOTHER_TAB: [
    'not-reachable',
    () =>
      'Another tab or window of this browser is connected. Ask there, or close it: then this one connects by itself.',
  ],
  EACCES: [
    'not-reachable',
    ({ at }) =>
      `This machine does not let the program connect to ${at}. Check its firewall and the program’s permissions.`,
  ],
  CERT_HAS_EXPIRED: [
    'certificate-refused',
    ({ at }) =>
      `The certificate of ${at}, or of its authority, has expired. Ask its operator to renew it, or set the clock of this machine, which says ${today()}.`,
  ],
  CERT_NOT_YET_VALID: [
    'certificate-refused',
    ({ at }) =>
      `The certificate of ${at} is not valid yet. Set the clock of this machine, which says ${today()}.`,
  ],
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'certificate-refused',
    ({ at }) =>
      `The certificate of ${at} is self-signed. If the hub’s operator confirms its fingerprint, pass it as the authority (ca).`,
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    'certificate-refused',
    ({ at }) =>
      `The certificate of ${at} comes from a private authority. Pass the certificate (ca) that the hub’s operator gives you.`,
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    'certificate-refused',
    ({ at }) =>
      `The certificate of ${at} comes from an authority that is not known here. Pass the certificate (ca) that the hub’s operator gives you, or let the server send the whole chain.`,
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    'certificate-refused',
    ({ at }) =>
      `The authority at the end of the certificate chain of ${at} is not known here. Pass the certificate (ca) that the hub’s operator gives you.`,
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'certificate-refused',
    ({ host, at }) =>
      `The certificate of ${at} does not name the host ${host}. Use a name that it contains, or have it issued again for this one.`,
  ],
  CERT_REVOKED: [
    'certificate-refused',
    ({ at }) => `The certificate of ${at} has been revoked. Do not connect until it has a new one.`,
  ],
  EPROTO: ['not-a-hub', NO_TLS],
  ERR_SSL_WRONG_VERSION_NUMBER: ['not-a-hub', NO_TLS],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ['not-a-hub', NO_TLS],
  TLS_ALERT_112: ['not-a-hub', NO_NAME],
  TLS_ALERT_80: ['not-a-hub', NO_NAME],
  TLS_ALERT_70: ['not-a-hub', TOO_OLD],
  TLS_ALERT_40: ['not-a-hub', TOO_OLD],
  TLS_ALERT_116: [
    'not-a-hub',
    ({ at }) =>
      `The server at ${at} wants a client certificate, and this client sends none. Ask its operator to admit it without one.`,
  ],
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: [
    'not-a-hub',
    ({ at }) => `The server at ${at} sent a longer message than it may. Check the address.`,
  ],
  HTTP_200: [
    'not-a-hub',
    ({ at, partner }) =>
      `A web server, not a ${partner}, answered at ${at} (HTTP 200). Check the port and the path of the address.`,
  ],
  HTTP_404: [
    'not-a-hub',
    ({ at, partner }) =>
      `The web server at ${at} has no ${partner} under this address (HTTP 404). Check the port and the path.`,
  ],
  CONNACK_1: [
    'broker-refused',
    ({ at }) =>
      `The broker at ${at} does not speak MQTT 3.1.1 (CONNACK 1). Update the broker, or let it accept that version.`,
  ],
  CONNACK_2: [
    'broker-refused',
    ({ at }) =>
      `The broker at ${at} refuses this client’s id (CONNACK 2). Ask its operator which ids it accepts.`,
  ],
  CONNACK_3: [
    'broker-refused',
    ({ at }) => `The broker at ${at} accepts no client at the moment (CONNACK 3). Try again later.`,
  ],
  CONNACK_4: [
    'broker-refused',
    ({ at }) =>
      `The broker at ${at} refuses the user name or the password (CONNACK 4). Ask its operator to check the account.`,
  ],
  CONNACK_5: [
    'broker-refused',
    ({ at }) =>
      `The broker at ${at} does not admit this client (CONNACK 5). Ask its operator to check the account and its rights.`,
  ],
  SUBACK_128: [
    'broker-refused',
    ({ at }) =>
      `The broker at ${at} refuses the topic of this client (SUBACK 128). Ask its operator to allow the account to use the client’s topics.`,
  ],
};

/** The sentences of codes that have none of their own. */
const OTHERS: { readonly [cause in Cause]: (place: Place, shown: string) => string } = {
  'not-reachable': ({ at }, shown) =>
    `No connection to ${at} can be made${shown}. Check the address and the network.`,
  'certificate-refused': ({ at }, shown) =>
    `The certificate of ${at} cannot be verified${shown}. Give this code to its operator.`,
  'not-a-hub': (place, shown) =>
    `The server at ${place.at} does not answer as a ${place.partner} does${shown}. Check the address and the port.`,
  'broker-refused': ({ at }, shown) =>
    `The broker at ${at} refuses this client${shown}. Ask its operator to check the account and its rights.`,
};

/** Sentences that depend on the cause as well, or that are for several codes. */
function special({ cause, platformCode }: Finding, place: Place): string | undefined {
  const { at, partner } = place;
  const [kind, status] = (platformCode ?? '').split('_');
  if (cause === 'not-reachable' && platformCode === undefined) {
    return `No connection to ${at} can be made, and the platform does not say why. Check whether the ${partner} is running, its address, this machine’s network, the certificate and its authority, and whether the hub admits the access key.`;
  }
  if (cause === 'not-a-hub' && platformCode === 'ETIMEDOUT') {
    return `The server at ${at} accepts the connection, and then stays silent. Check the port, and whether the ${partner} there is hanging.`;
  }
  if (cause === 'not-a-hub' && platformCode === undefined && place.scheme.startsWith('http')) {
    return `The server at ${at} answers requests, but not as a hub does. Check the port and the path of the address.`;
  }
  if (kind === 'PROXY') {
    const proxy = `The proxy at ${place.proxy?.at ?? 'the address of the environment'}`;
    if (status === '407') {
      return `${proxy} wants a login (HTTP 407). Ask its operator for an account, and put it into the variable with the proxy: http://name:password@host.`;
    }
    if (/^\d/.test(status!)) {
      return `${proxy} makes no connection to ${at} (HTTP ${status}). Ask its operator to allow it, or name the host in NO_PROXY if it can be reached without the proxy.`;
    }
    return `${proxy} cannot be reached (${status}). Check the variable with the proxy, HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY if it can be reached without the proxy.`;
  }
  if (kind === 'HPE') {
    return `The server at ${at} does not speak HTTP (${platformCode}). Check the port, and whether the address should use TLS.`;
  }
  if (kind !== 'HTTP') return undefined;
  if (status![0] === '3') {
    return `The server at ${at} redirects to another address (HTTP ${status}). Enter the ${partner}’s own address.`;
  }
  if (cause === 'not-reachable') {
    return `The server at ${at} cannot serve at the moment (HTTP ${status}). Check whether the ${partner} behind it is running.`;
  }
  if (status === '401' || status === '403') {
    return `The server at ${at} admits no request of this client (HTTP ${status}). Ask the operator of the ${partner} how it can log in.`;
  }
  if (status === '400' || status === '426') {
    return place.scheme.startsWith('http')
      ? `The server at ${at} rejected the request (HTTP ${status}). Check the port, and the proxy if there is one.`
      : `The server at ${at} does not accept the WebSocket request (HTTP ${status}). Check the port, and whether a proxy in between lets WebSockets through.`;
  }
  return undefined;
}

/**
 * A sentence for a person: what is wrong, and what to do. It contains the host and the port, and no path, query, credentials or
 * text of the server.
 */
export function sentenceOfCause({ cause, platformCode }: Finding, place: Place): string {
  const own = SENTENCES[platformCode ?? ''];
  const shown = platformCode === undefined ? '' : ` (${platformCode.replace(/^HTTP_/, 'HTTP ')})`;
  const sentence =
    special({ cause, platformCode }, place) ??
    (own?.[0] === cause ? own[1](place) : OTHERS[cause](place, shown));
  const { proxy } = place;
  if (cause !== 'not-reachable' || proxy === undefined || proxy.isUsed) return sentence;
  return `${sentence} The environment names the proxy ${proxy.at}, which is used only with NODE_USE_ENV_PROXY=1.`;
}

/**
 * Reads the header Retry-After (RFC 9110, section 10.2.3). Returns the pause that a server asks for, in milliseconds; 0 if it asks
 * for none. The link waits no longer than its policy allows.
 * @param header - a number of seconds, or a date
 */
export function readRetryAfter(header: string | undefined): number {
  const value = header?.trim() ?? '';
  const pause = /^\d+$/.test(value) ? 1000 * Number(value) : Date.parse(value) - Date.now();
  return Math.max(0, pause || 0); // NaN if it is neither
}

const CERTIFICATES = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----.*?(?=-----BEGIN|$)/gs;

/**
 * Reads a certificate authority, or several, on Node.js, whose TLS reads nothing from what is no certificate, nor what comes after it,
 * and then trusts nobody. It needs each to begin on a line of its own, which files that were put together may not do.
 * @param contents - PEM or DER
 * @returns PEM; `undefined` if it is no certificate, or one of several is none
 */
export function readCertificate(contents: string | Uint8Array): string | undefined {
  const { X509Certificate } = process.getBuiltinModule('node:crypto');
  try {
    const each = Buffer.from(contents as Uint8Array)
      .toString()
      .match(CERTIFICATES);
    if (each === null) return new X509Certificate(contents).toString();
    for (const pem of each) new X509Certificate(pem);
    return each.map((pem) => pem.trim()).join('\n');
  } catch {
    return undefined;
  }
}
