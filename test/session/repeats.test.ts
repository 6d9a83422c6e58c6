/**
 * Repeats: hubs, clients and brokers send HELLO, offers and handshake messages again. In every state from the offer on,
 * those that the state does not wait for are ignored, as text and as bytes.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NODE_ID } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import {
  bytesOf,
  envelope,
  KK,
  LATER,
  OFFER,
  Pair,
  type PairOptions,
  pairWithHubIn,
  readyPair,
  types,
} from '../world/pair.ts';

const AS_TEXT: ((text: string) => Data)[] = [(text) => text, (text) => `\n ${text}`];
const AS_BYTES: ((text: string) => Data)[] = [
  bytesOf,
  (text) => bytesOf(` \t\r\n${text}`),
  (text) => bytesOf(`\t${text}`),
];

function converses(pair: Pair): void {
  assert.equal([pair.client.state, pair.hub.state], ['ready', 'ready']);
  assert.equal(types(pair.toHub(pair.client.sendJson({}))), ['message']);
  assert.equal(types(pair.toClient(pair.hub.sendJson({}))), ['message']);
}

test('every cleartext message may arrive twice, as text or as bytes', () => {
  for (const options of [{}, KK, { client: LATER }, { ...KK, client: { ...KK.client, ...LATER } }]) {
    for (const again of [(data: string) => data, bytesOf]) {
      const pair = new Pair({
        ...options,
        wire: (_, data) => (typeof data === 'string' ? [data, again(data)] : [data]),
      }).run();
      assert.equal(types(pair.clientEvents), types(new Pair(options).run().clientEvents));
      converses(pair);
    }
  }
});

test('the whole handshake may arrive again as text once the session is ready, and its Noise messages as bytes too', () => {
  for (const options of [{}, KK] as PairOptions[]) {
    const pair = readyPair(options);
    for (const { to, data } of pair.sent) {
      if (typeof data !== 'string') continue;
      for (const form of data.includes('"msg":') ? [...AS_TEXT, ...AS_BYTES] : AS_TEXT) {
        assert.equal(pair[to].receive(form(data)), []);
      }
    }
    converses(pair);
  }
});

test('a late HELLO and a late offer do not enter the prologue', () => {
  // Two pairs were queued: the first starts the handshake and is bound, the second changes nothing.
  const late = [envelope('hello', { node_id: NODE_ID, peer: 2 }), OFFER];
  const pair = new Pair({
    wire: (to, data, count) => (to === 'client' && count === 2 ? [data, ...late] : [data]),
  });
  converses(pair.run());
});

test('of several HELLOs before the offer the latest counts', () => {
  const first = envelope('hello', { node_id: 'hub-2', peer: 'other' });
  converses(new Pair({ wire: (_, data, count) => (count === 1 ? [first, data] : [data]) }).run());
});

test('a hub that waits for message 3 ignores message 1 again and again', () => {
  const pair = pairWithHubIn('awaiting-message-3');
  const [, , message1] = pair.sent;
  for (let i = 0; i < 3; i++) assert.equal(pair.hub.receive(message1!.data), []);
  for (const named of [{ pattern: 'XXpsk2' }, { suite: '25519_ChaChaPoly_SHA256' }]) {
    assert.equal(pair.hub.receive(envelope('shake', { noise: { ...named, msg: '00' } })), []);
  }
  converses(pair.release());
});

test.run();
