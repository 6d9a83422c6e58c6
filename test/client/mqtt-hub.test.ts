/** hub-protocol-client/hub/mqtt, with a broker in this process. test/mqtt has more, with mosquitto. */
import { createKeyring, parseIdentity, storePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import type { HubClient } from 'hub-protocol-client/hub';
import { type MqttHub, type MqttHubOptions, serveHub } from 'hub-protocol-client/hub/mqtt';
import { type Client, type ConnectOptions, connect } from 'hub-protocol-client/mqtt';
import mqtt, { ErrorWithSubackPacket } from 'mqtt';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inMemory } from '../world/hub.ts';
import { type Broker, startBroker } from '../world/mqtt-broker.ts';
import {
  impatient,
  onRefresh,
  soon,
  type TimerSetter,
  Timers,
  until,
  watchingTimers,
  withTimers,
} from './world.ts';

const test = suite('hub-protocol-client/hub/mqtt');
const BASE = 'hivemind/hub-1';
const PSK = randomBytes(32);
const keys = new Map(['kiosk-7', 'kiosk-8'].map((accessKey) => [accessKey, randomBytes(32)]));
const clients = new Map<string, HubClient>();
const faults: unknown[] = [];
const refused: string[] = [];
let lost = 0;
let lostFor: unknown[] = [];
let broker: Broker;
let hub: MqttHub;
let opened: Client[] = [];

test.before.each(async () => {
  for (const accessKey of keys.keys()) clients.set(accessKey, { psk: PSK });
  faults.length = 0;
  refused.length = 0;
  lost = 0;
  lostFor = [];
  broker = await startBroker({ base: BASE, accounts, hub: 'hub' });
  hub = await start();
});

const accounts = new Map(['hub', 'kiosk-9', ...keys.keys()].map((name) => [name, 'secret']));

function start(options: Partial<MqttHubOptions> = {}): Promise<MqttHub> {
  return serveHub({
    broker: { url: broker.url, username: 'hub', password: 'secret' },
    base: BASE,
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients,
    answer(utterance) {
      if (utterance === 'fail') throw new Error('the application failed');
      return `heard ${utterance}`;
    },
    onFault: (error) => faults.push(error),
    onRefused: ({ code }) => refused.push(code),
    onLost(error) {
      lost++;
      lostFor.push(error);
    },
    reconnectAfter: 20,
    ...options,
  });
}
test.after.each(async () => {
  for (const client of opened) client.end();
  opened = [];
  await soon(hub.stop());
  await broker.stop();
});

function connectAs(accessKey: string, policy: ConnectOptions['policy'] = {}): Client {
  const fresh = createKeyring({ accessKey, staticKey: keys.get(accessKey) ?? randomBytes(32), crypto });
  const client = connect({
    identity: parseIdentity({
      access_key: accessKey,
      password: 'secret',
      site_id: 'lobby',
      mqtt: {
        endpoint: broker.url,
        username: accessKey,
        password: 'secret',
        topic_prefix: `${BASE}/${accessKey}`,
      },
    }),
    keyring: inMemory(storePsk(fresh, 'hub-1', PSK, { isProvisioned: true })),
    allowPlaintext: true,
    plays: true, // it sends nothing by itself
    policy,
  });
  opened.push(client);
  return impatient(client);
}

test('answers, and pins the key', async () => {
  const first = connectAs('kiosk-7');
  assert.is((await first.ask('hello')).reply.text, 'heard hello');
  first.end();
  assert.is((await connectAs('kiosk-7').ask('again')).reply.text, 'heard again');
  assert.equal(clients.get('kiosk-7')!.clientKey, crypto.x25519.publicKey(keys.get('kiosk-7')!));
});

test('subscribes to what its clients send and to their status, and publishes for each, with QoS 1, and nothing is retained', async () => {
  await connectAs('kiosk-7').ask('hello');
  assert.equal(Object.fromEntries(broker.subscriptions), { [`${BASE}/+/in`]: 1, [`${BASE}/+/status`]: 1 });
  assert.equal([...new Set(broker.published.map(String))], ['1,false']);
});

