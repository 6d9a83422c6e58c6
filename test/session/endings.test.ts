/**
 * Endings that are not a row of a table: faults of this side, errors, patterns, and what two connections reveal. The rows are in
 * tables.test.ts and ending-tables.test.ts.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { HUB_KEY, HUB_PIN, NODE_ID, PSK } from '../world/keys.ts';
import {
  codeOf,
  envelope,
  find,
  HELLO,
  KK,
  newClient,
  newHub,
  OFFER,
  outcomeOf,
  Pair,
  pairWithClientIn,
  readyPair,
  types,
} from '../world/pair.ts';

test('a hub that fails at message 3 for reasons of its own looks like one that refuses the key', () => {
  const crypto = { ...nodeCrypto };
  const { client, hub, hubEvents } = new Pair({
    hub: { crypto },
    wire(_, data, count) {
      if (count === 5) crypto.hmacSha256 = () => new Uint8Array(0);
      return [data];
    },
  }).run();
  assert.is(hub.state, 'failed');
  assert.is(codeOf(hubEvents), 'crypto-failed');
  assert.is(outcomeOf(client.closed(1008))[3], 'client-key-refused'); // all that it sees is the close
});

test('closed reports the first failure', () => {
  const client = newClient();
  const events = client.receive('nonsense');
  const closing = client.closed(1006);
  assert.is(find(closing, 'ended').error, find(events, 'close').error);
  assert.equal(outcomeOf(closing), ['ended', 'refused', 'later', 'bad-json']);
});

test('after kk-failed, closed does not unpin a second time', () => {
  const { client } = pairWithClientIn('awaiting-message-2', KK);
  const failed = client.receive(envelope('shake', { noise: { msg: `09${'00'.repeat(47)}` } }));
  assert.equal(types(failed), ['unpin', 'close']);
  assert.equal(types(client.closed(1008)), ['ended']);
});

test('ended names the pattern, once one is chosen', () => {
  const client = newClient(KK.client);
  const hub = newHub(KK.hub);
  hub.start();
  client.receive(HELLO);
  assert.is(find(newClient().closed('timeout'), 'ended').pattern, undefined);
  client.receive(OFFER);
  assert.is(find(client.closed('timeout'), 'ended').pattern, 'KKpsk0');
  assert.is(find(hub.closed(1006), 'ended').pattern, undefined);
  const pair = readyPair();
  assert.is(find(pair.client.closed(1006), 'ended').pattern, 'XXpsk2');
  assert.is(find(pair.hub.closed(1006), 'ended').pattern, 'XXpsk2');
});

// The causes of a failed KKpsk0, told apart over two connections by a client that applies the events.

/** Connects twice, and returns how each attempt went. */
function twoConnections(
  cause: 'password' | 'stale PSK' | 'hub key' | 'client key',
  onKkFailure: 'unpin' | 'keep-pin',
): string[] {
  const OTHER = new Uint8Array(32).fill(6);
  const hub = {
    clientKey: cause === 'client key' ? HUB_KEY : KK.hub.clientKey,
    ...(cause === 'password' && { psk: OTHER }),
    ...(cause === 'hub key' && { staticKey: new Uint8Array(32).fill(9) }),
  };
  const psk = cause === 'stale PSK' ? OTHER : PSK;
  let pins = [HUB_PIN];
  const outcomes: string[] = [];
  for (const patterns of [undefined, onKkFailure === 'keep-pin' ? ['XXpsk2' as const] : undefined]) {
    const pair = new Pair({
      client: { pins, psks: [{ nodeId: NODE_ID, key: psk }], onKkFailure, patterns },
      hub,
    }).run();
    const isOver = pair.client.state !== 'ready' || pair.hub.state !== 'ready';
    for (const event of [...pair.clientEvents, ...(isOver ? pair.client.closed(1008) : [])]) {
      if (event.type === 'unpin') pins = [];
      if (event.type === 'pin') pins = [event];
      if (event.type === 'psk-suspect') outcomes.push('psk-suspect');
      if (event.type === 'ended') outcomes.push(event.error.code);
      if (event.type === 'ready' && !isOver) outcomes.push(`ready ${event.pattern}`);
    }
  }
  return outcomes;
}

test('after a change of the password KKpsk0 is refused, and XXpsk2 says that the PSK differs', () => {
  assert.equal(twoConnections('password', 'unpin'), ['kk-refused', 'psk-suspect', 'psk-differs']);
  assert.equal(twoConnections('password', 'keep-pin'), ['kk-refused', 'psk-suspect', 'psk-differs']);
});

test('with a stale PSK KKpsk0 is refused, and XXpsk2 says that the PSK differs', () => {
  assert.equal(twoConnections('stale PSK', 'unpin'), ['kk-refused', 'psk-suspect', 'psk-differs']);
  assert.equal(twoConnections('stale PSK', 'keep-pin'), ['kk-refused', 'psk-suspect', 'psk-differs']);
});

test('with a new key of the hub KKpsk0 is refused, and XXpsk2 pins it, or refuses it if the pin is kept', () => {
  assert.equal(twoConnections('hub key', 'unpin'), ['kk-refused', 'ready XXpsk2']);
  assert.equal(twoConnections('hub key', 'keep-pin'), ['kk-refused', 'hub-key-changed']);
});

test('if the hub has pinned another key of this client, KKpsk0 is refused, and XXpsk2 ends with client-key-refused', () => {
  assert.equal(twoConnections('client key', 'unpin'), ['kk-refused', 'client-key-refused']);
  assert.equal(twoConnections('client key', 'keep-pin'), ['kk-refused', 'client-key-refused']);
});

test.run();
