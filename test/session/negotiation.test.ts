/** The client's choice of pattern and suite (spec, "Hub connection (protocol v3)", Selection). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { type Pattern, protocolName, type Suite } from '../../src/noise/patterns.ts';
import { selectNoise, suitesOf } from '../../src/session/negotiation.ts';
import { assertPatterns, OFFERED_PATTERNS, OFFERED_SUITES } from '../../src/session/options.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';

const CHACHA: Suite = '25519_ChaChaPoly_SHA256';
const AES: Suite = '25519_AESGCM_SHA256';

/** Names that every JavaScript object has. */
const INHERITED = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

test('finds no common suite if it supports none', () => {
  const offer = { patterns: ['XXpsk2'], suites: [CHACHA, AES] };
  raisesRemote(() => selectNoise(offer, { suites: [], pinned: false }), 'no-common-suite');
});

test('refuses offers and suites that are not lists of strings', () => {
  const own = { suites: [CHACHA], pinned: false };
  for (const offer of [undefined, null, {}, { patterns: [] }, { patterns: 'XXpsk2', suites: [] }]) {
    raisesLocal(() => selectNoise(offer as never, own), 'bad-argument');
  }
  const offer = { patterns: [], suites: [] };
  for (const own of [undefined, null, {}, { suites: CHACHA }, { suites: [7] }]) {
    raisesLocal(() => selectNoise(offer, own as never), 'bad-argument');
  }
});

test('reads each field of the offer once', () => {
  const suites = ['25519_ChaChaPoly_SHA256'] as const;
  let reads = 0;
  const offer = {
    suites,
    get patterns() {
      if (reads++ > 0) throw new TypeError('read twice');
      return ['XXpsk2'];
    },
  };
  assert.is(selectNoise(offer, { suites, pinned: true }).pattern, 'XXpsk2');
});

test('protocol names follow the spec', () => {
  assert.is(protocolName('XXpsk2', CHACHA), 'Noise_XXpsk2_25519_ChaChaPoly_SHA256');
  assert.is(protocolName('XXpsk2', AES), 'Noise_XXpsk2_25519_AESGCM_SHA256');
  assert.is(protocolName('KKpsk0', CHACHA), 'Noise_KKpsk0_25519_ChaChaPoly_SHA256');
  assert.is(protocolName('KKpsk0', AES), 'Noise_KKpsk0_25519_AESGCM_SHA256');
});

test('protocol 3 has two patterns and two suites, the required one of each first', () => {
  assert.equal(OFFERED_PATTERNS, ['XXpsk2', 'KKpsk0']);
  assert.equal(OFFERED_SUITES, [CHACHA, AES]);
});

test('other pattern names are refused', () => {
  for (const name of OFFERED_PATTERNS) assert.equal(assertPatterns([name]), [name]);
  for (const name of [...INHERITED, '', 'KKpsk2', 'ChaChaPoly', undefined, null, 0, ['XXpsk2']]) {
    raisesLocal(() => assertPatterns([name as Pattern]), 'bad-argument');
  }
});

test('a crypto supports the suites that its ciphers allow', () => {
  assert.equal(suitesOf(nobleCrypto), [CHACHA]);
  assert.equal(suitesOf(nobleCryptoWithAesGcm), [CHACHA, AES]);
  assert.equal(suitesOf(nodeCrypto), [CHACHA, AES]);
});

test('suites are preferred in the order of the ciphers’ keys', () => {
  const { ChaChaPoly, AESGCM } = nodeCrypto.ciphers;
  const ordered: CryptoProvider = { ...nodeCrypto, ciphers: { AESGCM: AESGCM!, ChaChaPoly: ChaChaPoly! } };
  assert.equal(suitesOf(ordered), [AES, CHACHA]);
});

test('ciphers that are undefined or unknown are skipped', () => {
  const { AESGCM } = nodeCrypto.ciphers;
  const ciphers = {
    ChaChaPoly: undefined,
    XChaChaPoly: AESGCM,
    AESGCM,
  } as unknown as CryptoProvider['ciphers'];
  assert.equal(suitesOf({ ...nodeCrypto, ciphers }), [AES]);
  assert.equal(suitesOf({ ...nodeCrypto, ciphers: {} }), []);
});

test.run();
