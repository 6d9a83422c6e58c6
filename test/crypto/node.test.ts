/** The provider on Node where Node has other cryptography, and its random bytes. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { randomBytes } from '../../src/crypto/node.ts';
import { assertPlain, series } from './series.ts';

for (const length of [0, 1, 32, 65537]) {
  test(`randomBytes returns ${length} bytes with memory of their own`, () => {
    assertPlain(randomBytes(length), length);
  });
}

test('randomBytes returns different bytes each time', () => {
  assert.not.equal(randomBytes(32), randomBytes(32));
});

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
    ? spawnSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
        env: { ...process.env, NODE_V8_COVERAGE: process.env.COVERAGE_FOLDER },
      })
    : spawnSync(process.execPath, [
        '--input-type=module',
        '--eval',
        script.replace(/\.\/src\/(.*?)\.ts/g, './dist/$1.js'),
      ]);
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

for (const [what, took, short] of [
  ['little', 0, 640],
  ['long', 0.2, 3072],
] as const) {
  test(`node seals and opens messages of up to ${short} bytes without OpenSSL, which takes ${what} to start a cipher`, () => {
    runWith(
      `let tries = 0;
      crypto.createCipheriv = crypto.createDecipheriv = () => {
        if (++tries > 48) throw new Error('OpenSSL is called');
        for (const end = performance.now() + ${took}; performance.now() < end; );
      };`,
      `const cipher = nodeCrypto.ciphers.ChaChaPoly(new Uint8Array(32));
      const [nonce, none] = [new Uint8Array(12), new Uint8Array(0)];
      const sealed = cipher.seal(nonce, none, new Uint8Array(${short}));
      assert.equal(cipher.open(nonce, none, sealed).length, ${short});
      assert.throws(() => cipher.seal(nonce, none, new Uint8Array(${short + 1})), /OpenSSL/);
      assert.throws(() => cipher.open(nonce, none, new Uint8Array(${short + 17})), /OpenSSL/);
      nodeCrypto.ciphers.ChaChaPoly(new Uint8Array(32)); // which measures nothing again`,
      short === 3072,
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
      `assert.equal(given.length, 0); // no key was needed
      nodeCrypto.x25519.publicKey(new Uint8Array(32).fill(1));
      given = [];
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

test('a bundler for pages refuses the provider of Node.js, as it would not run there', async () => {
  const provider = fileURLToPath(new URL('../../src/crypto/node.ts', import.meta.url));
  const bundling = build({ entryPoints: [provider], bundle: true, write: false, logLevel: 'silent' });
  const refusal = await bundling.then(String, String);
  assert.match(refusal, /Could not resolve "node:buffer"/);
});

test.run();
