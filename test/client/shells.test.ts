/**
 * The shells, as tables: where each option of each entry arrives, that no timer outlives `end`, how each connection ends and what is
 * told of it, what a listener may do, and what is stored before what is sent.
 */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { parseSync } from '@swc/core';
import {
  createKeyring,
  forgetPsks,
  type Identity,
  type JsonObject,
  type Keyring,
  type LocalError,
  parseKeyring,
  storePsk,
} from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { type Client, KeyringFile, connect as overWebSocket } from 'hub-protocol-client';
import { connect as inPage } from 'hub-protocol-client/browser';
import { connect as overHttps } from 'hub-protocol-client/https';
import { connect as overMqtt } from 'hub-protocol-client/mqtt';
import { connect as inApp } from 'hub-protocol-client/react-native';
import { MqttClient } from 'mqtt';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import type { ClientEvent } from '../../client/dist/options.js';
import { AnyHub, type Behaviour, type Seen } from '../world/hub.ts';
import { DERIVED, NODE_ID, PASSWORD } from '../world/keys.ts';
import { impatient, soon, type TimerSetter, Timers, until, withTimers } from './world.ts';

const tls = await localhostCertificate();
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const timers = new Timers();
const hubs: AnyHub[] = [];
const clients: Client[] = [];
const saved = { WebSocket: globalThis.WebSocket };
const savedStorage = Object.getOwnPropertyDescriptor(globalThis, 'localStorage');
const texts = new Map<string, string>();

/** Storage of texts, as a page has it and as an app brings it. */
const storage = {
  getItem: (name: string): string | null => texts.get(name) ?? null,
  setItem: (name: string, text: string): void => void texts.set(name, text),
  removeItem: (name: string): void => void texts.delete(name),
};

/** The WebSocket of a page, whose browser trusts the authority of the hub. */
class Socket extends WebSocket {
  constructor(url: string) {
    super(url, { ca: tls.ca });
  }
}

test.before(() => {
  Object.assign(globalThis, { WebSocket: Socket });
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true, writable: true });
  timers.watch();
});
test.after(() => {
  timers.leave();
  Object.assign(globalThis, saved);
  delete (globalThis as { localStorage?: unknown }).localStorage;
  if (savedStorage !== undefined) Object.defineProperty(globalThis, 'localStorage', savedStorage);
});

const ENTRIES = ['websocket', 'https', 'mqtt', 'mqtt over websocket', 'browser', 'react-native'] as const;
type Entry = (typeof ENTRIES)[number];
type Options = { [name: string]: unknown };

const CONNECT: { readonly [entry in Entry]: (options: never) => Client } = {
  websocket: overWebSocket,
  https: overHttps,
  mqtt: overMqtt,
  'mqtt over websocket': overMqtt,
  browser: inPage,
  'react-native': inApp,
};
/** The same over MQTT, however its broker is reached. */
function overEach<Value>(value: Value): { readonly [entry in 'mqtt' | 'mqtt over websocket']: Value } {
  return { mqtt: value, 'mqtt over websocket': value };
}

/** The modules that pause and ping. */
const MODULES: { readonly [entry in Entry]: string } = {
  ...{ websocket: 'ws', https: 'https', ...overEach('mqtt') },
  ...{ browser: 'page-socket', 'react-native': 'page-socket' },
};
const hasFiles = (entry: Entry): boolean => !['browser', 'react-native'].includes(entry);

/** The identity of a client of a hub, which reaches its broker as the entry says. */
function identityOf(entry: Entry, hub: AnyHub, fields: object = {}): Identity {
  return hub.identity(fields, entry === 'mqtt over websocket' ? 'ws' : 'mqtt');
}

/** What an option of the caller was called with. */
interface Calls {
  derive?: unknown[];
  sharedSecret?: Uint8Array;
  /** The methods of the store that were called, in order. */
  readonly store: string[];
}

/** A connection with one question, until its end. */
interface Run {
  readonly seen: Seen;
  readonly calls: Calls;
  readonly events: readonly ClientEvent['type'][];
  /** The times of the timers that were set, in milliseconds, and of those of the transport. */
  readonly times: readonly number[];
  readonly ownTimes: readonly number[];
  /** The file of the keyring, or the text in the storage, at the end. */
  readonly kept: string | undefined;
}

/** A store that counts its calls. */
function spiedStore(
  calls: Calls,
  keyring: Keyring,
): { load(): Keyring; update(change: (kept: Keyring) => Keyring): void } {
  let kept = keyring;
  return {
    load() {
      calls.store.push('load');
      return kept;
    },
    update(change) {
      calls.store.push('update');
      kept = change(kept);
    },
  };
}

const staticKey = randomBytes(32);
const publicKey = new Uint8Array(crypto.x25519.publicKey(staticKey));
const GIVEN_TIME = 12_000;
/** A bus message that inflates to 20 KiB: more than a 64th of a MiB. */
const COMPRESSED = Buffer.concat([
  Buffer.from([0x83, 0]),
  deflateSync(JSON.stringify({ type: 'x', data: { text: 'x'.repeat(20_000) }, context: {} })),
]);
/** An envelope that is long enough to be counted. */
/** What the hub says unasked. */
const SPEECH = { msg_type: 'bus', payload: { type: 'speak', data: { utterance: 'Dinner.' }, context: {} } };
const LONG = { msg_type: 'rendezvous', payload: { text: 'x'.repeat(70_000) } };
/** Longer than a busy machine makes a hub wait. */
const PING = 600;

