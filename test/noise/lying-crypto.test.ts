/**
 * Injected crypto that throws or returns the wrong thing, at every call of a handshake: the error is always LocalError
 * `crypto-failed`, never a RemoteError or a TypeError.
 */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Cipher, CryptoProvider } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { LocalError, RemoteError } from '../../src/errors.ts';
import { failureOf } from '../../src/memory.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import type { Transport } from '../../src/noise/transport.ts';
import { raisesLocal } from '../world/raises.ts';
import {
  assertDead,
  create,
  optionsOf,
  PAYLOADS,
  publicKey,
  type Role,
  sharedSecret,
  transcriptOf,
  writerOf,
} from './handshakes.ts';

/** Makes another result of the right one, or throws. */
type Fault = (result: unknown) => unknown;

/** Node's crypto, whose nth call returns what `fault` makes of its result; `calls` counts them. */
function faulty(nth: number, fault: Fault): { crypto: CryptoProvider; calls: () => number } {
  let calls = 0;
  const spoil = <Result>(result: Result): Result => (calls++ === nth ? (fault(result) as Result) : result);
  const createCipher = (key: Uint8Array): Cipher => {
    const cipher = nodeCrypto.ciphers.ChaChaPoly!(key);
    return spoil({
      seal: (...args) => spoil(cipher.seal(...args)),
      open: (...args) => spoil(cipher.open(...args)),
    });
  };
  const { x25519 } = nodeCrypto;
  const crypto: CryptoProvider = {
    sha256: (...parts) => spoil(nodeCrypto.sha256(...parts)),
    hmacSha256: (...parts) => spoil(nodeCrypto.hmacSha256(...parts)),
    x25519: {
      publicKey: (key) => spoil(x25519.publicKey(key)),
      sharedSecret: (...keys) => spoil(x25519.sharedSecret(...keys)),
    },
    ciphers: { ChaChaPoly: createCipher },
  };
  return { crypto, calls: () => calls };
}

/** One side's whole handshake, and a message each way. */
function run(crypto: CryptoProvider, role: Role, onState: (state: HandshakeState | Transport) => void): void {
  const state = new HandshakeState({ ...optionsOf(role, 'XXpsk2'), crypto });
  onState(state);
  transcriptOf('XXpsk2').forEach((message, i) => {
    if (writerOf(i) === role) state.writeMessage(PAYLOADS[i]);
    else state.readMessage(message);
  });
}

const bus = new Error('secure element: bus timeout');
const ours = new RemoteError('not-authentic', 'thrown by injected code');
const revoked = Proxy.revocable(new Uint8Array(32), {});
revoked.revoke();

const FAULTS: { [what: string]: Fault } = {
  'throws an Error': () => {
    throw bus;
  },
  'throws a RemoteError': () => {
    throw ours;
  },
  'throws undefined': () => {
    throw undefined;
  },
  'returns null': () => null,
  'returns a string': () => '0'.repeat(32),
  'returns a number': () => 32,
  'returns an array': () => new Array(32).fill(1),
  'returns a promise': (result) => Promise.resolve(result),
  'returns a proxy': (result) => new Proxy(result as object, {}),
  'returns a proxy that behaves like an array': (result) =>
    new Proxy(result as object, { get: (target, name) => Reflect.get(target, name, target) }),
  'returns a revoked proxy': () => revoked.proxy,
  'returns one byte more': (result) => new Uint8Array(((result as Uint8Array).length ?? 0) + 1),
  'returns nothing': () => new Uint8Array(0),
};

for (const [what, fault] of Object.entries(FAULTS)) {
  for (const role of ['initiator', 'responder'] as const) {
    test(`a call that ${what} is crypto-failed, whichever call of the ${role} it is`, () => {
      const { crypto, calls } = faulty(-1, fault);
      run(crypto, role, () => {});
      const count = calls();
      assert.ok(count > 30);
      let faults = 0;
      for (let nth = 0; nth < count; nth++) {
        let state: HandshakeState | Transport | undefined;
        let caught: unknown;
        try {
          run(faulty(nth, fault).crypto, role, (made) => {
            state = made;
          });
        } catch (error) {
          caught = error;
        }
        // A cipher may be any object; it shows when it is used.
        if (caught === undefined) continue;
        faults++;
        assert.instance(caught, LocalError, `call ${nth} of ${count}: ${inspect(caught)}`);
        assert.is((caught as LocalError).code, 'crypto-failed', `call ${nth} of ${count}`);
        if (state instanceof HandshakeState) assertDead(state, caught);
      }
      assert.ok(faults > count / 2, `${faults} of ${count}`);
    });
  }
}

