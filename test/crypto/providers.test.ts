import { createHash, createHmac } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';
import type { CipherFactory, CryptoProvider } from '../../src/crypto/crypto.ts';
import { deviceCrypto } from '../../src/crypto/device.ts';
import { chacha20InRows, chacha20InWords } from '../../src/crypto/device-chacha20.ts';
import { chaChaPolyOf } from '../../src/crypto/device-chachapoly.ts';
import { jsCrypto } from '../../src/crypto/js.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { raisesAbout } from '../world/raises.ts';
import { hex, toHex } from '../world/vectors.ts';
import { assertPlain, flipped, openSslOpen, openSslSeal, series } from './series.ts';

const PROVIDERS: [string, CryptoProvider][] = [
  ['noble', nobleCrypto],
  ['noble with AESGCM', nobleCryptoWithAesGcm],
  ['node', nodeCrypto],
  ['js', jsCrypto],
  ['the device file, compiled', { ...deviceCrypto, ciphers: { ChaChaPoly: chaChaPolyOf(chacha20InWords) } }],
  [
    'the device file, interpreted',
    { ...deviceCrypto, ciphers: { ChaChaPoly: chaChaPolyOf(chacha20InRows) } },
  ],
];

/** The u-coordinates of the points whose order divides 8, little-endian, and their other forms below 2^255. */
const LOW_ORDER = {
  '0': '0000000000000000000000000000000000000000000000000000000000000000',
  '1': '0100000000000000000000000000000000000000000000000000000000000000',
  'order 8, first': 'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  'order 8, second': '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'p - 1': 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  p: 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'p + 1': 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
};

