/**
 * Faults of this side: injected code that throws or returns nonsense, at any moment of a connection. They end the session
 * with a LocalError, and cost neither the pin nor the PSK, however the transport closes afterwards.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Cipher } from '../../src/crypto/crypto.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  type CryptoProvider,
  type HubOptions,
  type HubSession,
  LocalError,
  RemoteError,
} from '../../src/index.ts';
import type { ClientSession, SessionEvent } from '../../src/parts.ts';
import { CLIENT_STATIC, HUB_KEY, HUB_PIN, HUB_STATIC } from '../world/keys.ts';
import type { Side } from '../world/line.ts';
import { find, KK, newClient, Pair, type PairOptions, readyPair, types } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';
import { toHex } from '../world/vectors.ts';
import { wipedIn } from '../world/wiped.ts';

/** Replaces the result of an injected function, or throws. */
type Fault = (result: unknown) => unknown;

/** Injected code of which the nth call goes wrong. `calls` counts the calls. */
interface Injected {
  readonly options: Pick<HubOptions, 'crypto' | 'staticKey' | 'randomBytes'>;
  readonly calls: () => number;
}

function inject(side: Side, nth: number, fault: Fault): Injected {
  let calls = 0;
  const spoil = <Result>(result: Result): Result => (calls++ === nth ? (fault(result) as Result) : result);
  const { x25519 } = nodeCrypto;
  const crypto: CryptoProvider = {
    sha256: (...parts) => spoil(nodeCrypto.sha256(...parts)),
    hmacSha256: (...parts) => spoil(nodeCrypto.hmacSha256(...parts)),
    x25519: {
      publicKey: (key) => spoil(x25519.publicKey(key)),
      sharedSecret: (...keys) => spoil(x25519.sharedSecret(...keys)),
    },
    ciphers: {
      ChaChaPoly(key) {
        const cipher: Cipher = nodeCrypto.ciphers.ChaChaPoly!(key);
        return {
          seal: (...args) => spoil(cipher.seal(...args)),
          open: (...args) => spoil(cipher.open(...args)),
        };
      },
    },
  };
  const staticKey = side === 'client' ? CLIENT_STATIC : { privateKey: HUB_STATIC, publicKey: HUB_KEY };
  return {
    options: { crypto, staticKey, randomBytes: (length) => spoil(randomBytes(length)) },
    calls: () => calls,
  };
}

/** A connection in which the code that is injected into one side goes wrong, and a message each way if it gets there. */
function connect(side: Side, options: PairOptions, { options: injected }: Injected): Pair {
  const pair = new Pair({
    ...options,
    [side]: { ...options[side], ...injected },
  }).run();
  const { client, hub } = pair;
  if (client.state === 'ready' && hub.state === 'ready') {
    pair.advance('client', pair.toClient(sealed(hub)));
    if (client.state === 'ready') pair.advance('hub', pair.toHub(sealed(client)));
  }
  return pair;
}

/** A message, or none if sealing failed. */
function sealed(session: ClientSession | HubSession): Uint8Array[] {
  try {
    return session.sendJson({});
  } catch (error) {
    assert.instance(error, LocalError);
    assert.match((error as LocalError).code, /^(crypto-failed|out-of-memory)$/);
    assert.is(session.state, 'failed');
    return [];
  }
}

const bus = new Error('secure element: bus timeout');
const revoked = Proxy.revocable(new Uint8Array(32), {});
revoked.revoke();
const raise = (error: unknown) => () => {
  throw error;
};
/** One for each call, in turn; the Noise layer is tested with each of them at every call. */
const FAULTS: Fault[] = [
  () => null,
  raise(bus),
  raise(new RangeError('Array buffer allocation failed')),
  raise(new RemoteError('not-authentic', 'thrown by injected code')),
  raise(undefined),
  () => 'x'.repeat(32),
  (result) => new Proxy(result as object, {}),
  () => revoked.proxy,
  (result) => new Uint8Array(((result as Uint8Array).length ?? 0) + 1),
];

/** The index of the fault that is a full heap. */
const FULL = 2;

/** A client that expects neither of its hubs, so that all its shared secrets are computed after the offer. */
const TWO_PINS: PairOptions = { ...KK, client: { pins: [HUB_PIN, { ...HUB_PIN, nodeId: 'hub-2' }] } };

/** The public keys and the random bytes. */
const CALLS_OF_CONSTRUCTOR = 3;
/** The events that put a pin or a PSK in doubt. */
const LOSSES: readonly string[] = ['pin-suspect', 'psk-suspect'] satisfies SessionEvent['type'][];

for (const side of ['client', 'hub'] as const) {
  for (const [pattern, options] of [
    ['XXpsk2', {}],
    ['KKpsk0', TWO_PINS],
  ] as const) {
    test(`injected code of a ${side} that fails at any moment of ${pattern} is a local fault, and costs neither pin nor PSK`, () => {
      const whole = inject(side, -1, (result) => result);
      connect(side, options, whole);
      assert.ok(whole.calls() > 30);
      for (let nth = 0; nth < whole.calls(); nth++) {
        const injected = inject(side, nth, FAULTS[nth % FAULTS.length]!);
        if (side === 'client' && nth < CALLS_OF_CONSTRUCTOR) {
          raisesLocal(
            () => connect(side, options, injected),
            nth % FAULTS.length === FULL ? 'out-of-memory' : 'crypto-failed',
          );
          continue;
        }
        const pair = connect(side, options, injected);
        const events = side === 'client' ? pair.clientEvents : pair.hubEvents;
        const closing: readonly { type: string; error?: unknown }[] = pair[side].closed(1008);
        const where = `call ${nth} of ${whole.calls()}: ${types(events)}`;
        const { error } = closing.at(-1)!;
        assert.instance(error, LocalError, where);
        assert.match(
          (error as LocalError).code,
          nth % FAULTS.length === FULL ? /^out-of-memory$/ : /^(crypto-failed|bad-random)$/,
          where,
        );
        assert.not.ok(
          [...events, ...closing].some(({ type }) => LOSSES.includes(type)),
          where,
        );
      }
    });
  }
}

test('random bytes of zeros are detected, but repeated ones are not', () => {
  const repeating = new Uint8Array(32).fill(8);
  readyPair({ client: { randomBytes: () => new Uint8Array(repeating) } });
  raisesLocal(() => newClient({ randomBytes: (length) => new Uint8Array(length) }), 'bad-random');
  const { hubEvents } = new Pair({ hub: { randomBytes: (length) => new Uint8Array(length) } }).run();
  assert.is(find(hubEvents, 'close').error.code, 'bad-random');
});

test('an ephemeral key that equals the static key prevents a client, and ends a hub’s session', () => {
  const staticKey = new Uint8Array(32).fill(7);
  const randomBytes = (): Uint8Array => new Uint8Array(staticKey);
  raisesLocal(() => newClient({ randomBytes, staticKey }), 'bad-random');
  const wiped = wipedIn(() => raisesLocal(() => newClient({ randomBytes, staticKey }), 'bad-random'));
  assert.is(wiped.filter((bytes) => bytes === toHex(staticKey)).length, 3); // both keys, and what was drawn
  const publicKey = nodeCrypto.x25519.publicKey(staticKey); // known, with the private key in a chip
  raisesLocal(() => newClient({ randomBytes, staticKey: { publicKey } }), 'bad-random');
  const { client, hub, hubEvents } = new Pair({ hub: { randomBytes, staticKey } }).run();
  assert.is(find(hubEvents, 'close').error.code, 'bad-random');
  assert.equal([client.state, hub.state], ['awaiting-message-2', 'failed']);
});

test.run();
