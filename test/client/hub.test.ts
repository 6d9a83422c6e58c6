/** What a hub in Node.js offers its caller, and what strangers and single clients cannot do to the others. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter, once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { Assistant } from 'hub-protocol-client/assistant';
import {
  createHub,
  type HubClients,
  type HubConnection,
  type HubReport,
  type HubServer,
  type HubServerOptions,
  serveHub,
  serveSocket,
} from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket from 'ws';
import { nodeCrypto as crypto, randomBytes } from '../../src/crypto/node.ts';
import { createKeyring, type JsonObject, type LocalError, parseJson } from '../../src/index.ts';
import { ConnectionPolicy } from '../../src/parts.ts';
import { Device } from '../world/device.ts';
import { ODD_TARGETS, requested } from '../world/hostile.ts';
import { soon, type TimerSetter, Timers, until, watchingTimers, withTimers } from './world.ts';

const test = suite('hub-protocol-client/hub');
const psk = randomBytes(32);
const clients = new Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>();
const heard: string[] = [];
const faults: unknown[] = [];
let hub: HubServer;
let sockets: WebSocket[] = [];

test.before.each(async () => {
  heard.length = 0;
  faults.length = 0;
  clients.clear();
  clients.set('kiosk-7', { psk });
  clients.set('kiosk-8', { psk });
  hub = await start();
});
test.after.each(async () => {
  for (const socket of sockets) socket.terminate();
  sockets = [];
  await Promise.all(started.splice(0).map((each) => soon(each.stop())));
});

const started: HubServer[] = [];

/** The certificate of a hub, without that of its authority. */
const pair = ({ key, cert }: { key: string; cert: string }) => ({ key, cert });

async function start(options: Partial<HubServerOptions> = {}): Promise<HubServer> {
  const one = await serveHub({
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients,
    onFault: (error) => faults.push(error),
    answer(utterance) {
      heard.push(utterance);
      if (utterance === 'fail') throw new Error('the application failed');
      return `You said: ${utterance}`;
    },
    ...options,
  });
  started.push(one);
  return one;
}

/** The code with which a WebSocket closes. A test may fail before it waits for that. */
function closeCode(socket: WebSocket): Promise<number> {
  const code = soon(new Promise<number>((resolve) => socket.on('close', resolve)));
  code.catch(() => {});
  return code;
}

/** A client that provides its PSK when `gate` resolves, and notes what it gets. */
function dial(
  accessKey: string,
  gate: Promise<void> = Promise.resolve(),
  address = hub.url,
  staticKey = randomBytes(32),
) {
  const url = `${address}/?authorization=${encodeURIComponent(btoa(`test:${accessKey}`))}`;
  const socket = new WebSocket(url).on('error', () => {}); // `close` follows
  sockets.push(socket);
  const seen: string[] = [];
  const replies: JsonObject[] = [];
  const bytes: Uint8Array[] = [];
  let look = (): void => {};
  const device = new Device({
    keyring: createKeyring({ accessKey, staticKey, crypto }),
    policy: new ConnectionPolicy({ randomBytes }),
    now: () => 0,
    derive: (_nodeId, provide) => void gate.then(() => provide(psk)),
  });
  const line = device.dial({
    send: (data) => socket.send(data),
    see(event) {
      if (event.type !== 'transmit') seen.push(event.type);
      if (event.type === 'message' && event.kind === 'json')
        replies.push(parseJson(event.text) as JsonObject);
      if (event.type === 'message' && event.kind === 'binary') bytes.push(event.bytes.slice());
    },
    decided() {},
    settled: () => look(),
  })!;
  socket.on('message', (data, isBinary) => line.receive(isBinary ? (data as Buffer) : String(data)));
  socket.on('close', (code) => line.closed(code));
  const reaches = (...types: string[]): Promise<void> =>
    soon(
      new Promise((resolve) => {
        look = () => types.some((type) => seen.includes(type)) && resolve();
        look();
      }),
    );
  return {
    socket,
    publicKey: crypto.x25519.publicKey(staticKey),
    seen,
    replies,
    bytes,
    reaches,
    say: (message: string | Uint8Array) => line.say(message),
  };
}

const UPGRADE =
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
for (const path of ODD_TARGETS) {
  test(`a hub outlives a request of ${path}`, async () => {
    const { port } = new URL(hub.url);
    const status = await requested(port, `GET ${path} HTTP/1.1\r\nHost: hub\r\n${UPGRADE}\r\n\r\n`);
    assert.match(status, /^HTTP\/1.1 (101|400) /);
    await dial('kiosk-7').reaches('ready');
  });
}

const utter = (data: string, context = '{}'): string =>
  `{"msg_type":"bus","payload":{"type":"recognizer_loop:utterance","data":${data},"context":${context}}}`;
const utterance = (text: string): string => utter(`{"utterances":["${text}"]}`);
const NO_TEXT = '{"toString":1,"valueOf":1}';
const HOSTILE = [
  utter(`{"utterances":[${NO_TEXT}]}`),
  utter('{"utterances":["a"]}', `{"session":{"session_id":${NO_TEXT}}}`),
  utter('{"utterances":["a"]}', `{"session":{"session_id":[${NO_TEXT}],"__proto__":null}}`),
  utter('{"utterances":["a"]}', `{"session":${NO_TEXT},"__proto__":{"session":1}}`),
  utter('{"utterances":["a"]}', '[[[1e999]]]'),
  utter('{"utterances":{"0":"a","length":-1}}'),
  utter('null'),
  utter('{"utterances":[1e999]}', '1e999'),
  '{"msg_type":"bus","payload":{"type":"constructor","data":{},"context":{"__proto__":1}}}',
  '{"msg_type":{"toString":1},"payload":[]}',
  `{"msg_type":"hello","payload":{"session":{"session_id":${NO_TEXT}}}}`,
  '[]',
  'null',
];

test('no JSON from a client ends its connection or the hub', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  for (const text of HOSTILE) client.say(text);
  client.say(utter('{"utterances":["and now?"]}'));
  const isAnswered = (): boolean =>
    client.replies.some(({ payload }) => JSON.stringify(payload).includes('You said: and now?'));
  await until(() => isAnswered() || client.seen.includes('ended'));
  assert.ok(isAnswered());
});

