/** Handshakes whose keys are made ahead, and handshakes that do one step in each `resume()`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes, isZero } from '../../src/bytes.ts';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { Pattern } from '../../src/noise/patterns.ts';
import { raisesLocal } from '../world/raises.ts';
import {
  assertDead,
  bytesIn,
  type Changes,
  create,
  EPHEMERAL,
  internals,
  key,
  PAYLOADS,
  publicKey,
  type Role,
  STATIC,
  sharedSecret,
  transcriptOf,
  writerOf,
} from './handshakes.ts';

const PATTERN_NAMES: Pattern[] = ['XXpsk2', 'KKpsk0'];
const ROLES: Role[] = ['initiator', 'responder'];

const pairOf = (privateKey: Uint8Array) => ({ privateKey, publicKey: publicKey(privateKey) });
const never = (): never => {
  throw new Error('not to be called');
};

interface Counts {
  x25519: number;
  hmac: number;
}

/** Node's crypto, which counts what it computes. */
function countingCrypto(): { crypto: CryptoProvider; counts: Counts } {
  const counts: Counts = { x25519: 0, hmac: 0 };
  const x25519 = {
    publicKey: (own: Uint8Array) => {
      counts.x25519++;
      return publicKey(own);
    },
    sharedSecret: (own: Uint8Array, remote: Uint8Array) => {
      counts.x25519++;
      return sharedSecret(own, remote);
    },
  };
  const hmacSha256: CryptoProvider['hmacSha256'] = (...inputs) => {
    counts.hmac++;
    return nodeCrypto.hmacSha256(...inputs);
  };
  return { crypto: { ...nodeCrypto, x25519, hmacSha256 }, counts };
}

interface Run {
  /** What the constructor and each call computed. */
  readonly counts: readonly Counts[];
  /** The message or the payload of each step. */
  readonly results: readonly Uint8Array[];
}

/** Runs a handshake to its end, with the peer’s messages from the transcript. */
function run(role: Role, pattern: Pattern, changes: Changes): Run {
  const { crypto, counts } = countingCrypto();
  const all: Counts[] = [];
  const counted = <Result>(call: () => Result): Result => {
    const { x25519, hmac } = counts;
    const result = call();
    all.push({ x25519: counts.x25519 - x25519, hmac: counts.hmac - hmac });
    return result;
  };
  const state = counted(() => create(role, pattern, { crypto, ...changes }));
  const results = transcriptOf(pattern).map((message, i) => {
    const isWriting = writerOf(i) === role;
    let result = counted(() => (isWriting ? state.writeMessage(PAYLOADS[i]) : state.readMessage(message)));
    while (result === undefined) {
      assert.is(state.dhNeeded, undefined);
      result = counted(() => state.resume());
    }
    if (changes.paced) assert.is(all.at(-1)!.hmac, 0, 'the last step has the payload to seal or to open');
    return result;
  });
  assert.ok(state.isFinished);
  return { counts: all, results };
}

/** The results of a handshake with the keys of the transcript. */
const resultsOf = (role: Role, pattern: Pattern): Uint8Array[] =>
  transcriptOf(pattern).map((message, i) => (writerOf(i) === role ? message : PAYLOADS[i]!));

const x25519In = ({ counts }: Run): number => counts.reduce((sum, { x25519 }) => sum + x25519, 0);

/**
 * The HMACs of each message, token by token. HKDF computes one for its temporary key and one for each output; the output that
 * is a cipher key is left out if the next token replaces it before anything is sealed.
 */
const HMACS: { readonly [pattern: string]: readonly number[] } = {
  XXpsk2: [3, 2 + 3 + 2 + 4, 3], // e; e, ee, es, psk; se
  KKpsk0: [3 + 2 + 2 + 3, 2 + 2 + 3], // psk, e, es, ss; e, ee, se
};

for (const role of ROLES) {
  for (const pattern of PATTERN_NAMES) {
    const ahead = {
      staticKey: pairOf(STATIC[role]),
      ephemeralKey: pairOf(EPHEMERAL[role]),
      randomBytes: never,
    };

    test(`${pattern}: the ${role} does not compute the public keys that it is given`, () => {
      const own = 2; // the static one and the ephemeral one
      assert.is(x25519In(run(role, pattern, ahead)), x25519In(run(role, pattern, {})) - own);
    });

    test(`${pattern}: the ${role} does not derive cipher keys that are never used`, () => {
      const [inConstructor, ...ofMessages] = run(role, pattern, {}).counts.map(({ hmac }) => hmac);
      assert.is(inConstructor, 0);
      assert.equal(ofMessages, HMACS[pattern]);
    });

    const ways: [how: string, changes: Changes][] = [
      ['with keys made ahead', ahead],
      [
        'with an ephemeral private key made ahead',
        { ephemeralKey: copyBytes(EPHEMERAL[role]), randomBytes: undefined },
      ],
      ['one step at a time', { ...ahead, paced: true }],
    ];
    for (const [how, changes] of ways) {
      test(`${pattern}: the ${role} yields the same messages and payloads ${how}`, () => {
        assert.equal(run(role, pattern, changes).results, resultsOf(role, pattern));
      });
    }

    test(`${pattern}: a paced ${role} computes an X25519 or at most four HMACs in each resume(), and nothing before`, () => {
      const paced = run(role, pattern, { ...ahead, paced: true });
      const { counts } = paced;
      for (const { x25519, hmac } of counts) assert.ok(x25519 === 0 ? hmac <= 4 : x25519 === 1 && hmac === 0);
      assert.is(x25519In(paced), x25519In(run(role, pattern, ahead)));
      assert.equal(counts.slice(0, 2), Array(2).fill({ x25519: 0, hmac: 0 })); // the constructor, and writeMessage() or readMessage()
    });
  }
}

