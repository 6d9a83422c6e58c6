/** What each provider of cryptography must do besides computing the right results. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyBytes } from '../../src/bytes.ts';
import { block } from '../../src/crypto/chacha20.ts';
import type { CipherFactory, CryptoProvider } from '../../src/crypto/crypto.ts';
import { deviceCrypto } from '../../src/crypto/device.ts';
import { chacha20InRows, chacha20InWords } from '../../src/crypto/device-chacha20.ts';
import { chaChaPolyOf } from '../../src/crypto/device-chachapoly.ts';
import { jsCrypto } from '../../src/crypto/js.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { raisesAbout } from '../world/raises.ts';
import { UNCOUNTED } from '../world/uncounted.ts';
import { hex, toHex } from '../world/vectors.ts';
import { wipedIn } from '../world/wiped.ts';
import { openSslOpen, openSslSeal } from './openssl.ts';

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

/** 1, 2, 3, … from a start. */
function series(length: number, start = 1): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => start + i);
}

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = copyBytes(bytes);
  copy[at]! ^= 1;
  return copy;
}

/** Asserts that a result is a plain Uint8Array with memory of its own. */
function assertPlain(bytes: Uint8Array, length: number): void {
  assert.is(bytes.constructor, Uint8Array);
  assert.is(bytes.length, length);
  assert.is(bytes.buffer.byteLength, length);
}

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

for (const length of [0, 1, 32, 65537]) {
  test(`randomBytes returns ${length} bytes with memory of their own`, () => {
    assertPlain(randomBytes(length), length);
  });
}

/**
 * Runs a program in a Node whose node:crypto is changed first; asserts that it throws nothing.
 * @param isCounted - whether it reaches code that nothing else reaches, so that the coverage of src/ counts. Other programs take the
 *   library as it was built, and need no compiler
 */
function runWith(change: string, program: string, isCounted = false): void {
  const script = `
    import assert from 'node:assert/strict';
    import crypto from 'node:crypto';
    import { syncBuiltinESMExports } from 'node:module';
    ${change}
    syncBuiltinESMExports();
    const { nodeCrypto } = await import('./src/crypto/node.ts');
    const { nobleCrypto } = await import('./src/crypto/noble.ts');
    ${program}`;
  const { status, stderr } = isCounted
    ? spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script])
    : spawnSync(
        process.execPath,
        ['--input-type=module', '--eval', script.replace(/\.\/src\/(.*?)\.ts/g, './dist/$1.js')],
        { env: UNCOUNTED },
      );
  assert.is(status, 0, stderr.toString());
}

test('node uses the ChaChaPoly of js for all messages where OpenSSL has none', () => {
  runWith(
    `const { getCiphers } = crypto;
    crypto.getCiphers = () => getCiphers().filter((name) => name !== 'chacha20-poly1305');`,
    `const { jsCrypto } = await import('./src/crypto/js.ts');
    assert.equal(nodeCrypto.ciphers.ChaChaPoly, jsCrypto.ciphers.ChaChaPoly);
    assert.notEqual(nodeCrypto.ciphers.AESGCM, undefined);`,
    true,
  );
});

