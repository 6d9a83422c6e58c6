/** The options of each entry: each is the caller's own, and none is unknown, whatever Object.prototype has. */
import { createKeyring, type Keyring, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import type { Client } from 'hub-protocol-client';
import { connect as websocket } from 'hub-protocol-client';
import { connect as browser } from 'hub-protocol-client/browser';
import { connect as https } from 'hub-protocol-client/https';
import { connect as mqtt } from 'hub-protocol-client/mqtt';
import { connect as reactNative } from 'hub-protocol-client/react-native';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { issuedWith } from '../world/hosts.ts';
import { endWorlds, newWorld, PSK } from './world.ts';

test.after.each(endWorlds);

const saved = globalThis.WebSocket;
test.before(() => void Object.assign(globalThis, { WebSocket }));
test.after(() => void Object.assign(globalThis, { WebSocket: saved }));

const stored: Keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
const keyring = { load: () => stored, update: () => {} };
const texts = new Map<string, string>();
const storage = {
  getItem: (name: string) => texts.get(name) ?? null,
  setItem: (name: string, text: string) => void texts.set(name, text),
};
const derive = async (): Promise<Uint8Array> => PSK;
const identity = parseIdentity(issuedWith('localhost'));

/** Each entry, with options that lack nothing. */
const ENTRIES: readonly [name: string, connect: (options: never) => Client, options: object][] = [
  ['websocket', websocket, { identity, keyring }],
  ['https', https, { identity, keyring }],
  ['mqtt', mqtt, { identity, keyring }],
  ['browser', browser, { identity, keyring, derive }],
  ['react-native', reactNative, { identity, storage, derive }],
];

const WRONG: readonly [what: string, options: object][] = [
  ['a misspelt option', { allowPlainText: true }],
  ['a misspelt option of the session', { session: { trusts: 'pinned-only' } }],
  ['a misspelt option of the policy', { policy: { pause: 1 } }],
  ['a misspelt option of the requests', { requests: { deadline: 1 } }],
  ['a misspelt deadline of the requests', { requests: { deadlines: { wait: 1 } } }],
  ['a deadline of requests that no timer takes', { requests: { deadlines: { waiting: 3e9 } } }],
  ['a session that is none', { session: 7 }],
  ['a time between pings that no timer takes', { pingEvery: Number.POSITIVE_INFINITY }],
  ['a time between pings of nothing', { pingEvery: 0 }],
  ['a derivation that is no function', { derive: 'scrypt' }],
];

const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

for (const [name, connect, options] of ENTRIES) {
  for (const [what, wrong] of WRONG) {
    test(`${name} refuses ${what}`, () => {
      assert.is(
        codeOf(() => connect({ ...options, ...wrong } as never)),
        'bad-argument',
      );
    });
  }

  test(`${name} refuses options that are not an object`, () => {
    for (const none of [undefined, null, 7, 'identity.json', []]) {
      assert.is(
        codeOf(() => connect(none as never)),
        'bad-argument',
      );
    }
  });
}

function polluted<T>(field: string, value: unknown, run: () => T): T {
  Object.defineProperty(Object.prototype, field, { value, configurable: true, writable: true });
  try {
    return run();
  } finally {
    delete (Object.prototype as { [field: string]: unknown })[field];
  }
}

for (const [name, connect, options] of ENTRIES) {
  test(`${name} reads no option from Object.prototype`, () => {
    const plain = parseIdentity(
      JSON.parse(
        JSON.stringify(issuedWith('localhost')).replace(/(wss|https|mqtts):/g, (scheme) =>
          scheme.replace('s:', ':'),
        ),
      ),
    );
    const bad: readonly [string, unknown][] = [
      ['session', { trusts: 'pinned-only' }],
      ['policy', { pause: 1 }],
      ['requests', { deadline: 1 }],
      ['pingEvery', 0],
      ['userAgent', 'a:b'],
    ];
    assert.is(
      codeOf(() => polluted('allowPlaintext', true, () => connect({ ...options, identity: plain } as never))),
      'plaintext-endpoint',
    );
    for (const [field, value] of bad) {
      const start = (): void => connect(options as never).end();
      assert.is(
        codeOf(() => polluted(field, value, start)),
        'no error',
        field,
      );
    }
  });
}

test('Object.prototype neither receives the password nor answers a question', async () => {
  const world = newWorld();
  const derived: unknown[] = [];
  const client = world.start();
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent') derived.push(what.envelope);
  });
  Object.defineProperty(Object.prototype, 'derive', {
    value: async (password: string) => derived.push(password),
    configurable: true,
  });
  await client.ask('hello');
  delete (Object.prototype as { derive?: unknown }).derive;
  Object.defineProperty(Object.prototype, 'value', { value: '4711', configurable: true });
  Object.defineProperty(Object.prototype, 'payload', { value: '/go', configurable: true });
  const asked = client.ask({ text: 'hello' });
  delete (Object.prototype as { value?: unknown }).value;
  delete (Object.prototype as { payload?: unknown }).payload;
  await asked;
  const types = derived.map((sent) => Object(sent).payload?.data?.utterances?.[0]);
  assert.equal(types, ['hello', 'hello']);
});

test.run();
