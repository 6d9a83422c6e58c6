/** Protocol 3 between the example client and the example hub, over a broker with TLS, accounts and an ACL. */
import { setTimeout as sleep } from 'node:timers/promises';
import { deriveTopics, type LocalError } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client as WebSocketClient } from '../../examples/client.ts';
import { startHub as startWebSocketHub } from '../../examples/hub.ts';
import { CA, closeAll, closeLater, connectTo, NODE_ID, PORT, startHub, TLS } from './broker.ts';
import { Kiosk, textOf } from './kiosk.ts';
import { Wire } from './wire.ts';

const test = suite('protocol 3 over MQTT');
test.after.each(closeAll);
const MEBIBYTE = 1024 * 1024;

test('two clients and a hub exchange small and large messages', async () => {
  const kiosks = [new Kiosk(), new Kiosk()];
  const hub = await startHub(kiosks.map(({ name }) => name));
  const clients = await Promise.all(kiosks.map((kiosk) => kiosk.connect()));
  for (const [i, client] of clients.entries()) {
    const [ready] = kiosks[i]!.events('ready');
    assert.is(ready!.pattern, 'XXpsk2');
    assert.equal(ready!.hubKey, nodeCrypto.x25519.publicKey(hub.staticKey));
    assert.equal(kiosks[i]!.keyring.pins, [{ nodeId: NODE_ID, key: ready!.hubKey }]);
    const bytes = randomBytes(MEBIBYTE);
    const [spoken, returned] = await Promise.all([
      client.request({ utterance: `I am ${i}` }),
      client.request(bytes),
    ]);
    assert.is(textOf(spoken), `{"speech":"You said: I am ${i}"}`);
    assert.ok(returned.kind === 'binary' && Buffer.compare(returned.bytes, bytes) === 0);
  }
  for (const client of clients) assert.is((await client.close()).reason, 'dropped');
});

test('carries a message of 32 MiB, in 517 publications, in both directions', async () => {
  const kiosk = new Kiosk();
  await startHub([kiosk.name]);
  const client = await kiosk.connect();
  const bytes = new Uint8Array(32 * MEBIBYTE).fill(7);
  const returned = await client.request(bytes);
  assert.ok(returned.kind === 'binary' && Buffer.compare(returned.bytes, bytes) === 0);
});

for (const qos of [0, 2]) {
  test(`works at QoS ${qos}`, async () => {
    const kiosk = new Kiosk();
    await startHub([kiosk.name]);
    const client = await kiosk.connect({ identity: kiosk.identity({ qos }) });
    const bytes = randomBytes(MEBIBYTE);
    const returned = await client.request(bytes);
    assert.ok(returned.kind === 'binary' && Buffer.compare(returned.bytes, bytes) === 0);
  });
}

test('the broker keeps a client from the topics of another', async () => {
  const [kiosk, other] = [new Kiosk(), new Kiosk()];
  await startHub([kiosk.name, other.name]);
  const client = await kiosk.connect();
  const intruder = await connectTo(PORT, other.account);
  const heard: string[] = [];
  intruder.on('message', (topic) => heard.push(topic));
  for (const topic of [`${kiosk.topics}/+`, `${kiosk.topics}/out`, 'hivemind/#', `${other.topics}/out`]) {
    await intruder.subscribeAsync(topic, { qos: 1 }).catch(() => {}); // whether it is refused or not
  }
  await intruder.publishAsync(`${kiosk.topics}/in`, '{"msg_type":"hello","payload":{}}', { qos: 1 });
  await intruder.publishAsync(`${kiosk.topics}/status`, 'offline', { qos: 1, retain: true });
  assert.is(textOf(await client.request({ utterance: 'still here' })), '{"speech":"You said: still here"}');
  assert.equal(heard, []);

  // The same actions have an effect if the account is permitted to take them.
  await intruder.publishAsync(`${other.topics}/in`, '{"msg_type":"hello","payload":{}}', { qos: 1 });
  for (let i = 0; i < 50 && heard.length < 2; i++) await sleep(10);
  assert.equal([...new Set(heard)], [`${other.topics}/out`]);
  const rightful = await connectTo(PORT);
  await rightful.publishAsync(`${kiosk.topics}/status`, 'offline', { qos: 1 });
  const ended = await client.request({ utterance: 'gone' }).catch((event) => event);
  assert.is(ended.error.code, 'text-after-ready');
});

test('refuses a topic outside of the client’s scope before it connects', async () => {
  const wire = await Wire.open();
  const kiosk = new Kiosk();
  const identity = kiosk.identity({
    endpoint: `mqtts://localhost:${wire.port}`,
    c2s_topic: `${new Kiosk().topics}/in`,
  });
  const isOutOfScope = ({ code }: LocalError) => code === 'topic-out-of-scope';
  assert.throws(() => deriveTopics(identity.mqtt!), isOutOfScope as never);
  assert.throws(() => kiosk.dial({ identity }), isOutOfScope as never);
  await sleep(50);
  assert.equal(wire.began, []);
});

test('one keyring serves WebSocket and MQTT across restarts of both sides, with a single derivation', async () => {
  const kiosk = new Kiosk();
  let hub = await startHub([kiosk.name]);
  const talk = async (): Promise<string> => {
    const client = await kiosk.connect();
    await client.request({ utterance: 'hello' });
    await client.close();
    return kiosk.events('ready')[0]!.pattern;
  };
  const talkOverWebSocket = async (): Promise<string> => {
    const server = await startWebSocketHub({ ...hub, tls: TLS, port: 0 });
    const client = new WebSocketClient({ ...kiosk.options(), url: server.url, ca: CA });
    closeLater(server.stop);
    await client.ready;
    await client.request({ utterance: 'hello' });
    await client.close();
    await server.stop();
    return kiosk.events('ready')[0]!.pattern;
  };
  assert.is(await talk(), 'XXpsk2');
  assert.is(await talk(), 'KKpsk0');
  assert.is(await talkOverWebSocket(), 'KKpsk0');
  await hub.stop();
  hub = await startHub([], { staticKey: hub.staticKey, clients: hub.clients });
  assert.is(await talk(), 'KKpsk0');
  assert.is(await talkOverWebSocket(), 'KKpsk0');
  assert.is(await talk(), 'KKpsk0');
  assert.is(kiosk.derivations, 1);
});

test.run();
