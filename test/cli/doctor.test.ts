/** `hub-protocol doctor`: servers on loopback, each with one fault on the way of a client to its hub. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import dns from 'node:dns/promises';
import { EventEmitter } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import net, { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import workers from 'node:worker_threads';
import { HubSession, type HubSessionEvent, readAuthorization } from 'hub-protocol';
import { isCause, placeOf, sentenceOfCause } from 'hub-protocol-client/causes';
import { type HubClient, type HubServerOptions, serveHub } from 'hub-protocol-client/hub';
import {
  createKeyring,
  nodeCrypto as crypto,
  fingerprint,
  type Json,
  type Keyring,
  randomBytes,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from 'hub-protocol-judge/internals';
import { generate, type Packet } from 'mqtt-packet';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { localhostCertificate } from '../../cli/src/certificate.ts';
import { hiding } from '../../cli/src/hidden.ts';
import { type Server, verify } from '../../cli/src/reach.ts';
import { until, watchingTimers, withTimers } from '../client/world.ts';
import { AnyHub } from '../world/hub.ts';
import { startBroker } from '../world/mqtt-broker.ts';
import { replacing } from '../world/replacing.ts';
import {
  CA,
  closeAll,
  closeLater,
  EARLY,
  EXPIRED,
  type Issued,
  listen,
  OF_ANOTHER,
  SELF_SIGNED,
  sockets,
  web as startWeb,
  tcp,
  VALID,
  webSockets,
} from '../world/servers.ts';
import {
  deriveQuickly,
  Folder,
  IDENTITY,
  quickly,
  type Run,
  run,
  runOnTerminal,
  runProgram,
  SECRETS,
} from './run.ts';

const test = suite('doctor');
const folder = new Folder();
test.after(() => {
  deriveAgain();
  folder.remove();
});
const identity = folder.write('identity.json', IDENTITY);

const ACCESS_KEY = 'AKEY-12345';
const PASSWORD = IDENTITY.password as string;
const PSK = new Uint8Array(quickly(PASSWORD, crypto.sha256(Buffer.from('hub-1'))));
const deriveAgain = deriveQuickly();
const HUB_KEY = randomBytes(32);
const CLIENT_KEY = randomBytes(32);
const publicOf = (key: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(crypto.x25519.publicKey(key));

test.after.each(closeAll);

/** The URL of a WebSocket server that does this with each connection. */
const greeting = async (...greet: Parameters<typeof webSockets>): Promise<string> =>
  `ws://127.0.0.1:${await webSockets(...greet)}`;

async function examine(greet: (socket: WebSocket) => void, ...args: string[]): Promise<Run> {
  return safe(await run(['doctor', identity, await greeting(greet), '--allow-plaintext', ...args]));
}

/** Checks that an output has no secret, and nothing that a terminal obeys. */
function safe(result: Run): Run {
  const output = result.stdout + result.stderr;
  for (const secret of [...SECRETS, 'secret-path', 'secret-query', 'secret-text'])
    assert.not.ok(output.includes(secret), output);
  assert.not.match(output, /[^\P{C}\n]|[\u2028\u2029]/u);
  return result;
}

const says =
  (...messages: string[]) =>
  (socket: WebSocket): void => {
    for (const message of messages) socket.send(message);
  };

const HELLO = '{"msg_type":"hello","payload":{"node_id":"hub-1","peer":"AKEY-12345 at 1.0","pubkey":""}}';
const SUITE = '25519_ChaChaPoly_SHA256';
const OFFER_PAYLOAD = {
  max_protocol_version: 3,
  noise: { patterns: ['XXpsk2', 'KKpsk0'], suites: [SUITE] },
};
/** An offer that ends the way before a PSK is derived. */
const OLD_PAYLOAD = { ...OFFER_PAYLOAD, max_protocol_version: 2 };
const offer = (payload: object): string => JSON.stringify({ msg_type: 'shake', payload });

/** The file of a keyring with the client's key, and the PSK of hub-1 unless it must be derived. */
function keyring(change: (keyring: Keyring) => Keyring = (same) => same): string {
  const created = createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_KEY, crypto });
  const provisioned = storePsk(created, 'hub-1', PSK, { isProvisioned: true });
  return folder.write('keyring.json', serializeKeyring(change(provisioned)));
}
const pinning =
  (key: Uint8Array) =>
  (stored: Keyring): Keyring =>
    updateKeyring(stored, { type: 'pin', nodeId: 'hub-1', key: new Uint8Array(key) });

const DAY = 24 * 3600 * 1000;
const authority = folder.write('authority.pem', CA);
const TRUSTING = ['--ca', authority];

/** A hub with TLS, and the path of an identity for it. */
async function hub(
  client: HubClient = { psk: PSK },
  options: Partial<HubServerOptions> = {},
): Promise<string> {
  const clients = new Map([[ACCESS_KEY, client]]);
  const served = await serveHub({ tls: VALID, nodeId: 'hub-1', staticKey: HUB_KEY, clients, ...options });
  closeLater(() => served.stop());
  return there({ wss: served.url });
}

function there(data_plane_endpoints: object, more: object = {}): string {
  return folder.write('there.json', { ...IDENTITY, mqtt: undefined, data_plane_endpoints, ...more });
}

/** An identity for a web server with TLS that answers everything with a status; without one, with nothing. */
async function web(tls: Issued, status?: number, scheme = 'wss', headers: object = {}): Promise<string> {
  const port = await startWeb({ tls, status, headers, text: 'secret-text AKEY-12345' });
  return there({ [scheme]: `${scheme}://localhost:${port}/secret-path` }, { protocols: { [scheme]: true } });
}

/** The URL in an identity of `web`, with another scheme and without its path. */
function urlOf(path: string, scheme: string): string {
  const { wss } = JSON.parse(readFileSync(path, 'utf8')).data_plane_endpoints;
  return wss.replace(/^wss/, scheme).replace(/(?<=\d)\/.*/, '');
}

/** An identity of `web` for the address of its host. */
function atAddress(path: string): string {
  return folder.write('there.json', readFileSync(path, 'utf8').replace('//localhost', '//127.0.0.1'));
}

/** A hub of which the agent does this with each question. */
const hubThatSays =
  (payload: (context: Json) => object | undefined) =>
  (socket: WebSocket): void => {
    const session = new HubSession({ crypto, randomBytes, nodeId: 'hub-1', staticKey: HUB_KEY, psk: PSK });
    const handle = (events: HubSessionEvent[]): void => {
      for (const event of events) {
        if (event.type === 'transmit') socket.send(event.data);
        if (event.type !== 'message' || event.kind !== 'json') continue;
        const said = payload(JSON.parse(event.text).payload.context);
        for (const data of said === undefined
          ? []
          : session.sendJson({ msg_type: 'bus', payload: said as never })) {
          socket.send(data);
        }
      }
    };
    socket.on('message', (data, isBinary) =>
      handle(session.receive(isBinary ? (data as Buffer) : data.toString())),
    );
    handle(session.start());
  };

/** What a run has found, from its JSON. */
interface Found {
  readonly fault?: {
    readonly step: string;
    readonly code: string;
    readonly platform_code?: string;
    readonly text: string;
  };
  readonly steps: readonly { readonly step: string; readonly state: string; readonly text?: string }[];
  readonly [name: string]: unknown;
}
const found = ({ stdout }: Run): Found => JSON.parse(stdout);
const doctor = async (...args: string[]): Promise<Run> => safe(await run(['doctor', ...args]));

const PLAIN = '--allow-plaintext';
const SOON = ['--timeout', '0.5'];
const TOLD = {
  tell: 'There is no connection to the hub. Connecting again. If this goes on, tell the operator.',
  who: 'operator',
};
const DENIED = {
  type: 'hive.policy.denied',
  data: { denied_type: 'recognizer_loop:utterance', code: 'backend_unavailable' },
};
const mqtt = (endpoint: string, more: object = {}): string =>
  folder.write('there.json', {
    ...IDENTITY,
    data_plane_endpoints: undefined,
    mqtt: { ...IDENTITY.mqtt, endpoint, ...more },
  });

async function broker(password = 'mqtt-password', base = 'hivemind/hub-1'): Promise<string> {
  const accounts = new Map([
    ['mqtt-user', password],
    [ACCESS_KEY, 'mqtt-password'],
  ]);
  const started = await startBroker({ tls: VALID, base, accounts, hub: 'nobody' });
  closeLater(() => started.stop());
  return started.url;
}

type Args = () => Promise<string[]>;
const soon =
  (args: Args): Args =>
  async () => [...(await args()), ...SOON];
/** Runs with an identity that has these addresses; at a web server with TLS, a server of TCP, a hub, and a hub that is played. */
const addressed =
  (...fields: Parameters<typeof there>): Args =>
  async () => [there(...fields)];
const secure =
  (...given: Parameters<typeof web>): Args =>
  async () => [await web(...given), ...TRUSTING];
const bare =
  (serve?: (socket: Socket) => void): Args =>
  async () => [there({ wss: `wss://localhost:${await tcp(serve)}` })];
