/** HandshakeState: turns, arguments, lengths and local faults. Its bytes, and damage to them, are in vectors/handshake.json. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { concatBytes, copyBytes, equalBytes, isZero } from '../../src/bytes.ts';
import type { CryptoProvider, KeyPair } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { LocalCode } from '../../src/errors.ts';
import type { HandshakeState } from '../../src/noise/handshake-state.ts';
import { ALL_PATTERNS, ALL_SUITES, type Pattern, protocolName } from '../../src/noise/patterns.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';
import { hex, toHex } from '../world/vectors.ts';
import {
  AES,
  assertDead,
  assertReadEnds,
  assertWriteEnds,
  type Changes,
  create,
  EPHEMERAL,
  FIELDS,
  key,
  PAYLOADS,
  PSK,
  publicKey,
  type Role,
  readerOf,
  STATIC,
  sharedSecret,
  transcriptOf,
  upTo,
  withSharedSecret,
  writerOf,
} from './handshakes.ts';

for (const pattern of ALL_PATTERNS) {
  for (const suite of ALL_SUITES) {
    const transcript = transcriptOf(pattern, suite);
    const count = transcript.length;

    for (const role of ['initiator', 'responder'] as const) {
      test(`${pattern} ${suite}: the ${role} refuses calls out of turn, and still completes`, () => {
        const expected = upTo(count, role, pattern, { suite }).split();
        const state = create(role, pattern, { suite });
        for (let due = 0; due <= count; due++) {
          const message = transcript[due] ?? key(0);
          const isOurs = due < count && writerOf(due) === role;
          if (!isOurs) raisesLocal(() => state.writeMessage(), 'wrong-state');
          if (isOurs || due === count) raisesLocal(() => state.readMessage(message), 'wrong-state');
          assert.is(state.isFinished, due === count);
          if (due === count) break;
          raisesLocal(() => state.split(), 'wrong-state');
          if (isOurs) assert.equal(state.writeMessage(PAYLOADS[due]), message);
          else assert.equal(state.readMessage(message), PAYLOADS[due]);
        }
        const transport = state.split();
        assert.equal(transport.handshakeHash, expected.handshakeHash);
        assert.equal(transport.encrypt(PSK), expected.encrypt(PSK));
        const failure = raisesLocal(() => state.split(), 'wrong-state');
        assertDead(state, failure);
      });
    }

    transcript.forEach((message, index) => {
      const name = `${pattern} ${suite}: message ${index + 1}`;
      const fields = FIELDS[pattern][index]!;
      const shortest = fields.payload + 16;
      const reader = () => upTo(index, readerOf(index), pattern, { suite });

      test(`${name} may have 65535 bytes, and a payload of one byte more is refused`, () => {
        const writer = upTo(index, writerOf(index), pattern, { suite });
        const payload = new Uint8Array(65535 - shortest).fill(1);
        raisesLocal(() => writer.writeMessage(new Uint8Array(payload.length + 1)), 'message-too-long');
        const longest = writer.writeMessage(payload);
        assert.is(longest.length, 65535);
        assert.ok(equalBytes(reader().readMessage(longest), payload));
      });

      test(`${name} is refused at 65536 bytes`, () => {
        const tooLong = concatBytes([message, new Uint8Array(65536 - message.length)]);
        assertReadEnds(reader(), tooLong, 'message-too-long');
      });
    });
  }
}

function withPublicKey(compute: (privateKey: Uint8Array) => unknown): CryptoProvider {
  return { ...nodeCrypto, x25519: { publicKey: compute as typeof publicKey, sharedSecret } };
}

const BAD_OPTIONS: { [code in LocalCode]?: [Pattern, string, Changes][] } = {
  'bad-argument': [
    ['XXpsk2', 'another role', { role: 'client' }],
    ['XXpsk2', 'a pattern that is a name of any object', { pattern: 'constructor' }],
    ['XXpsk2', 'a pattern of another protocol', { pattern: 'XX' }],
    ['XXpsk2', 'a suite that is a name of any object', { suite: 'constructor' }],
    ['XXpsk2', 'a suite of another protocol', { suite: '25519_ChaChaPoly_BLAKE2s' }],
    ['XXpsk2', 'a prologue in text', { prologue: 'prologue' }],
    ['XXpsk2', 'no psk', { psk: undefined }],
    ['XXpsk2', 'a static key in hex', { staticKey: toHex(key(1)) }],
    ['XXpsk2', 'randomBytes that is no function', { randomBytes: key(1) }],
    ['XXpsk2', 'a remote static key', { remoteStaticKey: key(1) }],
    ['KKpsk0', 'no remote static key', { remoteStaticKey: undefined }],
    ['KKpsk0', 'a remote static key in hex', { remoteStaticKey: toHex(key(1)) }],
    ['XXpsk2', 'a static key of zeros', { staticKey: key(0) }],
    ['XXpsk2', 'a misspelt option', { prolog: key(0) } as object],
  ],
  'bad-length': [
    ['XXpsk2', 'a psk of 31 bytes', { psk: new Uint8Array(31) }],
    ['KKpsk0', 'a psk of 33 bytes', { psk: new Uint8Array(33) }],
    ['XXpsk2', 'a static key of 31 bytes', { staticKey: new Uint8Array(31) }],
    ['KKpsk0', 'a static key of 33 bytes', { staticKey: new Uint8Array(33) }],
    ['KKpsk0', 'a remote static key of 31 bytes', { remoteStaticKey: new Uint8Array(31) }],
  ],
  'suite-unavailable': [['XXpsk2', 'a cipher that the crypto lacks', { crypto: nobleCrypto, suite: AES }]],
  'crypto-failed': [
    ['XXpsk2', 'a crypto whose public keys are short', { crypto: withPublicKey(() => new Uint8Array(31)) }],
    ['XXpsk2', 'a crypto whose public keys are text', { crypto: withPublicKey(toHex) }],
  ],
};
for (const [code, refused] of Object.entries(BAD_OPTIONS)) {
  for (const [pattern, what, changes] of refused) {
    test(`${pattern} cannot be made with ${what}: ${code}`, () => {
      raisesLocal(() => create('initiator', pattern, changes), code as LocalCode);
    });
  }
}

for (const value of ['text', null, [1, 2], 17]) {
  test(`refuses ${inspect(value)} instead of bytes, and goes on`, () => {
    const [initiator, responder] = [create('initiator', 'XXpsk2'), create('responder', 'XXpsk2')];
    raisesLocal(() => initiator.writeMessage(value as never), 'bad-argument');
    raisesLocal(() => responder.readMessage(value as never), 'bad-argument');
    assert.equal(responder.readMessage(initiator.writeMessage()), new Uint8Array(0));
  });
}

test('calls randomBytes once, for 32 bytes', () => {
  const asked: number[] = [];
  const randomBytes = (length: number) => {
    asked.push(length);
    return copyBytes(EPHEMERAL.initiator);
  };
  assert.ok(upTo(3, 'initiator', 'XXpsk2', { randomBytes }).isFinished);
  assert.equal(asked, [32]);
});

for (const random of [undefined, null, 'text', [1, 2], key(0), new Uint8Array(31), new Uint8Array(33)]) {
  test(`fails for good when randomBytes returns ${inspect(random, { maxArrayLength: 0 })}`, () => {
    assertWriteEnds(create('initiator', 'XXpsk2', { randomBytes: () => random }), 'bad-random');
  });
}

test('fails for good when randomBytes throws, with its error as the cause', () => {
  const cause = new Error('no entropy');
  const randomBytes = () => {
    throw cause;
  };
  const state = create('initiator', 'KKpsk0', { randomBytes });
  const failure = raisesLocal(() => state.writeMessage(), 'crypto-failed');
  assert.is(failure.cause, cause);
  assertDead(state, failure);
});

/** A point of order 8. */
const LOW_ORDER = hex('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800');

