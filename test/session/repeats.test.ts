/** Repeats change nothing: hubs and clients resend HELLO, offers and handshake messages, in every window. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Data } from './pair.ts';
import {
  envelope,
  HELLO,
  KK,
  NODE_ID,
  newClient,
  newHub,
  OFFER,
  Pair,
  PSK,
  readyPair,
  types,
} from './pair.ts';

const OTHER_HELLO = envelope('hello', { node_id: 'another' });
const REPEATS_TO_CLIENT = [
  HELLO,
  OTHER_HELLO,
  OFFER,
  envelope('handshake', {}),
  envelope('shake', { noise: {} }),
];

/** What the hub put on the wire for the client, and the client for the hub, in a handshake that succeeds. */
function recorded(options: ConstructorParameters<typeof Pair>[0] = {}): { toClient: Data[]; toHub: Data[] } {
  const { sent } = readyPair(options);
  const to = (side: string) => sent.filter((message) => message.to === side).map(({ data }) => data);
  return { toClient: to('client'), toHub: to('hub') };
}

test('a client that waits for the PSK ignores HELLOs, offers and answers', () => {
  const client = newClient({ psk: () => undefined });
  client.receive(HELLO);
  client.receive(OFFER);
  for (const text of [...REPEATS_TO_CLIENT, ...recorded().toClient]) assert.equal(client.receive(text), []);
  assert.is(client.state, 'awaiting-psk');
  assert.equal(types(client.providePsk(PSK)), ['transmit']);
});

test('a client that waits for message 2 ignores HELLOs and offers, and binds none of them', () => {
  for (const options of [{}, KK]) {
    const pair = new Pair({
      ...options,
      wire: (to, data, count) => (to === 'client' && count === 4 ? [...REPEATS_TO_CLIENT, data] : [data]),
    }).run();
    assert.is(pair.client.state, 'ready');
    assert.is(pair.hub.state, 'ready');
  }
});

test('a client that is ready ignores HELLOs, offers and answers as text', () => {
  const pair = readyPair();
  for (const { to, data } of pair.sent) {
    if (to === 'client') assert.equal(pair.client.receive(data), []);
  }
  for (const text of REPEATS_TO_CLIENT) assert.equal(pair.client.receive(text), []);
  assert.equal(types(pair.toHub(pair.client.sendJson({ a: 1 }))), ['message']);
});

test('a hub that waits for message 1 ignores HELLOs and offers', () => {
  const hub = newHub();
  hub.start();
  for (const text of [HELLO, OFFER, envelope('shake', {})]) assert.equal(hub.receive(text), []);
  assert.is(hub.state, 'awaiting-message-1');
});

test('a hub that waits for message 3 ignores HELLOs, offers and a repeated message 1', () => {
  const pair = new Pair({
    wire: (to, data, count) =>
      to === 'hub' && count === 5 ? [HELLO, OFFER, pair.sent[2]!.data, pair.sent[2]!.data, data] : [data],
  });
  pair.run();
  assert.is(pair.hub.state, 'ready');
});

test('a hub that is ready ignores repeated handshake messages as text', () => {
  for (const options of [{}, KK]) {
    const pair = readyPair(options);
    for (const { to, data } of pair.sent) {
      if (to === 'hub' && typeof data === 'string') assert.equal(pair.hub.receive(data), []);
    }
    assert.equal(pair.hub.receive(HELLO), []);
    assert.equal(types(pair.toClient(pair.hub.sendJson({ a: 1 }))), ['message']);
  }
});

test('every message of the handshake may arrive twice', () => {
  for (const options of [{}, KK]) {
    const pair = new Pair({
      ...options,
      wire: (_, data) => (typeof data === 'string' ? [data, data] : [data]),
    }).run();
    assert.is(pair.client.state, 'ready');
    assert.is(pair.hub.state, 'ready');
    assert.equal(types(pair.clientEvents), types(new Pair(options).run().clientEvents));
  }
});

test('nothing but an offer starts a handshake', () => {
  const client = newClient();
  client.start();
  for (let i = 0; i < 3; i++) assert.equal(client.receive(HELLO), []);
  assert.is(client.state, 'awaiting-offer');
});

test('a pair of HELLO and offer that came late belongs to no prologue', () => {
  // Two pairs were queued: the first starts the handshake and is bound, the second changes nothing.
  const stale = [envelope('hello', { node_id: NODE_ID, peer: 2 }), OFFER];
  const pair = new Pair({
    wire: (to, data, count) => (to === 'client' && count === 2 ? [data, ...stale] : [data]),
  });
  assert.is(pair.run().client.state, 'ready');
});

test('reconnects with KKpsk0 twice in a row, each with new sessions', () => {
  for (let i = 0; i < 3; i++) readyPair(KK);
});

test.run();