const atHub =
  (client?: HubClient, more = (): string[] => []): Args =>
  async () => [await hub(client), ...TRUSTING, ...more()];
const played =
  (greet: (socket: WebSocket) => void, more = (): string[] => []): Args =>
  async () => [identity, await greeting(greet), PLAIN, ...more()];
const bareBroker =
  (serve?: (socket: Socket) => void): Args =>
  async () => [mqtt(`mqtt://127.0.0.1:${await tcp(serve)}`), PLAIN];
const kept = (): string[] => ['--keyring', keyring()];
const asked = (): string[] => [...kept(), '--ask', 'hello'];
/** A hub that makes its offer, and does something when message 1 comes. */
const offering =
  (then: (socket: WebSocket) => void) =>
  (socket: WebSocket): void => {
    says(HELLO, offer(OFFER_PAYLOAD))(socket);
    socket.on('message', () => then(socket));
  };
const leaving = (socket: WebSocket): void => {
  socket.send(HELLO);
  socket.close(1000);
};
const other = publicOf(randomBytes(32));
const STRANGE_SUITES = { ...OFFER_PAYLOAD, noise: { patterns: ['XXpsk2'], suites: ['\u001b[31m'] } };
const OLD = { min_protocol_version: 0, max_protocol_version: 1 };
const NO_CONNACK = 'HTTP/1.1 400 No\r\n\r\n';
const REFUSED = 'certificate-refused';

/** Each fault, what it meets (the step, the code, and the code of the platform), and the arguments of a run that meets it. */
const FAULTS: readonly (readonly [what: string, meets: string, args: Args])[] = [
  ['an identity without an address', 'address: no-endpoint', addressed({})],
  ['an address that no URL can have', 'address: bad-endpoint', addressed({ wss: 'wss://300.1.1.1' })],
  ['a hub without TLS', 'address: plaintext-endpoint', addressed({ wss: 'ws://localhost:1' })],
  ['a name of no host', 'DNS: not-reachable (?:ENOTFOUND|EAI_AGAIN)', addressed({ wss: 'wss://no.invalid' })],
  ['a closed port', 'TCP: not-reachable ECONNREFUSED', addressed({ wss: 'wss://localhost:1' })],
  ['a server without TLS', 'TLS: not-a-hub (?:EPROTO|ERR_SSL.*)', bare((socket) => socket.end(NO_CONNACK))],
  ['a server that is silent about TLS', 'TLS: not-a-hub ETIMEDOUT', soon(bare())],
  ['a server that hangs up', 'TLS: not-reachable ECONNRESET', bare((socket) => socket.destroy())],
  ['a self-signed one', `TLS: ${REFUSED} DEPTH_ZERO_SELF_SIGNED_CERT`, secure(SELF_SIGNED)],
  ['an unknown authority', `TLS: ${REFUSED} UNABLE_TO_VERIFY_LEAF_SIGNATURE`, async () => [await web(VALID)]],
  ['a certificate for another name', `TLS: ${REFUSED} ERR_TLS_CERT_ALTNAME_INVALID`, secure(OF_ANOTHER)],
  ['a certificate that has expired', `TLS: ${REFUSED} CERT_HAS_EXPIRED`, soon(secure(EXPIRED))],
  ['a certificate that is not valid yet', `TLS: ${REFUSED} CERT_NOT_YET_VALID`, soon(secure(EARLY))],
  [
    'a certificate that does not name the address',
    `TLS: ${REFUSED} ERR_TLS_CERT_ALTNAME_INVALID`,
    async () => [atAddress(await web(VALID, 200)), ...TRUSTING],
  ],
  ['a web server', 'upgrade: not-a-hub HTTP_200', secure(VALID, 200)],
  ['a web server without this path', 'upgrade: not-a-hub HTTP_404', secure(VALID, 404)],
  ['a server that refuses the upgrade', 'upgrade: access-refused HTTP_401', secure(VALID, 401)],
  ['a proxy without its hub', 'upgrade: unavailable HTTP_502', secure(VALID, 502)],
  ['a silent server', 'upgrade: timeout', soon(secure(VALID))],
  ['a hub that hangs up after the upgrade', 'upgrade: dropped', played((socket) => socket.terminate())],
  ['a server of other messages', 'greeting: bad-json', played(says('secret-text'))],
  ['no node id', 'greeting: missing-node-id', played(says('{"msg_type":"hello","payload":{}}'))],
  ['no HELLO', 'greeting: handshake-before-hello', played(says(offer(OFFER_PAYLOAD)))],
  ['a close in place of HELLO', 'greeting: dropped', played((socket) => socket.close(1000))],
  ['another message', 'greeting: unexpected-message', played(says('{"msg_type":"bus","payload":{}}'))],
  [
    'an unknown access key',
    'access key: access-refused',
    played((socket) => socket.close(1008, 'secret-text')),
  ],
  ['a hub that never makes its offer', 'protocol: timeout', soon(played(says(HELLO)))],
  ['a hub of protocol 1', 'protocol: protocol-version', played(says(HELLO, offer(OLD)))],
  ['a hub of unknown suites', 'protocol: bad-offer', played(says(HELLO, offer(STRANGE_SUITES)))],
  ['a hub that leaves after its HELLO', 'protocol: dropped', played(leaving)],
  ['a wrong password', 'password: psk-differs', atHub({ psk: randomBytes(32) })],
  [
    'a wrong password at a hub whose key is pinned',
    'password: psk-differs',
    atHub({ psk: randomBytes(32), clientKey: publicOf(CLIENT_KEY) }, () => [
      '--keyring',
      keyring(pinning(publicOf(HUB_KEY))),
    ]),
  ],
  [
    'a hub that refuses message 1',
    'password: negotiation-refused',
    played(
      offering((socket) => socket.close(1008)),
      kept,
    ),
  ],
  [
    'a hub that leaves after message 1',
    'password: dropped',
    played(
      offering((socket) => socket.terminate()),
      kept,
    ),
  ],
  [
    'a silence after message 1',
    'password: timeout',
    soon(
      played(
        offering(() => {}),
        kept,
      ),
    ),
  ],
  [
    'another key than the pinned one',
    'pin: hub-key-changed',
    atHub(undefined, () => ['--keyring', keyring(pinning(other))]),
  ],
  ['another pinned client', 'session: client-key-refused', atHub({ psk: PSK, clientKey: other }, kept)],
  [
    'another pinned client, asking',
    'session: client-key-refused',
    atHub({ psk: PSK, clientKey: other }, asked),
  ],
  [
    'no agent',
    'answer: denied',
    played(
      hubThatSays((context) => ({ ...DENIED, context })),
      asked,
    ),
  ],
  [
    'a hub that does not answer',
    'answer: timeout',
    soon(
      played(
        hubThatSays(() => undefined),
        asked,
      ),
    ),
  ],
  [
    'a port without a broker',
    'TCP: not-reachable ECONNREFUSED',
    async () => [mqtt('mqtt://127.0.0.1:1'), PLAIN],
  ],
  [
    'a broker whose certificate has expired',
    `TLS: ${REFUSED} CERT_HAS_EXPIRED`,
    async () => [mqtt(urlOf(await web(EXPIRED), 'mqtts')), ...TRUSTING],
  ],
  [
    'no account',
    'broker: broker-refused CONNACK_5',
    async () => [mqtt(await broker('another')), ...TRUSTING],
  ],
  [
    'a broker that refuses the topic',
    'broker: broker-refused SUBACK_128',
    async () => [mqtt(await broker(), { topic_prefix: 'hivemind/hub-1/AKEY-12345' }), ...TRUSTING],
  ],
  ['a server that is no broker', 'broker: not-a-hub', bareBroker((socket) => socket.end(NO_CONNACK))],
  ['a silent broker', 'broker: not-a-hub ETIMEDOUT', soon(bareBroker())],
  ['a broker that hangs up', 'broker: not-reachable ECONNRESET', bareBroker((socket) => socket.end())],
  [
    'a silent server in place of a broker over WebSocket',
    'broker: not-a-hub ETIMEDOUT',
    soon(async () => [mqtt(urlOf(await web(VALID), 'wss')), ...TRUSTING]),
  ],
  ['a redirection over HTTPS', 'HTTP: not-a-hub HTTP_302', secure(VALID, 302, 'https')],
  ['a web server in place of a hub over HTTPS', 'HTTP: not-a-hub', secure(VALID, 200, 'https')],
  ['silence over HTTPS', 'HTTP: timeout', soon(secure(VALID, undefined, 'https'))],
  ['a hub over HTTPS that refuses', 'HTTP: access-refused HTTP_401', secure(VALID, 401, 'https')],
];

const ACCESS_REFUSED =
  'The connection was refused: the hub may not know the access key, not have admitted it yet, or accept no more clients.';
const HTTP_401 = `${ACCESS_REFUSED} The answer was HTTP 401, which may also come from a server in front of the hub, such as a firewall.`;
const NO_HUB = 'This may not be a hub: check the address.';
const ENDED =
  'The hub, the network or something in between ended the connection. If that happens while nothing is asked, lower the option pingEvery.';