/** Every option, with a value that is not its default. */
function givenOptions(entry: Entry, hub: AnyHub, calls: Calls): Options {
  return {
    identity: identityOf(entry, hub, { site_id: 'attic' }),
    lang: 'fr-ca',
    disclosure: { lastGiven: 'this-session' },
    plays: true,
    userAgent: 'kiosk',
    allowPlaintext: false,
    pingEvery: PING,
    maxMemory: 2 ** 20,
    maxValues: 0,
    derive: async (...args: unknown[]) => {
      calls.derive = args;
      return DERIVED;
    },
    sharedSecret: async (key: Uint8Array) => {
      calls.sharedSecret = key;
      return new Uint8Array(crypto.x25519.sharedSecret(staticKey, key));
    },
    session: { hello: { extra: 'told' } },
    policy: { deadlines: { 'awaiting-hello': GIVEN_TIME } },
    requests: { deadlines: { idle: 40_000 } },
    ...(entry !== 'react-native' && {
      keyring: spiedStore(calls, createKeyring({ accessKey: 'kiosk-7', staticKey: { publicKey } })),
    }),
    ...(entry === 'react-native' && { storage: spiedStorage(calls) }),
    ...(hasFiles(entry) && { socket: { ca: tls.ca } }),
  };
}

function spiedStorage(calls: Calls): typeof storage {
  return {
    ...storage,
    getItem: (name) => {
      calls.store.push('load');
      return storage.getItem(name);
    },
    setItem: (name, text) => {
      calls.store.push('update');
      storage.setItem(name, text);
    },
  };
}

/** The options without which there is no client here: what is not in them has its default. */
function leastOptions(entry: Entry, hub: AnyHub, name: string): Options {
  const own = { identity: identityOf(entry, hub), allowPlaintext: true };
  if (!hasFiles(entry)) {
    storeText();
    const needed = { storage, derive: async (): Promise<Uint8Array> => DERIVED };
    return { ...own, ...(entry === 'react-native' && needed) };
  }
  const keyring = join(folder, `${name}.json`);
  new KeyringFile(keyring, 'kiosk-7').update((kept) => storePsk(kept, NODE_ID, DERIVED));
  return { ...own, keyring };
}

/** Puts a keyring with the PSK into the storage: its derivation takes a second. */
function storeText(): void {
  const kept = new KeyringFile(join(folder, 'text.json'), 'kiosk-7');
  kept.update((keyring) => storePsk(keyring, NODE_ID, DERIVED));
  texts.set('hub-keyring kiosk-7', readFileSync(join(folder, 'text.json'), 'utf8'));
}

/** All events but `trace`, in a full record: a new one does not compile without its place. */
const TYPES = Object.keys({
  ...{ connecting: 1, deriving: 1, connect: 1, disclosure: 1, message: 1, speak: 1, envelope: 1, bytes: 1 },
  ...{ close: 1, reconnect: 1, ask: 1, unsent: 1, dropped: 1, end: 1 },
  ...{ 'new-hub': 1, 'static-key-fresh': 1, 'hub-replaced': 1 },
} satisfies { [type in Exclude<ClientEvent['type'], 'trace'>]: 1 }) as Exclude<
  ClientEvent['type'],
  'trace'
>[];

function listened(client: Client): ClientEvent['type'][] {
  const events: ClientEvent['type'][] = [];
  for (const type of TYPES) client.on(type, () => events.push(type));
  return events;
}

/** Connects, asks, pauses, and ends. */
function isPlayed({ payload }: JsonObject): boolean {
  return Object(payload).type === 'recognizer_loop:audio_output_end';
}

async function run(entry: Entry, kind: 'given' | 'least'): Promise<Run> {
  texts.clear();
  const hub = await AnyHub.start(kind === 'given' ? tls : undefined);
  const calls: Calls = { store: [] };
  const options =
    kind === 'given' ? givenOptions(entry, hub, calls) : leastOptions(entry, hub, `${entry}-${kind}`);
  timers.forget();
  const client = CONNECT[entry](options as never);
  const events = listened(client);
  hubs.push(hub); // also if this fails
  clients.push(client);
  let text = '';
  client.ask('hello').then(
    ({ reply }) => {
      text = reply.text;
    },
    () => {},
  );
  await until(() => text === 'You said: hello'); // a timeout would have timers of its own
  hub.say(COMPRESSED);
  hub.say(LONG);
  await until(() => events.filter((type) => /^(?:dropped|message|envelope)$/.test(type)).length === 2);
  hub.say(SPEECH);
  await until(() => events.includes('speak') && (kind === 'given' || hub.seen.envelopes.some(isPlayed)));
  const pause = kind === 'given' ? PING : 100;
  if (entry === 'https') await until(() => timers.times('https').includes(pause));
  else if (kind === 'given') await until(() => hub.seen.pings.length > 0);
  const kept = hasFiles(entry)
    ? typeof options.keyring === 'string'
      ? readFileSync(options.keyring, 'utf8')
      : undefined
    : texts.get('hub-keyring kiosk-7');
  client.end();
  await until(() => hub.seen.goodbyes.length === 1);
  await timers.areOver();
  hub.stop();
  return {
    seen: hub.seen,
    calls,
    events,
    times: timers.times(),
    ownTimes: timers.times(MODULES[entry]),
    kept,
  };
}