test('lets the event loop run between two messages that arrive together', async () => {
  const turns: string[] = [];
  const { url } = await start({
    onEvent({ type }) {
      if (type !== 'message') return;
      turns.push('message');
      setImmediate(() => turns.push('other work'));
    },
  });
  const client = dial('kiosk-7', undefined, url);
  await client.reaches('ready');
  const stream = (client.socket as unknown as { _socket: Socket })._socket;
  stream.cork();
  for (const text of ['first', 'second']) client.say(utter(`{"utterances":["${text}"]}`));
  stream.uncork();
  await until(() => turns.length >= 3);
  assert.equal(turns.slice(0, 3), ['message', 'other work', 'message']);
});

test('an exception while the hub handles one client ends the connection of that client alone', async () => {
  const [failing, other] = [dial('kiosk-7'), dial('kiosk-8')];
  await Promise.all([failing.reaches('ready'), other.reaches('ready')]);
  failing.say(utter('{"utterances":["fail"]}'));
  await failing.reaches('ended');
  assert.equal(faults.map(String), ['Error: the application failed']);
  other.say(utter('{"utterances":["hello"]}'));
  await other.reaches('message');
  assert.equal(heard, ['fail', 'hello']);
});

for (const [what, fails] of [
  ['clients', { clients: { get: () => fail('clients') } }],
  ['onRefused', { onRefused: () => fail('onRefused') }],
] as const) {
  test(`an exception in ${what} ends the connection alone`, async () => {
    const { url } = await start(fails);
    await dial('unknown', undefined, url).reaches('ended');
    await dial('unknown', undefined, url).reaches('ended');
    assert.equal(faults.map(String), [`Error: ${what}`, `Error: ${what}`]);
  });
}

/** Clients that are looked up in, and pinned as in, a database. */
const stored = (own: Partial<HubClients>): HubClients => ({
  get: (accessKey) => clients.get(accessKey),
  ...own,
});
const never = new Promise<never>(() => {});
const NO_ANSWER = 'has not answered within 5 s';
/** Lets time pass at once for what a store is given. */
const soonLate: TimerSetter = (run, time, original) => original(run, time === 5000 ? 20 : time);

for (const [what, get, fault] of [
  ['throws', () => fail('no database'), 'no database'],
  ['rejects', async () => fail('no database'), 'no database'],
  ['never answers', () => never, `"clients.get" ${NO_ANSWER}`],
] as const) {
  test(`a store that ${what} when a client is looked up makes it try again later, and hurts nobody else`, async () => {
    const refused: unknown[] = [];
    const { url } = await start({
      clients: stored({ get: (key) => (key === 'kiosk-7' ? get() : clients.get(key)) }),
      onRefused: (error) => refused.push(error),
    });
    await withTimers(soonLate, async () => {
      const { port } = new URL(url);
      assert.is(await requested(port, upgradeAs('kiosk-7')), 'HTTP/1.1 503 Service Unavailable');
    });
    assert.match(String(faults), fault);
    assert.equal(refused, []);
    await dial('kiosk-8', undefined, url).reaches('ready');
  });
}

for (const [what, pin, fault] of [
  ['throws', () => fail('the disk is full'), 'the disk is full'],
  ['rejects', async () => fail('the disk is full'), 'the disk is full'],
  ['returns nothing', () => undefined, '"clients.pin" expected to return true or false'],
  ['resolves to nothing', async () => undefined, '"clients.pin" expected to return true or false'],
  ['never answers', () => never, `"clients.pin" ${NO_ANSWER}`],
] as const) {
  test(`a store that ${what} when a key is pinned ends the connection before it is ready, and nothing else`, async () => {
    const seen: unknown[] = [];
    const { url } = await start({
      clients: stored({ pin: (key) => (key === 'kiosk-7' ? (pin() as never) : true) }),
      onEvent: ({ type }, { accessKey }) => seen.push(`${accessKey} ${type}`),
      onRefused: ({ code }) => seen.push(code),
    });
    await withTimers(soonLate, async () => {
      const client = dial('kiosk-7', undefined, url);
      assert.is(await closeCode(client.socket), 1013);
      assert.match(String(faults), fault);
    });
    await dial('kiosk-8', undefined, url).reaches('ready');
    await until(() => seen.includes('kiosk-8 ready'));
    assert.equal(
      seen.filter((each) => each !== 'kiosk-7 ended' && each !== 'kiosk-8 hello'), // which may have come
      ['kiosk-8 ready'],
    );
  });
}

test('a hub waits until the key is stored before it is ready, and before it reads on', async () => {
  let answer: (isPinned: boolean) => void = () => {};
  const seen: string[] = [];
  const { url, connections } = await start({
    clients: stored({
      pin: () => new Promise((resolve) => (answer = resolve)),
      get: async (key) => clients.get(key),
    }),
    onEvent: ({ type }) => seen.push(type),
  });
  const client = dial('kiosk-7', undefined, url);
  await client.reaches('ready'); // it need not wait for an answer to message 3
  client.say(utterance('hello'));
  await until(() => [...connections].some(({ state }) => state === 'awaiting-message-3'));
  const [served] = connections;
  await until(() => (served as unknown as { isSilent: boolean }).isSilent === false);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal([seen, served!.send({ a: 1 })], [[], false]);
  answer(true);
  await until(() => seen.includes('message'));
  assert.equal(seen, ['ready', 'hello', 'message']);
});

test('a client that goes while its key is stored is never told as ready', async () => {
  let answer: (isPinned: boolean) => void = () => {};
  const seen: unknown[] = [];
  const { url, connections } = await start({
    clients: stored({ pin: () => new Promise((resolve) => (answer = resolve)) }),
    onEvent: ({ type }) => seen.push(type),
    onRefused: ({ code }, state) => seen.push(code, state),
  });
  const client = dial('kiosk-7', undefined, url);
  await client.reaches('ready');
  client.socket.terminate();
  await until(() => connections.size === 0);
  answer(true);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(seen, ['dropped', 'awaiting-message-3', 'ended']);
});

test('a lookup that returns a promise needs a function that pins', async () => {
  const { url } = await start({ clients: { get: async (key) => clients.get(key) } });
  assert.is(await closeCode(dial('kiosk-7', undefined, url).socket), 1013);
  assert.match(String(faults), '"clients" expected the function pin, since get returns a promise');
});

test('a connection ends when another process claims its access key, and a claim that fails is told', async () => {
  const claimed: (() => void)[] = [];
  const { url } = await start({
    clients: stored({
      async claim(_, replace) {
        claimed.push(replace);
        fail('no database');
      },
    }),
  });
  const client = dial('kiosk-7', undefined, url);
  const code = closeCode(client.socket);
  await until(() => claimed.length === 1);
  assert.equal(faults.map(String), ['Error: no database']);
  claimed[0]!();
  assert.is(await code, 1000);
  claimed[0]!(); // which does nothing
});

