/** A static key that was never used, shown to a hub that is pinned: most likely the hub knows another, and refuses. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalError } from '../../src/index.ts';
import { envelope, find, HELLO, HUB_KEY, KK, NODE_ID, newClient, OFFER, Pair, types } from './pair.ts';

test('says that a hub which is pinned will refuse a static key that was never used, and goes on', () => {
  const { client, clientEvents } = new Pair({
    ...KK,
    client: { ...KK.client, staticKeyIsFresh: true },
  }).run();
  assert.equal(types(clientEvents), ['static-key-fresh', 'transmit', 'transmit', 'ready']);
  const { nodeId, error } = find(clientEvents, 'static-key-fresh');
  assert.is(nodeId, NODE_ID);
  assert.instance(error, LocalError);
  assert.is(error.code, 'static-key-fresh');
  assert.is(client.state, 'ready');
});

test('says so before it asks for the PSK, and where the pin is enforced under XXpsk2', () => {
  for (const patterns of [undefined, ['XXpsk2' as const]]) {
    const options = { pin: () => HUB_KEY, psk: () => undefined, staticKeyIsFresh: true };
    const client = newClient({ ...options, ...(patterns && { patterns }) });
    client.receive(HELLO);
    assert.equal(types(client.receive(OFFER)), ['static-key-fresh', 'psk-needed']);
  }
});

test('says nothing of a fresh static key to a hub that it does not know, or where no handshake follows', () => {
  const first = new Pair({ client: { staticKeyIsFresh: true } }).run();
  assert.equal(types(first.clientEvents), ['transmit', 'pin', 'transmit', 'transmit', 'ready']);
  const used = new Pair({ ...KK, client: { ...KK.client, staticKeyIsFresh: false } }).run();
  assert.equal(types(used.clientEvents), ['transmit', 'transmit', 'ready']);
  const client = newClient({ pin: () => HUB_KEY, staticKeyIsFresh: true });
  client.receive(HELLO);
  const noise = { patterns: [], suites: [] };
  assert.equal(types(client.receive(envelope('shake', { max_protocol_version: 3, noise }))), ['close']);
});

test.run();
