/** The client over HTTPS, at a hub that keeps messages until it is polled, and at servers that are no hub. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { type Client, connect } from 'hub-protocol-client/https';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AnyHub, type Behaviour, inMemory, type Response } from '../world/hub.ts';
import { DERIVED } from '../world/keys.ts';
import { replacing } from '../world/replacing.ts';
import { impatient, longestWait, soon, type TimerSetter, turnsOf, until, withTimers } from './world.ts';

const hubs: AnyHub[] = [];
const clients: Client[] = [];
test.after.each(() => {
  for (const client of clients.splice(0)) client.end();
  for (const hub of hubs.splice(0)) hub.stop();
});

/** A hub, and a client that polls it. `answer` is asked before the hub. */
async function start(
  answer?: Behaviour['answer'],
): Promise<{ hub: AnyHub; client: Client; seen: AnyHub['seen'] }> {
  const hub = await AnyHub.start();
  hubs.push(hub);
  hub.behaviour = { answer };
  return { hub, client: dial(hub), seen: hub.seen };
}

function dial(hub: AnyHub, fields: object = {}): Client {
  const client = connect({
    plays: true, // it sends nothing by itself
    identity: hub.identity(fields),
    allowPlaintext: true,
    derive: async () => DERIVED,
    keyring: inMemory(),
  });
  clients.push(client);
  return impatient(client);
}

/** The code of the error with which the first connection ends. */
function ending(client: Client): Promise<string> {
  const code = new Promise<string>((resolve) =>
    client.on('close', ({ error }) => {
      client.end();
      resolve(error.code);
    }),
  );
  return soon(code);
}

const HELLO = '{"msg_type":"hello","payload":{"node_id":"hub-1"},"metadata":{},"route":[]}';

test('polls for texts in the handshake, and for bytes once the session is ready', async () => {
  const { client, seen } = await start();
  let polledBefore: string[] = [];
  client.on('connect', () => {
    polledBefore = seen.requests.splice(0);
  });
  await client.ask('hello');
  assert.not.ok(polledBefore.includes('get_binary_messages'));
  assert.ok(seen.requests.includes('get_binary_messages'));
  assert.not.ok(seen.requests.includes('get_messages'));
});

test('lets the event loop run between two messages of one response', async () => {
  const { client } = await start((path) => ({ messages: path === 'get_messages' ? [HELLO, 'second'] : [] }));
  const turns = turnsOf(client);
  await ending(client);
  assert.equal(turns, ['message', 'other work', 'message']);
});

test('a socket that breaks while the agent takes it back ends neither the connection nor the process', async () => {
  let broken = 0;
  const breakSocket = (what: unknown): void => {
    const { request, response } = what as { request: ClientRequest; response: IncomingMessage };
    response.once('end', () => {
      broken++;
      request.socket!.destroy(new Error('broken'));
    });
  };
  subscribe('http.client.response.finish', breakSocket);
  try {
    const { client } = await start();
    assert.match((await client.ask('hello')).reply.text, 'hello');
    assert.ok(broken > 4);
  } finally {
    unsubscribe('http.client.response.finish', breakSocket);
  }
});

test('sends messages queued before end(), then says goodbye', async () => {
  const { client, seen } = await start();
  await client.ask('hello');
  const before = seen.envelopes.length;
  for (let i = 0; i < 5; i++)
    client.send({ msg_type: 'bus', payload: { type: `last-${i}`, data: {}, context: {} } });
  client.end();
  await until(() => seen.requests.at(-1) === 'disconnect');
  assert.equal(
    seen.envelopes.slice(before).map(({ payload }) => Object(payload).type),
    ['last-0', 'last-1', 'last-2', 'last-3', 'last-4'],
  );
  assert.is(seen.requests.at(-2), 'send_message'); // what the hub would answer to another poll is for nobody
});

/** Gives a message that was sent before time to arrive. */
async function roundTrips({ port }: AnyHub): Promise<void> {
  for (let i = 0; i < 20; i++) await (await fetch(`http://localhost:${port}/elsewhere`)).text();
}

test('begins a connection when the last request of the one before is answered', async () => {
  let isLast = false;
  let answerLast: (() => void) | undefined;
  const { hub, client, seen } = await start((path) => {
    if (path === 'elsewhere') return {};
    if (!isLast || path !== 'disconnect') return undefined;
    isLast = false;
    return new Promise((resolve) => {
      answerLast = () => resolve(undefined);
    });
  });
  await client.ask('hello');
  isLast = true;
  client.end();
  await until(() => answerLast !== undefined);
  client.resume();
  const { length } = seen.requests;
  await roundTrips(hub);
  assert.is(seen.requests.length, length);
  answerLast!();
  assert.match((await client.ask('again')).reply.text, 'again');
});

