/** Which hub a client trusts: pins, hubs that are not pinned, and the two settings of `trust`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fingerprint, type RemoteError } from '../../src/index.ts';
import { CLIENT_KEY, HUB_KEY, HUB_PIN, NODE_ID } from '../world/keys.ts';
import { codeOf, envelope, find, KK, newClient, OFFER, Pair, readyPair, types } from '../world/pair.ts';

const IMPOSTOR = new Uint8Array(32).fill(66);
const XX = { patterns: ['XXpsk2' as const] };

test('the error of a changed key names the hub and both keys, in fields and by fingerprint', () => {
  const { client, clientEvents } = new Pair({
    client: { pins: [{ nodeId: NODE_ID, key: CLIENT_KEY }], ...XX },
  }).run();
  const { error } = find(clientEvents, 'close');
  const { nodeId, pinnedKey, hubKey, message } = error as RemoteError;
  assert.equal([nodeId, pinnedKey, hubKey], [NODE_ID, CLIENT_KEY, HUB_KEY]);
  for (const key of [CLIENT_KEY, HUB_KEY]) assert.ok(message.includes(fingerprint(key)));
  assert.is(fingerprint(new Uint8Array(32).fill(0xab)), 'ab'.repeat(8));
  assert.is(find(client.closed(1008), 'ended').error, error);
});

/** Spoils message 2 of a first connection, without any secret; an impostor who knows the password serves the second. */
function spoiledThenImpostor(
  onKkFailure: 'replace-pin' | 'keep-pin',
  trust?: 'pinned-only',
): string | undefined {
  const options = { pins: [HUB_PIN] as (typeof HUB_PIN & { isSuspect?: boolean })[], onKkFailure, trust };
  const first = new Pair({
    ...KK,
    client: options,
    wire: (_, data, count) => [count === 4 ? (data as string).replace(/"msg":"../, '"msg":"zz') : data],
  }).run();
  assert.is(codeOf(first.clientEvents), 'bad-hex');
  assert.is(types(first.clientEvents).at(-2), 'pin-suspect');
  options.pins = [{ ...HUB_PIN, isSuspect: true }];
  const second = new Pair({ client: options, hub: { staticKey: IMPOSTOR } }).run();
  return codeOf(second.clientEvents) ?? second.client.state;
}

test('an attacker who spoils one KKpsk0 and knows the password is trusted under replace-pin, but not under keep-pin or pinned-only', () => {
  assert.is(spoiledThenImpostor('replace-pin'), 'ready');
  assert.is(spoiledThenImpostor('keep-pin'), 'hub-key-changed');
  assert.is(spoiledThenImpostor('replace-pin', 'pinned-only'), 'hub-key-changed');
  assert.is(spoiledThenImpostor('keep-pin', 'pinned-only'), 'hub-key-changed');
});

test('a node id over 4096 bytes causes no derivation', () => {
  const client = newClient({ psks: [] });
  const hello = envelope('hello', { node_id: 'x'.repeat(4097) });
  const events = [...client.receive(hello), ...client.receive(OFFER)];
  assert.equal([types(events), codeOf(events)], [['close'], 'bad-node-id']);
});

test('ready carries the session id that the HELLO declares, if it is one', () => {
  for (const [session, expected] of [
    [{ session_id: 'mine' }, 'mine'],
    [{ session_id: 7 }, undefined],
    ['mine', undefined],
  ]) {
    const { clientEvents } = readyPair({ client: { hello: { session: session as never } } });
    assert.is(find(clientEvents, 'ready').sessionId, expected);
  }
});

test.run();
