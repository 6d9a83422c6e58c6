/**
 * Why a connection could not be made, outside of a page: what the platforms' codes mean, the sentence for an operator, and the pause
 * that a server asks for. The commands use it too.
 *
 * The messages of a platform's errors quote URLs, and thus the access key, and what a server says may be anything. So only codes
 * are read and shown.
 */

import { asSentence, tellingOf } from './advice.ts';
import { type Place, placeOf, unknownCause } from './place.ts';

export { asSentence, type Place, placeOf, tellingOf };

/** What prevented a connection. The library has errors with these codes. */
export type Cause = 'not-reachable' | 'certificate-refused' | 'not-a-hub' | 'broker-refused';

/** A cause, and the code of the platform: `ECONNREFUSED`, `CERT_HAS_EXPIRED`, `HTTP_404`, `CONNACK_5`. */
export interface Finding {
  readonly cause: Cause;
  readonly platformCode?: string | undefined;
}

/** Whether the code of an error names a cause. */
export function isCause(code: string): code is Cause {
  return CAUSES.includes(code as Cause);
}

/** A code, and nothing else that an error could say. */
const CODE = /^[A-Z][A-Z0-9_/]{1,63}$/;
/** The codes of OpenSSL and of Node.js for a certificate that is not accepted, as far as they are not in the table. */
const OF_CERTIFICATE =
  /CERT|CRL|ISSUER|^INVALID_(CA|PURPOSE)$|^(CA|EE)_|^HOSTNAME_MISMATCH$|^PATH_LENGTH|^UNABLE_TO_VERIFY|^UNSPECIFIED$/;
/** The codes for a server that does not speak TLS, HTTP, or the protocol of WebSocket, as far as they are not in the table. */
const OF_ANOTHER_SERVER = /^(ERR_SSL_|TLS_ALERT_|HPE_|WS_ERR_)/;

/** Of the addresses of one name, the one that answered says more than one without a route. */
const TELLING = ['ECONNREFUSED', 'ECONNRESET', 'EACCES', 'ETIMEDOUT'];

interface Coded {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  /** Of an AggregateError: one for each address of a name. */
  readonly errors?: readonly unknown[];
}

/** The names in Deno of the alerts of TLS that have a sentence (RFC 8446, section 6). */
const ALERTS: { readonly [name: string]: number } = {
  ...{ HandshakeFailure: 40, BadCertificate: 42, UnsupportedCertificate: 43, CertificateRevoked: 44 },
  ...{ CertificateExpired: 45, CertificateUnknown: 46, UnknownCA: 48, AccessDenied: 49, DecryptError: 51 },
  ...{ ProtocolVersion: 70, InsufficientSecurity: 71, InternalError: 80, InappropriateFallback: 86 },
  ...{ UnrecognisedName: 112, CertificateRequired: 116, NoApplicationProtocol: 120 },
};

/**
 * The number of an alert of TLS. The code of the error says less, and often EPROTO, as of a server that does not speak TLS. Bun writes it in
 * hexadecimal, with 1000 more, and Deno its name.
 */
function alertOf(message: string): number | undefined {
  const [, number, reason, name] =
    / alert number (\d{1,3})|error:[\dA-Fa-f]{5}([\dA-Fa-f]{3}):SSL|fatal alert: (\w+)/.exec(message) ?? [];
  if (name !== undefined) return ALERTS[name];
  const alert = Number(number ?? Number.parseInt(reason ?? '', 16) - 1000);
  return alert > 0 ? alert : undefined;
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
  const text = `${message} ${Object(cause).message}`;
  const alert = alertOf(text);
  const [, reason] = /:SSL routines:\w*:([a-z ]+):/.exec(text) ?? []; // of OpenSSL, where Node.js says EPROTO
  const platformCode = alert
    ? `TLS_ALERT_${alert}`
    : reason
      ? `ERR_SSL_${reason.toUpperCase().replace(/ /g, '_')}`
      : (TELLING.find((known) => codes.includes(known)) ?? codes[0]);
  if (platformCode === undefined) return undefined;
  const known = CAUSES.find((each) => SENTENCES[each][platformCode] !== undefined);
  const ofKind = OF_CERTIFICATE.test(platformCode) ? 'certificate-refused' : 'not-reachable';
  const kind = OF_ANOTHER_SERVER.test(platformCode) ? 'not-a-hub' : ofKind;
  return { cause: known ?? kind, platformCode };
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
  if (name === 'NotCapable') return { cause: 'not-reachable', platformCode: 'EACCES' }; // of Deno
  return causeOf(error) ?? { cause: isConnected ? 'not-a-hub' : 'not-reachable' };
}

