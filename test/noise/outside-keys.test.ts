/** Static keys outside of JavaScript's memory: with synchronous and with asynchronous shared secrets. */
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto';
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';
import type { KeyPair } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { HandshakeState } from '../../src/noise/handshake-state.ts';
import type { Pattern } from '../../src/noise/patterns.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';
import {
  assertDead,
  bytesIn,
  create,
  key,
  PAYLOADS,
  publicKey,
  type Role,
  readerOf,
  STATIC,
  sharedSecret,
  transcriptOf,
  upTo,
  writerOf,
} from './handshakes.ts';

const PATTERN_NAMES: Pattern[] = ['XXpsk2', 'KKpsk0'];
const ROLES: Role[] = ['initiator', 'responder'];

/** The key pair of a KeyObject of Node. */
function keyObjectPair(privateKey: Uint8Array): KeyPair {
  const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const jwk = { kty: 'OKP', crv: 'X25519', x: base64url(publicKey(privateKey)), d: base64url(privateKey) };
  const own: KeyObject = createPrivateKey({ key: jwk, format: 'jwk' });
  return {
    publicKey: publicKey(privateKey),
    sharedSecret(remote) {
      const other = { kty: 'OKP', crv: 'X25519', x: base64url(remote) };
      const secret = diffieHellman({
        privateKey: own,
        publicKey: createPublicKey({ key: other, format: 'jwk' }),
      });
      return new Uint8Array(secret);
    },
  };
}

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

for (const pattern of PATTERN_NAMES) {
  for (const role of ROLES) {
    const expected = (index: number) =>
      writerOf(index) === role ? transcriptOf(pattern)[index] : PAYLOADS[index];

    test(`${pattern}: the ${role}’s key as a KeyObject yields the same messages and keys`, () => {
      const state = upTo(0, role, pattern, { staticKey: keyObjectPair(STATIC[role]) });
      transcriptOf(pattern).forEach((message, i) => {
        if (writerOf(i) === role) assert.equal(state.writeMessage(PAYLOADS[i]), message);
        else assert.equal(state.readMessage(message), PAYLOADS[i]);
      });
      const reference = upTo(NEEDED[pattern][role].length, role, pattern).split();
      const transport = state.split();
      assert.equal(transport.handshakeHash, reference.handshakeHash);
      assert.equal(transport.encrypt(key(1)), reference.encrypt(key(1)));
    });

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

    test(`${pattern}: a shared secret that is not 32 bytes is refused, and the ${role} still waits`, () => {
      const { state, index } = waiting(role, pattern);
      raisesLocal(() => state.resume(new Uint8Array(31)), 'bad-length');
      raisesLocal(() => state.resume(new Uint8Array(33)), 'bad-length');
      raisesLocal(() => state.resume(undefined as never), 'bad-argument');
      raisesLocal(() => state.resume('0'.repeat(32) as never), 'bad-argument');
      let result: Uint8Array | undefined;
      while (result === undefined) result = state.resume(sharedSecret(STATIC[role], state.dhNeeded!));
      assert.equal(result, expected(index));
    });

    test(`${pattern}: the ${role} can be destroyed while it waits`, () => {
      const { state } = waiting(role, pattern);
      state.destroy();
      assert.is(state.dhNeeded, undefined);
      const failure = raisesLocal(() => state.resume(key(1)), 'wrong-state');
      assertDead(state, failure);
    });
  }
}

test('a wrong shared secret makes the payload not authentic, for good', () => {
  const { state } = waiting('initiator', 'KKpsk0');
  state.resume(sharedSecret(STATIC.initiator, state.dhNeeded!));
  assert.is(state.readMessage(transcriptOf('KKpsk0')[1]!), undefined);
  const failure = raisesRemote(() => state.resume(key(1)), 'payload-not-authentic');
  assertDead(state, failure);
});

test('a shared secret of zeros means a low-order key of the peer, for good', () => {
  const { state } = waiting('responder', 'XXpsk2');
  const failure = raisesRemote(() => state.resume(key(0)), 'low-order-key');
  assertDead(state, failure);
});

test('a shared secret of zeros for a pinned key is a LocalError', () => {
  const { state } = waiting('initiator', 'KKpsk0'); // ss
  const failure = raisesLocal(() => state.resume(key(0)), 'low-order-key');
  assertDead(state, failure);
});

test('dhNeeded is a copy, and the caller wipes the shared secret', () => {
  const { state } = waiting('responder', 'XXpsk2');
  state.dhNeeded!.fill(0);
  const secret = sharedSecret(STATIC.responder, state.dhNeeded!);
  const before = copyBytes(secret);
  assert.equal(state.resume(secret), transcriptOf('XXpsk2')[1]);
  assert.equal(secret, before);
});

test('copies payload and message while it waits', () => {
  const payload = copyBytes(PAYLOADS[1]!);
  const writing = create('responder', 'XXpsk2', later('responder'));
  writing.readMessage(transcriptOf('XXpsk2')[0]!);
  writing.writeMessage(payload);
  payload.fill(0);
  const written = writing.resume(sharedSecret(STATIC.responder, writing.dhNeeded!));
  assert.equal(written, transcriptOf('XXpsk2')[1]);

  const message = transcriptOf('KKpsk0')[0]!;
  const reading = create('responder', 'KKpsk0', later('responder'));
  reading.readMessage(message);
  message.fill(0);
  reading.resume(sharedSecret(STATIC.responder, reading.dhNeeded!));
  assert.equal(reading.resume(sharedSecret(STATIC.responder, reading.dhNeeded!)), PAYLOADS[0]);
});

