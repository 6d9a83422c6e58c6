/** How a connection ended, given what had happened on it and how its transport closed. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { ClientOptions, ClientState } from '../../src/index.ts';
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
  type PairOptions,
  pairWithClientIn,
  readyPair,
  types,
} from '../world/pair.ts';

const REFUSALS = [1000, 1005, 1008];
const LOSSES = [undefined, 1001, 1002, 1006, 1011, 1013, 4000];
const BEFORE_MESSAGE_1 = ['awaiting-hello', 'awaiting-offer', 'awaiting-psk', 'sealing-message-1'] as const;
const BEFORE_READY = [
  ...BEFORE_MESSAGE_1,
  'awaiting-message-2',
  'opening-message-2',
  'sealing-message-3',
] as const;

const clientIn = (state: ClientState, options: PairOptions = {}) => pairWithClientIn(state, options).client;
const withPolicy = (onKkFailure: ClientOptions['onKkFailure']): PairOptions => ({
  client: { ...KK.client, onKkFailure },
  hub: KK.hub,
});

test('a hub that closes before message 1 with 1000, 1005 or 1008 refuses access', () => {
  for (const state of BEFORE_MESSAGE_1) {
    for (const code of REFUSALS) {
      assert.equal(outcomeOf(clientIn(state).closed(code)), ['ended', 'refused', 'later', 'access-refused']);
    }
  }
});

test('a hub that closes on message 1 of XXpsk2 refuses the negotiation', () => {
  for (const code of REFUSALS) {
    const events = clientIn('awaiting-message-2').closed(code);
    assert.equal(types(events), ['ended']);
    assert.equal(outcomeOf(events), ['ended', 'refused', 'later', 'negotiation-refused']);
  }
});

test('a hub that closes on message 1 of KKpsk0 puts the pin in doubt, and not the PSK', () => {
  for (const code of REFUSALS) {
    const events = clientIn('awaiting-message-2', KK).closed(code);
    assert.equal(types(events), ['unpin', 'ended']);
    assert.equal(outcomeOf(events), ['ended', 'refused', 'now', 'kk-refused']);
  }
});

test('keep-pin keeps the pin when KKpsk0 is refused, and pauses before the next attempt', () => {
  const events = clientIn('awaiting-message-2', withPolicy('keep-pin')).closed(1008);
  assert.equal(types(events), ['ended']);
  assert.equal(outcomeOf(events), ['ended', 'refused', 'later', 'kk-refused']);
});

test('a connection lost before ready touches neither pin nor PSK', () => {
  for (const state of BEFORE_READY) {
    for (const code of LOSSES) {
      const events = clientIn(state, KK).closed(code);
      assert.equal(types(events), ['ended']);
      assert.equal(outcomeOf(events), ['ended', 'dropped', 'now', 'dropped']);
    }
  }
});

test('a timeout touches neither pin nor PSK, in any state', () => {
  for (const state of [...BEFORE_READY, 'ready'] as const) {
    const events = clientIn(state, KK).closed('timeout');
    assert.equal(types(events), ['ended']);
    assert.equal(outcomeOf(events), ['ended', 'timeout', 'later', 'timeout']);
  }
});

test('a hub that closes while message 2 waits for a shared secret touches neither pin nor PSK', () => {
  for (const state of ['opening-message-2', 'sealing-message-3'] as const) {
    for (const code of REFUSALS) {
      const events = clientIn(state, KK).closed(code);
      assert.equal(types(events), ['ended']);
      assert.equal(outcomeOf(events), ['ended', 'refused', 'later', 'refused']);
    }
  }
});

test('a hub that closes right after message 3 has another key for this client', () => {
  for (const code of REFUSALS) {
    const { client } = readyPair();
    const ended = outcomeOf(client.closed(code));
    assert.equal(ended, ['ended', 'client-key-refused', 'never', 'client-key-refused']);
  }
});

test('a hub whose pin contradicts the client’s key closes after message 3, before it is ready', () => {
  const { client, hub, clientEvents, hubEvents } = new Pair({ hub: { clientKey: HUB_KEY } }).run();
  assert.is(client.state, 'ready');
  assert.is(clientEvents.at(-1)!.type, 'ready');
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'close']);
  const { code, error } = find(hubEvents, 'close');
  assert.is(code, 1008);
  assert.is(error.code, 'client-key-changed');
  assert.is(hub.state, 'failed');
  assert.is(outcomeOf(client.closed(1008))[1], 'client-key-refused');
});

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

test('a hub that closes KKpsk0 before it sent a transport message refuses', () => {
  const { client } = readyPair(KK);
  assert.equal(outcomeOf(client.closed(1008)), ['ended', 'refused', 'later', 'refused']);
});

test('once a transport message of the hub has opened, every close is a drop', () => {
  for (const options of [{}, KK]) {
    for (const code of [...REFUSALS, ...LOSSES]) {
      const pair = readyPair(options);
      pair.toClient(pair.hub.sendJson({}));
      assert.equal(outcomeOf(pair.client.closed(code)), ['ended', 'dropped', 'now', 'dropped']);
    }
  }
});

test('one chunk of a message is enough to have heard the hub', () => {
  const pair = readyPair();
  pair.client.receive(pair.hub.sendBinary(new Uint8Array(65001))[0]!);
  assert.is(outcomeOf(pair.client.closed(1000))[1], 'dropped');
});

test('the first call of closed counts', () => {
  const client = clientIn('awaiting-message-2', KK);
  assert.is(client.closed(1006).length, 1);
  assert.equal(client.closed(1008), []);
  assert.is(client.state, 'closed');
});

test('closed reports the first failure', () => {
  const client = newClient();
  const events = client.receive('nonsense');
  const closing = client.closed(1006);
  assert.is(find(closing, 'ended').error, find(events, 'close').error);
  assert.equal(outcomeOf(closing), ['ended', 'refused', 'later', 'bad-json']);
});

test('a session that failed after ready was dropped, and may be dialled again at once', () => {
  const { client } = readyPair();
  client.receive('{}');
  assert.equal(outcomeOf(client.closed(1006)), ['ended', 'dropped', 'now', 'text-after-ready']);
});

test('a KKpsk0 whose message 2 fails is followed by XXpsk2 at once, or later if the pin is kept', () => {
  for (const [onKkFailure, retry] of [
    ['unpin', 'now'],
    ['keep-pin', 'later'],
  ] as const) {
    const client = clientIn('awaiting-message-2', withPolicy(onKkFailure));
    client.receive(envelope('shake', { noise: { msg: `09${'00'.repeat(47)}` } }));
    assert.equal(outcomeOf(client.closed(1008)), ['ended', 'refused', retry, 'kk-failed']);
  }
});

test('after kk-failed, closed does not unpin a second time', () => {
  const client = clientIn('awaiting-message-2', KK);
  const failed = client.receive(envelope('shake', { noise: { msg: `09${'00'.repeat(47)}` } }));
  assert.equal(types(failed), ['unpin', 'close']);
  assert.equal(types(client.closed(1008)), ['ended']);
});

test('a hub never dials, and ignores the code with which a client closes', () => {
  const started = () => {
    const hub = newHub();
    hub.start();
    return hub;
  };
  for (const code of [...REFUSALS, ...LOSSES, 4008]) {
    assert.equal(outcomeOf(started().closed(code)), ['ended', 'dropped', 'never', 'dropped']);
    assert.equal(outcomeOf(readyPair().hub.closed(code)), ['ended', 'dropped', 'never', 'dropped']);
  }
  assert.equal(outcomeOf(started().closed('timeout')), ['ended', 'timeout', 'never', 'timeout']);
  const failed = started();
  failed.receive('nonsense');
  assert.equal(outcomeOf(failed.closed(1000)), ['ended', 'refused', 'never', 'bad-json']);
  const dropped = readyPair().hub;
  dropped.receive('nonsense');
  assert.equal(outcomeOf(dropped.closed(1000)), ['ended', 'dropped', 'never', 'text-after-ready']);
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
