/**
 * The doors of all packages: options are read by name, are the caller's own whatever Object.prototype has, and what they cannot be is
 * refused. The entries come from each package's `exports`, and the arguments from the published types: none can be without a row here.
 */
import { EventEmitter } from 'node:events';
import { Agent } from 'node:https';
import * as library from 'hub-protocol';
import { binaryReader, decodeBinary } from 'hub-protocol/binary';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import * as parts from 'hub-protocol/parts';
import { recordClientSession, recordHubSession } from 'hub-protocol/recording';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import * as websocket from 'hub-protocol-client';
import * as page from 'hub-protocol-client/browser';
import * as https from 'hub-protocol-client/https';
import { createHub, serveHub, serveSocket } from 'hub-protocol-client/hub';
import { serveHub as serveHubOverMqtt } from 'hub-protocol-client/hub/mqtt';
import * as mqtt from 'hub-protocol-client/mqtt';
import * as app from 'hub-protocol-client/react-native';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { clientNames, publicNames } from '../../tools/declared.ts';
import { manifestOf } from '../../tools/parts.ts';
import { issuedWith } from '../world/hosts.ts';
import { startBroker } from '../world/mqtt-broker.ts';

interface Options {
  readonly [name: string]: unknown;
}

/** An argument with options, or an option with options. */
interface Taken {
  /** What cannot be left out. */
  readonly required?: Options;
  /** A value for each other option. */
  readonly others?: Options;
  /** The options in these, by their paths. */
  readonly inner?: { readonly [path: string]: Taken };
}

interface Door extends Taken {
  /** Returns what the options decide, as far as it can be seen from here. */
  readonly call: (options: never) => unknown;
  /** Objects of options, for which anything else counts as none: the device’s file has no bytes left for that check. */
  readonly unchecked?: readonly string[];
}

const KEY = new Uint8Array(32).fill(7);
const PEER = crypto.x25519.publicKey(new Uint8Array(32).fill(5));
const store = { load: () => keyring, update: () => {} };
const storage = { getItem: () => library.serializeKeyring(keyring), setItem: () => {} };
const identity = library.parseIdentity(issuedWith('localhost'));
const keyring = library.createKeyring({ accessKey: identity.accessKey, staticKey: KEY, crypto });
const { ca, ...certificate } = await localhostCertificate();
const broker = await startBroker({ base: 'a', accounts: new Map([['hub', 'secret']]), hub: 'hub' });
const { WebSocket: saved } = globalThis;
Object.assign(globalThis, { WebSocket, localStorage: storage });
test.after(() => {
  Object.assign(globalThis, { WebSocket: saved });
  Reflect.deleteProperty(globalThis, 'localStorage');
  return broker.stop();
});
const nothing = (): void => {};
const derive = async (): Promise<Uint8Array> => KEY;
const make =
  (Made: new (options: never) => unknown) =>
  (options: never): unknown =>
    new Made(options);

