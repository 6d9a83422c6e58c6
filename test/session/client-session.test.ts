/** What a client sends and binds in a handshake that succeeds. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { binaryReader } from '../../src/binary.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { type ClientSession, parseJson, type SessionEvent } from '../../src/index.ts';
import { buildPrologue, HandshakeState, protocolName } from '../../src/parts.ts';
import { HUB_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import {
  envelope,
  find,
  HELLO,
  KK,
  LATER,
  newClient,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  sharedSecretOf,
  textOf,
} from '../world/pair.ts';

test('both sides have the same handshake hash', () => {
  for (const options of [{}, KK]) {
    const { clientEvents, hubEvents } = new Pair(options).run();
    const { handshakeHash } = find(clientEvents, 'ready');
    assert.is(handshakeHash.length, 32);
    assert.equal(handshakeHash, find(hubEvents, 'ready').handshakeHash);
  }
});

test('message 1 carries binarize and encodings to the hub', () => {
  const { hubEvents } = new Pair({
    client: { binarize: true, readBinary: binaryReader(), encodings: ['JSON-B64', 'JSON-HEX'] },
  }).run();
  const ready = find(hubEvents, 'ready');
  assert.is(ready.binarize, true);
  assert.equal(ready.encodings, ['JSON-B64', 'JSON-HEX']);
});

test('ready carries the encoding even if message 3 waits for a shared secret', () => {
  const client = newClient(LATER);
  const { publicKey } = find(answerMessage1('{"encoding":"JSON-HEX"}', client), 'waiting');
  assert.is(find(client.resume(sharedSecretOf(publicKey!)), 'ready').encoding, 'JSON-HEX');
});

function responder(
  pattern: 'XXpsk2',
  suite: '25519_ChaChaPoly_SHA256',
  prologue: Uint8Array,
): HandshakeState {
  return new HandshakeState({
    crypto: nodeCrypto,
    role: 'responder',
    pattern,
    suite,
    prologue,
    psk: PSK,
    staticKey: HUB_STATIC,
    randomBytes,
  });
}

/** The events of a client that receives a message 2 with this payload. */
function answerMessage1(payload: string, client: ClientSession = newClient()): SessionEvent[] {
  client.receive(HELLO);
  const [message1] = client.receive(OFFER);
  const { noise } = JSON.parse(textOf(message1)).payload;
  const prologue = buildPrologue(
    parseJson(`{"node_id":"${NODE_ID}"}`),
    parseJson(JSON.stringify(OFFER_PAYLOAD)),
    protocolName(noise.pattern, noise.suite),
  );
  const hub = responder(noise.pattern, noise.suite, prologue);
  hub.readMessage(Buffer.from(noise.msg, 'hex'));
  const msg = Buffer.from(hub.writeMessage(Buffer.from(payload, 'latin1'))).toString('hex');
  return client.receive(envelope('shake', { noise: { msg } }));
}

test.run();