const runs = new Map<string, Promise<Run>>();

function resultOf(entry: Entry, kind: 'given' | 'least'): Promise<Run> {
  const key = `${entry} ${kind}`;
  runs.set(key, runs.get(key) ?? run(entry, kind));
  return runs.get(key)!;
}

const NOT_THERE = 'not an option';
/** What is seen of an option: the same in each entry, or what each entry shows. */
type Seens = readonly [unknown] | { readonly [entry in Entry]: unknown };
const same = (value: unknown): readonly [unknown] => [value];

interface Row {
  /** Where the option arrives. */
  readonly place: string;
  readonly seen: (run: Run, entry: Entry) => unknown;
  readonly given: Seens;
  readonly byDefault: Seens;
}

const question = ({ seen }: Run): { data: JsonObject; context: { session: JsonObject } } =>
  seen.envelopes[0]!.payload as never;
const hasPin = ({ kept }: Run): boolean =>
  kept !== undefined && parseKeyring(kept, 'kiosk-7').pins.length === 1;
const isNode = (value: unknown, other: unknown): Seens => ({
  ...{ websocket: value, https: value, ...overEach(value) },
  ...{ browser: other, 'react-native': other },
});
/** The first of some times for which a timer was set. */
const hasTime =
  (...times: number[]) =>
  ({ times: all }: Pick<Run, 'times'>): number | undefined =>
    times.find((time) => all.some((set) => set > 0.8 * time && set <= time)); // a deadline is nearer when its timer is set, on a busy machine by seconds

/** A row for each option, with what is seen in each entry. */
const ROWS: { readonly [option: string]: Row } = {
  identity: {
    place: 'the authorization, or the client id, and the site of each question',
    seen: (run) => [
      run.seen.names[0]!.some((name) => name?.endsWith('kiosk-7')),
      question(run).context.session.site_id,
    ],
    given: same([true, 'attic']),
    byDefault: same([true, 'lobby']),
  },
  lang: {
    place: 'each question, and the session of the HELLO',
    seen: (run) => [question(run).data.lang, Object(run.seen.hellos[0]!.session).lang],
    given: same(['fr-ca', 'fr-ca']),
    byDefault: same(['en-us', undefined]),
  },
  disclosure: {
    place: 'whether the disclosure is due',
    seen: ({ events }) => events.includes('disclosure'),
    given: same(false),
    byDefault: same(true),
  },
  plays: {
    place: 'whether the hub is told that what is shown was played',
    seen: ({ seen }) => seen.envelopes.some(isPlayed),
    given: same(false),
    byDefault: same(true),
  },
  userAgent: {
    place: 'the authorization, or the client id',
    seen: ({ seen }) => seen.names[0]![1],
    given: { ...named('kiosk'), ...overEach('kiosk-kiosk-7') },
    byDefault: { ...named('hub-protocol-client'), ...overEach('hub-protocol-client-kiosk-7') },
  },
  allowPlaintext: {
    place: 'whether an address without TLS is used',
    seen: ({ events }) => events.includes('connect'),
    given: same(true), // over TLS
    byDefault: same(true), // the least options have it: the test below leaves it out
  },
  pingEvery: {
    place: 'pings of WebSocket, of MQTT and of the hub, and the longest pause between polls',
    seen: (run) => [
      hasTime(PING, 100, 15_000, 60_000, 120_000)({ times: run.ownTimes }),
      [...new Set(run.seen.pings)],
      run.seen.accounts[0]?.[0],
    ],
    given: {
      ...{
        websocket: [PING, ['frame'], undefined],
        https: [PING, [], undefined],
        ...overEach([PING, ['envelope'], 1]),
      },
      ...{ browser: [PING, ['envelope'], undefined], 'react-native': [PING, ['envelope'], undefined] },
    },
    byDefault: {
      ...{ websocket: [15_000, [], undefined], https: [100, [], undefined], ...overEach([120_000, [], 30]) },
      ...{ browser: [60_000, [], undefined], 'react-native': [60_000, [], undefined] },
    },
  },
  maxMemory: {
    place: 'what a message may inflate to, as its other bounds',
    seen: ({ events }) => events.filter((type) => type === 'dropped').length,
    given: same(2),
    byDefault: same(0),
  },
  maxValues: {
    place: 'what a message may have outside of its strings',
    seen: ({ events }) => events.includes('envelope'),
    given: same(false),
    byDefault: same(true),
  },
  derive: {
    place: 'the derivation, with the password and the salt of the hub',
    seen: ({ calls: { derive } }) =>
      derive
        ?.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value))
        .slice(0, 2),
    given: same([PASSWORD, Buffer.from(crypto.sha256(Buffer.from(NODE_ID))).toString('hex')]),
    byDefault: same(undefined), // the PSK is stored, but in React Native, where the option is needed
  },
  sharedSecret: {
    place: 'the handshake of a keyring without the private key, with a key of the hub',
    seen: ({ calls: { sharedSecret } }) => sharedSecret?.length,
    given: { ...named(32), 'react-native': undefined }, // whose storage has the private key
    byDefault: same(undefined),
  },
  session: {
    place: 'the HELLO',
    seen: ({ seen }) => seen.hellos[0]!.extra,
    given: same('told'),
    byDefault: same(undefined),
  },
  policy: {
    place: 'how long the opening, and the hub’s HELLO, may take',
    seen: (run) => [hasTime(8000, 20_000, 15_000)(run), hasTime(GIVEN_TIME, 30_000)(run)],
    given: isNode([8000, GIVEN_TIME], [undefined, GIVEN_TIME]),
    byDefault: {
      ...{ websocket: [20_000, 30_000], https: [15_000, 30_000], ...overEach([20_000, 30_000]) },
      ...{ browser: [undefined, 30_000], 'react-native': [undefined, 30_000] },
    },
  },
  requests: {
    place: 'how long a question waits for an answer',
    seen: hasTime(40_000, 60_000),
    given: same(40_000),
    byDefault: { ...named(60_000) },
  },
  keyring: {
    place: 'the store, and by default the storage of the page',
    seen: (run) => [[...new Set(run.calls.store)].sort(), hasPin(run)],
    given: { ...named([['load', 'update'], false]), 'react-native': [['load', 'update'], true] },
    byDefault: same([[], true]),
  },
  storage: {
    place: 'the storage of the app',
    seen: (run, entry) =>
      entry === 'react-native' ? [[...new Set(run.calls.store)].sort(), hasPin(run)] : NOT_THERE,
    given: { ...named(NOT_THERE), 'react-native': [['load', 'update'], true] },
    byDefault: { ...named(NOT_THERE), 'react-native': [[], true] },
  },
  socket: {
    place: 'whose certificate is trusted',
    seen: ({ events }, entry) => (hasFiles(entry) ? events.includes('connect') : NOT_THERE),
    given: isNode(true, NOT_THERE),
    byDefault: isNode(true, NOT_THERE), // without TLS: the test below leaves it out at a hub with TLS
  },
};