for (const [what, answer] of [
  ['number', () => 7],
  ['undefined', async () => undefined],
] as const) {
  test(`an answer that is ${what} is told as the fault of the option`, async () => {
    const client = dial('kiosk-7', undefined, (await start({ answer: answer as never })).url);
    await client.reaches('ready');
    client.say(utterance('hello'));
    await client.reaches('ended');
    assert.match(String(faults), `"answer" has to return a string or a promise of one, and returned ${what}`);
  });
}

function fail(what: string): never {
  throw new Error(what);
}

test('a hub that could serve nobody does not start', async () => {
  const code = await start({ staticKey: randomBytes(31) }).catch((error: LocalError) => error.code);
  assert.is(code, 'bad-length');
});

test('a client’s first pinned key stays, and a slower connection with another key is refused', async () => {
  const told: unknown[] = [];
  const { url } = await start({
    onRefused: ({ code }, state, accessKey) => told.push([code, state, accessKey]),
  });
  let open = (): void => {};
  const slow = dial('kiosk-7', new Promise((resolve) => (open = resolve)), url);
  const code = closeCode(slow.socket);
  await slow.reaches('psk-needed');
  const fast = dial('kiosk-7', undefined, url);
  await fast.reaches('ready');
  fast.say(utter('{"utterances":["hello"]}'));
  await fast.reaches('message');
  const pinned = clients.get('kiosk-7')!.clientKey!;
  assert.equal(pinned, fast.publicKey);
  open();
  await slow.reaches('ready');
  slow.say(utter('{"utterances":["from another key"]}')); // before the hub's close arrives
  await slow.reaches('ended', 'message');
  assert.not.ok(slow.seen.includes('message'));
  assert.is(await code, 1008);
  assert.equal(clients.get('kiosk-7')!.clientKey, pinned);
  assert.equal(heard, ['hello']);
  assert.equal(told, [['client-key-changed', 'awaiting-message-3', 'kiosk-7']]);
});

test('a hub without an answer sends only what onEvent sends', async () => {
  const one = await start({
    answer: undefined,
    onEvent: (event, client) => event.type === 'message' && client.send({ heard: 'it' }),
  });
  const client = dial('kiosk-7', undefined, one.url);
  await client.reaches('ready');
  for (const text of ['one', 'two']) client.say(utterance(text));
  await until(() => client.replies.length >= 2);
  assert.equal(client.replies, [{ heard: 'it' }, { heard: 'it' }]);
});

test('a hub with messages of its own answers utterances beside them, in the session of the HELLO, and nothing else', async () => {
  const seen: string[] = [];
  const one = await start({
    answer: (text) => `You said: ${text}`,
    onEvent: (event) => void seen.push(event.type),
  });
  const client = dial('kiosk-7', undefined, one.url);
  await client.reaches('ready');
  client.say('{"msg_type":"bus","payload":{"type":"reading","data":{"celsius":12.5},"context":{}}}');
  client.say(Uint8Array.of(0x83, 0, 7));
  client.say(utterance('hello'));
  await until(() => client.replies.length >= 2);
  assert.match(JSON.stringify(client.replies[0]), /"You said: hello".*"session_id":"[^":]+:(?!unknown)/);
  assert.equal(seen, ['ready', 'hello', 'message', 'message', 'message']);
  assert.equal(client.bytes, []);
});

test('a hub without messages of its own sends binary messages back, unchanged', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  for (const last of [7, 8]) client.say(Uint8Array.of(0x83, 0, last));
  await until(() => client.bytes.length >= 2);
  assert.equal([client.bytes, client.replies], [[7, 8].map((last) => Uint8Array.of(0x83, 0, last)), []]);
});

test('an application answers in the session that the utterance names, or in that of the HELLO, apart for each client', () => {
  const sessionsOf = (hello: object, ...contexts: string[]): string[][] => {
    const sent: string[] = [];
    const sendJson = (message: { payload: { context: { session: { session_id: string } } } }): [] => {
      sent.push(message.payload.context.session.session_id);
      return [];
    };
    const assistant = new Assistant({ sendJson } as never, () => 'yes');
    assistant.handle({ type: 'hello', ...hello } as never);
    for (const context of contexts)
      assistant.handle({
        type: 'message',
        kind: 'json',
        text: utter('{"utterances":["a"]}', context),
      } as never);
    return sent.filter((_, i) => i % 2 === 0).map((id) => id.split(':'));
  };
  const own = '{"session":{"session_id":"s-1"}}';
  const greeted = { payload: { session: { session_id: 's-2' } } };
  const answered = [
    sessionsOf(greeted, own, '{}', own, '{"session":{"session_id":7}}', '{"session":{"session_id":""}}'),
    ...[{}, { payload: {} }, { payload: { session: { session_id: 7 } } }].map((hello) =>
      sessionsOf(hello, '{}'),
    ),
  ];
  assert.equal(
    answered.map((ids) => ids.map(([, id]) => id)),
    [['s-1', 's-2', 's-1', 's-2', ''], ['unknown'], ['unknown'], ['unknown']],
  );
  const namespaces = answered.map((ids) => new Set(ids.map(([namespace]) => namespace)));
  assert.equal(
    namespaces.map(({ size }) => size),
    [1, 1, 1, 1],
  );
  assert.is(new Set(namespaces.flatMap((ids) => [...ids])).size, 4);
});

test('a connection sends when it is ready, and says whether it does', async () => {
  const said: unknown[] = [];
  let served!: HubConnection;
  const note = (when: string): unknown =>
    said.push([when, served.send({}), served.sendBytes(Uint8Array.of(0x83, 0, 7))]);
  const one = await start({
    onEvent({ type }, client) {
      served = client;
      note(type);
    },
  });
  let open = (): void => {};
  const client = dial('kiosk-7', new Promise((resolve) => (open = resolve)), one.url);
  await client.reaches('psk-needed');
  [served] = one.connections as Set<HubConnection> & [HubConnection];
  note(served.state);
  open();
  await until(() => client.bytes.length === 2);
  client.socket.close();
  await until(() => one.connections.size === 0);
  assert.equal(said, [
    ['awaiting-message-1', false, false],
    ['ready', true, true],
    ['hello', true, true],
    ['ended', false, false],
  ]);
  assert.equal([client.replies, faults], [[{}, {}], []]);
});

