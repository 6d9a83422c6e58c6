/**
 * Callbacks may not call back: every method of a session, called from within code that this session calls, refuses with
 * `wrong-state` and changes nothing, and the session goes on as if it had not been called.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { type CryptoProvider, type HubSession, LocalError } from '../../src/index.ts';
import type { ClientSession } from '../../src/parts.ts';
import { CLIENT_KEY, PSK } from '../world/keys.ts';
import {
  find,
  HELLO,
  KK,
  newClient,
  OFFER,
  Pair,
  type PairOptions,
  readyPair,
  sharedSecretOf,
  types,
} from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

const SECRET = new Uint8Array(32).fill(7);

const CLIENT_METHODS: { [name: string]: (client: ClientSession) => unknown } = {
  'start()': (client) => client.start(),
  'receive() of a HELLO': (client) => client.receive(HELLO),
  'receive() of an offer': (client) => client.receive(OFFER),
  'receive() of bytes': (client) => client.receive(new Uint8Array(20)),
  'providePsk()': (client) => client.providePsk(PSK),
  'resume()': (client) => client.resume(),
  'resume() with a shared secret': (client) => client.resume(SECRET),
  'sendJson()': (client) => client.sendJson({}),
  'sendBinary()': (client) => client.sendBinary(SECRET),
  'closed()': (client) => client.closed(),
};
const HUB_METHODS: { [name: string]: (hub: HubSession) => unknown } = {
  'start()': (hub) => hub.start(),
  'receive() of a HELLO': (hub) => hub.receive(HELLO),
  'receive() of bytes': (hub) => hub.receive(new Uint8Array(20)),
  'sendJson()': (hub) => hub.sendJson({}),
  'sendBinary()': (hub) => hub.sendBinary(SECRET),
  'closed()': (hub) => hub.closed(),
};

/** What callbacks do before they do their work. */
type Within = () => void;

/** Runs the callback's code, then returns a result. */
function after<Result>(first: Within, result: () => Result): Result {
  first();
  return result();
}

/** Node's crypto, each function of which first does something else. */
function cryptoThat(first: Within): CryptoProvider {
  const { sha256, hmacSha256, x25519, ciphers } = nodeCrypto;
  return {
    sha256: (...parts) => after(first, () => sha256(...parts)),
    hmacSha256: (...args) => after(first, () => hmacSha256(...args)),
    x25519: {
      publicKey: (key) => after(first, () => x25519.publicKey(key)),
      sharedSecret: (...keys) => after(first, () => x25519.sharedSecret(...keys)),
    },
    ciphers: {
      ChaChaPoly: (key) =>
        after(first, () => {
          const cipher = ciphers.ChaChaPoly!(key);
          return {
            seal: (...args) => after(first, () => cipher.seal(...args)),
            open: (...args) => after(first, () => cipher.open(...args)),
          };
        }),
    },
  };
}

const CLIENT_CALLBACKS: { [name: string]: (first: Within) => PairOptions['client'] } = {
  'the crypto': (first) => ({ crypto: cryptoThat(first) }),
  'the sharedSecret() of a static key': (first) => ({
    staticKey: { publicKey: CLIENT_KEY, sharedSecret: (key) => after(first, () => sharedSecretOf(key)) },
  }),
  'the crypto, where the PSK is asked for': (first) => ({ crypto: cryptoThat(first), psks: [] }),
};
const HUB_CALLBACKS: { [name: string]: (first: Within) => PairOptions['hub'] } = {
  'randomBytes()': (first) => ({ randomBytes: (length) => after(first, () => randomBytes(length)) }),
  'the crypto': (first) => ({ crypto: cryptoThat(first) }),
};

/** Calls a method, and notes how it refused and whether the state changed. */
function tryWithin<Session extends { state: string }>(
  session: Session | undefined,
  call: (session: Session) => unknown,
  notes: Set<string>,
): void {
  if (session === undefined) return; // still in its constructor
  const { state } = session;
  try {
    call(session);
    notes.add(`returned in ${state}`);
  } catch (error) {
    assert.instance(error, LocalError);
    notes.add((error as LocalError).code);
  }
  assert.is(session.state, state);
}