/** The same value in each entry. */
function named(value: unknown): { readonly [entry in Entry]: unknown } {
  return { ...(isNode(value, value) as { readonly [entry in Entry]: unknown }) };
}

/** The names of the options in an interface of the published types. */
function namesIn(file: string, name: string): string[] {
  const text = readFileSync(new URL(`../../client/dist/${file}.d.ts`, import.meta.url), 'utf8');
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a node depend on its type
  const { body } = parseSync(text, { syntax: 'typescript' }) as any;
  for (const { declaration } of body) {
    if (declaration?.id?.value !== name) continue;
    const inherited = declaration.extends.flatMap(({ expression }: { expression: { value: string } }) =>
      namesIn('options', expression.value),
    );
    return [
      ...inherited,
      ...declaration.body.body.map((member: { key: { value: string } }) => member.key.value),
    ];
  }
  throw new Error(`${file}.d.ts has no ${name}`);
}

const OPTIONS: { readonly [entry in Entry]: readonly string[] } = {
  websocket: namesIn('options', 'NodeOptions'),
  https: namesIn('options', 'NodeOptions'),
  ...overEach(namesIn('options', 'NodeOptions')),
  browser: namesIn('browser', 'BrowserOptions'),
  'react-native': namesIn('react-native', 'ReactNativeOptions'),
};

for (const entry of ENTRIES) {
  for (const option of new Set(OPTIONS[entry])) {
    test(`${entry}: the option ${option} arrives at ${ROWS[option]?.place ?? 'a place that no row names'}`, async () => {
      const { seen, given, byDefault } = ROWS[option]!;
      const of = (seens: Seens): unknown => (Array.isArray(seens) ? seens[0] : (seens as never)[entry]);
      assert.equal(seen(await resultOf(entry, 'given'), entry), of(given));
      assert.equal(seen(await resultOf(entry, 'least'), entry), of(byDefault));
    });
  }
}

for (const entry of ENTRIES) {
  test(`${entry}: all of a session goes through one connection to the server, with TLS and without`, async () => {
    const counts = [await resultOf(entry, 'given'), await resultOf(entry, 'least')].map(
      ({ seen }) => seen.connections,
    );
    assert.equal(counts, [1, 1]);
  });
}