/** The cause if the other side has not answered in time. */
export function causeOfSilence(isConnected: boolean): Finding {
  return { cause: isConnected ? 'not-a-hub' : 'not-reachable', platformCode: 'ETIMEDOUT' };
}

/** Whether a broker may have refused the version of MQTT: some only hang up at one that they do not know. */
export function refusesVersion({ platformCode }: Pick<Finding, 'platformCode'>): boolean {
  return ['CONNACK_1', 'CONNACK_132', 'ECONNRESET', undefined].includes(platformCode);
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

const FORBIDDEN: Sentence = ({ at }) =>
  `This machine does not let the program connect to ${at}. Check its firewall and the program’s permissions.`;
const NO_TLS: Sentence = ({ at }) =>
  `The server at ${at} most likely does not speak TLS. Check the port, and whether the address should use TLS.`;

/** Why a server refuses TLS: `TLS_ALERT_` and a number of RFC 8446, section 6. */
const NO_NAME: Sentence = ({ at, host }) =>
  `The server at ${at} refuses TLS: most likely it has no certificate for ${host}. ${/^\[|^[\d.]+$/.test(host) ? 'Use its name in the address, not the IP address.' : 'Check the name.'}`;
const TOO_OLD: Sentence = ({ at }) =>
  `The server at ${at} does not speak TLS as this program does: most likely its versions, ciphers or keys are too old. Ask its operator to update it.`;

const REFUSES_CERTIFICATE: Sentence = ({ at }) =>
  `The server at ${at} does not accept the client certificate: none was sent, or it has expired, or comes from another authority. Ask its operator for one (socket: cert, key).`;

/** Captive portals answer for every host. */
const PORTAL = 'If this network has a login page, log in there first, with a browser.';
const REFUSED_CLIENT: Sentence = ({ at }) =>
  `The broker at ${at} does not admit this client. Ask its operator to check the account, its rights, and whether the client id is allowed (option clientId).`;
const REFUSED_ID: Sentence = ({ at }) =>
  `The broker at ${at} refuses this client’s id. Ask its operator which ids it accepts, and pass one (option clientId).`;
const REFUSED_ACCOUNT: Sentence = ({ at }) =>
  `The broker at ${at} refuses the user name or the password. Ask its operator to check the account.`;
const BUSY: Sentence = ({ at }) => `The broker at ${at} accepts no client at the moment. Connecting again.`;
const REFUSED_TOPIC: Sentence = ({ at }) =>
  `The broker at ${at} refuses the topic of this client. Ask its operator to allow the account to use the client’s topics.`;
const TOO_LONG: Sentence = ({ at }) =>
  `The broker at ${at} refuses a message because of its length. Ask its operator to allow packets of 66 kB.`;
const TOO_MUCH: Sentence = ({ at }) =>
  `The broker at ${at} refuses more messages of this client: its quota or rate is used up. Ask its operator for a higher limit, or wait.`;
const NO_WILL: Sentence = ({ at }) =>
  `The broker at ${at} does not allow what this client needs: a will, or retained messages, or QoS 1. Ask its operator to allow them, or pass will: false.`;
const MOVED: Sentence = ({ at }) =>
  `The broker at ${at} sends clients to another address. Ask its operator for it.`;
const TAKEN: Sentence = ({ at }) =>
  `Another connection to the broker at ${at} has the same client id, and a broker keeps only the latest. Let each program and device have an identity, and each hub a nodeId, of its own.`;
const ENDED: Sentence = ({ at }) => `The broker at ${at} has ended the connection. Its log says why.`;
const WRONG_VERSION: Sentence = ({ at }) =>
  `The broker at ${at} accepts neither MQTT 5 nor 3.1.1. Update the broker, or let it accept one of them.`;

function each(kind: string, sentence: Sentence, ...numbers: number[]): { [platformCode: string]: Sentence } {
  return Object.fromEntries(numbers.map((number) => [`${kind}${number}`, sentence]));
}

/** By the reason of CONNACK, DISCONNECT, PUBACK and SUBACK in MQTT 5. */
const REASONS: { readonly [reason: string]: Sentence } = {
  132: WRONG_VERSION,
  133: REFUSED_ID,
  135: REFUSED_CLIENT,
  138: ({ at }) => `The broker at ${at} has banned this client. Ask its operator why.`,
  149: TOO_LONG,
  ...each('', REFUSED_ACCOUNT, 134, 140),
  142: TAKEN,
  ...each('', ENDED, 0, 141, 152, 160),
  ...each('', BUSY, 136, 137, 139),
  ...each('', REFUSED_TOPIC, 143, 144),
  ...each('', TOO_MUCH, 147, 150, 151, 159),
  ...each('', NO_WILL, 154, 155),
  ...each('', MOVED, 156, 157),
};

/** The sentences of single codes, by their causes. */
export const SENTENCES: { readonly [cause in Cause]: { readonly [platformCode: string]: Sentence } } = {
  'not-reachable': {
    ENOTFOUND: ({ host }) =>
      `The name ${host} was not found. Check the name, whether this machine is connected to the network, and the DNS server.`,
    EAI_AGAIN: ({ host }) =>
      `The name ${host} cannot be resolved at the moment. Check whether this machine is connected to the network, and the DNS server.`,
    ECONNREFUSED: ({ at, partner }) =>
      `Nothing listens at ${at}, or a firewall refuses the connection. Check the address and the port, and whether the ${partner} is running.`,
    EHOSTUNREACH: ({ host }) =>
      `The host ${host} cannot be reached. Check whether it is switched on and connected, and whether a firewall blocks it.`,
    ENETUNREACH: ({ host }) => `There is no route to ${host}. Check the network connection of this machine.`,
    ETIMEDOUT: ({ at, partner }) =>
      `Nothing answered at ${at} in time. Check whether the ${partner} is switched on, the address, and whether a firewall blocks it.`,
    ECONNRESET: (place) =>
      place.partner === 'broker'
        ? `The broker at ${place.at} ended the connection without an answer. Check the port, whether it has TLS, whether it is full, the account, and whether the broker allows a will that is retained, with QoS 1: its log says why.`
        : hasTls(place)
          ? `The server at ${place.at} ended the connection without an answer. Check the port, whether it has TLS, whether the hub is starting, and whether a firewall refuses this client.`
          : `The server at ${place.at} ended the connection before it said anything. Check the port: if it has TLS, the address must start with ${place.scheme}s:. A firewall, or a hub that is starting, may do so, too.`,
    EPIPE: ({ at }) =>
      `The server at ${at} ended the connection while it was made. Check the port, and whether it is starting.`,
    ENETDOWN: () => 'The network of this machine is down. Check its cable, Wi-Fi or modem.',
    EADDRNOTAVAIL: ({ host }) =>
      `This machine has no address, or no free port, from which it could reach ${host}. Check its network, and the option localAddress if it is set.`,
    EAFNOSUPPORT: ({ host }) =>
      `This machine does not have the version of IP that the address of ${host} needs, such as IPv6.`,
    EMFILE: () =>
      'This program has too many open files or sockets (EMFILE). Raise their limit (ulimit -n), or close some.',
    EACCES: FORBIDDEN,
    EPERM: FORBIDDEN,
    ERR_ACCESS_DENIED: FORBIDDEN, // of Node.js with --permission
    PUBACK_16: ({ at }) =>
      `No hub listens behind the broker at ${at} (PUBACK 16). Connecting again. If this goes on, ask the hub’s operator whether it is running, and which topics it uses.`,
  },
  'certificate-refused': {
    CERT_HAS_EXPIRED: ({ at }) =>
      `The certificate of ${at}, or of its authority, has expired. Set the clock of this machine, which says ${today()}, if that is wrong; otherwise ask the operator to renew the certificate.`,
    CERT_NOT_YET_VALID: ({ at }) =>
      `The certificate of ${at} is not valid yet. Set the clock of this machine, which says ${today()}, if that is wrong; otherwise wait, or ask the operator for another certificate.`,
    DEPTH_ZERO_SELF_SIGNED_CERT: ({ at }) =>
      `The certificate of ${at} is self-signed. If the hub’s operator confirms its fingerprint, pass it as the authority (ca). ${PORTAL}`,
    SELF_SIGNED_CERT_IN_CHAIN: ({ at }) =>
      `The certificate of ${at} comes from a private authority. Pass the certificate (ca) that the hub’s operator gives you.`,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: ({ at }) =>
      `The certificate of ${at} comes from an authority that is not known here. Pass the certificate (ca) that the hub’s operator gives you, or let the server send the whole chain.`,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ({ at }) =>
      `The authority at the end of the certificate chain of ${at} is not known here. Pass the certificate (ca) that the hub’s operator gives you.`,
    ERR_TLS_CERT_ALTNAME_INVALID: ({ host, at }) =>
      `The certificate of ${at} does not name the host ${host}. Use a name that it contains, or have it issued again for this one. ${PORTAL}`,
    CERT_REVOKED: ({ at }) =>
      `The certificate of ${at} has been revoked. Do not connect until it has a new one.`,
    UNSPECIFIED: ({ at }) =>
      `The certificate of ${at} is not accepted: most likely its key, or that of its authority, is too short, or its signature too old. Ask the operator for another.`,
  },
  'not-a-hub': {
    EPROTO: NO_TLS,
    ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
    ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
    ...each('TLS_ALERT_', NO_NAME, 112, 80),
    ...each('TLS_ALERT_', TOO_OLD, 70, 71, 86),
    TLS_ALERT_40: ({ at, host }) =>
      `The server at ${at} refuses TLS: it wants a client certificate (socket: cert, key), has no certificate for ${host}, or has only old versions or ciphers. Ask its operator which.`,
    TLS_ALERT_116: ({ at }) =>
      `The server at ${at} wants a client certificate. Pass the one that its operator gives you (socket: cert, key), or ask to be admitted without.`,
    ...each('TLS_ALERT_', REFUSES_CERTIFICATE, 42, 43, 44, 45, 46, 48, 49, 51),
    TLS_ALERT_120: ({ at }) =>
      `The server at ${at} offers no HTTP/1.1 (TLS alert 120). Ask its operator to allow it: neither WebSockets nor hubs use HTTP/2.`,
    WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: ({ at }) =>
      `The server at ${at} sent a longer message than it may. Check the address.`,
    HPE_HEADER_OVERFLOW: ({ at }) =>
      `The server at ${at} answers with longer headers than this program takes. Check the address.`,
    HTTP_200: ({ at, partner }) =>
      `A web server, not a ${partner}, answered at ${at} (HTTP 200). Check the port and the path of the address. ${PORTAL}`,
    HTTP_404: ({ at, partner }) =>
      `The web server at ${at} has no ${partner} under this address (HTTP 404). Check the port and the path.`,
  },
  'broker-refused': {
    CONNACK_1: WRONG_VERSION,
    CONNACK_2: REFUSED_ID,
    CONNACK_3: BUSY,
    CONNACK_4: REFUSED_ACCOUNT,
    CONNACK_5: REFUSED_CLIENT,
    SUBACK_128: REFUSED_TOPIC,
    SUBACK_135: REFUSED_TOPIC,
    PUBACK_135: REFUSED_TOPIC,
  },
};

/** The sentences of codes that have none of their own. */
const OTHERS: { readonly [cause in Cause]: (place: Place, shown: string) => string } = {
  'not-reachable': ({ at }, shown) =>
    `No connection to ${at} can be made${shown}. Check the address and the network.`,
  'certificate-refused': ({ at }, shown) =>
    `The certificate of ${at} cannot be verified${shown}. Give this code to its operator.`,
  'not-a-hub': (place, shown) =>
    `The server at ${place.at} does not answer as a ${place.partner} does${shown}. Check the address, the port, and whether TLS is needed there.`,
  'broker-refused': ({ at }, shown) =>
    `The broker at ${at} refuses this client${shown}. Ask its operator to check the account and its rights.`,
};

const CAUSES = Object.keys(OTHERS) as readonly Cause[];

/** Sentences that depend on the cause as well, or that are for several codes. */
function special({ cause, platformCode }: Finding, place: Place): string | undefined {
  const { at, partner } = place;
  const [kind, status] = (platformCode ?? '').split('_');
  if (cause === 'not-reachable' && platformCode === undefined) return unknownCause(place);
  if (cause === 'not-a-hub' && platformCode === 'ETIMEDOUT') {
    return `The server at ${at} accepts the connection, and then stays silent. Check the port, and whether the ${partner} there is hanging.`;
  }
  if (cause === 'not-a-hub' && platformCode === undefined && place.scheme.startsWith('http')) {
    return `The server at ${at} answers requests, but not as a hub does. Check the port and the path of the address. ${PORTAL}`;
  }
  if (kind === 'PROXY') {
    const proxy = `The proxy at ${place.proxy?.at ?? 'the address of the environment'}`;
    if (status === '407') {
      return `${proxy} wants a login (HTTP 407). Ask its operator for an account, and put it into the variable with the proxy: http://name:password@host.`;
    }
    if (/^\d/.test(status!)) {
      const remedy = /^5/.test(status!)
        ? `Check that the ${partner} is running`
        : 'Ask its operator to allow it';
      return `${proxy} makes no connection to ${at} (HTTP ${status}). ${remedy}, or name the host in NO_PROXY if it can be reached without the proxy.`;
    }
    return `${proxy} cannot be reached (${platformCode!.slice(6)}). Check the variable with the proxy, HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY if it can be reached without the proxy.`;
  }
  if (/^ERR_SSL_(?:UNSUPPORTED_PROTOCOL|UNSAFE_LEGACY|\w+_TOO_SMALL)/.test(platformCode ?? ''))
    return TOO_OLD(place);
  if (kind === 'HPE' && platformCode !== 'HPE_HEADER_OVERFLOW') {
    return `The server at ${at} does not speak HTTP (${platformCode}). Check the port${hasTls(place) ? '' : ', and whether the address should use TLS'}.`;
  }
  if (/^(?:CONNACK|SUBACK|PUBACK|DISCONNECT)$/.test(kind!)) {
    const sentence = SENTENCES['broker-refused'][platformCode!] ?? REASONS[status!];
    return sentence?.(place).replace(/(?=[:.] )/, ` (${kind} ${status})`); // for whoever has the log
  }
  if (kind !== 'HTTP') return undefined;
  return SENTENCES['not-a-hub'][platformCode!]?.(place) ?? ofStatus(status!, cause, place);
}

/** What HTTP servers in front of a hub answer. */
function ofStatus(status: string, cause: Cause, place: Place): string | undefined {
  const { at, partner, scheme } = place;
  const [shown, isPolling, isTls] = [`(HTTP ${status})`, scheme.startsWith('http'), hasTls(place)];
  const tls = isTls
    ? 'whether the server wants a client certificate (socket: cert, key)'
    : 'whether the address should use TLS';
  if (status[0] === '3') {
    return `The server at ${at} redirects to another address ${shown}. Enter the ${partner}’s own address${isTls ? '' : ', with TLS if the server wants it'}. ${PORTAL}`;
  }
  if (/^50[24]$|^52[1-4]$/.test(status)) {
    return `The server in front of the ${partner} at ${at} gets no answer from the ${partner} ${shown}. Check whether the ${partner} is running, and whether that server has its address right.`;
  }
  switch (status) {
    case '429':
      return `The server at ${at} has had too many connections from here ${shown}. Connecting again, later. If that does not help, ask its operator to raise the limit.`;
    case '511':
      return `The network wants a login before it lets a client through to ${at} ${shown}. ${PORTAL}`;
    case '525':
    case '526':
      return `The server in front of the ${partner} at ${at} does not accept the ${partner}’s TLS or its certificate ${shown}. Ask the operator to check them.`;
    case '503':
      return `The ${partner} at ${at}, or a server in front of it, accepts no connection at the moment ${shown}. It may be starting, or full. Connecting again.`;
    case '401':
    case '403':
      return `The server at ${at} admits no request of this client ${shown}. Ask the operator of the ${partner} how it can log in.`;
    case '407':
      return `A proxy in front of ${at} wants a login ${shown}. Ask its operator for an account, and name the proxy with it in HTTPS_PROXY, or pass it as socket: { agent }.`;
    case '421':
      return `The server at ${at} does not serve this name ${shown}. Check the host of the address.`;
    case '400':
    case '426':
      return isPolling
        ? `The server at ${at} rejected the request ${shown}. Check the port, ${tls}, and the proxy if there is one.`
        : `The server at ${at} does not accept the WebSocket request ${shown}. Check the port, ${tls}, and whether a proxy in between lets WebSockets through: it must pass on the headers Upgrade and Connection over HTTP/1.1.`;
  }
  if (cause !== 'not-reachable') return undefined;
  return `The server at ${at} cannot serve at the moment ${shown}. Check whether the ${partner} behind it is running.`;
}

/**
 * A sentence for an operator: what is wrong, and what to do. It contains the host and the port, and no path, query, credentials or
 * text of the server.
 */
export function sentenceOfCause({ cause, platformCode }: Finding, place: Place): string {
  const shown = platformCode === undefined ? '' : ` (${platformCode.replace(/^HTTP_/, 'HTTP ')})`;
  const sentence =
    special({ cause, platformCode }, place) ??
    SENTENCES[cause][platformCode ?? '']?.(place) ??
    OTHERS[cause](place, shown);
  const { proxy, hasAgent } = place;
  if (cause !== 'not-reachable' || platformCode?.startsWith('PROXY_')) return sentence;
  const way = hasAgent ? 'socket: { agent }' : proxy?.isUsed && `the proxy ${proxy.at}`;
  if (way) return `${sentence} The connection leads through ${way}: the fault may be there.`;
  if (proxy === undefined) return sentence;
  return `${sentence} The environment names the proxy ${proxy.at}, which is used only with NODE_USE_ENV_PROXY=1.`;
}

/** Why a connection has failed, for an operator; `undefined` if that has nothing to do with the transport. */
export function adviceOf(
  { code = '', platformCode, message }: { code?: string; platformCode?: string; message: string },
  place: Place,
): string | undefined {
  if (isCause(code)) return sentenceOfCause({ cause: code, platformCode }, place);
  const [, status, wants] = /^HTTP_(\d+)(_LOGIN)?$/.exec(platformCode ?? '') ?? [];
  if (status === undefined) return undefined;
  if (code === 'unavailable')
    return sentenceOfCause({ cause: 'not-reachable', platformCode: `HTTP_${status}` }, place);
  if (wants !== undefined)
    return `A server in front of the hub at ${place.at} wants a login (HTTP ${status}). Ask its operator for one, and pass it: socket: { headers: { authorization } }.`;
  if (code !== 'access-refused') return undefined;
  return `${asSentence(message)} The answer was HTTP ${status}, which may also come from a server in front of the hub, such as a firewall.`;
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