test('sends a message without waiting for the next poll, and leaves no timer behind', async () => {
  const { hub, client, seen } = await start((path) => (path === 'elsewhere' ? {} : undefined));
  await client.ask('hello');
  const { setTimeout, clearTimeout: clearOwn } = globalThis;
  const endless = new Set<unknown>();
  const withoutPauses = (run: () => void, wait: number): unknown => {
    if (wait > 1000) return setTimeout(run, wait); // the client's own timers are longer
    const timer = {};
    endless.add(timer);
    return timer;
  };
  const clearTimeout = (timer: NodeJS.Timeout): void => {
    if (!endless.delete(timer)) clearOwn(timer);
  };
  await replacing(globalThis, { setTimeout: withoutPauses, clearTimeout }, async () => {
    const began = performance.now();
    while (endless.size === 0 && performance.now() - began < longestWait()) await roundTrips(hub);
    const { length } = seen.envelopes;
    client.send({ msg_type: 'bus', payload: { type: 'now', data: {}, context: {} } });
    await roundTrips(hub);
    assert.is(seen.envelopes.length, length + 1);
    client.end();
    assert.is(endless.size, 0);
  });
});

for (const path of ['', '/', '/hub', '/hub/']) {
  test(`finds a hub at the path “${path}”`, async () => {
    const hub = await AnyHub.start();
    hubs.push(hub);
    dial(hub, { data_plane_endpoints: { https: `http://localhost:${hub.port}${path}` } });
    await until(() => hub.seen.targets.length > 0);
    const [found] = hub.seen.targets[0]!.split('?');
    assert.is(found, path.startsWith('/hub') ? '/hub/disconnect' : '/disconnect');
  });
}

/** The pauses between polls, in milliseconds, none of which is waited for. */
async function pausesOf(answer: Behaviour['answer'], count: number): Promise<number[]> {
  const pauses: number[] = [];
  const hurried: TimerSetter = (run, wait = 0, original) => {
    if (wait <= 5000) pauses.push(wait); // the client's own timers are longer
    return original(run, wait <= 5000 ? 0 : wait);
  };
  await withTimers(hurried, async () => {
    const { client } = await start(answer);
    await until(() => pauses.length >= count);
    client.end();
  });
  return pauses.slice(0, count);
}

test('doubles the pause between polls that bring nothing, up to a second', async () => {
  assert.equal(await pausesOf(() => ({ messages: [] }), 7), [50, 100, 200, 400, 800, 1000, 1000]);
});

test('starts with the shortest pause again after a poll that brings a message', async () => {
  let polls = 0;
  const answer = (path: string): Response => ({
    messages: path === 'get_messages' && ++polls === 4 ? [HELLO] : [],
  });
  assert.equal(await pausesOf(answer, 5), [50, 100, 200, 50, 100]);
});

test('starts with the shortest pause again after a message was sent', async () => {
  const { client } = await start();
  await client.ask('hello');
  const pauses: number[] = [];
  const watched: TimerSetter = (run, wait = 0, original) => {
    if (wait <= 1000) pauses.push(wait);
    return original(run, wait);
  };
  await withTimers(watched, async () => {
    await until(() => pauses.includes(400));
    client.send({ msg_type: 'ping', payload: {} });
    pauses.length = 0;
    await until(() => pauses.length >= 2);
  });
  assert.equal(pauses.slice(0, 2), [50, 100]);
});

test('says why a hub refused to connect, and does not poll it', async () => {
  const paths: string[] = [];
  const { client } = await start((path) => {
    paths.push(path);
    return path === 'connect' ? { status: 503, body: '' } : { error: 'Client is not connected' };
  });
  assert.is(await ending(client), 'unavailable');
  assert.equal(paths, ['disconnect', 'connect']);
});

test('says that a server is not there if it goes before it has answered a poll', async () => {
  const { client } = await start((path, hub) => {
    if (path === 'get_messages') hub.cut();
    return {};
  });
  assert.is(await ending(client), 'not-reachable');
});

test('ends the connection as lost when a response breaks off', async () => {
  const { client } = await start((_, hub) => {
    for (const socket of hub.sockets)
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"messages":', () => socket.destroy());
    return new Promise(() => {});
  });
  assert.is(await ending(client), 'dropped'); // and not as silent when the time of a request is over
});

