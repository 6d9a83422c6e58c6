/** The entry for browsers where there is no page: on a server that renders the page in advance. */
import { createKeyring, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { connect, KeyringStorage } from 'hub-protocol-client/browser';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { issuedWith } from '../world/hosts.ts';

const identity = parseIdentity(issuedWith('localhost'));
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
  const texts = new Map<string, string>();
  const fake = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => texts.set(name, text),
    removeItem: (name: string) => texts.delete(name),
  };
  Object.assign(globalThis, { localStorage: fake });
  const store = new KeyringStorage('kiosk-7');
  assert.is(store.load().accessKey, 'kiosk-7');
  assert.is(texts.size, 1);
  store.clear();
  assert.is(texts.size, 0);
  Object.assign(globalThis, { localStorage: undefined });
});

test('connect without a WebSocket throws a typed error, whatever stores the keyring', () => {
  const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
  assert.throws(() => connect({ identity, keyring: { load: () => keyring, update: () => {} } }), isTyped);
});

test.run();