for (const [name, crypto] of PROVIDERS) {
  const { x25519 } = crypto;

  for (const [point, encoded] of Object.entries(LOW_ORDER)) {
    test(`${name} returns zeros for the low-order key ${point}, its unused top bit clear or set`, () => {
      const publicKey = hex(encoded);
      assert.equal(x25519.sharedSecret(series(32), publicKey), new Uint8Array(32));
      publicKey[31]! |= 0x80;
      assert.equal(x25519.sharedSecret(series(32), publicKey), new Uint8Array(32));
    });
  }

  test(`${name} throws for X25519 keys that are too short`, () => {
    const key = series(31);
    raisesAbout('privateKey', () => x25519.publicKey(key));
    raisesAbout('privateKey', () => x25519.sharedSecret(key, series(32)));
    raisesAbout('publicKey', () => x25519.sharedSecret(series(32), key));
  });

  test(`${name} does not change X25519 keys`, () => {
    const [privateKey, publicKey] = [new Uint8Array(32).fill(0xff), series(32)];
    x25519.publicKey(privateKey);
    x25519.sharedSecret(privateKey, publicKey);
    assert.equal(privateKey, new Uint8Array(32).fill(0xff));
    assert.equal(publicKey, series(32));
  });

  if (x25519.importKey !== undefined) {
    test(`${name} imports a key with the same results, and keeps no reference to the array`, () => {
      const privateKey = series(32);
      const pair = x25519.importKey!(privateKey);
      privateKey.fill(0);
      assert.equal(pair.publicKey, x25519.publicKey(series(32)));
      const remote = x25519.publicKey(series(32, 7));
      assert.equal(pair.sharedSecret!(remote), x25519.sharedSecret(series(32), remote));
      assertPlain(pair.publicKey, 32);
      assertPlain(pair.sharedSecret!(remote), 32);
    });
  }

  test(`${name} distinguishes public keys that arrive in the same array, one after the other`, () => {
    const array = new Uint8Array(32);
    for (const seed of [1, 2, 1, 3, 4, 5, 6, 1, 6]) {
      const other = series(32, seed);
      array.set(x25519.publicKey(other));
      const expected = x25519.sharedSecret(other, x25519.publicKey(series(32)));
      assert.equal(x25519.sharedSecret(series(32), array), expected);
    }
  });

  for (const [kind, input] of [
    ['plain arrays', series(32)],
    ['Buffers', Buffer.from(series(32))],
  ] as const) {
    test(`${name} returns hashes and keys as plain arrays with memory of their own, given ${kind}`, () => {
      assertPlain(crypto.sha256(input), 32);
      assertPlain(crypto.hmacSha256(input, input), 32);
      assertPlain(crypto.sha256(input, input), 32);
      assertPlain(crypto.hmacSha256(input, Buffer.alloc(1000)), 32);
      if (crypto.blake2b !== undefined) assertPlain(crypto.blake2b(20, input), 20);
      assertPlain(x25519.publicKey(input), 32);
      assertPlain(x25519.sharedSecret(input, x25519.publicKey(input)), 32);
      assert.equal(copyBytes(input), series(32));
    });
  }

  for (const [cipherName, createCipher] of Object.entries(crypto.ciphers) as [string, CipherFactory][]) {
    const prefix = `${name}'s ${cipherName}`;
    const [key, nonce, associatedData, plaintext] = [
      series(32),
      series(12, 40),
      series(5, 60),
      series(20, 80),
    ];
    const cipher = createCipher(key);
    const sealed = cipher.seal(nonce, associatedData, plaintext);

    test(`${prefix} opens nothing with a flipped bit in any byte of ciphertext or tag`, () => {
      for (let at = 0; at < sealed.length; at++) {
        assert.is(cipher.open(nonce, associatedData, flipped(sealed, at)), undefined);
      }
      assert.equal(cipher.open(nonce, associatedData, sealed), plaintext);
    });

    test(`${prefix} opens nothing with another nonce, other associated data or another key`, () => {
      assert.is(cipher.open(flipped(nonce, 11), associatedData, sealed), undefined);
      assert.is(cipher.open(nonce, flipped(associatedData, 0), sealed), undefined);
      assert.is(cipher.open(nonce, new Uint8Array(0), sealed), undefined);
      assert.is(createCipher(flipped(key, 31)).open(nonce, associatedData, sealed), undefined);
    });

    test(`${prefix} opens nothing that is truncated, even to less than a tag`, () => {
      for (let length = 0; length < sealed.length; length++) {
        assert.is(cipher.open(nonce, associatedData, sealed.subarray(0, length)), undefined);
        assert.is(cipher.open(nonce, associatedData, sealed.subarray(sealed.length - length)), undefined);
      }
    });

    test(`${prefix} does not change its inputs, whether it opens or not`, () => {
      const damaged = flipped(sealed, 0);
      const inputs = [key, nonce, associatedData, plaintext, sealed, damaged];
      const before = inputs.map(copyBytes);
      cipher.seal(nonce, associatedData, plaintext);
      cipher.open(nonce, associatedData, sealed);
      assert.is(cipher.open(nonce, associatedData, damaged), undefined);
      assert.equal(inputs, before);
    });

    test(`${prefix} returns plain arrays with memory of their own, even if given Buffers`, () => {
      for (const text of [plaintext, new Uint8Array(0), Buffer.from(plaintext)]) {
        const result = cipher.seal(nonce, associatedData, text);
        assertPlain(result, text.length + 16);
        assertPlain(cipher.open(nonce, associatedData, result)!, text.length);
        assertPlain(cipher.open(nonce, associatedData, Buffer.from(result))!, text.length);
      }
    });

    test(`${prefix} seals right after a call that was cut short, as by a full heap`, () => {
      for (let last = 1; last < 10; last++) {
        let reads = 0;
        const get = (): number => {
          if (++reads === last) throw new RangeError('Array buffer allocation failed');
          return 5;
        };
        try {
          cipher.seal(nonce, Object.defineProperty(series(5, 60), 'length', { get }), plaintext);
        } catch {}
        assert.equal(cipher.seal(nonce, associatedData, plaintext), sealed);
      }
    });

    test(`${prefix} keeps no copy of the key: once the array is wiped, it works with a key of zeros`, () => {
      const ownKey = series(32);
      const ownCipher = createCipher(ownKey);
      assert.equal(ownCipher.seal(nonce, associatedData, plaintext), sealed);
      ownKey.fill(0);
      const underZero = createCipher(new Uint8Array(32)).seal(nonce, associatedData, plaintext);
      assert.equal(ownCipher.seal(nonce, associatedData, plaintext), underZero);
      assert.is(ownCipher.open(nonce, associatedData, sealed), undefined);
    });

    if (cipher.sealInPlace !== undefined) {
      test(`${prefix} seals in place like in a new array, at any alignment`, () => {
        for (const offset of [0, 1, 4]) {
          for (const length of [0, 1, 16, 63, 64, 1024, 1025, 5000]) {
            const text = new Uint8Array(length).map((_, i) => i);
            const room = new Uint8Array(offset + length + 16 + 1).fill(0xee);
            room.set(text, offset);
            cipher.sealInPlace!(nonce, associatedData, room.subarray(offset, offset + length + 16));
            const expected = cipher.seal(nonce, associatedData, text);
            assert.equal(copyBytes(room.subarray(offset, offset + length + 16)), expected);
            assert.is(room[offset + length + 16], 0xee);
          }
        }
      });
    }

    if (cipher.openInPlace !== undefined) {
      test(`${prefix} opens in place like in a new array, at any alignment`, () => {
        for (const offset of [0, 1, 4]) {
          for (const length of [0, 1, 16, 63, 64, 1024, 1025, 5000]) {
            const text = new Uint8Array(length).map((_, i) => i);
            const room = new Uint8Array(offset + length + 16);
            room.set(cipher.seal(nonce, associatedData, text), offset);
            const opened = cipher.openInPlace!(nonce, associatedData, room.subarray(offset))!;
            assert.equal(copyBytes(opened), text);
            assert.is(opened.buffer, room.buffer);
            assert.is(opened.byteOffset, offset);
          }
        }
      });

      test(`${prefix} does not change what does not open in place`, () => {
        const damaged = flipped(sealed, 30);
        const before = copyBytes(damaged);
        assert.is(cipher.openInPlace!(nonce, associatedData, damaged), undefined);
        assert.is(cipher.openInPlace!(nonce, associatedData, damaged.subarray(0, 9)), undefined);
        assert.equal(damaged, before);
      });
    }

    test(`${prefix} throws for a key of the wrong length`, () => {
      for (const length of [0, 31, 33, 64]) {
        assert.throws(() => createCipher(series(length)).seal(nonce, associatedData, plaintext));
        assert.throws(() => createCipher(series(length)).open(nonce, associatedData, sealed));
      }
    });

    test(`${prefix} returns bytes or undefined, or throws, for a nonce of the wrong length, and goes on`, () => {
      for (const length of [0, 8, 11, 13, 24]) {
        for (const call of [
          () => cipher.seal(series(length), associatedData, plaintext),
          () => cipher.open(series(length), associatedData, sealed),
        ]) {
          let outcome: unknown;
          try {
            outcome = call();
          } catch (error) {
            outcome = error;
          }
          assert.ok(
            outcome === undefined || outcome instanceof Uint8Array || outcome instanceof Error,
            `length ${length}: ${outcome}`,
          );
        }
      }
      assert.equal(cipher.seal(nonce, associatedData, plaintext), sealed);
    });
  }
}

