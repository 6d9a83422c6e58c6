/** Which hub a client trusts: pins, hubs that are not pinned, and the two settings of `trust`. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fingerprint, type RemoteError } from '../../src/index.ts';
import { CLIENT_KEY, HUB_KEY, HUB_PIN, HUB_PSK, NODE_ID, PSK } from '../world/keys.ts';
import {
  type ClientAndKeyring,
  codeOf,
  find,
  HELLO,
  KK,
  newClient,
  OFFER,
  outcomeOf,
  Pair,
  type PairOptions,
  readyPair,
  types,
  type Wire,
} from '../world/pair.ts';

const IMPOSTOR = new Uint8Array(32).fill(66);
const XX = { patterns: ['XXpsk2' as const] };

test('under XXpsk2 a key that matches the pin is not announced again', () => {
  const { clientEvents } = new Pair({ client: { ...KK.client, ...XX } }).run();
  assert.equal(types(clientEvents), ['transmit', 'transmit', 'transmit', 'ready']);
});

test('under XXpsk2 a key that differs from the pin ends the session before message 3, and the pin stays', () => {
  const { client, clientEvents, sent } = new Pair({
    client: { pins: [{ nodeId: NODE_ID, key: CLIENT_KEY }], ...XX },
  }).run();
  assert.equal(types(clientEvents), ['transmit', 'close']);
  assert.is(codeOf(clientEvents), 'hub-key-changed');
  assert.is(sent.length, 4); // HELLO, offer, messages 1 and 2
  assert.equal(outcomeOf(client.closed(1008)), ['ended', 'refused', 'never', 'hub-key-changed']);
});

test('the pin is compared as it was when the session chose it, whatever becomes of the array', () => {
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

test('the pin holds also where the hub does not offer KKpsk0', () => {
  for (const onKkFailure of ['unpin', 'keep-pin'] as const) {
    const { client, clientEvents } = new Pair({
      client: { pins: [{ nodeId: NODE_ID, key: CLIENT_KEY }], onKkFailure },
    }).run();
    assert.equal(types([...clientEvents, ...client.closed(1008)]), ['transmit', 'close', 'ended']);
    assert.is(codeOf(clientEvents), 'hub-key-changed');
  }
});

test('a node id such as __proto__ is looked up and pinned as it is', () => {
  for (const nodeId of ['__proto__', 'constructor', 'toString', 'hub-1 ', ' ']) {
    const psks = [{ nodeId, key: PSK }];
    const first = new Pair({ client: { psks }, hub: { nodeId } }).run();
    const { key } = find(first.clientEvents, 'pin');
    assert.is(find(first.clientEvents, 'pin').nodeId, nodeId);
    const second = new Pair({ client: { psks, pins: [{ nodeId, key }] }, hub: { ...KK.hub, nodeId } }).run();
    assert.is(find(second.clientEvents, 'ready').pattern, 'KKpsk0');
  }
});

test('a pin of low order is a fault of this side, and drops no pin', () => {
  const { client, clientEvents } = new Pair({
    ...KK,
    client: { pins: [{ nodeId: NODE_ID, key: new Uint8Array(32) }] },
  }).run();
  assert.equal(types(clientEvents), ['close']);
  assert.is(find(clientEvents, 'close').error.name, 'LocalError');
  assert.equal(types(client.closed(1008)), ['ended']);
});

/** A client that has pinned `hub-1`, and knows the password. */
const PINNED: ClientAndKeyring = { pins: [HUB_PIN], psks: [HUB_PSK, { nodeId: 'hub-1 ', key: PSK }] };
/** A client that has pinned another hub. */
const OTHERS: ClientAndKeyring = { pins: [{ ...HUB_PIN, nodeId: 'hub-2' }] };

test('a hub under a new name is announced as new to a client that has pinned others, before message 1', () => {
  const impostor = { nodeId: 'hub-1 ', staticKey: IMPOSTOR };
  const { clientEvents } = new Pair({ client: PINNED, hub: impostor }).run();
  assert.equal(clientEvents[0], { type: 'new-hub', nodeId: 'hub-1 ' });
  assert.equal(types(clientEvents), ['new-hub', 'transmit', 'pin', 'transmit', 'transmit', 'ready']);
});

test('a new hub is announced before the PSK is asked for', () => {
  const client = newClient({ psks: [], ...OTHERS });
  client.receive(HELLO);
  assert.equal(types(client.receive(OFFER)), ['new-hub', 'psk-needed']);
});

test('an application that does not want the new hub closes, and nothing has been sent to it', () => {
  const client = newClient({ psks: [], ...OTHERS });
  client.receive(HELLO);
  assert.not.ok(types(client.receive(OFFER)).includes('transmit'));
  assert.equal(types(client.closed(1000)), ['ended']);
});