test('KKpsk0: a pinned key of low order is a local fault, in either role', () => {
  const initiator = create('initiator', 'KKpsk0', { remoteStaticKey: LOW_ORDER });
  assertWriteEnds(initiator, 'low-order-key');
  const responder = create('responder', 'KKpsk0', { remoteStaticKey: new Uint8Array(32) });
  const failure = raisesLocal(() => responder.readMessage(transcriptOf('KKpsk0')[0]!), 'low-order-key');
  assertDead(responder, failure);
});

test('an ephemeral key of low order is the fault of the peer, under each pattern', () => {
  const initiator = create('initiator', 'XXpsk2');
  initiator.writeMessage();
  for (const [state, message] of [
    [create('responder', 'KKpsk0'), transcriptOf('KKpsk0')[0]!],
    [initiator, transcriptOf('XXpsk2')[1]!],
  ] as const) {
    const changed = copyBytes(message);
    changed.set(LOW_ORDER);
    raisesRemote(() => state.readMessage(changed), 'low-order-key');
  }
});

test('protocolName() refuses arguments that are not strings', () => {
  raisesLocal(() => protocolName(Symbol('XXpsk2') as never, '25519_ChaChaPoly_SHA256'), 'bad-argument');
  raisesLocal(() => protocolName('XXpsk2', { toString: null } as never), 'bad-argument');
});

/** The number of shared secrets of the static key that each message needs. */
const NEEDED: { [pattern in Pattern]: { [role in Role]: number[] } } = {
  XXpsk2: { initiator: [0, 0, 1], responder: [0, 1, 0] }, // se, es
  KKpsk0: { initiator: [1, 1], responder: [2, 0] }, // ss and se, es and ss
};

function later(role: Role): { staticKey: KeyPair } {
  return { staticKey: { publicKey: publicKey(STATIC[role]) } };
}