const DEADLINES = { others: { 'awaiting-hello': 5, 'awaiting-offer': 5, 'awaiting-message-2': 5 } };
const REPLY_DEADLINES = { others: { idle: 5, unsure: 5, speaking: 5, unmatched: 5, completed: 5 } };
const POLICY = {
  others: { basePause: 5, maxPause: 5, steadyAfter: 5, maxAge: 5, onKkFailure: 'keep-pin', deadlines: {} },
  inner: { deadlines: DEADLINES },
};
const SESSION = { maxFrame: 99, inPlace: true };
const CLIENT_SESSION = {
  ...{ ...SESSION, trust: 'pinned-only', hello: { a: 1 }, binarize: true, encodings: ['a'] },
  ...{ patterns: ['XXpsk2'], onKkFailure: 'keep-pin', paced: true },
};
/** What the policy decides has no effect on the sessions of a link. */
const { onKkFailure: _, ...OF_LINK } = { ...CLIENT_SESSION, maxMessage: 99, readBinary: binaryReader() };
const CLIENT = {
  required: { crypto, randomBytes, siteId: 'lobby', keyring },
  others: { ...OF_LINK, onKkFailure: 'keep-pin' },
  inner: {
    keyring: { required: { staticKey: KEY }, others: { staticKeyIsFresh: true, pins: [], psks: [] } },
  },
};
const HUB_SESSION = {
  ...{ maxMessage: 99, patterns: ['XXpsk2'], suites: ['25519_ChaChaPoly_SHA256'] },
  ...{ hello: { a: 1 }, handshake: { a: 1 } },
};
const HUB = {
  required: { crypto, randomBytes, nodeId: 'hub-1', staticKey: KEY, psk: KEY },
  others: { ...SESSION, ...HUB_SESSION, readBinary: binaryReader(), clientKey: PEER },
};
const CONNECT = {
  ...{
    lang: 'de-de',
    plays: true,
    userAgent: 'kiosk',
    allowPlaintext: true,
    pingEvery: 5,
    maxMemory: 2 ** 20,
    maxValues: 5,
  },
  ...{ derive, sharedSecret: derive, disclosure: {}, session: {}, policy: {}, requests: {} },
};
const OF_CONNECT = {
  disclosure: { others: { isVoice: true, isShared: true, lastGiven: 'this-session' } },
  session: { others: { ...CLIENT_SESSION, crypto, randomBytes } },
  policy: POLICY,
  'policy.deadlines': DEADLINES,
  requests: { others: { deadlines: {}, saysHandled: true } },
  'requests.deadlines': REPLY_DEADLINES,
};
const { key, cert } = certificate;
const SOCKET = {
  ...{ ca, key, cert, passphrase: 'a', servername: 'a', headers: {}, agent: new Agent() },
  ...{ lookup: nothing, family: 4, localAddress: '127.0.0.1' },
};
const OVER_SOCKETS = { socket: {} };
const SERVED = {
  required: { nodeId: 'hub-1', staticKey: KEY, clients: new Map() },
  others: {
    ...{ answer: String, onEvent: nothing, onRefused: nothing, onFault: nothing },
    ...{ maxMemory: 2 ** 20, maxValues: 5, handshakeTimeout: 5, session: {} },
  },
  inner: { session: { others: HUB_SESSION } },
};
const OVER_WEBSOCKET = {
  ...SERVED,
  others: { ...SERVED.others, maxConnections: 5, maxConnectionsPerKey: 5, pingEvery: 5 },
};
const ARGON = {
  required: {
    ...{ crypto, password: 'p', salt: new Uint8Array(8), passes: 1, memoryKiB: 8, parallelism: 1 },
    length: 4,
  },
  others: { secret: KEY, associatedData: KEY, memory: new Uint8Array(8192), onProgress: nothing },
};
const PSK = {
  required: { crypto: { ...crypto, argon2id: () => KEY }, password: 'p', nodeId: 'hub-1' },
  others: { memory: new Uint8Array(2 ** 26), onProgress: nothing }, // and `salt` in place of `nodeId`
};
const REQUEST = { sessionId: 's', siteId: 'lobby', lang: 'de-de', context: { a: 1 } };
const RECORDING = { required: { write: nothing }, others: { ephemeralKey: true } };
const INFLATE = { others: { inflate: nothing, maxInflated: 5 } };
const OFFER = { patterns: ['XXpsk2', 'KKpsk0'], suites: ['25519_ChaChaPoly_SHA256'] };
const ASK = { timeout: 5, signal: new AbortController().signal };

/** What the options of a question decide, without a connection. */
const asking =
  (method: 'ask' | 'query' | 'cascade' | 'synthesize') =>
  async (options: never): Promise<unknown> => {
    const client = websocket.connect({ identity, keyring: store });
    const answer: Promise<unknown> = client[method]('hello', options);
    client.end();
    return answer.catch((error) => {
      if (error.code !== 'session-over') throw error;
    });
  };

