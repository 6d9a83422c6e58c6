/** How many X25519 each call of a client computes: most are computed ahead, and a paced session computes one at a time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bytes, equalBytes, isZero } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import type { CryptoProvider } from '../../src/index.ts';
import type { ClientSession, SessionEvent } from '../../src/parts.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_PIN, HUB_STATIC, NODE_ID } from '../world/keys.ts';
import {
  type ClientAndKeyring,
  envelope,
  find,
  HELLO,
  KK,
  LATER,
  newClient,
  newHub,
  OFFER,
  PACED,
  Pair,
  pairWithHubIn,
  readyPair,
  sharedSecretOf,
  textOf,
  types,
} from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';
import { bytesIn } from './reachable.ts';

const { staticKey: STORED } = PACED;
const OTHER_KEY: Bytes = new Uint8Array(nodeCrypto.x25519.publicKey(new Uint8Array(32).fill(9)));
const PINNED: ClientAndKeyring = { pins: [HUB_PIN] };
/** A keyring with two pins, of which none is expected. */
const TWO_PINS: ClientAndKeyring = { pins: [HUB_PIN, { nodeId: 'hub-2', key: OTHER_KEY }] };

/** The X25519 that were computed and the random bytes that were drawn, each by the name of its function. */
class Counter {
  calls: string[] = [];
  readonly crypto: CryptoProvider = {
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
  options: ClientAndKeyring,
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

test('a reconnect to the only pinned hub computes two shared secrets after the offer, and the others in the constructor', () => {
  const made = [DRAW, 'publicKey', 'sharedSecret', 'sharedSecret']; // ss, es
  const rest = ['sharedSecret', 'sharedSecret']; // ee, se
  for (const patterns of [undefined, ['KKpsk0' as const]]) {
    assert.equal(callsOf({ ...PINNED, staticKey: STORED, patterns }, KK.hub), [made, [], rest]);
  }
});

test('a reconnect to one of two pinned hubs computes all four after the offer', () => {
  const [made, hello, rest] = callsOf({ ...TWO_PINS, staticKey: STORED }, KK.hub);
  assert.equal([made, hello, rest], [[DRAW, 'publicKey'], [], [...three, 'sharedSecret']]);
});

test('a hub that is not the pinned one costs as much as a first contact', () => {
  const pins = [{ nodeId: 'hub-2', key: OTHER_KEY }];
  const [, , rest] = callsOf({ pins, staticKey: STORED });
  assert.equal(rest, three);
});

test('a client that may not use KKpsk0 precomputes no shared secret', () => {
  assert.equal(callsOf({ ...PINNED, staticKey: STORED, patterns: ['XXpsk2'] }), [
    [DRAW, 'publicKey'],
    [],
    three,
  ]);
});

test('an external key pair is asked once, in the constructor, for its shared secret with the only pinned hub', () => {
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

test('an asynchronous key is asked as before', () => {
  const { clientEvents } = readyPair({ client: { ...PINNED, ...LATER }, hub: KK.hub });
  assert.equal(types(clientEvents), ['waiting', 'transmit', 'waiting', 'transmit', 'ready']);
});

test('precomputed secrets do not affect trust', () => {
  const other = new Pair({
    client: { pins: [{ nodeId: NODE_ID, key: OTHER_KEY }] },
    hub: KK.hub,
  }).run();
  assert.is(find(other.hubEvents, 'close').error.code, 'kk-failed');
});

test('a pin of low order is refused when it is used, not before', () => {
  const low = { nodeId: NODE_ID, key: new Uint8Array(32) };
  readyPair({ client: { pins: [{ ...low, nodeId: 'hub-2' }] } });
  const { clientEvents } = new Pair({ client: { pins: [low] }, hub: KK.hub }).run();
  const { error } = find(clientEvents, 'close');
  assert.equal([error.name, error.code], ['LocalError', 'low-order-key']);
});

const HUB_PAIR = { privateKey: HUB_STATIC, publicKey: HUB_KEY };

test('a hub draws its ephemeral key when message 1 has opened, and computes nothing before message 1', () => {
  const counter = new Counter();
  const { hub, held } = pairWithHubIn('awaiting-message-1', {
    hub: { staticKey: HUB_PAIR, crypto: counter.crypto, randomBytes: counter.randomBytes },
  });
  assert.equal(counter.take(), []);
  hub.receive(held[0]!.data);
  assert.equal(counter.take(), [DRAW, 'publicKey', 'sharedSecret', 'sharedSecret']);
});

test('a hub does not compute a given public key', () => {
  const counter = new Counter();
  readyPair({ hub: { crypto: counter.crypto, randomBytes: counter.randomBytes, staticKey: HUB_PAIR } });
  assert.equal(counter.take(), [DRAW, 'publicKey', ...three]);
});

test('precomputed keys are wiped however the session ends, and if the constructor fails', () => {
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
    const held = bytesIn(pair.client).filter((bytes) => isSecret(bytes) && bytes !== CLIENT_STATIC);
    assert.is(new Set(held.map(String)).size, secrets.length);
    end(pair.client, pair);
    assert.ok(held.every(isZero));
    assert.equal(bytesIn(pair.client).filter(isSecret), []);
  }
  const given: Uint8Array[] = [];
  const crypto: CryptoProvider = {
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

test('the caller may wipe the static key once the session exists', () => {
  const staticKey = { privateKey: new Uint8Array(CLIENT_STATIC), publicKey: new Uint8Array(CLIENT_KEY) };
  const pair = new Pair({ client: { staticKey } });
  staticKey.privateKey.fill(0);
  staticKey.publicKey.fill(0);
  pair.run();
  assert.equal(find(pair.hubEvents, 'ready').clientKey, CLIENT_KEY);
});

/** Connects a paced client, and returns what each of its calls computed and emitted. */
function pacedSteps(options: ClientAndKeyring, hubOptions = {}): [computed: string[], emitted: string[]][] {
  const counter = new Counter();
  const steps: [string[], string[]][] = [];
  const hub = newHub(hubOptions);
  let client: ClientSession | undefined;
  const run = (call: () => readonly SessionEvent[]): void => {
    const events = call();
    steps.push([counter.take(), types(events)]);
    for (const event of events) {
      if (event.type === 'waiting') {
        const { publicKey } = event;
        run(() => client!.resume(publicKey && sharedSecretOf(publicKey)));
      }
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
    [NONE, ['waiting']],
    [NONE, ['waiting']], // e
    [NONE, ['transmit']],
    [NONE, ['waiting']], // message 2
    [NONE, ['waiting']], // e
    [DH, ['waiting']], // ee
    [NONE, ['waiting']],
    [NONE, ['waiting']], // s
    [DH, ['waiting']], // es
    [NONE, ['waiting']],
    [NONE, ['waiting']], // psk
    [NONE, ['pin', 'waiting']],
    [NONE, ['waiting']], // s
    [DH, ['waiting']], // se
    [NONE, ['waiting']],
    [NONE, ['transmit', 'transmit', 'ready']],
  ]);
});

test('a paced reconnect to the only pinned hub computes one X25519 in the constructor, and none at HELLO', () => {
  assert.equal(pacedSteps(PINNED, KK.hub), [
    [[DRAW, 'publicKey'], []],
    [NONE, []], // HELLO
    [NONE, ['waiting']],
    [NONE, ['waiting']], // psk
    [NONE, ['waiting']], // e
    [DH, ['waiting']], // es
    [NONE, ['waiting']],
    [DH, ['waiting']], // ss
    [NONE, ['waiting']],
    [NONE, ['transmit']],
    [NONE, ['waiting']], // message 2
    [NONE, ['waiting']], // e
    [DH, ['waiting']], // ee
    [NONE, ['waiting']],
    [DH, ['waiting']], // se
    [NONE, ['waiting']],
    [NONE, ['transmit', 'ready']],
  ]);
});

test('a paced reconnect to one of two pinned hubs does the same', () => {
  assert.equal(pacedSteps(TWO_PINS, KK.hub), pacedSteps(PINNED, KK.hub));
});

test('a paced session asks for the shared secrets of an asynchronous static key, and computes the others', () => {
  assert.equal(pacedSteps({ ...PINNED, ...LATER }, KK.hub).slice(1), [
    [NONE, []],
    [NONE, ['waiting']],
    [NONE, ['waiting']], // psk
    [NONE, ['waiting']], // e
    [DH, ['waiting']], // es
    [NONE, ['waiting']],
    [NONE, ['waiting']], // ss, which is asked for
    [NONE, ['waiting']],
    [NONE, ['transmit']],
    [NONE, ['waiting']], // message 2
    [NONE, ['waiting']], // e
    [DH, ['waiting']], // ee
    [NONE, ['waiting']],
    [NONE, ['waiting']], // se, which is asked for
    [NONE, ['waiting']],
    [NONE, ['transmit', 'ready']],
  ]);
});

test('every call of a paced session computes at most one X25519', () => {
  for (const options of [{}, PINNED, KK.client!, { ...PINNED, ...LATER }]) {
    for (const [computed] of pacedSteps(options, KK.hub)) {
      assert.ok(computed.filter((call) => call !== DRAW).length <= 1);
    }
  }
});

test('a paced session sends the same bytes as an ordinary one', () => {
  const fixed = (byte: number) => ({ randomBytes: () => new Uint8Array(32).fill(byte) });
  for (const options of [{}, PINNED]) {
    const sentWith = (keys: ClientAndKeyring) =>
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

test('a repeated HELLO, even from another hub, costs a paced session nothing', () => {
  const counter = new Counter();
  const client = newClient({ ...PACED, ...PINNED, crypto: counter.crypto });
  counter.take();
  for (const hello of [HELLO, envelope('hello', { node_id: 'another' }), HELLO, HELLO]) client.receive(hello);
  client.receive(OFFER);
  resumeToMessage1(client);
  assert.equal(counter.take(), [...DH, ...DH]); // es, ss
});

test('resume() does nothing unless the session waits', () => {
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
});

test('a shared secret that was not asked for is refused, and changes nothing', () => {
  const client = newClient({ ...PACED, ...KK.client });
  client.receive(HELLO);
  assert.equal(types(client.receive(OFFER)), ['waiting']);
  raisesLocal(() => client.resume(new Uint8Array(32).fill(1)), 'bad-argument');
  for (const _ of ['psk', 'e', 'es', 'es is mixed in', 'ss', 'ss is mixed in']) {
    assert.equal(types(client.resume()), ['waiting']);
  }
  assert.equal(types(client.resume()), ['transmit']);
});

test('while a paced session waits, repeats change nothing, and it can close or fail', () => {
  const paused = (): ClientSession => {
    const client = newClient({ ...PACED, ...KK.client });
    client.receive(HELLO);
    client.receive(OFFER);
    assert.is(client.state, 'sealing-message-1');
    return client;
  };
  const repeated = paused();
  for (const repeat of [HELLO, OFFER]) assert.equal(repeated.receive(repeat), []);
  assert.equal(types(repeated.resume()), ['waiting']);
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

test('resume() reports a wrong message 2 as receive() does', () => {
  const wrong = new Uint8Array(32).fill(0x77);
  const first = new Pair({ client: { ...PACED, psks: [{ nodeId: NODE_ID, key: wrong }] } }).run();
  assert.equal(types(first.clientEvents).slice(-3), ['waiting', 'psk-suspect', 'close']);
});

test('a paced session needs the public key of its static key', () => {
  raisesLocal(() => newClient({ paced: true }), 'bad-argument');
  raisesLocal(() => newClient({ paced: true, staticKey: { privateKey: CLIENT_STATIC } }), 'bad-argument');
  raisesLocal(() => newClient({ ...PACED, paced: 1 as never }), 'bad-argument');
});

test('with a public key that does not belong to the private key, the hub cannot authenticate the client', () => {
  const staticKey = { privateKey: CLIENT_STATIC, publicKey: OTHER_KEY };
  const first = new Pair({ client: { staticKey } }).run();
  assert.is(find(first.hubEvents, 'close').error.code, 'payload-not-authentic');
  const second = new Pair({ ...KK, client: { ...KK.client, staticKey } }).run();
  assert.is(find(second.hubEvents, 'close').error.code, 'kk-failed');
});

test.run();
