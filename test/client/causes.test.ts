/**
 * Why a connection cannot be made, as each transport tells it: at real servers, brokers, certificates and clocks. What the platform
 * hides, the sentence says.
 */
import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createKeyring, type Identity, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type Certificate, localhostCertificate } from 'hub-protocol-cli/certificate';
import { type Client, connect as connectByWebSocket, type NodeOptions } from 'hub-protocol-client';
import { connect as connectInPage } from 'hub-protocol-client/browser';
import { connect as connectByHttps } from 'hub-protocol-client/https';
import { type HubServer, serveHub } from 'hub-protocol-client/hub';
import { connect as connectByMqtt } from 'hub-protocol-client/mqtt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { openSocket } from '../../cli/src/reach.ts';
import {
  type Cause,
  causeOf,
  causeOfOpening,
  causeOfSilence,
  causeOfStatus,
  isCause,
  openingTimeout,
  placeOf,
  readRetryAfter,
  sentenceOfCause,
  socketOptions,
} from '../../client/dist/causes.js';
import { inMemory } from '../world/hub.ts';
import { replacing } from '../world/replacing.ts';
import {
  CA,
  closeAll,
  closedPort,
  closeLater,
  EARLY,
  EXPIRED,
  type Issued,
  listen,
  OF_ANOTHER,
  SELF_SIGNED,
  tcp,
  VALID,
  WITH_AUTHORITY,
  web,
  webSockets,
  whenAsked,
} from '../world/servers.ts';
import { impatient, soon, until } from './world.ts';

// A page's WebSocket, with what a browser hides: the client reads no more of it. test/browser has the real one.
Object.assign(globalThis, { WebSocket });

const test = suite('the causes of connections that cannot be made');
const SECOND = 1000;
const ACCESS_KEY = 'AKEY-12345';
const PASSWORD = 'correct horse';
const PATH = '/hidden/path';
/** What the other side says, the access key, and the path: nothing that a sentence may contain. */
const SECRETS = ['PEER-TEXT', ACCESS_KEY, PASSWORD, 'BROKER-PASSWORD', 'hidden', 'authorization', '?'];
const psk = randomBytes(32);
const hubStatic = randomBytes(32);

test.after.each(closeAll);

/**
 * A port of a program that accepts no connection, with as many as its queue holds: Linux answers no other one.
 * @param time - after which the program is a web server, in milliseconds
 */
async function fullPort(time = Number.POSITIVE_INFINITY): Promise<number> {
  const program = `
    const answer = (socket) => socket.on('error', () => {}).end('HTTP/1.1 404 PEER-TEXT\\r\\n\\r\\n');
    const server = require('node:net').createServer(answer).listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:fs').writeSync(1, String(server.address().port));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${time});
    });`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  closeLater(() => child.kill('SIGKILL'));
  const port = Number(String((await once(child.stdout, 'data'))[0]));
  const waiting = Array.from({ length: 4 }, () => connectTcp(port, '127.0.0.1').on('error', () => {}));
  closeLater(...waiting.map((socket) => () => socket.destroy()));
  await until(() => waiting.filter(({ readyState }) => readyState === 'open').length >= 2);
  return port;
}

const says = (text: string | Uint8Array) => (): Promise<number> => tcp((socket) => socket.write(text));
const answers =
  (status: number, headers: object = {}) =>
  (): Promise<number> =>
    web({ status, headers, text: 'PEER-TEXT' });
const overTls = (tls: Issued) => (): Promise<number> => web({ status: 200, tls });
const sockets = (serve: (socket: WebSocket) => void) => (): Promise<number> => webSockets(serve);
const hub = (clients: string[]) => async (): Promise<number> => {
  const server = await serveHub({
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients: new Map(clients.map((key) => [key, { psk }])),
  });
  closeLater(() => server.stop());
  return Number(new URL(server.url).port);
};
/** A broker that answers CONNECT and SUBSCRIBE with these codes, and then no more. */
const broker =
  (connack: number, suback = 0) =>
  (): Promise<number> =>
    tcp((socket) =>
      socket.on('data', (packet) => {
        if (packet[0]! >> 4 === 1) socket.write(Buffer.of(0x20, 2, 0, connack));
        if (packet[0]! >> 4 === 8) socket.write(Buffer.of(0x90, 3, packet[2]!, packet[3]!, suback));
      }),
    );

// Clients

/** How long a client waits for a server that is silent, in milliseconds. For any other it waits longer than this machine can be busy. */
const SILENCE = 2100;
const PATIENCE = 60 * SECOND;

function options(identity: Identity, ca?: string, wait = PATIENCE): NodeOptions {
  const keyring = inMemory(createKeyring({ accessKey: ACCESS_KEY, staticKey: randomBytes(32), crypto }));
  const derive = async (): Promise<Uint8Array> => psk;
  const policy = { basePause: 5, maxPause: 5, deadlines: { 'awaiting-hello': wait } };
  return { identity, keyring, derive, allowPlaintext: true, policy, socket: { ca } };
}

type Transport = 'ws' | 'mqtt' | 'mqtt-over-ws' | 'https' | 'page';
const issued = { access_key: ACCESS_KEY, password: PASSWORD };