test('an exception while it handles one client ends the session of that client alone', async () => {
  const [failing, other] = [connectAs('kiosk-7'), connectAs('kiosk-8')];
  assert.is((await failing.ask('hello')).reply.text, 'heard hello');
  failing.ask('fail').catch(() => {}); // is not answered
  await until(() => faults.length > 0);
  assert.equal(faults.map(String), ['Error: the application failed']);
  assert.is((await other.ask('hello')).reply.text, 'heard hello');
});

test('an answer that fails after its client has gone is reported, and ends no later connection of that client', async () => {
  await soon(hub.stop());
  let fail!: () => void;
  hub = await start({
    answer: (utterance) =>
      utterance === 'hello'
        ? 'heard hello'
        : new Promise((_, reject) => {
            fail = () => reject(new Error('too late'));
          }),
  });
  const gone = connectAs('kiosk-7');
  gone.ask('what takes long').catch(() => {}); // is not answered
  await until(() => fail !== undefined);
  gone.end();
  await until(() => hub.connections.size === 0);
  await connectAs('kiosk-7').ask('hello');
  fail();
  await until(() => faults.length > 0);
  assert.equal([faults.map(String), hub.connections.size], [['Error: too late'], 1]);
});

test('lets the event loop run between two messages that arrive together', async () => {
  const turns: string[] = [];
  const other = await serveHub({
    broker: { url: broker.url, username: 'hub', password: 'secret' },
    base: BASE,
    nodeId: 'hub-2',
    staticKey: randomBytes(32),
    clients: {
      get() {
        turns.push('message');
        setImmediate(() => turns.push('other work'));
        return undefined;
      },
    },
  });
  const client = await mqtt.connectAsync(broker.url, { username: 'kiosk-9', password: 'secret' });
  client.stream.cork();
  for (const message of ['first', 'second']) client.publish(`${BASE}/kiosk-9/in`, message);
  client.stream.uncork();
  await until(() => turns.length >= 3);
  assert.equal(turns.slice(0, 3), ['message', 'other work', 'message']);
  await client.endAsync();
  await other.stop();
});

test('a hub whose account may not read the topics of its clients does not start, and leaves the broker', async () => {
  const disconnected: string[] = [];
  broker.left((id) => disconnected.push(id));
  const started = serveHub({
    broker: { url: broker.url, username: 'kiosk-9', password: 'secret' },
    base: BASE,
    nodeId: 'hub-2',
    staticKey: randomBytes(32),
    clients,
    onLost: () => lost++,
    reconnectAfter: 1,
  });
  assert.instance(await soon(started.catch((error) => error)), ErrorWithSubackPacket);
  await until(() => disconnected.length > 0);
  assert.equal([disconnected, lost], [['hub-hub-2'], 0]);
});

test('a hub gives up a broker that does not answer SUBSCRIBE after 30 seconds, and leaves it', async () => {
  const disconnected: string[] = [];
  broker.left((id) => disconnected.push(id));
  broker.isSilent = true;
  const base = `${BASE}/silent`;
  let late = (): void => {};
  const set: TimerSetter = (run, time, original) => {
    if (time === 30_000) late = run;
    return original(run, time);
  };
  const started = withTimers(set, async () => {
    const started = start({ base, nodeId: 'hub-2' }).catch((error) => error);
    await until(() => broker.subscriptions.has(`${base}/+/status`));
    late();
    return started;
  });
  assert.is((await soon(started)).message, 'suback timeout');
  await until(() => disconnected.length > 0);
  assert.equal([disconnected, lost], [['hub-hub-2'], 0]);
});

