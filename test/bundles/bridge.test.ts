/**
 * The bridge between the example for Espruino and the example hub, over a serial line and a WebSocket. The device runs in Node
 * with stand-ins for Espruino's modules, which shows only that it uses the library and the line rightly.
 */
import { createRequire } from 'node:module';
import { Duplex } from 'node:stream';
import { parseIdentity } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { type HubServer, serveHub, serveSocket } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocketServer } from 'ws';
import { type BridgeOptions, eventIn, startBridge } from '../../examples/bridge/bridge.ts';
import { SerialLine } from '../../examples/bridge/serial-line.ts';
import { bootEspruino, filesOf } from './espruino.ts';
import { EspruinoStorage } from './flash.ts';

const test = suite('the bridge');
const NODE_ID = 'hub-1';
const PSK = randomBytes(32);
const { decode, openLine } = createRequire(import.meta.url)('../../examples/bridge/line.cjs');

interface Station {
  flash: EspruinoStorage;
  logged: string[];
  stream: Duplex;
  line: SerialLine;
  /** The messages of the bridge. */
  told: string[];
  onData: (bytes: string) => void;
  boot(): void;
}

/** A device at a serial line, which it reads in pieces of 20 bytes. */
function newDevice(psks = [{ nodeId: NODE_ID, key: PSK }]): Station {
  const flash = new EspruinoStorage(filesOf('sensor-1', randomBytes(32), psks));
  const logged: string[] = [];
  const told: string[] = [];
  const log = (...all: unknown[]) => logged.push(all.join(' '));
  let message = '';
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      const bytes = chunk.toString('latin1');
      const question: string = decode(bytes.slice(0, -1));
      if ('me'.includes(question[1]!)) message += question.slice(4);
      if (question[1] === 'e' && message !== '') told.push(message);
      if (question[1] !== 'm') message = '';
      for (const part of bytes.match(/.{1,20}/gs)!) device.onData(part);
      done();
    },
  });
  const line = new SerialLine(stream, { baud: 115_200 });
  const device: Station = {
    ...{ flash, logged, stream, line, told },
    onData() {},
    boot() {
      device.onData = () => {};
      device.onData = bootEspruino(flash, (bytes) => stream.push(Buffer.from(bytes, 'latin1')), log);
    },
  };
  return device;
}

const clients = new Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>();
const staticKey = randomBytes(32);
let hub: HubServer;
let bridges: { end(): void }[] = [];
let streams: Duplex[] = [];

async function restart(key: Uint8Array = staticKey): Promise<void> {
  const port = hub === undefined ? 0 : Number(new URL(hub.url).port);
  await hub?.stop();
  hub = await serveHub({ nodeId: NODE_ID, staticKey: key, clients, port });
}

test.before.each(async () => {
  clients.clear();
  clients.set('sensor-1', { psk: PSK });
  await restart();
});
test.after.each(() => {
  for (const bridge of bridges) bridge.end();
  for (const stream of streams) stream.destroy();
  bridges = [];
  streams = [];
});
test.after(() => hub.stop());

function bridgeFor(
  device: Station,
  accessKey = 'sensor-1',
  policy: BridgeOptions['policy'] = {},
  address = 1,
) {
  const asked: string[] = [];
  const seen: string[] = [];
  let waiting: { name: string; resolve: () => void }[] = [];
  const bridge = startBridge({
    line: device.line,
    address,
    identity: parseIdentity({
      access_key: accessKey,
      password: 'unused',
      site_id: 'lobby',
      data_plane_endpoints: { wss: hub.url },
    }),
    allowPlaintext: true,
    policy: { basePause: 20, maxPause: 100, ...policy },
    ask: (code) => asked.push(code),
    observe(what: Parameters<NonNullable<BridgeOptions['observe']>>[0]) {
      const name = 'do' in what ? what.do : what.type;
      seen.push('error' in what && what.error !== undefined ? `${name} ${what.error.code}` : name);
      for (const one of waiting) if (one.name === name) one.resolve();
      waiting = waiting.filter((one) => one.name !== name);
    },
  });
  bridges.push(bridge);
  streams.push(device.stream);
  const next = (name: string): Promise<void> => new Promise((resolve) => waiting.push({ name, resolve }));
  return { ...bridge, asked, seen, next };
}

test('a device makes first contact, gets its answer, and stores the pin', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device);
  device.boot();
  await bridge.next('message');
  assert.equal(bridge.seen.slice(0, 3), ['pin', 'ready', 'message']);
  assert.match(device.logged[0]!, 'You said: hello');
  for (const slot of ['hub.slot0', 'hub.slot1']) {
    assert.match(device.flash.get(slot)!, '"pins":[{"node_id":"hub-1"');
  }
  assert.is(device.told[0], 'n{"onKkFailure":"replace-pin"}');
});