function start(transport: Transport, isTls: boolean, host: string, ca?: string, wait?: number): Client {
  const at = `${host}${transport === 'mqtt' ? '' : PATH}`;
  const s = isTls ? 's' : '';
  let client: Client;
  if (transport === 'mqtt' || transport === 'mqtt-over-ws') {
    const account = { username: 'BROKER-USER', password: 'BROKER-PASSWORD', topic_prefix: 'hm/hub-1/k' };
    const mqtt = { endpoint: `${transport === 'mqtt' ? 'mqtt' : 'ws'}${s}://${at}`, ...account };
    client = connectByMqtt(options(parseIdentity({ ...issued, mqtt }), ca, wait));
  } else if (transport === 'https') {
    const https = { protocols: { https: true }, data_plane_endpoints: { https: `http${s}://${at}` } };
    client = connectByHttps(options(parseIdentity({ ...issued, ...https }), ca, wait));
  } else {
    const given = options(
      parseIdentity({ ...issued, data_plane_endpoints: { wss: `ws${s}://${at}` } }),
      ca,
      wait,
    );
    if (transport === 'ws') client = connectByWebSocket(given);
    else {
      const { socket: _, keyring, ...rest } = given;
      client = connectInPage({ ...rest, keyring: keyring as Exclude<typeof keyring, string> });
    }
  }
  closeLater(() => client.end());
  return impatient(client);
}

interface Outcome {
  code: string;
  platformCode: string | undefined;
  advice: string;
  /** What is decided twice in a row. */
  decisions: string[];
  /** The sentences of those decisions. */
  tells: (string | undefined)[];
}

/** What a client tells of two attempts. */
function outcome(client: Client): Promise<Outcome> {
  const found: Partial<Outcome> = {};
  const decisions: string[] = [];
  const tells: (string | undefined)[] = [];
  return new Promise((resolve) => {
    client.on('close', ({ error, advice }) => {
      const { code, platformCode } = error as { code: string; platformCode?: string };
      Object.assign(found, { code, platformCode, advice });
    });
    const decide = (type: string, advice: string | undefined): void => {
      decisions.push(type);
      tells.push(advice);
      if (decisions.length < 2) return;
      client.end();
      resolve({ ...(found as Outcome), decisions, tells });
    };
    client.on('reconnect', ({ advice }) => decide('reconnect', advice));
    client.on('ask', ({ after, advice }) => decide(after === undefined ? 'ask' : 'ask and dial', advice));
  });
}

// The causes

/** What is wrong in a few words: rows with the same ones may have the same sentence. */
type Row = readonly [
  over: readonly Transport[],
  what: string,
  port: () => Promise<number>,
  code: string,
  platformCode?: string | readonly string[] | undefined,
  more?: { readonly tls?: boolean; readonly host?: string; readonly ca?: string; readonly decision?: string },
];

const HTTP = ['ws', 'https'] as const;
const NODE = [...HTTP, 'mqtt'] as const;
const TLS = { tls: true } as const;
const ASKED = { decision: 'ask and dial' } as const;
const REFUSED = { ...TLS, ...ASKED } as const;
const FOREIGN = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];
const NO_NAME = ['ENOTFOUND', 'EAI_AGAIN'];
const HELLO = JSON.stringify({ msg_type: 'hello', payload: { node_id: 'PEER-TEXT' } });
const OLD_OFFER = JSON.stringify({
  msg_type: 'shake',
  payload: { max_protocol_version: 1, handshake: true },
});
const NO_WEBSOCKET =
  'HTTP/1.1 101 PEER-TEXT\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n';
const reset = whenAsked((socket) => socket.resetAndDestroy());
const alert = whenAsked((socket) => socket.end(Buffer.of(21, 3, 3, 0, 2, 2, 112)));
const lost = sockets((socket) => socket.terminate());
const oldHub = sockets((socket) => {
  for (const text of [HELLO, OLD_OFFER]) socket.send(text);
});
/** Only there nothing answers, as behind a firewall that drops packets. */
const isLinux = process.platform === 'linux';

