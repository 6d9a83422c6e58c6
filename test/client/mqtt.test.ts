/** The client over MQTT at a broker that does what no broker should: a socket to which the test writes packets. */
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { type MqttHub, type MqttHubOptions, serveHub } from 'hub-protocol-client/hub/mqtt';
import { type Client, connect, type NodeOptions } from 'hub-protocol-client/mqtt';
import { generate, type Packet, parser } from 'mqtt-packet';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocketServer } from 'ws';
import { limitPackets } from '../../client/dist/limit-packets.js';
import { inMemory } from '../world/hub.ts';
import { soon, Timers, turnsOf, until, watchingTimers } from './world.ts';

const MIB = 1024 * 1024;
const ACCEPTED = Buffer.from([0x20, 2, 0, 0]);
const SUBSCRIBE = 8;
const TEXT = Buffer.from('{}');

/** What a broker of MQTT 3.1.1 says to a CONNECT of another version. */
const UNKNOWN_VERSION = Buffer.from([0x20, 2, 0, 1]);
const isNewer = (packet: Buffer): boolean => packet[packet.indexOf('MQTT') + 4] === 5;

const servers: Server[] = [];
const sockets: Socket[] = [];
const webSockets: WebSocketServer[] = [];
const clients: Client[] = [];
test.after.each(() => {
  for (const client of clients.splice(0)) client.end();
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
  for (const server of webSockets.splice(0)) {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
});

/** The length of the rest of a packet, as MQTT writes it. */
function lengthOf(rest: number): number[] {
  return rest < 128 ? [rest] : [(rest % 128) + 128, ...lengthOf(Math.floor(rest / 128))];
}

/** The first bytes of a PUBLISH, up to its payload. */
function publish(topic: string, payloadLength: number, flags = 0): Buffer {
  const { length } = topic;
  const rest = lengthOf(2 + length + payloadLength);
  return Buffer.concat([Buffer.from([0x30 | flags, ...rest, length >> 8, length & 255]), Buffer.from(topic)]);
}

interface Behaviour {
  /** The return code of SUBACK. */
  granted?: number;
  connected?: (packet: Buffer) => void;
  /** Whether it hangs up instead of answering CONNECT, as a proxy does whose broker is down. */
  hangsUp?: () => boolean;
  tls?: { key: string; cert: string };
}

/** A broker that answers CONNECT, and calls a function when a client has subscribed to a topic. */
async function broker(
  subscribed: (socket: Socket, topic: string) => void,
  { granted = 0, connected, hangsUp, tls }: Behaviour = {},
): Promise<string> {
  const serve = (socket: Socket): void => {
    socket.on('error', () => {});
    socket.on('data', (packet) => {
      if (packet[0]! >> 4 === 1 && isNewer(packet)) return void socket.end(UNKNOWN_VERSION);
      if (packet[0]! >> 4 === 1) {
        sockets.push(socket);
        connected?.(packet);
        if (hangsUp?.()) socket.end();
        else socket.write(ACCEPTED);
      }
      if (packet[0]! >> 4 !== SUBSCRIBE) return;
      let count = 0;
      for (let at = 4; at < packet.length; at += 3 + packet.readUInt16BE(at)) count++;
      const codes = new Array<number>(count).fill(granted);
      socket.write(Buffer.from([0x90, 2 + count, packet[2]!, packet[3]!, ...codes]));
      const length = packet.readUInt16BE(4);
      subscribed(socket, packet.subarray(6, 6 + length).toString());
    });
  };
  const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `${tls === undefined ? 'mqtt' : 'mqtts'}://localhost:${(server.address() as AddressInfo).port}`;
}

function dial(endpoint: string, options: Pick<NodeOptions, 'socket' | 'pingEvery'> = {}): Client {
  const identity = parseIdentity({
    access_key: 'kiosk-7',
    password: 'correct horse',
    mqtt: { endpoint, username: 'kiosk-7', password: 'secret', topic_prefix: 'hivemind/hub-1' },
  });
  const derive = async (): Promise<Uint8Array> => randomBytes(32);
  const client = connect({ identity, keyring: inMemory(), allowPlaintext: true, derive, ...options });
  clients.push(client);
  return client;
}

/** What a client receives until it closes the connection, and the code of its error. */
function outcome(client: Client): Promise<{ received: string[]; code: string; advice: string }> {
  const received: string[] = [];
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'received')
      received.push(Buffer.from(what.data as Uint8Array).toString());
  });
  return soon(
    new Promise((resolve) =>
      client.on('close', ({ error, advice }) => {
        client.end();
        resolve({ received, code: error.code, advice });
      }),
    ),
  );
}