const OTHER_CLIENT =
  "The connection was refused when this client had shown its key, CLIENT. Most likely the hub knows this client by another key, or another device uses this access key: ask its operator, who can forget the other key (on HiveMind's hub: hivemind-core reset-noise-pin with the number of the client).";

/** What is said: of a cause that the client has, its sentence, and this after it. */
const SAID: { readonly [what: string]: string } = {
  'an identity without an address':
    'The identity has no address for a protocol that the hub serves and that may be used here: expected data_plane_endpoints with wss, default_master, or mqtt with endpoint, username and password.',
  'an address that no URL can have': 'The address has a host that no URL can have.',
  'a hub without TLS':
    'The address in this identity does not use TLS: pass --allow-plaintext if the hub is on this machine.',
  'a certificate that has expired': 'The certificate is valid from DAY -30 to DAY -1.',
  'a broker whose certificate has expired': 'The certificate is valid from DAY -30 to DAY -1.',
  'a certificate that is not valid yet': 'The certificate is valid from DAY 1 to DAY 30.',
  'a server that refuses the upgrade': HTTP_401,
  'a hub over HTTPS that refuses': HTTP_401,
  'a proxy without its hub':
    'The server in front of the hub at localhost gets no answer from the hub (HTTP 502). Check whether the hub is running, and whether that server has its address right.',
  'a silent server':
    'Neither a WebSocket nor a HELLO within 0.5 s. Is this a hub? Check the port. Some hubs stay silent if they find the password weak.',
  'a hub that hangs up after the upgrade':
    'The connection was lost before the hub said anything. Look into the log of the hub, and of a proxy in front of it. HiveMind’s hub must be hivemind-core 4.7 or later.',
  'a server of other messages': `Not JSON: a value is missing after 0 bytes. ${NO_HUB}`,
  'no node id': `The HELLO has no node_id: check that the address belongs to a hub. ${NO_HUB}`,
  'no HELLO': `The hub sent a HANDSHAKE before the HELLO that it belongs to. ${NO_HUB}`,
  'another message': `A cleartext message arrived that state awaiting-hello does not allow. ${NO_HUB}`,
  'a close in place of HELLO': ENDED,
  'a hub that leaves after its HELLO': ENDED,
  'a hub that leaves after message 1': ENDED,
  'an unknown access key': ACCESS_REFUSED,
  'a hub that never makes its offer':
    'No HANDSHAKE within 0.5 s after the HELLO: most likely the hub does not speak protocol 3. Update it.',
  'a hub of protocol 1':
    'The peer does not speak protocol 3: update it (HiveMind’s hub to hivemind-core 4.7 or later: pip install --upgrade --pre hivemind-core). This hub speaks versions 0 to 1.',
  'a hub of unknown suites':
    'The hub does not offer XXpsk2 and 25519_ChaChaPoly_SHA256, as every hub has to: update it.',
  'a wrong password':
    'The hub has another password for this client, or a third party interfered: check the password of the identity.',
  'a wrong password at a hub whose key is pinned':
    'The hub’s answer does not fit the password: most likely the hub has another one for this client. Ask its operator, and name this client’s key, CLIENT.',
  'a hub that refuses message 1':
    'The connection was refused after message 1: the hub may refuse the access key, the pattern or the suite, or have bound a different HELLO or HANDSHAKE.',
  'a silence after message 1':
    'The hub did not answer the handshake within 0.5 s. Look for the reason in the hub’s log.',
  'another key than the pinned one':
    'The hub presents the key HUB, and ANOTHER is pinned: ask the hub’s operator whether the hub itself shows the new key, and pin it only then. “ask” and “chat” ask you whether to.',
  'another pinned client': OTHER_CLIENT,
  'another pinned client, asking': OTHER_CLIENT,
  'no agent':
    'The hub cannot answer at the moment. Please tell the operator. The message bus of the hub is down: start it.',
  'a hub that does not answer': 'No answer within 0.5 s. If the hub is slow, wait longer with --timeout.',
  'silence over HTTPS': 'No response of a hub within 0.5 s. Check the port and the path.',
};

const KEYS = new Map([
  [fingerprint(publicOf(HUB_KEY)), 'HUB'],
  [fingerprint(publicOf(CLIENT_KEY)), 'CLIENT'],
]);
const TODAY = Date.parse(new Date().toISOString().slice(0, 10));
/** What is said, without ports, with names in place of keys, and with days counted from today. */
function general(text: string): string {
  const named = text.replace(/\b[0-9a-f]{16}\b/g, (key) => KEYS.get(key) ?? 'ANOTHER');
  return named
    .replace(/:\d+/g, '')
    .replace(/port \d+/, 'port PORT')
    .replace(/\d{4}-\d\d-\d\d/g, (day) => `DAY ${Math.round((Date.parse(day) - TODAY) / DAY)}`);
}

/** Whether a run has left a connection open. */
let leavesOpen = false;

for (const [what, meets, args] of FAULTS) {
  test(`explains ${what}`, async () => {
    const result = await doctor(...(await args()), '--json');
    assert.is(result.code, 1, result.stderr);
    const { fault, steps } = found(result);
    const { step, code, platform_code } = fault!;
    assert.match(`${step}: ${[code, platform_code].filter(Boolean).join(' ')}`, new RegExp(`^${meets}$`));
    const at = steps.findIndex((one) => one.step === step);
    assert.ok(steps.slice(at + 1).every(({ state }) => state === 'not tried'));
    // Only a hub that closes instead of greeting has passed over a step.
    const before = steps.slice(0, at).filter(({ state }) => state !== 'passed');
    assert.equal(
      before.map((one) => one.step),
      code === 'access-refused' && step === 'access key' ? ['greeting'] : [],
    );
    const place = placeOf(steps[0]!.text!, /broker/.test(`${what} ${step}`) ? 'broker' : 'hub');
    const advice = isCause(code) ? sentenceOfCause({ cause: code, platformCode: platform_code }, place) : '';
    const said = `${general(advice).replace('(ca)', '(--ca)')} ${SAID[what] ?? ''}`.trim();
    assert.is(general(fault!.text), said);
    if (step === 'HTTP' || leavesOpen) return; // over HTTPS it takes leave with a request
    leavesOpen = true; // so that the others need not wait, too
    await until(() => sockets.size === 0);
    leavesOpen = false;
  });
}

test('shows the disclosure, without anything that a terminal would obey', async () => {
  const path = there(JSON.parse(readFileSync(await hub(), 'utf8')).data_plane_endpoints, {
    ai_disclosure: { en: 'An AI\u001b[2J answers.' },
  });
  const { stderr } = safe(
    await runProgram(['doctor', path, ...TRUSTING, '--keyring', keyring(), '--ask', 'hello']),
  );
  assert.match(stderr, /^An AI.*answers\.$/m);
});

test('shows one line for each step, and goes on to the answer', async () => {
  const path = await hub();
  const args = ['doctor', path, ...TRUSTING, '--keyring', keyring(), '--ask', 'hello'];
  const { code, stdout, stderr } = await runProgram(args);
  assert.is(code, 0, stdout);
  assert.is(stderr, 'The identity has no text in English that says that an AI answers.\n');
  assert.is(
    general(stdout).replace(/(?<=localhost is ).*/, 'ADDRESSES'),
    `\
ok     address     wss://localhost
ok     keyring     a client can use it
ok     DNS         localhost is ADDRESSES
ok     TCP         a server listens on port PORT
ok     TLS         TLSv1.3; the certificate is accepted, and valid until
                   DAY 30
ok     upgrade     the server accepts WebSockets
ok     greeting    the hub is "hub-1"
ok     access key  the hub greets this client
ok     protocol    version 3, XXpsk2, 25519_ChaChaPoly_SHA256,
                   25519_AESGCM_SHA256; a client chooses XXpsk2 with
                   25519_ChaChaPoly_SHA256
ok     password    the hub has the same
ok     pin         none yet, and this command adds none; the hub’s key is
                   HUB
ok     session     the hub accepts this client and its key
ok     answer      "You said: hello"

No fault was found.
`,
  );
});

test('ends its client with the run: that connects no more', async () => {
  for (const greet of [says(HELLO, offer(OLD_PAYLOAD)), (socket: WebSocket) => socket.terminate()]) {
    await watchingTimers(async (timers) => {
      assert.is((await examine(greet)).code, 1);
      assert.not.ok(timers.running.includes('client'), String(timers.running));
    });
  }
});

test('shows on a terminal that it derives the PSK, and removes that', async () => {
  const { code, stdout } = await runOnTerminal(['doctor', await hub(), ...TRUSTING], []);
  assert.is(code, 0, stdout);
  const [bars, rest] = stdout.split('\r\u001b[Kok ');
  assert.match(bars!, /█.* deriving the pre-shared key/);
  assert.match(
    rest!,
    /^ {4}address .*\r\nAll steps that were tried have passed\. Not tried: session\.\r\n$/s,
  );
});

