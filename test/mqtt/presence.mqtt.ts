/** Presence over MQTT: what clients publish on `status`, late wills, and hubs with and without an earlier session. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closeAll, connectTo, PORT, startHub } from './broker.ts';
import { ask, Kiosk } from './kiosk.ts';
import { Line, waitFor } from './line.ts';
import { Wire } from './wire.ts';

const test = suite('presence over MQTT');
test.after.each(closeAll);

/** Records everything on a client's topics: `in` and `out`, and the payloads on `status`. */
async function watch(kiosk: Kiosk): Promise<string[]> {
  const watcher = await connectTo(PORT);
  const seen: string[] = [];
  watcher.on('message', (topic, payload, { retain }) => {
    const kind = topic.slice(topic.lastIndexOf('/') + 1);
    seen.push(kind === 'status' ? `${retain ? 'retained ' : ''}${payload}` : kind);
  });
  await watcher.subscribeAsync(`${kiosk.topics}/#`, { qos: 1 });
  return seen;
}

test('a client publishes offline, HELLO, online when it is ready, and offline when it leaves', async () => {
  const kiosk = new Kiosk();
  await startHub([kiosk.name]);
  const seen = await watch(kiosk);
  const client = await kiosk.connect();
  const [hello, handshake, sealedHello] = ['in', 'in', 'in'];
  const offer = ['out', 'out'];
  const expected = ['offline', hello, ...offer, handshake, 'out', handshake, sealedHello, 'online'];
  assert.ok(await waitFor(() => seen.length === expected.length));
  assert.equal(seen, expected);
  const late = await watch(kiosk);
  assert.ok(await waitFor(() => late.length > 0));
  assert.equal(late, ['retained online']);
  await client.close();
  assert.ok(await waitFor(() => late.length > 1));
  assert.equal(late, ['retained online', 'offline']);
});

test('with the same client id, the will of a dead connection comes before the new session begins', async () => {
  const kiosk = new Kiosk();
  await startHub([kiosk.name]);
  const wire = await Wire.open();
  const seen = await watch(kiosk);
  const presences = () => seen.filter((what) => what.endsWith('line'));
  const old = await kiosk.connect({
    identity: kiosk.identity({ endpoint: `mqtts://localhost:${wire.port}` }),
  });
  assert.ok(await waitFor(() => presences().length === 2));
  wire.freeze();
  const client = await kiosk.connect();
  assert.ok(await waitFor(() => presences().length === 5));
  assert.equal(presences(), ['offline', 'online', 'offline', 'offline', 'online']); // the third is the will
  wire.cutFromBroker();
  await sleep(100);
  assert.is(presences().length, 5);
  assert.is(await ask(client, 'alive'), 'You said: alive');
  wire.cutFromClient();
  assert.is((await old.ended).reason, 'dropped');
});

test('if a client cannot publish offline, its will does', async () => {
  const kiosk = new Kiosk();
  await startHub([kiosk.name]);
  const wire = await Wire.open();
  const client = await kiosk.connect({
    identity: kiosk.identity({ endpoint: `mqtts://localhost:${wire.port}` }),
  });
  const seen = await watch(kiosk);
  const latest = () => seen.filter((what) => what.endsWith('line')).pop() ?? '';
  assert.ok(await waitFor(() => latest().endsWith('online'))); // retained, unless it comes just now
  wire.freeze();
  await client.close();
  wire.cutFromBroker();
  assert.ok(await waitFor(() => latest() === 'offline'));
});

test('of two devices with one access key, the broker keeps the later one', async () => {
  const kiosk = new Kiosk();
  await startHub([kiosk.name]);
  const first = kiosk.dial();
  assert.ok(await waitFor(() => kiosk.events('ready').length === 1));
  const second = await kiosk.connect();
  const { reason, retry } = await first.ended;
  assert.equal([reason, retry], ['dropped', 'now']); // so two that dial again take turns forever
  assert.is(await ask(second, 'mine'), 'You said: mine');
});

test('a hub that still has a session ends it at a new HELLO, and greets the client', async () => {
  const kiosk = new Kiosk();
  await startHub([kiosk.name]);
  const line = await Line.open(kiosk, { clientId: 'stale' });
  const begin = async (): Promise<void> => {
    await line.offline();
    line.hello();
    assert.ok(await line.reaches('awaiting-psk'));
    line.providePsk();
    assert.ok(await line.reaches('ready'));
  };
  await begin();
  line.hello();
  assert.ok(await line.reaches('awaiting-psk'));
  line.providePsk();
  assert.ok(await line.reaches('ready'));
  await begin();
});

test.run();
