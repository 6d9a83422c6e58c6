/** The options of a ClientSession. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_MESSAGE } from '../../src/limits.ts';
import { type ClientOptions, ClientSession, type KeyringFields } from '../../src/parts.ts';
import { CLIENT_KEY, CLIENT_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import { clientOptions, find, newClient, Pair } from '../world/pair.ts';
import { assertNoGap, raisesLocal } from '../world/raises.ts';

/** For every option of a session and every field of its keyring, values of a wrong type. */
const BAD: { readonly [name in keyof Required<Omit<ClientOptions, 'keyring'> & KeyringFields>]: unknown[] } =
  {
    crypto: [null, undefined, 'noble', {}],
    siteId: [null, undefined, {}, 7],
    randomBytes: [undefined, null, new Uint8Array(32)],
    staticKey: ['secret', null, {}, [], new Uint8Array(32)],
    pins: [{}, null, CLIENT_KEY, [{}], [{ nodeId: NODE_ID, key: new Uint8Array(31) }], [{ key: CLIENT_KEY }]],
    psks: [{}, null, PSK, [null], [{ nodeId: NODE_ID, key: 'secret' }]],
    trust: ['pinned', '', null, true],
    staticKeyIsFresh: ['yes', 1, null],
    hello: [[], null, 'x'],
    binarize: ['yes', null],
    encodings: ['JSON', [1], null],
    patterns: [[], ['XX'], 'XXpsk2', ['constructor'], null],
    onKkFailure: ['drop', null, ''],
    paced: ['yes', null],
    inPlace: [1, null],
    readBinary: ['yes', null, {}],
    maxMessage: [-1, 'all', null, MAX_MESSAGE + 1],
    maxFrame: [-1, '1', null, Number.NaN],
  };

for (const [name, values] of Object.entries(BAD)) {
  test(`the option ${name} is refused if it has the wrong type, by an error that starts with its name`, () => {
    const start = /^(?:pins|psks)$/.test(name) ? /^"keyring" / : new RegExp(`^"(?:keyring\\.)?${name}[".]`);
    for (const value of values) {
      const { message } = raisesLocal(() => newClient({ [name]: value }), 'bad-argument');
      assert.match(message, start);
      assertNoGap(message);
    }
  });
}

test('a client that asks for the binary form has to read it', () => {
  const { message } = raisesLocal(() => newClient({ binarize: true }), 'bad-argument');
  assert.match(message, /^"readBinary" /);
});

test('an option that does not exist is refused by its name', () => {
  for (const name of ['onkkfailure', 'onKKFailure', 'pin', 'nodeId', 'site_id', 'siteID', 'constructor']) {
    const { message } = raisesLocal(() => newClient({ [name]: undefined } as never), 'bad-argument');
    assert.is(message.indexOf(`"options.${name}" `), 0);
  }
});

test('refuses an invalid keyring', () => {
  for (const keyring of [
    undefined,
    null,
    'keyring',
    7,
    [],
    {},
    { staticKey: CLIENT_STATIC, pin: CLIENT_KEY },
  ]) {
    const options = { ...clientOptions(), keyring: keyring as never };
    assert.match(raisesLocal(() => new ClientSession(options), 'bad-argument').message, /^"keyring[".]/);
  }
});

test('the session keeps copies of its options', () => {
  const staticKey = new Uint8Array(CLIENT_STATIC);
  const hello = { session: { session_id: 'mine' } };
  const patterns = ['XXpsk2' as const];
  const client = { staticKey, hello, patterns };
  const pair = new Pair({ client });
  staticKey.fill(0);
  hello.session.session_id = 'changed';
  patterns.length = 0;
  pair.run();
  assert.equal(find(pair.hubEvents, 'ready').clientKey, CLIENT_KEY);
  assert.equal(find(pair.hubEvents, 'hello').payload!.session, { session_id: 'mine' });
});

test.run();
