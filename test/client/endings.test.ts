/** What ends a client for good or for a while: `end`, also in a listener, and injected code that fails. */
import { fingerprint } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client } from '../../client/dist/client.js';
import type { ClientEvent } from '../../client/dist/options.js';
import { endWorlds, HUB_STATIC, newWorld, PSK, until, type World } from './world.ts';

test.after.each(endWorlds);

const pause = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time));

/** What makes a client emit each type of event. */
const CAUSES: { readonly [type in ClientEvent['type']]?: (world: World) => void } = {
  connecting: () => {},
  deriving: () => {},
  connect: () => {},
  message: (world) => world.say('one'),
  bytes: (world) => world.sendBytes(),
  close: (world) => world.drop(),
  reconnect: (world) => world.drop(),
  ask: (world) => {
    world.store.fault = new Error('the disk is full');
  },
};

/** Starts a client that derives, connects, and then meets what causes an event. */
function startFor(type: ClientEvent['type'], world: World): Client {
  if (type === 'ask') CAUSES.ask!(world);
  const client = world.start({
    derive: async (_password, _salt, onProgress) => {
      onProgress(0.5);
      return PSK;
    },
  });
  client.on('connect', () => setTimeout(() => world.types.includes('end') || CAUSES[type]!(world), 5));
  return client;
}

for (const type of Object.keys(CAUSES) as ClientEvent['type'][]) {
  test(`end in the listener of ${type} is final`, async () => {
    const world = newWorld();
    const client = startFor(type, world);
    let hasEnded = false;
    client.on(type, () => {
      if (hasEnded) return;
      hasEnded = true;
      client.end();
    });
    const waiting = client.ask('hello').catch(({ message }: Error) => message);
    await until(() => hasEnded);
    const dials = world.dials;
    await pause(30);
    assert.is(client.send({ msg_type: 'ping', payload: {} }), false);
    assert.is(world.types.filter((seen) => seen === 'end').length, 1);
    assert.equal([world.types.at(-1), world.dials], ['end', dials]);
    assert.not.equal(await waiting, undefined);
    client.resume();
    if (type !== 'ask') await until(() => world.dials > dials);
  });
}

test('end in the listener of any trace is final', async () => {
  for (let count = 1, isOver = false; !isOver; count++) {
    const world = newWorld();
    const client = world.start();
    let left = count;
    let hasConnected = false;
    client.on('connect', () => {
      hasConnected = true;
    });
    client.on('trace', () => {
      if (--left === 0) client.end();
    });
    const waiting = client.ask('hello').catch(() => {});
    await waiting;
    await pause(10);
    isOver = left > 0;
    if (isOver) assert.ok(count > 8 && hasConnected);
    else {
      assert.is(client.send({ msg_type: 'ping', payload: {} }), false, `trace ${count}`);
      assert.is(world.types.at(-1), 'end', `trace ${count}`);
    }
    client.end();
  }
});

test('end in the listener of end does nothing more', async () => {
  const world = newWorld();
  const client = world.start();
  client.on('end', () => client.end());
  client.end();
  client.end();
  assert.equal(world.types, ['end']);
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
  client.end();
  assert.equal(world.types, ['end', 'connect', 'end']);
});

test('end and resume in the listener of connecting connect once', async () => {
  const world = newWorld();
  const client = world.start();
  let isFirst = true;
  client.on('connecting', () => {
    if (!isFirst) return;
    isFirst = false;
    client.end();
    client.resume();
  });
  await until(() => world.types.includes('connect'));
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.equal([world.dials, world.types], [1, ['end', 'connect']]);
});

/** Randomness that fails while a flag is set. */
class Flaky {
  isBroken = false;
  readonly randomBytes = (length: number): Uint8Array => {
    if (this.isBroken) throw new Error('no randomness');
    return randomBytes(length);
  };
}

test('a client whose randomBytes failed at a dial dials again after resume', async () => {
  const world = newWorld();
  const source = new Flaky();
  source.isBroken = true;
  const client = world.start({}, { randomBytes: source.randomBytes });
  await until(() => world.types.includes('ask'));
  source.isBroken = false;
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('a client whose randomBytes failed at a pause asks a person, and dials again after resume', async () => {
  const world = newWorld();
  const source = new Flaky();
  const client = world.start({}, { randomBytes: source.randomBytes });
  await client.ask('hello');
  source.isBroken = true;
  world.drop();
  await until(() => world.types.includes('ask'));
  source.isBroken = false;
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('a hub with another key is told with both fingerprints, before the connection and its answers', async () => {
  const world = newWorld();
  const client = world.start();
  await client.ask('hello');
  const old = fingerprint(crypto.x25519.publicKey(HUB_STATIC));
  const seen: string[] = [];
  client.on('hub-replaced', ({ tell }) => seen.push(tell)).on('connect', () => seen.push('connect'));
  world.hubStatic = randomBytes(32);
  world.refusesWith = 1008;
  world.drop();
  await client.ask('hello');
  const fresh = fingerprint(crypto.x25519.publicKey(world.hubStatic));
  assert.match(seen[0]!, new RegExp(`^The hub has a new key, ${fresh} in place of ${old}, .* operator`));
  assert.equal(seen.slice(1), ['connect']);
});

for (const [point, after, expected] of [
  ['before message 1', 0, /may not know the access key/],
  ['before message 2', 1, /may have another password or another key/],
  ['before a message', 2, /may know this client by another key/],
] as const) {
  test(`1000 three times in a row ${point} adds what a hub may refuse, and costs nothing`, async () => {
    const world = newWorld();
    const tells: string[] = [];
    const { open } = world.platform;
    const client = world.start(
      {},
      {
        open(connection) {
          const texts = (): void => connection.closed({ code: 1000 });
          const transport = open({ ...connection, received: after === 0 ? () => {} : connection.received });
          if (after === 0) queueMicrotask(texts);
          return {
            ...transport,
            write(data) {
              if (after === 2) transport.write(data);
              if (after === 1 || (after === 2 && typeof data !== 'string')) queueMicrotask(texts);
            },
          };
        },
      },
    );
    client.on('close', ({ tell }) => tells.push(tell));
    await until(() => tells.length >= 3);
    assert.match(tells[0]!, /connection was lost/);
    assert.match(tells[2]!, expected);
    assert.not.ok(world.types.includes('ask'));
  });
}

test.run();
