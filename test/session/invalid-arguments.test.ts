/**
 * Invalid arguments: each is refused with a LocalError and changes nothing. None causes a TypeError, and none is blamed on
 * the peer.
 */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  createKeyring,
  derivePsk,
  dropPin,
  forgetPsks,
  type Keyring,
  LocalError,
  pskDerivation,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../src/index.ts';
import { selectNoise } from '../../src/parts.ts';
import { CLIENT_STATIC, HUB_KEY, NODE_ID, PSK } from '../world/keys.ts';
import { newClient, type Pair, readyPair, types } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

const revoked = <Target extends object>(target: Target): Target => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};
const detached = (): Uint8Array => {
  const bytes = new Uint8Array(32).fill(7);
  structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
  return bytes;
};
const throwing = (): object =>
  new Proxy(
    {},
    {
      get() {
        throw new Error('trap');
      },
      ownKeys() {
        throw new Error('trap');
      },
      getOwnPropertyDescriptor() {
        throw new Error('trap');
      },
    },
  );

/** Values that no function accepts. */
const USELESS: { readonly [what: string]: () => unknown } = {
  null: () => null,
  'a number': () => 7,
  'a boolean': () => true,
  'a symbol': () => Symbol('key'),
  'a BigInt': () => 7n,
  'a function': () => () => new Uint8Array(HUB_KEY),
  'an empty object': () => ({}),
  'an array': () => [1, 2],
  'an ArrayBuffer': () => new ArrayBuffer(32),
  'a DataView': () => new DataView(new ArrayBuffer(32)),
  'other typed arrays': () => new Uint16Array(32),
  'an object that only inherits from Uint8Array': () => Object.create(Uint8Array.prototype),
  'a proxy of bytes': () => new Proxy(new Uint8Array(32), {}),
};
/** Values that throw whenever they are used. */
const TRAPS: { readonly [what: string]: () => unknown } = {
  'a revoked proxy': () => revoked({}),
  'a revoked proxy of an array': () => revoked([]),
  'a revoked proxy of bytes': () => revoked(new Uint8Array(32)),
  'a revoked proxy of a function': () => revoked(() => 1),
  'an object whose fields throw': throwing,
};
const EVERY = Object.entries({ ...USELESS, ...TRAPS });

/** Asserts that a call returns, or throws a LocalError. */
function isHandled(call: () => unknown, what: string): void {
  try {
    call();
  } catch (error) {
    assert.instance(error, LocalError, `${what}: ${inspect(error)}`);
  }
}

const METHODS: { readonly [name: string]: (pair: Pair, value: never) => unknown } = {
  'receive() of a client': ({ client }, value) => client.receive(value),
  'receive() of a hub': ({ hub }, value) => hub.receive(value),
  'sendBinary() of a client': ({ client }, value) => client.sendBinary(value),
  'sendBinary() of a hub': ({ hub }, value) => hub.sendBinary(value),
};
for (const [name, call] of Object.entries(METHODS)) {
  test(`${name} refuses anything but bytes or a string, and changes nothing`, () => {
    const pair = readyPair();
    for (const [what, create] of EVERY) {
      raisesLocal(() => call(pair, create() as never), 'bad-argument');
      assert.equal([pair.client.state, pair.hub.state], ['ready', 'ready'], what);
    }
    converses(pair);
  });
}

function converses(pair: Pair): void {
  assert.equal(types(pair.toHub(pair.client.sendJson({}))), ['message']);
  assert.equal(types(pair.toClient(pair.hub.sendJson({}))), ['message']);
}

test('received bytes whose memory was transferred count as an unreadable message', () => {
  const { client } = readyPair();
  assert.equal(types(client.receive(detached())), ['close']);
  assert.equal(types(newClient().receive(detached())), ['close']);
});

