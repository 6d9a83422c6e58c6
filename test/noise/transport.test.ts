/** Transport: lengths, order, and that a failure is final. The vectors test its bytes. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes, equalBytes } from '../../src/bytes.ts';
import { CheckedCrypto } from '../../src/crypto/checked.ts';
import type { CipherFactory } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { CipherState } from '../../src/noise/cipher-state.ts';
import { Transport } from '../../src/noise/transport.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';

const HASH = new Uint8Array(32).fill(7);
const REMOTE = new Uint8Array(32).fill(9);
const KEYS = [new Uint8Array(32).fill(0xa1), new Uint8Array(32).fill(0xb2)] as const;
const ZEROS = new Uint8Array(32);
const TEXT = new Uint8Array([1, 2, 3]);

type Internals = { [direction in 'sending' | 'receiving']: { key?: Uint8Array; nonce: Uint8Array } };

function cipherState(key: Uint8Array, createCipher: CipherFactory): CipherState {
  const crypto = new CheckedCrypto({ ...nodeCrypto, ciphers: { ChaChaPoly: createCipher } });
  const state = new CipherState(crypto, 'ChaChaPoly');
  state.initializeKey(new Uint8Array(key));
  return state;
}

/** Two ends of a connection. */
function pair(createCipher = nodeCrypto.ciphers.ChaChaPoly!): [Transport, Transport] {
  const end = (sending: Uint8Array, receiving: Uint8Array) =>
    new Transport({
      sending: cipherState(sending, createCipher),
      receiving: cipherState(receiving, createCipher),
      handshakeHash: new Uint8Array(HASH),
      remoteStaticKey: REMOTE,
    });
  return [end(KEYS[0], KEYS[1]), end(KEYS[1], KEYS[0])];
}

function internals(transport: Transport): Internals {
  return transport as unknown as Internals;
}

/** Asserts that both directions throw this error object, and that keys and hash are gone. */
function assertDead(transport: Transport, failure: unknown, peer: Transport): void {
  for (const call of [() => transport.encrypt(TEXT), () => transport.decrypt(peer.encrypt(TEXT))]) {
    let caught: unknown;
    try {
      call();
    } catch (error) {
      caught = error;
    }
    assert.is(caught, failure);
  }
  assert.is(internals(transport).sending.key, undefined);
  assert.is(internals(transport).receiving.key, undefined);
  assert.equal(transport.handshakeHash, ZEROS);
}

test('carries the handshake hash and a copy of the peer’s static key', () => {
  const [one] = pair();
  assert.equal(one.handshakeHash, HASH);
  assert.equal(one.remoteStaticKey, REMOTE);
  assert.is.not(one.remoteStaticKey, REMOTE);
});

test('seals 65519 bytes into the longest possible message, which opens', () => {
  const [one, other] = pair();
  const longest = new Uint8Array(65519).fill(5);
  const message = one.encrypt(longest);
  assert.is(message.length, 65535);
  assert.ok(equalBytes(other.decrypt(message), longest));
});

test('refuses to seal 65520 bytes, without a change of state', () => {
  const [one, other] = pair();
  raisesLocal(() => one.encrypt(new Uint8Array(65520)), 'message-too-long');
  assert.equal(other.decrypt(one.encrypt(TEXT)), TEXT);
  assert.equal(one.decrypt(other.encrypt(TEXT)), TEXT);
});

test('seals and opens an empty plaintext, in the shortest message of 16 bytes', () => {
  const [one, other] = pair();
  const message = one.encrypt(new Uint8Array(0));
  assert.is(message.length, 16);
  assert.equal(other.decrypt(message), new Uint8Array(0));
});

for (const length of [0, 1, 15]) {
  test(`refuses a message of ${length} bytes, for good`, () => {
    const [one, other] = pair();
    const failure = raisesRemote(() => other.decrypt(new Uint8Array(length)), 'message-too-short');
    assertDead(other, failure, one);
  });
}

test('refuses a message of 65536 bytes, for good', () => {
  const [one, other] = pair();
  const failure = raisesRemote(() => other.decrypt(new Uint8Array(65536)), 'message-too-long');
  assertDead(other, failure, one);
});

