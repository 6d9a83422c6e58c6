/**
 * What a peer can make a client or a hub hold, by each name of the account: at most twice `maxMemory`, and 8 MiB for what comes and goes. The
 * hub of a client, and the clients of a hub, are in the same process, and keep nothing. `HELD=8,64` tries 8 and 64 MiB, for minutes.
 */
import { EventEmitter } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createKeyring, type JsonObject } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type Client, connect as overWebSocket } from 'hub-protocol-client';
import { connect as inPage } from 'hub-protocol-client/browser';
import { connect as overHttps } from 'hub-protocol-client/https';
import { type HubClient, type HubConnection, serveSocket } from 'hub-protocol-client/hub';
import { serveHub } from 'hub-protocol-client/hub/mqtt';
import { connect as overMqtt } from 'hub-protocol-client/mqtt';
import mqtt from 'mqtt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { limitPackets } from '../../client/dist/limit-packets.js';
import { ClientSession } from '../../src/parts.ts';
import { AnyHub, inMemory } from '../world/hub.ts';
import { startBroker } from '../world/mqtt-broker.ts';
import { PSK, soon, until } from './world.ts';

const test = suite('what is held');
const { WebSocket: saved } = globalThis;
test.before(() => void Object.assign(globalThis, { WebSocket }));
test.after(() => void Object.assign(globalThis, { WebSocket: saved }));
const MIB = 2 ** 20;
const SIZES = (process.env.HELD ?? '1').split(',').map(Number);
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Heap and external memory, in bytes. */
async function taken(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** So often a part of `maxMemory` makes more than may be held. */
const often = (maxMemory: number, part: number): number => Math.ceil((2.2 * maxMemory + 12 * MIB) / part);

/** What a hub does with a client, until nothing more comes of it. */
type Filling = (hub: AnyHub, client: Client, maxMemory: number) => Promise<void>;

/** All is answered that was sent before. */
async function settled(hub: AnyHub, client: Client): Promise<void> {
  const isHeard = new Promise<void>((resolve) => {
    client.on('envelope', ({ envelope }) => envelope.msg_type === 'rendezvous' && resolve());
    client.on('close', () => resolve());
  });
  hub.say({ msg_type: 'rendezvous', payload: {} });
  await soon(isHeard);
}

const speak = (context: unknown, length: number): JsonObject =>
  ({ type: 'speak', data: { utterance: 'x'.repeat(length) }, context }) as JsonObject;

const FILLINGS: { readonly [name: string]: Filling } = {
  async partial(hub, _, maxMemory) {
    hub.say({ msg_type: 'x', payload: 'x'.repeat(maxMemory / 2 - 100) }, false);
  },
  async unsent(hub, client, maxMemory) {
    for (const socket of hub.sockets) socket.pause();
    const part = new Uint8Array(maxMemory / 8);
    for (let i = often(maxMemory, part.length); i > 0 && client.sendBytes(part, 'file'); i--)
      await new Promise((resolve) => setImmediate(resolve));
  },
  async replies(hub, client, maxMemory) {
    const length = Math.min(maxMemory / 8 - 1000, 4 * MIB - 1000);
    const count = often(maxMemory, 3 * length);
    for (let i = 0; i < count; i++) client.ask({ text: 'hi', sessionId: `s${i % 4}` }).catch(() => {});
    for (let i = 0; i < count; i++) {
      await until(() => hub.seen.envelopes.length > i || client.state !== 'ready');
      const { payload } = hub.seen.envelopes[i] ?? {};
      for (const more of [0, 1, 2])
        hub.say({ msg_type: 'bus', payload: speak((payload as JsonObject)?.context, length - more) });
    }
    await settled(hub, client);
  },
  async cascades(hub, client, maxMemory) {
    const length = Math.min(maxMemory / 8 - 1000, 4 * MIB - 1000);
    const count = often(maxMemory, length);
    for (let i = 0; i < count; i++) client.cascade('hi', { timeout: 60_000 }).catch(() => {});
    await until(() => hub.seen.envelopes.length >= count);
    for (const { metadata } of hub.seen.envelopes) {
      const { query_id } = metadata as JsonObject;
      const answer = { query_id, is_response: true, responder_peer: 'hub-2' } as JsonObject;
      const payload = { msg_type: 'bus', payload: speak({}, length) } as JsonObject;
      hub.say({ msg_type: 'cascade', metadata: answer, payload });
    }
    await settled(hub, client);
  },
  async states(hub, client, maxMemory) {
    for (let i = often(maxMemory, 60_000); i > 0; i--) {
      const context = { session: { session_id: `s${i}`, context: 'x'.repeat(60_000) } };
      hub.say({ msg_type: 'bus', payload: { type: 'x', data: {}, context } });
    }
    await settled(hub, client);
  },
};

const TRANSPORTS = {
  WebSocket: [overWebSocket, Object.keys(FILLINGS)],
  MQTT: [overMqtt, ['unsent']], // what a session holds is the same
  HTTPS: [overHttps, ['unsent']],
  'the WebSocket of a page': [inPage, ['unsent', 'partial']],
} as const;

for (const [transport, [connect, names]] of Object.entries(TRANSPORTS)) {
  for (const name of names) {
    for (const mebibytes of SIZES) {
      test(`a client over ${transport} with ${mebibytes} MiB holds no more of: ${name}`, async () => {
        const hub = await AnyHub.start();
        hub.behaviour = { isMute: true };
        const maxMemory = mebibytes * MIB;
        const client = connect({
          ...{ identity: hub.identity(), allowPlaintext: true, maxMemory, derive: async () => PSK },
          keyring: inMemory(),
        });
        try {
          await soon(new Promise<void>((resolve) => client.once('connect', () => resolve())));
          const before = await taken();
          await FILLINGS[name]!(hub, client, maxMemory);
          hub.seen.envelopes.length = 0;
          assertHeld((await taken()) - before, maxMemory);
        } finally {
          client.end();
          hub.stop();
        }
      });
    }
  }
}

function assertHeld(held: number, maxMemory: number): void {
  assert.ok(held <= 2 * maxMemory + 8 * MIB, `${(held / MIB).toFixed(1)} of ${maxMemory / MIB} MiB`);
}

function sessionOf(accessKey: string): ClientSession {
  const keyring = createKeyring({ accessKey, staticKey: randomBytes(32), crypto });
  return new ClientSession({ crypto, randomBytes, siteId: 'lobby', keyring });
}

/** A client of a hub, whose socket is in memory. */
class Peer {
  readonly socket = Object.assign(new EventEmitter(), {
    readyState: 1,
    /** What the client does not read. */
    unread: [] as unknown[],
    isReading: true,
    bufferedAmount: 0,
    _socket: new EventEmitter(),
    send: (data: string | Uint8Array) => this.#send(data),
    ping() {},
    close: () => this.#end(),
    terminate: () => this.#end(),
  });
  readonly session: ClientSession;
  served: HubConnection | undefined;
  isOver = false;

  constructor(accessKey: string) {
    this.session = sessionOf(accessKey);
  }

  async serve(accessKey: string, options: Parameters<typeof serveSocket>[2]): Promise<void> {
    this.served = await serveSocket(this.socket as never, accessKey, options);
  }

  #send(data: string | Uint8Array): void {
    if (this.socket.isReading) this.#carryOut(this.session.receive(data));
    else {
      this.socket.unread.push(data);
      this.socket.bufferedAmount += data.length;
    }
  }

  #carryOut(events: ReturnType<ClientSession['receive']>): void {
    for (const event of events) {
      if (event.type === 'transmit') this.say([event.data]);
      if (event.type === 'psk-needed') this.#carryOut(this.session.providePsk(PSK));
    }
  }

  #end(): void {
    this.isOver = true;
    this.socket.unread = [];
    this.socket.emit('close', 1006);
  }

  say(messages: readonly (string | Uint8Array)[]): void {
    for (const data of messages) {
      if (this.isOver) return;
      this.socket.emit('message', Buffer.from(data as string), typeof data !== 'string');
    }
  }
}

