/** How many X25519 each call of a client computes: most are computed ahead, and a paced session computes one at a time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bytes, equalBytes, isZero } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  type ClientOptions,
  type ClientSession,
  type Crypto,
  createKeyring,
  keyringOptions,
  type SessionEvent,
  updateKeyring,
} from '../../src/index.ts';
import { raisesLocal } from '../raises.ts';
import {
  CLIENT_KEY,
  CLIENT_STATIC,
  envelope,
  find,
  HELLO,
  HUB_KEY,
  KK,
  LATER,
  newClient,
  newHub,
  OFFER,
  PACED,
  Pair,
  PSK,
  pairWithClientIn,
  pairWithHubIn,
  readyPair,
  sharedSecretOf,
  textOf,
  types,
} from './pair.ts';
import { bytesIn } from './reachable.ts';

const { staticKey: STORED } = PACED;
const PINNED: Partial<ClientOptions> = { pins: [HUB_PIN], expectedHubKey: HUB_KEY };
const OTHER_KEY = nodeCrypto.x25519.publicKey(new Uint8Array(32).fill(9));

/** The X25519 that were computed and the random bytes that were drawn, each by the name of its function. */
class Counter {
  calls: string[] = [];
  readonly crypto: Crypto = {
    ...nodeCrypto,
    x25519: {
      publicKey: (own) => this.#note('publicKey', nodeCrypto.x25519.publicKey(own)),
      sharedSecret: (own, remote) => this.#note('sharedSecret', nodeCrypto.x25519.sharedSecret(own, remote)),
    },
  };
  readonly randomBytes = (length: number) => this.#note(`randomBytes ${length}`, randomBytes(length));

  #note<Result>(name: string, result: Result): Result {
    this.calls.push(name);
    return result;
  }

  /** The calls since the last time, in order. */
  take(): string[] {
    return this.calls.splice(0);
  }
}

/** The calls in the constructor, at HELLO, and between the offer and `ready`, of a client whose hub answers at once. */
function callsOf(
  options: Partial<ClientOptions>,
  hubOptions = {},
): [made: string[], hello: string[], rest: string[]] {
  const counter = new Counter();
  const client = newClient({ ...options, crypto: counter.crypto, randomBytes: counter.randomBytes });
  const made = counter.take();
  const hub = newHub(hubOptions);
  const [hello, offer] = hub.start().map(textOf);
  client.receive(hello!);
  const atHello = counter.take();
  const message1 = client.receive(offer!).at(-1);
  const [message2] = hub.receive(textOf(message1));
  client.receive(textOf(message2));
  assert.is(client.state, 'ready');
  return [made, atHello, counter.take()];
}

const DRAW = 'randomBytes 32';
const three = ['sharedSecret', 'sharedSecret', 'sharedSecret'];

test('a first contact computes three shared secrets between the offer and message 3, and no public key', () => {
  assert.equal(callsOf({ staticKey: STORED }), [[DRAW, 'publicKey'], [], three]); // ee, es, se
});

test('without a stored public key the constructor computes it', () => {
  assert.equal(callsOf({}), [['publicKey', DRAW, 'publicKey'], [], three]);
});

test('a reconnect to the expected hub computes two shared secrets after the offer, and the others in the constructor', () => {
  const made = [DRAW, 'publicKey', 'sharedSecret', 'sharedSecret']; // ss, es
  const [, , rest] = [made, [], ['sharedSecret', 'sharedSecret']]; // ee, se
  for (const patterns of [undefined, ['KKpsk0' as const]]) {
    assert.equal(callsOf({ ...PINNED, staticKey: STORED, patterns }, KK.hub), [made, [], rest]);
  }
});

test('a reconnect to a hub that was not expected computes all four after the offer', () => {
  const [, , rest] = callsOf({ ...KK.client, staticKey: STORED }, KK.hub);
  assert.equal(rest, [...three, 'sharedSecret']);
  const [, hello, after] = callsOf({ ...KK.client, staticKey: STORED, expectedHubKey: OTHER_KEY }, KK.hub);
  assert.equal([hello, after], [[], [...three, 'sharedSecret']]);
});