test('refuses a replayed message, for good', () => {
  const [one, other] = pair();
  const message = one.encrypt(TEXT);
  other.decrypt(message);
  const failure = raisesRemote(() => other.decrypt(message), 'not-authentic');
  assertDead(other, failure, one);
});

test('refuses messages that arrive out of order, for good', () => {
  const [one, other] = pair();
  const [first, second] = [one.encrypt(TEXT), one.encrypt(TEXT)];
  const failure = raisesRemote(() => other.decrypt(second), 'not-authentic');
  raisesRemote(() => other.decrypt(first), 'not-authentic');
  assertDead(other, failure, one);
});

test('ends when sealing fails, with the cipher’s error as the cause', () => {
  const cause = new Error('bus timeout');
  const [one, other] = pair((key) =>
    Object.assign(nodeCrypto.ciphers.ChaChaPoly!(key), {
      sealInPlace() {
        throw cause;
      },
    }),
  );
  const failure = raisesLocal(() => one.encrypt(TEXT), 'crypto-failed');
  assert.is(failure.cause, cause);
  raisesLocal(() => other.encrypt(TEXT), 'crypto-failed');
  const [healthy] = pair();
  assertDead(one, failure, healthy);
});

test('ends when its nonces for sending are exhausted', () => {
  const [one, other] = pair();
  internals(one).sending.nonce.fill(0xff, 4);
  const failure = raisesLocal(() => one.encrypt(TEXT), 'nonce-exhausted');
  assertDead(one, failure, other);
});

test('ends when the peer’s nonces are exhausted', () => {
  const [one, other] = pair();
  const message = one.encrypt(TEXT);
  internals(other).receiving.nonce.fill(0xff, 4);
  const failure = raisesRemote(() => other.decrypt(message), 'nonce-exhausted');
  assertDead(other, failure, one);
});

test('wipes keys and hash when it is destroyed', () => {
  const [one, other] = pair();
  const [sending, receiving] = [internals(one).sending.key, internals(one).receiving.key];
  assert.equal([sending, receiving], KEYS);
  one.destroy();
  assert.equal([sending, receiving], [ZEROS, ZEROS]);
  const failure = raisesLocal(() => one.encrypt(TEXT), 'wrong-state');
  assert.is(
    raisesLocal(() => one.encryptInPlace(new Uint8Array(20)), 'wrong-state'),
    failure,
  );
  assertDead(one, failure, other);
});

test('reports that it is destroyed before it reports an argument of the wrong length', () => {
  const [one] = pair();
  one.destroy();
  raisesLocal(() => one.encrypt(new Uint8Array(65536)), 'wrong-state');
  raisesLocal(() => one.encryptInPlace(new Uint8Array(15)), 'wrong-state');
});

test('still throws its first failure after it is destroyed, which can be done twice', () => {
  const [one, other] = pair();
  const failure = raisesRemote(() => other.decrypt(new Uint8Array(20)), 'not-authentic');
  other.destroy();
  other.destroy();
  assertDead(other, failure, one);
});

const WITHOUT_SEAL_IN_PLACE: CipherFactory = (key) => {
  const cipher = nodeCrypto.ciphers.ChaChaPoly!(key);
  return { seal: cipher.seal.bind(cipher), open: cipher.open.bind(cipher) };
};
for (const [name, createCipher] of Object.entries({
  'noble’s': nobleCrypto.ciphers.ChaChaPoly!,
  'Node’s': nodeCrypto.ciphers.ChaChaPoly!,
  'a cipher without sealInPlace': WITHOUT_SEAL_IN_PLACE,
})) {
  test(`seals in place to the same messages, with ${name}`, () => {
    const [[one], [inPlace]] = [pair(createCipher), pair(createCipher)];
    for (const length of [0, 1, 1024, 65519]) {
      const text = new Uint8Array(length).fill(length);
      const buffer = new Uint8Array(length + 16);
      buffer.set(text);
      const message = inPlace.encryptInPlace(buffer);
      assert.ok(equalBytes(message, one.encrypt(text)));
      assert.is(message === buffer, createCipher !== WITHOUT_SEAL_IN_PLACE);
    }
  });
}