test('the thrown value becomes the cause, even if it is one of our own errors', () => {
  for (const cause of [bus, ours]) {
    const sharedSecret = () => {
      throw cause;
    };
    const crypto = { ...nodeCrypto, x25519: { publicKey, sharedSecret } };
    const state = create('initiator', 'KKpsk0', { crypto });
    assert.is(raisesLocal(() => state.writeMessage(), 'crypto-failed').cause, cause);
  }
});

test('sharedSecret() throwing while message 2 is read is not low-order-key', () => {
  for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
    const x25519 = { publicKey, sharedSecret };
    const state = create('initiator', pattern, { crypto: { ...nodeCrypto, x25519 } });
    state.writeMessage(PAYLOADS[0]);
    x25519.sharedSecret = () => {
      throw bus;
    };
    const failure = raisesLocal(() => state.readMessage(transcriptOf(pattern)[1]!), 'crypto-failed');
    assert.is(failure.cause, bus);
    assertDead(state, failure);
  }
});

test('a cipher out of memory while message 2 is read is out-of-memory, not static-key-not-authentic', () => {
  const crypto = { ...nodeCrypto, ciphers: { ...nodeCrypto.ciphers } };
  const state = create('initiator', 'XXpsk2', {
    crypto: {
      ...crypto,
      ciphers: {
        ChaChaPoly: (key: Uint8Array) =>
          Object.assign(nodeCrypto.ciphers.ChaChaPoly!(key), {
            open() {
              throw new RangeError('Array buffer allocation failed');
            },
          }),
      },
    },
  });
  state.writeMessage(PAYLOADS[0]);
  raisesLocal(() => state.readMessage(transcriptOf('XXpsk2')[1]!), 'out-of-memory');
});

test('an error of the engine itself is crypto-failed, with that error as the cause', () => {
  const cause = new RangeError('Maximum call stack size exceeded');
  const failure = failureOf(cause);
  assert.instance(failure, LocalError);
  assert.is(failure.code, 'crypto-failed');
  assert.is(failure.cause, cause);
});

const INCOMPLETE: { [missing: string]: unknown } = {
  'crypto.sha256': {},
  'crypto.hmacSha256': { ...nodeCrypto, hmacSha256: 'yes' },
  'crypto.x25519': { ...nodeCrypto, x25519: undefined },
  'crypto.x25519.publicKey': { ...nodeCrypto, x25519: {} },
  'crypto.x25519.sharedSecret': { ...nodeCrypto, x25519: { ...nodeCrypto.x25519, sharedSecret: null } },
  'crypto.x25519.importKey': { ...nodeCrypto, x25519: { ...nodeCrypto.x25519, importKey: 1 } },
  'crypto.ciphers': { ...nodeCrypto, ciphers: null },
  'crypto.ciphers.ChaChaPoly': { ...nodeCrypto, ciphers: { ChaChaPoly: {} } },
  'crypto.ciphers.AESGCM': { ...nodeCrypto, ciphers: { ...nodeCrypto.ciphers, AESGCM: 1 } },
};
for (const [missing, crypto] of Object.entries(INCOMPLETE)) {
  test(`crypto without a valid ${missing} is refused by that name`, () => {
    const { message } = raisesLocal(() => create('initiator', 'XXpsk2', { crypto }), 'bad-argument');
    assert.match(message, `"${missing}"`);
  });
}

test('crypto with members that throw when read is refused as bad-argument', () => {
  const cause = new Error('not yet');
  const crypto = {
    get sha256() {
      throw cause;
    },
  };
  assert.is(raisesLocal(() => create('initiator', 'XXpsk2', { crypto }), 'bad-argument').cause, cause);
  raisesLocal(() => create('initiator', 'XXpsk2', { crypto: revoked.proxy }), 'bad-argument');
});

test.run();