test('a client that must not use KKpsk0 computes no shared secret ahead', () => {
  assert.equal(callsOf({ ...PINNED, staticKey: STORED, patterns: ['XXpsk2'] }), [
    [DRAW, 'publicKey'],
    [],
    three,
  ]);
});

test('a key pair outside of JavaScript is asked for its shared secret with the expected hub once, in the constructor', () => {
  const asked: Uint8Array[] = [];
  const staticKey = {
    publicKey: CLIENT_KEY,
    sharedSecret(publicKey: Uint8Array) {
      asked.push(new Uint8Array(publicKey));
      return sharedSecretOf(publicKey);
    },
  };
  newClient({ ...PINNED, staticKey });
  assert.equal(asked, [HUB_KEY]);
  readyPair({ client: { ...PINNED, staticKey }, hub: KK.hub });
  assert.is(asked.filter((key) => equalBytes(key, HUB_KEY)).length, 2);
});

test('a key pair that answers later is asked as before, whichever hub is expected', () => {
  const { clientEvents } = readyPair({ client: { ...PINNED, ...LATER }, hub: KK.hub });
  assert.equal(types(clientEvents), ['dh-needed', 'transmit', 'dh-needed', 'transmit', 'ready']);
});

test('a client expects the hub that was pinned last, by its keyring', () => {
  let keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto: nodeCrypto });
  assert.equal({ ...keyring.staticKey, privateKey: CLIENT_STATIC }, STORED);
  assert.is(keyringOptions(keyring).expectedHubKey, undefined);
  keyring = updateKeyring(keyring, { type: 'pin', nodeId: 'another', key: OTHER_KEY as Bytes });
  keyring = updateKeyring(keyring, { type: 'pin', nodeId: 'hub-1', key: HUB_KEY });
  const [, , rest] = callsOf({ ...keyringOptions(keyring), psks: [HUB_PSK] }, KK.hub);
  assert.is(rest.length, 2);
});

test('the expected key decides nothing about trust', () => {
  const hubs = [
    readyPair({ client: { expectedHubKey: HUB_KEY, pin: () => undefined } }),
    readyPair({ client: { expectedHubKey: OTHER_KEY, pins: [HUB_PIN] }, hub: KK.hub }),
  ];
  assert.equal(
    hubs.map(({ clientEvents }) => find(clientEvents, 'ready').pattern),
    ['XXpsk2', 'KKpsk0'],
  );
  const other = new Pair({
    client: { expectedHubKey: HUB_KEY, pin: () => OTHER_KEY, patterns: ['XXpsk2'] },
  }).run();
  assert.is(find(other.clientEvents, 'close').error.code, 'hub-key-changed');
});

test('a pin that cannot be read ends the session before message 1, whichever hub is expected', () => {
  const pin = () => {
    throw new Error('disk');
  };
  const client = newClient({ ...PINNED, pin });
  client.receive(HELLO);
  assert.is(find(client.receive(OFFER), 'close').error.code, 'trust-unreadable');
});

test('an expected key of low order is refused when it is used, not before', () => {
  const low = new Uint8Array(32);
  readyPair({ client: { expectedHubKey: low } });
  const { clientEvents } = new Pair({ client: { expectedHubKey: low, pin: () => low }, hub: KK.hub }).run();
  const { error } = find(clientEvents, 'close');
  assert.equal([error.name, error.code], ['LocalError', 'low-order-key']);
});

test('a hub draws its ephemeral key when message 1 has opened, and computes nothing before message 1', () => {
  const counter = new Counter();
  const { hub, held } = pairWithHubIn('awaiting-message-1', {
    hub: { crypto: counter.crypto, randomBytes: counter.randomBytes },
  });
  assert.equal(counter.take(), []);
  hub.receive(held[0]!.data);
  assert.equal(counter.take(), ['publicKey', DRAW, 'publicKey', 'sharedSecret', 'sharedSecret']);
});