/** Writes or reads the next message, up to the first shared secret that is needed, if any. */
function step(state: HandshakeState, role: Role, pattern: Pattern, index: number) {
  return writerOf(index) === role
    ? state.writeMessage(PAYLOADS[index])
    : state.readMessage(transcriptOf(pattern)[index]!);
}

/** A state that waits for its first shared secret, and the index of the message. */
function waiting(role: Role, pattern: Pattern): { state: HandshakeState; index: number } {
  const state = create(role, pattern, later(role));
  let index = 0;
  while (step(state, role, pattern, index) !== undefined) index++;
  return { state, index };
}

for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
  for (const role of ['initiator', 'responder'] as const) {
    const expected = (index: number) =>
      writerOf(index) === role ? transcriptOf(pattern)[index] : PAYLOADS[index];

    test(`${pattern}: shared secrets passed to the ${role} later yield the same messages and keys`, () => {
      const state = create(role, pattern, later(role));
      NEEDED[pattern][role].forEach((needed, i) => {
        let result = step(state, role, pattern, i);
        for (let n = 0; n < needed; n++) {
          assert.is(result, undefined);
          result = state.resume(sharedSecret(STATIC[role], state.dhNeeded!));
        }
        assert.equal(result, expected(i));
        assert.is(state.dhNeeded, undefined);
      });
      const reference = upTo(NEEDED[pattern][role].length, role, pattern).split();
      const transport = state.split();
      assert.equal(transport.handshakeHash, reference.handshakeHash);
      assert.equal(transport.encrypt(key(1)), reference.encrypt(key(1)));
    });

    test(`${pattern}: while the ${role} waits, every other call is refused and changes nothing`, () => {
      const { state, index } = waiting(role, pattern);
      const message = transcriptOf(pattern)[index]!;
      raisesLocal(() => state.writeMessage(), 'wrong-state');
      raisesLocal(() => state.readMessage(message), 'wrong-state');
      raisesLocal(() => state.writeMessage(), 'wrong-state');
      raisesLocal(() => state.readMessage(message), 'wrong-state');
      raisesLocal(() => state.split(), 'wrong-state');
      assert.is(state.isFinished, false);
      let result: Uint8Array | undefined;
      while (result === undefined) result = state.resume(sharedSecret(STATIC[role], state.dhNeeded!));
      assert.equal(result, expected(index));
    });
  }
}

test('resume() is refused if no shared secret is needed, and changes nothing', () => {
  const state = create('initiator', 'XXpsk2');
  raisesLocal(() => state.resume(key(1)), 'wrong-state');
  assert.equal(state.writeMessage(PAYLOADS[0]), transcriptOf('XXpsk2')[0]);
});

test('refuses an ephemeral key whose private key is elsewhere', () => {
  const ephemeralKey = { publicKey: key(1) };
  raisesLocal(() => create('initiator', 'XXpsk2', { ephemeralKey }), 'bad-argument');
});

test('remoteStaticKey is a copy', () => {
  const state = upTo(2, 'initiator', 'XXpsk2');
  state.remoteStaticKey!.fill(0);
  assert.equal(state.remoteStaticKey, publicKey(STATIC.responder));
});

test('a static key that was given stays known in the midst of a paced message', () => {
  const state = upTo(1, 'responder', 'KKpsk0', { paced: true });
  assert.equal(state.remoteStaticKey, publicKey(STATIC.initiator));
});

test('wipes a shared secret that is computed and not yet mixed in', () => {
  const secrets: Uint8Array[] = [];
  const crypto = withSharedSecret((privateKey, remote) => {
    const secret = sharedSecret(privateKey, remote);
    secrets.push(secret);
    return secret;
  });
  const state = upTo(1, 'responder', 'KKpsk0', { crypto, paced: true });
  while (secrets.length === 0) state.resume();
  assert.equal(secrets.map(isZero), [false]);
  state.destroy();
  assert.equal(secrets.map(isZero), [true]);
});

test('Transport seals in place, and refuses a buffer of the wrong length or type', () => {
  const [one, other] = [upTo(3, 'initiator', 'XXpsk2').split(), upTo(3, 'responder', 'XXpsk2').split()];
  raisesLocal(() => one.encryptInPlace(new Uint8Array(15)), 'bad-length');
  raisesLocal(() => one.encryptInPlace(new Uint8Array(65536)), 'message-too-long');
  raisesLocal(() => one.encryptInPlace('text' as never), 'bad-argument');
  assert.equal(other.decrypt(one.encryptInPlace(new Uint8Array(20))), new Uint8Array(4));
});

test('injected code cannot destroy the handshake that called it', () => {
  let calls = 0;
  const crypto = withSharedSecret((own, remote) => {
    calls++;
    raisesLocal(() => state.destroy(), 'wrong-state');
    return sharedSecret(own, remote);
  });
  const state: HandshakeState = upTo(1, 'initiator', 'XXpsk2', { crypto });
  assert.equal(state.readMessage(transcriptOf('XXpsk2')[1]!), PAYLOADS[1]);
  assert.ok(calls > 0);
});

test.run();