test('buffers no more than half a megabyte of a packet', async () => {
  let written = 0;
  const url = await broker(async (socket, topic) => {
    socket.write(publish(topic, 250 * MIB));
    const part = Buffer.alloc(64 * 1024, 'x');
    for (; !socket.destroyed && written < 250 * MIB; written += part.length) {
      await new Promise((resolve) => socket.write(part, resolve));
    }
  });
  const { received, code } = await outcome(dial(url));
  assert.equal([received, code], [[], 'dropped']);
  assert.ok(written < 16 * MIB, `${written} bytes were written`); // most of them are in the buffers of the system
});

test('a hub buffers half a megabyte of a message, whose client alone is refused before the rest comes', async () => {
  const refused: string[] = [];
  const answered: string[] = [];
  const url = await broker((socket) => {
    socket.on('data', (packet: Buffer) => answered.push(...(`${packet}`.match(/kiosk-.(?=\/out)/g) ?? [])));
    const short = Buffer.concat([publish('hivemind/kiosk-7/in', 2), TEXT]);
    socket.write(Buffer.concat([short, publish('hivemind/kiosk-7/in', MIB), Buffer.alloc(MIB / 2 + 99)]));
  });
  const known = new Map(['kiosk-7', 'kiosk-8'].map((accessKey) => [accessKey, { psk: randomBytes(32) }]));
  const hub = await serve(url, { clients: known, onRefused: ({ code }) => refused.push(code) });
  await until(() => refused.length > 0);
  assert.equal([refused, hub.connections.size], [['envelope-too-large'], 0]);
  const rest = Buffer.alloc(MIB / 2 - 99);
  sockets[0]!.write(Buffer.concat([rest, publish('hivemind/kiosk-8/in', 2), TEXT]));
  await until(() => answered.includes('kiosk-8'));
  await soon(hub.stop());
});

test('over a WebSocket, refuses a message of more than half a megabyte as soon as it begins', async () => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  webSockets.push(server);
  await once(server, 'listening');
  let count = 0;
  const code = new Promise((resolve) =>
    server.on('connection', (socket, { socket: raw }) => {
      if (++count === 1) return socket.send(UNKNOWN_VERSION);
      socket.on('close', resolve);
      socket.on('message', (packet: Buffer) => {
        if (packet[0]! >> 4 === 1) socket.send(ACCEPTED);
        if (packet[0]! >> 4 !== SUBSCRIBE) return;
        const head = Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 0]); // RFC 6455, section 5.2
        head.writeUInt32BE(MIB / 2 + 1, 6);
        raw.write(head);
      });
    }),
  );
  const { port } = server.address() as AddressInfo;
  assert.is((await outcome(dial(`ws://127.0.0.1:${port}`))).code, 'dropped');
  assert.is(await soon(code), 1009);
});

test('accepts many packets that exceed the limit only together', async () => {
  const text = 'x'.repeat(100_000);
  const url = await broker((socket, topic) => {
    for (let i = 0; i < 20; i++) {
      socket.write(publish('elsewhere', text.length));
      socket.write(text);
    }
    socket.write(Buffer.concat([publish(topic, 2), TEXT]));
  });
  const { received } = await outcome(dial(url));
  assert.equal(received, ['{}']);
});

test('reads a packet whose length is padded to four bytes', async () => {
  const url = await broker((socket, topic) => {
    const rest = 2 + topic.length + 2;
    const head = Uint8Array.of(0x30, 0x80 | rest, 0x80, 0x80, 0, 0, topic.length);
    socket.write(Buffer.concat([head, Buffer.from(`${topic}{}`)]));
  });
  assert.equal((await outcome(dial(url))).received, ['{}']);
});

