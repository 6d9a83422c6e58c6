/** What a hub sends, and how it reads the client’s first message. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseJson } from '../../src/index.ts';
import { raisesLocal } from '../raises.ts';
import { CLIENT_KEY, NODE_ID } from '../world/keys.ts';
import {
  find,
  KK,
  LATER,
  newHub,
  Pair,
  pairWithHubIn,
  readyPair,
  textOf,
  transportOf,
  types,
} from '../world/pair.ts';

test('speaks first: HELLO with eight fields, then HANDSHAKE with four', () => {
  const [hello, offer] = newHub()
    .start()
    .map((event) => JSON.parse(textOf(event)));
  assert.equal(hello, {
    msg_type: 'hello',
    payload: { node_id: NODE_ID },
    metadata: {},
    route: [],
    node: null,
    target_site_id: null,
    target_pubkey: null,
    source_peer: null,
  });
  const suites = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];
  assert.equal(offer, {
    msg_type: 'shake',
    payload: { max_protocol_version: 3, noise: { patterns: ['XXpsk2'], suites } },
    metadata: {},
    route: [],
  });
});

test('start() is called once, and before receive()', () => {
  const hub = newHub();
  raisesLocal(() => hub.receive('{}'), 'wrong-state');
  assert.is(hub.state, 'new');
  hub.start();
  raisesLocal(() => hub.start(), 'wrong-state');
  assert.is(hub.state, 'awaiting-message-1');
});

test('further payload fields are sent and bound: floats, big numbers, astral keys, __proto__', () => {
  const hello = parseJson('{"peer": 1.0, "\u{1f600}": 12345678901234567890, "\ue000": {"__proto__": 1e400}}');
  const handshake = {
    binarize: false,
    encodings: ['JSON-HEX'],
    ciphers: [],
    ratio: 0.1,
    max_protocol_version: 4,
    handshake: true,
  };
  const pair = readyPair({ hub: { hello: hello as never, handshake } });
  assert.match(
    textOf(pair.hubEvents[0]),
    '"payload":{"node_id":"hub-1","peer":1.0,"\u{1f600}":12345678901234567890',
  );
  assert.match(textOf(pair.hubEvents[1]), '"ratio":0.1');
});

test('under XXpsk2 the client’s key is announced before ready', () => {
  const { hubEvents } = new Pair().run();
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'pin', 'ready', 'hello']);
  assert.equal(hubEvents[3], { type: 'pin', key: CLIENT_KEY });
  assert.equal(find(hubEvents, 'ready').clientKey, CLIENT_KEY);
});

test('a client key that is pinned is compared, and not announced', () => {
  const { hubEvents } = new Pair({ hub: { clientKey: CLIENT_KEY } }).run();
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'ready', 'hello']);
});

test('under KKpsk0 message 2 leaves in clear before the session opens', () => {
  const { hubEvents } = new Pair(KK).run();
  assert.is(JSON.parse(textOf(hubEvents[2])).msg_type, 'shake');
  assert.is(hubEvents[3]!.type, 'ready');
});

// Under KKpsk0 nothing in message 1 depends on this connection: whoever recorded it can send it again.

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

test('a client that replayed message 1 cannot go on: its next message ends the session, without ready', () => {
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

test('a hub that received a replay ends like one whose client has left', () => {
  const hub = newHub(KK.hub);
  hub.start();
  hub.receive(recordedMessage1());
  const ended = find(hub.closed('timeout'), 'ended');
  assert.equal([ended.reason, ended.retry, ended.error.code], ['timeout', 'never', 'timeout']);
  assert.match(ended.error.message, 'awaiting-first-message');
});

test('under KKpsk0 the hub is ready with the first transport message that opens, before it delivers it', () => {
  const pair = pairWithHubIn('awaiting-first-message');
  const [first] = pair.held;
  assert.equal(types(pair.hub.receive(first!.data)), ['ready', 'hello']);
  assert.is(pair.hub.state, 'ready');
  assert.equal(types(pair.toClient(pair.hub.sendJson({}))), ['message']);
});

test('under KKpsk0 one chunk of the first message is enough to be ready', () => {
  const pair = pairWithHubIn('awaiting-first-message', { client: { hello: { pad: 'x'.repeat(70_000) } } });
  assert.is(pair.held.length, 2);
  assert.equal(types(pair.hub.receive(pair.held[0]!.data)), ['ready']);
  assert.equal(types(pair.hub.receive(pair.held[1]!.data)), ['hello']);
});

test('a client key kept outside of JavaScript makes no difference to the hub', () => {
  for (const options of [{}, KK]) {
    const pair = new Pair({ ...options, client: { ...(options as typeof KK).client, ...LATER } }).run();
    assert.equal(types(pair.hubEvents), types(new Pair(options).run().hubEvents));
  }
});

/** A pair that is ready, and whose hub takes the next message for the client's first. */
function withoutHello(): Pair {
  const pair = readyPair();
  const { side } = (pair.hub as unknown as { channel: { side: { expectsHello: boolean } } }).channel;
  side.expectsHello = true;
  return pair;
}

