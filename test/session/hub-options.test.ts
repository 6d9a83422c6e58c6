/** The options of a HubSession, and what it offers. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { type HubOptions, HubSession } from '../../src/index.ts';
import { CLIENT_KEY, HUB_KEY, HUB_STATIC, PSK } from '../world/keys.ts';
import { find, KK, newHub, Pair, textOf } from '../world/pair.ts';
import { assertNoGap, raisesAbout, raisesLocal } from '../world/raises.ts';

const SUITES = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];

/** The patterns and suites that a hub offers. */
function offered(options: Partial<HubOptions>): { patterns: string[]; suites: string[] } {
  const [, offer] = newHub(options).start();
  return JSON.parse(textOf(offer)).payload.noise;
}

test('a hub offers the suites that its crypto supports, or the given subset', () => {
  assert.equal(offered({}).suites, SUITES);
  assert.equal(offered({ crypto: nobleCrypto }).suites, ['25519_ChaChaPoly_SHA256']);
  assert.equal(offered({ suites: ['25519_ChaChaPoly_SHA256'] }).suites, ['25519_ChaChaPoly_SHA256']);
  raisesLocal(() => newHub({ crypto: nobleCrypto, suites: ['25519_AESGCM_SHA256'] }), 'suite-unavailable');
  raisesLocal(() => newHub({ suites: [] }), 'suite-unavailable');
  raisesLocal(() => newHub({ suites: 'all' as never }), 'bad-argument');
});

const BAD: { readonly [name: string]: unknown[] } = {
  crypto: [null, undefined, {}],
  nodeId: ['', 7, undefined, null],
  psk: ['secret', undefined, null],
  staticKey: ['secret', undefined, new Uint8Array(32), { publicKey: HUB_KEY }],
  clientKey: ['key', null, {}],
  patterns: [[], ['XX'], 'XXpsk2', ['KKpsk0'], null],
  suites: ['all', null, [7]],
  hello: [[], 'x', null],
  handshake: ['x', null, { max_protocol_version: 2 }, { max_protocol_version: '3' }],
  maxMessage: [-1],
  maxFrame: [-1],
  inPlace: [1],
  randomBytes: [1],
};
for (const [name, values] of Object.entries(BAD)) {
  test(`the option ${name} is refused if it has the wrong type, by an error that starts with its name`, () => {
    for (const value of values) {
      const { message } = raisesLocal(() => newHub({ [name]: value } as never), 'bad-argument');
      assert.match(message, new RegExp(`^"${name}[".]`));
      assertNoGap(message);
    }
  });
}

test('fields that the session writes itself are refused in hello and handshake', () => {
  raisesAbout('hello', () => newHub({ hello: { node_id: 'x' } }));
  raisesAbout('hello', () => newHub({ handshake: { noise: {} } }));
});

test('an option that does not exist is refused by its name: a hub delivers no streams', () => {
  for (const name of ['streams', 'clientkey', 'pin', 'siteId']) {
    const { message } = raisesLocal(() => newHub({ [name]: undefined } as never), 'bad-argument');
    assert.is(message.indexOf(`"options.${name}" `), 0);
  }
  for (const options of [undefined, null, 'options']) {
    raisesLocal(() => new HubSession(options as never), 'bad-argument');
  }
});

test('the session keeps copies of its keys', () => {
  const psk = new Uint8Array(PSK);
  const clientKey = new Uint8Array(CLIENT_KEY);
  const pair = new Pair({ client: KK.client, hub: { psk, clientKey } });
  psk.fill(0);
  clientKey.fill(0);
  pair.run();
  assert.is(pair.hub.state, 'ready');
  assert.equal(find(pair.clientEvents, 'ready').hubKey, HUB_KEY);
});

test('the session copies a key pair, and does not change the caller’s array', () => {
  const staticKey = { publicKey: new Uint8Array(HUB_KEY), privateKey: new Uint8Array(HUB_STATIC) };
  const pair = new Pair({ hub: { staticKey } });
  staticKey.publicKey.fill(7);
  staticKey.privateKey.fill(7);
  pair.run();
  assert.equal(find(pair.clientEvents, 'ready').hubKey, HUB_KEY);
  pair.hub.closed();
  assert.equal(staticKey.privateKey, new Uint8Array(32).fill(7));
});

test.run();
