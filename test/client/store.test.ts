/** How often the client reads and writes its keyring. */
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, type Keyring } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KeyringFile } from '../../client/dist/keyring-file.js';
import { DERIVED } from '../world/keys.ts';
import { endWorlds, newWorld, Store, soon, type TimerSetter, until, withTimers } from './world.ts';

test.after.each(endWorlds);

/** A store that counts what a disk would do. */
class CountingStore {
  #keyring!: Keyring;
  count = 0;
  fault: Error | undefined;

  constructor() {
    this.renew();
  }

  /** Makes a keyring, as another tab may at the same moment. */
  renew(): void {
    this.#keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
  }

  load(): Keyring {
    this.count++;
    return this.#keyring;
  }

  update(change: (stored: Keyring) => Keyring): void {
    this.count++;
    if (this.fault !== undefined) throw this.fault;
    this.#keyring = change(this.#keyring);
  }
}

test('a ready client neither reads nor writes its keyring until something changes', async () => {
  const world = newWorld();
  const store = new CountingStore();
  const client = world.start({}, { keyring: store });
  await client.ask('hello'); // the first message of the hub proves that it accepts the new static key
  assert.is(store.load().staticKeyIsFresh, false);
  store.count = 0;
  for (let i = 0; i < 20; i++) await client.ask('hello');
  let heard = 0;
  client.on('message', () => heard++);
  for (let i = 0; i < 20; i++) world.say('something');
  await until(() => heard === 20);
  assert.is(store.count, 0);
  world.drop();
  await until(() => world.types.filter((type) => type === 'connect').length === 2);
  await client.ask('hello'); // under KKpsk0
  store.count = 0;
  for (let i = 0; i < 20; i++) await client.ask('hello');
  assert.is(store.count, 0);
});

test('a hub sees no static key but the one that is stored, also if another tab stores its own at first contact', async () => {
  const world = newWorld();
  const store = new CountingStore();
  let isFirst = true;
  const derive = async (): Promise<Uint8Array> => {
    if (isFirst) store.renew();
    isFirst = false;
    return DERIVED;
  };
  const client = world.start({}, { keyring: store, derive });
  await client.ask('hello');
  assert.equal(world.clientKey, store.load().staticKey.publicKey);
  assert.equal(world.types, ['close', 'reconnect', 'connect']);
  assert.is((world.events[0] as { error?: { code: string } }).error?.code, 'keyring-replaced');
});

test('messages flow although the store fails after the client was ready', async () => {
  const world = newWorld();
  const store = new CountingStore();
  const client = world.start({}, { keyring: store });
  let isFirst = true;
  client.on('connect', () => {
    if (isFirst) store.fault = new Error('the disk is gone');
    isFirst = false;
  });
  for (let i = 0; i < 3; i++) assert.is((await client.ask('hello')).ending, 'handled');
  assert.equal(world.types, ['connect']);
  store.fault = undefined;
  world.drop();
  await until(() => world.types.filter((type) => type === 'connect').length === 2);
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.is(store.load().staticKeyIsFresh, false);
});

/** A store that answers later, as IndexedDB does. */
class LaterStore extends Store {
  /** What each further answer waits for. */
  answer: Promise<void> = Promise.resolve();

  override async update(change: (stored: Keyring) => Keyring): Promise<void> {
    await this.answer;
    super.update(change);
  }
}

const never = new Promise<never>(() => {});

test('a client sends message 3 only once a store that answers later has the pin, and reconnects with it', async () => {
  const world = newWorld();
  const store = new LaterStore();
  let pinned = (): void => {};
  const derive = async (): Promise<Uint8Array> => {
    store.answer = new Promise((resolve) => {
      pinned = resolve;
    });
    return DERIVED;
  };
  const client = world.start({}, { keyring: store, derive });
  const answer = client.ask('hello');
  await until(() => world.hub?.state === 'awaiting-message-3');
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal([world.hub!.state, store.load().pins.length], ['awaiting-message-3', 0]);
  pinned();
  assert.is((await answer).ending, 'handled');
  assert.is(store.load().pins.length, 1);
  world.drop();
  await until(() => world.types.filter((type) => type === 'connect').length === 2);
  assert.equal(world.types, ['connect', 'close', 'reconnect', 'connect']);
  assert.is(world.ready?.pattern, 'KKpsk0');
});

