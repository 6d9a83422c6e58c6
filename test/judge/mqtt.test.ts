/** Live mode over MQTT against sessions of this library, which pass, and against faulty ones, which do not. */
import { createKeyring, type Keyring, parseIdentity } from 'hub-protocol';
import { serveHub } from 'hub-protocol-client/hub/mqtt';
import { type Client, connect, type KeyringStore } from 'hub-protocol-client/mqtt';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connectOverMqtt } from '../../judge/src/live/mqtt-connect.ts';
import { listenOverMqtt } from '../../judge/src/live/mqtt-listen.ts';
import type { Verdict } from '../../judge/src/verdict.ts';
import { randomBytes } from '../../src/crypto/node.ts';
import { BROKER_PASSWORD, type Faults, type HubFaults, startClient, startHub } from './mqtt-peers.ts';
import { NODE_ID, PASSWORD, pskFor, SHARED_PSK, waitsOf } from './peers.ts';

const ACCESS_KEY = 'kiosk-7';
const COMMON = { derivePsk: pskFor, patience: { message: 5000, long: 20_000, silence: 200 }, port: 0 };

async function judgeClient(
  faults: Faults & { accessKey?: string } = {},
  only?: string[],
): Promise<Verdict[]> {
  let stop = (): void => {};
  const onListening = (url: string): void => {
    stop = startClient(url, faults.accessKey ?? ACCESS_KEY, faults);
  };
  try {
    return await listenOverMqtt({ ...COMMON, only, nodeId: NODE_ID, accessKey: ACCESS_KEY, onListening });
  } finally {
    stop();
  }
}

async function judgeHub(faults: HubFaults = {}, only?: string[]): Promise<Verdict[]> {
  let stop = (): void => {};
  const onListening = (url: string): void => {
    stop = startHub(url, ACCESS_KEY, faults);
  };
  try {
    return await connectOverMqtt({ ...COMMON, only, accessKey: ACCESS_KEY, onListening });
  } finally {
    stop();
  }
}

/** The scenes with this result. */
function scenes(verdicts: readonly Verdict[], result: Verdict['result']): string[] {
  return verdicts.filter((verdict) => verdict.result === result).map(({ name }) => name);
}

const failures = (verdicts: readonly Verdict[]): string =>
  JSON.stringify(
    verdicts.filter(({ result }) => result === 'failed' || result === 'defect'),
    undefined,
    1,
  );

test('the client of this library passes every scene over MQTT', async () => {
  const verdicts = await judgeClient();
  assert.equal(scenes(verdicts, 'failed'), [], failures(verdicts));
  // An offer without the required suite, which the client of this library refuses.
  assert.equal(scenes(verdicts, 'declined'), ['suite 25519_AESGCM_SHA256']);
  for (const name of ['will', 'presence', 'goodbye', 'hub-restarted', 'silence', 'after-silence']) {
    assert.ok(scenes(verdicts, 'passed').includes(name), name);
  }
});

test('the hub of this library passes every scene over MQTT', async () => {
  const verdicts = await judgeHub();
  assert.is(scenes(verdicts, 'passed').length, verdicts.length, failures(verdicts));
  for (const name of ['offline', 'unknown-access-key'])
    assert.ok(scenes(verdicts, 'passed').includes(name), name);
});

const VERSION_5 = { protocolVersion: 5 as const };

test('a client and a hub that speak MQTT 5.0 pass, too', async () => {
  const client = await judgeClient({ connection: () => VERSION_5 }, ['first-contact', 'will', 'presence']);
  assert.is(scenes(client, 'passed').length, 3, failures(client));
  const hub = await judgeHub({ connection: VERSION_5 }, ['first-contact', 'messages', 'offline']);
  assert.is(scenes(hub, 'passed').length, 3, failures(hub));
});

for (const [what, connection, scene, cause] of [
  ['has no will', { will: undefined as never }, 'will', /^will: it is missing/],
  [
    'has a will that is not retained',
    {
      will: {
        topic: `hivemind/judge/${ACCESS_KEY}/status`,
        payload: Buffer.from('offline'),
        qos: 1 as const,
        retain: false,
      },
    },
    'will',
    /^will: it is offline on the status topic, with QoS 1, retained/,
  ],
  ['keeps its MQTT session', { clean: false }, 'clean-session', /^clean session: /],
  ['has another password at the broker', { password: 'another' }, 'will', /^account: /],
] as const) {
  test(`--mqtt client finds a client that ${what}`, async () => {
    const verdicts = await judgeClient({ connection: () => connection }, [scene]);
    assert.match(verdicts[0]!.failure!.causes.join(), cause);
  });
}

