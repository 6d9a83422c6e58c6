/**
 * Endings that are in no table: faults of this side, errors and patterns. The tables are in tables.test.ts and
 * ending-tables.test.ts, and how the causes of a failed KKpsk0 show over two connections is in provisioned.test.ts.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  codeOf,
  find,
  HELLO,
  KK,
  newClient,
  newHub,
  OFFER,
  outcomeOf,
  Pair,
  readyPair,
} from '../world/pair.ts';

test('to a client, a hub that fails at message 3 looks like one that refuses its key', () => {
  const crypto = { ...nodeCrypto };
  const { client, hub, hubEvents } = new Pair({
    client: { staticKeyIsFresh: true },
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

test('ended names the pattern once it has been chosen', () => {
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

test.run();
