/** Which hub a client trusts: pins, hubs that are not pinned, and the two settings of `trust`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { fingerprint, type RemoteError } from '../../src/index.ts';
import { CLIENT_KEY, HUB_KEY, HUB_PIN, NODE_ID } from '../world/keys.ts';
import { codeOf, find, KK, Pair, readyPair, types, type Wire } from '../world/pair.ts';

const IMPOSTOR = new Uint8Array(32).fill(66);
const XX = { patterns: ['XXpsk2' as const] };

test('the session compares a copy of the pin, whatever happens to the caller’s array', () => {
  const pin = new Uint8Array(HUB_KEY);
  const onItsWay: Wire = (to, data) => {
    if (to === 'hub') pin.fill(66); // the first of these is message 1
    return [data];
  };
  const { client } = new Pair({
    client: { pins: [{ nodeId: NODE_ID, key: pin }], ...XX },
    wire: onItsWay,
  }).run();
  assert.is(client.state, 'ready');
});

test('the error of a changed key names the hub and both keys, in fields and by fingerprint', () => {
  const { client, clientEvents } = new Pair({
    client: { pins: [{ nodeId: NODE_ID, key: CLIENT_KEY }], ...XX },
  }).run();
  const { error } = find(clientEvents, 'close');
  const { nodeId, pinnedKey, hubKey, message } = error as RemoteError;
  assert.equal([nodeId, pinnedKey, hubKey], [NODE_ID, CLIENT_KEY, HUB_KEY]);
  for (const key of [CLIENT_KEY, HUB_KEY]) assert.ok(message.includes(fingerprint(key)));
  assert.is(find(client.closed(1008), 'ended').error, error);
});

test('the error of a hub that is not pinned names the hub', () => {
  const { clientEvents } = new Pair({ client: { trust: 'pinned-only' } }).run();
  assert.is((find(clientEvents, 'close').error as RemoteError).nodeId, NODE_ID);
});

test('a low-order pin is a local fault, and is not dropped', () => {
  const { client, clientEvents } = new Pair({
    ...KK,
    client: { pins: [{ nodeId: NODE_ID, key: new Uint8Array(32) }] },
  }).run();
  assert.equal(types(clientEvents), ['close']);
  assert.is(find(clientEvents, 'close').error.name, 'LocalError');
  assert.equal(types(client.closed(1008)), ['ended']);
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

test('a failed KKpsk0 makes the pin suspect, whatever the options', () => {
  for (const onKkFailure of [undefined, 'keep-pin', 'replace-pin'] as const) {
    for (const trust of ['first-use', 'pinned-only'] as const) {
      const options = { ...KK.client, trust, onKkFailure };
      const { client, clientEvents } = new Pair({ client: options, hub: { ...KK.hub, psk: IMPOSTOR } }).run();
      const closing = client.closed(1008);
      assert.equal(types([...clientEvents, ...closing]), ['transmit', 'pin-suspect', 'ended']);
      assert.is(find(closing, 'ended').retry, 'now');
    }
  }
});

test('an attacker who spoils one KKpsk0 and knows the password is trusted under replace-pin, but not under keep-pin or pinned-only', () => {
  assert.is(spoiledThenImpostor('replace-pin'), 'ready');
  assert.is(spoiledThenImpostor('keep-pin'), 'hub-key-changed');
  assert.is(spoiledThenImpostor('replace-pin', 'pinned-only'), 'hub-key-changed');
  assert.is(spoiledThenImpostor('keep-pin', 'pinned-only'), 'hub-key-changed');
});

test('the pin event that replaces a stale pin has copies of both keys', () => {
  const pin = { ...HUB_PIN, key: new Uint8Array(HUB_PIN.key), isSuspect: true };
  const { clientEvents } = readyPair({ client: { pins: [pin] }, hub: { staticKey: IMPOSTOR } });
  const event = find(clientEvents, 'pin');
  pin.key.fill(0);
  assert.equal(event.replaces, HUB_PIN.key);
  assert.equal(event.key, nodeCrypto.x25519.publicKey(IMPOSTOR));
});

test('ready carries the session id that the HELLO declares', () => {
  const ids: [unknown, string | undefined][] = [
    [{ session_id: 'mine' }, 'mine'],
    [{ session_id: '' }, ''],
    [{ session_id: 7 }, undefined],
    [{ lang: 'fr' }, undefined],
    ['mine', undefined],
    [null, undefined],
  ];
  for (const [session, expected] of ids) {
    const { clientEvents } = readyPair({ client: { hello: { session: session as never } } });
    assert.is(find(clientEvents, 'ready').sessionId, expected);
  }
  const { clientEvents, hubEvents } = readyPair();
  const { session } = find(hubEvents, 'hello').payload as unknown as { session: { session_id: string } };
  assert.is(find(clientEvents, 'ready').sessionId, session.session_id);
  assert.match(session.session_id, /^[0-9a-f]{32}$/);
});

test.run();