test('every row is of an option that an entry has', () => {
  const known = new Set(ENTRIES.flatMap((entry) => OPTIONS[entry]));
  assert.equal(Object.keys(ROWS).sort(), [...known].sort());
});
/** A client at a hub that behaves in some way. */
async function start(
  entry: Entry,
  behaviour: Behaviour,
  options: Options = {},
): Promise<{
  hub: AnyHub;
  client: Client;
  events: ClientEvent['type'][];
  told: { code: string; advice: string }[];
}> {
  const hub = await AnyHub.start();
  hubs.push(hub);
  hub.behaviour = behaviour;
  const { qos, ...others } = options;
  const own = { ...leastOptions(entry, hub, String(starts++)), ...others };
  if (qos !== undefined) Object.assign(own, { identity: hub.identity({ qos: qos as number }) });
  if ('derive' in options) {
    if (hasFiles(entry)) new KeyringFile(own.keyring as string, 'kiosk-7').update(forgetPsks);
    texts.delete('hub-keyring kiosk-7');
  }
  timers.forget();
  const client = impatient(CONNECT[entry](own as never));
  clients.push(client);
  const told: { code: string; advice: string }[] = [];
  client.on('close', ({ error: { code }, advice }) => told.push({ code, advice }));
  return { hub, client, events: listened(client), told };
}

let starts = 0;
test.after.each(() => {
  for (const client of clients.splice(0)) client.end();
  for (const hub of hubs.splice(0)) hub.stop();
});

for (const entry of ENTRIES) {
  if (entry === 'mqtt') continue; // whose address has no path
  test(`${entry}: requests the path and the query of the address, with the access key of this client alone`, async () => {
    const hub = await AnyHub.start();
    hubs.push(hub);
    const own = 'authorization=b3RoZXI6a2lvc2stOA%3D%3D&site=2';
    const at = identityOf(entry, hub).dataPlaneEndpoints!.wss!.replace('ws:', '');
    const identity = identityOf(entry, hub, {
      data_plane_endpoints: {
        wss: `ws:${at}/floor?${own}`,
        https: `http:${at}/floor/?${own}`,
      },
      mqtt: { endpoint: `ws:${at}/floor`, username: 'kiosk-7', password: 'b', topic_prefix: 'hm/t1' },
    });
    const client = CONNECT[entry]({ ...leastOptions(entry, hub, `${entry}-path`), identity } as never);
    clients.push(client);
    await soon(new Promise((resolve) => client.on('connect', resolve)));
    const targets = hub.seen.targets.map((target) => new URL(target, 'http://localhost'));
    const paths = targets.map(({ pathname }) => pathname.replace(/(?<=floor\/)\w+$/, '…'));
    assert.equal(new Set(paths), new Set([entry === 'https' ? '/floor/…' : '/floor']));
    for (const { searchParams } of targets) {
      const fields = [...searchParams].map(([name, value]) => [name, name === 'site' ? value : atob(value)]);
      const all = [
        ['site', '2'],
        ['authorization', 'hub-protocol-client:kiosk-7'],
      ];
      assert.equal(fields.sort().reverse(), entry in overEach(true) ? [] : all); // the address of a broker has no query
    }
  });
}

for (const entry of ENTRIES) {
  test(`${entry}: an address without TLS is refused unless allowPlaintext is given`, async () => {
    const hub = await AnyHub.start();
    hubs.push(hub);
    const { allowPlaintext: _, ...options } = leastOptions(entry, hub, `${entry}-plain`);
    for (const given of [{}, { allowPlaintext: false }, { allowPlaintext: undefined }]) {
      assert.throws(
        () => CONNECT[entry]({ ...options, ...given } as never),
        ({ code }: { code?: string }) => code === 'plaintext-endpoint',
      );
    }
  });

  if (hasFiles(entry)) {
    test(`${entry}: the certificate of an unknown authority is refused without ca`, async () => {
      const hub = await AnyHub.start(tls);
      hubs.push(hub);
      const client = CONNECT[entry](leastOptions(entry, hub, `${entry}-ca`) as never);
      clients.push(client);
      const code = await soon(
        new Promise((resolve) => client.on('close', ({ error }) => resolve(error.code))),
      );
      assert.equal([code, hub.seen.names], ['certificate-refused', []]);
    });

    test(`${entry}: a ca that is no certificate is refused at once, and says what is expected`, async () => {
      const hub = await AnyHub.start(tls);
      hubs.push(hub);
      const { raw } = new X509Certificate(tls.ca);
      const torn = tls.ca.replace('M', '*');
      for (const ca of ['', 'hub/ca.pem', raw.toString(), torn, `${tls.ca}\n${torn}`]) {
        assert.throws(
          () =>
            clients.push(
              CONNECT[entry]({ ...leastOptions(entry, hub, `${entry}-ca`), socket: { ca } } as never),
            ),
          ({ code, message }: LocalError) =>
            code === 'bad-argument' && /^"socket.ca" expected a certificate as PEM: /.test(message),
        );
      }
    });
  }
}