test('a hub whose public key is given does not compute it', () => {
  const counter = new Counter();
  const staticKey = { privateKey: new Uint8Array(32).fill(2), publicKey: HUB_KEY };
  readyPair({ hub: { crypto: counter.crypto, randomBytes: counter.randomBytes, staticKey } });
  assert.equal(counter.take(), [DRAW, 'publicKey', ...three]);
});

test('the keys made ahead are wiped however the session ends, and when the constructor fails', () => {
  const ephemeral = new Uint8Array(32).fill(0x6e);
  const secrets = [
    CLIENT_STATIC,
    ephemeral,
    sharedSecretOf(HUB_KEY),
    nodeCrypto.x25519.sharedSecret(ephemeral, HUB_KEY),
  ];
  const isSecret = (bytes: Uint8Array) => secrets.some((secret) => equalBytes(secret, bytes));
  const options = { ...PINNED, staticKey: STORED, randomBytes: () => new Uint8Array(ephemeral) };
  const ends: ((client: ClientSession, pair: Pair) => unknown)[] = [
    (client) => client.closed(1006),
    (client) => client.receive('nonsense'),
    (_, pair) => pair.run(),
  ];
  for (const end of ends) {
    const pair = new Pair({ client: options, hub: KK.hub });
    const held = bytesIn(pair.client).filter(isSecret);
    assert.is(new Set(held.map(String)).size, secrets.length);
    end(pair.client, pair);
    assert.ok(held.every(isZero));
    assert.equal(bytesIn(pair.client).filter(isSecret), []);
  }
  const given: Uint8Array[] = [];
  const crypto: Crypto = {
    ...nodeCrypto,
    x25519: {
      publicKey: nodeCrypto.x25519.publicKey,
      sharedSecret(own) {
        given.push(own);
        throw new Error('bus');
      },
    },
  };
  raisesLocal(() => newClient({ ...PINNED, crypto }), 'crypto-failed');
  assert.ok(given.length > 0 && given.every(isZero));
});

test('the static key may be wiped by its owner once the session is made', () => {
  const staticKey = { privateKey: new Uint8Array(CLIENT_STATIC), publicKey: new Uint8Array(CLIENT_KEY) };
  const pair = new Pair({ client: { staticKey } });
  staticKey.privateKey.fill(0);
  staticKey.publicKey.fill(0);
  pair.run();
  assert.equal(find(pair.hubEvents, 'ready').clientKey, CLIENT_KEY);
});

/** Connects a paced client, and returns what each of its calls computed and emitted. */
function pacedSteps(
  options: Partial<ClientOptions>,
  hubOptions = {},
): [computed: string[], emitted: string[]][] {
  const counter = new Counter();
  const steps: [string[], string[]][] = [];
  const hub = newHub(hubOptions);
  let client: ClientSession | undefined;
  const run = (call: () => readonly SessionEvent[]): void => {
    const events = call();
    steps.push([counter.take(), types(events)]);
    for (const event of events) {
      if (event.type === 'paused') run(() => client!.resume());
      if (event.type === 'dh-needed') run(() => client!.provideSharedSecret(sharedSecretOf(event.publicKey)));
      if (event.type === 'transmit') for (const reply of hub.receive(event.data)) deliver(reply);
    }
  };
  const deliver = (event: { type: string }): void => {
    if (event.type === 'transmit') run(() => client!.receive(textOf(event)));
  };
  run(() => {
    const all = { ...PACED, ...options, crypto: counter.crypto, randomBytes: counter.randomBytes };
    client = newClient(all);
    return [];
  });
  hub.start().forEach(deliver);
  assert.is(client!.state, 'ready');
  return steps;
}

const DH = ['sharedSecret'];
const NONE: string[] = [];

test('a paced first contact computes one X25519 in the constructor, and does one step in each resume()', () => {
  assert.equal(pacedSteps({}), [
    [[DRAW, 'publicKey'], []],
    [NONE, []], // HELLO
    [NONE, ['paused']],
    [NONE, ['paused']], // e
    [NONE, ['transmit']],
    [NONE, ['paused']], // message 2
    [NONE, ['paused']], // e
    [DH, ['paused']], // ee
    [NONE, ['paused']],
    [NONE, ['paused']], // s
    [DH, ['paused']], // es
    [NONE, ['paused']],
    [NONE, ['paused']], // psk
    [NONE, ['pin', 'paused']],
    [NONE, ['paused']], // s
    [DH, ['paused']], // se
    [NONE, ['paused']],
    [NONE, ['transmit', 'transmit', 'ready']],
  ]);
});