test('says that a hub is not available, and waits as long as it asks, also after it has answered', async () => {
  let isBusy = false;
  const { client } = await start(() => (isBusy ? { status: 503, body: '', retryAfter: '120' } : undefined));
  await client.ask('hello');
  const told: unknown[] = [];
  client.on('close', ({ error }) => told.push(error.code));
  client.on('reconnect', ({ after }) => told.push(after));
  isBusy = true;
  await until(() => told.length === 2);
  assert.equal(told, ['unavailable', 120_000]);
});

test('pauses only when there is nothing to send, and not before it says goodbye', async () => {
  const { client, seen } = await start();
  const watched: TimerSetter = (run, wait, original) => {
    if (wait === 50) seen.requests.push('pause');
    return original(run, wait);
  };
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'message') client.end();
  });
  await withTimers(watched, async () => {
    const asked = client.ask('hello');
    await until(() => seen.requests.length > 2 && seen.requests.at(-1) === 'disconnect');
    assert.is((await asked).ending, 'closed');
  });
  assert.equal(seen.requests, [
    ...['disconnect', 'connect', 'get_messages', 'pause'], // until the PSK is there
    ...['send_message', 'get_messages', 'send_message', 'send_message', 'send_message'],
    ...['get_binary_messages', 'disconnect'],
  ]);
});

test('the connection to the server gathers no listeners with its requests', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  const { client } = await start();
  for (let i = 0; i < 12; i++) await client.ask('hello');
  process.off('warning', note);
  assert.equal(warnings, []);
});

test('keeps no response until the time limit of its request is over', async () => {
  const original = AbortSignal.timeout;
  const signals: AbortSignal[] = [];
  const timeout = (time: number): AbortSignal => {
    const signal = original.call(AbortSignal, time);
    signals.push(signal);
    return signal;
  };
  await replacing(AbortSignal, { timeout }, async () => {
    const { client } = await start();
    for (let i = 0; i < 3; i++) await client.ask('hello');
  });
  const listeners = signals.slice(0, -1).flatMap((signal) => getEventListeners(signal, 'abort'));
  assert.equal([signals.length > 6, listeners], [true, []]);
});

const responses: [string, Response, string?][] = [
  ['a page', { status: 200, body: '<html>' }],
  ['nothing', { status: 200, body: '' }],
  ['JSON that is no object', { status: 200, body: 'null' }],
  ['no list', {}],
  ['that the hub knows no connection', { error: 'Client is not connected' }, 'dropped'],
  ['that it knows none, with the status 409', { status: 409, body: '{"messages":[]}' }, 'dropped'],
  ['the error of another server', { status: 404, body: '{"error":"no such path"}' }],
  ['a list of numbers', { messages: [1, 2] }],
  ['a member of the prototype', { status: 200, body: '{"__proto__": {"messages": []}}' }],
  ['a text with a quotation mark', { messages: [`"${'x'.repeat(5000)}`] }, 'bad-json'],
  ['many numbers beside the list', { status: 200, body: `{"messages":[],"x":[${'0,'.repeat(3000)}0]}` }],
  [
    '4096 bytes outside of strings',
    { status: 200, body: `{"messages":[""]${' '.repeat(4089)}}` },
    'bad-json',
  ],
  ['4097 bytes outside of strings', { status: 200, body: `{"messages":[""]${' '.repeat(4090)}}` }],
  ['600 KiB', { status: 200, body: `{"messages":[""],"x":"${'x'.repeat(600 * 1024 - 24)}"}` }, 'bad-json'],
  ['a byte more', { status: 200, body: `{"messages":[""],"x":"${'x'.repeat(600 * 1024 - 23)}"}` }],
  ['257 messages', { messages: new Array(257).fill('{}') }],
  ['256 messages that are no envelopes', { messages: new Array(256).fill('') }, 'bad-json'],
  ['more than two envelopes', { messages: ['x'.repeat(600 * 1024)] }],
];
for (const [what, response, expected = 'not-a-hub'] of responses) {
  test(`ends the connection if a poll brings ${what}`, async () => {
    const { client } = await start((path) => (path === 'get_messages' ? response : { b64_messages: [] }));
    assert.is(await ending(client), expected);
  });
}

test('ends the connection if a message is refused', async () => {
  const { client } = await start((path) =>
    path === 'send_message' ? { status: 409, body: '{"error": "No Noise session"}' } : undefined,
  );
  assert.is(await ending(client), 'dropped');
});

test.run();
