/** Handshakes whose keys are made ahead, and handshakes that do one step in each `resume()`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';
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

/** Runs a handshake to its end, and returns what each call computed. */
function countsOf(role: Role, pattern: Pattern, changes: Changes): Counts[] {
  const { crypto, counts } = countingCrypto();
  const all: Counts[] = [];
  const counted = <Result>(call: () => Result): Result => {
    const { x25519, hmac } = counts;
    const result = call();
    all.push({ x25519: counts.x25519 - x25519, hmac: counts.hmac - hmac });
    return result;
  };
  const state = counted(() => create(role, pattern, { crypto, ...changes }));
  transcriptOf(pattern).forEach((message, i) => {
    const isWriting = writerOf(i) === role;
    let result = counted(() => (isWriting ? state.writeMessage(PAYLOADS[i]) : state.readMessage(message)));
    while (result === undefined) {
      assert.is(state.dhNeeded, undefined);
      result = counted(() => state.resume());
    }
    assert.equal(result, isWriting ? message : PAYLOADS[i]);
    if (changes.paced) assert.is(all.at(-1)!.hmac, 0, 'the last step has the payload to seal or to open');
  });
  assert.ok(state.isFinished);
  return all;
}

const sumOf = (counts: Counts[], kind: keyof Counts): number =>
  counts.reduce((sum, count) => sum + count[kind], 0);

for (const role of ROLES) {
  for (const pattern of PATTERN_NAMES) {
    const ahead = {
      staticKey: pairOf(STATIC[role]),
      ephemeralKey: pairOf(EPHEMERAL[role]),
      randomBytes: never,
    };

    test(`${pattern}: the ${role} does not compute the public keys that it is given`, () => {
      const all = sumOf(countsOf(role, pattern, {}), 'x25519');
      assert.is(sumOf(countsOf(role, pattern, ahead), 'x25519'), all - 2);
    });

    test(`${pattern}: the ${role} does not derive cipher keys that are never used`, () => {
      assert.is(sumOf(countsOf(role, pattern, {}), 'hmac'), 17);
    });

    test(`${pattern}: an ephemeral private key of the ${role} made ahead yields the same messages`, () => {
      countsOf(role, pattern, { ephemeralKey: copyBytes(EPHEMERAL[role]), randomBytes: undefined });
    });

    test(`${pattern}: a paced ${role} computes an X25519 or at most four HMACs in each resume(), and nothing before`, () => {
      const counts = countsOf(role, pattern, { ...ahead, paced: true });
      for (const { x25519, hmac } of counts) assert.ok(x25519 === 0 ? hmac <= 4 : x25519 === 1 && hmac === 0);
      assert.is(sumOf(counts, 'x25519'), sumOf(countsOf(role, pattern, ahead), 'x25519'));
      assert.equal(counts.slice(0, 2), Array(2).fill({ x25519: 0, hmac: 0 })); // the constructor, and writeMessage() or readMessage()
    });
  }
}

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
