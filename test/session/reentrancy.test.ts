/**
 * Callbacks may not call back: every method of a session, called from within code that this session calls, refuses with
 * `wrong-state` and changes nothing, and the session goes on as if it had not been called.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { type CryptoProvider, type HubSession, LocalError } from '../../src/index.ts';
import type { ClientSession } from '../../src/parts.ts';
import { PSK } from '../world/keys.ts';
import { HELLO, KK, newClient, OFFER, Pair, type PairOptions, readyPair, types } from '../world/pair.ts';

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
  const toClient = pair.toClient(pair.hub.sendJson({ a: 1 }));
  const toHub = pair.toHub(pair.client.sendJson({ a: 1 }));
  return [pair.clientEvents, pair.hubEvents, toClient, toHub].map(types);
}

for (const [side, methods] of [
  ['client', CLIENT_METHODS],
  ['hub', HUB_METHODS],
] as const) {
  test(`every method of a ${side} within the crypto is refused, and the session goes on`, () => {
    for (const options of [{}, KK] as PairOptions[]) {
      for (const [method, call] of Object.entries(methods)) {
        let session: ClientSession | HubSession | undefined;
        const notes = new Set<string>();
        const crypto = cryptoThat(() => tryWithin(session, call as (session: unknown) => unknown, notes));
        const pair = new Pair({ ...options, [side]: { ...options[side], crypto } });
        session = pair[side];
        assert.equal(converse(pair), converse(new Pair(options)), method);
        assert.equal([...notes], ['wrong-state'], method);
      }
    }
  });
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

test('one session may be used within a callback of another', () => {
  const other = newClient();
  readyPair({ client: { crypto: cryptoThat(() => other.receive(HELLO)) } });
  assert.is(other.state, 'awaiting-offer');
});

test.run();