const connecting = (
  connect: (options: never) => websocket.Client,
  required: Options,
  others: Options = {},
): Door => ({
  call: (options) => connect(options).end(),
  required,
  others: { ...CONNECT, ...others },
  inner: { ...OF_CONNECT, ...('socket' in others && { socket: { others: SOCKET } }) },
});

/** The orders of a link, unless it has told an error. */
function toldBy(orders: readonly library.Order[]): unknown {
  for (const order of orders)
    if (order.do === 'tell' && order.event.type === 'close') throw order.event.error;
  return orders;
}

/** By the entry, the name, and the argument. */
const DOORS: { readonly [argument: string]: Door } = {
  'hub-protocol ClientLink options': {
    call: (options) => toldBy(new library.ClientLink(options).start(0)), // it makes its first session then
    required: CLIENT.required,
    others: { session: {}, policy: {}, requests: nothing, shared: true, trace: true },
    inner: {
      policy: POLICY,
      'policy.deadlines': DEADLINES,
      session: { others: OF_LINK },
    },
    unchecked: ['session', 'policy'],
  },
  'hub-protocol HubSession options': { ...HUB, call: (options) => new library.HubSession(options).start() },
  'hub-protocol RequestScheduler options': {
    call: make(library.RequestScheduler),
    others: { sessionId: 's', deadlines: {}, saysHandled: true },
    inner: { deadlines: REPLY_DEADLINES },
  },
  'hub-protocol authorizedUrl options': {
    call: (options) => library.authorizedUrl('ws://hub', 'kiosk', 'key', options),
    others: { allowPlaintext: true },
  },
  'hub-protocol disclosureDue situation': {
    call: (situation) => library.disclosureDue({ aiDisclosure: { en: 'an AI', fr: 'une IA' } }, situation),
    required: { lastGiven: 'earlier-session' },
    others: { language: 'fr', isVoice: true, isShared: true },
  },
  'hub-protocol selectEndpoint options': {
    call: (options) => library.selectEndpoint(identity, options),
    others: { supported: ['wss', 'https'], requested: 'https', allowPlaintext: true },
  },
  'hub-protocol serializeIdentity options': {
    call: (options) => library.serializeIdentity(identity, options),
    others: { secrets: true },
  },
  'hub-protocol createKeyring options': {
    call: (options) => library.serializeKeyring(library.createKeyring(options)),
    required: { accessKey: 'kiosk-7', staticKey: KEY },
    others: { crypto },
  },
  'hub-protocol storePsk options': {
    call: (options) => library.serializeKeyring(library.storePsk(keyring, 'hub-1', KEY, options)),
    others: { isProvisioned: true },
  },
  'hub-protocol brokerEndpoint options': {
    call: (options) => library.brokerEndpoint({ endpoint: 'mqtt://broker' }, options),
    others: { allowPlaintext: true },
  },
  'hub-protocol deriveTopics options': {
    call: (options) => library.deriveTopics({ hub_id: 'h', topic_prefix: 'p' }, options),
    others: { accessKey: 'key' },
  },
  'hub-protocol buildUtterance request': {
    call: library.buildUtterance,
    required: { requestId: 'r1', text: 'hello' },
    others: REQUEST,
  },
  'hub-protocol buildAction request': {
    call: library.buildAction,
    required: { requestId: 'r1', payload: '/stop' },
    others: { ...REQUEST, title: 'Stop' },
  },
  'hub-protocol buildCode request': {
    call: library.buildCode,
    required: { requestId: 'r1', value: '4711' },
    others: { ...REQUEST, kind: 'qr', label: 'serial' },
  },
  'hub-protocol wrap options': {
    call: (options) => library.wrap('query', { msg_type: 'bus' }, options),
    others: { targetSiteId: 'lobby', queryId: 'q' },
  },
  'hub-protocol derivePsk options': { ...PSK, call: library.derivePsk },
  'hub-protocol pskDerivation options': {
    ...PSK,
    call: (options) => library.pskDerivation(options).progress,
  },
  'hub-protocol/parts Argon2id options': {
    ...ARGON,
    call: (options) => new parts.Argon2id(options).progress,
  },
  'hub-protocol/parts argon2id options': { ...ARGON, call: parts.argon2id },
  'hub-protocol/parts HandshakeState options': {
    call: (options) => new parts.HandshakeState(options).isFinished,
    required: {
      ...{ crypto, role: 'initiator', pattern: 'KKpsk0', suite: '25519_ChaChaPoly_SHA256', prologue: KEY },
      ...{ psk: KEY, staticKey: KEY, remoteStaticKey: PEER, randomBytes },
    },
    others: { ephemeralKey: KEY, paced: true },
  },
  'hub-protocol/parts ConnectionPolicy options': {
    ...POLICY,
    call(options) {
      const policy = new parts.ConnectionPolicy(options);
      return [policy.begin(0), policy.deadline('awaiting-hello', 0)];
    },
    required: { randomBytes },
  },
  'hub-protocol/parts ReplyCollector options': {
    call: make(parts.ReplyCollector),
    required: { requestId: 'r1' },
    others: { sessionId: 's', type: 't' },
  },
  'hub-protocol/parts ClientSession options': {
    ...CLIENT,
    call: (options) => new parts.ClientSession(options).state,
  },
  'hub-protocol/parts selectNoise own': {
    call: (own) => parts.selectNoise(OFFER, own),
    required: { suites: OFFER.suites },
    others: { pinned: true },
  },
  'hub-protocol/parts Reassembler options': {
    call: (options) => new parts.Reassembler(options).push(Uint8Array.of(0, 0x7b, 0x7d)),
    others: { maxMessage: 1 },
  },
  'hub-protocol/recording recordClientSession options': {
    ...CLIENT,
    call: (options) => recordClientSession(options, RECORDING.required).state,
  },
  'hub-protocol/recording recordClientSession recording': {
    ...RECORDING,
    call: (recording) => recordClientSession(CLIENT.required, recording).state,
  },
  'hub-protocol/recording recordHubSession options': {
    ...HUB,
    call: (options) => recordHubSession(options, RECORDING.required).state,
  },
  'hub-protocol/recording recordHubSession recording': {
    ...RECORDING,
    call: (recording) => recordHubSession(HUB.required, recording).state,
  },
  'hub-protocol/binary decodeBinary options': {
    ...INFLATE,
    call: (options) => decodeBinary(Uint8Array.of(0), options),
  },
  'hub-protocol/binary binaryReader options': {
    ...INFLATE,
    call: (options) => binaryReader(options)(Uint8Array.of(0)),
  },
  'hub-protocol-client connect options': connecting(
    websocket.connect,
    { identity, keyring: store },
    OVER_SOCKETS,
  ),
  'hub-protocol-client/mqtt connect options': connecting(
    mqtt.connect,
    { identity, keyring: store },
    { ...OVER_SOCKETS, clientId: 'a', will: false },
  ),
  'hub-protocol-client/https connect options': connecting(
    https.connect,
    { identity, keyring: store },
    OVER_SOCKETS,
  ),
  'hub-protocol-client/browser connect options': connecting(page.connect, { identity }, { keyring: store }),
  'hub-protocol-client/react-native connect options': connecting(
    app.connect,
    { identity, storage, derive },
    { keyring: store },
  ),
  'hub-protocol-client Client.ask options': {
    call: asking('ask'),
    others: { ...ASK, requestId: 'r1', onPart: nothing, interrupt: true },
  },
  'hub-protocol-client Client.synthesize options': {
    call: asking('synthesize'),
    others: { ...ASK, lang: 'fr-ca' },
  },
  'hub-protocol-client Client.transcribe options': {
    call: (options) => asking('synthesize')(options), // which reads them alike
    others: { ...ASK, lang: 'fr-ca' },
  },
  'hub-protocol-client Client.query options': { call: asking('query'), others: ASK },
  'hub-protocol-client Client.cascade options': {
    call: asking('cascade'),
    others: { ...ASK, onAnswer: nothing },
  },
  'hub-protocol-client/hub createHub options': {
    ...OVER_WEBSOCKET,
    call: (options) => createHub(options).connections,
  },
  'hub-protocol-client/hub serveHub options': {
    async call(options) {
      const hub = await serveHub(options);
      await hub.stop();
      return hub.url.split(':').slice(0, -1);
    },
    required: SERVED.required,
    others: { ...OVER_WEBSOCKET.others, tls: certificate, port: 0, host: '127.0.0.1' },
    inner: { ...SERVED.inner, tls: { required: certificate } },
  },
  'hub-protocol-client/hub HubServer.renew tls': {
    async call(tls) {
      const hub = await serveHub({ ...SERVED.required, tls: certificate });
      try {
        hub.renew(tls);
      } finally {
        await hub.stop();
      }
    },
    required: certificate,
  },
  'hub-protocol-client/hub serveSocket options': {
    ...OVER_WEBSOCKET,
    call: (options) =>
      serveSocket(Object.assign(new EventEmitter(), { close: nothing }) as never, 'k', options),
  },
  'hub-protocol-client/hub/mqtt serveHub options': {
    call: async (options) => (await serveHubOverMqtt(options)).stop(),
    required: {
      ...SERVED.required,
      broker: { url: broker.url, username: 'hub', password: 'secret' },
      base: 'a',
    },
    others: { ...SERVED.others, idle: 5, reconnectAfter: 5, onLost: nothing },
    inner: {
      ...SERVED.inner,
      broker: { required: { url: broker.url, username: 'hub', password: 'secret' }, others: { ca } },
    },
  },
};

