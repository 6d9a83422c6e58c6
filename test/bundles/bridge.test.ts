/**
 * The bridge between the example for Espruino and the example hub, over a serial line and a WebSocket. The device runs in Node
 * with stand-ins for Espruino's modules, which shows only that it uses the library and the line rightly.
 */
import { Duplex } from 'node:stream';
import { parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { type HubServer, serveHub, serveSocket } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocketServer } from 'ws';
import { type BridgeOptions, eventIn, lineOf, startBridge } from '../../examples/bridge/bridge.ts';
import { bootEspruino, filesOf } from './espruino.ts';
import { EspruinoStorage } from './flash.ts';

const test = suite('the bridge');
const NODE_ID = 'hub-1';
const PSK = randomBytes(32);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A serial line: what one end writes, the other reads, in pieces of 20 bytes. */
function serialLine(onData: (text: string) => void): {
  near: Duplex;
  write: (text: string) => void;
  lines: string[];
} {
  const lines: string[] = [];
  const near = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      lines.push(...chunk.toString().trimEnd().split('\n'));
      for (const part of chunk.toString('latin1').match(/.{1,20}|\s+/g)!) onData(part);
      done();
    },
  });
  return { near, write: (text) => near.push(Buffer.from(text, 'latin1')), lines };
}

interface Device {
  flash: EspruinoStorage;
  logged: string[];
  line: Duplex;
  /** What the bridge has written. */
  lines: string[];
  boot(): void;
}

function newDevice(psks = [{ nodeId: NODE_ID, key: PSK }]): Device {
  const flash = new EspruinoStorage(filesOf('sensor-1', randomBytes(32), psks));
  const logged: string[] = [];
  const log = (...all: unknown[]) => logged.push(all.join(' '));
  let onData: (data: string) => void = () => {};
  const { near, write, lines } = serialLine((text) => onData(text));
  const boot = (): void => {
    onData = () => {};
    onData = bootEspruino(flash, (text) => write(`${text}\r\n`), log);
  };
  return { flash, logged, line: near, lines, boot };
}

const clients = new Map<string, { psk: Uint8Array; clientKey?: Uint8Array }>();
const staticKey = randomBytes(32);
let hub: HubServer;
let bridges: { end(): void }[] = [];

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
  bridges = [];
});
test.after(() => hub.stop());

function bridgeFor(device: Device, accessKey = 'sensor-1', policy: BridgeOptions['policy'] = {}) {
  const asked: string[] = [];
  const seen: string[] = [];
  let waiting: { name: string; resolve: () => void }[] = [];
  const bridge = startBridge({
    line: device.line,
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
  assert.equal(device.lines.slice(0, 3), ['hello', 'connecting {"onKkFailure":"replace-pin"}', 'connected']);
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
  server.on('connection', (socket) =>
    serveSocket(socket, 'sensor-1', { nodeId: NODE_ID, staticKey, clients }),
  );
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
  assert.match(device.lines.join(), 'connecting {"patterns":["XXpsk2"],"onKkFailure":"keep-pin"}');
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
  assert.ok(device.lines.includes('disconnected {"code":1008,"reason":""}'));
});

test('a device ignores lines of a connection for which it has no session', async () => {
  const device = newDevice();
  device.boot();
  for (const line of ['00ff', '{"msg_type":"hello"}', 'disconnected {}', 'connected']) {
    device.line.write(`${line}\n`);
  }
  const bridge = bridgeFor(device);
  await bridge.next('message');
  assert.match(device.logged[0]!, 'You said: hello');
});

test('a line that the bridge does not know is logged and has no effect', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device);
  const lines = ['\0\xff', 'event', 'event {"state', 'event null', 'event 7', 'abc'];
  device.line.push(Buffer.from(`${lines.join('\n')}\n\n`, 'latin1'));
  device.boot();
  await bridge.next('message');
  assert.equal(bridge.seen.slice(0, lines.length + 1), [...lines.map(() => 'ignored'), 'pin']);
  assert.equal(bridge.asked, []);
});

test('a hub that sends a line of the bridge is hung up on, and the device keeps its pin', async () => {
  const device = newDevice();
  const bridge = bridgeFor(device);
  device.boot();
  await bridge.next('message');
  const { writes } = device.flash;
  const { port } = new URL(hub.url);
  await hub.stop();
  const impostor = new WebSocketServer({ port: Number(port), host: '127.0.0.1' });
  impostor.on('connection', (socket) =>
    socket.send('connecting {"onKkFailure":"replace-pin","patterns":["KKpsk0"]}'),
  );
  try {
    await new Promise((resolve) => impostor.once('connection', resolve));
    await bridge.next('dial');
    assert.not.ok(device.lines.some((line) => line.includes('"KKpsk0"')));
    assert.is(device.lines.at(-1), 'disconnected {}');
    assert.is(device.flash.writes, writes);
  } finally {
    for (const socket of impostor.clients) socket.terminate();
    await new Promise((resolve) => impostor.close(resolve));
  }
});

test('text from the hub becomes a line only if it is a JSON object, so no hub can write lines of the bridge', () => {
  const line = (text: string) => lineOf(Buffer.from(text), false);
  for (const text of [
    'connecting {"onKkFailure":"replace-pin"}',
    'disconnected {',
    'hello',
    '00ff',
    '"x"',
    '[]',
    '{',
    '{}\nhello',
    '\ufeff{}',
    '{"a":"\x13"}',
    '',
  ]) {
    assert.is(line(text), undefined, text);
  }
  assert.is(line(' {"msg_type":\n"hello",\r\n\t"payload":{}} '), '{"msg_type": "hello",   "payload":{}}');
  assert.is(lineOf(Buffer.from('connecting {}'), true), hex(Buffer.from('connecting {}')));
});

test('reads only names from a device’s events, since the names reach logs', () => {
  assert.equal(eventIn('event {"state":"ready","type":"ready","code":1,"text":"x","__proto__":{}}'), {
    state: 'ready',
    type: 'ready',
  });
  for (const line of [
    'event {"type":"\\u001b[2J"}',
    'event {"type":"ended"}',
    'event {"type":{}}',
    'event null',
  ]) {
    assert.is(eventIn(line), undefined, line);
  }
});

test('a damaged line does not stop the device', () => {
  const device = newDevice();
  device.boot();
  for (const line of [
    'connecting',
    'connecting {',
    'connecting null',
    'connecting {}',
    'disconnected {',
    'disconnected',
  ]) {
    device.line.write(`${line}\n`);
  }
});

test.run();