const ROWS: readonly Row[] = [
  [NODE, 'a closed port', closedPort, 'not-reachable', 'ECONNREFUSED'],
  [NODE, 'no such host', closedPort, 'not-reachable', NO_NAME, { host: 'nosuchhost.invalid' }],
  [NODE, 'a silent port', () => tcp(), 'not-a-hub', 'ETIMEDOUT'],
  [isLinux ? NODE : [], 'no answer', () => fullPort(), 'not-reachable', 'ETIMEDOUT'],
  [NODE, 'an alert of TLS', alert, 'not-a-hub', 'TLS_ALERT_112', TLS],
  [NODE, 'no TLS', answers(200), 'not-a-hub', FOREIGN, TLS],
  [NODE, 'self-signed', overTls(SELF_SIGNED), 'certificate-refused', 'DEPTH_ZERO_SELF_SIGNED_CERT', REFUSED],
  [NODE, 'expired', overTls(EXPIRED), 'certificate-refused', 'CERT_HAS_EXPIRED', { ...REFUSED, ca: CA }],
  [
    NODE,
    'not valid yet',
    overTls(EARLY),
    'certificate-refused',
    'CERT_NOT_YET_VALID',
    { ...REFUSED, ca: CA },
  ],
  [
    NODE,
    'for another name',
    overTls(OF_ANOTHER),
    'certificate-refused',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    { ...REFUSED, ca: CA },
  ],
  [
    NODE,
    'of a private authority',
    overTls(WITH_AUTHORITY),
    'certificate-refused',
    'SELF_SIGNED_CERT_IN_CHAIN',
    REFUSED,
  ],
  [
    NODE,
    'without the authority’s',
    overTls(VALID),
    'certificate-refused',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    REFUSED,
  ],
  [HTTP, 'another protocol', says('SSH-2.0-PEER-TEXT\r\n'), 'not-a-hub', 'HPE_INVALID_CONSTANT'],
  [HTTP, 'a wrong path', answers(404), 'not-a-hub', 'HTTP_404'],
  [HTTP, 'a hub without room', answers(503), 'unavailable', 'HTTP_503'],
  [HTTP, 'another access key', answers(401), 'access-refused', 'HTTP_401'],
  [['ws', 'mqtt'], 'a reset', reset, 'not-reachable', 'ECONNRESET'],

  [['ws'], 'a reset before TLS', reset, 'not-reachable', 'ECONNRESET', TLS],
  [['ws'], 'a silent port', () => tcp(), 'not-a-hub', 'ETIMEDOUT', TLS],
  // by a server with TLS, as Node's: the other end says nothing else
  [['ws'], 'a reset', () => listen(createTlsServer(WITH_AUTHORITY)), 'not-reachable', 'ECONNRESET'],
  [['ws'], 'a web page', answers(200), 'not-a-hub', 'HTTP_200'],
  [['ws'], 'a redirect', answers(301, { location: 'http://PEER-TEXT/' }), 'not-a-hub', 'HTTP_301'],
  [['ws'], 'a proxy without WebSocket', answers(426), 'not-a-hub', 'HTTP_426'],
  [['ws'], 'a WebSocket that is none', whenAsked((socket) => socket.write(NO_WEBSOCKET)), 'not-a-hub'],
  [['ws'], 'a hub without room', sockets((socket) => socket.close(1008, 'connection_limit')), 'unavailable'],
  [['ws'], 'another access key (403)', answers(403), 'access-refused', 'HTTP_403'],
  [['ws'], 'another access key (1008)', hub([]), 'access-refused'],
  [['ws'], 'a hub that says nothing', sockets(() => {}), 'timeout'],
  [['ws'], 'a hub of protocol 1', oldHub, 'protocol-version', undefined, ASKED],
  [['ws'], 'a WebSocket of another service', sockets((socket) => socket.send('PEER-TEXT')), 'bad-json'],
  [['ws', 'page'], 'a loss before HELLO', lost, 'dropped'],

  // by a broker that says nothing else
  [['mqtt'], 'a reset', whenAsked((socket) => socket.end()), 'not-reachable', 'ECONNRESET'],
  [['mqtt'], 'another protocol than MQTT', answers(400), 'not-a-hub'],
  ...[1, 2, 3, 4, 5].map(
    (code): Row => [['mqtt'], `CONNACK ${code}`, broker(code), 'broker-refused', `CONNACK_${code}`],
  ),
  [['mqtt'], 'a forbidden topic', broker(0, 128), 'broker-refused', 'SUBACK_128'],
  [['mqtt'], 'a silent port', broker(0), 'timeout'],
  ...[200, 401, 403, 404, 410, 408, 429, 500, 502, 503].map((status): Row => {
    const what = `a broker behind a server that answers ${status}`.replace('403', '401');
    const code = [200, 401, 403, 404, 410].includes(status) ? 'not-a-hub' : 'not-reachable';
    return [['mqtt-over-ws'], what, answers(status), code, `HTTP_${status}`];
  }),
  [['https'], 'a web page that is no answer', answers(200), 'not-a-hub'],
  [['page'], 'whatever a browser hides', closedPort, 'not-reachable'],
  [['page'], 'whatever a browser hides', answers(404), 'not-reachable'],
  [['page'], 'whatever a browser hides', answers(401), 'not-reachable'],
  [['page'], 'whatever a browser hides', overTls(WITH_AUTHORITY), 'not-reachable', undefined, TLS],
];

/** What each sentence is about, by the sentence without host and port, for each kind of transport. */
const sentences = new Map<string, string>();