test('a hub that closes a connection forgets it at once and without a word, and greets its client again', async () => {
  await soon(hub.stop());
  const events: unknown[] = [];
  hub = await start({ onEvent: ({ type }) => events.push([type, hub.connections.size]) });
  const client = connectAs('kiosk-7');
  await client.ask('hello');
  const [served] = hub.connections;
  const { length } = broker.published;
  served!.close();
  assert.equal([hub.connections.size, served!.state, served!.send({})], [0, 'closed', false]);
  const first = [...['ready', 'hello', 'message'].map((type) => [type, 1]), ['ended', 0]];
  assert.equal(events.splice(0), first);
  await connectAs('kiosk-8').ask('hello'); // the broker has heard all from the hub before
  assert.is(new Set(broker.published.slice(length).map(String)).size, 1);
  assert.equal(events.splice(0), first.slice(0, 3));
  const closed = new Promise((resolve) => client.once('close', resolve));
  assert.ok(client.send({ msg_type: 'bus', payload: {} }));
  await soon(closed);
  await client.ask('again');
  events.length = 0;
  await soon(hub.stop());
  assert.equal(
    [hub.connections.size, events, lost],
    [
      0,
      [
        ['ended', 1],
        ['ended', 0],
      ],
      0,
    ],
  );
});

test('a connection that the hub closes as soon as it is ready was not refused', async () => {
  await soon(hub.stop());
  const seen: string[] = [];
  const onEvent: MqttHubOptions['onEvent'] = ({ type }, served) => {
    seen.push(type);
    if (type === 'ready') served.close();
  };
  hub = await start({ onEvent });
  connectAs('kiosk-7');
  await until(() => seen.includes('ended'));
  assert.equal([seen.slice(0, 2), refused], [['ready', 'ended'], []]);
});

test('a hub that could serve nobody goes to no broker', async () => {
  const { connections } = broker;
  const error = await soon(start({ staticKey: randomBytes(31) }).catch((reason) => reason));
  assert.equal([error.code, broker.connections], ['bad-length', connections]);
});

test('a hub refuses a ca of the broker that is no certificate', async () => {
  const account = { url: 'mqtts://localhost:1', username: 'hub', password: 'secret', ca: 'ca.pem' };
  const error = await soon(start({ broker: account }).catch((reason) => reason));
  assert.is(error.code, 'bad-argument');
  assert.match(error.message, /^"broker\.ca" expected a certificate as PEM: /);
});

test('trusts the authority that ca names, and no other', async () => {
  const { ca, ...own } = await localhostCertificate();
  const secure = await startBroker({ tls: own, base: BASE, accounts, hub: 'hub' });
  const account = { url: secure.url, username: 'hub', password: 'secret' };
  const outcome = (given: object): Promise<unknown> =>
    soon(
      start({ broker: { ...account, ...given } }).then(
        (other) => other.stop(),
        ({ code }) => code,
      ),
    );
  const outcomes = [await outcome({ ca }), await outcome({})];
  await secure.stop();
  assert.equal(outcomes, [undefined, 'SELF_SIGNED_CERT_IN_CHAIN']);
});

test('a hub forgets a silent client after the time of its option idle', async () => {
  await soon(hub.stop());
  await watchingTimers(async (timers) => {
    hub = await start({ idle: 7000 });
    timers.forget(); // of the start
    const device = await mqtt.connectAsync(broker.url, { username: 'kiosk-8', password: 'secret' });
    await device.publishAsync(`${BASE}/kiosk-8/in`, 'hello', { qos: 1 });
    await until(() => hub.connections.size === 1);
    assert.equal([timers.times('mqtt-hub'), timers.times('hub-connection')], [[7000], [120_000]]);
    await device.endAsync();
  });
});

test('closing a connection that has ended does not end the next one of the same client', async () => {
  const client = connectAs('kiosk-7');
  await client.ask('hello');
  const [ended] = hub.connections;
  client.end();
  await until(() => hub.connections.size === 0);
  await connectAs('kiosk-7').ask('hello again');
  ended!.close();
  assert.equal(
    [...hub.connections].map(({ state }) => state),
    ['ready'],
  );
});