test('a first message that is not a HELLO is reported and delivered, and the session goes on', () => {
  const firsts = ['{"msg_type":"bus","payload":{}}', '"text"', '7', '{"msg_type":"hello","payload":null}'];
  for (const first of firsts) {
    const pair = withoutHello();
    const events = pair.toHub(pair.client.sendJson(first));
    assert.equal(types(events), ['hello', 'message']);
    assert.is(find(events, 'hello').error!.code, 'no-hello');
    assert.is(pair.hub.state, 'ready');
  }
  const binary = withoutHello();
  assert.equal(types(binary.toHub(binary.client.sendBinary(new Uint8Array(3)))), ['hello', 'message']);
});

test('a first message that was dropped is reported as no HELLO', () => {
  const pair = withoutHello();
  assert.equal(types(pair.hub.receive(transportOf(pair.client).encrypt(new Uint8Array([0, 0xff])))), [
    'hello',
    'dropped',
  ]);
});

test('a HELLO with a session, site id or pubkey of the wrong type is reported, and the session goes on', () => {
  for (const payload of [{}, { session: 'x' }, { session: {}, site_id: 7 }, { session: {}, pubkey: [] }]) {
    const pair = withoutHello();
    const events = pair.toHub(pair.client.sendJson({ msg_type: 'hello', payload: payload as never }));
    assert.equal(types(events), ['hello']);
    assert.is(find(events, 'hello').error!.code, 'bad-hello');
    assert.equal(types(pair.toHub(pair.client.sendJson({ msg_type: 'hello', payload: {} }))), ['message']);
  }
});

test('a HELLO needs neither site id nor pubkey', () => {
  const pair = withoutHello();
  const events = pair.toHub(
    pair.client.sendJson({ msg_type: 'hello', payload: { session: {}, site_id: null } }),
  );
  assert.is(find(events, 'hello').error, undefined);
});

test('messages of every size at the edges of chunks arrive whole, both ways, as JSON and binary', () => {
  const pair = readyPair();
  const ways = [
    [pair.client, (messages: Uint8Array[]) => pair.toHub(messages)],
    [pair.hub, (messages: Uint8Array[]) => pair.toClient(messages)],
  ] as const;
  for (const size of [0, 1, 2, 3, 64999, 65000, 65001, 129999, 130000, 130001, 200000]) {
    const bytes = new Uint8Array(size).map((_, i) => i);
    // A string of `size` bytes that is JSON: a number, or characters of two bytes and one.
    const text =
      size < 3 ? '1'.repeat(Math.max(1, size)) : `"${'é'.repeat((size - 2) >> 1)}${'x'.repeat(size & 1)}"`;
    const frames = Math.max(1, Math.ceil(size / 65000));
    for (const [sender, receive] of ways) {
      const binary = sender.sendBinary(bytes);
      assert.is(binary.length, frames);
      assert.is(Buffer.concat(binary).length, size + frames * 17); // a marker and a tag each
      assert.equal(receive(binary) as unknown, [{ type: 'message', kind: 'binary', bytes }]);
      const json = sender.sendJson(text);
      assert.is(json.length, frames);
      assert.equal(receive(json) as unknown, [{ type: 'message', kind: 'json', text }]);
    }
  }
});

test.run();