test('no hub is announced as new if none is pinned, or if this one is', () => {
  const first = new Pair({ client: { pins: [] } }).run();
  assert.equal(types(first.clientEvents), ['transmit', 'pin', 'transmit', 'transmit', 'ready']);
  for (const options of [{}, XX]) {
    const known = new Pair({ client: { ...PINNED, ...options }, hub: KK.hub }).run();
    assert.not.ok(types(known.clientEvents).includes('new-hub'));
    assert.is(known.client.state, 'ready');
  }
});

test('pinned-only ends the session of an unknown hub before message 1, and asks for no PSK', () => {
  for (const options of [{ psks: [] }, { psks: [], ...OTHERS }]) {
    const { client, clientEvents, sent } = new Pair({ client: { trust: 'pinned-only', ...options } }).run();
    assert.equal(types(clientEvents), ['close']);
    assert.is(codeOf(clientEvents), 'unknown-hub');
    assert.is(sent.length, 2);
    assert.equal(outcomeOf(client.closed(1008)), ['ended', 'refused', 'never', 'unknown-hub']);
  }
});

test('pinned-only refuses a known hub under a new name', () => {
  const options = { ...PINNED, trust: 'pinned-only' as const };
  const { clientEvents } = new Pair({ client: options, hub: { nodeId: 'hub-1 ' } }).run();
  assert.equal(types(clientEvents), ['close']);
  assert.is(codeOf(clientEvents), 'unknown-hub');
});

test('pinned-only connects to a pinned hub, with either pattern', () => {
  for (const patterns of [undefined, XX.patterns]) {
    const { clientEvents } = readyPair({ ...KK, client: { ...KK.client, patterns, trust: 'pinned-only' } });
    assert.is(find(clientEvents, 'ready').pattern, patterns === undefined ? 'KKpsk0' : 'XXpsk2');
  }
});

test('pinned-only under keep-pin never trusts another key, not even after a failed KKpsk0', () => {
  const options: PairOptions = {
    client: { ...KK.client, trust: 'pinned-only', onKkFailure: 'keep-pin' },
    hub: { ...KK.hub, staticKey: IMPOSTOR },
  };
  const first = new Pair(options).run();
  assert.equal(types([...first.clientEvents, ...first.client.closed(1008)]), ['transmit', 'ended']);
  const second = new Pair({ ...options, client: { ...options.client, ...XX } }).run();
  assert.is(codeOf(second.clientEvents), 'hub-key-changed');
});

/** Spoils message 2 of a first connection, without any secret; an impostor who knows the password serves the second. */
function spoiledThenImpostor(onKkFailure: 'unpin' | 'keep-pin', trust?: 'pinned-only'): string | undefined {
  const options = { pins: [HUB_PIN], onKkFailure, trust };
  const first = new Pair({
    ...KK,
    client: options,
    wire: (_, data, count) => [count === 4 ? (data as string).replace(/"msg":"../, '"msg":"zz') : data],
  }).run();
  assert.is(codeOf(first.clientEvents), 'bad-hex');
  if (types(first.clientEvents).includes('unpin')) options.pins = [];
  const patterns = onKkFailure === 'keep-pin' ? XX.patterns : undefined;
  const second = new Pair({ client: { ...options, patterns }, hub: { staticKey: IMPOSTOR } }).run();
  return codeOf(second.clientEvents) ?? second.client.state;
}

test('pinned-only keeps the pin after a failed KKpsk0, since it could not connect again without it', () => {
  for (const onKkFailure of [undefined, 'keep-pin', 'unpin'] as const) {
    const options = { ...KK.client, trust: 'pinned-only' as const, onKkFailure };
    const { client, clientEvents } = new Pair({ client: options, hub: { ...KK.hub, psk: IMPOSTOR } }).run();
    const closing = client.closed(1008);
    assert.equal(types([...clientEvents, ...closing]), ['transmit', 'ended']);
    assert.is(find(closing, 'ended').retry, 'later');
  }
});

test('an attacker who spoils one KKpsk0 and knows the password is trusted under unpin, but not under keep-pin or pinned-only', () => {
  assert.is(spoiledThenImpostor('unpin'), 'ready');
  assert.is(spoiledThenImpostor('keep-pin'), 'hub-key-changed');
  assert.is(spoiledThenImpostor('unpin', 'pinned-only'), 'hub-key-changed');
  assert.is(spoiledThenImpostor('keep-pin', 'pinned-only'), 'hub-key-changed');
});

test('ready names the hub, under both patterns', () => {
  for (const options of [{}, KK]) {
    const { clientEvents } = readyPair(options);
    const ready = find(clientEvents, 'ready');
    assert.is(ready.nodeId, NODE_ID);
    assert.equal(ready.hubKey, HUB_KEY);
  }
});

test('ready tells the session id that the HELLO declares', () => {
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
