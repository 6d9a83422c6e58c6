/**
 * The client's first message to a hub. Under KKpsk0 the hub waits for it before it is ready: nothing in message 1 depends on the
 * connection, so anyone who recorded it can send it again.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bytesOf,
  envelope,
  find,
  KK,
  newHub,
  type Pair,
  readyPair,
  transportOf,
  types,
} from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

/** The message 1 of an earlier connection. */
function recordedMessage1(): string {
  return readyPair(KK).sent[2]!.data as string;
}

test('a replayed message 1 of KKpsk0 does not make a hub ready', () => {
  const hub = newHub(KK.hub);
  hub.start();
  assert.equal(types(hub.receive(recordedMessage1())), ['transmit']);
  assert.is(hub.state, 'awaiting-first-message');
  raisesLocal(() => hub.sendJson({}), 'wrong-state');
  raisesLocal(() => hub.sendBinary(new Uint8Array(1)), 'wrong-state');
});

test('after a replayed message 1, the next message of the attacker ends the session without ready', () => {
  const recorded = readyPair(KK).sent;
  for (const next of [recorded[4]!.data, new Uint8Array(20), new Uint8Array(100)]) {
    const hub = newHub(KK.hub);
    hub.start();
    hub.receive(recorded[2]!.data);
    const events = hub.receive(next);
    assert.equal(types(events), ['close']);
    assert.is(find(events, 'close').error.code, 'not-authentic');
    assert.is(find(events, 'close').code, 1002);
    assert.is(hub.state, 'failed');
  }
});

test('a hub that received a replay ends like a hub whose client left', () => {
  const hub = newHub(KK.hub);
  hub.start();
  hub.receive(recordedMessage1());
  const ended = find(hub.closed('timeout'), 'ended');
  assert.equal([ended.reason, ended.retry, ended.error.code], ['timeout', 'never', 'timeout']);
  assert.match(ended.error.message, 'awaiting-first-message');
});

/** A pair that is ready, and whose hub takes the next message for the client's first. */
function withoutHello(): Pair {
  const pair = readyPair();
  const { side } = (pair.hub as unknown as { channel: { side: { expectsHello: boolean } } }).channel;
  side.expectsHello = true;
  return pair;
}

test('a first message that is not a HELLO is reported and delivered, and the session goes on', () => {
  for (const [frame, what] of [
    [Buffer.from('\0{"msg_type":"bus","payload":{}}'), 'message'],
    [Buffer.from('\0"text"'), 'message'],
    [Uint8Array.of(1, 2, 3), 'message'],
    [Uint8Array.of(0, 0xff), 'dropped'],
  ] as const) {
    const { client, hub } = withoutHello();
    const events = hub.receive(transportOf(client).encrypt(frame));
    assert.equal(types(events), ['hello', what]);
    assert.is(find(events, 'hello').error!.code, 'no-hello');
    assert.is(hub.state, 'ready');
  }
});

test('a HELLO whose fields have the wrong type is reported alone, and the session goes on', () => {
  for (const payload of [{}, { session: 's' }, { session: {}, site_id: 1 }, { session: {}, pubkey: 1 }]) {
    const { client, hub } = withoutHello();
    const events = hub.receive(transportOf(client).encrypt(bytesOf(`\0${envelope('hello', payload)}`)));
    assert.equal(types(events), ['hello']);
    assert.is(find(events, 'hello').error!.code, 'bad-hello');
    assert.is(hub.state, 'ready');
  }
});

test.run();