for (const [version, short] of [
  ['20.0.0', 640],
  ['24.0.0', 3072],
] as const) {
  test(`node ${version} seals and opens messages of up to ${short} bytes without OpenSSL`, () => {
    runWith(
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
      crypto.createCipheriv = crypto.createDecipheriv = () => { throw new Error('OpenSSL is called'); };`,
      `const cipher = nodeCrypto.ciphers.ChaChaPoly(new Uint8Array(32));
      const [nonce, none] = [new Uint8Array(12), new Uint8Array(0)];
      const sealed = cipher.seal(nonce, none, new Uint8Array(${short}));
      assert.equal(cipher.open(nonce, none, sealed).length, ${short});
      assert.throws(() => cipher.seal(nonce, none, new Uint8Array(${short + 1})), /OpenSSL/);
      assert.throws(() => cipher.open(nonce, none, new Uint8Array(${short + 17})), /OpenSSL/);`,
      version === '24.0.0',
    );
  });
}

/** What createPrivateKey takes in a runtime, by format; the key that it is then given. */
const RUNTIMES = [
  ['raw bytes', 'raw-private', `{ 'raw-private': ({ key }) => key, jwk: ({ key }) => fromJwk(key) }`],
  ['a JWK with any x', 'jwk', '{ jwk: ({ key }) => fromJwk(key) }'],
  [
    'raw bytes, but makes another key of them,',
    'jwk',
    `{ 'raw-private': () => Buffer.alloc(32, 7), jwk: ({ key }) => fromJwk(key) }`,
  ],
  ['a JWK with the right x alone', 'der', '{}'],
] as const;

for (const [what, format, takes] of RUNTIMES) {
  test(`node imports private keys as ${format} if the runtime accepts ${what}`, () => {
    runWith(
      `const { createPrivateKey } = crypto;
      const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex');
      const fromJwk = ({ d }) => Buffer.from(d, 'base64url');
      const takes = ${takes};
      let given = [];
      crypto.createPrivateKey = (options) => {
        given.push(options);
        if (options.format === 'der') return createPrivateKey(options);
        if (!(options.format in takes)) throw new TypeError('another format is expected');
        const key = Buffer.concat([PKCS8, takes[options.format](options)]);
        return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
      };`,
      `given = [];
      const [own, peer] = [new Uint8Array(32).fill(1), nobleCrypto.x25519.publicKey(new Uint8Array(32).fill(2))];
      const [publicKey, secret] = [nobleCrypto.x25519.publicKey(own), nobleCrypto.x25519.sharedSecret(own, peer)];
      const pair = nodeCrypto.x25519.importKey(own);
      assert.deepEqual(nodeCrypto.x25519.publicKey(own), publicKey);
      assert.deepEqual(nodeCrypto.x25519.sharedSecret(own, peer), secret);
      assert.deepEqual([pair.publicKey, pair.sharedSecret(peer)], [publicKey, secret]);
      assert.deepEqual(given.map((options) => options.format), ['${format}', '${format}', '${format}']);
      for (const { format, key } of given) assert.ok(format !== 'der' || key.every((byte) => byte === 0));`,
      format === 'der',
    );
  });
}

test('node has an argon2id where Node has one, and passes all parameters to it', () => {
  const parameters = {
    password: series(3),
    salt: series(8),
    passes: 1,
    memoryKiB: 8,
    parallelism: 1,
    length: 32,
    secret: series(1),
    associatedData: series(2),
  };
  runWith('delete crypto.argon2Sync;', 'assert.equal(nodeCrypto.argon2id, undefined);');
  runWith(
    'crypto.argon2Sync = (...args) => Buffer.from(JSON.stringify(args));',
    `const parameters = JSON.parse(${JSON.stringify(JSON.stringify(parameters))});
    const [algorithm, given] = JSON.parse(Buffer.from(nodeCrypto.argon2id(parameters)).toString());
    assert.equal(algorithm, 'argon2id');
    const { password, salt, memoryKiB, length, ...same } = parameters;
    assert.deepEqual(given, { ...same, message: password, nonce: salt, memory: memoryKiB, tagLength: length });`,
    true,
  );
});

test('the device file uses the code for interpreters if there is no WebAssembly', () => {
  runWith(
    `await import('./src/limits.ts'); // by now tsx has what it needs of WebAssembly for itself
    delete globalThis.WebAssembly;`,
    `const { chacha20, chacha20InRows } = await import('./src/crypto/device-chacha20.ts');
    assert.equal(chacha20, chacha20InRows);`,
    true,
  );
});

for (const [form, chacha20] of [
  ['compiled', chacha20InWords],
  ['interpreted', chacha20InRows],
] as const) {
  test(`the device file, ${form}, leaves neither key nor keystream in an array after a message`, () => {
    const cipher = chaChaPolyOf(chacha20)(series(32));
    for (const length of [0, 1, 64, 65, 500]) {
      const made: (Int32Array | Uint8Array)[] = [];
      let sealed: Uint8Array | undefined;
      let opened: Uint8Array | undefined;
      recording('Int32Array', made, () =>
        recording('Uint8Array', made, () => {
          sealed = cipher.seal(series(12), series(3), new Uint8Array(length));
          opened = cipher.open(series(12), series(3), sealed);
        }),
      );
      const states = made.filter((array) => array instanceof Int32Array);
      const blocks = made.filter((array) => array.byteLength === 64 && array !== sealed && array !== opened);
      assert.ok(blocks.length > 1);
      assert.is(states.length > 0, form === 'compiled');
      for (const array of [...states, ...blocks]) assert.ok(array.every((word) => word === 0));
    }
  });

  test(`the device file, ${form}, shows no key, and refuses keys and nonces of other lengths by name`, () => {
    const createCipher = chaChaPolyOf(chacha20);
    assert.equal(Object.keys(createCipher(series(32))), []);
    for (const length of [0, 11, 13, 24]) {
      raisesAbout('nonce', () => createCipher(series(32)).seal(series(length), series(1), series(1)));
    }
    raisesAbout('key', () => createCipher(series(33)).seal(series(12), series(1), series(1)));
  });
}

test('the device file leaves nothing in an array that HMAC-SHA-256 is computed from', () => {
  const made: (Int32Array | Uint8Array)[] = [];
  const [key, message] = [series(32), series(20, 100)];
  let tag: Uint8Array | undefined;
  recording('Int32Array', made, () =>
    recording('Uint8Array', made, () => {
      tag = deviceCrypto.hmacSha256(key, message);
    }),
  );
  assert.is(made.length, 4); // two states, the padded message, the tag
  assert.ok(made.includes(tag!));
  for (const array of made) assert.ok(array === tag || array.every((byte) => byte === 0));
});

for (const [name, crypto] of [
  ['noble', nobleCrypto],
  ['js', jsCrypto],
] as const) {
  test(`${name}’s ChaChaPoly leaves no keystream behind, whether it seals, opens or does not`, () => {
    const cipher = crypto.ciphers.ChaChaPoly!(series(32));
    const keystream = cipher.seal(series(12), series(1), new Uint8Array(64)).subarray(0, 64);
    const sealed = cipher.seal(series(12), series(1), new Uint8Array(20));
    for (const call of [
      () => cipher.seal(series(12), series(1), new Uint8Array(20)),
      () => cipher.open(series(12), series(1), sealed),
      () => cipher.open(series(12), series(1), flipped(sealed, 30)),
    ]) {
      assert.ok(wipedIn(call).some((bytes) => bytes !== '00'.repeat(bytes.length / 2)));
      assert.ok(block.every((byte) => byte === 0));
    }
    assert.ok(
      wipedIn(() => cipher.seal(series(12), series(1), new Uint8Array(20))).includes(toHex(keystream)),
    );
  });
}

/** How often each key of 32 bytes is in the memory of a process, on Linux. */
function copiesIn(pid: number, keys: readonly Uint8Array[]): number[] {
  const copies = keys.map(() => 0);
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const piece = Buffer.alloc(2 ** 24);
  for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, start, end] =
      /^(\w+)-(\w+) rw/.exec(line)?.map((hexadecimal) => parseInt(hexadecimal, 16)) ?? [];
    for (let at = start!; at < end!; at += piece.length - 31) {
      const length = Math.min(piece.length, end! - at);
      let read: Buffer;
      try {
        read = piece.subarray(0, readSync(memory, piece, 0, length, at));
      } catch {
        break; // released since the list was read
      }
      for (const [i, key] of keys.entries()) {
        for (let found = read.indexOf(key); found >= 0; found = read.indexOf(key, found + 1)) copies[i]!++;
      }
    }
  }
  closeSync(memory);
  return copies;
}

const OF_CIPHERS = [
  ['noble', 'nobleCrypto.ciphers.ChaChaPoly'],
  ['noble-aesgcm', 'nobleCryptoWithAesGcm.ciphers.AESGCM'],
  ['js', 'jsCrypto.ciphers.ChaChaPoly'],
  ['node', 'nodeCrypto.ciphers.ChaChaPoly'],
  ['node', 'nodeCrypto.ciphers.AESGCM'],
  ['device', 'deviceCrypto.ciphers.ChaChaPoly'],
] as const;

if (process.platform === 'linux') {
  test('no cipher leaves a copy of a key in memory once its array is wiped', async () => {
    const program = `
      import { once } from 'node:events';
      const keys = [];
      for (const [file, name] of ${JSON.stringify(OF_CIPHERS)}) {
        const provider = await import('./dist/crypto/' + file + '.js');
        const create = name.split('.').reduce((object, member) => object[member], provider);
        const key = new Uint8Array(new ArrayBuffer(32));
        for (let i = 0; i < 32; i++) key[i] = 73 * i + 41 + keys.length;
        const cipher = create(key);
        const nonce = new Uint8Array(12);
        for (; nonce[4] < 250; nonce[4]++) {
          cipher.open(nonce, nonce, cipher.seal(nonce, nonce, new Uint8Array(100)));
        }
        keys.push(key);
      }
      console.log('used');
      await once(process.stdin, 'data');
      for (const key of keys) key.fill(0);
      console.log('wiped');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env: UNCOUNTED });
    try {
      const keys = OF_CIPHERS.map((_, index) =>
        Uint8Array.from({ length: 32 }, (_, i) => 73 * i + 41 + index),
      );
      await once(child.stdout, 'data');
      for (const [i, copies] of copiesIn(child.pid!, keys).entries())
        assert.ok(copies > 0, OF_CIPHERS[i]![1]);
      child.stdin.write('wipe');
      await once(child.stdout, 'data');
      for (const [i, copies] of copiesIn(child.pid!, keys).entries()) assert.is(copies, 0, OF_CIPHERS[i]![1]);
    } finally {
      child.kill();
    }
  });

  test('no session leaves a copy of a transport key in memory once it is closed, whatever its provider', async () => {
    const providers = ['nobleCrypto', 'jsCrypto', 'nodeCrypto', 'deviceCrypto'];
    const program = `
      import { setTimeout as sleep } from 'node:timers/promises';
      import { Pair } from './test/world/pair.ts';
      globalThis.kept = [];
      const all = [];
      for (const name of ${JSON.stringify(providers)}) {
        const { [name]: provider } = await import('./src/crypto/' + name.replace('Crypto', '') + '.ts');
        const masked = [];
        const ChaChaPoly = (key) => {
          masked.push(key.reduce((hex, byte) => hex + (byte ^ 0xa5).toString(16).padStart(2, '0'), ''));
          return provider.ciphers.ChaChaPoly(key);
        };
        const crypto = { ...provider, ciphers: { ChaChaPoly } };
        const { client, hub } = new Pair({ client: { crypto }, hub: { crypto } }).run();
        for (let i = 0; i < 500; i++) for (const message of client.sendJson({ i })) hub.receive(message);
        client.closed(1006);
        hub.closed(1006);
        globalThis.kept.push(client, hub);
        all.push(...masked.slice(-4));
      }
      for (let i = 0; i < 3; i++) await sleep(30, gc());
      console.log(all.join());
      process.stdin.resume();`;
    const child = spawn(process.execPath, [
      '--expose-gc',
      '--import',
      'tsx',
      '--input-type=module',
      '--eval',
      program,
    ]);
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const masked = line.toString().trim().split(',');
      assert.is(masked.length, 4 * providers.length);
      const keys = masked.map((digits) => Buffer.from(digits, 'hex').map((byte) => byte ^ 0xa5));
      for (const [i, copies] of copiesIn(child.pid!, keys).entries()) {
        assert.is(copies, 0, providers[Math.floor(i / 4)]);
      }
    } finally {
      child.kill();
    }
  });
}

test('node wipes the decrypted bytes if the tag does not verify', () => {
  const cipher = nodeCrypto.ciphers.AESGCM!(series(32));
  const sealed = cipher.seal(series(12), series(1), series(20));
  const wiped = wipedIn(() => cipher.open(series(12), series(1), flipped(sealed, 30)));
  assert.ok(wiped.includes(toHex(series(20))));
});

/** Calls a function, and collects the typed arrays that are made while it runs. */
function recording(name: 'Int32Array' | 'Uint8Array', made: object[], call: () => void): void {
  const original = globalThis[name];
  const construct = (target: never, args: unknown[], newTarget: never) => {
    const array = Reflect.construct(target, args, newTarget) as object;
    made.push(array);
    return array;
  };
  Object.assign(globalThis, { [name]: new Proxy(original, { construct } as ProxyHandler<never>) });
  try {
    call();
  } finally {
    Object.assign(globalThis, { [name]: original });
  }
}

test('randomBytes returns different bytes each time', () => {
  assert.not.equal(randomBytes(32), randomBytes(32));
});

test.run();