for (const [over, what, port, expected, codes, more = {}] of ROWS) {
  const { tls = false, host = 'localhost', ca, decision = 'reconnect' } = more;
  const platformCodes = [codes].flat();
  for (const transport of over) {
    test(`over ${transport}${tls ? ' with TLS' : ''}: ${what} (${platformCodes.join()})`, async () => {
      const at = `${host}:${await port()}`;
      const isSilent = expected === 'timeout' || platformCodes.includes('ETIMEDOUT');
      const client = start(transport, tls, at, ca, isSilent ? SILENCE : PATIENCE);
      const { code, platformCode, advice, decisions, tells } = await soon(outcome(client));
      assert.is(code, expected, `${platformCode}: ${advice}`);
      assert.ok(platformCodes.includes(platformCode), `${platformCode}: ${advice}`);
      assert.equal(decisions, [decision, decision]);
      assert.is(tells[1], advice);
      for (const secret of SECRETS) assert.not.ok(advice.includes(secret), advice);
      const isHere = ['not-reachable', 'certificate-refused', 'not-a-hub', 'broker-refused'].includes(code);
      if (isHere)
        assert.ok(advice.includes(platformCode === 'ENOTFOUND' ? host : at) || advice.includes(host), advice);
      if (isHere && !transport.startsWith('mqtt')) assert.is(tells[0] === advice, code !== 'broker-refused');
      const sentence = advice.split(at).join('AT').split(host).join('HOST');
      assert.is(sentences.get(sentence) ?? what, what, sentence);
      sentences.set(sentence, what);
    });
  }
}

