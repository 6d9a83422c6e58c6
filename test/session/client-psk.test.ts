/** How a client gets its PSK: from the look-up, or by asking. */
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isZero } from '../../src/bytes.ts';
import { raisesLocal } from '../raises.ts';
import { HUB_PSK, NODE_ID, PSK } from '../world/keys.ts';
import { find, HELLO, KK, newClient, OFFER, Pair, types } from '../world/pair.ts';
import { bytesIn } from './reachable.ts';

/** A client that asks for its PSK. */
function asking(): {
  client: ReturnType<typeof newClient>;
  events: ReturnType<ReturnType<typeof newClient>['receive']>;
} {
  const client = newClient({ psks: [] });
  client.receive(HELLO);
  return { client, events: client.receive(OFFER) };
}

test('without a PSK in its keyring the client asks', () => {
  const client = newClient({ psks: [] });
  client.receive(HELLO);
  assert.equal(types(client.receive(OFFER)), ['psk-needed']);
});

test('the client asks with the node id and its SHA-256, and goes on when the PSK is provided', () => {
  const { client, events } = asking();
  assert.equal(types(events), ['psk-needed']);
  const { nodeId, salt } = find(events, 'psk-needed');
  assert.is(nodeId, NODE_ID);
  assert.equal(Buffer.from(salt), createHash('sha256').update(NODE_ID).digest());
  assert.is(client.state, 'awaiting-psk');
  assert.equal(types(client.providePsk(PSK)), ['transmit']);
  assert.is(client.state, 'awaiting-message-2');
});

test('a PSK that comes late, or a second time, does nothing', () => {
  const { client } = asking();
  client.providePsk(PSK);
  assert.equal(client.providePsk(PSK), []);
  client.closed(1006);
  assert.equal(client.providePsk(PSK), []);
});

test('a PSK of the wrong type or length is refused and changes nothing', () => {
  const { client } = asking();
  raisesLocal(() => client.providePsk(new Uint8Array(31)), 'bad-length');
  raisesLocal(() => client.providePsk('secret' as never), 'bad-argument');
  assert.equal(types(client.providePsk(PSK)), ['transmit']);
});

test('a PSK before it is asked for is the caller’s mistake, and changes nothing', () => {
  const client = newClient();
  raisesLocal(() => client.providePsk(PSK), 'wrong-state');
  client.receive(HELLO);
  raisesLocal(() => client.providePsk(PSK), 'wrong-state');
  assert.equal(types(client.receive(OFFER)), ['transmit']);
});

test('a PSK of another hub, or one that is suspect, counts as none', () => {
  for (const psk of [
    { ...HUB_PSK, nodeId: 'hub-2' },
    { ...HUB_PSK, isSuspect: true },
  ]) {
    const client = newClient({ psks: [psk] });
    client.receive(HELLO);
    assert.equal(types(client.receive(OFFER)), ['psk-needed']);
  }
});

test('a PSK that was provided is announced when it has opened message 2, before the pin', () => {
  const { clientEvents } = new Pair({ client: { psks: [] } }).run().release();
  assert.equal(types(clientEvents), [
    'psk-needed',
    'transmit',
    'psk',
    'pin',
    'transmit',
    'transmit',
    'ready',
  ]);
  const event = find(clientEvents, 'psk');
  assert.is(event.nodeId, NODE_ID);
  assert.equal(event.key, PSK);
});

test('under KKpsk0 it is announced when message 2 has opened', () => {
  const { clientEvents } = new Pair({ ...KK, client: { ...KK.client, psks: [] } }).run().release();
  assert.equal(types(clientEvents), ['psk-needed', 'transmit', 'psk', 'transmit', 'ready']);
});

test('a PSK from the keyring is not announced', () => {
  assert.not.ok(types(new Pair().run().clientEvents).includes('psk'));
});

test('a PSK that does not open message 2, or a hub with another key than the pinned one, is not announced', () => {
  const wrong = new Pair({ client: { psks: [] }, hub: { psk: new Uint8Array(32) } }).run().release();
  assert.equal(types(wrong.clientEvents), ['psk-needed', 'transmit', 'psk-suspect', 'close']);
  const pins = [{ nodeId: NODE_ID, key: new Uint8Array(32).fill(9) }];
  const other = new Pair({ client: { psks: [], pins } }).run().release();
  assert.equal(types(other.clientEvents), ['psk-needed', 'transmit', 'close']);
});

test('no tool shows the PSK of the event', () => {
  const event = find(new Pair({ client: { psks: [] } }).run().release().clientEvents, 'psk');
  const shown = [JSON.stringify(event), inspect(event), JSON.stringify(structuredClone({ ...event }))];
  for (const text of shown) assert.not.match(text, /key/);
  assert.is(JSON.stringify(event), `{"type":"psk","nodeId":"${NODE_ID}"}`);
});

test('a session that ends before the PSK is proved wipes its copy', () => {
  const { client } = asking();
  client.providePsk(PSK);
  const held = bytesIn(client).filter((bytes) => Buffer.compare(bytes, PSK) === 0);
  client.closed(1006);
  assert.ok(held.length > 0 && held.every(isZero));
});

test('the PSK stays the caller’s to wipe', () => {
  const { client } = asking();
  const psk = new Uint8Array(PSK);
  client.providePsk(psk);
  assert.equal(psk, PSK);
});

test.run();
