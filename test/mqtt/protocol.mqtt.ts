/** Protocol 3 between the example client and the example hub, over a broker with TLS, accounts and an ACL. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseIdentity } from 'hub-protocol';
import { nodeCrypto } from 'hub-protocol/node';
import { connect as connectOverWebSocket } from 'hub-protocol-client';
import { serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closeAll, closeLater, connectTo, NODE_ID, PORT, startHub, TLS } from './broker.ts';
import { ask, Kiosk } from './kiosk.ts';
import { Line, waitFor } from './line.ts';

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
    assert.equal(kiosks[i]!.keyring.pins, [{ nodeId: NODE_ID, key: ready!.hubKey, isSuspect: false }]);
    const long = 'x'.repeat(MEBIBYTE);
    const replies = await Promise.all([ask(client, `I am ${i}`), ask(client, long)]);
    assert.equal(replies, [`You said: I am ${i}`, `You said: ${long}`]);
  }
  for (const client of clients) assert.is((await client.close()).reason, 'dropped');
});

test('carries a message of 32 MiB, in 517 publications, in both directions', async () => {
  const kiosk = new Kiosk();
  await startHub([kiosk.name]);
  const line = await Line.open(kiosk, { clientId: 'large' });
  line.hello();
  assert.ok(await line.reaches('awaiting-psk'));
  line.providePsk();
  assert.ok(await line.reaches('ready'));
  const bytes = new Uint8Array(32 * MEBIBYTE).fill(7);
  line.sendBinary(bytes);
  const isReturned = () => line.events.some(({ type }) => type === 'message');
  assert.ok(await waitFor(isReturned, 60_000));
  const returned = line.events.find(({ type }) => type === 'message') as { bytes: Uint8Array };
  assert.ok(Buffer.compare(returned.bytes, bytes) === 0);
});

for (const qos of [0, 2]) {
  test(`works at QoS ${qos}`, async () => {
    const kiosk = new Kiosk();
    await startHub([kiosk.name]);
    const client = await kiosk.connect({ identity: kiosk.identity({ qos }) });
    const long = 'x'.repeat(MEBIBYTE);
    assert.is(await ask(client, long), `You said: ${long}`);
  });
}

test('a hub hears from a broker of MQTT 5 why it is not admitted', async () => {
  const broker = { url: `mqtts://localhost:${PORT}`, ca: TLS.ca, username: 'hub', password: 'wrong' };
  const error = await startHub([], { broker }).catch((reason) => reason);
  assert.is(error.code, 135); // 3.1.1 has 5 for it
});

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
  assert.is(await ask(client, 'still here'), 'You said: still here');
  assert.equal(heard, []);

  // The same actions have an effect if the account is permitted to take them.
  await intruder.publishAsync(`${other.topics}/in`, '{"msg_type":"hello","payload":{}}', { qos: 1 });
  for (let i = 0; i < 50 && heard.length < 2; i++) await sleep(10);
  assert.equal([...new Set(heard)], [`${other.topics}/out`]);
  const rightful = await connectTo(PORT);
  await rightful.publishAsync(`${kiosk.topics}/status`, 'offline', { qos: 1 });
  assert.is.not(await ask(client, 'gone'), 'You said: gone');
});

test('one keyring serves WebSocket and MQTT across restarts of both sides, with a single derivation', async () => {
  const kiosk = new Kiosk();
  let hub = await startHub([kiosk.name]);
  const talk = async (): Promise<string> => {
    const client = await kiosk.connect();
    await ask(client, 'hello');
    await client.close();
    return kiosk.events('ready')[0]!.pattern;
  };
  const talkOverWebSocket = async (): Promise<string> => {
    const { nodeId, staticKey, clients, answer, onEvent } = hub;
    const server = await serveHub({
      nodeId,
      staticKey,
      clients,
      answer,
      onEvent,
      tls: { key: TLS.key, cert: TLS.cert },
      port: 0,
    });
    closeLater(server.stop);
    const identity = parseIdentity({
      access_key: kiosk.name,
      password: kiosk.password,
      site_id: 'lobby',
      data_plane_endpoints: { wss: server.url },
    });
    const pattern = await new Promise<string>((resolve) => {
      const client = connectOverWebSocket(kiosk.options({ identity }));
      client.on('trace', async ({ what }) => {
        if (!('type' in what) || what.type !== 'ready') return;
        await ask(client, 'hello');
        client.end();
        resolve(what.pattern);
      });
    });
    await server.stop();
    return pattern;
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
