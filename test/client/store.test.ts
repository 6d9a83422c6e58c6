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
import { endWorlds, newWorld, until } from './world.ts';

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