test('resume() is refused if no shared secret is needed, and changes nothing', () => {
  const state = create('initiator', 'XXpsk2');
  raisesLocal(() => state.resume(key(1)), 'wrong-state');
  assert.equal(state.writeMessage(PAYLOADS[0]), transcriptOf('XXpsk2')[0]);
});

test('writeMessage() and readMessage() never wait with a synchronous key', () => {
  for (const role of ROLES) {
    const state = create(role, 'KKpsk0');
    assert.ok(step(state, role, 'KKpsk0', 0));
    assert.ok(step(state, role, 'KKpsk0', 1));
    assert.ok(state.isFinished);
  }
});

test('a private key kept elsewhere is never in the state', () => {
  const { state } = waiting('initiator', 'XXpsk2');
  const secret = sharedSecret(STATIC.initiator, state.dhNeeded!);
  state.resume(secret);
  assert.ok(bytesIn(state).every((bytes) => !Buffer.from(bytes).equals(STATIC.initiator)));
});

test('a key pair that fails is crypto-failed, with its error as the cause', () => {
  const cause = new Error('secure element: bus timeout');
  const own = publicKey(STATIC.initiator);
  for (const [failing, expected] of [
    [() => Promise.resolve(key(1)), undefined],
    [() => new Uint8Array(31), undefined],
    [
      () => {
        throw cause;
      },
      cause,
    ],
  ] as const) {
    const staticKey = { publicKey: own, sharedSecret: failing };
    const state = create('initiator', 'KKpsk0', { staticKey });
    const failure = raisesLocal(() => state.writeMessage(), 'crypto-failed');
    assert.is(failure.cause, expected);
    assertDead(state, failure);
  }
});

const own = publicKey(STATIC.initiator);
for (const staticKey of [
  null,
  {},
  { publicKey: 'text' },
  { publicKey: key(0) },
  { publicKey: own, sharedSecret: own },
]) {
  test(`refuses ${inspect(staticKey, { depth: 0 })} as a static key`, () => {
    raisesLocal(() => create('initiator', 'XXpsk2', { staticKey }), 'bad-argument');
  });
}

test('refuses a static key whose public key is not 32 bytes', () => {
  const staticKey = { publicKey: new Uint8Array(31) };
  raisesLocal(() => create('initiator', 'XXpsk2', { staticKey }), 'bad-length');
});

test('uses a provider’s importKey, and checks what it returns', () => {
  let imported = 0;
  const importKey = (privateKey: Uint8Array): KeyPair => {
    imported++;
    const copy = copyBytes(privateKey);
    return { publicKey: publicKey(copy), sharedSecret: (remote) => sharedSecret(copy, remote) };
  };
  const crypto = { ...nodeCrypto, x25519: { ...nodeCrypto.x25519, importKey } };
  const state = create('initiator', 'XXpsk2', { crypto });
  assert.equal(state.writeMessage(PAYLOADS[0]), transcriptOf('XXpsk2')[0]);
  assert.is(imported, 2); // static and ephemeral
  for (const pair of [null, {}, { publicKey: key(1).subarray(1) }]) {
    const broken = { ...crypto, x25519: { ...crypto.x25519, importKey: () => pair } };
    raisesLocal(() => create('initiator', 'XXpsk2', { crypto: broken }), 'crypto-failed');
  }
});

for (const role of ROLES) {
  test(`injected code cannot call back into the ${role}’s handshake`, () => {
    const refused: unknown[] = [];
    let state: HandshakeState | undefined;
    const reenter = () => {
      const [message] = transcriptOf('XXpsk2');
      for (const call of [
        () => state!.writeMessage(),
        () => state!.readMessage(message!),
        () => state!.resume(key(1)),
        () => state!.split(),
        () => state!.destroy(),
      ]) {
        if (state !== undefined) refused.push(raisesLocal(call, 'wrong-state'));
      }
    };
    const { x25519, ciphers } = nodeCrypto;
    const crypto = {
      ...nodeCrypto,
      sha256: (...parts: Uint8Array[]) => {
        reenter();
        return nodeCrypto.sha256(...parts);
      },
      hmacSha256: (...parts: [Uint8Array, ...Uint8Array[]]) => {
        reenter();
        return nodeCrypto.hmacSha256(...parts);
      },
      x25519: {
        publicKey: (own: Uint8Array) => {
          reenter();
          return x25519.publicKey(own);
        },
        sharedSecret: (own: Uint8Array, remote: Uint8Array) => {
          reenter();
          return x25519.sharedSecret(own, remote);
        },
      },
      ciphers: {
        ChaChaPoly: (bytes: Uint8Array) => {
          reenter();
          return ciphers.ChaChaPoly!(bytes);
        },
      },
    };
    state = create(role, 'XXpsk2', { crypto });
    for (const [i, message] of transcriptOf('XXpsk2').entries()) {
      if (readerOf(i) === role) assert.equal(state.readMessage(message), PAYLOADS[i]);
      else assert.equal(state.writeMessage(PAYLOADS[i]), message);
    }
    const transport = state.split();
    assert.equal(transport.handshakeHash, upTo(3, role, 'XXpsk2').split().handshakeHash);
    assert.ok(refused.length > 100);
  });
}

test.run();
