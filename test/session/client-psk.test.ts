/** The PSK that a client is given: which counts as none, what is shown, and what is wiped. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isZero } from '../../src/bytes.ts';
import type { ClientSession } from '../../src/parts.ts';
import { HUB_PSK, NODE_ID, PSK } from '../world/keys.ts';
import { find, HELLO, newClient, OFFER, Pair, types } from '../world/pair.ts';
import { bytesIn } from './reachable.ts';

/** A client that asks for its PSK. */
function asking(): ClientSession {
  const client = newClient({ psks: [] });
  client.receive(HELLO);
  client.receive(OFFER);
  return client;
}

test('a PSK for another hub, or a suspect one, is not used', () => {
  for (const psk of [
    { ...HUB_PSK, nodeId: 'hub-2' },
    { ...HUB_PSK, isSuspect: true },
  ]) {
    const client = newClient({ psks: [psk] });
    client.receive(HELLO);
    assert.equal(types(client.receive(OFFER)), ['psk-needed']);
  }
});

test('no tool shows the PSK of the event', () => {
  const event = find(new Pair({ client: { psks: [] } }).run().release().clientEvents, 'psk');
  const shown = [JSON.stringify(event), inspect(event), JSON.stringify(structuredClone({ ...event }))];
  for (const text of shown) assert.not.match(text, /key/);
  assert.is(JSON.stringify(event), `{"type":"psk","nodeId":"${NODE_ID}"}`);
});

test('a session that ends before the PSK is proved wipes its copy', () => {
  const client = asking();
  client.providePsk(PSK);
  const held = bytesIn(client).filter((bytes) => Buffer.compare(bytes, PSK) === 0);
  client.closed(1006);
  assert.ok(held.length > 0 && held.every(isZero));
});

test('does not wipe the caller’s array with the PSK', () => {
  const client = asking();
  const psk = new Uint8Array(PSK);
  client.providePsk(psk);
  assert.equal(psk, PSK);
});

test.run();