const bus = (length: number): JsonObject => {
  const data = { utterances: ['hi'] };
  const context = { session: { session_id: 's', note: 'x'.repeat(length) } };
  return { msg_type: 'bus', payload: { type: 'recognizer_loop:utterance', data, context } };
};

const OF_HUB: { readonly [name: string]: (peer: Peer, length: number) => void } = {
  partial: (peer, length) => peer.say(peer.session.sendJson(bus(length)).slice(0, -1)),
  waiting: (peer, length) => peer.say(peer.session.sendJson(bus(length))),
  answers: (peer, length) => peer.say(peer.session.sendJson(bus(length))),
  unsent(peer, length) {
    peer.socket.isReading = false;
    peer.served!.send(bus(length));
  },
  arriving(peer, length) {
    for (let i = 0; i < length / 256; i++) {
      const piece = Buffer.of(1);
      peer.socket.unread.push(piece, {}); // as `ws` keeps it
      peer.socket._socket.emit('data', piece);
    }
  },
};

test('a packet of MQTT that comes byte by byte is passed on in two pieces, its head and the rest', () => {
  const read: number[] = [];
  const held: number[] = [];
  const stream = new EventEmitter().on('data', (part: Buffer) => read.push(part.length));
  limitPackets({ stream } as never, 1000, { arriving: (bytes) => held.push(bytes) });
  const packet = Buffer.concat([Buffer.of(0x30, 0xac, 0x02), Buffer.alloc(300)]);
  for (const byte of Buffer.concat([packet, packet])) stream.emit('data', Buffer.of(byte));
  assert.equal([read, Math.max(...held), held.at(-1)], [[3, 300, 3, 300], 510, 0]);
});