test('sendJson() refuses values that JSON cannot represent, and changes nothing', () => {
  const cyclic: { a?: unknown } = {};
  cyclic.a = cyclic;
  const values: [unknown, 'not-json' | 'unsafe-number' | 'lone-surrogate' | 'json-depth'][] = [
    [undefined, 'not-json'],
    ['{', 'not-json'], // a string is JSON already
    [Symbol('a'), 'not-json'],
    [7n, 'not-json'],
    [() => 1, 'not-json'],
    [{ a: undefined }, 'not-json'],
    [new Date(), 'not-json'],
    [new Uint8Array(3), 'not-json'],
    [{ a: Number.NaN }, 'unsafe-number'],
    ['\ud800', 'lone-surrogate'],
    [{ '\ud800': 1 }, 'lone-surrogate'],
    [cyclic, 'json-depth'],
    [revoked({}), 'not-json'],
    [revoked([]), 'not-json'],
    [{ a: throwing() }, 'not-json'],
  ];
  const pair = readyPair();
  for (const [value, code] of values) {
    raisesLocal(() => pair.client.sendJson(value as never), code);
    raisesLocal(() => pair.hub.sendJson(value as never), code);
  }
  converses(pair);
});

const KEYRING = storePsk(createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC }), NODE_ID, PSK);
/** Functions that entries/misuse.test.ts does not call: a derivation with right arguments takes a second. */
const CALLS: { readonly [name: string]: (value: never) => unknown } = {
  'derivePsk()': (value) => derivePsk(value),
  'the crypto of derivePsk()': (value) => derivePsk({ crypto: value, password: 'secret', nodeId: NODE_ID }),
  'the password of derivePsk()': (value) =>
    derivePsk({ crypto: nodeCrypto, password: value, nodeId: NODE_ID }),
  'the node id of derivePsk()': (value) =>
    derivePsk({ crypto: nodeCrypto, password: 'secret', nodeId: value }),
  'the salt of pskDerivation()': (value) =>
    pskDerivation({ crypto: nodeCrypto, password: 'secret', salt: value }),
  'the offer of selectNoise()': (value) => selectNoise(value, { suites: [], pinned: false }),
  'the own suites of selectNoise()': (value) => selectNoise({ patterns: [], suites: [] }, value),
};
for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} throws nothing but LocalErrors`, () => {
    for (const [what, create] of EVERY) isHandled(() => call(create() as never), what);
    isHandled(() => call(undefined as never), 'undefined');
  });
}

const KEY_OF_31 = new Uint8Array(31);
const ENTRIES: unknown[] = [
  {},
  [null],
  [{ nodeId: 7, key: HUB_KEY }],
  [{ nodeId: NODE_ID, key: KEY_OF_31 }],
  [{ nodeId: NODE_ID, key: { length: 32 } }],
];
const REPLACED: { readonly [part: string]: unknown[] } = {
  accessKey: [7, undefined],
  staticKey: ['key', undefined, KEY_OF_31, { publicKey: KEY_OF_31 }, { publicKey: { length: 32 } }],
  staticKeyIsFresh: [1, undefined],
  pins: ENTRIES,
  psks: ENTRIES,
};
for (const [part, values] of Object.entries(REPLACED)) {
  test(`a keyring whose ${part} was replaced is refused`, () => {
    const { accessKey, staticKey, staticKeyIsFresh, pins, psks } = KEYRING;
    const whole = { accessKey, staticKey, staticKeyIsFresh, pins, psks };
    for (const value of values) {
      const keyring: Keyring = { ...whole, [part]: value as never };
      for (const call of [serializeKeyring, forgetPsks]) raisesLocal(() => call(keyring), 'bad-argument');
      raisesLocal(() => dropPin(keyring, NODE_ID), 'bad-argument');
      raisesLocal(() => storePsk(keyring, NODE_ID, PSK), 'bad-argument');
      raisesLocal(() => updateKeyring(keyring, { type: 'transmit', data: '' }), 'bad-argument');
    }
  });
}

test.run();