test('a hub that loses its broker connects again, and its clients come back', async () => {
  const client = connectAs('kiosk-7', { deadlines: { 'awaiting-hello': 500 } }); // it may come before the hub
  assert.is((await client.ask('hello')).reply.text, 'heard hello');
  assert.is(hub.connections.size, 1);
  const isEnded = new Promise((resolve) => client.once('close', resolve));
  broker.drop();
  await soon(isEnded);
  assert.is((await client.ask('again')).reply.text, 'heard again');
  assert.ok(lost >= 1);
  assert.is(hub.connections.size, 1);
});

test('a hub greets a client that begins again although its goodbye has not come', async () => {
  await connectAs('kiosk-7').ask('hello');
  const [before] = hub.connections;
  const account = { username: 'kiosk-7', password: 'secret' };
  const device = await mqtt.connectAsync(broker.url, account);
  await device.publishAsync(`${BASE}/kiosk-7/in`, '{}', { qos: 1 });
  await until(() => hub.connections.size === 1 && !hub.connections.has(before!));
  await device.endAsync();
});

test('a hub greets nobody for a message that the broker has retained', async () => {
  const account = { username: 'kiosk-7', password: 'secret' };
  const device = await mqtt.connectAsync(broker.url, account);
  await device.publishAsync(`${BASE}/kiosk-7/in`, '{}', { retain: true, qos: 1 });
  await device.endAsync();
  const isBack = broker.subscribed(`${BASE}/+/in`);
  broker.drop();
  await isBack;
  await connectAs('kiosk-8').ask('hello'); // the broker sends what it has retained before
  assert.equal(
    [...hub.connections].map(({ accessKey }) => accessKey),
    ['kiosk-8'],
  );
});

test('a hub waits as long as reconnectAfter before it connects again, and says why it cannot', async () => {
  const waits: unknown[] = [];
  const set: TimerSetter = (run, time, original) => {
    waits.push(time);
    return original(run, time);
  };
  await withTimers(set, async () => {
    await broker.stop();
    await until(() => lost >= 2);
  });
  assert.ok(waits.includes(20));
  assert.equal([lostFor[0], (lostFor[1] as { code?: string }).code], [undefined, 'ECONNREFUSED']);
});

test('a hub waits for a second before it connects again if its options do not say how long', async () => {
  const timers = new Timers();
  timers.watch();
  const account = { url: broker.url, username: 'hub', password: 'secret' };
  const other = await serveHub({
    ...{ broker: account, base: BASE, nodeId: 'hub-2', staticKey: randomBytes(32), clients },
  });
  try {
    timers.forget();
    broker.drop();
    await until(() => timers.times('mqtt-hub').length >= 2);
    assert.equal(new Set(timers.times('mqtt-hub').slice(0, 2)), new Set([20, 1000]));
  } finally {
    timers.leave();
    await other.stop();
  }
});

test('a hub that was stopped while its broker is away does not connect again', async () => {
  await watchingTimers(async (timers) => {
    await soon(hub.stop());
    hub = await start({ reconnectAfter: 60_000 });
    broker.drop();
    await until(() => lost > 0);
    assert.equal(timers.running, ['mqtt-hub']);
    await soon(hub.stop());
    assert.equal([timers.running, lost], [[], 1]);
  });
});

test('a hub that is stopped while it connects again leaves the broker', async () => {
  const resume = broker.pause();
  broker.drop();
  await until(() => lost > 0 && broker.connections > 0);
  const stopped = hub.stop();
  resume();
  await soon(stopped);
  await until(() => broker.connections === 0);
});