test('a client that onEvent hangs up on is not answered', async () => {
  let asked = 0;
  const one = await start({
    answer: () => `${asked++}`,
    onEvent: (event, client) => event.type === 'message' && client.close(4001),
  });
  const client = dial('kiosk-7', undefined, one.url);
  await client.reaches('ready');
  client.say(utterance('hello'));
  await client.reaches('ended');
  assert.is(asked, 0);
});

test('an exception in onEvent ends the connection of that client, which is told so', async () => {
  const seen: string[] = [];
  const one = await start({
    onEvent(event) {
      seen.push(event.type);
      if (event.type === 'message') throw new Error('the application failed');
    },
  });
  const client = dial('kiosk-7', undefined, one.url);
  await client.reaches('ready');
  client.say('{"a":1}');
  client.say('{"a":2}');
  await client.reaches('ended');
  await until(() => seen.includes('ended'));
  assert.equal(seen, ['ready', 'hello', 'message', 'ended']);
  assert.is(faults.length, 1);
});

test('an answer may come later, or fail for one client alone', async () => {
  let give!: (text: string) => void;
  const one = await start({
    answer: (text, { accessKey }) =>
      text === 'fail'
        ? Promise.reject(new Error('no answer'))
        : new Promise((resolve) => {
            give = (given) => resolve(`${given}, ${accessKey}`);
          }),
  });
  const [patient, failing] = [dial('kiosk-7', undefined, one.url), dial('kiosk-8', undefined, one.url)];
  await Promise.all([patient.reaches('ready'), failing.reaches('ready')]);
  patient.say(utterance('hello'));
  failing.say(utterance('fail'));
  await failing.reaches('ended');
  assert.equal(faults.map(String), ['Error: no answer']);
  await until(() => give !== undefined);
  give('Good morning');
  await until(() => patient.replies.length === 2);
  assert.match(JSON.stringify(patient.replies[0]), 'Good morning, kiosk-7');
});

for (const [isGiven, then, reported] of [
  [true, 'comes after the end of the connection is dropped', []],
  [false, 'fails after the end of the connection is reported', ['Error: too late']],
] as const) {
  test(`an answer that ${then}`, async () => {
    let give!: () => void;
    const one = await start({
      answer: () =>
        new Promise((resolve, reject) => {
          give = () => (isGiven ? resolve('too late') : reject(new Error('too late')));
        }),
    });
    const client = dial('kiosk-7', undefined, one.url);
    await client.reaches('ready');
    client.say(utterance('hello'));
    await until(() => give !== undefined);
    const [served] = one.connections;
    client.socket.terminate();
    await until(() => served!.state === 'closed');
    assert.is(one.connections.size, 0);
    give();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(faults.map(String), reported);
  });
}

test('a client that is removed during its handshake is refused, never told as ready, and the hub says why', async () => {
  const refused: unknown[] = [];
  const said: string[] = [];
  const seen: string[] = [];
  const one = await start({
    onEvent: ({ type }) => seen.push(type),
    onRefused({ code, message }, state, accessKey) {
      refused.push([code, state, accessKey]);
      said.push(message);
    },
  });
  const stranger = dial('kiosk-9', undefined, one.url);
  const codes = [closeCode(stranger.socket)];
  await stranger.reaches('ended');
  let open = (): void => {};
  const client = dial('kiosk-7', new Promise((resolve) => (open = resolve)), one.url);
  await client.reaches('psk-needed');
  codes.push(closeCode(client.socket));
  clients.delete('kiosk-7');
  open();
  await client.reaches('ended');
  await until(() => one.connections.size === 0); // it says so once
  assert.equal(refused, [
    ['access-refused', 'new', undefined],
    ['client-key-changed', 'awaiting-message-3', 'kiosk-7'],
  ]);
  assert.equal(await Promise.all(codes), [1008, 1008]);
  assert.equal(seen, ['ended']); // it was never ready
  assert.match(said[0]!, 'does not know its access key');
});

test('the hub says that a client names no access key, and looks for none', async () => {
  let said = '';
  const asked: string[] = [];
  const one = await start({
    clients: { get: (accessKey: string) => void asked.push(accessKey) },
    onRefused: ({ message }) => (said = message),
  });
  const stranger = new WebSocket(`${one.url}/`);
  sockets.push(stranger.on('error', () => {}));
  await until(() => said !== '');
  assert.match(said, 'names no access key');
  assert.equal(asked, []);
});

test('the hub says that a client speaks an older protocol, if it begins the handshake of one before it goes', async () => {
  const refused: unknown[] = [];
  const one = await start({ onRefused: ({ code }, state) => refused.push([code, state]) });
  for (const first of [
    '{"msg_type":"shake","payload":{"binarize":true},"metadata":{},"route":[]}',
    '{"msg_type":"hello","payload":{},"metadata":{},"route":[]}',
  ]) {
    const { length } = refused;
    const socket = await openAs('kiosk-7', one.url);
    socket.send(first);
    socket.close();
    await until(() => refused.length > length);
  }
  assert.equal(refused, [
    ['protocol-version', 'awaiting-message-1'],
    ['dropped', 'awaiting-message-1'],
  ]);
});

test('a hub cuts its connections without a farewell, also when it stops', async () => {
  const codes: number[] = [];
  for (const end of [hub.cut, hub.stop]) {
    const client = dial('kiosk-7');
    await client.reaches('ready');
    const code = closeCode(client.socket);
    await soon(Promise.resolve(end()));
    codes.push(await code);
  }
  assert.equal(codes, [1006, 1006]);
});

test('a hub that has stopped has told the end of each connection, and stops again at once', async () => {
  const ended: string[] = [];
  const onEvent: HubServerOptions['onEvent'] = ({ type }, { accessKey }) => {
    if (type === 'ended') ended.push(accessKey);
  };
  const one = await start({ onEvent });
  for (const accessKey of ['kiosk-7', 'kiosk-8']) await dial(accessKey, undefined, one.url).reaches('ready');
  await soon(one.stop());
  assert.equal([ended.sort(), one.connections.size], [['kiosk-7', 'kiosk-8'], 0]);
  await soon(one.stop());
});

test('a hub whose port is in use does not start, and says so', async () => {
  const { code, syscall } = await soon(
    start({ port: Number(new URL(hub.url).port) }).catch((error) => error),
  );
  assert.equal([code, syscall], ['EADDRINUSE', 'listen']);
});

