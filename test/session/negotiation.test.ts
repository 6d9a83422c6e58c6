/** The client's choice of pattern and suite (spec, "Hub connection (protocol v3)", Selection). */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { protocolName, type Suite } from '../../src/noise/patterns.ts';
import { selectNoise, suitesOf } from '../../src/session/negotiation.ts';
import { OFFERED_PATTERNS, OFFERED_SUITES } from '../../src/session/options.ts';
import { Pair, type Wire } from '../world/pair.ts';
import { raisesLocal, raisesRemote } from '../world/raises.ts';

const CHACHA: Suite = '25519_ChaChaPoly_SHA256';
const AES: Suite = '25519_AESGCM_SHA256';

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

test('a client reads message 2 of a hub that repeats the choice in it, whatever the choice is', () => {
  const repeating: Wire = (to, data) => [
    to === 'client' ? String(data).replace('"msg"', '"pattern":"KKpsk0","suite":"x","msg"') : data,
  ];
  assert.is(new Pair({ wire: repeating }).run().client.state, 'ready');
});

test.run();
