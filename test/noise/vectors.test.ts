/** Every Noise transcript of vectors/noise.json, replayed in both roles with each provider that has the cipher. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Crypto } from '../../src/noise/crypto.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import { nobleCrypto } from '../../src/noise/noble.ts';
import { nobleCryptoWithAesGcm } from '../../src/noise/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/noise/node.ts';
import { type Pattern, SUITES, type Suite } from '../../src/noise/patterns.ts';
import { hex, readVectors, toHex, type Vector } from '../vectors.ts';

const PROVIDERS: [string, Crypto][] = [
  ['noble', nobleCrypto],
  ['noble with AESGCM', nobleCryptoWithAesGcm],
  ['node', nodeCrypto],
];
const VECTORS = readVectors('noise.json', 'NoiseHandshake');

type Side = 'init' | 'resp';

function start(vector: Vector, crypto: Crypto, side: Side): HandshakeState {
  const other = side === 'init' ? 'resp' : 'init';
  return new HandshakeState({
    crypto,
    role: side === 'init' ? 'initiator' : 'responder',
    pattern: vector.pattern as Pattern,
    suite: vector.suite as Suite,
    prologue: hex(vector.prologue),
    psk: hex(vector.psk),
    staticKey: hex(vector[`${side}Static`]),
    remoteStaticKey: vector.pattern === 'KKpsk0' ? hex(vector[`${other}StaticPublic`]) : undefined,
    randomBytes: () => hex(vector[`${side}Ephemeral`]),
  });
}

/** One side of the transcript: its messages are written and compared, the other side's are read and compared. */
function replay(vector: Vector, crypto: Crypto, side: Side): void {
  const state = start(vector, crypto, side);
  const messages: { payload: string; message: string }[] = vector.messages;
  messages.forEach(({ payload, message }, index) => {
    assert.not(state.isFinished);
    const isOurs = (index % 2 === 0) === (side === 'init');
    if (isOurs) assert.is(toHex(state.writeMessage(hex(payload))), message);
    else assert.is(toHex(state.readMessage(hex(message))), payload);
  });
  assert.ok(state.isFinished);

  const remoteStaticKey = vector[side === 'init' ? 'respStaticPublic' : 'initStaticPublic'];
  assert.is(toHex(state.remoteStaticKey!), remoteStaticKey);
  const transport = state.split();
  assert.is(toHex(transport.handshakeHash), vector.handshakeHash);
  assert.is(toHex(transport.remoteStaticKey), remoteStaticKey);
  for (const { from, plaintext, message } of vector.transport) {
    if (from === side) assert.is(toHex(transport.encrypt(hex(plaintext))), message);
    else assert.is(toHex(transport.decrypt(hex(message))), plaintext);
  }
}

const replays: { [provider: string]: number } = {};

for (const [name, crypto] of PROVIDERS) {
  replays[name] = 0;
  for (const vector of VECTORS) {
    if (crypto.ciphers[SUITES[vector.suite as Suite]] === undefined) continue;
    for (const side of ['init', 'resp'] as const) {
      const title = `${vector.pattern} ${vector.suite} ${vector.tcId}, ${vector.comment}`;
      test(`${name} replays the ${side === 'init' ? 'initiator' : 'responder'} of ${title}`, () => {
        replay(vector, crypto, side);
        replays[name]!++;
      });
    }
  }
}

test('every transcript is replayed in both roles wherever the cipher is', () => {
  const path = new URL('../../vectors/noise.json', import.meta.url);
  const { numberOfTests } = JSON.parse(readFileSync(path, 'utf8'));
  assert.equal(replays, {
    noble: numberOfTests, // half of the transcripts have ChaChaPoly
    'noble with AESGCM': 2 * numberOfTests,
    node: 2 * numberOfTests,
  });
});

test('the transcripts count past one byte of the nonce in each direction, pattern and suite', () => {
  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    for (const suite of Object.keys(SUITES)) {
      const counts = VECTORS.filter((vector) => vector.pattern === pattern && vector.suite === suite).map(
        ({ transport }) => transport.filter(({ from }: { from: Side }) => from === 'resp').length,
      );
      assert.ok(Math.max(...counts) > 256, `${pattern} ${suite}`);
    }
  }
});

test.run();
