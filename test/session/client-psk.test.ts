/** How a client gets its PSK: from the look-up, or by asking. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { raisesLocal } from '../raises.ts';
import { find, HELLO, NODE_ID, newClient, OFFER, PSK, types } from './pair.ts';

/** A client that asks for its PSK. */
function asking(): {
  client: ReturnType<typeof newClient>;
  events: ReturnType<ReturnType<typeof newClient>['receive']>;
} {
  const client = newClient({ psk: () => undefined });
  client.receive(HELLO);
  return { client, events: client.receive(OFFER) };
}

test('without a look-up the client asks', () => {
  const client = newClient({ psk: undefined });
  client.receive(HELLO);
  assert.equal(types(client.receive(OFFER)), ['psk-needed']);
});

test('the look-up is called with the node id, once', () => {
  const asked: string[] = [];
  const psk = (nodeId: string) => {
    asked.push(nodeId);
    return PSK;
  };
  const client = newClient({ psk });
  client.receive(HELLO);
  assert.equal(types(client.receive(OFFER)), ['transmit']);
  assert.equal(asked, [NODE_ID]);
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

test('a stored PSK that cannot be read counts as none', () => {
  const unreadable = () => {
    throw new Error('cache is corrupt');
  };
  for (const psk of [() => new Uint8Array(31), () => 'secret' as never, () => null as never, unreadable]) {
    const client = newClient({ psk });
    client.receive(HELLO);
    assert.equal(types(client.receive(OFFER)), ['psk-needed']);
  }
});

test('the PSK stays the caller’s to wipe', () => {
  const { client } = asking();
  const psk = new Uint8Array(PSK);
  client.providePsk(psk);
  assert.equal(psk, PSK);
});

test.run();
