/** Live mode over MQTT against sessions of this library, which pass, and against faulty ones, which do not. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { connectOverMqtt } from '../../judge/src/live/mqtt-connect.ts';
import { listenOverMqtt } from '../../judge/src/live/mqtt-listen.ts';
import type { Verdict } from '../../judge/src/verdict.ts';
import { type Faults, type HubFaults, startClient, startHub } from './mqtt-peers.ts';
import { NODE_ID, PASSWORD } from './peers.ts';

const ACCESS_KEY = 'kiosk-7';
const COMMON = { password: PASSWORD, patience: { message: 5000, long: 20_000, silence: 200 }, port: 0 };

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
  assert.is(scenes(verdicts, 'passed').length, verdicts.length, failures(verdicts));
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
  ['has no will', { will: undefined as never }, 'will', /^will: there is none/],
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

test('both wait only once for a side that does not come', async () => {
  const patience = { message: 50, long: 400 };
  const start = Date.now();
  const nobody = { ...COMMON, patience, accessKey: ACCESS_KEY, onListening: () => {} };
  for (const verdicts of [
    await listenOverMqtt({ ...nobody, nodeId: NODE_ID }),
    await connectOverMqtt(nobody),
  ]) {
    assert.is(scenes(verdicts, 'failed').length, verdicts.length);
  }
  assert.ok(Date.now() - start < 5000);
});

test('an access key that cannot be a level of a topic is refused', async () => {
  const options = { ...COMMON, nodeId: NODE_ID, accessKey: 'a/b', onListening: () => {} };
  await listenOverMqtt(options).then(
    () => assert.unreachable(),
    (error) => assert.match(error.message, /level of topics/),
  );
});

test.run();