test('a paced reconnect to the expected hub computes one X25519 in the constructor, and none at HELLO', () => {
  assert.equal(pacedSteps(PINNED, KK.hub), [
    [[DRAW, 'publicKey'], []],
    [NONE, []], // HELLO
    [NONE, ['paused']],
    [NONE, ['paused']], // psk
    [NONE, ['paused']], // e
    [DH, ['paused']], // es
    [NONE, ['paused']],
    [DH, ['paused']], // ss
    [NONE, ['paused']],
    [NONE, ['transmit']],
    [NONE, ['paused']], // message 2
    [NONE, ['paused']], // e
    [DH, ['paused']], // ee
    [NONE, ['paused']],
    [DH, ['paused']], // se
    [NONE, ['paused']],
    [NONE, ['transmit', 'ready']],
  ]);
});

test('a paced reconnect to another hub does the same', () => {
  assert.equal(pacedSteps(KK.client!, KK.hub), pacedSteps(PINNED, KK.hub));
});

test('a paced session asks for the shared secrets of a static key that answers later, and computes the others', () => {
  assert.equal(pacedSteps({ ...PINNED, ...LATER }, KK.hub).slice(1), [
    [NONE, []],
    [NONE, ['paused']],
    [NONE, ['paused']], // psk
    [NONE, ['paused']], // e
    [DH, ['paused']], // es
    [NONE, ['paused']],
    [NONE, ['dh-needed']], // ss
    [NONE, ['paused']],
    [NONE, ['transmit']],
    [NONE, ['paused']], // message 2
    [NONE, ['paused']], // e
    [DH, ['paused']], // ee
    [NONE, ['paused']],
    [NONE, ['dh-needed']], // se
    [NONE, ['paused']],
    [NONE, ['transmit', 'ready']],
  ]);
});

test('no more than one X25519 is computed in any call of a paced session', () => {
  for (const options of [{}, PINNED, KK.client!, { ...PINNED, ...LATER }]) {
    for (const [computed] of pacedSteps(options, KK.hub)) {
      assert.ok(computed.filter((call) => call !== DRAW).length <= 1);
    }
  }
});

test('a paced session and one that is not send the same bytes', () => {
  const fixed = (byte: number) => ({ randomBytes: () => new Uint8Array(32).fill(byte) });
  for (const options of [{}, PINNED]) {
    const sentWith = (keys: Partial<ClientOptions>) =>
      readyPair({ client: { ...options, ...keys, ...fixed(7) }, hub: { ...KK.hub, ...fixed(8) } }).sent;
    assert.equal(sentWith(PACED), sentWith({}));
    assert.equal(sentWith({ staticKey: STORED }), sentWith({}));
  }
});

/** Resumes a client until it has sent message 1, which takes fewer than ten calls. */
function resumeToMessage1(client: ClientSession): void {
  for (let i = 0; i < 10 && client.state !== 'awaiting-message-2'; i++) client.resume();
  assert.is(client.state, 'awaiting-message-2');
}

test('HELLO may come again, from another hub too, and costs a paced session nothing more', () => {
  const counter = new Counter();
  const client = newClient({ ...PACED, ...PINNED, crypto: counter.crypto });
  counter.take();
  for (const hello of [HELLO, envelope('hello', { node_id: 'another' }), HELLO, HELLO]) client.receive(hello);
  client.receive(OFFER);
  resumeToMessage1(client);
  assert.equal(counter.take(), [...DH, ...DH]); // es, ss
});

