import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { type HubOptions, parseJson } from '../../src/index.ts';
import type { Transport } from '../../src/noise/transport.ts';
import { raisesLocal } from '../raises.ts';
import {
  CLIENT_KEY,
  find,
  HUB_KEY,
  KK,
  NODE_ID,
  newHub,
  Pair,
  PSK,
  readyPair,
  textOf,
  types,
} from './pair.ts';

const SUITES = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];

/** HELLO and HANDSHAKE of a hub. */
function spoken(options: Partial<HubOptions> = {}): unknown[] {
  const events = newHub(options).start();
  return events.map((event) => JSON.parse(textOf(event)));
}

function offered(options: Partial<HubOptions>): { patterns: string[]; suites: string[] } {
  const [, offer] = spoken(options);
  return (offer as { payload: { noise: { patterns: string[]; suites: string[] } } }).payload.noise;
}

test('speaks first: HELLO with all eight fields, then HANDSHAKE with four', () => {
  const [hello, offer] = spoken();
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
  assert.equal(offer, {
    msg_type: 'shake',
    payload: { max_protocol_version: 3, noise: { patterns: ['XXpsk2'], suites: SUITES } },
    metadata: {},
    route: [],
  });
});

test('offers KKpsk0 to a client whose key it holds, and only there', () => {
  assert.equal(offered({}).patterns, ['XXpsk2']);
  assert.equal(offered({ clientKey: CLIENT_KEY }).patterns, ['XXpsk2', 'KKpsk0']);
  assert.equal(offered({ clientKey: CLIENT_KEY, patterns: ['XXpsk2'] }).patterns, ['XXpsk2']);
  assert.equal(offered({ patterns: ['KKpsk0', 'XXpsk2'] }).patterns, ['XXpsk2']);
});

test('offers the suites that its crypto can do, or those of them it is told', () => {
  assert.equal(offered({}).suites, SUITES);
  assert.equal(offered({ crypto: nobleCrypto }).suites, ['25519_ChaChaPoly_SHA256']);
  assert.equal(offered({ suites: ['25519_AESGCM_SHA256'] }).suites, ['25519_AESGCM_SHA256']);
  raisesLocal(() => newHub({ crypto: nobleCrypto, suites: ['25519_AESGCM_SHA256'] }), 'suite-unavailable');
  raisesLocal(() => newHub({ suites: [] }), 'suite-unavailable');
  raisesLocal(() => newHub({ suites: 'all' as never }), 'bad-argument');
});

test('further payload fields are sent and bound: floats, big numbers, astral keys, __proto__', () => {
  const hello = parseJson('{"peer": 1.0, "\u{1f600}": 12345678901234567890, "\ue000": {"__proto__": 1e400}}');
  const handshake = {
    binarize: false,
    encodings: ['JSON-HEX'],
    ciphers: [],
    ratio: 0.1,
    max_protocol_version: 4,
  };
  const pair = readyPair({ hub: { hello: hello as never, handshake } });
  assert.match(
    textOf(pair.hubEvents[0]),
    '"payload":{"node_id":"hub-1","peer":1.0,"\u{1f600}":12345678901234567890',
  );
  assert.match(textOf(pair.hubEvents[1]), '"ratio":0.1');
});

test('learns the client’s key under XXpsk2 and says so before ready', () => {
  const { hubEvents } = new Pair().run();
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'pin', 'ready', 'hello']);
  assert.equal(hubEvents[3], { type: 'pin', key: CLIENT_KEY });
  assert.equal(find(hubEvents, 'ready').clientKey, CLIENT_KEY);
});

test('a client key that is pinned already is compared, not announced', () => {
  const { hubEvents } = new Pair({ hub: { clientKey: CLIENT_KEY } }).run();
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'ready', 'hello']);
});

test('under KKpsk0 the answer leaves in clear before the session opens', () => {
  const { hubEvents } = new Pair(KK).run();
  assert.is(JSON.parse(textOf(hubEvents[2])).msg_type, 'shake');
  assert.is(hubEvents[3]!.type, 'ready');
});