for (const [name, crypto] of PROVIDERS) {
  test(`${name} hashes parts of any length as OpenSSL does, one after the other`, () => {
    for (const length of [0, 1, 63, 64, 65, 191, 192, 193, 255, 256, 257, 1000]) {
      const message = series(length);
      const parts = [message.subarray(0, length >> 2), message.subarray(length >> 2)];
      assert.is(toHex(crypto.sha256(...parts)), createHash('sha256').update(message).digest('hex'));
      for (const keyLength of [0, 1, 32, 63, 64, 65, 200]) {
        const key = series(keyLength, 9);
        const expected = createHmac('sha256', key).update(message).digest('hex');
        assert.is(toHex(crypto.hmacSha256(key, ...parts)), expected, `${length} bytes, key of ${keyLength}`);
      }
    }
  });

  test(`${name} seals and opens messages of any length as OpenSSL does`, () => {
    const key = series(32);
    const own = crypto.ciphers.ChaChaPoly!(key);
    for (const length of [
      0, 1, 15, 16, 17, 63, 64, 65, 319, 320, 321, 384, 385, 447, 448, 449, 1000, 65_519,
    ]) {
      const nonce = series(12, length);
      const associatedData = series(length % 35, 200);
      const plaintext = series(length, 7);
      const sealed = openSslSeal(key, nonce, associatedData, plaintext);
      assert.is(Buffer.compare(own.seal(nonce, associatedData, plaintext), sealed), 0, `${length} bytes`);
      assert.is(Buffer.compare(own.open(nonce, associatedData, sealed)!, plaintext), 0, `${length} bytes`);
    }
    for (const length of [0, 1, 15, 16, 17, 300]) {
      const [nonce, associatedData] = [series(12, length), series(length)];
      const sealed = own.seal(nonce, associatedData, series(20));
      assert.equal(copyBytes(openSslOpen(key, nonce, associatedData, sealed)), series(20));
    }
  });
}

test('node computes the same BLAKE2b as noble, and as OpenSSL in its one length, for up to three blocks', () => {
  for (let length = 0; length <= 385; length++) {
    const message = series(length, length);
    assert.is(
      toHex(nodeCrypto.blake2b!(64, message)),
      createHash('blake2b512').update(message).digest('hex'),
      `${length}`,
    );
    const digest = 1 + (length % 64);
    assert.equal(nodeCrypto.blake2b!(digest, message), nobleCrypto.blake2b!(digest, message), `${length}`);
  }
});

test('BLAKE2b carries a bit exactly where the sum of two low halves reaches 2^32', () => {
  // Found by a search: in the first a sum is 2^32, in the second 2^32 - 1.
  for (const number of [7_160_668n, 102_189_075n]) {
    const message = Buffer.alloc(8);
    message.writeBigUInt64LE(number);
    const expected = createHash('blake2b512').update(message).digest('hex');
    assert.is(toHex(nodeCrypto.blake2b!(64, message)), expected);
  }
});

test.run();
