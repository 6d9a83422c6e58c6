/** The client against HiveMind's hub over MQTT, with a broker in memory. */
import { join } from 'node:path';
import { parseIdentity } from 'hub-protocol';
import { type Client, connect } from 'hub-protocol-client/mqtt';
import mqtt, { type MqttClient } from 'mqtt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Broker, startBroker } from '../world/mqtt-broker.ts';
import { authority, certificate, certificateKey, files, folder } from './certificate.ts';
import { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { versionOf } from './python-peer.ts';

const NAME = 'kiosk-7';
const PASSWORD = 'correct horse battery staple';
const accounts = new Map([
  ['hub', 'password of the hub'],
  [NAME, 'password of the kiosk'],
  ['stranger', 'password of the stranger'],
]);

const test = suite('HiveMind’s hub over MQTT');
const clients: Client[] = [];
let broker: Broker;
let hub: HivemindHub;
let observer: MqttClient;

test.before(async () => {
  const tls = { key: certificateKey, cert: certificate };
  broker = await startBroker({ tls, base: 'hivemind', accounts, hub: 'hub' });
  const plugin = {
    broker_host: 'localhost',
    broker_port: Number(new URL(broker.url).port),
    broker_username: 'hub',
    broker_password: accounts.get('hub'),
    tls: true,
    tls_ca_certs: files.ca,
  };
  hub = await HivemindHub.create('"allowed_ciphers":[]', { others: { 'hivemind-mqtt-plugin': plugin } });
  const words = ['--access-key', NAME, '--password', PASSWORD, '--allow', 'recognizer_loop:utterance'];
  await hub.command('add-client', '--name', NAME, ...words);
  observer = await mqtt.connectAsync(broker.url, {
    ca: authority,
    username: 'hub',
    password: accounts.get('hub')!,
  });
  await observer.subscribeAsync('hivemind/+/status');
  await startHub();
});
test.after(async () => {
  for (const client of clients) client.end();
  await hub.stop();
  await observer.endAsync();
  await broker.stop();
});

/** What the clients and the hub say of themselves: a value for each message. */
function statusOf(name: string, value: string): Promise<void> {
  return new Promise((resolve) => {
    observer.on('message', function heard(topic, payload, { retain }) {
      if (retain || topic !== `hivemind/${name}/status` || String(payload) !== value) return;
      observer.off('message', heard);
      resolve();
    });
  });
}

/** Starts the hub, and waits until it has made its second subscription. It says `online` before it subscribes, and misses what comes between. */
async function startHub(): Promise<void> {
  const subscribed = broker.subscribed('hivemind/+/status');
  await hub.start();
  await subscribed;
}

/**
 * Ends a client, and waits until the hub has forgotten its session. The hub then says `offline` in the client's topic, where it also
 * hears it: a session that begins between the two would be forgotten too.
 */
async function end(client: Client): Promise<void> {
  const said = statusOf(NAME, 'offline');
  client.end();
  await said;
  await statusOf(NAME, 'offline');
}

/** A client with the keyring of earlier ones of its name. */
function start(name: string, timeout?: number): Client {
  const client = connect({
    identity: parseIdentity({
      access_key: name,
      password: PASSWORD,
      site_id: 'lobby',
      mqtt: {
        endpoint: broker.url,
        username: name,
        password: accounts.get(name)!,
        topic_prefix: `hivemind/${name}`,
      },
    }),
    keyring: join(folder, `${name}.keyring.json`),
    socket: { ca: authority },
    policy: timeout === undefined ? undefined : { deadlines: { 'awaiting-hello': timeout } },
  });
  clients.push(client);
  return client;
}

const patternOf = (client: Client): Promise<string> =>
  new Promise((resolve) => client.on('connect', ({ pattern }) => resolve(pattern)));

const row = {
  peer: 'hivemind-mqtt-protocol',
  version: versionOf('hivemind-mqtt-protocol'),
  role: 'hub' as const,
  suite: '25519_ChaChaPoly_SHA256',
};

for (const [pattern, what] of [
  ['XXpsk2', 'first contact over MQTT, a request and its reply'],
  ['KKpsk0', 'reconnect over MQTT; 100 kB of JSON each way'],
] as const) {
  compare(test, { ...row, pattern, what }, async () => {
    const client = start(NAME);
    const used = patternOf(client);
    const question = pattern === 'XXpsk2' ? 'what time is it?' : 'x'.repeat(100_000);
    const { ending, reply } = await client.ask(question);
    assert.equal([await used, ending, reply.text], [pattern, 'handled', `You said: ${question}`]);
    await end(client);
    return undefined;
  });
}

compare(
  test,
  { ...row, pattern: 'KKpsk0', what: 'the hub restarts during a session over MQTT' },
  async () => {
    const client = start(NAME);
    await client.ask('one');
    await hub.stop();
    await startHub();
    // It has lost the session, and notices with the first message. That question is lost: nobody repeats it.
    const { code } = await client.ask('two').catch((error) => error);
    assert.is(code, 'text-after-ready');
    const { reply } = await client.ask('three');
    assert.is(reply.text, 'You said: three');
    await end(client);
    return undefined;
  },
);

compare(test, { ...row, pattern: 'none', what: 'unknown access key over MQTT' }, async () => {
  const client = start('stranger', 3000);
  const error = await new Promise<{ code: string }>((resolve) =>
    client.on('close', (event) => resolve(event.error)),
  );
  assert.is(error.code, 'timeout');
  client.end();
  return 'keeps silent: the client gives up at its deadline';
});

test.run();