/** What the sentence for a cause and a code says, for a transport. */
const SAYS: readonly (readonly [Cause, platformCode: string | undefined, scheme: string, RegExp])[] = [
  ['not-a-hub', 'HTTP_200', 'wss', /^A web server, not a hub, answered at HOST:1 \(HTTP 200\)/],
  ...(['HTTP_301', 'HTTP_302', 'HTTP_303', 'HTTP_307', 'HTTP_308'] as const).map(
    (code) => ['not-a-hub', code, 'wss', /redirects to another address \(HTTP 30\d\)/] as const,
  ),
  ['not-a-hub', 'HTTP_400', 'wss', /accept the WebSocket request \(HTTP 400\).*a client certificate/],
  ['not-a-hub', 'HTTP_400', 'ws', /HTTP 400.*whether the address should use TLS/],
  ['not-a-hub', 'HTTP_400', 'https', /rejected the request \(HTTP 400\)/],
  ['not-a-hub', 'HTTP_404', 'wss', /no hub under this address \(HTTP 404\)/],
  ['not-a-hub', 'HTTP_410', 'wss', /does not answer as a hub does \(HTTP 410\)/],
  ['not-a-hub', 'HTTP_426', 'wss', /does not accept the WebSocket request \(HTTP 426\)/],
  ['not-a-hub', 'HPE_INVALID_CONSTANT', 'wss', /does not speak HTTP \(HPE_INVALID_CONSTANT\)/],
  ['not-a-hub', 'HPE_HEADER_OVERFLOW', 'wss', /longer headers than this program takes/],
  ['not-a-hub', 'EPROTO', 'mqtts', /most likely does not speak TLS/],
  ['not-a-hub', 'TLS_ALERT_70', 'wss', /does not speak TLS as this program does.*too old/],
  ['not-a-hub', 'TLS_ALERT_40', 'wss', /client certificate.*no certificate for HOST.*only old versions/],
  ['not-a-hub', 'ERR_SSL_UNSUPPORTED_PROTOCOL', 'wss', /does not speak TLS as this program does/],
  ['not-a-hub', 'ERR_SSL_DH_KEY_TOO_SMALL', 'wss', /ciphers or keys are too old/],
  ['not-a-hub', 'TLS_ALERT_80', 'mqtts', /no certificate for HOST\. Check the name/],
  ['not-a-hub', 'TLS_ALERT_116', 'wss', /wants a client certificate/],
  ['not-a-hub', 'TLS_ALERT_48', 'wss', /does not accept the client certificate: none was sent, or/],
  ['not-a-hub', 'ETIMEDOUT', 'mqtts', /stays silent.*whether the broker there is hanging/],
  ['not-a-hub', undefined, 'https', /answers requests, but not as a hub does/],
  ['not-a-hub', undefined, 'wss', /does not answer as a hub does\. Check the address/],
  ['not-a-hub', undefined, 'mqtt', /does not answer as a broker does/],
  ['not-reachable', 'ECONNREFUSED', 'wss', /^Nothing listens at HOST:1, or .*the hub is running/],
  ['not-reachable', 'ECONNREFUSED', 'mqtt', /^Nothing listens at HOST:1, or .*the broker is running/],
  ['not-reachable', 'ECONNRESET', 'wss', /without an answer.*whether it has TLS.*the hub is starting/],
  ['not-reachable', 'ECONNRESET', 'mqtt', /without an answer.*whether the broker allows a will/],
  ['not-reachable', 'ECONNRESET', 'https', /without an answer.*whether the hub is starting/],
  ['not-reachable', 'ECONNRESET', 'mqtts', /it is full, the account, and whether the broker allows a will/],
  ['not-reachable', 'ECONNRESET', 'ws', /if it has TLS, the address must start with wss:/],
  ['not-a-hub', 'ECONNREFUSED', 'wss', /does not answer as a hub does \(ECONNREFUSED\)/],
  ['not-reachable', 'HTTP_503', 'wss', /The hub at HOST:1, or a server in front of it, accepts no/],
  ['not-reachable', 'ETIMEDOUT', 'wss', /^Nothing answered at HOST:1 in time/],
  ['not-reachable', 'ENOTFOUND', 'wss', /^The name HOST was not found\./],
  ['not-reachable', 'EAI_AGAIN', 'wss', /^The name HOST cannot be resolved at the moment/],
  ['not-reachable', 'EHOSTUNREACH', 'wss', /^The host HOST cannot be reached/],
  ['not-reachable', 'ENETUNREACH', 'wss', /^There is no route to HOST\./],
  ...(['EACCES', 'EPERM', 'ERR_ACCESS_DENIED'] as const).map(
    (code) => ['not-reachable', code, 'wss', /does not let the program connect to HOST:1/] as const,
  ),
  ['not-reachable', 'EOTHER', 'wss', /^No connection to HOST:1 can be made \(EOTHER\)/],
  ['not-reachable', undefined, 'wss', /the platform does not say why.*whether the hub is running/],
  ['certificate-refused', 'CERT_HAS_EXPIRED', 'wss', /has expired\..* which says \d{4}-\d\d-\d\d/],
  ['certificate-refused', 'CERT_NOT_YET_VALID', 'wss', /not valid yet\. Set the clock/],
  ['certificate-refused', 'CERT_REVOKED', 'wss', /has been revoked/],
  ['certificate-refused', 'ERR_TLS_CERT_ALTNAME_INVALID', 'wss', /does not name the host HOST\./],
  ['certificate-refused', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'wss', /is self-signed/],
  ['certificate-refused', 'SELF_SIGNED_CERT_IN_CHAIN', 'wss', /comes from a private authority/],
  ['certificate-refused', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'wss', /or let the server send the whole chain/],
  ['certificate-refused', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'wss', /at the end of the certificate chain/],
  ['certificate-refused', 'CERT_UNTRUSTED', 'wss', /cannot be verified \(CERT_UNTRUSTED\)/],
  ['certificate-refused', 'UNSPECIFIED', 'wss', /its key.*too short/],
  ['broker-refused', 'CONNACK_1', 'mqtt', /accepts neither MQTT 5 nor 3\.1\.1 \(CONNACK 1\)\./],
  ['broker-refused', 'CONNACK_2', 'mqtt', /refuses this client’s id/],
  ['broker-refused', 'CONNACK_3', 'mqtt', /accepts no client at the moment/],
  ['broker-refused', 'CONNACK_4', 'mqtt', /refuses the user name or the password/],
  ['broker-refused', 'CONNACK_5', 'mqtt', /does not admit this client/],
  ['broker-refused', 'SUBACK_128', 'mqtt', /refuses the topic of this client/],
  ['broker-refused', 'CONNACK_9', 'mqtt', /refuses this client \(CONNACK_9\)/],
  ['broker-refused', 'CONNACK_135', 'mqtt', /does not admit .* \(CONNACK 135\)\. .*\(option clientId\)/],
  ['broker-refused', 'CONNACK_154', 'mqtt', /or pass will: false/],
  ['broker-refused', 'DISCONNECT_149', 'mqtt', /because of its length \(DISCONNECT 149\)\. .*66 kB/],
  ['broker-refused', 'DISCONNECT_141', 'mqtt', /has ended the connection \(DISCONNECT 141\)\. Its log/],
  ['broker-refused', 'DISCONNECT_142', 'mqtt', /same client id.*keeps only the latest \(DISCONNECT 142\)\./],
  ['broker-refused', 'PUBACK_135', 'mqtt', /refuses the topic of this client \(PUBACK 135\)/],
  ['broker-refused', 'PUBACK_151', 'mqtt', /its quota or rate is used up/],
  ['not-a-hub', 'HTTP_421', 'wss', /does not serve this name/],
  ['not-reachable', 'PROXY_407', 'wss', /^The proxy at .* wants a login/],
  ['not-reachable', 'PROXY_502', 'wss', /no connection to HOST:1 \(HTTP 502\)\. Check that the hub is run/],
  ['not-reachable', 'PROXY_ECONNREFUSED', 'wss', /^The proxy at .* cannot be reached \(ECONNREFUSED\)/],
  ['not-a-hub', 'HTTP_302', 'ws', /own address, with TLS if the server wants it\. If this network has/],
  ['not-a-hub', 'HTTP_200', 'wss', /If this network has a login page/],
  ['not-a-hub', 'HTTP_407', 'wss', /A proxy in front of HOST:1 wants a login \(HTTP 407\)/],
  ['not-reachable', 'HTTP_429', 'wss', /too many connections from here/],
  ['not-reachable', 'HTTP_504', 'wss', /gets no answer from the hub \(HTTP 504\)/],
  ['not-reachable', 'HTTP_511', 'wss', /network wants a login .* \(HTTP 511\).*with a browser/],
  ['not-reachable', 'HTTP_522', 'wss', /gets no answer from the hub \(HTTP 522\)/],
  ['not-reachable', 'HTTP_526', 'wss', /does not accept the hub’s TLS or its certificate \(HTTP 526\)/],
  ['not-reachable', 'EADDRNOTAVAIL', 'wss', /the option localAddress/],
  ['not-reachable', 'EMFILE', 'wss', /ulimit/],
  ['not-a-hub', 'TLS_ALERT_120', 'wss', /offers no HTTP\/1\.1/],
];