test('resume() does nothing where nothing is paused, and a second call nothing more', () => {
  for (const options of [{}, PACED]) {
    const client = newClient(options);
    assert.equal(client.resume(), []);
    client.receive(HELLO);
    assert.equal(client.resume(), []);
    client.receive(OFFER);
    resumeToMessage1(client);
    assert.equal(client.resume(), []);
    client.closed();
    assert.equal(client.resume(), []);
  }
  assert.equal(pairWithClientIn('sealing-message-3').client.resume(), []); // which waits for a shared secret
});

test('a shared secret for a session that is paused is the caller’s mistake, and changes nothing', () => {
  const client = newClient({ ...PACED, ...KK.client });
  client.receive(HELLO);
  assert.equal(types(client.receive(OFFER)), ['paused']);
  raisesLocal(() => client.provideSharedSecret(new Uint8Array(32).fill(1)), 'wrong-state');
  for (const _ of ['psk', 'e', 'es', 'es is mixed in', 'ss', 'ss is mixed in']) {
    assert.equal(types(client.resume()), ['paused']);
  }
  assert.equal(types(client.resume()), ['transmit']);
});

test('while a session is paused, repeats change nothing, and it can be closed and can fail', () => {
  const paused = (): ClientSession => {
    const client = newClient({ ...PACED, ...KK.client });
    client.receive(HELLO);
    client.receive(OFFER);
    assert.is(client.state, 'sealing-message-1');
    return client;
  };
  const repeated = paused();
  for (const repeat of [HELLO, OFFER]) assert.equal(repeated.receive(repeat), []);
  assert.equal(types(repeated.resume()), ['paused']);
  const closed = paused();
  assert.equal(types(closed.closed(1006)), ['ended']);
  assert.equal(closed.resume(), []);
  const failed = paused();
  assert.equal(types(failed.receive('nonsense')), ['close']);
  assert.equal(failed.resume(), []);
});

test('an X25519 that fails in resume() ends the session as a local fault, and the pin stays', () => {
  const x25519 = {
    publicKey: nodeCrypto.x25519.publicKey,
    sharedSecret() {
      throw new Error('bus');
    },
  };
  const client = newClient({ ...PACED, ...KK.client, crypto: { ...nodeCrypto, x25519 } });
  client.receive(HELLO);
  client.receive(OFFER);
  for (const _ of ['psk', 'e']) client.resume();
  const events = client.resume();
  assert.equal(types(events), ['close']);
  assert.is(find(events, 'close').error.code, 'crypto-failed');
  assert.equal(types(client.closed(1008)), ['ended']);
});

test('what is wrong with message 2 is told from resume() as it is from receive()', () => {
  const wrong = new Uint8Array(32).fill(0x77);
  const first = new Pair({ client: { ...PACED, psk: () => wrong } }).run();
  assert.equal(types(first.clientEvents).slice(-3), ['paused', 'psk-suspect', 'close']);
  const client = { ...PACED, pin: () => OTHER_KEY, patterns: ['XXpsk2'] as ['XXpsk2'] };
  const changed = new Pair({ client }).run();
  assert.equal(types(changed.clientEvents).slice(-2), ['paused', 'close']);
  assert.is(find(changed.clientEvents, 'close').error.code, 'hub-key-changed');
});

test('a paced session needs the public key of its static key, and an expected key is 32 bytes', () => {
  raisesLocal(() => newClient({ paced: true }), 'bad-argument');
  raisesLocal(() => newClient({ ...PACED, paced: 1 as never }), 'bad-argument');
  raisesLocal(() => newClient({ expectedHubKey: 'key' as never }), 'bad-argument');
  raisesLocal(() => newClient({ expectedHubKey: new Uint8Array(31) }), 'bad-length');
});

test('a public key that is not that of the private key ends where the hub cannot authenticate the client', () => {
  const staticKey = { privateKey: CLIENT_STATIC, publicKey: OTHER_KEY };
  const first = new Pair({ client: { staticKey } }).run();
  assert.is(find(first.hubEvents, 'close').error.code, 'payload-not-authentic');
  const second = new Pair({ ...KK, client: { ...KK.client, staticKey } }).run();
  assert.is(find(second.hubEvents, 'close').error.code, 'kk-failed');
});

test.run();