test('says which clock is wrong when a certificate is not valid now', async () => {
  const textWith = async (path: string): Promise<string> =>
    found(await doctor(path, ...TRUSTING, '--json')).fault!.text;
  for (const year of [2020, 2030]) {
    const far = await web(EXPIRED, 200, 'wss', { date: new Date(Date.UTC(year)).toUTCString() });
    const text = `The server’s clock says ${year}-01-01, so one of the two is wrong.`;
    assert.ok((await textWith(far)).endsWith(text));
  }
  const { validFrom, validTo } = new X509Certificate(EXPIRED.cert);
  const [from, to] = [validFrom, validTo].map((date) => new Date(date).toISOString().slice(0, 10));
  assert.match(await textWith(await web(EXPIRED, 200)), `The certificate is valid from ${from} to ${to}.`);
  const early = await web(EXPIRED, 200);
  const now = (): number => 1_262_304_000_000; // 2010, as a machine without a battery may think
  const text = await replacing(Date, { now }, () => textWith(early));
  assert.match(text, /That clock is wrong: this program is newer\.$/);
});

/** The path of an identity for a hub over HTTPS, which waits before it answers a new connection, in milliseconds. */
async function hubOverHttps(wait = 0): Promise<string> {
  const hub = await AnyHub.start(VALID);
  closeLater(() => hub.stop());
  hub.psk = PSK;
  hub.behaviour = { answer: async (path) => (path === 'connect' ? pause(wait, undefined) : undefined) };
  const https = `https://localhost:${hub.port}`;
  return there({ https, wss: 'wss://localhost:1' }, { protocols: { https: true } });
}

test('waits for a hub over HTTPS as long as --timeout says', async () => {
  const slow = await hubOverHttps(400);
  const { timeout } = AbortSignal;
  const fast = (time: number): AbortSignal => timeout.call(AbortSignal, time / 100);
  const { code, stdout } = await replacing(AbortSignal, { timeout: fast }, () =>
    doctor(slow, '--protocol', 'https', ...TRUSTING, '--timeout', '9'),
  );
  assert.is(code, 0, stdout);
});

test('examines a hub over HTTPS as far as one over WebSocket', async () => {
  const result = await doctor(
    await hubOverHttps(),
    '--protocol',
    'https',
    ...TRUSTING,
    '--keyring',
    keyring(),
    '--ask',
    'hello',
    '--json',
  );
  const { steps, fault } = found(result);
  assert.is(fault, undefined, fault?.text);
  assert.equal(
    steps.filter(({ step }) => ['HTTP', 'answer'].includes(step)).map(({ text }) => text),
    ['the server accepts requests', '"You said: hello"'],
  );
});

test('examines a broker, and leaves the hub behind it alone', async () => {
  const topic = { username: ACCESS_KEY, topic_prefix: `hivemind/hub-1/${ACCESS_KEY}` };
  const { code, stdout } = await doctor(mqtt(await broker(), topic), ...TRUSTING);
  assert.is(code, 0, stdout);
  assert.match(stdout, /^ok {5}broker {6}it accepts the account/m);
  assert.match(stdout, /^ok {5}limits {6}a broker of MQTT 3\.1\.1 does not tell them/m);
  assert.match(stdout, /^- {6}hub .*would end the session of the device/m);
});

test('logs on to a broker with the account, subscribes as the identity says, and takes leave', async () => {
  let sent = '';
  const port = await tcp((socket) => {
    const answers = [Uint8Array.of(0x20, 2, 0, 0), Uint8Array.of(0x90, 3, 0, 1, 2)];
    sent = ''; // with 3.1.1, after a broker that does not know MQTT 5
    socket.on('data', (part) => {
      sent += part.toString('latin1');
      const answer = answers.shift();
      if (answer !== undefined) socket.write(answer);
    });
  });
  const { code, stdout } = await doctor(mqtt(`mqtt://127.0.0.1:${port}`, { qos: 2 }), PLAIN);
  assert.is(code, 0, stdout);
  await until(() => sockets.size === 0);
  const text = (value: string): string => `\0${String.fromCharCode(value.length)}${value}`;
  const packet = (type: number, body: string): string => String.fromCharCode(type, body.length) + body;
  const account = ['hub-protocol-doctor-AKEY-12345', 'mqtt-user', 'mqtt-password'].map(text).join('');
  const [connect, subscribe, disconnect] = [
    packet(0x10, `${text('MQTT')}\x04\xc2\0\x3c${account}`), // with an account, and a clean session
    packet(0x82, `\0\x01${text('hivemind/hub-1/AKEY-12345/out')}\x02`),
    packet(0xe0, ''),
  ];
  assert.is(sent, connect! + subscribe! + disconnect!);
});

for (const [what, properties, text] of [
  [
    'packets of 1000 bytes',
    { maximumPacketSize: 1000 },
    /^The broker takes packets of at most 1000 bytes, and/,
  ],
  ['packets of 70 kB', { maximumPacketSize: 70_000 }, /^packets of at most 70000 bytes$/],
  [
    'no QoS and nothing retained',
    { maximumQoS: 0, retainAvailable: false },
    /^QoS of at most 0, nothing retained$/,
  ],
] as const) {
  test(`says that a broker allows ${what}`, async () => {
    const answer = (packet: Packet): Buffer => generate(packet, { protocolVersion: 5 });
    const answers = [
      answer({ cmd: 'connack', reasonCode: 0, sessionPresent: false, properties }),
      answer({ cmd: 'suback', messageId: 1, granted: [0] }),
    ];
    const port = await tcp((socket) => socket.on('data', () => socket.write(answers.shift() ?? '')));
    const { steps, fault } = found(await doctor(mqtt(`mqtt://127.0.0.1:${port}`), PLAIN, '--json'));
    assert.is(fault?.step, 'maximumPacketSize' in properties && what.includes('1000') ? 'limits' : undefined);
    assert.match(steps.find(({ step }) => step === 'limits')!.text!, text);
  });
}

test('examines a broker over WebSocket', async () => {
  const { port } = new URL(await broker());
  const server = createHttpsServer({ ...VALID });
  new WebSocketServer({ server, path: '/mqtt' }).on('connection', (socket) => {
    const outer = createWebSocketStream(socket);
    const inner = connectTls({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
    for (const stream of [outer, inner]) stream.on('error', () => {});
    outer.pipe(inner).pipe(outer);
  });
  const there = `wss://localhost:${await listen(server)}`;
  const topic = { username: ACCESS_KEY, topic_prefix: `hivemind/hub-1/${ACCESS_KEY}` };
  const { code, stdout } = await doctor(mqtt(`${there}/mqtt`, topic), ...TRUSTING);
  assert.is(code, 0, stdout);
  const wrong = found(await doctor(mqtt(`${there}/nowhere`, topic), ...TRUSTING, '--json'));
  const { step, code: cause, platform_code } = wrong.fault!;
  assert.equal([step, cause, platform_code], ['broker', 'not-a-hub', 'HTTP_400']);
});

for (const protocol of ['wss', 'https', 'mqtts'] as const) {
  test(`over ${protocol}, goes through the proxy of the environment, with the certificate of the client`, async () => {
    const own = await localhostCertificate();
    const hub = await AnyHub.start({ ...VALID, requestCert: true, ca: own.ca } as Issued);
    hub.psk = PSK;
    const proxy = createHttpServer().on('connect', ({ url }: IncomingMessage, near: Socket) => {
      const far = net.connect(Number(url!.split(':')[1]!), '127.0.0.1', () =>
        near.write('HTTP/1.1 200 OK\r\n\r\n'),
      );
      near.pipe(far).pipe(near);
      for (const each of [near, far]) each.on('error', () => {}).on('close', () => far.destroy());
    });
    const variables = { HTTPS_PROXY: `http://127.0.0.1:${await listen(proxy)}`, NODE_USE_ENV_PROXY: '1' };
    Object.assign(process.env, variables);
    for (const name of Object.keys(variables)) closeLater(() => delete process.env[name]);
    closeLater(() => hub.stop());
    const url = `${protocol}://localhost:${hub.port}`;
    const path =
      protocol === 'mqtts' ? mqtt(url) : there({ [protocol]: url }, { protocols: { [protocol]: true } });
    const pair = [
      '--cert',
      folder.write('client.pem', own.cert),
      '--key',
      folder.write('client.key', own.key),
    ];
    const { code, stdout } = await doctor(path, ...TRUSTING, ...pair);
    assert.is(code, 0, stdout);
    assert.match(stdout, /^ok {5}TCP {9}the proxy at 127\.0\.0\.1:\d+ connects to port \d+/m);
    assert.match(
      (await doctor(path, ...TRUSTING)).stdout.replace(/\s+/g, ' '),
      /wants a client certificate\. Pass the one that its operator gives you \(--cert, --key\)/,
    );
  });
}

test('asks for MQTT over WebSocket, and takes a server that does not speak it for no broker', async () => {
  const server = createHttpsServer({ ...VALID });
  let asked: unknown;
  const handleProtocols = (protocols: Set<string>): false => {
    asked = [...protocols];
    return false;
  };
  new WebSocketServer({ server, handleProtocols });
  const { fault } = found(
    await doctor(mqtt(`wss://localhost:${await listen(server)}`), ...TRUSTING, '--json'),
  );
  assert.equal(asked, ['mqtt']);
  assert.equal([fault!.step, fault!.code], ['broker', 'not-a-hub']);
  const text =
    'The server at localhost does not answer as a broker does. Check the address, the port, and whether TLS is needed there.';
  assert.is(general(fault!.text), text);
});

/** What a server that is no broker sends once it has read the first packet. */
const NO_BROKERS: readonly (readonly [what: string, ...bytes: Uint8Array[]])[] = [
  ['a length of five bytes', Uint8Array.of(0x20, 0xff, 0xff, 0xff, 0xff, 1)],
  ['a packet of a reserved type', Uint8Array.of(0, 0)],
  ['the packet of a client', Uint8Array.of(0x10, 0)],
  ['a packet without end', Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0x7f), new Uint8Array(600_000)],
];

for (const [what, ...bytes] of NO_BROKERS) {
  test(`does not take a server that sends ${what} for a broker`, async () => {
    const port = await tcp((socket) =>
      socket.once('data', () => {
        for (const part of bytes) socket.write(part);
      }),
    );
    const { fault } = found(await doctor(mqtt(`mqtt://127.0.0.1:${port}`), PLAIN, '--json'));
    // At once, and not when the time is up.
    assert.equal([fault!.step, fault!.code, fault!.platform_code], ['broker', 'not-a-hub', undefined]);
  });
}

test('reads a packet whose length has two bytes, and skips what the broker sends unasked', async () => {
  const port = await tcp((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.concat([Buffer.of(0x30, 0xc8, 1), Buffer.alloc(200), Buffer.of(0x20, 2, 0, 5)]));
    });
  });
  const { fault } = found(await doctor(mqtt(`mqtt://127.0.0.1:${port}`), PLAIN, '--json'));
  assert.equal(fault!.platform_code, 'CONNACK_5');
});