test('the hub can end a connection, for example of a client that was revoked', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  const [connection] = hub.connections as Set<HubConnection>;
  await until(() => connection!.state === 'ready');
  let code = 0;
  client.socket.on('close', (closed) => (code = closed));
  connection!.close(4001);
  connection!.close(4002);
  assert.equal([connection!.state, connection!.send({})], ['closed', false]);
  client.say(utterance('hello'));
  await client.reaches('ended');
  assert.is(code, 4001);
  await until(() => hub.connections.size === 0);
  assert.equal(heard, []);
});

test('a message that is too long for an envelope ends its own connection only', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  const code = closeCode(client.socket);
  client.socket.send(Buffer.alloc(256 * 1024 + 1));
  assert.is(await code, 1009);
  const unknown = dial('unknown');
  const refused = closeCode(unknown.socket);
  unknown.socket.on('open', () => unknown.socket.send(Buffer.alloc(256 * 1024 + 1))); // before it knows that it is refused
  assert.is(await refused, 1008);
  await dial('kiosk-8').reaches('ready');
});

test('a hub that ends a connection without a code says 1000', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  const code = closeCode(client.socket);
  const [connection] = hub.connections;
  connection!.close();
  assert.is(await soon(code), 1000);
});

test('of two connections that show the same key at first contact the one stays that is ready last, and the other is told', async () => {
  const staticKey = randomBytes(32);
  const one = await start();
  let open = (): void => {};
  const slow = dial('kiosk-7', new Promise((resolve) => (open = resolve)), one.url, staticKey);
  await slow.reaches('psk-needed');
  const fast = dial('kiosk-7', undefined, one.url, staticKey);
  const code = closeCode(fast.socket);
  await fast.reaches('ready');
  fast.say(utterance('hello'));
  await fast.reaches('message');
  open();
  await slow.reaches('ready');
  assert.is(await code, 1000);
  slow.say(utterance('hello again'));
  await slow.reaches('ended', 'message');
  assert.equal(heard, ['hello', 'hello again']);
});

test('a request that is not for a WebSocket is answered at once, and told what to upgrade to', async () => {
  const { statusCode, headers } = await soon(
    new Promise<IncomingMessage>((resolve) => get(hub.url.replace('ws:', 'http:'), resolve)),
  );
  assert.equal([statusCode, headers.upgrade], [426, 'websocket']);
});

const upgradeAs = (accessKey: string): string =>
  `GET /?authorization=${encodeURIComponent(btoa(`test:${accessKey}`))} HTTP/1.1\r\nHost: hub\r\n${UPGRADE}\r\n\r\n`;

test('a hub whose connections are all ready tells a further one to try again later, unless it replaces one', async () => {
  const one = await start({ maxConnections: 1 });
  const client = dial('kiosk-7', undefined, one.url);
  await client.reaches('ready');
  client.say(utterance('hello'));
  await client.reaches('message');
  const { port } = new URL(one.url);
  assert.is(await requested(port, upgradeAs('kiosk-8')), 'HTTP/1.1 503 Service Unavailable');
  assert.match(await requested(port, upgradeAs('kiosk-7')), '101');
});

test('a hub closes a connection that it refuses, although the client keeps its side open', async () => {
  const behind = createHub({ nodeId: 'hub-1', staticKey: randomBytes(32), clients, maxConnections: 0 });
  const server = createServer().on('upgrade', behind.upgrade);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
  const { port } = server.address() as AddressInfo;
  const client = connectTcp({ port, host: '127.0.0.1', allowHalfOpen: true });
  try {
    client.write(upgradeAs('kiosk-7'));
    const [answer] = await soon(once(client, 'data'));
    assert.match(String(answer), /^HTTP\/1\.1 503 .*\r\n\r\n$/s);
    await soon(closed);
  } finally {
    client.destroy();
    server.close();
  }
});

test('32 strangers at a time get the close code 1008, and further ones the status 401, for as long as those do not go', async () => {
  const refused: string[] = [];
  const one = await start({ onRefused: ({ code }) => refused.push(code) });
  const { port } = new URL(one.url);
  const timers = new Timers();
  timers.watch();
  const strangers = Array.from({ length: 32 }, () => connectTcp(Number(port)).on('error', () => {})); // they answer no close frame
  for (const stranger of strangers) {
    stranger.write(upgradeAs('stranger'));
    await soon(once(stranger, 'data'));
  }
  timers.leave();
  assert.ok(timers.times().includes(5000), 'the time that they have for that');
  assert.is(await requested(port, upgradeAs('stranger')), 'HTTP/1.1 401 Unauthorized');
  await dial('kiosk-7', undefined, one.url).reaches('ready');
  for (const stranger of strangers) stranger.destroy();
  const again = dial('stranger', undefined, one.url);
  assert.is(await closeCode(again.socket), 1008);
  assert.equal(new Set(refused), new Set(['access-refused']));
});

test('as many sockets may wait without a request as there may be more connections, and 150, and then the oldest gives way', async () => {
  const one = await start({ maxConnections: 3 });
  await dial('kiosk-7', undefined, one.url).reaches('ready');
  const silent: Socket[] = [];
  let gone = 0;
  try {
    for (let i = 0; i <= 152; i++) {
      const socket = connectTcp(Number(new URL(one.url).port)).on('error', () => {});
      socket.on('close', () => gone++);
      silent.push(socket);
      await soon(once(socket, 'connect'));
      if (i === 151) assert.is(gone, 0);
    }
    await until(() => gone === 1);
    assert.ok(silent[0]!.destroyed);
  } finally {
    for (const socket of silent) socket.destroy();
  }
});

test('a client whose access key a stranger uses ten times a second is ready, also if its derivation takes longer than it is let wait', async () => {
  const one = await start();
  const { port } = new URL(one.url);
  const attack = setInterval(() => {
    const socket = connectTcp(Number(port)).on('error', () => {});
    socket.write(upgradeAs('kiosk-7'));
  }, 10); // and ten times as often
  try {
    const slow = dial('kiosk-7', new Promise(() => {}), one.url);
    slow.socket.on('close', (code, reason) => slow.seen.push(`${code} ${reason}`));
    await slow.reaches('ended');
    await until(() => slow.seen.includes('1013 connection_limit'));
    await dial('kiosk-7', undefined, one.url).reaches('ready'); // a link has its PSK by then
    assert.ok(one.connections.size <= 5, `${one.connections.size} connections`);
  } finally {
    clearInterval(attack);
  }
});