/** When \`end\` is called: what the hub does, until what holds, and what the client needs for that. */
const MOMENTS: {
  readonly [when: string]: {
    readonly behaviour?: Behaviour;
    readonly options?: Options;
    readonly holds: (hub: AnyHub, client: Client, events: readonly string[]) => boolean;
    /** How many timers run at that moment, at least. */
    readonly least: number;
  };
} = {
  'before it connects': { holds: () => true, least: 0 },
  'while nothing answers': {
    behaviour: { isStuck: true },
    holds: ({ seen }) => seen.names.length + seen.requests.length > 0,
    least: 1,
  },
  'before the hub greets': {
    behaviour: { isSilent: true },
    holds: ({ seen }) => seen.names.length + seen.requests.length > 0,
    least: 1,
  },
  'while it derives': {
    options: {
      derive: (_: string, __: Uint8Array, onProgress: (progress: number) => void) => {
        onProgress(0);
        return new Promise(() => {});
      },
    },
    holds: (_, __, events) => events.includes('deriving'),
    least: 1,
  },
  'while a question waits for its answer': {
    behaviour: { isMute: true },
    holds: ({ seen }) => seen.envelopes.length > 0,
    least: 2,
  },
  'in a pause': {
    behaviour: { refusal: { status: 503, connack: 3 } },
    holds: (_, { state }, events) => state === 'waiting' && events.includes('reconnect'),
    least: 1,
  },
};

for (const entry of ENTRIES) {
  for (const [when, { behaviour = {}, options = {}, holds, least }] of Object.entries(MOMENTS)) {
    test(`${entry}: no timer, no connection and nothing else goes on after end ${when}`, async () => {
      const { hub, client, events } = await start(entry, behaviour, options);
      const signal = new AbortController().signal;
      const asked = [
        client.ask('hello', { timeout: 50_000, signal }),
        client.query('hello', { timeout: 50_000, signal }),
      ];
      const outcomes = Promise.all(
        asked.map((answer) =>
          answer.then(
            () => 'answered',
            ({ code }) => code,
          ),
        ),
      );
      await until(() => holds(hub, client, events));
      assert.ok(timers.running.length >= least, `${timers.running}`);
      client.end();
      assert.is(events.at(-1), 'end');
      assert.equal(await outcomes, ['session-over', 'session-over']);
      await timers.areOver();
      const { length } = events;
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal([events.length, timers.running], [length, []]);
      if (entry === 'https' && behaviour.isStuck) return; // a request that waits for its answer has a time of its own
      await until(() => hub.sockets.size === 0);
    });
  }
}
/** How a connection ends, and what each entry shows of it: the code that is told, a part of the sentence, and how the hub sees it end. */
interface Ending {
  readonly behaviour: Behaviour;
  /** What the hub does once the client is ready; by default the connection ends before that. */
  readonly whenReady?: (hub: AnyHub) => void;
  readonly seen: {
    readonly [entry in Entry]?: readonly [code: string, advice: RegExp, goodbye?: number | string];
  };
}

const onWebSockets = (ws: Ending['seen'][Entry], page = ws): Ending['seen'] => ({
  ...{ websocket: ws!, browser: page!, 'react-native': page! },
});
const NOT_SAID = ['not-reachable', /the platform does not say why/] as const;

const ENDINGS: { readonly [what: string]: Ending } = {
  'the server answers 401': {
    behaviour: { refusal: { status: 401, connack: 5 } },
    seen: {
      ...onWebSockets(['access-refused', /may not know the access key/], NOT_SAID),
      https: ['access-refused', /may not know the access key/],
      ...overEach(['broker-refused', /does not admit this client \(CONNACK 5\)/]),
    },
  },
  'the server answers 302': {
    behaviour: { refusal: { status: 302, headers: 'location: /elsewhere\r\n' } },
    seen: {
      ...onWebSockets(['not-a-hub', /\(HTTP 302\)/], NOT_SAID),
      https: ['not-a-hub', /\(HTTP 302\)/],
      'mqtt over websocket': ['not-a-hub', /\(HTTP 302\)/],
    },
  },
  'the hub closes with 1008 before its HELLO': {
    behaviour: { closesWith: [1008, ''] },
    seen: onWebSockets(['access-refused', /may not know the access key/, 1008]),
  },
  'the hub closes with 4003 and a reason': {
    behaviour: { closesWith: [4003, 'QUERY is not allowed for this client'] },
    seen: onWebSockets(['dropped', /may not send query envelopes.* allow-escalate/, 4003]),
  },
  'the hub sends no envelope': {
    behaviour: { greeting: 'no envelope' },
    seen: {
      ...onWebSockets(['bad-json', /./, 1008], ['bad-json', /./, 1005]),
      https: ['bad-json', /./, 'disconnect'],
      ...overEach(['bad-json', /./, 'offline']),
    },
  },
  'the network fails': {
    behaviour: {},
    whenReady: (hub) => hub.cut(),
    seen: {
      ...onWebSockets(['dropped', /something in between/, 1006]),
      https: ['dropped', /something in between/],
      ...overEach(['dropped', /something in between/]),
    },
  },
};

