/** How many X25519 each call of a client computes: most are computed ahead, and a paced session computes one at a time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { equalBytes, isZero } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import type { CryptoProvider } from '../../src/index.ts';
import type { ClientSession, SessionEvent } from '../../src/parts.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_PIN, HUB_STATIC } from '../world/keys.ts';
import {
  type ClientAndKeyring,
  find,
  KK,
  newClient,
  newHub,
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
const PINNED: ClientAndKeyring = { pins: [HUB_PIN] };

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

test('a paced session sends the same bytes as an ordinary one', () => {
  const fixed = (byte: number) => ({ randomBytes: () => new Uint8Array(32).fill(byte) });
  for (const options of [{}, PINNED]) {
    const sentWith = (keys: ClientAndKeyring) =>
      readyPair({ client: { ...options, ...keys, ...fixed(7) }, hub: { ...KK.hub, ...fixed(8) } }).sent;
    assert.equal(sentWith(PACED), sentWith({}));
    assert.equal(sentWith({ staticKey: STORED }), sentWith({}));
  }
});

test('a paced session needs the public key of its static key', () => {
  raisesLocal(() => newClient({ paced: true }), 'bad-argument');
  raisesLocal(() => newClient({ paced: true, staticKey: { privateKey: CLIENT_STATIC } }), 'bad-argument');
  raisesLocal(() => newClient({ ...PACED, paced: 1 as never }), 'bad-argument');
});

test('the caller may wipe the static key once the session exists', () => {
  const staticKey = { privateKey: new Uint8Array(CLIENT_STATIC), publicKey: new Uint8Array(CLIENT_KEY) };
  const pair = new Pair({ client: { staticKey } });
  staticKey.privateKey.fill(0);
  staticKey.publicKey.fill(0);
  pair.run();
  assert.equal(find(pair.hubEvents, 'ready').clientKey, CLIENT_KEY);
});

test.run();