/** Types of arguments without options of their own, and what they are. */
const NO_OPTIONS = {
  'data of the wire, or what the library returned': [
    ...[
      'Json',
      'JsonObject',
      'HubEvent',
      'SessionEvent',
      'Offer',
      'Identity',
      'Keyring',
      'Topics',
      'BinaryPayload',
    ],
    ...['Question', 'AskEvent', 'LinkClosing', 'Closing'], // the client reads a question like a request; a closing may be a CloseEvent
  ],
  'another object of the platform': [
    ...[
      'Error',
      'Uint8Array',
      'AbortSignal',
      'AsyncTextStorage',
      'PingedSocket',
      'Socket',
      'IncomingMessage',
      'Duplex',
    ],
    'Buffer',
  ],
  'a name or a function': [
    ...['MessageKind', 'Pattern', 'Suite', 'WrapperType', 'BinaryPayloadType', 'Type', 'Name', 'To'],
  ],
  'the names of options': ['Options', 'OptionNames'],
  'an argument of a constructor that users have no need of': [
    ...['LocalCode', 'RemoteCode', 'RemoteDetails', 'SessionKeys', 'Platform', 'ConnectOptions'],
  ],
};

/** The arguments of all functions of the entries that need a door, and the types that say so. */
function argumentsOf(): Map<string, string> {
  const found = new Map<string, string>();
  const known = new Set(Object.values(NO_OPTIONS).flat());
  const add = (entry: string, name: string, params: readonly string[], types: readonly string[]): void => {
    for (const [i, type] of types.entries()) {
      const names = type.replace(/^readonly |'[^']*'|\(.*=>.*/g, '').match(/^\{|\b[A-Z]\w*/g) ?? [];
      const own = names.filter((one) => !/^(?:Pick|Partial|NonNullable|Extract)$/.test(one));
      if (own.some((one) => !known.has(one))) found.set(`${entry} ${name} ${params[i]}`, type);
    }
  };
  for (const { entry, name, kind, params, paramTypes, members } of [...publicNames(), ...clientNames()]) {
    if (kind === 'function') add(entry, name, params, paramTypes);
    if (kind !== 'class' && !/^Hub(?:Server|Connection)$/.test(name)) continue;
    for (const { name: method, kind, params, paramTypes } of members) {
      if (kind === 'constructor') add(entry, name, params, paramTypes);
      if (kind === 'method') add(entry, `${name}.${method}`, params, paramTypes);
    }
  }
  return found;
}