for (const [what, { behaviour, whenReady, seen }] of Object.entries(ENDINGS)) {
  for (const entry of ENTRIES) {
    const expected = seen[entry];
    if (expected === undefined) continue;
    test(`${entry}: if ${what}, it tells ${expected[0]} once, and then that it connects again`, async () => {
      const { hub, client, events, told } = await start(entry, behaviour);
      const stop = new Promise<void>((resolve) => client.once('reconnect', () => resolve(client.end())));
      if (whenReady !== undefined) {
        await client.ask('hello');
        events.length = 0;
        whenReady(hub);
      }
      await soon(stop);
      const before = whenReady === undefined ? ['connecting'] : [];
      assert.equal(events, [...before, 'close', 'reconnect', 'end']);
      const [code, advice, goodbye] = expected;
      assert.is(told[0]!.code, code);
      assert.match(told[0]!.advice, advice);
      assert.not.ok(hub.seen.requests.includes('elsewhere'), 'the access key goes to no other place');
      const mistake = await client.ask({ misspelt: 'hello' } as never).catch((error) => error);
      assert.match(mistake.advice, /misspelt/); // which has nothing to do with the end of the connection
      if (goodbye === undefined) return;
      await until(() => hub.seen.goodbyes.length > 0);
      assert.equal(hub.seen.goodbyes, [goodbye]);
    });
  }
}

const GOODBYES: { readonly [entry in Entry]: number | string } = {
  ...{ websocket: 1000, https: 'disconnect', ...overEach('offline') },
  ...{ browser: 1005, 'react-native': 1005 },
};

for (const entry of ENTRIES) {
  test(`${entry}: says goodbye at the end, and connects again when it is resumed`, async () => {
    const { hub, client, events } = await start(entry, {});
    await client.ask('hello');
    const first = [...events];
    client.end();
    await until(() => hub.seen.goodbyes.length === 1);
    assert.equal(hub.seen.goodbyes, [GOODBYES[entry]]);
    client.resume();
    await client.ask('hello again');
    assert.equal(first, ['connecting', 'connect', 'disclosure']);
    assert.equal(events, [...first, 'end', 'connecting', 'connect']);
    assert.is(hub.seen.names.length, 2);
  });

  test(`${entry}: the transport of an open connection has no other timer than that of its pings or polls`, async () => {
    const { client } = await start(entry, {});
    await client.ask('hello');
    const own = timers.running.filter((module) => module === MODULES[entry]);
    assert.equal(own, own.length === 0 && entry === 'https' ? [] : [MODULES[entry]]); // or it polls at this moment
  });

  for (const [what, behaviour] of [
    ['answers', { isStuck: true }],
    ['greets', { isSilent: true }],
  ] as const) {
    if (entry === 'websocket' && 'isSilent' in behaviour) continue; // its pings must be answered in time
    test(`${entry}: pings and polls do not end a connection before the hub ${what}`, async () => {
      const { hub, events } = await start(entry, behaviour, { pingEvery: 2 });
      await until(() => hub.seen.names.length + hub.seen.requests.length > 0);
      await new Promise((resolve) => setTimeout(resolve, 60));
      assert.equal([events, hub.seen.pings.includes('envelope')], [['connecting'], false]);
    });
  }

  test(`${entry}: leaves a server that does not answer in time, and tells so once`, async () => {
    const policy = { deadlines: { 'awaiting-hello': 300 }, basePause: 60_000, maxPause: 60_000 };
    const { hub, events } = await start(entry, { isStuck: true }, { policy });
    await until(() => events.includes('close'));
    await until(() => hub.sockets.size === 0);
    assert.equal(events, ['connecting', 'close', 'reconnect']);
  });

  test(`${entry}: the hub learns after a reconnect what it has learnt at first`, async () => {
    const options = { lang: 'fr-ca', plays: true, policy: { basePause: 1, maxPause: 1 } }; // reports no text as shown
    const { hub, client } = await start(entry, {}, options);
    const learn = async (): Promise<object> => {
      await client.ask('hello');
      if (hasStatus) await until(() => hub.seen.statuses.at(-1) === 'online');
      const { names, hellos, envelopes, accounts, wills, statuses } = hub.seen;
      const learnt = JSON.stringify({ names, hellos, envelopes, accounts, wills, statuses });
      for (const list of [names, hellos, envelopes, accounts, wills, statuses]) list.length = 0;
      return JSON.parse(learnt, (name, value) => (/_id$/.test(name) && name !== 'site_id' ? 'an id' : value));
    };
    const hasStatus = entry in overEach(true);
    const first = await learn();
    const ready = new Promise((resolve) => client.once('connect', resolve));
    hub.cut();
    await soon(ready);
    assert.equal(await learn(), first);
  });

  test(`${entry}: an answer of two MiB arrives`, async () => {
    const { hub, client } = await start(entry, { isMute: true });
    const answer = client.ask('hello');
    await until(() => hub.seen.envelopes.length > 0);
    const { context } = hub.seen.envelopes[0]!.payload as { context: JsonObject };
    for (const [type, data] of [
      ['speak', { utterance: 'x'.repeat(2 ** 21) }],
      ['ovos.utterance.handled', {}],
    ] as const) {
      hub.say({ msg_type: 'bus', payload: { type, data, context } });
    }
    assert.is((await answer).reply.text.length, 2 ** 21);
  });

  if (entry !== 'websocket' && entry !== 'https') continue;
  test(`${entry}: waits as long as the server asks, and no longer than the policy allows`, async () => {
    const headers = 'retry-after: 120\r\n';
    for (const [policy, expected] of [
      [{}, 120_000],
      [{ basePause: 1, maxPause: 7000 }, 70_000],
    ] as const) {
      const { client } = await start(entry, { refusal: { status: 503, connack: 3, headers } }, { policy });
      assert.is(
        await soon(new Promise((resolve) => client.on('reconnect', ({ after }) => resolve(after)))),
        expected,
      );
    }
  });
}