for (const [what, secure] of [
  ['HTTP', async () => undefined],
  ['TLS', localhostCertificate],
] as const) {
  test(`sockets on which no ${what} is spoken keep nobody out, and have ten seconds`, async () => {
    const issued = await secure();
    const tls = issued && pair(issued);
    const one = await start({ tls, maxConnections: 1 });
    const timers = new Timers();
    timers.watch();
    const silent: Socket[] = [];
    const more = async (count: number, gone: number): Promise<void> => {
      for (; count > 0; count--)
        silent.push(connectTcp(Number(new URL(one.url).port), '127.0.0.1').on('error', () => {}));
      await until(() => silent.filter(({ destroyed }) => destroyed).length >= gone);
    };
    try {
      await more(201, 50);
      const url = `${one.url}/?authorization=${encodeURIComponent(btoa('test:kiosk-7'))}`;
      const honest = new WebSocket(url, { ca: issued?.ca });
      sockets.push(honest);
      await soon(once(honest, 'open'));
      assert.ok(timers.times().includes(10_000));
      for (const gone of [90, 130, 170, 210, 250]) await more(40, gone);
      assert.is(honest.readyState, WebSocket.OPEN);
    } finally {
      timers.leave();
      for (const socket of silent) socket.destroy();
    }
  });
}

test('a hub answers with the context of the request, whole, and adds its session to it', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  const session = { session_id: 's-1', lang: 'de-de', site_id: 'lobby' };
  const context = { request_id: 'r-1', session, other: [1] };
  const request = (type: string, data: object): void =>
    client.say(JSON.stringify({ msg_type: 'bus', payload: { type, data, context } }));
  request('recognizer_loop:utterance', { utterances: ['hello', 'hallo'], lang: 'de-de' });
  request('recognizer_loop:utterance', { utterances: [''] });
  request('recognizer_loop:utterance', { utterances: [7, 'hello'] });
  request('recognizer_loop:audio_output_end', {});
  request('speak:synth', { utterance: 'hello' });
  await until(() => client.replies.length >= 6);
  const [namespace] = /[0-9a-f]+(?=:s-1)/.exec(JSON.stringify(client.replies)) ?? [];
  const about = { ...context, session: { ...session, session_id: `${namespace}:s-1` } };
  const denial = {
    ...{ denied_type: 'speak:synth', code: 'acl_disallowed_type' },
    ...{ reason: 'this hub answers recognizer_loop:utterance only' },
    data: { allowed: ['recognizer_loop:utterance'] },
  };
  assert.equal(
    client.replies,
    [
      ['speak', { utterance: 'You said: hello' }],
      ['ovos.utterance.handled', {}],
      ['speak', { utterance: 'You said: ' }],
      ['ovos.utterance.handled', {}],
      ['complete_intent_failure', {}],
      ['hive.policy.denied', denial],
    ].map(([type, data]) => ({ msg_type: 'bus', payload: { type, data, context: about } })),
  );
});

test('a connection that is not ready in time is cut, not refused', async () => {
  const one = await start({ handshakeTimeout: 20 });
  const client = dial('kiosk-7', new Promise(() => {}), one.url);
  const code = closeCode(client.socket);
  await client.reaches('ended');
  assert.is(await code, 1006); // 1008 would say that the client is refused
  const other = dial('kiosk-8', undefined, (await start({ handshakeTimeout: 60_000 })).url);
  await other.reaches('ready');
});

test('a connection that is ready in time continues, and its end is not a refusal', async () => {
  const refused: unknown[] = [];
  let late = (): void => assert.unreachable();
  const one = await start({ handshakeTimeout: 54_321, onRefused: ({ code }) => refused.push(code) });
  const set: TimerSetter = (run, time, original) => {
    if (time === 54_321) late = run;
    return original(run, time);
  };
  await withTimers(set, async () => {
    const client = dial('kiosk-7', undefined, one.url);
    await client.reaches('ready');
    const [served] = one.connections;
    await until(() => served!.state === 'ready');
    late();
    assert.is(served!.state, 'ready');
    client.say(utterance('hello'));
    await until(() => heard.includes('hello'));
    client.socket.terminate();
    await until(() => one.connections.size === 0);
    assert.equal(refused, []);
  });
});

test('a client that has gone without a word ends with the ping that it does not answer', async () => {
  const one = await start({ pingEvery: 10 });
  const { socket } = dial('kiosk-7', undefined, one.url);
  socket.on('open', () => socket.pause()); // its kernel goes on taking what comes
  await until(() => one.connections.size === 1);
  await until(() => one.connections.size === 0);
});

/** What a hub does with a socket that it serves, and then with an error of it. */
async function doneWith(
  accessKey: string | undefined,
  options: object,
  bufferedAmount?: number,
): Promise<string[]> {
  const did: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    ...{ bufferedAmount, readyState: WebSocket.OPEN, ping() {} },
    send: () => did.push('send'),
    close: (code: number) => did.push(`close ${code}`),
    terminate: () => did.push('terminate'),
  });
  const all = { nodeId: 'hub-1', staticKey: randomBytes(32), clients, ...options };
  const served = await serveSocket(socket as unknown as WebSocket, accessKey, all);
  did.push(served === undefined ? 'none' : served.accessKey);
  socket.emit('error', new Error('reset'));
  socket.emit('close', 1006);
  return did;
}

test('a client that does not read what it is sent ends before it fills the memory of the hub', async () => {
  const served = ['send', 'send', 'kiosk-7', 'terminate'];
  const [unsent, maxMemory] = [2 ** 20, 2 ** 20];
  assert.equal(await doneWith('kiosk-7', { maxMemory }), served);
  assert.equal(await doneWith('kiosk-7', { maxMemory }, unsent), served);
  const ended = ['send', 'close 1013', 'terminate', 'kiosk-7', 'terminate'];
  assert.equal(await doneWith('kiosk-7', { maxMemory }, unsent + 1), ended);
});

test('the access key that makes a hub hold most loses a connection, and is told why; others are answered', async () => {
  const { url } = await start({ maxMemory: 2 ** 20 });
  const staticKey = randomBytes(32);
  const ended: string[] = [];
  const asking = dial('kiosk-8', undefined, url);
  await asking.reaches('ready');
  for (const accessKey of ['kiosk-7', 'kiosk-9', 'kiosk-10']) {
    clients.set(accessKey, { psk });
    const { socket, reaches, say } = dial(accessKey, undefined, url, staticKey);
    await reaches('ready');
    socket.on('close', (code, reason) => ended.push(`${code} ${reason}`));
    const send = socket.send.bind(socket);
    const parts: Uint8Array[] = [];
    socket.send = (data: Uint8Array) => void parts.push(data);
    say(utterance('x'.repeat(400_000)));
    for (const part of parts.slice(0, -1)) send(part); // half a MiB, joined: the third is too much
  }
  await until(() => ended.length > 0);
  assert.equal(ended, ['1013 this hub has no memory for what the client makes it hold']);
  asking.say(utterance('hello'));
  await asking.reaches('message');
});