test('a first message that is no HELLO is reported and delivered, and the session lives', () => {
  const firsts = ['{"msg_type":"bus","payload":{}}', 'no JSON', '{"msg_type":"hello","payload":null}'];
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
  const { transport } = pair.client as unknown as { transport: Transport };
  assert.equal(types(pair.hub.receive(transport.encrypt(new Uint8Array([0, 0xff])))), ['hello', 'dropped']);
});

test('a HELLO with a session, site id or pubkey of the wrong type is reported, and the session lives', () => {
  for (const payload of [{}, { session: 'x' }, { session: {}, site_id: 7 }, { session: {}, pubkey: [] }]) {
    const pair = withoutHello();
    const events = pair.toHub(pair.client.sendJson({ msg_type: 'hello', payload: payload as never }));
    assert.equal(types(events), ['hello']);
    assert.is(find(events, 'hello').error!.code, 'bad-hello');
    assert.equal(types(pair.toHub(pair.client.sendJson({ msg_type: 'hello', payload: {} }))), ['message']);
  }
});

test('a HELLO needs no site id and no pubkey', () => {
  const pair = withoutHello();
  const events = pair.toHub(
    pair.client.sendJson({ msg_type: 'hello', payload: { session: {}, site_id: null } }),
  );
  assert.is(find(events, 'hello').error, undefined);
});

/** A pair that is ready, but whose client's HELLO the hub has not seen: it takes the next message for the first. */
function withoutHello(): Pair {
  const pair = readyPair();
  (pair.hub as unknown as { expectsHello: boolean }).expectsHello = true;
  return pair;
}

test('messages of every size at the edges arrive whole, both ways, as JSON and binary', () => {
  const pair = readyPair();
  const ways = [
    [pair.client, (messages: Uint8Array[]) => pair.toHub(messages)],
    [pair.hub, (messages: Uint8Array[]) => pair.toClient(messages)],
  ] as const;
  for (const size of [0, 1, 64999, 65000, 65001, 129999, 130000, 130001, 200000]) {
    const bytes = new Uint8Array(size).map((_, i) => i);
    const text = 'é'.repeat(size >> 1) + 'x'.repeat(size & 1);
    const frames = Math.max(1, Math.ceil(size / 65000));
    for (const [sender, receive] of ways) {
      const binary = sender.sendBinary(bytes);
      assert.is(binary.length, frames);
      assert.is(Buffer.concat(binary).length, size + frames * 17); // a marker and a tag each
      assert.equal(receive(binary) as unknown, [{ type: 'message', kind: 'binary', bytes }]);
      assert.equal(receive(sender.sendJson(text)) as unknown, [{ type: 'message', kind: 'json', text }]);
    }
  }
});

test('options of the wrong type or length are refused', () => {
  const bad = {
    nodeId: ['', 7, undefined],
    psk: ['secret', undefined],
    clientKey: ['key'],
    patterns: [[], ['XX'], 'XXpsk2', ['KKpsk0']],
    hello: [[], { node_id: 'x' }],
    handshake: ['x', { noise: {} }, { max_protocol_version: 2 }],
  };
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) raisesLocal(() => newHub({ [name]: value } as never), 'bad-argument');
  }
  raisesLocal(() => newHub({ psk: new Uint8Array(31) }), 'bad-length');
  raisesLocal(() => newHub({ clientKey: new Uint8Array(33) }), 'bad-length');
  raisesLocal(() => newHub({ hello: { peer: Number.NaN } }), 'unsafe-number');
});

test('start() comes once and first', () => {
  const hub = newHub();
  raisesLocal(() => hub.receive('{}'), 'wrong-state');
  assert.is(hub.state, 'new');
  hub.start();
  raisesLocal(() => hub.start(), 'wrong-state');
  assert.is(hub.state, 'awaiting-message-1');
});

test('keeps copies of its keys', () => {
  const psk = new Uint8Array(PSK);
  const clientKey = new Uint8Array(CLIENT_KEY);
  const pair = new Pair({ client: KK.client, hub: { psk, clientKey } });
  psk.fill(0);
  clientKey.fill(0);
  pair.run();
  assert.is(pair.hub.state, 'ready');
  assert.equal(find(pair.clientEvents, 'ready').hubKey, HUB_KEY);
});

test.run();