test('a paced handshake that is destroyed after a step wipes the shared secret of that step', () => {
  const wiped = new Set<string>();
  for (const pattern of PATTERN_NAMES) {
    for (const role of ROLES) {
      let isFinished = false;
      for (let steps = 0; !isFinished; steps++) {
        const state = create(role, pattern, { paced: true });
        let left = steps;
        for (const [i, message] of transcriptOf(pattern).entries()) {
          let result = writerOf(i) === role ? state.writeMessage(PAYLOADS[i]) : state.readMessage(message);
          while (result === undefined && left-- > 0) result = state.resume();
          if (result === undefined) break;
        }
        isFinished = state.isFinished;
        const computed = Object.entries(internals(state).ahead).filter(([, secret]) => secret !== undefined);
        state.destroy();
        for (const [token, secret] of computed) {
          assert.ok(isZero(secret as Uint8Array), `${token} of ${pattern}`);
          wiped.add(token);
        }
      }
    }
  }
  assert.equal([...wiped].sort(), ['ee', 'es', 'se', 'ss']);
});

test('a paced handshake asks for the shared secrets of an asynchronous static key, and computes the others', () => {
  const staticKey = { publicKey: publicKey(STATIC.initiator) };
  const state = create('initiator', 'KKpsk0', { staticKey, paced: true });
  const [message] = transcriptOf('KKpsk0');
  assert.is(state.writeMessage(PAYLOADS[0]), undefined);
  for (const _ of ['psk', 'e', 'es', 'es is mixed in', 'ss']) {
    assert.is(state.dhNeeded, undefined);
    raisesLocal(() => state.resume(key(1)), 'bad-argument');
    assert.is(state.resume(), undefined);
  }
  raisesLocal(() => state.resume(), 'bad-argument');
  assert.is(state.resume(sharedSecret(STATIC.initiator, state.dhNeeded!)), undefined);
  assert.is(state.dhNeeded, undefined);
  assert.equal(state.resume(), message);
});

test('while a paced handshake waits, every other call is refused and changes nothing', () => {
  const state = create('initiator', 'KKpsk0', { paced: true });
  raisesLocal(() => state.resume(), 'wrong-state');
  assert.is(state.writeMessage(PAYLOADS[0]), undefined);
  raisesLocal(() => state.writeMessage(), 'wrong-state');
  raisesLocal(() => state.readMessage(key(0)), 'wrong-state');
  raisesLocal(() => state.split(), 'wrong-state');
  let message = state.resume();
  while (message === undefined) message = state.resume();
  assert.equal(message, transcriptOf('KKpsk0')[0]);
  raisesLocal(() => state.writeMessage(), 'wrong-state');
});

test('precomputed keys are copied, and the copies are wiped with the handshake', () => {
  const [own, ephemeral] = [pairOf(copyBytes(STATIC.initiator)), pairOf(copyBytes(EPHEMERAL.initiator))];
  const state = create('initiator', 'KKpsk0', { staticKey: own, ephemeralKey: ephemeral });
  for (const { privateKey, publicKey } of [own, ephemeral]) {
    privateKey.fill(0);
    publicKey.fill(0);
  }
  assert.equal(state.writeMessage(PAYLOADS[0]), transcriptOf('KKpsk0')[0]);
  const secrets = [STATIC.initiator, EPHEMERAL.initiator];
  const held = () =>
    bytesIn(state).filter((bytes) => secrets.some((secret) => Buffer.compare(bytes, secret) === 0));
  assert.is(held().length, 2);
  state.destroy();
  assert.equal(held(), []);
});

test('a public key that does not belong to the private key is not noticed locally, and the responder refuses message 3', () => {
  const staticKey = { privateKey: STATIC.initiator, publicKey: publicKey(key(1)) };
  const initiator = create('initiator', 'XXpsk2', { staticKey });
  const responder = create('responder', 'XXpsk2');
  responder.readMessage(initiator.writeMessage());
  initiator.readMessage(responder.writeMessage());
  let code = '';
  try {
    responder.readMessage(initiator.writeMessage());
  } catch (error) {
    code = (error as { code: string }).code;
  }
  assert.is(code, 'payload-not-authentic');
});

test('refuses invalid keys, and an asynchronous ephemeral key', () => {
  const own = publicKey(STATIC.initiator);
  for (const name of ['staticKey', 'ephemeralKey']) {
    for (const privateKey of ['text', null, key(0)]) {
      const refused = { [name]: { publicKey: own, privateKey } };
      raisesLocal(() => create('initiator', 'XXpsk2', refused), 'bad-argument');
    }
    const short = { [name]: { publicKey: own, privateKey: new Uint8Array(31) } };
    raisesLocal(() => create('initiator', 'XXpsk2', short), 'bad-length');
  }
  raisesLocal(() => create('initiator', 'XXpsk2', { ephemeralKey: { publicKey: own } }), 'bad-argument');
  raisesLocal(() => create('initiator', 'XXpsk2', { paced: 1 }), 'bad-argument');
});

test('an X25519 that fails in resume() ends the handshake', () => {
  const crypto = { ...nodeCrypto, x25519: { publicKey, sharedSecret: never } };
  const state = create('initiator', 'KKpsk0', { crypto, paced: true });
  state.writeMessage();
  for (const _ of ['psk', 'e']) state.resume();
  const failure = raisesLocal(() => state.resume(), 'crypto-failed');
  assertDead(state, failure);
});

test.run();