test('a hub closes the socket of a client that it does not know, and tells it to try again later if its own code fails', async () => {
  const broken = { clients: { get: () => fail('clients') } };
  const onRefused = (): never => fail('onRefused');
  clients.set('kiosk-8', { psk: randomBytes(31) });
  assert.equal(await doneWith(undefined, {}), ['close 1008', 'none', 'terminate']);
  assert.equal(await doneWith('unknown', {}), ['close 1008', 'none', 'terminate']);
  assert.equal(await doneWith('unknown', { onRefused }), ['close 1008', 'none', 'terminate']);
  assert.equal(await doneWith('kiosk-7', broken), ['close 1013', 'none', 'terminate']);
  assert.equal(await doneWith('kiosk-8', {}), ['close 1013', 'none', 'terminate']);
});

test('a longer message than the option maxMessage is dropped, and the connection goes on', async () => {
  const one = await start({ session: { maxMessage: 200 } });
  const client = dial('kiosk-7', undefined, one.url);
  await client.reaches('ready');
  client.say(utterance('x'.repeat(200)));
  client.say(utterance('hello'));
  await client.reaches('message');
  assert.equal(heard, ['hello']);
});

test('a message with more values than the option maxValues is dropped before the caller or the answer gets it', async () => {
  const seen: unknown[] = [];
  const one = await start({
    maxValues: 1000,
    onEvent: (event) => event.type === 'message' && seen.push(event.type),
  });
  const other = await start({
    maxValues: 1000,
    onEvent: (event) => void seen.push('reason' in event && event.reason),
  });
  for (const [accessKey, { url }] of [
    ['kiosk-7', one],
    ['kiosk-8', other],
  ] as const) {
    const client = dial(accessKey, undefined, url);
    await client.reaches('ready');
    client.say(utter(`{"utterances":["hello"],"a":[${'0,'.repeat(40_000)}0]}`));
    client.say(utterance('x'.repeat(80_000)));
    await client.reaches('message');
    client.socket.terminate();
  }
  assert.equal(
    [heard.map(({ length }) => length), seen.filter(Boolean)],
    [
      [80_000, 80_000],
      ['message', 'too-many-values'],
    ],
  );
});

test('a hub offers what the options of its session say, and says it in its first messages', async () => {
  const session = {
    hello: { welcome: 'to the lobby' },
    handshake: { motd: 'hello' },
    patterns: ['XXpsk2'],
    suites: ['25519_ChaChaPoly_SHA256'],
  } as const;
  clients.set('kiosk-7', { psk, clientKey: randomBytes(32) });
  const first: string[] = [];
  for (const options of [{}, { session }]) {
    const { url } = await start(options as object);
    const socket = new WebSocket(`${url}/?authorization=${encodeURIComponent(btoa('test:kiosk-7'))}`);
    sockets.push(socket);
    const texts: string[] = [];
    socket.on('message', (data) => texts.push(String(data)));
    await until(() => texts.length === 2);
    first.push(texts.join(' '));
  }
  const [byDefault, given] = first as [string, string];
  const offered = ['to the lobby', 'motd', 'KKpsk0', 'AESGCM', 'XXpsk2', 'ChaChaPoly'];
  assert.equal(
    offered.filter((text) => byDefault.includes(text)),
    offered.slice(2),
  );
  assert.equal(
    offered.filter((text) => given.includes(text)),
    [...offered.slice(0, 2), ...offered.slice(4)],
  );
});

test('onRefused is called at most twenty times a second, and then with how many went untold', async () => {
  const told: unknown[][] = [];
  const onRefused: HubServerOptions['onRefused'] = ({ code }, ...more) => told.push([code, ...more]);
  const ends: (() => void)[] = []; // of seconds, also for what an earlier hub tells
  const held: TimerSetter = (run, time, original) => {
    if (time !== 1000) return original(run, time);
    ends.push(run);
    return original(() => {}, 1);
  };
  await withTimers(held, async () => {
    const { url } = await start({ onRefused });
    const { port } = new URL(url);
    await Promise.all(Array.from({ length: 50 }, () => requested(port, upgradeAs('unknown'))));
    assert.equal([told.length, told[0]], [20, ['access-refused', 'new', undefined, 0]]);
    for (const end of ends.splice(0)) end();
    assert.equal([told.length, told[20]], [21, ['access-refused', 'new', undefined, 29]]);
  });
});

test('what happens at a hub is published, with its connections and what they hold', async () => {
  const reported: HubReport[] = [];
  const note = (report: unknown): void => void reported.push(report as HubReport);
  subscribe('hub-protocol-client/hub', note);
  try {
    const one = dial('kiosk-7');
    await one.reaches('ready');
    dial('kiosk-9');
    await until(() => reported.length === 2);
    one.socket.close();
    await until(() => reported.length === 3);
  } finally {
    unsubscribe('hub-protocol-client/hub', note);
  }
  const [ready, refused, ended] = reported;
  assert.equal({ ...ready, held: 0 }, { type: 'ready', accessKey: 'kiosk-7', ready: 1, unready: 0, held: 0 });
  assert.equal([refused!.type, (refused!.error as LocalError).code], ['refused', 'access-refused']);
  assert.equal(ended, { type: 'ended', accessKey: 'kiosk-7', ready: 0, unready: 0, held: 0 });
});

test('what else the caller stores with a client does no harm', async () => {
  clients.set('kiosk-7', { psk, name: 'the kiosk in the lobby' } as { psk: Uint8Array });
  await dial('kiosk-7').reaches('ready');
});

test('a hub takes connections from an HTTP server of the caller, and leaves it its other requests', async () => {
  const behind = createHub({ nodeId: 'hub-1', staticKey: randomBytes(32), clients });
  const server = createServer((_, response) => response.end('a page')).on('upgrade', behind.upgrade);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await dial('kiosk-7', undefined, `ws://127.0.0.1:${port}`).reaches('ready');
  assert.is(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'a page');
  await soon(behind.stop());
  assert.is(behind.connections.size, 0);
  const late = new WebSocket(`ws://127.0.0.1:${port}`);
  const answer = new Promise((resolve) => late.on('error', resolve).on('open', resolve));
  assert.match(String(await soon(answer)), '503'); // it has stopped, and the server of the caller has not
  server.closeAllConnections();
  server.close();
});

