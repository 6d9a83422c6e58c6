/** The client over HTTPS, at a hub that keeps messages until it is polled, and at servers that are no hub. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { type ClientRequest, createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createKeyring, HubSession, type HubSessionEvent, type Keyring, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { Assistant } from 'hub-protocol-client/assistant';
import { type Client, connect } from 'hub-protocol-client/https';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PASSWORD, DERIVED as PSK } from '../world/keys.ts';
import { replacing } from '../world/replacing.ts';
import { impatient, longestWait, soon, type TimerSetter, turnsOf, until, withTimers } from './world.ts';

const STATIC_KEY = randomBytes(32);

/** What a server answers: a status and a body, or the members of a JSON object with the status 200. */
type Response = { status: number; body: string; retryAfter?: string } | Record<string, unknown>;

const servers: Server[] = [];
const clients: Client[] = [];
test.after.each(() => {
  for (const client of clients.splice(0)) client.end();
  for (const server of servers.splice(0)) server.close();
});

/** A server that answers requests by the last part of their path. */
async function serve(
  answer: (path: string, fields: URLSearchParams) => Response | Promise<Response>,
): Promise<number> {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', async () => {
      const path = new URL(request.url!, 'http://localhost').pathname.slice(1);
      const given = await answer(path, new URLSearchParams(Buffer.concat(parts).toString()));
      const isRaw = 'body' in given;
      if (typeof given.retryAfter === 'string') response.setHeader('retry-after', given.retryAfter);
      response.writeHead(isRaw ? (given.status as number) : 200, { location: '/elsewhere' });
      response.end(isRaw ? given.body : JSON.stringify(given));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A hub that keeps messages until it is polled. */
class Hub {
  readonly requests: string[] = [];
  readonly heard: string[] = [];
  #session: HubSession | undefined;
  #assistant: Assistant | undefined;
  #messages: string[] = [];
  #bytes: string[] = [];

  answer(path: string, fields: URLSearchParams): Response {
    this.requests.push(path);
    if (path === 'disconnect') return this.#disconnect();
    if (path === 'connect') return this.#connect();
    if (this.#session === undefined) return { error: 'Client is not connected' };
    if (path === 'get_messages') return { messages: this.#messages.splice(0) };
    if (path === 'get_binary_messages') return { b64_messages: this.#bytes.splice(0) };
    const message = fields.get('message')!;
    const data = fields.get('binary') === '1' ? Buffer.from(message, 'base64') : message;
    this.#carryOut(this.#session.receive(data));
    return { status: 'message sent' };
  }

  /** Forgets the client, as a hub that is restarted does. */
  #disconnect(): Response {
    this.#session = undefined;
    this.#messages = [];
    this.#bytes = [];
    return { status: 'Disconnected' };
  }

  forget(): void {
    this.#disconnect();
  }

  #connect(): Response {
    const options = { crypto, randomBytes, nodeId: 'hub-1', staticKey: STATIC_KEY, psk: PSK };
    this.#session = new HubSession(options);
    this.#assistant = new Assistant(this.#session);
    this.#carryOut(this.#session.start());
    return { status: 'Connected' };
  }

  #carryOut(events: HubSessionEvent[]): void {
    for (const event of events) {
      if (event.type === 'transmit') this.#keep(event.data);
      else if (event.type === 'close') this.forget();
      else if (event.type === 'message' && event.kind === 'json') this.heard.push(event.text);
      for (const data of this.#assistant!.handle(event)) this.#keep(data);
    }
  }

  #keep(data: string | Uint8Array): void {
    if (typeof data === 'string') this.#messages.push(data);
    else this.#bytes.push(Buffer.from(data).toString('base64'));
  }
}

function dial(
  port: number,
  { path = '', ...options }: { path?: string; socket?: { ca: string | undefined } } = {},
): Client {
  const scheme = 'socket' in options ? 'https' : 'http';
  const identity = parseIdentity({
    access_key: 'kiosk-7',
    password: PASSWORD,
    protocols: { https: true },
    data_plane_endpoints: { https: `${scheme}://localhost:${port}${path}` },
  });
  let stored: Keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
  const client = connect({
    plays: true, // it sends nothing by itself
    identity,
    ...options,
    allowPlaintext: true,
    derive: async () => PSK,
    keyring: {
      load: () => stored,
      update: (change) => {
        stored = change(stored);
      },
    },
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

test('polls for texts in the handshake, and for bytes once the session is ready', async () => {
  const hub = new Hub();
  const client = dial(await serve((path, fields) => hub.answer(path, fields)));
  let polledBefore: string[] = [];
  client.on('connect', () => {
    polledBefore = hub.requests.splice(0);
  });
  await client.ask('hello');
  assert.not.ok(polledBefore.includes('get_binary_messages'));
  assert.ok(hub.requests.includes('get_binary_messages'));
  assert.not.ok(hub.requests.includes('get_messages'));
});

test('lets the event loop run between two messages of one response', async () => {
  const hello = '{"msg_type":"hello","payload":{"node_id":"hub-1"},"metadata":{},"route":[]}';
  const client = dial(
    await serve((path) => ({ messages: path === 'get_messages' ? [hello, 'second'] : [] })),
  );
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
    const hub = new Hub();
    const client = dial(await serve((path, fields) => hub.answer(path, fields)));
    assert.match((await client.ask('hello')).reply.text, 'hello');
    assert.ok(broken > 4);
  } finally {
    unsubscribe('http.client.response.finish', breakSocket);
  }
});

test('sends messages queued before end(), then says goodbye', async () => {
  const hub = new Hub();
  const client = dial(await serve((path, fields) => hub.answer(path, fields)));
  await client.ask('hello');
  const before = hub.heard.length;
  for (let i = 0; i < 5; i++)
    client.send({ msg_type: 'bus', payload: { type: `last-${i}`, data: {}, context: {} } });
  client.end();
  await until(() => hub.requests.at(-1) === 'disconnect');
  assert.equal(
    hub.heard.slice(before).map((text) => JSON.parse(text).payload.type),
    ['last-0', 'last-1', 'last-2', 'last-3', 'last-4'],
  );
  assert.is(hub.requests.at(-2), 'send_message'); // what the hub would answer to another poll is for nobody
});

/** Gives a message that was sent before time to arrive. */
async function roundTrips(port: number): Promise<void> {
  for (let i = 0; i < 20; i++) await (await fetch(`http://localhost:${port}/elsewhere`)).text();
}

test('begins a connection when the last request of the one before is answered', async () => {
  const hub = new Hub();
  let isLast = false;
  let answerLast: (() => void) | undefined;
  const port = await serve(async (path, fields) => {
    if (path === 'elsewhere') return {};
    const answer = hub.answer(path, fields);
    if (!isLast || path !== 'disconnect') return answer;
    isLast = false;
    return new Promise((resolve) => {
      answerLast = () => resolve(answer);
    });
  });
  const client = dial(port);
  await client.ask('hello');
  isLast = true;
  client.end();
  await until(() => answerLast !== undefined);
  client.resume();
  const { length } = hub.requests;
  await roundTrips(port);
  assert.is(hub.requests.length, length);
  answerLast!();
  assert.match((await client.ask('again')).reply.text, 'again');
});

test('sends a message without waiting for the next poll, and leaves no timer behind', async () => {
  const hub = new Hub();
  const port = await serve((path, fields) => (path === 'elsewhere' ? {} : hub.answer(path, fields)));
  const client = dial(port);
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
    while (endless.size === 0 && performance.now() - began < longestWait()) await roundTrips(port);
    const { length } = hub.heard;
    client.send({ msg_type: 'bus', payload: { type: 'now', data: {}, context: {} } });
    await roundTrips(port);
    assert.is(hub.heard.length, length + 1);
    client.end();
    assert.is(endless.size, 0);
  });
});

for (const path of ['', '/', '/hub', '/hub/']) {
  test(`finds a hub at the path “${path}”`, async () => {
    const asked = new Promise<string>((resolve, reject) =>
      serve((first) => {
        resolve(first);
        return { status: 503, body: '' };
      }).then((port) => dial(port, { path }), reject),
    );
    assert.is(await soon(asked), path.startsWith('/hub') ? 'hub/disconnect' : 'disconnect');
  });
}

/** The pauses between polls, in milliseconds, none of which is waited for. */
async function pausesOf(port: number, count: number): Promise<number[]> {
  const pauses: number[] = [];
  const hurried: TimerSetter = (run, wait = 0, original) => {
    if (wait <= 5000) pauses.push(wait); // the client's own timers are longer
    return original(run, wait <= 5000 ? 0 : wait);
  };
  await withTimers(hurried, async () => {
    const client = dial(port);
    await until(() => pauses.length >= count);
    client.end();
  });
  return pauses.slice(0, count);
}

test('doubles the pause between polls that bring nothing, up to a second', async () => {
  const port = await serve(() => ({ messages: [] }));
  assert.equal(await pausesOf(port, 7), [50, 100, 200, 400, 800, 1000, 1000]);
});

test('starts with the shortest pause again after a poll that brings a message', async () => {
  let polls = 0;
  const hello = '{"msg_type":"hello","payload":{"node_id":"hub-1"},"metadata":{},"route":[]}';
  const port = await serve((path) => ({
    messages: path === 'get_messages' && ++polls === 4 ? [hello] : [],
  }));
  assert.equal(await pausesOf(port, 5), [50, 100, 200, 50, 100]);
});

test('starts with the shortest pause again after a message was sent', async () => {
  const hub = new Hub();
  const client = dial(await serve((path, fields) => hub.answer(path, fields)));
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
  const port = await serve((path) => {
    paths.push(path);
    return path === 'connect' ? { status: 503, body: '' } : { error: 'Client is not connected' };
  });
  assert.is(await ending(dial(port)), 'unavailable');
  assert.equal(paths, ['disconnect', 'connect']);
});

test('says that a server is not there if it goes before it has answered a poll', async () => {
  const port = await serve((path) => {
    if (path === 'get_messages') servers[0]!.closeAllConnections();
    return {};
  });
  assert.is(await ending(dial(port)), 'not-reachable');
});

test('ends the connection as lost when a response breaks off', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"messages":', () => response.destroy());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  assert.is(await ending(dial(port)), 'dropped'); // and not as silent when the time of a request is over
});

