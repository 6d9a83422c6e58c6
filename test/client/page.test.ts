/** The entry for browsers where there is no page, on a server that renders the page in advance; and what a page stores. */
import { createKeyring, type Keyring, parseIdentity, pinHub, storePsk, updateKeyring } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { connect, KeyringStorage } from 'hub-protocol-client/browser';
import { type AsyncTextStorage, openKeyring } from 'hub-protocol-client/react-native';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KeyringText } from '../../client/dist/keyring-storage.js';
import { issuedWith } from '../world/hosts.ts';

const identity = parseIdentity(issuedWith('localhost'));

/** The storage of an origin, as far as the store uses it. */
class Texts extends Map<string, string> {
  writes = 0;

  getItem(name: string): string | null {
    return this.get(name) ?? null;
  }

  setItem(name: string, text: string): void {
    this.writes++;
    this.set(name, text);
  }

  removeItem(name: string): void {
    this.delete(name);
  }
}
const { localStorage, WebSocket } = globalThis as { localStorage?: unknown; WebSocket?: unknown };

test.before(() => void Object.assign(globalThis, { localStorage: undefined, WebSocket: undefined }));
test.after(() => void Object.assign(globalThis, { localStorage, WebSocket }));

const isTyped = (error: Error & { code?: string }): boolean =>
  error.code === 'wrong-state' && /no page here/.test(error.message);

test('connect without a page throws a typed error', () => {
  assert.throws(() => connect({ identity }), isTyped);
});

test('the store of a page throws a typed error without a page, and forgets its client on request', () => {
  assert.throws(() => new KeyringStorage('kiosk-7'), isTyped);
  const texts = new Texts();
  Object.assign(globalThis, { localStorage: texts });
  const [store, other] = [new KeyringStorage('kiosk-7'), new KeyringStorage('kiosk-8')];
  assert.is(store.load().accessKey, 'kiosk-7');
  assert.is(other.load().accessKey, 'kiosk-8');
  texts.set('of the page', 'its own');
  store.clear();
  assert.equal([...texts.keys()], ['hub-keyring kiosk-8', 'of the page']);
  Object.assign(globalThis, { localStorage: undefined });
});

const pin =
  (nodeId: string) =>
  (stored: Keyring): Keyring =>
    pinHub(stored, nodeId, new Uint8Array(32).fill(9));

test('a tab reads what another tab has stored, and keeps it when it stores something itself', () => {
  const texts = new Texts();
  const [one, other] = [new KeyringText('kiosk-7', texts), new KeyringText('kiosk-7', texts)];
  assert.equal(one.load().staticKey, other.load().staticKey);
  one.update(pin('hub-1'));
  assert.equal(
    other.load().pins.map(({ nodeId }) => nodeId),
    ['hub-1'],
  );
  other.update(pin('hub-2'));
  one.update(pin('hub-3'));
  const nodeIds = other.load().pins.map(({ nodeId }) => nodeId);
  assert.equal(nodeIds.sort(), ['hub-1', 'hub-2', 'hub-3']);
});

test('a tab writes only what is new, and another tab reads which keys are suspect', () => {
  const texts = new Texts();
  const [one, other] = [new KeyringText('kiosk-7', texts), new KeyringText('kiosk-7', texts)];
  one.update((stored) => storePsk(stored, 'hub-1', new Uint8Array(32).fill(7)));
  const { writes } = texts;
  for (let times = 0; times < 2; times++) {
    one.update((stored) => updateKeyring(stored, { type: 'psk-suspect', nodeId: 'hub-1' }));
  }
  assert.is(texts.writes, writes + 1);
  assert.is(other.load().psks[0]!.isSuspect, true);
});

test('a tab whose storage is full keeps what was stored', () => {
  const texts = new Texts();
  const store = new KeyringText('kiosk-7', texts);
  store.update((stored) => storePsk(stored, 'hub-1', new Uint8Array(32).fill(7)));
  store.update((stored) => updateKeyring(stored, { type: 'psk-suspect', nodeId: 'hub-1' }));
  texts.setItem = () => {
    throw new Error('full');
  };
  assert.throws(() => store.update(pin('hub-2')), /full/);
  const { pins, psks } = store.load();
  assert.equal([pins.length, psks[0]!.isSuspect], [0, true]);
});

