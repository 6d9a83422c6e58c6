/** How a connection ended, told from its history and the close code. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClientOptions, ClientSession, SessionEvent } from '../../src/index.ts';
import {
  envelope,
  find,
  HELLO,
  HUB_KEY,
  KK,
  newClient,
  newHub,
  OFFER,
  Pair,
  PSK,
  readyPair,
  textOf,
  types,
} from './pair.ts';

const REFUSALS = [1000, 1005, 1008];
const LOSSES = [undefined, 1001, 1002, 1006, 1011, 1013, 4000];

function outcome(events: readonly { type: string }[]): unknown[] {
  const ended = events.at(-1) as SessionEvent & { type: 'ended' };
  return [ended.type, ended.reason, ended.retry, ended.error.code];
}

/** A client in each state before `ready`. */
function clientIn(state: string, options: Partial<ClientOptions> = {}): ClientSession {
  const client = newClient(state === 'awaiting-psk' ? { ...options, psk: () => undefined } : options);
  if (state !== 'awaiting-hello') client.receive(HELLO);
  if (state === 'awaiting-psk' || state === 'awaiting-message-2') client.receive(OFFER);
  assert.is(client.state, state);
  return client;
}

test('a hub that closes before message 1 with 1000, 1005 or 1008 refuses the access', () => {
  for (const state of ['awaiting-hello', 'awaiting-offer', 'awaiting-psk']) {
    for (const code of REFUSALS) {
      assert.equal(outcome(clientIn(state).closed(code)), ['ended', 'refused', 'later', 'access-refused']);
    }
  }
});

test('a hub that closes on message 1 of XXpsk2 refuses the negotiation or the access key', () => {
  for (const code of REFUSALS) {
    const events = clientIn('awaiting-message-2').closed(code);
    assert.equal(types(events), ['ended']);
    assert.equal(outcome(events), ['ended', 'refused', 'later', 'negotiation-refused']);
  }
});

test('a hub that closes on message 1 of KKpsk0 puts the PSK and the pin in doubt', () => {
  for (const code of REFUSALS) {
    const events = clientIn('awaiting-message-2', KK.client).closed(code);
    assert.equal(types(events), ['psk-suspect', 'unpin', 'ended']);
    assert.equal(outcome(events), ['ended', 'refused', 'now', 'kk-refused']);
  }
});

test('keep-pin keeps the pin when KKpsk0 is refused, and still doubts the PSK', () => {
  const events = clientIn('awaiting-message-2', { ...KK.client, onKkFailure: 'keep-pin' }).closed(1008);
  assert.equal(types(events), ['psk-suspect', 'ended']);
  assert.equal(outcome(events), ['ended', 'refused', 'later', 'kk-refused']);
});

test('a connection lost before ready touches neither pin nor PSK', () => {
  for (const state of ['awaiting-hello', 'awaiting-offer', 'awaiting-psk', 'awaiting-message-2']) {
    for (const code of LOSSES) {
      const events = clientIn(state, KK.client).closed(code);
      assert.equal(types(events), ['ended']);
      assert.equal(outcome(events), ['ended', 'dropped', 'now', 'dropped']);
    }
  }
});

test('a timeout is no failure: the pin stays, in every state', () => {
  for (const state of ['awaiting-hello', 'awaiting-offer', 'awaiting-psk', 'awaiting-message-2']) {
    const events = clientIn(state, KK.client).closed('timeout');
    assert.equal(types(events), ['ended']);
    assert.equal(outcome(events), ['ended', 'timeout', 'later', 'timeout']);
  }
});

test('a hub that closes right after message 3 has another key for this client', () => {
  for (const code of REFUSALS) {
    const { client } = readyPair();
    assert.equal(outcome(client.closed(code)), [
      'ended',
      'client-key-refused',
      'never',
      'client-key-refused',
    ]);
  }
});

test('a hub whose pin contradicts the client’s key closes after message 3, before its own ready', () => {
  const { client, hub, clientEvents, hubEvents } = new Pair({ hub: { clientKey: HUB_KEY } }).run();
  assert.is(client.state, 'ready');
  assert.is(clientEvents.at(-1)!.type, 'ready');
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'close']);
  const close = hubEvents.at(-1) as { code: number; error: { code: string } };
  assert.is(close.code, 1008);
  assert.is(close.error.code, 'client-key-changed');
  assert.is(hub.state, 'failed');
  assert.is(outcome(client.closed(1008))[1], 'client-key-refused');
});

test('a hub that closes after KKpsk0 before it said anything refuses', () => {
  const { client } = readyPair(KK);
  assert.equal(outcome(client.closed(1008)), ['ended', 'refused', 'later', 'refused']);
});

test('once anything from the hub has opened, every close is a drop', () => {
  for (const options of [{}, KK]) {
    for (const code of [...REFUSALS, ...LOSSES]) {
      const pair = readyPair(options);
      pair.toClient(pair.hub.sendJson({}));
      assert.equal(outcome(pair.client.closed(code)), ['ended', 'dropped', 'now', 'dropped']);
    }
  }
});

test('one chunk of a message is enough to have heard the hub', () => {
  const pair = readyPair();
  pair.client.receive(pair.hub.sendBinary(new Uint8Array(65001))[0]!);
  assert.is(outcome(pair.client.closed(1000))[1], 'dropped');
});

test('the first call of closed counts', () => {
  const client = clientIn('awaiting-message-2', KK.client);
  assert.is(client.closed(1006).length, 1);
  assert.equal(client.closed(1008), []);
  assert.is(client.state, 'closed');
});