for (const [what, answer, message] of [
  ['never answers', () => never, '"keyring.update" has not answered within 5 s'],
  ['rejects', () => Promise.reject(new Error('the quota is used up')), 'the quota is used up'],
] as const) {
  test(`a person is told of a store that ${what}, and the client connects once it works`, async () => {
    const world = newWorld();
    const store = new LaterStore();
    store.answer = answer();
    store.answer.catch(() => {}); // until the store is asked
    const soonLate: TimerSetter = (run, time, original) => original(run, time === 5000 ? 20 : time);
    const client = world.start({}, { keyring: store });
    const event = await withTimers(soonLate, () =>
      soon(new Promise<{ error: Error }>((resolve) => client.once('ask', resolve))),
    );
    assert.is(event.error.message, message);
    store.answer = Promise.resolve();
    client.resume();
    await until(() => world.types.includes('connect'));
    assert.is((await client.ask('hello')).ending, 'handled');
  });
}

test('what a hub sends while the store is asked is counted as held', async () => {
  const world = newWorld();
  const store = new LaterStore();
  const client = world.start({ maxMemory: 2 ** 20 }, { keyring: store });
  let stored = (): void => {};
  client.once('connect', () => {
    store.answer = new Promise((resolve) => {
      stored = resolve;
    });
  });
  await until(() => world.ready !== undefined);
  for (let i = 0; i < 40; i++) world.say('x'.repeat(60_000));
  await new Promise((resolve) => setTimeout(resolve, 20));
  stored();
  await until(() => world.types.includes('close'));
  const { error } = world.events.find(({ type }) => type === 'close') as { error: { code: string } };
  assert.is(error.code, 'out-of-memory');
});

test('messages flow after the file of the keyring was removed', async () => {
  const world = newWorld();
  const folder = mkdtempSync(join(tmpdir(), 'client-store-'));
  const path = join(folder, 'keyring.json');
  const client = world.start({}, { keyring: new KeyringFile(path, 'kiosk-7') });
  client.on('connect', () => rmSync(folder, { recursive: true }));
  for (let i = 0; i < 3; i++) assert.is((await client.ask('hello')).ending, 'handled');
  assert.equal(world.types, ['connect']);
  world.drop(); // the next connection needs the keyring
  await until(() => world.types.includes('ask'));
  assert.is(await client.ask('hello').catch(({ code }) => code), 'keyring-not-readable');
});

/** `ASKS=7000` asks more, such as for `strace -f -e trace=open,openat`. */
const ASKS = Number(process.env.ASKS ?? 400);

test('questions do not read the keyring’s file, as its access time shows, and are answered without it', async () => {
  const world = newWorld();
  const folder = mkdtempSync(join(tmpdir(), 'client-store-'));
  const path = join(folder, 'keyring.json');
  const client = world.start({}, { keyring: new KeyringFile(path, 'kiosk-7') });
  await client.ask('hello');
  const before = new Date(Date.now() - 3 * 86_400_000); // Linux notes a read if the time is older than a day
  utimesSync(path, before, new Date());
  const isRead = (): boolean => statSync(path).atimeMs > before.getTime() + 1000;
  for (let i = 0; i < ASKS; i++) {
    if (i === ASKS / 2) {
      assert.is(isRead(), false);
      readFileSync(path);
      if (!isRead()) console.log('this file system notes no reads');
      rmSync(folder, { recursive: true });
    }
    assert.is((await client.ask('hello')).ending, 'handled');
  }
  assert.equal(world.types, ['connect']);
});

test.run();