for (const [what, text] of [
  ['emptied', undefined],
  ['damaged', 'damaged'],
] as const) {
  test(`a tab whose storage was ${what} reports it at each use, and stores nothing there`, () => {
    const texts = new Texts();
    const store = new KeyringText('kiosk-7', texts);
    texts.clear();
    if (text !== undefined) texts.set('hub-keyring kiosk-7', text);
    const { writes } = texts;
    for (const use of [() => store.load(), () => store.update(pin('hub-1')), () => store.load()]) {
      assert.throws(use, (error: { code?: string }) => error.code?.startsWith('keyring-') === true);
    }
    assert.equal([texts.get('hub-keyring kiosk-7'), texts.writes], [text, writes]);
  });
}

test('a stored text that is empty is an error, and no new keyring', () => {
  const texts = new Texts([['hub-keyring kiosk-7', '']]);
  assert.throws(
    () => new KeyringText('kiosk-7', texts).load(),
    (error: { code?: string }) => error.code?.startsWith('keyring-') === true,
  );
  assert.is(texts.writes, 0);
});

test('a storage that cannot read or cannot store is refused', () => {
  for (const storage of [{ getItem: () => null }, { setItem: () => {} }]) {
    assert.throws(
      () => new KeyringText('kiosk-7', storage as never),
      (error: { code?: string }) => error.code === 'bad-argument',
    );
  }
});

test('each new keyring of a page has a static key of its own, and none of another client is read', () => {
  const texts = new Texts();
  const keys = ['kiosk-7', 'kiosk-8'].map((name) => new KeyringText(name, texts).load().staticKey.privateKey);
  assert.not.equal(keys[0], keys[1]);
  texts.set('hub-keyring kiosk-8', texts.get('hub-keyring kiosk-7')!);
  assert.throws(
    () => new KeyringText('kiosk-8', texts).load(),
    (error: { code?: string }) => error.code?.startsWith('keyring-') === true,
  );
});

/** A storage with promises, such as AsyncStorage: each operation takes a while. */
function slowly(texts: Texts): AsyncTextStorage {
  const soon = <T>(run: () => T): Promise<T> =>
    new Promise((resolve, reject) => setImmediate(() => Promise.resolve().then(run).then(resolve, reject)));
  return {
    getItem: (name) => soon(() => texts.getItem(name)),
    setItem: (name, text) => soon(() => texts.setItem(name, text)),
  };
}

test('a keyring in a storage with promises has each change once it is stored, and is there at the next start', async () => {
  const texts = new Texts();
  const store = await openKeyring('kiosk-7', slowly(texts));
  const { publicKey } = store.load().staticKey;
  const [one, other] = [store.update(pin('hub-1')), store.update(pin('hub-2'))];
  assert.is(store.load().pins.length, 0);
  await Promise.all([one, other]);
  const again = (await openKeyring('kiosk-7', slowly(texts))).load();
  assert.equal([again.pins.length, again.staticKey.publicKey], [2, publicKey]);
  assert.is(texts.writes, 3);
});

test('a change that a storage with promises refuses is not in the keyring, and the next one is', async () => {
  const texts = new Texts();
  const { setItem } = texts;
  const store = await openKeyring('kiosk-7', slowly(texts));
  texts.setItem = () => {
    throw new Error('full');
  };
  const refused = await Promise.resolve(store.update(pin('hub-1'))).catch(String);
  texts.setItem = setItem;
  await store.update(pin('hub-2'));
  assert.equal([refused, store.load().pins.map(({ nodeId }) => nodeId)], ['Error: full', ['hub-2']]);
});

test('a storage with promises in place of one without is told where it belongs', () => {
  assert.throws(() => new KeyringText('kiosk-7', slowly(new Texts()) as never), /await openKeyring/);
});

test('connect without a WebSocket throws a typed error, whatever stores the keyring', () => {
  const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
  assert.throws(() => connect({ identity, keyring: { load: () => keyring, update: () => {} } }), isTyped);
});

test.run();