test('--mqtt client finds a client with another client id each time', async () => {
  let count = 0;
  const connection = () => ({ clientId: `client-${count++}` });
  const verdicts = await judgeClient({ connection }, ['first-contact', 'clean-session']);
  assert.equal(scenes(verdicts, 'failed'), ['clean-session']);
  assert.match(verdicts[1]!.failure!.causes.join(), /^client id: it changes/);
});

const KEYS = { staticKey: randomBytes(32), psk: SHARED_PSK };

test('the hub passes the scenes without an echo', async () => {
  const only = [
    'not-offered-suite',
    'damaged-message-1',
    'low-order-key',
    'damaged-message-3',
    'unknown-access-key',
  ];
  let hub: Promise<{ stop(): Promise<void> }> | undefined;
  const onListening = (url: string): void => {
    const broker = { url, username: 'hub', password: 'any' };
    const clients = new Map([[ACCESS_KEY, { psk: KEYS.psk }]]);
    hub = serveHub({
      broker,
      base: 'hivemind/judge',
      nodeId: NODE_ID,
      staticKey: KEYS.staticKey,
      clients,
    });
  };
  const verdicts = await connectOverMqtt({ ...COMMON, only, accessKey: ACCESS_KEY, onListening });
  await (await hub)?.stop();
  assert.is(scenes(verdicts, 'passed').length, only.length, failures(verdicts));
});

test('the client passes the scenes without an echo', async () => {
  const only = [
    'version',
    'no-suite',
    'damaged-payload',
    'low-order-key',
    'wrong-password',
    'will',
    'clean-session',
  ];
  let client: Client | undefined;
  let stored = createKeyring({ accessKey: ACCESS_KEY, staticKey: KEYS.staticKey });
  const keyring = {
    load: () => stored,
    update: (change: (keyring: Keyring) => Keyring | undefined) => {
      stored = change(stored) ?? stored;
    },
  } as unknown as KeyringStore;
  const onListening = (endpoint: string): void => {
    const mqtt = {
      ...{ endpoint, username: ACCESS_KEY, password: BROKER_PASSWORD },
      topic_prefix: `hivemind/judge/${ACCESS_KEY}`,
    };
    const identity = parseIdentity({ access_key: ACCESS_KEY, password: PASSWORD, site_id: 'lobby', mqtt });
    client = connect({
      ...{ identity, keyring, allowPlaintext: true, derive: async () => KEYS.psk },
      policy: { basePause: 1, maxPause: 10 },
    }).on('ask', () => setTimeout(() => client?.resume(), 10));
  };
  const verdicts = await listenOverMqtt({
    ...COMMON,
    only,
    nodeId: NODE_ID,
    accessKey: ACCESS_KEY,
    onListening,
  });
  client?.end();
  assert.is(scenes(verdicts, 'passed').length, only.length, failures(verdicts));
});

test('--mqtt client finds a client that goes on after a breach', async () => {
  const verdicts = await judgeClient({ stays: true }, ['first-contact', 'unknown-marker']);
  assert.equal(scenes(verdicts, 'failed'), ['unknown-marker'], failures(verdicts));
});

test('--mqtt hub finds a hub that greets an access key that was never issued', async () => {
  const verdicts = await judgeHub({ admitsAll: true }, ['first-contact', 'unknown-access-key']);
  assert.equal(scenes(verdicts, 'failed'), ['unknown-access-key']);
});

test('--mqtt hub finds a hub that leaves the broker', async () => {
  const verdicts = await judgeHub({ leaves: true }, ['first-contact']);
  assert.match(verdicts[0]!.failure!.causes.join(), /^connection: the hub leaves the broker/);
});

test('both wait only once for a side that never connects', async () => {
  const patience = { message: 50, long: 400 };
  const nobody = { ...COMMON, patience, accessKey: ACCESS_KEY, onListening: () => {} };
  for (const play of [() => listenOverMqtt({ ...nobody, nodeId: NODE_ID }), () => connectOverMqtt(nobody)]) {
    const waits = await waitsOf(patience.long, async () => {
      const verdicts = await play();
      assert.is(scenes(verdicts, 'failed').length, verdicts.length);
      assert.ok(verdicts.length > 5);
    });
    assert.is(waits, 1);
  }
});

test('an access key that cannot be a topic level is refused', async () => {
  const options = { ...COMMON, nodeId: NODE_ID, accessKey: 'a/b', onListening: () => {} };
  await listenOverMqtt(options).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, /level of topics/),
  );
});

test.run();