test('sends a broker a password of more than 255 bytes whole', async () => {
  const password = 'p'.repeat(300);
  const topic = { username: ACCESS_KEY, password, topic_prefix: `hivemind/hub-1/${ACCESS_KEY}` };
  let sent = Buffer.alloc(0);
  const port = await tcp((socket) => {
    socket.on('data', (part) => {
      sent = Buffer.concat([sent, part]);
      if (sent.includes(password)) socket.write(Uint8Array.of(0x20, 2, 0, 0));
    });
  });
  await doctor(mqtt(`mqtt://127.0.0.1:${port}`, topic), PLAIN, ...SOON);
  const at = sent.indexOf(password);
  assert.equal([(sent[1]! & 127) + 128 * sent[2]!, sent.readUInt16BE(at - 2)], [at + 300 - 3, 300]);
});

test('changes no keyring, and trusts no key', async () => {
  for (const path of [keyring(), keyring(pinning(publicOf(randomBytes(32))))]) {
    const before = readFileSync(path);
    await doctor(await hub(), ...TRUSTING, '--keyring', path);
    assert.equal(readFileSync(path), before);
  }
  const there = await hub();
  await doctor(there, ...TRUSTING);
  assert.not.ok(existsSync(there.replace('.json', '.keyring.json')));
});

/** The last two steps of a run without a fault: the pin of the hub, without its key, and the session. */
async function pinAndSession(path: string, ...args: string[]): Promise<unknown[]> {
  const { fault, steps } = found(await doctor(path, ...TRUSTING, ...args, '--json'));
  assert.is(fault, undefined, fault?.text);
  return steps.slice(-2).flatMap(({ state, text }) => [state, general(text!)]);
}

const UNKNOWN = ['passed', 'none yet, and this command adds none; the hub’s key is HUB', 'not tried'];

test('lets the hub pin the key of the keyring, and without one none', async () => {
  const client: HubClient = { psk: PSK };
  const path = await hub(client);
  const none = 'there is no keyring here; the hub has pinned no client’s key yet';
  assert.equal(await pinAndSession(path), [...UNKNOWN, none]);
  assert.is(client.clientKey, undefined);
  await doctor(path, ...TRUSTING, '--keyring', keyring());
  assert.equal(Buffer.from(client.clientKey!), Buffer.from(publicOf(CLIENT_KEY)));
  const another =
    'there is no keyring here, and the hub has pinned a client’s key: connect with the keyring that has it';
  assert.equal(await pinAndSession(path), [...UNKNOWN, another]);
});

test('verifies the pin with a keyring whose private key is elsewhere, and completes no handshake with it', async () => {
  const outside = createKeyring({ accessKey: ACCESS_KEY, staticKey: { publicKey: publicOf(CLIENT_KEY) } });
  const stored = storePsk(pinning(publicOf(HUB_KEY))(outside), 'hub-1', PSK, { isProvisioned: true });
  const path = folder.write('outside.json', serializeKeyring(stored));
  for (const [clientKey, said] of [
    [undefined, 'this keyring has no private key; the hub has pinned no client’s key yet'],
    [
      publicOf(CLIENT_KEY),
      'this keyring has no private key, and the hub has pinned a client’s key: connect with the keyring that has it',
    ],
  ] as const) {
    const client: HubClient = { psk: PSK, clientKey };
    const steps = await pinAndSession(await hub(client), '--keyring', path);
    assert.equal(steps, ['passed', 'as before; the hub’s key is HUB', 'not tried', said]);
    assert.is(client.clientKey, clientKey);
  }
});

test('derives the PSK anew, since a derived one that is stored may be of another password', async () => {
  const stale = (stored: Keyring): Keyring =>
    storePsk(stored, 'hub-1', new Uint8Array(32), { isProvisioned: false });
  const { code, stdout } = await doctor(await hub(), ...TRUSTING, '--keyring', keyring(stale));
  assert.is(code, 0, stdout);
});

test('does not show operators a key that was made only for this command', async () => {
  const { fault } = found(await doctor(await hub({ psk: randomBytes(32) }), ...TRUSTING, '--json'));
  assert.not.match(fault!.text, /[0-9a-f]{16}/);
  const withKeyring = found(
    await doctor(await hub({ psk: randomBytes(32) }), ...TRUSTING, '--keyring', keyring(), '--json'),
  );
  assert.ok(withKeyring.fault!.text.includes(fingerprint(publicOf(CLIENT_KEY))));
});

test('saves both messages byte for byte, also in place of earlier ones', async () => {
  for (const number of ['2', '2.0']) {
    const text = offer(OLD_PAYLOAD).replace('2', number);
    assert.is((await examine(says(HELLO, text), '--save', folder.at('seen'))).code, 1);
    assert.is(readFileSync(folder.at('seen/hello.json'), 'utf8'), HELLO);
    assert.is(readFileSync(folder.at('seen/offer.json'), 'utf8'), text);
  }
});

test('saves the messages readable by their owner only, and never through a link', async () => {
  mkdirSync(folder.at('linked'));
  const victim = folder.write('victim.json', 'mine');
  symlinkSync(victim, folder.at('linked/hello.json'));
  await examine(says(HELLO, offer(OLD_PAYLOAD)), '--save', folder.at('linked'));
  assert.is(readFileSync(victim, 'utf8'), 'mine');
  for (const name of ['linked/hello.json', 'linked/offer.json']) {
    assert.is(lstatSync(folder.at(name)).mode & 0o777, 0o600);
    assert.ok(lstatSync(folder.at(name)).isFile());
  }
  const { code, stderr } = await examine(says(HELLO, offer(OLD_PAYLOAD)), '--save', victim);
  assert.is(code, 2);
  assert.match(stderr, /cannot write to .*victim/);
});

test('ends although the hub never ends its side of the connection', async () => {
  const url = await greeting((socket) => {
    const { _socket: connection } = socket as unknown as { _socket: Socket };
    says(HELLO, offer(OLD_PAYLOAD))(socket);
    connection.removeAllListeners('data').resume(); // so that it reads no close frame
  });
  let isClosed = false;
  const close = (): void => {
    isClosed = true;
    void closeAll();
  };
  const timer = setTimeout(close, 20_000); // ws waits for 30 seconds
  const { code, stdout } = await runProgram(['doctor', identity, url, PLAIN, '--json']);
  clearTimeout(timer);
  assert.equal([code, found({ stdout } as Run).fault!.code], [1, 'protocol-version']);
  assert.not.ok(isClosed, 'it ended only when the server did');
});

test('is neither held up nor filled by a hub that says HELLO without end', async () => {
  const greet = (socket: WebSocket): void => {
    const again = setInterval(() => {
      if (socket.bufferedAmount < 1_000_000) for (let i = 0; i < 100; i++) socket.send(HELLO, () => {});
    });
    socket.on('close', () => clearInterval(again));
  };
  const { fault, hello } = found(await examine(greet, '--json', ...SOON));
  assert.match(fault!.text, /^No HANDSHAKE within 0\.5 s after the HELLO/); // no HELLO begins another wait
  assert.is((hello as string).length, HELLO.length + '[access key]'.length - ACCESS_KEY.length);
});