for (const [name, fill] of Object.entries(OF_HUB)) {
  for (const mebibytes of SIZES) {
    test(`a hub with ${mebibytes} MiB holds no more of: ${name}`, async () => {
      const maxMemory = mebibytes * MIB;
      const length = Math.min(maxMemory / 4, 4 * MIB);
      const names = Array.from({ length: often(maxMemory, length) }, (_, i) => `k${i}`);
      const known = new Map<string, HubClient>(names.map((accessKey) => [accessKey, { psk: PSK }]));
      const options = {
        ...{ nodeId: 'hub-1', staticKey: randomBytes(32), maxMemory, maxConnections: 10_000 },
        clients:
          name === 'waiting'
            ? { get: (key: string) => known.get(key), pin: () => new Promise<boolean>(() => {}) }
            : known,
        answer: () => new Promise<string>(() => {}),
      };
      const before = await taken();
      const peers = names.map((accessKey) => new Peer(accessKey));
      await Promise.all(peers.map((peer, i) => peer.serve(names[i]!, options)));
      for (const peer of peers) fill(peer, length);
      assertHeld((await taken()) - before, maxMemory);
      assert.ok(peers.some(({ isOver }) => isOver) && peers.some(({ isOver }) => !isOver));
      for (const peer of peers) peer.socket.terminate();
    });
  }
}

for (const name of ['partial', 'answers', 'unsent']) {
  for (const mebibytes of SIZES) {
    test(`a hub over MQTT with ${mebibytes} MiB holds no more of: ${name}`, async () => {
      const maxMemory = mebibytes * MIB;
      const length = Math.min(maxMemory / 4, 4 * MIB);
      const names = Array.from({ length: often(maxMemory, length) }, (_, i) => `k${i}`);
      const broker = await startBroker({ base: 'b', accounts: new Map([['hub', 'secret']]), hub: 'hub' });
      const account = { url: broker.url, username: 'hub', password: 'secret' };
      let ends = 0;
      const hub = await serveHub({
        ...{ nodeId: 'hub-1', staticKey: randomBytes(32), maxMemory, broker: account, base: 'b' },
        clients: new Map(names.map((accessKey) => [accessKey, { psk: PSK }])),
        answer: () => new Promise<string>(() => {}),
        onEvent: ({ type }) => void (type === 'ended' && ends++),
      });
      const line = await mqtt.connectAsync(broker.url, account); // of all clients
      try {
        await line.subscribeAsync('b/+/out');
        const before = await taken();
        const sessions = new Map(names.map((accessKey) => [accessKey, sessionOf(accessKey)]));
        const say = (accessKey: string, messages: readonly (string | Uint8Array)[]): Promise<unknown> =>
          Promise.all(
            messages.map((data) =>
              line.publishAsync(`b/${accessKey}/in`, Buffer.from(data as string), { qos: 1 }),
            ),
          );
        line.on('message', (topic, data) => {
          const [, accessKey] = topic.split('/') as [string, string];
          const session = sessions.get(accessKey)!;
          for (const event of session
            .receive(data)
            .flatMap((event) => (event.type === 'psk-needed' ? session.providePsk(PSK) : [event])))
            if (event.type === 'transmit') void say(accessKey, [event.data]);
        });
        for (const [accessKey, session] of sessions)
          for (const event of session.start())
            if (event.type === 'transmit') void say(accessKey, [event.data]);
        await until(
          () => [...hub.connections].filter(({ state }) => state === 'ready').length === names.length,
        );
        if (name === 'unsent') {
          line.end(true);
          broker.isStalled = true;
          for (const connection of hub.connections) connection.send(bus(length));
        } else
          for (const [accessKey, session] of sessions) {
            const messages = session.sendJson(bus(length));
            await say(accessKey, name === 'partial' ? messages.slice(0, -1) : messages);
          }
        for (let before = -1; ends === 0 || ends > before; ) {
          before = ends;
          await new Promise((resolve) => setTimeout(resolve, 300)); // the rest is on its way
        }
        assertHeld((await taken()) - before, maxMemory);
        assert.ok(name === 'unsent' || [...hub.connections].some(({ state }) => state === 'ready'));
      } finally {
        line.end(true);
        await hub.stop();
        await broker.stop();
      }
    });
  }
}

test.run();