/** A pair that becomes ready, and sends a message each way. */
function converse(pair: Pair): string[][] {
  pair.run();
  if (pair.client.state === 'awaiting-psk') pair.advance('client', pair.client.providePsk(PSK));
  const toClient = pair.toClient(pair.hub.sendJson({ a: 1 }));
  const toHub = pair.toHub(pair.client.sendJson({ a: 1 }));
  return [pair.clientEvents, pair.hubEvents, toClient, toHub].map(types);
}

const PATTERNS = [{ client: {}, hub: {} }, KK];

for (const [callback, optionsOf] of Object.entries(CLIENT_CALLBACKS)) {
  const undisturbed = PATTERNS.map(({ client, hub }) =>
    converse(new Pair({ client: { ...client, ...optionsOf(() => {}) }, hub })),
  );
  for (const [method, call] of Object.entries(CLIENT_METHODS)) {
    test(`${method} of a client within ${callback} is refused, and the session goes on`, () => {
      for (const [i, options] of PATTERNS.entries()) {
        const within: { client?: ClientSession } = {};
        const notes = new Set<string>();
        const client = { ...options.client, ...optionsOf(() => tryWithin(within.client, call, notes)) };
        const pair = new Pair({ client, hub: options.hub });
        within.client = pair.client;
        assert.equal(converse(pair), undisturbed[i]);
        assert.equal([...notes], ['wrong-state']);
      }
    });
  }
}

const UNDISTURBED = PATTERNS.map((options) => converse(new Pair(options)));
for (const [callback, optionsOf] of Object.entries(HUB_CALLBACKS)) {
  for (const [method, call] of Object.entries(HUB_METHODS)) {
    test(`${method} of a hub within ${callback} is refused, and the session goes on`, () => {
      for (const [i, options] of PATTERNS.entries()) {
        const within: { hub?: HubSession } = {};
        const notes = new Set<string>();
        const hub = { ...options.hub, ...optionsOf(() => tryWithin(within.hub, call, notes)) };
        const pair = new Pair({ client: options.client, hub });
        within.hub = pair.hub;
        assert.equal(converse(pair), UNDISTURBED[i]);
        assert.equal([...notes], ['wrong-state']);
      }
    });
  }
}

test('every method within a getter of a value that is sent is refused, and the message is sent once', () => {
  for (const side of ['client', 'hub'] as const) {
    const methods = side === 'client' ? CLIENT_METHODS : HUB_METHODS;
    for (const [method, call] of Object.entries(methods)) {
      const pair = readyPair();
      const notes = new Set<string>();
      const value = {
        get a(): number {
          tryWithin(pair[side], call as (session: ClientSession | HubSession) => unknown, notes);
          return 1;
        },
      };
      const messages = pair[side].sendJson(value);
      assert.equal([...notes], ['wrong-state'], method);
      assert.is(messages.length, 1);
      const received = side === 'client' ? pair.toHub(messages) : pair.toClient(messages);
      assert.equal(received as unknown, [{ type: 'message', kind: 'json', text: '{"a":1}' }]);
    }
  }
});

test('a refusal that a callback does not catch counts as the callback’s own error', () => {
  const pair = readyPair();
  const value = {
    get a(): never {
      return pair.client.closed() as never;
    },
  };
  raisesLocal(() => pair.client.sendJson(value), 'wrong-state');
  assert.is(pair.client.state, 'ready');
});

test('a session can be used again once a callback has thrown', () => {
  const pair = readyPair();
  const value = {
    get a(): never {
      throw new Error('gone');
    },
  };
  raisesLocal(() => pair.client.sendJson(value), 'not-json');
  assert.equal(types(pair.toHub(pair.client.sendJson({}))), ['message']);
});

test('closed() within the crypto does not revive the session with a static key of zeros', () => {
  const within: { client?: ClientSession } = {};
  const crypto = cryptoThat(() => {
    const { client } = within;
    if (client !== undefined) raisesLocal(() => client.closed(), 'wrong-state');
  });
  const pair = new Pair({ client: { crypto } });
  within.client = pair.client;
  pair.run();
  assert.equal(find(pair.hubEvents, 'ready').clientKey, CLIENT_KEY);
});

test('one session may be used within a callback of another', () => {
  const other = newClient();
  readyPair({ client: { crypto: cryptoThat(() => other.receive(HELLO)) } });
  assert.is(other.state, 'awaiting-offer');
});

test.run();