test('reads packets that arrive in two parts, wherever they are split', async () => {
  const packet = Buffer.concat([publish('elsewhere', 67), Buffer.alloc(67, 0xff)]); // read as a length, it would be too long
  const url = await broker(async (socket, topic) => {
    socket.setNoDelay();
    for (let at = 1; at < packet.length; at++) {
      for (const part of [packet.subarray(0, at), packet.subarray(at)]) {
        socket.write(part);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }
    socket.write(Buffer.concat([packet, publish(topic, 2), TEXT]));
  });
  assert.equal((await outcome(dial(url))).received, ['{}']);
});

test('ends the connection at the length of a packet that is too long, also if it comes in two parts', async () => {
  const url = await broker((socket) => {
    socket.write(Uint8Array.of(0x30, 0xff, 0xff));
    setTimeout(() => socket.write(Uint8Array.of(0xff, 0x7f)), 20);
  });
  assert.is((await outcome(dial(url))).code, 'dropped');
});

test('accepts a packet of 512 KiB, and no longer one', async () => {
  const received = async (more: number): Promise<string[]> => {
    const length = 512 * 1024 - (2 + 'elsewhere'.length) + more; // what comes before it is of the packet, too
    const url = await broker((socket, topic) =>
      socket.write(
        Buffer.concat([publish('elsewhere', length), Buffer.alloc(length), publish(topic, 2), TEXT]),
      ),
    );
    return (await outcome(dial(url))).received;
  };
  assert.equal([await received(0), await received(1)], [['{}'], []]);
});

test('accepts 2,000 packets at once, and no more', () => {
  const ends = (count: number): boolean => {
    let isOver = false;
    const stream = new EventEmitter().on('data', () => {});
    limitPackets({ stream: Object.assign(stream, { destroy: () => (isOver = true) }) } as never, 1000);
    stream.emit('data', Buffer.alloc(2 * count, Buffer.of(0xd0, 0))); // PINGRESP
    return isOver;
  };
  assert.equal([2000, 2001].map(ends), [false, true]);
});

test('sends nothing more to a broker that breaks the protocol', async () => {
  const sent: number[] = [];
  const url = await broker((socket) => {
    socket.once('data', () => {
      socket.on('data', (packet) => sent.push(packet[0]! >> 4));
      socket.write(publish('elsewhere', 0, 6)); // no QoS is 3
    });
  });
  const client = dial(url);
  const { code } = await outcome(client);
  await soon(once(sockets[0]!, 'close'));
  assert.equal([code, sent], ['dropped', []]);
});

test('a hub leaves a broker that breaks the protocol, and connects again', async () => {
  let lost = 0;
  const url = await broker((socket) => {
    if (lost === 0) socket.write(publish('elsewhere', 0, 6)); // no QoS is 3
  });
  const hub = await serve(url, { reconnectAfter: 1, onLost: () => lost++ });
  await until(() => lost === 1 && sockets.length === 2);
  await soon(hub.stop());
  assert.is(lost, 1);
});

test('a hub begins a clean session at the broker, with its account and without a will, also when it connects again', async () => {
  const seen: unknown[] = [];
  let leave = (): void => {};
  const url = await broker((socket) => (leave = () => socket.destroy()), {
    connected(packet) {
      const at = packet.indexOf('MQTT');
      seen.push([packet[at + 5], packet.subarray(at + 8).toString()]); // MQTT 3.1.1, section 3.1.2
    },
  });
  const hub = await serve(url, { reconnectAfter: 1 });
  leave();
  await until(() => seen.length === 2);
  await soon(hub.stop());
  const connect = [0b1100_0010, '\0\u0009hub-hub-1\0\u0003hub\0\u0006secret'];
  assert.equal(seen, [connect, connect]);
});

/** A hub at a broker. */
function serve(url: string, options: Partial<MqttHubOptions> = {}): Promise<MqttHub> {
  return serveHub({
    broker: { url, username: 'hub', password: 'secret' },
    ...{ base: 'hivemind', nodeId: 'hub-1', staticKey: randomBytes(32), clients: new Map(), ...options },
  });
}

test('a hub does not start at a broker that hangs up before CONNACK', async () => {
  const url = await broker(() => {}, { hangsUp: () => true });
  assert.instance(await soon(serve(url).catch((error) => error)), Error);
});

const five = (packet: Packet): Buffer => generate(packet, { protocolVersion: 5 });
type Answering = readonly [
  string,
  RegExp,
  asked: number[],
  (messageId: number) => Buffer,
  properties?: object,
];
const ANSWERING: readonly Answering[] = [
  ['is too long for it', /^fault.* 149/, [5], () => five({ cmd: 'pingresp' }), { maximumPacketSize: 50 }],
  ['it refuses', /PUBACK 135/, [5], (messageId) => five({ cmd: 'puback', messageId, reasonCode: 135 })],
  ['makes it hang up', /^lost.* 137/, [5, 5], () => five({ cmd: 'disconnect', reasonCode: 137 })],
  ['it refuses as none may', /^lost: undefined/, [5, 4], (id) => Buffer.of(0x40, 3, id >> 8, id, 149)],
];

/** A broker with a client that says hello once; a hub is at it. */
async function brokerOf(
  properties: object,
  take: (messageId: number, socket: Socket) => unknown,
  asked: number[] = [],
): Promise<{ url: string; asked: number[] }> {
  const server = createServer((socket) => {
    sockets.push(socket);
    const say = (packet: Packet): boolean =>
      socket.write(generate(packet, { protocolVersion: asked.at(-1)! }));
    const packets = parser().on('packet', (packet) => {
      const { messageId = 0 } = packet;
      if (packet.cmd === 'connect') {
        asked.push(packet.protocolVersion!);
        say({ cmd: 'connack', reasonCode: 0, returnCode: 0, sessionPresent: false, properties });
      } else if (packet.cmd === 'subscribe') {
        say({ cmd: 'suback', messageId, granted: packet.subscriptions.map(() => 1) });
        if (asked.length === 1)
          socket.write(Buffer.concat([publish('hivemind/kiosk-7/in', 3), Buffer.of(0), TEXT]));
      } else if (packet.cmd === 'publish') take(messageId, socket);
    });
    socket.on('error', () => {}).on('data', (data) => packets.parse(data));
  });
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { asked, url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

for (const [what, pattern, versions, answer, properties = {}] of ANSWERING) {
  test(`a hub tells of a message that ${what}, and ends no session that this does not concern`, async () => {
    const told: string[] = [];
    const { asked, url } = await brokerOf(properties, (messageId, socket) => {
      socket.write(answer(messageId));
      if (pattern.source.includes('137')) socket.end();
    });
    const clients = new Map([['kiosk-7', { psk: randomBytes(32) }]]);
    const onFault = (error: unknown): unknown => told.push(`fault: ${error}`);
    const onLost = (error: unknown): unknown => told.push(`lost: ${error}`);
    const hub = await serve(url, { clients, onFault, onLost, reconnectAfter: 1 });
    await until(() => told.length > 0 && asked.length === versions.length && hub.connections.size === 0);
    assert.equal(asked, versions);
    for (const each of told) assert.match(each, pattern);
    await soon(hub.stop());
  });
}

for (const [code, answer, properties = {}] of [
  ['DISCONNECT 149', (messageId) => five({ cmd: 'puback', messageId }), { maximumPacketSize: 50 }],
  ['PUBACK 16', (messageId) => five({ cmd: 'puback', messageId, reasonCode: 16 })],
  ['PUBACK 135', (messageId) => five({ cmd: 'puback', messageId, reasonCode: 135 })],
  ['PUBACK 149', (messageId) => Buffer.of(0x40, 3, messageId >> 8, messageId, 149)],
] as readonly (readonly [string, (messageId: number) => Buffer, object?])[]) {
  test(`says why a broker does not take its message (${code})`, async () => {
    const { url } = await brokerOf(properties, (messageId, socket) => socket.write(answer(messageId)));
    assert.match((await outcome(dial(url))).advice, `(${code})`);
  });
}

test('says at once that another connection has its access key, if the broker does', async () => {
  const { url } = await brokerOf({}, (_, socket) => socket.write(Buffer.of(0xe0, 1, 142))); // DISCONNECT
  assert.match((await outcome(dial(url))).advice, /^Another connection has used this access key/);
});

test('a hub publishes no more than the broker takes before it has acknowledged it', async () => {
  const taken: (() => unknown)[] = [];
  const { url } = await brokerOf({ receiveMaximum: 1 }, (messageId, socket) =>
    taken.push(() => socket.write(five({ cmd: 'puback', messageId }))),
  );
  const hub = await serve(url, { clients: new Map([['kiosk-7', { psk: randomBytes(32) }]]) });
  await until(() => taken.length === 1); // HELLO
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.is(taken.length, 1);
  taken[0]!();
  await until(() => taken.length === 2); // HANDSHAKE
  await soon(hub.stop());
});

test('a hub connects again until the broker no longer hangs up before CONNACK', async () => {
  let [lost, subscribed] = [0, 0];
  let leave = (): void => {};
  const hangsUp = (): boolean => lost === 1 || lost === 2;
  const url = await broker(
    (socket) => {
      subscribed++;
      leave = () => socket.destroy();
    },
    { hangsUp },
  );
  const hub = await serve(url, { reconnectAfter: 1, onLost: () => lost++ });
  leave();
  await until(() => subscribed === 2);
  await soon(hub.stop());
  assert.is(lost, 3);
});

test('a hub that stops says farewell to its broker', async () => {
  const sent: Buffer[] = [];
  const url = await broker((socket) => socket.on('data', (packet: Buffer) => sent.push(packet)));
  const hub = await serve(url);
  await soon(hub.stop());
  assert.equal(Buffer.concat(sent), Buffer.from([0xe0, 0])); // DISCONNECT
});

/** A hub that has sent a message with QoS 1 which its broker does not acknowledge. */
async function unacknowledged(options: Partial<MqttHubOptions> = {}): Promise<MqttHub> {
  let isSent = false;
  const url = await broker((socket) => {
    socket.on('data', (packet: Buffer) => (isSent ||= packet.includes('hivemind/kiosk-7/out')));
    socket.write(Buffer.concat([publish('hivemind/kiosk-7/in', 2), TEXT]));
  });
  const clients = new Map([['kiosk-7', { psk: randomBytes(32) }]]);
  const hub = await serve(url, { clients, ...options });
  await until(() => isSent);
  return hub;
}

test('a hub that stops leaves after a second a broker that acknowledges nothing', async () => {
  const hub = await unacknowledged();
  await watchingTimers(async (timers) => {
    const gone = once(sockets[0]!, 'close');
    await soon(hub.stop());
    await soon(gone);
    assert.equal([timers.times('mqtt-hub'), hub.connections.size], [[1000], 0]);
  });
});

test('a hub stops at once when it has lost a broker that has acknowledged nothing', async () => {
  let lost = 0;
  const hub = await unacknowledged({ reconnectAfter: 60_000, onLost: () => lost++ });
  sockets[0]!.destroy();
  await until(() => lost === 1);
  await soon(hub.stop());
});

test('greets no hub before the broker confirms the status, and leaves it after a second without a farewell', async () => {
  const timers = new Timers();
  const sent: string[] = [];
  const url = await broker((socket) => {
    socket.on('data', (packet: Buffer) => sent.push(packet.toString('latin1')));
    socket.once('data', () => {
      timers.watch();
      client.end();
    });
  });
  const client = dial(url);
  try {
    await until(() => sockets.length > 0);
    await soon(once(sockets[0]!, 'close'));
    assert.equal(timers.times('mqtt'), [1000]);
  } finally {
    timers.leave();
  }
  const all = sent.join('');
  assert.is(all.match(/hivemind\/hub-1\/status/g)?.length, 2); // at first, and when it ends
  assert.equal([all.includes('hivemind/hub-1/in'), all.endsWith('\u00e0\u0000')], [false, false]); // then the broker publishes the will
});

test('lets the event loop run between two messages that arrive together', async () => {
  const url = await broker((socket, topic) => {
    const hello = '{"msg_type":"hello","payload":{"node_id":"hub-1"},"metadata":{},"route":[]}';
    const first = Buffer.concat([publish(topic, hello.length), Buffer.from(hello)]);
    socket.write(Buffer.concat([first, publish(topic, 2), TEXT]));
  });
  const client = dial(url);
  const turns = turnsOf(client);
  await outcome(client);
  assert.equal(turns, ['message', 'other work', 'message']);
});

test.run();
