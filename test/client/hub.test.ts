/** What strangers and single clients can send to a hub without ending it for everybody. */

import { type HubServer, serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket from 'ws';
import { nodeCrypto as crypto, randomBytes } from '../../src/crypto/node.ts';
import { ConnectionPolicy, createKeyring, type JsonObject, parseJson } from '../../src/index.ts';
import { Device } from '../world/device.ts';
import { ODD_TARGETS, requested } from '../world/hostile.ts';

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
  hub = await serveHub({
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients,
    onFault: (error) => faults.push(error),
    answer(utterance) {
      heard.push(utterance);
      if (utterance === 'fail') throw new Error('the application failed');
      return `You said: ${utterance}`;
    },
  });
});
test.after.each(async () => {
  for (const socket of sockets) socket.terminate();
  sockets = [];
  await hub.stop();
});

/** A client that provides its PSK when `gate` resolves, and notes what it gets. */
function dial(accessKey: string, gate: Promise<void> = Promise.resolve()) {
  const staticKey = randomBytes(32);
  const url = `${hub.url}/?authorization=${encodeURIComponent(btoa(`test:${accessKey}`))}`;
  const socket = new WebSocket(url);
  sockets.push(socket);
  const seen: string[] = [];
  const replies: JsonObject[] = [];
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
    },
    decided() {},
    settled: () => look(),
  })!;
  socket.on('message', (data, isBinary) => line.receive(isBinary ? (data as Buffer) : String(data)));
  socket.on('close', (code) => line.closed(code));
  const reaches = (...types: string[]): Promise<void> =>
    new Promise((resolve) => {
      look = () => types.some((type) => seen.includes(type)) && resolve();
      look();
    });
  return {
    publicKey: crypto.x25519.publicKey(staticKey),
    seen,
    replies,
    reaches,
    say: (text: string) => line.say(text),
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
  '[]',
  'null',
];

test('no JSON from a client ends its connection or the hub', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  for (const text of HOSTILE) client.say(text);
  client.say(utter('{"utterances":["and now?"]}'));
  while (!client.replies.some(({ payload }) => JSON.stringify(payload).includes('You said: and now?'))) {
    assert.not.ok(client.seen.includes('ended'));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

test('an object as the session id of a HELLO does no harm', async () => {
  const client = dial('kiosk-7');
  await client.reaches('ready');
  client.say(`{"msg_type":"hello","payload":{"session":{"session_id":${NO_TEXT}}}}`);
  client.say(utter('{"utterances":["a"]}'));
  await client.reaches('message');
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

test('a client’s first pinned key stays, and a slower connection with another key is refused', async () => {
  let open = (): void => {};
  const slow = dial('kiosk-7', new Promise((resolve) => (open = resolve)));
  await slow.reaches('psk-needed');
  const fast = dial('kiosk-7');
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
  assert.equal(clients.get('kiosk-7')!.clientKey, pinned);
  assert.equal(heard, ['hello']);
});

test.run();
