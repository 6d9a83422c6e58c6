/** What a HandshakeState wipes when it is over, what it copies, and what it shows. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes, isZero } from '../../src/bytes.ts';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import type { Pattern } from '../../src/noise/patterns.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';
import { toHex } from '../world/vectors.ts';
import {
  assertDead,
  bytesIn,
  create,
  EPHEMERAL,
  internals,
  key,
  optionsOf,
  PAYLOADS,
  PSK,
  publicKey,
  STATIC,
  secretsIn,
  sharedSecret,
  transcriptOf,
  upTo,
  withSharedSecret,
} from './handshakes.ts';

test('is over once destroyed, at any point', () => {
  for (const due of [0, 1, 2, 3]) {
    const state = upTo(due, 'initiator', 'XXpsk2');
    state.destroy();
    assert.equal([state.isFinished, state.remoteStaticKey], [false, undefined]);
    const failure = raisesLocal(() => state.split(), 'wrong-state');
    assertDead(state, failure);
  }
});

test('still throws its first failure after it is destroyed', () => {
  const state = create('responder', 'XXpsk2');
  const failure = raisesRemote(() => state.readMessage(key(0)), 'message-too-short');
  state.destroy();
  assertDead(state, failure);
});

test('splits into keys that are not all zeros', () => {
  // As one would be if it shared its array with the chaining key, which is wiped.
  const keys = bytesIn(upTo(3, 'initiator', 'XXpsk2').split()).filter(({ length }) => length === 32);
  assert.ok(keys.length >= 2);
  for (const key of keys) assert.not(isZero(key));
});

const ENDINGS: { [how: string]: [due: number, end: (state: HandshakeState) => unknown] } = {
  'it fails': [1, (state) => raisesRemote(() => state.readMessage(key(0)), 'message-too-short')],
  'it is destroyed': [1, (state) => state.destroy()],
  'it succeeds': [3, (state) => state.split()],
};
for (const [how, [due, end]] of Object.entries(ENDINGS)) {
  test(`wipes the arrays that hold its secrets when ${how}`, () => {
    const state = upTo(due, 'initiator', 'XXpsk2');
    const secrets = secretsIn(state);
    const shown = secrets.map(toHex);
    const { chainingKey, cipherState } = internals(state).symmetricState;
    for (const secret of [PSK, STATIC.initiator, EPHEMERAL.initiator, chainingKey, cipherState.key]) {
      assert.ok(shown.includes(toHex(secret)), 'the walk misses a secret');
    }
    end(state);
    assert.ok(secrets.every(isZero));
  });
}

/** Crypto, and the shared secrets that it has returned. */
function notingSharedSecrets(): { crypto: CryptoProvider; secrets: Uint8Array[] } {
  const secrets: Uint8Array[] = [];
  const crypto = withSharedSecret((privateKey, remote) => {
    const secret = sharedSecret(privateKey, remote);
    secrets.push(secret);
    return secret;
  });
  return { crypto, secrets };
}

test('wipes each shared secret as soon as it is mixed in', () => {
  const { crypto, secrets } = notingSharedSecrets();
  upTo(2, 'initiator', 'XXpsk2', { crypto });
  assert.equal(secrets.map(isZero), [true, true]);
});

test('wipes the result of randomBytes after copying it', () => {
  const random = key(9);
  create('initiator', 'XXpsk2', { randomBytes: () => random }).writeMessage();
  assert.ok(isZero(random));
});

test('wipes a shared secret that is computed and not yet mixed in', () => {
  const { crypto, secrets } = notingSharedSecrets();
  const state = upTo(1, 'responder', 'KKpsk0', { crypto, paced: true });
  while (secrets.length === 0) state.resume();
  assert.equal(secrets.map(isZero), [false]);
  state.destroy();
  assert.equal(secrets.map(isZero), [true]);
});

test('can be destroyed once it is split', () => {
  const state = upTo(3, 'initiator', 'XXpsk2');
  state.split();
  state.destroy();
});

for (const end of ['succeeds', 'fails']) {
  test(`wipes the arrays that the crypto returned when it ${end}`, () => {
    const results: Uint8Array[] = [];
    const record = (bytes: Uint8Array) => {
      results.push(bytes);
      return bytes;
    };
    const crypto = withSharedSecret((privateKey, remote) => record(sharedSecret(privateKey, remote)));
    crypto.hmacSha256 = (...parts) => record(nodeCrypto.hmacSha256(...parts));
    const state = upTo(2, 'initiator', 'XXpsk2', { crypto });
    if (end === 'fails') state.destroy();
    else {
      state.writeMessage();
      state.split().destroy();
    }
    assert.ok(results.length > 10);
    assert.ok(results.every(isZero));
  });
}

test('keeps no reference to a message that it read', () => {
  const state = create('responder', 'XXpsk2');
  const [first, second] = transcriptOf('XXpsk2');
  state.readMessage(first!);
  first!.fill(0);
  assert.equal(state.writeMessage(PAYLOADS[1]), second);
});

test('copies its options: later changes have no effect', () => {
  const options = optionsOf('initiator', 'KKpsk0');
  const state = new HandshakeState(options);
  for (const value of Object.values(options)) if (value instanceof Uint8Array) value.fill(0xee);
  Object.assign(options, { role: 'responder', crypto: undefined, randomBytes: undefined });
  const [first, second] = transcriptOf('KKpsk0');
  assert.equal(state.writeMessage(PAYLOADS[0]), first);
  assert.equal(state.readMessage(second!), PAYLOADS[1]);
});

for (const [how, index] of Object.entries({ succeeds: 1, fails: 0 })) {
  test(`does not change the caller’s arrays when it ${how}`, () => {
    const options = optionsOf('initiator', 'KKpsk0');
    const state = new HandshakeState(options);
    const payload = copyBytes(PAYLOADS[0]!);
    state.writeMessage(payload);
    const message = transcriptOf('KKpsk0')[index]!; // index 0 is its own message, which it cannot open
    if (how === 'succeeds') state.readMessage(message);
    else raisesRemote(() => state.readMessage(message), 'payload-not-authentic');
    state.destroy();
    const { randomBytes: _, ...before } = optionsOf('initiator', 'KKpsk0');
    const { randomBytes: __, ...after } = options;
    assert.equal(after, before);
    assert.equal([payload, message], [PAYLOADS[0], transcriptOf('KKpsk0')[index]]);
  });
}

test('returns the remote static key once it has been read, or from the start if it was given', () => {
  const known = (due: number, pattern: Pattern) => upTo(due, 'initiator', pattern).remoteStaticKey;
  const expected = publicKey(STATIC.responder);
  assert.equal([known(1, 'XXpsk2'), known(2, 'XXpsk2')], [undefined, expected]);
  const unfinished = create('initiator', 'KKpsk0', { paced: true });
  unfinished.writeMessage();
  const ofKk = [known(0, 'KKpsk0'), unfinished.remoteStaticKey, known(2, 'KKpsk0')];
  assert.equal(ofKk, [expected, expected, expected]);
});

test('has no fields that enumerate', () => {
  const state = upTo(1, 'initiator', 'XXpsk2');
  assert.equal(Object.keys(state), []);
});

test('shows only its name', () => {
  const state = upTo(1, 'initiator', 'XXpsk2');
  assert.is(JSON.stringify({ state }), '{"state":"[HandshakeState]"}');
  assert.is(inspect(state, { showHidden: true, depth: Infinity }), '[HandshakeState]');
});

test.run();