test('every argument with options has a door, in all entries', async () => {
  const found = argumentsOf();
  assert.equal(Object.keys(DOORS).sort(), [...found.keys()].sort());
  const members = new Map([...publicNames(), ...clientNames()].map(({ name, members }) => [name, members]));
  for (const [argument, type] of found) {
    const declared = members.get(type)?.map(({ name }) => name) ?? type.match(/^\{|\w+(?=\??:)/g) ?? [];
    const { required, others } = DOORS[argument]!;
    const names = Object.keys({ ...required, ...others });
    assert.equal(
      declared.filter((name) => !names.includes(name) && name !== 'salt' && name !== '{'),
      [],
      argument,
    );
  }
  const names = new Set([...publicNames(), ...clientNames()].map(({ name }) => name));
  const entries = new Set([...publicNames(), ...clientNames()].map(({ entry }) => entry));
  for (const folder of ['.', 'client', 'judge', 'cli']) {
    const { name, exports = {} } = manifestOf(folder);
    for (const [path, target] of Object.entries(exports)) {
      if (typeof target === 'string' || path.includes('*')) continue; // not in the package, no code, or a file for devices
      const entry = name + path.slice(1);
      assert.ok(entries.has(entry), entry);
      for (const exported of Object.keys(await import(entry))) assert.ok(names.has(exported), exported);
    }
  }
});

/** Calls with a field of Object.prototype that no option can have. */
async function outcomeOf(
  call: Door['call'],
  options: Options,
  inherited?: string,
  value: unknown = Symbol(inherited),
): Promise<string> {
  const field = { value, configurable: true, writable: true };
  if (inherited !== undefined) Object.defineProperty(Object.prototype, inherited, field);
  let returned: unknown;
  try {
    returned = call(options as never);
  } catch (error) {
    return String(error);
  } finally {
    delete (Object.prototype as { [field: string]: unknown })[inherited!];
  }
  try {
    return (
      JSON.stringify(await returned, (_, value) => (typeof value === 'symbol' ? String(value) : value)) ?? ''
    );
  } catch (error) {
    return String(error);
  }
}

/** Puts options where a path leads. */
function at(path: string, options: Options, base: Options): Options {
  const [first, ...rest] = path.split('.');
  if (first === '') return { ...base, ...options };
  return { ...base, [first!]: rest.length === 0 ? options : at(rest.join('.'), options, {}) };
}

const IMPOSSIBLE: readonly unknown[] = [Symbol('impossible'), Number.NaN, -1, null];

for (const [argument, { call, inner = {}, unchecked = [], ...own }] of Object.entries(DOORS)) {
  for (const [path, { required = {}, others = {} }] of Object.entries({ '': own, ...inner })) {
    const outcome = (options: Options, inherited?: string): Promise<string> =>
      outcomeOf(call, at(path, options, own.required ?? {}), inherited);
    const what = path === '' ? argument : `${argument}.${path}`;
    const options = { ...required, ...others };

    test(`${what}: takes what is right, and refuses names that do not exist`, async () => {
      assert.not.match(await outcome(options), /bad-argument/);
      for (const option of Object.keys(options)) {
        const misspelt = `${option}${option.at(-1)}`;
        const refusal = await outcome({ ...required, [misspelt]: options[option] });
        assert.match(refusal, `${misspelt}" does not exist: did you mean "${option}"?`);
      }
    });

    test(`${what}: refuses what an option cannot be, and says which one`, async () => {
      for (const option of Object.keys(options)) {
        const values = [...IMPOSSIBLE];
        if (option in required) values.push(undefined);
        if (typeof options[option] === 'number') values.push('5', 0.1 - 5, Number.POSITIVE_INFINITY);
        for (const value of path === '' && unchecked.includes(option) ? [] : values) {
          const refusal = await outcome({ ...required, [option]: value });
          const isRefused = /\[(?:bad-argument|bad-length|unsupported-protocol)\]: /.test(refusal);
          const isNamed =
            [option, path].some((name) => refusal.includes(`"${name}"`)) || refusal.includes(`.${option}"`);
          assert.ok(
            isRefused && (isNamed || option === 'requested'),
            `${option} = ${String(value)}: ${refusal}`,
          );
        }
      }
    });

    test(`${what}: takes nothing from Object.prototype`, async () => {
      for (const option of Object.keys(options)) {
        const { [option]: _, ...without } = required;
        assert.is(await outcome(without, option), await outcome(without), option);
      }
    });
  }
}

/** The last numbers that are right, and the next ones. */
const RANGES: readonly (readonly [option: string, right: number, wrong: number])[] = [
  ['pingEvery', 86_400_000, 86_400_001],
  ['pingEvery', 1, 0],
  ['maxMemory', 2 ** 20, 2 ** 20 - 1],
  ['maxMemory', 2 ** 30, 2 ** 30 + 1],
  ['maxValues', 0, -1],
  ['maxValues', 2 ** 30, 2 ** 30 + 1],
  ['port', 0, 65_536],
  ['maxConnections', 0, 0.5],
];

test('numbers are taken up to the ends of their ranges', async () => {
  const { call, required } = DOORS['hub-protocol-client/hub serveHub options']!;
  for (const [option, right, wrong] of RANGES) {
    assert.not.match(await outcomeOf(call, { ...required, [option]: right }), 'Error');
    assert.match(await outcomeOf(call, { ...required, [option]: wrong }), `"${option}" expected`);
  }
});

/** Fields of what is no options, and may come from a class: a keyring, an identity, the CloseEvent of a platform. */
const FIELDS: readonly [field: string, value: unknown, what: string, call: () => unknown][] = [
  ['status', 401, 'closed', () => codeAfter({ code: 1006 })],
  ['code', 1008, 'closed', () => codeAfter({ reason: 'why' })],
  ['wss', 'wss://other', 'selectEndpoint', () => endpoint({ default_master: 'wss://hub' })],
  ['defaultMaster', 'wss://other', 'selectEndpoint', () => endpoint({})],
  ['mqtt', { endpoint: 'mqtts://other' }, 'selectEndpoint', () => endpoint({ protocols: { mqtt: 1 } })],
  ['set', nothing, 'parseIdentity', () => endpoint({ default_master: 'ws://hub' })],
  ['get', nothing, 'parseIdentity', () => library.parseIdentity(BARE).accessKey],
  [
    'site_id',
    'other',
    'buildUtterance',
    () => library.buildUtterance({ requestId: 'r', text: 't', siteId: 's' }),
  ],
  ['exact', true, 'buildAction', () => library.buildAction({ requestId: 'r', payload: '/p' })],
  ['aiDisclosure', 'other', 'disclosureDue', () => library.disclosureDue({}, { lastGiven: 'never' })],
  [
    'fr',
    'autre',
    'disclosureDue',
    () => library.disclosureDue({ aiDisclosure: {} }, { lastGiven: 'never', language: 'fr' }),
  ],
];
const BARE = { access_key: 'kiosk-7', password: 'correct horse' };

function endpoint(issued: object): unknown {
  return library.selectEndpoint(library.parseIdentity({ ...BARE, ...issued }));
}

function codeAfter(closing: library.Closing): unknown {
  const [event] = new parts.ClientSession(CLIENT.required).closed(closing);
  return event?.type === 'ended' && event.error?.code;
}

for (const [field, value, what, call] of FIELDS) {
  test(`${what} does not take ${field} from Object.prototype`, async () => {
    assert.is(await outcomeOf(call, {}, field, value), await outcomeOf(call, {}));
  });
}

test('reads fields of a closing, such as a CloseEvent, from its class, and its own whatever it inherits', async () => {
  class Closed {
    get status(): number {
      return 401;
    }
  }
  assert.is(codeAfter(new Closed() as library.Closing), 'access-refused');
  const own = (): unknown => codeAfter({ status: 401 });
  assert.is(await outcomeOf(own, {}, 'status', 401), '"access-refused"');
});

test.run();