test('says that a hub is not available, and waits as long as it asks, also after it has answered', async () => {
  const hub = new Hub();
  let isBusy = false;
  const client = dial(
    await serve((path, fields) =>
      isBusy ? { status: 503, body: '', retryAfter: '120' } : hub.answer(path, fields),
    ),
  );
  await client.ask('hello');
  const told: unknown[] = [];
  client.on('close', ({ error }) => told.push(error.code));
  client.on('reconnect', ({ after }) => told.push(after));
  isBusy = true;
  await until(() => told.length === 2);
  assert.equal(told, ['unavailable', 120_000]);
});

test('pauses only when there is nothing to send, and not before it says goodbye', async () => {
  const hub = new Hub();
  const client = dial(await serve((path, fields) => hub.answer(path, fields)));
  const watched: TimerSetter = (run, wait, original) => {
    if (wait === 50) hub.requests.push('pause');
    return original(run, wait);
  };
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'message') client.end();
  });
  await withTimers(watched, async () => {
    const asked = client.ask('hello');
    await until(() => hub.requests.length > 2 && hub.requests.at(-1) === 'disconnect');
    assert.is((await asked).ending, 'closed');
  });
  assert.equal(hub.requests, [
    ...['disconnect', 'connect', 'get_messages', 'pause'], // until the PSK is there
    ...['send_message', 'get_messages', 'send_message', 'send_message', 'send_message'],
    ...['get_binary_messages', 'disconnect'],
  ]);
});

test('the connection to the server gathers no listeners with its requests', async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', note);
  const hub = new Hub();
  const client = dial(await serve((path, fields) => hub.answer(path, fields)));
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
    const hub = new Hub();
    const client = dial(await serve((path, fields) => hub.answer(path, fields)));
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
    const port = await serve((path) => (path === 'get_messages' ? response : { b64_messages: [] }));
    assert.is(await ending(dial(port)), expected);
  });
}

test('ends the connection if a message is refused', async () => {
  const hub = new Hub();
  const port = await serve((path, fields) =>
    path === 'send_message'
      ? { status: 409, body: '{"error": "No Noise session"}' }
      : hub.answer(path, fields),
  );
  assert.is(await ending(dial(port)), 'dropped');
});

test.run();
