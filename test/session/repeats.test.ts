/**
 * Repeats: hubs, clients and brokers send HELLO, offers and handshake messages again. In every state from the offer on,
 * those that the state does not wait for are ignored, as text and as bytes.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesOf, envelope, KK, LATER, Pair, pairWithHubIn, types } from '../world/pair.ts';

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