test('refuses a buffer of the wrong length or type in encryptInPlace, and goes on', () => {
  const [one, other] = pair();
  raisesLocal(() => one.encryptInPlace(new Uint8Array(15)), 'bad-length');
  raisesLocal(() => one.encryptInPlace(new Uint8Array(65536)), 'message-too-long');
  raisesLocal(() => one.encryptInPlace('text' as never), 'bad-argument');
  assert.equal(other.decrypt(one.encrypt(TEXT)), TEXT);
});

test('ends when sealing in place fails, or when its nonces are exhausted', () => {
  const cause = new Error('bus timeout');
  const [broken] = pair((key) =>
    Object.assign(nodeCrypto.ciphers.ChaChaPoly!(key), {
      sealInPlace() {
        throw cause;
      },
    }),
  );
  const failure = raisesLocal(() => broken.encryptInPlace(new Uint8Array(20)), 'crypto-failed');
  assert.is(failure.cause, cause);
  const [one, other] = pair();
  assertDead(broken, failure, other);
  internals(one).sending.nonce.fill(0xff, 4);
  raisesLocal(() => one.encryptInPlace(new Uint8Array(20)), 'nonce-exhausted');
});

for (const value of [undefined, null, 'text', 17, [1, 2], new ArrayBuffer(20), new Uint16Array(20)]) {
  test(`refuses ${inspect(value)} instead of bytes, and goes on`, () => {
    const [one, other] = pair();
    raisesLocal(() => one.encrypt(value as never), 'bad-argument');
    raisesLocal(() => other.decrypt(value as never), 'bad-argument');
    assert.equal(other.decrypt(one.encrypt(TEXT)), TEXT);
  });
}

test('does not change the arrays it is given', () => {
  const [one, other] = pair();
  const text = new Uint8Array(TEXT);
  const message = one.encrypt(text);
  const before = new Uint8Array(message);
  other.decrypt(message);
  assert.equal(text, TEXT);
  assert.equal(message, before);
});

test('opens a message in its own array if asked to and if the cipher can, otherwise in a new one', () => {
  for (const [createCipher, isView] of [
    [nobleCrypto.ciphers.ChaChaPoly!, true],
    [nodeCrypto.ciphers.ChaChaPoly!, false],
  ] as const) {
    const [one, other] = pair(createCipher);
    const message = one.encrypt(TEXT);
    const before = copyBytes(message);
    const text = other.decrypt(message, true);
    assert.equal(copyBytes(text), TEXT);
    assert.is(text.buffer === message.buffer, isView);
    assert.is(equalBytes(message, before), !isView);
  }
});

test('refuses calls from the cipher that it called, and goes on', () => {
  let transport: Transport | undefined;
  const reenter = () => {
    if (transport === undefined) return;
    raisesLocal(() => transport!.encrypt(TEXT), 'wrong-state');
    raisesLocal(() => transport!.encryptInPlace(new Uint8Array(20)), 'wrong-state');
    raisesLocal(() => transport!.decrypt(TEXT), 'wrong-state');
    raisesLocal(() => transport!.destroy(), 'wrong-state');
  };
  const [one, other] = pair((key) => {
    const cipher = nodeCrypto.ciphers.ChaChaPoly!(key);
    return {
      seal(...args) {
        reenter();
        return cipher.seal(...args);
      },
      open(...args) {
        reenter();
        return cipher.open(...args);
      },
    };
  });
  const received = other.encrypt(TEXT);
  transport = one;
  const sent = one.encrypt(TEXT);
  assert.equal(one.decrypt(received), TEXT);
  transport = undefined;
  assert.equal(other.decrypt(sent), TEXT);
});

test('has no fields that enumerate', () => {
  const [one] = pair();
  assert.equal(Object.keys(one), []);
});

test('shows only its name', () => {
  const [one] = pair();
  assert.is(JSON.stringify({ one }), '{"one":"[Transport]"}');
  assert.is(inspect(one, { showHidden: true, depth: Infinity }), '[Transport]');
});

test.run();