/** What codes that have no sentence of their own mean. */
const KINDS: { readonly [cause in Cause]?: readonly string[] } = {
  'certificate-refused': [
    ...['CERT_OF_LATER_DAYS', 'UNABLE_TO_GET_CRL', 'CRL_HAS_EXPIRED', 'SUBJECT_ISSUER_MISMATCH'],
    ...['INVALID_CA', 'INVALID_PURPOSE', 'CA_KEY_TOO_SMALL', 'EE_KEY_TOO_SMALL', 'HOSTNAME_MISMATCH'],
    ...['PATH_LENGTH_EXCEEDED', 'UNABLE_TO_VERIFY_IT', 'UNSPECIFIED'],
  ],
  'not-a-hub': [
    ...['ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN', 'HPE_INVALID_METHOD', 'WS_ERR_INVALID_OPCODE'],
    ...['EPROTO', 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'],
  ],
  'not-reachable': [
    ...['EOTHER', 'INVALID_CAP', 'NOT_INVALID_CA', 'TREE_X', 'MY_HOSTNAME_MISMATCH', 'HOSTNAME_MISMATCHED'],
    ...['UNSPECIFIED_CODE', 'MY_PATH_LENGTH', 'ERR_SSL', 'MY_HPE_X', 'MY_WS_ERR_X', 'E2', 'E'.repeat(64)],
  ],
};

test('a code without a sentence is of a certificate, of another server, or of neither', () => {
  for (const [cause, codes] of Object.entries(KINDS)) {
    for (const platformCode of codes) {
      assert.equal(causeOf({ code: platformCode }), { cause, platformCode }, platformCode);
    }
  }
});

test('the code of an error counts before that of its cause, if it is a code', () => {
  const cause = { code: 'EPROTO' };
  assert.equal(
    [{ code: 'ENOTFOUND', cause }, { code: 20, cause }, { code: 'not one', cause }, { cause }].map(
      (error) => causeOf(error)?.platformCode,
    ),
    ['ENOTFOUND', 'EPROTO', 'EPROTO', 'EPROTO'],
  );
  for (const code of [7, '', 'E', 'enotfound', 'E'.repeat(65), '2BIG', 'E-X']) {
    assert.is(causeOf({ code }), undefined, String(code));
  }
  assert.is(causeOf({ code: 'ERR_SSL_SSL/TLS_ALERT_X' })?.cause, 'not-a-hub'); // Node 24 writes some so
  for (const none of [undefined, null, 'ENOTFOUND', {}]) assert.is(causeOf(none), undefined);
});

test('an alert of TLS is read as Node.js, Bun and Deno write it', () => {
  for (const [message, platformCode] of [
    [
      'write EPROTO 80:error:0A000458:SSL routines:ssl3_read_bytes:x:rec.c:1:SSL alert number 112',
      'TLS_ALERT_112',
    ],
    ['error:1000045c:SSL routines:OPENSSL_internal:TLSV1_ALERT_CERTIFICATE_REQUIRED', 'TLS_ALERT_116'],
    ['received fatal alert: UnrecognisedName', 'TLS_ALERT_112'],
    ['received fatal alert: Unheard', 'EPROTO'],
    [
      '80:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:x.c:1:',
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
    ['80:error:0A000102:SSL routines:x:unsupported protocol:x.c:1:', 'ERR_SSL_UNSUPPORTED_PROTOCOL'],
  ] as const)
    assert.is(causeOf({ code: 'EPROTO', message })?.platformCode, platformCode);
});

test('of several addresses, the one that says most counts', () => {
  const codeOf = (...codes: string[]): string | undefined =>
    causeOf({ code: codes[0], errors: codes.map((code) => ({ code })) })?.platformCode;
  assert.is(codeOf('ETIMEDOUT', 'ECONNREFUSED'), 'ECONNREFUSED');
  assert.is(codeOf('ENETUNREACH', 'ETIMEDOUT'), 'ETIMEDOUT');
  assert.is(codeOf('ENETUNREACH', 'EHOSTUNREACH'), 'ENETUNREACH');
});

/** A name with two addresses: one answers after a second, when a packet was sent again, and the other refuses. */
async function slowName(body: (port: number) => Promise<void>): Promise<void> {
  const port = await fullPort(700);
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  const lookup = (_: string, __: object, found: (error: null, all: object) => void): unknown =>
    setImmediate(found, null, addresses);
  await replacing(dns, { lookup }, () => body(port));
}

if (isLinux) {
  test('waits more than a second for an address of a name before it tries the next one', () =>
    slowName(async (port) => {
      const server = { ...placeOf(`ws://slow.example:${port}`), port, timeout: 10 * SECOND };
      const [socket, ...codes] = await Promise.all([
        openSocket({ ...server, place: server, route: { options: socketOptions(server.timeout) } } as never), // of the doctor
        ...(['ws', 'mqtt', 'https'] as const).map((transport) => {
          const client = start(transport, false, server.at);
          return new Promise((resolve) => client.once('close', ({ error }) => resolve(error.code)));
        }),
      ]);
      socket.destroy();
      assert.equal(codes, ['not-a-hub', 'not-a-hub', 'not-a-hub']);
    }));
}

test('no answer in time is no hub if something accepts connections there, and nothing reachable otherwise', () => {
  const timeout = Object.assign(new Error('late'), { name: 'TimeoutError' });
  const [silence, nothing] = [
    { cause: 'not-a-hub', platformCode: 'ETIMEDOUT' },
    { cause: 'not-reachable', platformCode: 'ETIMEDOUT' },
  ];
  for (const [error, connected, unconnected] of [
    [timeout, silence, nothing],
    [{ cause: timeout, code: 'EPROTO' }, silence, nothing],
    [new Error('Opening handshake has timed out'), silence, nothing],
    [new Error('connack timeout'), silence, nothing],
    [new Error('connect timed out'), silence, nothing],
    [new Error('no code'), { cause: 'not-a-hub' }, { cause: 'not-reachable' }],
    [new Error('not an Unexpected server response: 404'), { cause: 'not-a-hub' }, { cause: 'not-reachable' }],
    [
      Object.assign(new Error('Requires net access'), { name: 'NotCapable' }),
      ...[1, 2].map(() => ({ cause: 'not-reachable', platformCode: 'EACCES' })),
    ],
    [{ code: 'ENOTFOUND' }, ...[1, 2].map(() => ({ cause: 'not-reachable', platformCode: 'ENOTFOUND' }))],
  ] as const) {
    assert.equal(causeOfOpening(error, true), connected);
    assert.equal(causeOfOpening(error, false), unconnected);
  }
  assert.equal([causeOfSilence(true), causeOfSilence(false)], [silence, nothing]);
});

test('a server has two thirds of the time for its HELLO to answer', () => {
  assert.equal(
    [undefined, {}, { 'awaiting-hello': undefined }, { 'awaiting-hello': 100 }].map(openingTimeout),
    [20_000, 20_000, 20_000, 67],
  );
});

test('only the codes of the causes name a cause', () => {
  const codes = ['not-reachable', 'certificate-refused', 'not-a-hub', 'broker-refused', 'dropped', 'refused'];
  assert.equal(codes.filter(isCause), codes.slice(0, 4));
});

test('the header Retry-After names seconds or a date, and nothing else counts', () => {
  replacing(Date, { now: () => Date.UTC(2026, 0, 1) }, () => {
    for (const [header, pause] of [
      ['120', 120_000],
      [' 7 ', 7000],
      ['0', 0],
      ['Thu, 01 Jan 2026 00:01:30 GMT', 90_000],
      ['2026-01-01T00:00:10Z', 10_000],
      ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
      ['-5', 0],
      ['soon', 0],
      ['', 0],
      [undefined, 0],
    ] as const) {
      assert.is(readRetryAfter(header), pause, header);
    }
  });
});

test('the place of a URL is its host and its port, without what is secret', () => {
  for (const [url, host, at] of [
    ['wss://hub.example:5678/a@b:1?c', 'hub.example', 'hub.example:5678'],
    ['wss://u:p@hub.example:5678', 'hub.example', 'hub.example:5678'],
    ['wss://u:p@[::1]:5678/', '[::1]', '[::1]:5678'],
    ['wss://[fe80::1]?authorization=k', '[fe80::1]', '[fe80::1]:443'],
    ['wss://hub.example#u@other:1', 'hub.example', 'hub.example:443'],
    ['', '', ':'],
  ] as const) {
    assert.equal(placeOf(url), { scheme: url.slice(0, 3), host, at, partner: 'hub' }, url);
  }
});

test('the place of a URL without a port names the port of its scheme, if it has one', () => {
  assert.equal(
    ['ws', 'wss', 'http', 'https', 'mqtt', 'mqtts', 'MQTTS', 'other'].map(
      (scheme) => placeOf(`${scheme}://u:p@a/b?c#d`).at,
    ),
    ['a:80', 'a:443', 'a:80', 'a:443', 'a:1883', 'a:8883', 'a:8883', 'a:'],
  );
});

test('what says more than a code is not shown, since it may quote the access key', () => {
  const code = 'ECONNREFUSED wss://hub.example/?authorization=QUtFWQ==';
  assert.equal([causeOf({ code }), causeOf({ cause: { code } })], [undefined, undefined]);
});

for (const [cause, platformCode, scheme, pattern] of SAYS) {
  test(`over ${scheme}, the sentence for ${cause} and ${platformCode} says what to do`, () => {
    const partner = scheme.startsWith('mqtt') ? 'broker' : 'hub';
    const place = { scheme, host: 'HOST', at: 'HOST:1', partner } as const;
    assert.match(sentenceOfCause({ cause, platformCode }, place), pattern);
  });
}

test('the fault of a connection through a proxy may be there', () => {
  const place = { ...placeOf('wss://hub.example'), proxy: { at: 'proxy:1', isUsed: true } };
  const sentence = sentenceOfCause({ cause: 'not-reachable', platformCode: 'ETIMEDOUT' }, place);
  assert.match(sentence, 'leads through the proxy proxy:1: ');
});

test('at an IP address, a server without a certificate for it is reached by its name', () => {
  for (const url of ['wss://192.0.2.1', 'wss://[2001:db8::1]'])
    assert.match(
      sentenceOfCause({ cause: 'not-a-hub', platformCode: 'TLS_ALERT_80' }, placeOf(url)),
      'Use its name',
    );
});

test('the sentences for a broker over a WebSocket name no hub', () => {
  const place = placeOf('wss://HOST:1', 'broker');
  for (const [cause, platformCode, pattern] of [
    ['not-a-hub', 'HTTP_200', /^A web server, not a broker, answered/],
    ['not-a-hub', 'HTTP_301', /Enter the broker’s own address/],
    ['not-a-hub', 'HTTP_401', /admits no request of this client \(HTTP 401\).*operator of the broker/],
    ['not-a-hub', 'HTTP_403', /admits no request of this client \(HTTP 403\).*operator of the broker/],
    ['not-a-hub', 'HTTP_404', /has no broker under this address/],
    ['not-a-hub', 'HTTP_410', /does not answer as a broker does \(HTTP 410\)/],
    ['not-a-hub', 'ETIMEDOUT', /whether the broker there is hanging/],
    ['not-reachable', 'HTTP_502', /Check whether the broker is running/],
    ['not-reachable', 'ECONNREFUSED', /whether the broker is running/],
    ['not-reachable', 'ECONNRESET', /whether the broker allows a will/],
  ] as const) {
    const sentence = sentenceOfCause({ cause, platformCode }, place);
    assert.match(sentence, pattern);
    assert.not.match(sentence, /hub/);
  }
});

test('a status that may come from a hub does not name another server', () => {
  const named = [400, 401, 403, 404, 408, 410, 426, 429, 499, 500, 503].filter(
    (status) => causeOfStatus(status)?.platformCode === `HTTP_${status}`,
  );
  assert.equal(named, [400, 404, 410, 426, 499]);
});

// What changes while a client runs

test('a client that starts before its hub reports it immediately, waits briefly, and stops reporting it once connected', async () => {
  const port = await closedPort();
  const clients = new Map([[ACCESS_KEY, { psk }]]);
  const given = options(
    parseIdentity({ ...issued, data_plane_endpoints: { wss: `ws://localhost:${port}` } }),
  );
  const client = connectByWebSocket({ ...given, policy: {} });
  closeLater(() => client.end());
  const pauses: number[] = [];
  const tells: (string | undefined)[] = [];
  client.on('reconnect', ({ after, advice }) => {
    pauses.push(after);
    tells.push(advice);
  });
  const answer = client.ask('Are you there?');
  await until(() => tells.length >= 4);
  const server = await serveHub({ port, nodeId: 'hub-1', staticKey: hubStatic, clients });
  closeLater(() => server.stop());
  assert.is((await answer).reply.text, 'You said: Are you there?');
  assert.equal(
    [...new Set(tells)],
    [
      `Nothing listens at localhost:${port}, or a firewall refuses the connection. Check the address and the port, and whether the hub is running.`,
    ],
  );
  assert.ok(Math.max(...pauses) <= 2000, pauses.join());
});

const wait = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time));

