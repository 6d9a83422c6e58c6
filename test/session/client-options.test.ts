/** The options of a ClientSession. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ClientSession } from '../../src/index.ts';
import { MAX_ENVELOPE, MAX_MESSAGE } from '../../src/limits.ts';
import { raisesLocal } from '../raises.ts';
import {
  bytesOf,
  CLIENT_KEY,
  CLIENT_STATIC,
  codeOf,
  envelope,
  fails,
  find,
  HELLO,
  NODE_ID,
  newClient,
  newHub,
  Pair,
  PSK,
} from './pair.ts';

const BAD: { readonly [name: string]: unknown[] } = {
  crypto: [null, undefined, 'noble', {}],
  siteId: [null, undefined, {}, 7],
  randomBytes: [undefined, null, new Uint8Array(32)],
  staticKey: ['secret', undefined, {}, [], new Uint8Array(32)],
  pin: [{}, null, CLIENT_KEY],
  psk: [PSK, null],
  trust: ['pinned', '', null, true],
  hasPins: ['yes', 1, null],
  staticKeyIsFresh: ['yes', 1, null],
  hello: [[], null, 'x'],
  binarize: ['yes', null],
  encodings: ['JSON', [1], null],
  patterns: [[], ['XX'], 'XXpsk2', ['constructor'], null],
  onKkFailure: ['drop', null, ''],
  streams: ['yes', null],
  inPlace: [1, null],
  maxMessage: [-1, 'all', null, MAX_MESSAGE + 1],
  maxEnvelope: [0, -1, 'all', null, Number.NaN, MAX_MESSAGE + 1],
};

for (const [name, values] of Object.entries(BAD)) {
  test(`the option ${name} is refused by its name if it has the wrong type`, () => {
    for (const value of values) {
      const { message } = raisesLocal(() => newClient({ [name]: value }), 'bad-argument');
      assert.match(message, name);
    }
  });
}

test('options of the wrong length, or that JSON cannot represent, are refused', () => {
  raisesLocal(() => newClient({ staticKey: new Uint8Array(31) }), 'bad-length');
  raisesLocal(() => newClient({ hello: { when: new Date() as never } }), 'not-json');
  raisesLocal(() => newClient({ encodings: ['\ud800'] }), 'lone-surrogate');
});

test('an option that does not exist is refused by its name', () => {
  for (const name of ['onkkfailure', 'onKKFailure', 'pins', 'nodeId', 'site_id', 'siteID', 'constructor']) {
    const { message } = raisesLocal(() => newClient({ [name]: undefined } as never), 'bad-argument');
    assert.match(message, `"options.${name}"`);
  }
});

test('options that are not an object, or cannot be read, are refused', () => {
  const unreadable = {
    get siteId(): never {
      throw new Error('gone');
    },
  };
  for (const options of [undefined, null, 'options', 7]) {
    raisesLocal(() => new ClientSession(options as never), 'bad-argument');
  }
  raisesLocal(() => new ClientSession(unreadable as never), 'bad-argument');
});

test('an option that is undefined counts as absent', () => {
  const names = Object.keys(BAD).filter(
    (name) => !['crypto', 'siteId', 'randomBytes', 'staticKey'].includes(name),
  );
  const options = Object.fromEntries(names.map((name) => [name, undefined]));
  assert.equal(newClient(options).receive(HELLO), []);
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

test('each option is read once', () => {
  const reads: { [name: string]: number } = {};
  const counting = new Proxy(
    { pin: () => undefined, trust: 'first-use', hello: {}, maxEnvelope: 1000, patterns: ['XXpsk2'] },
    {
      get(target, name, receiver) {
        reads[String(name)] = (reads[String(name)] ?? 0) + 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  newClient(counting as never);
  for (const [name, count] of Object.entries(reads)) assert.is(count, 1, name);
});

/** A HELLO envelope of so many bytes, with characters of two bytes. */
function helloOf(length: number): string {
  const empty = envelope('hello', { node_id: NODE_ID, pad: '' });
  const rest = length - empty.length;
  return empty.replace('"pad":""', `"pad":"${'é'.repeat(rest >> 1)}${'x'.repeat(rest & 1)}"`);
}

test('a cleartext envelope may be 256 KiB long, and no longer', () => {
  for (const form of [(text: string) => text, bytesOf]) {
    assert.equal(newClient().receive(form(helloOf(MAX_ENVELOPE))), []);
    fails(newClient(), form(helloOf(MAX_ENVELOPE + 1)), 'envelope-too-large');
  }
});

test('maxEnvelope lowers or raises that cap, at a client and at a hub', () => {
  for (const form of [(text: string) => text, bytesOf]) {
    assert.equal(newClient({ maxEnvelope: 1000 }).receive(form(helloOf(1000))), []);
    fails(newClient({ maxEnvelope: 1000 }), form(helloOf(1001)), 'envelope-too-large');
    assert.equal(newClient({ maxEnvelope: 300_000 }).receive(form(helloOf(300_000))), []);
    const hub = newHub({ maxEnvelope: 1000 });
    hub.start();
    assert.equal(hub.receive(form(helloOf(1000))), []);
    fails(hub, form(helloOf(1001)), 'envelope-too-large');
  }
  assert.equal(codeOf(newClient({ maxEnvelope: MAX_MESSAGE }).receive(HELLO)), undefined);
  fails(newClient({ maxEnvelope: 1 }), '{}', 'envelope-too-large');
});

test.run();