test('names the hub as its latest HELLO does', async () => {
  const [first, second] = [HELLO, HELLO.replace('hub-1', 'hub-2')] as const;
  const { node_id, hello, steps } = found(await examine(says(first, second, offer(OLD_PAYLOAD)), '--json'));
  assert.equal([node_id, hello], ['hub-2', second.replace(ACCESS_KEY, '[access key]')]);
  assert.is(steps.find(({ step }) => step === 'greeting')!.text, 'the hub is "hub-2"');
});

test('shows no control character that the hub sent, in text or in JSON', async () => {
  const hostile = '\u001b[31m\u009b\u202e\u2028\u061c\u200f';
  const noise = { patterns: ['XXpsk2', hostile], suites: [hostile] };
  const hello = `{"msg_type":"hello","payload":{"node_id":"${hostile.slice(1)}","\u009b":"\u202e"}}`;
  for (const args of [[], ['--json']]) {
    const { code, stdout } = await examine(says(hello, offer({ ...OFFER_PAYLOAD, noise })), ...args);
    assert.is(code, 1);
    assert.ok(stdout.includes('\\u009b'));
    if (args.length > 0) assert.equal(JSON.parse(stdout).suites, noise.suites);
  }
});

test('names the port of the scheme if the address has none', async () => {
  for (const [protocol, scheme, port] of [
    ['wss', 'wss', 443],
    ['wss', 'ws', 80],
    ['https', 'https', 443],
    ['https', 'http', 80],
  ] as const) {
    const path = there({ [protocol]: `${scheme}://nosuchhost.invalid` }, { protocols: { [protocol]: true } });
    const { stdout } = await doctor(path, PLAIN);
    assert.ok(stdout.includes(` ${scheme}://nosuchhost.invalid:${port}\n`), stdout);
  }
});

/** Runs the command, and counts how often it waits for the server, and how many of those timers it leaves behind. */
async function waitsOf(path: string, ...args: string[]): Promise<{ begun: number; left: number }> {
  const { setTimeout, clearTimeout } = globalThis;
  const left = new Set<unknown>();
  let begun = 0;
  const set = (run: () => void, wait = 0): unknown => {
    const timer = setTimeout(run, wait);
    if (wait !== 61_000) return timer; // another's
    begun++;
    left.add(timer);
    return timer;
  };
  const clear = (timer: Parameters<typeof clearTimeout>[0]): void => {
    left.delete(timer);
    clearTimeout(timer);
  };
  await replacing(globalThis, { setTimeout: set, clearTimeout: clear }, () =>
    doctor(path, ...TRUSTING, '--timeout', '61', ...args),
  );
  for (const timer of left) clearTimeout(timer as NodeJS.Timeout);
  return { begun, left: left.size };
}

test('leaves no timer of a step behind, and takes no derivation for the time of the hub', async () => {
  const provisioned = await waitsOf(await hub(), '--keyring', keyring());
  const derived = await waitsOf(await hub());
  const failed = await waitsOf(there({ wss: 'wss://127.0.0.1:1' }));
  assert.equal([provisioned.left, derived.left, failed.left], [0, 0, 0]);
  assert.is(failed.begun, 1);
  assert.ok(provisioned.begun > 5 && derived.begun > provisioned.begun + 3); // anew with each progress
});

/** Runs with a clock and timers that go two hundred times as fast. */
async function inFastTime<T>(body: () => Promise<T>): Promise<T> {
  const { now } = performance;
  return replacing(performance, { now: () => 200 * now.call(performance) }, () =>
    withTimers((run, time = 0, original) => original(run, time / 200), body),
  );
}

for (const [what, greet, ...args] of [
  ['the HELLO', says()],
  ['the HANDSHAKE', says(HELLO)],
  ['message 2', says(HELLO, offer(OFFER_PAYLOAD))],
  ['an answer', hubThatSays(() => undefined), '--ask', 'hello'],
] as const) {
  test(`waits for ${what} as long as --timeout says, also for more than a minute`, async () => {
    const path = keyring();
    const given = [identity, await greeting(greet), PLAIN, '--keyring', path, '--timeout', '100', ...args];
    const { stdout } = await inFastTime(() => run(['doctor', ...given, '--json']));
    assert.match(JSON.parse(stdout).fault.text, /within 100 s/);
  });
}

test('asks a hub that took more than a minute to greet', async () => {
  const late = (socket: WebSocket): void => {
    const greet = hubThatSays((context) => ({ type: 'ovos.utterance.handled', data: {}, context }));
    setTimeout(() => greet(socket), 70_000);
  };
  const given = [identity, await greeting(late), PLAIN, '--keyring', keyring(), '--ask', 'hello'];
  const { code, stdout } = await inFastTime(() => run(['doctor', ...given, '--timeout', '1000']));
  assert.is(code, 0, stdout);
});

test('names only some of a thousand suites', async () => {
  const suites = Array.from({ length: 1000 }, (_, index) => (index === 0 ? SUITE : `suite-${index}`));
  const noise = { patterns: ['XXpsk2'], suites };
  const hub = says(HELLO, offer({ ...OFFER_PAYLOAD, noise }));
  const { stdout } = await examine(hub, '--keyring', keyring(), ...SOON);
  assert.match(stdout.replace(/\s+/g, ' '), /"suite-19", and 980 more; a client/);
});

const KEY = ACCESS_KEY;
const authorization = Buffer.from(`hub-protocol:${KEY}`).toString('base64');
for (const [form, text, shown] of [
  ['percent-encoded in part', 'AKEY%2d1234%35', '[access key]'],
  ['percent-encoded as a whole', [...Buffer.from(KEY)].map((byte) => `%${byte.toString(16)}`).join(''), ''],
  ['in hex', `<${Buffer.from(KEY).toString('hex').toUpperCase()}>`, '<[access key]>'],
  ['in base64', Buffer.from(KEY).toString('base64'), ''],
  ['in base64 after one byte', Buffer.from(`:${KEY}:`).toString('base64'), ''],
  ['in base64 after two bytes', Buffer.from(`::${KEY}:`).toString('base64'), ''],
  ['in the authorization', `/?authorization=${encodeURIComponent(authorization)}`, '/?authorization=aHV'],
  ['in lower case', 'akey-12345', '[access key]'],
] as const) {
  test(`hides the access key that a hub repeats ${form}`, async () => {
    const hello = { msg_type: 'hello', payload: { node_id: `at ${text}`, [text]: [text], pubkey: '' } };
    for (const args of [[], ['--json']]) {
      const result = await examine(says(JSON.stringify(hello), offer(OLD_PAYLOAD)), ...args);
      const stdout = result.stdout.replace(/\s+/g, ' ');
      assert.match(stdout, /\[access key\]/);
      assert.ok(stdout.includes(shown));
      assert.not.ok(stdout.includes(text));
      assert.not.ok(decodings(stdout).some((decoded) => decoded.includes('12345')));
    }
  });
}

/** What may be read in a text in which something is encoded. */
function decodings(text: string): string[] {
  const runs = text.match(/[\w+/-]{4,}/g) ?? [];
  return runs.flatMap((run) => [
    Buffer.from(run, 'hex').toString(),
    ...[0, 1, 2, 3].map((start) => Buffer.from(run.slice(start), 'base64').toString('latin1')),
  ]);
}

test('hides an access key in base64url, and in base64 that is percent-encoded', () => {
  const key = 'kiosk~>~>?7';
  const hide = hiding(key);
  // What is left has bits of what comes before the key, or after it.
  for (const [before, left] of [
    ['', '[access key]c'],
    [':', 'Om[access key]'],
    ['::', 'Ojp[access key]w'],
  ] as const) {
    const bytes = Buffer.from(`${before}${key}`);
    const encoded = encodeURIComponent(bytes.toString('base64'));
    for (const text of [bytes.toString('base64url'), encoded])
      assert.is(hide(text).replace(/(?:%3D)+$/, ''), left, text);
  }
});

test('hides the access key that a hub offers as a suite', async () => {
  const noise = { patterns: ['XXpsk2'], suites: [ACCESS_KEY] };
  const { stdout } = await examine(says(HELLO, offer({ ...OFFER_PAYLOAD, noise })), '--json');
  assert.equal(JSON.parse(stdout).suites, ['[access key]']);
});

test('hides the access key that a hub repeats with escapes of JSON, and as a number', async () => {
  const hello = (key: string): string => `{"msg_type":"hello","payload":{"node_id":"hub-1","x":"${key}"}}`;
  const { stdout } = await examine(says(hello('\\u0041KEY-12345'), offer(OLD_PAYLOAD)), '--json');
  assert.match(JSON.parse(stdout).hello, /"x":"\[access key\]"/);
  const digits = folder.write('digits.json', { ...IDENTITY, access_key: '1234567890' });
  const text = hello('').replace('""', '[1234567890,12345678901.50,7]');
  const second = await doctor(digits, await greeting(says(text, offer(OLD_PAYLOAD))), PLAIN, '--json');
  assert.match(JSON.parse(second.stdout).hello, /"x":\["\[access key\]","\[access key\]",7\]/);
});