async function secureHub({ key, cert }: Certificate, port = 0): Promise<HubServer> {
  const clients = new Map([[ACCESS_KEY, { psk }]]);
  const server = await serveHub({ tls: { key, cert }, port, nodeId: 'hub-1', staticKey: hubStatic, clients });
  closeLater(() => server.stop());
  return server;
}

test('a client whose clock is behind is asked about, and connects once the certificate is valid', async () => {
  const tls = await localhostCertificate({ notBefore: new Date(Date.now() + 8 * SECOND) });
  const { url } = await secureHub(tls);
  const client = start('ws', true, new URL(url).host, tls.ca);
  const asked: string[] = [];
  client.on('ask', ({ after, error }) =>
    asked.push(`${(error as { platformCode?: string }).platformCode} ${typeof after}`),
  );
  const { reply } = await client.ask('Is it time?'); // which has waited meanwhile
  assert.is(reply.text, 'You said: Is it time?');
  assert.ok(asked.length > 0);
  assert.equal([...new Set(asked)], ['CERT_NOT_YET_VALID number']);
});

test('asks about a certificate that expires while the client runs, and accepts the renewed one', async () => {
  const notAfter = new Date(Math.ceil(Date.now() / SECOND) * SECOND + 8 * SECOND);
  const old = await localhostCertificate({ notAfter });
  const renewed = await localhostCertificate();
  const server = await secureHub(old);
  const client = start('ws', true, new URL(server.url).host, `${old.ca}\n${renewed.ca}`);
  await client.ask('one');
  await wait(notAfter.getTime() + SECOND - Date.now());
  const asked = new Promise<string | undefined>((resolve) =>
    client.on('ask', ({ error }) => resolve((error as { platformCode?: string }).platformCode)),
  );
  server.cut();
  assert.is(await soon(asked), 'CERT_HAS_EXPIRED');
  const answer = client.ask('two');
  await server.stop();
  await secureHub(renewed, Number(new URL(server.url).port));
  assert.is((await answer).reply.text, 'You said: two');
});

test.run();
