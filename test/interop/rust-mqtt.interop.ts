/** The Rust client from crates.io against the example hub over MQTT, with a broker in memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { HubClient } from 'hub-protocol-client/hub';
import { type MqttHub, serveHub } from 'hub-protocol-client/hub/mqtt';
import mqtt, { type MqttClient } from 'mqtt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomBytes } from '../../src/crypto/node.ts';
import { type Broker, startBroker } from '../world/mqtt-broker.ts';
import { authority, certificate, certificateKey } from './certificate.ts';
import { compare } from './matrix.ts';
import { buildRust } from './rust.ts';
import { LONG, NODE_ID, PASSWORD, PSK, ROW, RustClient, SHORT } from './rust-client.ts';

const BASE = 'hivemind/hub-1';
const KIOSK = { username: 'kiosk', password: 'password of the kiosk' };
const HUB = { username: 'hub', password: 'password of the hub' };

const test = suite('the Rust client over MQTT');
const clients = new Map<string, HubClient>([[KIOSK.username, { psk: PSK }]]);
const staticKey = randomBytes(32);
let broker: Broker;
let hub: MqttHub;
let observer: MqttClient;
/** What the client published in the clear: its presence, its HELLO, and the patterns of its messages 1. */
const published: string[] = [];

const startOurHub = (): Promise<MqttHub> =>
  serveHub({
    broker: { url: broker.url, ca: authority, ...HUB },
    base: BASE,
    nodeId: NODE_ID,
    staticKey,
    clients,
  });

test.before(async () => {
  buildRust();
  broker = await startBroker({
    tls: { key: certificateKey, cert: certificate },
    base: BASE,
    accounts: new Map([KIOSK, HUB].map(({ username, password }) => [username, password])),
    hub: HUB.username,
  });
  observer = await mqtt.connectAsync(broker.url, { ca: authority, ...HUB });
  observer.on('message', (topic, payload) => {
    const text = payload.toString();
    const [, told] = /"(?:msg_type|pattern)":"(hello|XXpsk2|KKpsk0)"/.exec(text) ?? [];
    if (topic.endsWith('/status')) published.push(text);
    else if (told !== undefined) published.push(told);
  });
  await observer.subscribeAsync([`${BASE}/+/in`, `${BASE}/+/status`]);
  hub = await startOurHub();
});
test.before.each(() => {
  published.length = 0;
});
test.after(async () => {
  await observer.endAsync();
  await hub.stop();
  await broker.stop();
});

const check = (pattern: string, what: string, body: () => Promise<string | undefined>) =>
  compare(test, { ...ROW, suite: '25519_ChaChaPoly_SHA256', pattern, what: `MQTT: ${what}` }, body);
const dial = (store: string, password = PASSWORD, endpoint = broker.url): RustClient =>
  new RustClient('mqtt', store, {
    access_key: KIOSK.username,
    password,
    default_master: 'https://localhost',
    mqtt: { endpoint, ...KIOSK, topic_prefix: `${BASE}/${KIOSK.username}` },
  });
/** Waits until so much has been published, which may arrive after the client has exited. */
async function expectPublished(...expected: string[]): Promise<void> {
  for (let i = 0; i < 500 && published.length < expected.length; i++) await sleep(10);
  assert.equal(published, expected);
}

const reply = (text: string) => `You said: ${text}`;

check('XXpsk2', 'first contact; 200 kB of JSON each way', async () => {
  const client = dial('rust-mqtt');
  await client.expectReady();
  await client.ask(SHORT, reply(SHORT));
  await client.ask(LONG, reply(LONG));
  await client.end();
  await expectPublished('online', 'hello', 'XXpsk2', 'offline');
  assert.ok(clients.get(KIOSK.username)!.clientKey);
  return 'publishes `online` before HELLO, and no `offline` first';
});

check('KKpsk0', 'reconnect after the client restarts, and after the hub restarts', async () => {
  const client = dial('rust-mqtt');
  await client.expectReady();
  await client.ask(SHORT, reply(SHORT));
  await hub.stop();
  hub = await startOurHub();
  await client.say(SHORT); // the new hub does not know the session, and greets the client
  await client.expectLoss();
  await client.ask(LONG, reply(LONG));
  await client.end();
  const connection = ['online', 'hello', 'KKpsk0', 'offline'];
  await expectPublished(...connection, ...connection);
  return undefined;
});

check('XXpsk2', 'wrong password', async () => {
  assert.is((await dial('rust-mqtt-wrong', 'wrong').outcome()).outcome, 'refused');
  await expectPublished('online', 'hello', 'XXpsk2', 'offline');
  return undefined;
});

check('XXpsk2', 'lost static key: our hub ends the session after message 3', async () => {
  const { outcome, message } = await dial('rust-mqtt-lost').outcome();
  assert.is(outcome, 'failed');
  assert.match(message!, 'closed the link right after the handshake');
  await expectPublished('online', 'hello', 'XXpsk2', 'offline');
  return undefined;
});

check('none', 'a broker without TLS: refused', async () => {
  const { outcome, message } = await dial('rust-mqtt-plain', PASSWORD, 'mqtt://localhost').outcome();
  assert.is(outcome, 'failed');
  assert.match(message!, 'without TLS');
  return undefined;
});

test.run();