test('the first failure survives the close that follows', () => {
  const client = newClient();
  const [close] = client.receive('nonsense');
  const [ended] = client.closed(1006);
  assert.is((close as { error: Error }).error, (ended as { error: Error }).error);
  assert.equal(outcome([ended!]), ['ended', 'refused', 'later', 'bad-json']);
});

test('a session that failed after ready was dropped, and may be dialled at once', () => {
  const { client } = readyPair();
  client.receive('{}');
  assert.equal(outcome(client.closed(1006)), ['ended', 'dropped', 'now', 'text-after-ready']);
});

test('a KKpsk0 that failed by its answer is tried again at once with XXpsk2, unless the pin is kept', () => {
  for (const [onKkFailure, retry] of [
    ['unpin', 'now'],
    ['keep-pin', 'later'],
  ] as const) {
    const client = clientIn('awaiting-message-2', { ...KK.client, onKkFailure });
    client.receive(envelope('shake', { noise: { msg: `09${'00'.repeat(47)}` } }));
    assert.equal(outcome(client.closed(1008)), ['ended', 'refused', retry, 'kk-failed']);
  }
});

test('a hub never dials, and reads nothing into the code with which a client closes', () => {
  const started = () => {
    const hub = newHub();
    hub.start();
    return hub;
  };
  for (const code of [...REFUSALS, ...LOSSES, 4008]) {
    assert.equal(outcome(started().closed(code)), ['ended', 'dropped', 'never', 'dropped']);
    assert.equal(outcome(readyPair().hub.closed(code)), ['ended', 'dropped', 'never', 'dropped']);
  }
  assert.equal(outcome(started().closed('timeout')), ['ended', 'timeout', 'never', 'timeout']);
  const failed = started();
  failed.receive('nonsense');
  assert.equal(outcome(failed.closed(1000)), ['ended', 'refused', 'never', 'bad-json']);
  const dropped = readyPair().hub;
  dropped.receive('nonsense');
  assert.equal(outcome(dropped.closed(1000)), ['ended', 'dropped', 'never', 'text-after-ready']);
});

test('a client that leaves on message 2 may have another password: the hub says so to its own side', () => {
  const { client, hub } = new Pair({ client: { psk: () => new Uint8Array(32) } }).run();
  assert.is(client.state, 'failed');
  assert.is(hub.state, 'awaiting-message-3');
  const ended = hub.closed(4008)[0] as { error: Error };
  assert.match(ended.error.message, 'password');
});

// The three causes of a failed KKpsk0, told apart over two connections (the client keeps what the events tell it).

/** Connects until it ends or is ready, at most twice, and applies the events as an integrator does. */
function twoConnections(cause: 'password' | 'stale psk' | 'hub key', onKkFailure: 'unpin' | 'keep-pin') {
  const OTHER_PSK = new Uint8Array(32).fill(6);
  const hub = {
    clientKey: KK.hub.clientKey,
    ...(cause === 'password' && { psk: OTHER_PSK }),
    ...(cause === 'hub key' && { staticKey: new Uint8Array(32).fill(9) }),
  };
  const derived = PSK; // from the password that the client has
  let cached: Uint8Array | undefined = cause === 'stale psk' ? OTHER_PSK : PSK;
  let pinned: Uint8Array | undefined = HUB_KEY;
  const outcomes: unknown[] = [];
  for (const patterns of [undefined, onKkFailure === 'keep-pin' ? ['XXpsk2' as const] : undefined]) {
    const pair = new Pair({
      client: { pin: () => pinned, psk: () => cached ?? derived, onKkFailure, ...(patterns && { patterns }) },
      hub,
    }).run();
    const closing = pair.client.state === 'ready' ? [] : pair.client.closed(1008);
    for (const event of [...pair.clientEvents, ...closing]) {
      if (event.type === 'psk-suspect') cached = undefined;
      if (event.type === 'unpin') pinned = undefined;
      if (event.type === 'pin') pinned = event.key;
      if (event.type === 'ended') outcomes.push(event.error.code);
      if (event.type === 'ready') outcomes.push(`ready ${event.pattern}`);
    }
  }
  return outcomes;
}

test('after a password change KKpsk0 is refused, and XXpsk2 says that the password differs', () => {
  assert.equal(twoConnections('password', 'unpin'), ['kk-refused', 'psk-differs']);
  assert.equal(twoConnections('password', 'keep-pin'), ['kk-refused', 'psk-differs']);
});

test('with a stale PSK KKpsk0 is refused, and XXpsk2 succeeds with the PSK derived again', () => {
  assert.equal(twoConnections('stale psk', 'unpin'), ['kk-refused', 'ready XXpsk2']);
  assert.equal(twoConnections('stale psk', 'keep-pin'), ['kk-refused', 'ready XXpsk2']);
});

test('with a new hub key KKpsk0 is refused, and XXpsk2 trusts it again, or reports it where the pin is kept', () => {
  assert.equal(twoConnections('hub key', 'unpin'), ['kk-refused', 'ready XXpsk2']);
  assert.equal(twoConnections('hub key', 'keep-pin'), ['kk-refused', 'hub-key-changed']);
});

test('names the pattern that was in use, once there was one', () => {
  const client = newClient(KK.client);
  const hub = newHub(KK.hub);
  const [hello, offer] = hub.start().map(textOf);
  client.receive(hello!);
  assert.is(find(newClient().closed('timeout'), 'ended').pattern, undefined);
  client.receive(offer!);
  assert.is(find(client.closed('timeout'), 'ended').pattern, 'KKpsk0');
  assert.is(find(hub.closed(1006), 'ended').pattern, undefined);
  const pair = readyPair();
  assert.is(find(pair.client.closed(1006), 'ended').pattern, 'XXpsk2');
  assert.is(find(pair.hub.closed(1006), 'ended').pattern, 'XXpsk2');
});

test.run();
