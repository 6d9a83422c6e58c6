/** CipherState compared with node:crypto and nonces built by hand. */
import { createCipheriv } from 'node:crypto';
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CheckedCrypto } from '../../src/crypto/checked.ts';
import type { Cipher, CipherName } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { CipherState, withRoom } from '../../src/noise/cipher-state.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';
import { hex, toHex } from '../world/vectors.ts';

const CIPHERS: CipherName[] = ['ChaChaPoly', 'AESGCM'];
const KEY = Uint8Array.from({ length: 32 }, (_, i) => 200 - i);
const DATA = new Uint8Array([1, 2, 3]);
const TEXT = new Uint8Array([4, 5, 6, 7]);
const SEALED = new Uint8Array(TEXT.length + 16);
const RESERVED = 2n ** 64n - 1n;

/** Noise spec, sections 12.3 and 12.4: 32 zero bits, then the counter. */
function nonceOf(name: CipherName, counter: bigint): Buffer {
  const nonce = Buffer.alloc(12);
  if (name === 'ChaChaPoly') nonce.writeBigUInt64LE(counter, 4);
  else nonce.writeBigUInt64BE(counter, 4);
  return nonce;
}

/** What OpenSSL seals under the nonce of a counter. */
function sealedAt(name: CipherName, counter: bigint): string {
  const options = { authTagLength: 16 };
  const nonce = nonceOf(name, counter);
  const cipher =
    name === 'ChaChaPoly'
      ? createCipheriv('chacha20-poly1305', KEY, nonce, options)
      : createCipheriv('aes-256-gcm', KEY, nonce, options);
  cipher.setAAD(DATA, { plaintextLength: TEXT.length });
  return Buffer.concat([cipher.update(TEXT), cipher.final(), cipher.getAuthTag()]).toString('hex');
}

function keyed(name: CipherName): CipherState {
  const state = new CipherState(new CheckedCrypto(nodeCrypto), name);
  state.initializeKey(new Uint8Array(KEY));
  return state;
}

/** A state that has already sealed or opened this many messages. */
function at(name: CipherName, counter: bigint): CipherState {
  const state = keyed(name);
  (state as unknown as { nonce: Uint8Array }).nonce.set(nonceOf(name, counter));
  return state;
}

/** A state with a stub for a cipher. */
function over(cipher: Partial<Cipher>): CipherState {
  const state = new CipherState(
    new CheckedCrypto({ ...nodeCrypto, ciphers: { ChaChaPoly: () => cipher as Cipher } }),
    'ChaChaPoly',
  );
  state.initializeKey(new Uint8Array(KEY));
  return state;
}

for (const name of CIPHERS) {
  test(`${name} counts up from 0, sealing and opening`, () => {
    const sending = keyed(name);
    const receiving = keyed(name);
    for (let counter = 0n; counter < 4n; counter++) {
      assert.is(toHex(sending.encryptWithAd(withRoom(TEXT), DATA)), sealedAt(name, counter));
      assert.equal(receiving.decryptWithAd(DATA, hex(sealedAt(name, counter))), TEXT);
    }
  });

  for (const counter of [0n, 1n, 255n, 256n, 65535n, 65536n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 56n - 1n]) {
    test(`${name} uses the nonce of counter ${counter}, then the next`, () => {
      const sending = at(name, counter);
      const receiving = at(name, counter);
      for (const each of [counter, counter + 1n]) {
        assert.is(toHex(sending.encryptWithAd(withRoom(TEXT), DATA)), sealedAt(name, each));
        assert.equal(receiving.decryptWithAd(DATA, hex(sealedAt(name, each))), TEXT);
      }
    });
  }

  test(`${name} seals at 2^64 - 2, then refuses the reserved nonce every time`, () => {
    const sending = at(name, RESERVED - 1n);
    assert.is(toHex(sending.encryptWithAd(withRoom(TEXT), DATA)), sealedAt(name, RESERVED - 1n));
    raisesLocal(() => sending.encryptWithAd(withRoom(TEXT), DATA), 'nonce-exhausted');
    raisesLocal(() => sending.encryptWithAd(withRoom(TEXT), DATA), 'nonce-exhausted');
  });

  test(`${name} opens at 2^64 - 2, then refuses the reserved nonce every time, authentic or not`, () => {
    const receiving = at(name, RESERVED - 1n);
    assert.equal(receiving.decryptWithAd(DATA, hex(sealedAt(name, RESERVED - 1n))), TEXT);
    const sealed = hex(sealedAt(name, RESERVED));
    raisesRemote(() => receiving.decryptWithAd(DATA, sealed), 'nonce-exhausted');
    raisesRemote(() => receiving.decryptWithAd(DATA, sealed), 'nonce-exhausted');
  });

  test(`${name} does not count a message that is not authentic`, () => {
    const receiving = keyed(name);
    raisesRemote(() => receiving.decryptWithAd(DATA, hex(sealedAt(name, 1n))), 'not-authentic');
    raisesRemote(() => receiving.decryptWithAd(TEXT, hex(sealedAt(name, 0n))), 'not-authentic');
    raisesRemote(() => receiving.decryptWithAd(DATA, new Uint8Array(0)), 'not-authentic');
    assert.equal(receiving.decryptWithAd(DATA, hex(sealedAt(name, 0n))), TEXT);
  });

  test(`${name} restarts at 0 under a new key`, () => {
    const state = keyed(name);
    state.encryptWithAd(withRoom(TEXT), DATA);
    state.initializeKey(new Uint8Array(KEY));
    assert.is(toHex(state.encryptWithAd(withRoom(TEXT), DATA)), sealedAt(name, 0n));
  });
}