test('two devices on one line each make first contact, and get their own answers', async () => {
  const staticKeys = [randomBytes(32), randomBytes(32)];
  const device = newDevice();
  const logged: string[] = [];
  const stations = staticKeys.map((key, i) => {
    clients.set(`sensor-${i + 1}`, { psk: PSK });
    return bootEspruino(
      new EspruinoStorage(filesOf(`sensor-${i + 1}`, key, [{ nodeId: NODE_ID, key: PSK }])),
      (bytes) => device.stream.push(Buffer.from(bytes, 'latin1')),
      (_kind, text) => logged.push(`${i} ${text}`),
      (source) => source.replace('ADDRESS = 1', `ADDRESS = ${i + 1}`).replace('hello', `hello ${i + 1}`),
    );
  });
  device.onData = (bytes) => {
    for (const receive of stations) receive(bytes);
  };
  const both = [1, 2].map((address) => bridgeFor(device, `sensor-${address}`, {}, address));
  await Promise.all(both.map((bridge) => bridge.next('message')));
  staticKeys.forEach((key, i) => {
    assert.equal(clients.get(`sensor-${i + 1}`)?.clientKey, nodeCrypto.x25519.publicKey(key));
    const own = logged.filter((line) => line.startsWith(`${i} `)).join();
    assert.match(own, `hello ${i + 1}`);
    assert.not.match(own, `hello ${2 - i}`);
  });
});

test('after a loss it connects again with the stored pin, and so does a device that restarted', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device);
  device.boot();
  await bridge.next('message');
  const ready = bridge.next('ready');
  await restart();
  await ready;
  assert.ok(bridge.seen.includes('ended dropped'));
  assert.not.ok(bridge.seen.slice(1).includes('pin'));
  const again = bridge.next('ready');
  device.boot();
  await again;
  assert.equal(bridge.asked, []);
});

test('if a device cannot store the pin, the bridge hangs up and connects after a pause', async () => {
  const device = newDevice();
  device.flash.fault = { at: 1, how: 'full: throws when it is erased', times: 1 };
  const { port } = new URL(hub.url);
  await hub.stop();
  const server = new WebSocketServer({ port: Number(port), host: '127.0.0.1' });
  server.on('connection', (socket) => {
    serveSocket(socket, 'sensor-1', { nodeId: NODE_ID, staticKey, clients });
  });
  try {
    const bridge = bridgeFor(device);
    device.boot();
    await bridge.next('ended');
    assert.match(device.logged[0]!, 'the pins were not stored');
    await bridge.next('message');
    assert.equal(bridge.seen.slice(0, 5), ['ended dropped', 'dial', 'pin', 'ready', 'message']);
    assert.is(server.clients.size, 1);
  } finally {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  }
});

test('a hub with another key: KKpsk0, then XXpsk2 alone, and a person is asked if the pin is kept', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device, 'sensor-1', { onKkFailure: 'keep-pin' });
  device.boot();
  await bridge.next('message');
  const asking = bridge.next('ask');
  await restart(randomBytes(32));
  await asking;
  assert.is(bridge.asked.length, 1);
  assert.match(device.told.join(), 'n{"patterns":["XXpsk2"],"onKkFailure":"keep-pin"}');
  for (const slot of ['hub.slot0', 'hub.slot1']) assert.match(device.flash.get(slot)!, '"is_suspect":true');
});

test('a device without a PSK asks a person', async () => {
  const device = newDevice([]);
  const bridge = bridgeFor(device);
  device.boot();
  await bridge.next('rest');
  assert.equal(bridge.asked, ['psk-needed']);
});

test('reports to the device why a connection was refused, and dials after a pause', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device, 'unknown');
  device.boot();
  await bridge.next('dial');
  assert.equal(bridge.seen, ['ended access-refused', 'dial']);
  assert.ok(device.told.includes('d{"code":1008,"reason":""}'));
});

test('a device that gets the first question again while it starts, has started once', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device);
  await new Promise((resolve) => setTimeout(resolve, 400)); // it does not answer
  device.boot();
  await bridge.next('message');
  assert.equal(bridge.seen.slice(0, 3), ['pin', 'ready', 'message']);
});

test('a device ignores messages of a connection for which it has no session', async () => {
  const device = newDevice();
  device.boot();
  const end = device.line.add(1, { begun() {}, received() {}, drained() {} });
  for (const message of ['b\0\xff', 't{"msg_type":"hello"}', 'd{}', 'x']) end.send(message);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(device.logged, []);
  device.stream.destroy();
});

test('a message that the bridge does not know is logged and has no effect', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device);
  const write = (bytes: string) => device.stream.push(Buffer.from(bytes, 'latin1'));
  const unknown = ['x', 'e', 'e{"state', 'enull', 'e7', 'abc'];
  const messages = [...unknown, 'e{"state":"ready","type":"dropped"}'];
  const begin = () => messages.forEach(other.send);
  const other = openLine({ address: 1, longest: 100, write, begin, receive() {} });
  device.onData = other.received;
  await bridge.next('dropped');
  assert.equal(
    bridge.seen.slice(0, -1),
    unknown.map(() => 'ignored'),
  );
  assert.equal(bridge.asked, []);
});

test('reads only names from a device’s events, since the names reach logs', () => {
  assert.equal(eventIn('{"state":"ready","type":"ready","code":1,"text":"x","__proto__":{}}'), {
    state: 'ready',
    type: 'ready',
  });
  for (const text of ['{"type":"\\u001b[2J"}', '{"type":"ended"}', '{"type":{}}', 'null', '{"state', '']) {
    assert.is(eventIn(text), undefined, text);
  }
});

test.run();