test('a hub whose topics are refused when it connects again waits with one timer, and comes back', async () => {
  await watchingTimers(async (timers) => {
    broker.grants = false;
    broker.drop();
    await until(() => {
      assert.ok(timers.running.length <= 1, `${timers.running}`);
      return lostFor.filter((error) => error instanceof ErrorWithSubackPacket).length === 3;
    });
    const isBack = broker.subscribed(`${BASE}/+/in`);
    broker.grants = true;
    await isBack;
    assert.is((await connectAs('kiosk-7').ask('hello')).reply.text, 'heard hello');
  });
});

test('a hub that has stopped leaves no timer behind', async () => {
  await watchingTimers(async (timers) => {
    await connectAs('kiosk-7').ask('hello');
    assert.ok(timers.running.includes('mqtt-hub'));
    for (const client of opened) client.end();
    await soon(hub.stop());
    await timers.areOver();
  });
});

test('who may publish as a client ends its session, and once that stops the client is back, and nobody else notices', async () => {
  const [victim, other] = [connectAs('kiosk-7'), connectAs('kiosk-8')];
  for (const client of [victim, other]) await client.ask('hello');
  let ends = 0;
  victim.on('close', () => ends++);
  other.on('close', () => assert.unreachable('the other client'));
  const account = { username: 'kiosk-7', password: 'secret', reconnectPeriod: 0 };
  const stranger = await mqtt.connectAsync(broker.url, account);
  try {
    for (const message of ['{', Buffer.alloc(2 ** 21)]) {
      const before = ends;
      await stranger.publishAsync(`${BASE}/kiosk-7/in`, message, { qos: 1 }); // ends the session
      await stranger.publishAsync(`${BASE}/kiosk-7/in`, message, { qos: 1 }); // makes another, which the client hears of
      await until(() => ends > before);
      for (const client of [victim, other]) assert.is((await client.ask('hello')).reply.text, 'heard hello');
    }
  } finally {
    stranger.end(true);
  }
});

test('only the status “offline” ends the session of a client, and in the handshake the hub says so', async () => {
  const device = await mqtt.connectAsync(broker.url, { username: 'kiosk-8', password: 'secret' });
  const states = (): string[] => [...hub.connections].map(({ state }) => state);
  await device.publishAsync(`${BASE}/kiosk-8/in`, 'hello', { qos: 1 });
  await until(() => hub.connections.size === 1);
  for (const status of ['', 'online', 'resting'])
    await device.publishAsync(`${BASE}/kiosk-8/status`, status, { qos: 1 });
  await connectAs('kiosk-7').ask('hello'); // the hub has heard the others before
  assert.equal(states(), ['awaiting-message-1', 'ready']);
  await device.publishAsync(`${BASE}/kiosk-8/status`, 'offline', { qos: 1 });
  await until(() => hub.connections.size === 1);
  assert.equal([states(), refused], [['ready'], ['dropped']]);
  await device.endAsync();
});

test('a hub reports a client that it does not know, although it does not answer', async () => {
  connectAs('kiosk-9');
  await until(() => refused.length > 0);
  assert.is(refused[0], 'access-refused');
});

test('a hub ends the session of a client that is silent for the time idle, and each message begins that time again', async () => {
  let begun = 0;
  let end = (): void => {};
  // Only the hub has a timer of five minutes.
  const set: TimerSetter = (run, time, original) => {
    if (time !== 300_000) return original(run, time);
    end = run;
    return onRefresh(original(run, time), () => begun++);
  };
  await withTimers(set, async () => {
    const client = connectAs('kiosk-7');
    await client.ask('hello');
    const first = begun;
    assert.ok(first > 0);
    await client.ask('hello');
    assert.ok(begun > first);
    const [served] = hub.connections;
    end();
    assert.equal([hub.connections.size, served!.state], [0, 'closed']);
    const closed = new Promise((resolve) => client.once('close', resolve));
    assert.ok(client.send({ msg_type: 'bus', payload: {} })); // the hub greets whoever it does not know
    await soon(closed);
    assert.is((await client.ask('again')).reply.text, 'heard again');
    assert.is(hub.connections.size, 1);
  });
});

test.run();