test('mqtt: subscribes, says offline, greets the hub, and says online once it is ready', async () => {
  const { hub, client } = await start('mqtt', {});
  await client.ask('hello');
  assert.equal(hub.seen.statuses.slice(0, 4), ['subscribed', 'offline', 'greeting', 'online']);
});

test('mqtt: connects with a clean session, with a will, and with the account of the broker', async () => {
  const { hub, client } = await start('mqtt', {});
  await client.ask('hello');
  const will = { topic: 'hm/t1/kiosk-7/status', payload: 'offline', qos: 1, retain: true };
  assert.equal(hub.seen.wills, [{ ...will, clean: true }]);
  assert.equal(hub.seen.accounts, [[30, 'account', 'of the broker']]);
});

test('mqtt: says that the broker admits a client whose hub is silent', async () => {
  const policy = { deadlines: { 'awaiting-hello': 300 } };
  const { told } = await start('mqtt', { isSilent: true }, { policy });
  await until(() => told.length > 0);
  assert.is(told[0]!.code, 'timeout');
  assert.match(
    told[0]!.advice,
    /^The hub does not answer through the broker at localhost\S*\. Ask the hub’s operator whether it is running, and whether it knows .*, and ask the broker’s whether the accounts of both may .*renames topics/,
  );
});

test('mqtt: a connection that is lost while the status is said is only told as lost', async () => {
  const { hub, client, told } = await start('mqtt', {});
  const rejected: unknown[] = [];
  const note = (error: unknown): unknown => rejected.push(error);
  process.on('unhandledRejection', note);
  try {
    client.once('connect', () => hub.cut());
    await until(() => told.length > 0);
    await client.ask('hello');
  } finally {
    process.off('unhandledRejection', note);
  }
  assert.equal([told.map(({ code }) => code), rejected], [['dropped'], []]);
});

for (const qos of [0, 1, 2]) {
  test(`mqtt: subscribes and publishes with the QoS ${qos} of the identity, and says its status with 1, retained`, async () => {
    const { hub, client } = await start('mqtt', {}, { qos });
    await client.ask('hello');
    const { subscribe, publish, status } = hub.seen.flags;
    // The bits of a PUBLISH: a copy, its QoS, and whether it is retained, as only the status is (MQTT 3.1.1, section 3.3.1).
    assert.equal([[...subscribe], [...publish], [...status]], [[qos], [qos << 1], [0b0011]]);
  });
}

test('mqtt: the time that the broker has to say goodbye is over when it has', async () => {
  const { hub, client } = await start('mqtt', {});
  await client.ask('hello');
  const began = performance.now();
  client.end();
  await until(() => hub.sockets.size === 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  if (performance.now() - began < 900) assert.equal(timers.running, []);
});

/** Does something while MQTT.js cannot publish to a topic whose last level is this. */
function whileNotPublished(level: string, act: () => void): void {
  const { publish } = MqttClient.prototype;
  const failing = function (this: MqttClient, topic: string, ...given: unknown[]): MqttClient {
    if (!topic.endsWith(`/${level}`)) return publish.apply(this, [topic, ...given] as never);
    (given.at(-1) as (error: Error) => void)(new Error('no room'));
    return this;
  };
  MqttClient.prototype.publish = failing as typeof publish;
  try {
    act();
  } finally {
    MqttClient.prototype.publish = publish;
  }
}

test('mqtt: a message that cannot be published ends the connection, since its nonce is spent', async () => {
  const { client, told } = await start('mqtt', {});
  await client.ask('hello');
  whileNotPublished('in', () => client.send({ msg_type: 'ping', payload: {} }));
  await until(() => told.length > 0);
  assert.is(told[0]!.code, 'dropped');
});

test('mqtt: a client that cannot say offline leaves without a farewell, so that the broker publishes the will', async () => {
  const { hub, client } = await start('mqtt', {});
  await client.ask('hello');
  const hurried: TimerSetter = (run, time, original) => original(run, time === 1000 ? 50 : time);
  await withTimers(hurried, async () => whileNotPublished('status', () => client.end()));
  await until(() => hub.sockets.size === 0);
  assert.equal(hub.seen.goodbyes, []);
});

test('mqtt: receives no retained message, and none of another topic', async () => {
  const { hub, client } = await start('mqtt', {});
  const received: unknown[] = [];
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'received') received.push(what.data);
  });
  await client.ask('hello');
  const { length } = received;
  hub.publish('{}', { isRetained: true });
  hub.publish('{}', { topic: 'hm/t1/kiosk-7/other' });
  await client.ask('hello again');
  assert.not.ok(received.slice(length).some((data) => String(data) === '{}'));
});
test.run();