test('refuses an authority that is not a certificate', async () => {
  const torn = folder.write('torn.pem', readFileSync(authority).subarray(0, 200).toString());
  const { code, stderr } = await run(['doctor', identity, '--ca', torn]);
  assert.is(code, 2);
  assert.match(stderr, /torn\.pem is not a certificate, as PEM or DER\n$/);
});

test('refuses a client certificate without its key, and one of another', async () => {
  const cert = ['--cert', folder.write('client.pem', CA)];
  const key = ['--key', folder.write('client.key', (await localhostCertificate()).key)];
  for (const [args, told] of [
    [cert, /--cert and --key belong together/],
    [[...cert, ...key], /not a certificate and its private key/],
  ] as const) {
    const { code, stderr } = await doctor(identity, ...args);
    assert.is(code, 2);
    assert.match(stderr, told);
  }
});

test('says which addresses a name has, and that an address needs no DNS', async () => {
  const dns = async (host: string): Promise<string | undefined> => {
    const url = `ws://${host}:${await tcp((socket) => socket.destroy())}`;
    const { steps } = found(await doctor(there({ wss: url }), PLAIN, '--json'));
    return steps.find(({ step }) => step === 'DNS')!.text;
  };
  assert.match((await dns('localhost'))!, /^localhost is (?:127\.0\.0\.1|::1)/);
  assert.is(await dns('127.0.0.1'), 'not needed: it is an IP address');
});

test('refuses an address with a fragment before it connects', async () => {
  const url = `ws://127.0.0.1:${await tcp((socket) => socket.destroy())}/#part`;
  const { fault } = found(await doctor(identity, url, PLAIN, '--json'));
  assert.is(fault?.step, 'address', JSON.stringify(fault));
});

test('names the versions of an old hub', async () => {
  for (const [payload, text] of [
    [{}, 'This hub names no version.'],
    [{ min_protocol_version: 1 }, 'This hub names no version.'],
    [{ max_protocol_version: 'two' }, 'This hub names no version.'],
    [{ max_protocol_version: 2 }, 'This hub speaks version 2.'],
    [{ min_protocol_version: 2, max_protocol_version: 2 }, 'This hub speaks version 2.'],
    [{ min_protocol_version: 1, max_protocol_version: 2 }, 'This hub speaks versions 1 to 2.'],
  ] as const) {
    const { stdout } = await examine(says(HELLO, offer(payload)), '--json');
    assert.ok(JSON.parse(stdout).fault.text.endsWith(`. ${text}`), stdout);
  }
});

test('takes no other packet of the same length for an answer of a broker', async () => {
  for (const [bytes, code] of [
    [[0x40, 2, 0, 7, 0x20, 2, 0, 5], 'CONNACK_5'],
    [[0x20, 2, 0, 0, 0x40, 3, 0, 1, 0x81, 0x90, 3, 0, 1, 0x80], 'SUBACK_128'],
  ] as const) {
    const port = await tcp((socket) => {
      socket.once('data', () => socket.write(Uint8Array.from(bytes)));
    });
    const { fault } = found(await doctor(mqtt(`mqtt://127.0.0.1:${port}`), PLAIN, '--json'));
    assert.is(fault!.platform_code, code);
  }
});

test('says that a certificate is valid until an unknown day if that is written in an unknown form', async () => {
  const tls = {
    authorized: true,
    getPeerCertificate: () => ({ valid_to: 'at dawn' }),
    getProtocol: () => 'TLSv1.3',
  };
  const text = 'TLSv1.3; the certificate is accepted, and valid until an unknown day';
  assert.is(await verify(tls as unknown as TLSSocket, {} as never), text);
});

test('calls a certificate refused although the platform does not say why, and ends the connection', async () => {
  let isEnded = false;
  const tls = { authorized: false, getPeerCertificate: () => ({}), destroy: () => (isEnded = true) };
  const place = { scheme: 'wss', host: 'localhost', at: 'localhost:1', partner: 'hub' } as const;
  try {
    await verify(tls as unknown as TLSSocket, { place } as Server);
    assert.unreachable();
  } catch (error) {
    assert.is((error as { code?: string }).code, 'certificate-refused', String(error));
  }
  assert.ok(isEnded);
});

test('the certificates of the hub are valid from yesterday for a year', async () => {
  const { cert, ca } = await localhostCertificate();
  for (const { validFrom, validTo } of [cert, ca].map((pem) => new X509Certificate(pem))) {
    const days = [validFrom, validTo].map((date) => (Date.parse(date) - Date.now()) / DAY);
    assert.equal(days.map(Math.round), [-1, 365]);
  }
});

test('a certificate for localhost is for 127.0.0.1, too, and one for another name is not', async () => {
  const addressOf = async (options: object): Promise<string | undefined> =>
    new X509Certificate((await localhostCertificate(options)).cert).checkIP('127.0.0.1');
  assert.is(await addressOf({}), '127.0.0.1');
  assert.is(await addressOf({ host: 'hub.example' }), undefined);
});

test('takes the keyring next to the identity unless another is given', async () => {
  const path = await hub();
  const beside = folder.write(
    'there.keyring.json',
    readFileSync(keyring(pinning(publicOf(HUB_KEY))), 'utf8'),
  );
  const pinOf = async (...args: string[]): Promise<string> =>
    found(await doctor(path, ...TRUSTING, ...args, '--json')).steps.find(({ step }) => step === 'pin')!.text!;
  try {
    assert.match(await pinOf(), /^as before/);
    assert.match(await pinOf('--keyring', keyring()), /^none yet/);
  } finally {
    rmSync(beside);
  }
});

test('prints as JSON all that the hub has said, and each step', async () => {
  const text = offer(OLD_PAYLOAD);
  const { port } = new URL(await greeting(says(HELLO, text)));
  const { stdout } = await doctor(identity, `ws://127.0.0.1:${port}`, PLAIN, '--json');
  const fault = {
    step: 'protocol',
    state: 'fault',
    text: 'The peer does not speak protocol 3: update it (HiveMind’s hub to hivemind-core 4.7 or later: pip install --upgrade --pre hivemind-core). This hub speaks version 2.',
    code: 'protocol-version',
    tell: 'This program and the hub do not fit together. Please tell the operator.',
    who: 'operator',
  };
  const passed = (step: string, text: string): object => ({ step, state: 'passed', text });
  const untried = (step: string): object => ({ step, state: 'not tried' });
  assert.equal(JSON.parse(stdout), {
    fault,
    steps: [
      passed('address', `ws://127.0.0.1:${port}`),
      passed('keyring', 'a client can store one here'),
      passed('DNS', 'not needed: it is an IP address'),
      passed('TCP', `a server listens on port ${port}`),
      passed('TLS', 'none: anyone on the way can read the access key'),
      passed('upgrade', 'the server accepts WebSockets'),
      passed('greeting', 'the hub is "hub-1"'),
      passed('access key', 'the hub greets this client'),
      { ...fault },
      ...['password', 'pin', 'session'].map(untried),
    ],
    node_id: 'hub-1',
    hello: HELLO.replace(ACCESS_KEY, '[access key]'),
    offer: text,
  });
});

test('tells the hub which program it is, and asks with the access key of the identity', async () => {
  const seen: unknown[] = [];
  const url = await greeting((socket, { url }) => {
    seen.push(readAuthorization(url!));
    socket.close(1008);
  });
  await doctor(identity, url, PLAIN);
  assert.equal(seen, [{ userAgent: 'hub-protocol-doctor', accessKey: ACCESS_KEY }]);
});

test('hides the access key in an answer', async () => {
  const path = await hub({ psk: PSK }, { answer: () => `You are ${ACCESS_KEY}.` });
  const { steps } = found(
    await doctor(path, ...TRUSTING, '--keyring', keyring(), '--ask', 'hello', '--json'),
  );
  assert.equal(steps.at(-1), { step: 'answer', state: 'passed', text: '"You are [access key]."' });
});

test('waits ten seconds for each step, and one for a hub that refuses the key', async () => {
  const path = await hub();
  const times: (number | undefined)[] = [];
  const result = await withTimers(
    (run, time, original) => {
      times.push(time);
      return original(run, time);
    },
    () => doctor(path, ...TRUSTING, '--keyring', keyring()),
  );
  assert.is(result.code, 0, result.stdout);
  assert.is(times.filter((time) => time === 1000).length, 1, String(times));
  const ofHub = 3; // for the request of each connection, and for the store that answers it
  assert.is(times.filter((time) => time === 10_000).length, 9 + ofHub, String(times));
});