test('a renewed certificate is used from the next connection on, and present ones stay', async () => {
  const [before, after] = [await localhostCertificate(), await localhostCertificate()];
  const one = await start({ tls: pair(before) });
  const { port } = new URL(one.url);
  const shows = (ca: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connectTls({ host: 'localhost', port: Number(port), ca }, () => {
        socket.destroy();
        resolve('trusted');
      });
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code!));
    });
  assert.is(await shows(before.ca), 'trusted');
  one.renew(pair(after));
  assert.is(await shows(after.ca), 'trusted');
  assert.is.not(await shows(before.ca), 'trusted');
});

test('a hub without TLS has no certificate that could be renewed', async () => {
  const tls = await localhostCertificate();
  assert.throws(
    () => hub.renew(tls),
    ({ code }: LocalError) => code === 'wrong-state',
  );
});

/** Whether a hub listens at an address of this machine. */
function listensAt(host: string, { url }: HubServer): Promise<boolean> {
  return soon(
    new Promise((resolve) => {
      const socket = connectTcp(Number(new URL(url).port), host);
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    }),
  );
}

test('only programs on the same machine reach a hub, unless the option host says otherwise', async () => {
  if (process.platform !== 'linux') return; // others have one address of loopback
  const wide = await start({ host: '0.0.0.0' });
  assert.equal([await listensAt('127.0.0.1', hub), await listensAt('127.0.0.2', hub)], [true, false]);
  assert.equal([await listensAt('127.0.0.1', wide), await listensAt('127.0.0.2', wide)], [true, true]);
});

for (const [host, name] of [
  ['127.0.0.1', 'localhost'],
  ['0.0.0.0', 'localhost'],
  ['::1', 'localhost'],
  ['::', 'localhost'],
  ['localhost', 'localhost'],
  ['127.0.0.2', '127.0.0.2'],
  ['::ffff:127.0.0.1', '[::ffff:7f00:1]'],
] as const) {
  test(`a hub that listens at ${host} has a url with the host ${name}`, async () => {
    if (host === '127.0.0.2' && process.platform !== 'linux') return; // others have one address of loopback
    const [plain, secure] = [
      await start({ host }),
      await start({ host, tls: pair(await localhostCertificate()) }),
    ];
    for (const [{ url }, scheme] of [
      [plain, 'ws:'],
      [secure, 'wss:'],
    ] as const) {
      const { protocol, hostname, port } = new URL(url);
      assert.equal([protocol, hostname], [scheme, name]);
      assert.ok(Number(port) > 0);
    }
  });
}

/** A WebSocket of a client that greets nobody. */
function openAs(accessKey: string, url: string): Promise<WebSocket> {
  const socket = new WebSocket(`${url}/?authorization=${encodeURIComponent(btoa(`test:${accessKey}`))}`);
  sockets.push(socket);
  return new Promise((resolve) => socket.on('open', () => resolve(socket)));
}

test('the event ended has the code with which the client closed the connection', async () => {
  const codes: (number | undefined)[] = [];
  const { url } = await start({ onEvent: (event) => event.type === 'ended' && codes.push(event.code) });
  for (const leave of [
    (socket: WebSocket) => socket.close(1001),
    (socket: WebSocket) => socket.close(4005),
    (socket: WebSocket) => socket.terminate(),
  ]) {
    const { length } = codes;
    leave(await openAs('kiosk-7', url));
    await until(() => codes.length > length);
  }
  assert.equal(codes, [1001, 4005, 1006]);
});

test('a hub reads a message of 256 KiB, and ends the connection at a longer one', async () => {
  const codes: number[] = [];
  for (const length of [256 * 1024, 256 * 1024 + 1]) {
    const socket = await openAs('kiosk-7', hub.url);
    const closed = closeCode(socket);
    socket.send('x'.repeat(length));
    codes.push(await soon(closed));
  }
  assert.equal(codes, [1008, 1009]); // no envelope, and too long: RFC 6455, section 7.4.1
});

test('a hub offers no compression of messages, and follows no subprotocol', async () => {
  const url = `${hub.url}/?authorization=${encodeURIComponent(btoa('test:kiosk-7'))}`;
  const socket = new WebSocket(url, { perMessageDeflate: true });
  sockets.push(socket);
  await soon(new Promise((resolve) => socket.on('open', resolve)));
  assert.equal([socket.extensions, socket.protocol], ['', '']);
});

for (const [what, secure] of [
  ['HTTP', async () => undefined],
  ['TLS', localhostCertificate],
] as const) {
  test(`a hub that stops drops a connection on which no ${what} was spoken yet`, async () => {
    const issued = await secure();
    const tls = issued && pair(issued);
    const one = await start({ tls });
    const silent = connectTcp(Number(new URL(one.url).port), '127.0.0.1');
    const closed = once(silent, 'close');
    await once(silent, 'connect');
    const later = new WebSocket(one.url, { ca: issued?.ca });
    sockets.push(later);
    await soon(once(later, 'open')); // so the hub has accepted the silent one, too
    await soon(one.stop()).finally(() => silent.destroy());
    await soon(closed);
  });
}

test('a hub waits two minutes for a handshake and pings each half a minute, or as its options say', async () => {
  await watchingTimers(async (timers) => {
    const other = await start({ handshakeTimeout: 70_000, pingEvery: 7000 });
    const times: number[][] = [];
    for (const url of [hub.url, other.url]) {
      timers.forget();
      await openAs('kiosk-7', url);
      await until(() => timers.times('ws').length > 0);
      times.push([...timers.times('hub-connection'), ...timers.times('ws')]);
    }
    assert.equal(times, [
      [120_000, 30_000],
      [70_000, 7000],
    ]);
  });
});

for (const state of ['ready', 'awaiting-message-1'] as const) {
  test(`a connection that has ended in the state ${state} leaves no timer behind`, async () => {
    await watchingTimers(async (timers) => {
      const client = dial('kiosk-7', state === 'ready' ? undefined : new Promise(() => {}));
      const { socket } = client;
      await until(() => socket.readyState === 1 && [...hub.connections].some((one) => one.state === state));
      assert.ok(timers.running.includes('hub-connection'));
      socket.terminate();
      await timers.areOver();
    });
  });
}

test.run();