test('never calls the cipher with the reserved nonce', () => {
  let calls = 0;
  const count = () => {
    calls++;
    return TEXT;
  };
  const state = over({ seal: count, open: count });
  (state as unknown as { nonce: Uint8Array }).nonce.set(nonceOf('ChaChaPoly', RESERVED));
  raisesLocal(() => state.encryptWithAd(withRoom(TEXT), DATA), 'nonce-exhausted');
  raisesRemote(() => state.decryptWithAd(DATA, TEXT), 'nonce-exhausted');
  assert.is(calls, 0);
});

test('a cipher that throws while sealing is crypto-failed, with its error as the cause', () => {
  const cause = new Error('bus timeout');
  const state = over({
    seal() {
      throw cause;
    },
  });
  assert.is(raisesLocal(() => state.encryptWithAd(withRoom(TEXT), DATA), 'crypto-failed').cause, cause);
});

test('a cipher that throws while opening is crypto-failed, with its error as the cause', () => {
  for (const cause of [new Error('bus timeout'), new RangeError('too large'), 'text', undefined]) {
    const state = over({
      open() {
        throw cause;
      },
    });
    assert.is(raisesLocal(() => state.decryptWithAd(DATA, SEALED), 'crypto-failed').cause, cause);
  }
});

test('undefined from open() means that the message is not authentic', () => {
  raisesRemote(() => over({ open: () => undefined }).decryptWithAd(DATA, SEALED), 'not-authentic');
});

for (const result of [null, false, '', [], {}, new ArrayBuffer(4), new Uint8Array(3), new Uint8Array(5)]) {
  test(`${inspect(result)} from open() is crypto-failed`, () => {
    raisesLocal(() => over({ open: () => result as never }).decryptWithAd(DATA, SEALED), 'crypto-failed');
  });
}

test('accepts an empty plaintext', () => {
  const state = over({ open: () => new Uint8Array(0) });
  assert.equal(state.decryptWithAd(DATA, new Uint8Array(16)), new Uint8Array(0));
});

test('wipes its key when it is replaced, and when it is destroyed', () => {
  const [first, second] = [new Uint8Array(KEY), new Uint8Array(KEY)];
  const state = new CipherState(new CheckedCrypto(nodeCrypto), 'ChaChaPoly');
  state.initializeKey(first);
  state.initializeKey(second);
  assert.equal(first, new Uint8Array(32));
  assert.equal(second, KEY);
  state.destroy();
  assert.equal(second, new Uint8Array(32));
});

test('shows only its name', () => {
  const state = keyed('AESGCM');
  assert.is(JSON.stringify({ state }), '{"state":"[CipherState]"}');
  assert.is(inspect(state, { showHidden: true, depth: Infinity }), '[CipherState]');
});

test.run();
