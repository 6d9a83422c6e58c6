/** The single file that derives a PSK, compared with argon2-cffi. */
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pskCrypto } from '../../bundles/psk.ts';
import { hex, readVectors, toHex } from '../world/vectors.ts';

type PskFile = typeof import('../../bundles/psk.ts');
const path = fileURLToPath(new URL('../../dist/hub-protocol.psk.js', import.meta.url));
const file = (await import(path)) as PskFile;
const [vector] = readVectors('argon2id', 'Psk');
const { password, nodeId, salt, psk } = vector!;

test('hub-protocol.psk.js derives a PSK from the node id', () => {
  const derived = file.derivePsk({ crypto: file.pskCrypto, password, nodeId });
  assert.is(toHex(derived), psk);
});

test('hub-protocol.psk.js derives in slices, and from the salt as from the node id', () => {
  const begun = (hub: { nodeId: string } | { salt: Uint8Array }): string => {
    const memory = new Uint8Array(64 * 1024 * 1024);
    const derivation = file.pskDerivation({ crypto: file.pskCrypto, password, ...hub, memory });
    assert.is(derivation.run(1), false);
    const blocks = toHex(memory.subarray(0, 3 * 1024));
    derivation.destroy();
    return blocks;
  };
  assert.is(begun({ salt: hex(salt) }), begun({ nodeId }));
});

test('its hash functions take several parts', () => {
  const parts = ['61', '62', '63'].map(hex);
  // FIPS 180-4's and RFC 7693's example: "abc"
  const sha256 = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  const blake2b = 'ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1';
  assert.is(toHex(pskCrypto.sha256(...parts)), sha256);
  assert.is(toHex(pskCrypto.blake2b(64, ...parts)).slice(0, 64), blake2b);
});

test.run();
