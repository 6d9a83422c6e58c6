/** CipherState compared with node:crypto and nonces built by hand. */
import { createCipheriv } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CheckedCrypto } from '../../src/crypto/checked.ts';
import type { CipherName } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { CipherState, withRoom } from '../../src/noise/cipher-state.ts';
import { hex, toHex } from '../world/vectors.ts';

const CIPHERS: CipherName[] = ['ChaChaPoly', 'AESGCM'];
const KEY = Uint8Array.from({ length: 32 }, (_, i) => 200 - i);
const DATA = new Uint8Array([1, 2, 3]);
const TEXT = new Uint8Array([4, 5, 6, 7]);

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
}

test.run();
