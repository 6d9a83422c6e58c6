/** What a client writes to the console because no listener hears it. */
import { pinHub } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import type { AskError } from 'hub-protocol-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Client } from '../../client/dist/client.js';
import type { ConnectOptions } from '../../client/dist/options.js';
import { identity, newWorld, POLICY, until, type World } from './world.ts';

const test = suite('what nobody listens to');
const { warn } = console;
const written: string[] = [];
let client: Client;

/** A client without listeners. */
function start(world: World, options: Partial<ConnectOptions> = {}): Client {
  client = new Client({ identity, policy: POLICY, ...options }, world.platform);
  return client;
}

test.before.each(() => {
  written.length = 0;
  console.warn = (text: string) => written.push(text);
});
test.after.each(() => {
  client.end();
  console.warn = warn;
});

test('why there is no connection is written once in each outage', async () => {
  const world = newWorld();
  world.isDown = true;
  start(world);
  await until(() => world.dials > 3);
  assert.is(written.length, 1, written.join('\n'));
  assert.match(written[0]!, /^[A-Z].*\. The client tries again\.$/);
  world.isDown = false;
  await until(() => client.state === 'ready');
  world.isDown = true;
  world.drop();
  await until(() => written.length === 2);
  assert.is(written[1], written[0]);
});

test('an end that the next attempt follows at once is not written', async () => {
  const world = newWorld();
  start(world);
  await until(() => client.state === 'ready');
  const dials = world.dials;
  world.drop();
  await until(() => world.dials > dials && client.state === 'ready');
  assert.equal(written, []);
});

for (const type of ['close', 'reconnect', 'trace'] as const) {
  test(`nothing of the connection is written if somebody listens to ${type}`, async () => {
    const world = newWorld();
    world.isDown = true;
    start(world).on(type, () => {});
    await until(() => world.dials > 3);
    assert.equal(written, []);
  });
}

test('what a listener of ask is told is not written', async () => {
  const world = newWorld();
  world.store.keyring = pinHub(world.store.keyring, 'hub-1', new Uint8Array(32).fill(9));
  const asked = new Promise((resolve) => start(world).on('ask', resolve));
  await asked;
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(written, []);
});

test('what a question rejects with is told by that alone', async () => {
  const world = newWorld();
  world.store.keyring = pinHub(world.store.keyring, 'hub-1', new Uint8Array(32).fill(9));
  const asked: { advice?: string | undefined } = await start(world)
    .ask('hello')
    .catch((error: AskError) => error);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.match(String(asked.advice), /^The hub presents the key /);
  assert.equal(written, []);
});

test('a hub that has another key is written, and the disclosure', async () => {
  const world = newWorld();
  start(world, { identity: { ...identity, aiDisclosure: { en: 'An AI answers.' } } });
  await client.ask('hello');
  world.hubStatic = randomBytes(32);
  world.drop();
  await client.ask('again');
  assert.match(written.join('\n'), /^An AI answers\.\nThe hub’s key was .*\.$/);
});

test('a platform without a console has its answers', async () => {
  const { console: own } = globalThis;
  const world = newWorld();
  Object.assign(globalThis, { console: undefined });
  const ending = await start(world)
    .ask('hello')
    .then((answer) => answer.ending)
    .finally(() => Object.assign(globalThis, { console: own }));
  assert.equal([ending, world.dials], ['handled', 1]);
});

test.run();