test('names the host to a server with TLS, unless it is an IP address', async () => {
  const { key, cert, ca } = await localhostCertificate();
  const names: string[] = [];
  const SNICallback = (name: string, take: (error: null) => void): void => {
    names.push(name);
    take(null);
  };
  const port = await listen(createHttpsServer({ key, cert, SNICallback }, (_, response) => response.end()));
  for (const host of ['localhost', '127.0.0.1']) {
    const path = there({ wss: `wss://${host}:${port}` });
    const { steps } = found(await doctor(path, '--ca', folder.write('own.pem', ca), '--json'));
    const { state, text } = steps.find(({ step }) => step === 'TLS')!;
    assert.equal(
      [state, general(text!)],
      ['passed', 'TLSv1.3; the certificate is accepted, and valid until DAY 365'],
    );
  }
  assert.equal(names, ['localhost', 'localhost']); // once for the client
});

test('asks a server that is not verified for its time, tells it nothing, and does not wait long', async () => {
  const requests: unknown[] = [];
  const server = createHttpsServer({ ...EXPIRED }, ({ method, url, headers }, response) => {
    requests.push([method, url, headers]);
    response.end();
  });
  const address = `localhost:${await listen(server)}`;
  const original = AbortSignal.timeout;
  const times: number[] = [];
  const timeout = (time: number): AbortSignal => {
    times.push(time);
    return original.call(AbortSignal, time);
  };
  await replacing(AbortSignal, { timeout }, async () => {
    for (const more of [[], SOON]) await doctor(there({ wss: `wss://${address}` }), ...TRUSTING, ...more);
    await doctor(mqtt(`mqtts://${address}`), ...TRUSTING);
  });
  const request = ['HEAD', '/', { host: 'localhost:80', connection: 'close' }];
  assert.equal(requests, [request, request]); // a broker has no time to tell
  assert.equal(times, [2000, 500]);
});

test('names no more than eight addresses of a name', async () => {
  const found10 = Array.from({ length: 10 }, (_, index) => ({ address: `192.0.2.${index}`, family: 4 }));
  await replacing(dns, { lookup: async () => found10 }, async () => {
    const { stdout } = await doctor(there({ wss: 'wss://localhost:1' }), '--json');
    const text = found({ stdout } as Run).steps.find(({ step }) => step === 'DNS')!.text;
    const eight = found10.slice(0, 8).map(({ address }) => address);
    assert.is(text, `localhost is ${eight.join(', ')}`);
  });
});

test('says that a name cannot be resolved if DNS does not answer in time', async () => {
  await replacing(dns, { lookup: () => new Promise(() => {}) }, async () => {
    const { fault } = found(await doctor(there({ wss: 'wss://hub.example:1' }), ...SOON, '--json'));
    assert.equal(fault, {
      step: 'DNS',
      state: 'fault',
      text: 'The name hub.example cannot be resolved at the moment. Check whether this machine is connected to the network, and the DNS server.',
      code: 'not-reachable',
      platform_code: 'EAI_AGAIN',
      ...TOLD,
    });
  });
});

test('gives up a connection that is not made in time', async () => {
  const made: Socket[] = [];
  const connect = (): Socket => {
    const socket = new Socket();
    made.push(socket);
    return socket;
  };
  await replacing(net, { connect }, async () => {
    const { fault } = found(await doctor(there({ wss: 'wss://127.0.0.1:1' }), ...SOON, '--json'));
    assert.equal(fault, {
      step: 'TCP',
      state: 'fault',
      text: 'Nothing answered at 127.0.0.1:1 in time. Check whether the hub is switched on, the address, and whether a firewall blocks it.',
      code: 'not-reachable',
      platform_code: 'ETIMEDOUT',
      ...TOLD,
    });
  });
  assert.equal(
    made.map(({ destroyed }) => destroyed),
    [true],
  );
});

test('says that the PSK cannot be derived, at the step of the password', async () => {
  const failing = class extends EventEmitter {
    constructor() {
      super();
      setImmediate(() => this.emit('message', { progress: 0.5 }));
      setImmediate(() => this.emit('error', new Error('this machine has no memory')));
    }
    terminate(): void {}
  };
  await replacing(workers, { Worker: failing }, async () => {
    const { fault } = found(await doctor(await hub(), ...TRUSTING, '--json'));
    const text = 'This machine has no memory.';
    const tell = 'This program does not work here. Please tell its developer.';
    assert.equal(fault, { step: 'password', state: 'fault', text, code: 'other', tell, who: 'developer' });
  });
});

test('writes an IPv6 address with brackets, and connects without', async () => {
  const { stdout } = await doctor(there({ wss: 'ws://[::1]:1' }), PLAIN);
  assert.match(
    stdout,
    /^ok {5}address {5}ws:\/\/\[::1\]:1\nok {5}keyring .*\nok {5}DNS {9}not needed: it is an IP address\nFAULT {2}TCP/,
  );
});

test('says that the keyring cannot be stored, goes on all the same, and leaves no file', async () => {
  const path = folder.write(`${'k'.repeat(250)}.json`, readFileSync(there({ wss: 'ws://[::1]:1' }), 'utf8'));
  const { fault, steps } = found(await doctor(path, PLAIN, '--json'));
  assert.is(Object(fault).code, 'keyring-not-writable');
  assert.match(Object(fault).text, /^The keyring cannot be stored \(ENAMETOOLONG\): its name is too long/);
  assert.is(steps.find(({ step }) => step === 'TCP')!.state, 'fault');
  assert.not.ok(readdirSync(folder.at('')).some((name) => /doctor|draft/.test(name)));
});

test('does not write the keyring of another user, which would become its own', async () => {
  const args = [there({ wss: 'ws://[::1]:1' }), PLAIN, '--keyring', keyring(), '--json'];
  await replacing(process, { getuid: () => 12_345 }, async () => {
    const { fault, steps } = found(await doctor(...args));
    const { state, text } = steps.find(({ step }) => step === 'keyring')!;
    assert.equal([state, text], ['not tried', 'it belongs to another user: run this as that one']);
    assert.is(Object(fault).step, 'TCP');
  });
});

test('saves nothing if nothing came, in a folder for its owner alone', async () => {
  await examine((socket) => socket.close(1008), '--save', folder.at('nested/seen'));
  assert.equal(readdirSync(folder.at('nested/seen')), []);
  assert.is(lstatSync(folder.at('nested/seen')).mode & 0o777, 0o700);
});

/** The last byte of the identifier of an extension, by its name in RFC 5280, section 4.2.1. */
const EXTENSIONS = new Map([
  ['subjectKeyIdentifier', 14],
  ['keyUsage', 15],
  ['subjectAltName', 17],
  ['basicConstraints', 19],
  ['authorityKeyIdentifier', 35],
]);

/** What a certificate says, without numbers that are random. */
function told(certificate: X509Certificate): object {
  const { subject, issuer, subjectAltName, ca, raw, publicKey } = certificate;
  const extensions = [...EXTENSIONS].filter(([, id]) => raw.includes(Buffer.of(6, 3, 0x55, 0x1d, id)));
  return {
    subject,
    issuer,
    subjectAltName,
    ca,
    extensions: extensions.map(([name]) => name),
    curve: publicKey.asymmetricKeyDetails?.namedCurve,
  };
}

test('issues a certificate by an authority of its own, and sends both', async () => {
  const [notBefore, notAfter] = [new Date(Date.UTC(2026, 0, 1)), new Date(Date.UTC(2027, 0, 1))];
  const issued = await localhostCertificate({ host: 'hub.example', notBefore, notAfter });
  const [own, authority, ...others] = issued.cert
    .split(/(?<=-----END CERTIFICATE-----)\n/)
    .filter((pem) => pem !== '')
    .map((pem) => new X509Certificate(pem));
  assert.is(others.length, 0);
  const common = { issuer: 'CN=an authority for localhost', curve: 'prime256v1' };
  assert.equal(told(own!), {
    ...common,
    subject: 'CN=hub.example',
    subjectAltName: 'DNS:hub.example',
    ca: false,
    extensions: [...EXTENSIONS.keys()].filter((name) => name !== 'keyUsage'),
  });
  assert.equal(told(authority!), {
    ...common,
    subject: common.issuer,
    subjectAltName: undefined,
    ca: true,
    extensions: [...EXTENSIONS.keys()].filter((name) => name !== 'subjectAltName'),
  });
  // RFC 5280, 4.2.1.9 and 4.2.1.3: critical, an authority for no other below it (pathLen 0), which signs certificates
  for (const extension of ['0603551d130101ff040830060101ff020100', '0603551d0f0101ff040403020204'])
    assert.ok(authority!.raw.toString('hex').includes(extension), extension);
  assert.is(authority!.toString(), new X509Certificate(issued.ca).toString());
  assert.ok(own!.checkIssued(authority!) && own!.verify(authority!.publicKey));
  assert.ok(own!.checkPrivateKey(createPrivateKey(issued.key)));
  assert.equal(
    [own!.validFrom, own!.validTo].map((date) => Date.parse(date)),
    [+notBefore, +notAfter],
  );
});

test.run();
