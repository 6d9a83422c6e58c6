/** Each bad input on the session has its code, ends it for good or is dropped; and the caller's own mistakes. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { type ClientSession, type HubSession, LocalError, RemoteError } from '../../src/index.ts';
import type { Transport } from '../../src/noise/transport.ts';
import { raisesLocal } from '../raises.ts';
import { hex } from '../vectors.ts';
import {
  codeOf,
  envelope,
  fails,
  flip,
  HELLO,
  KK,
  newClient,
  newHub,
  OFFER,
  Pair,
  readyPair,
  types,
} from './pair.ts';

/** Transports of a pair that is ready, to seal what no session would. */
function transports(pair: Pair): { client: Transport; hub: Transport } {
  const of = (session: unknown) => (session as { transport: Transport }).transport;
  return { client: of(pair.client), hub: of(pair.hub) };
}

/** Frames in hex, the last of which is the breach. */
const BAD_FRAMES: [string[], string][] = [
  [[''], 'empty-plaintext'],
  [['0601'], 'unknown-marker'],
  [['ff'], 'unknown-marker'],
  [['0401'], 'chunk-without-start'],
  [['0501'], 'chunk-without-start'],
  [['0201', '0001'], 'message-while-open'],
  [['0301', '0101'], 'message-while-open'],
  [['0201', '0301'], 'message-while-open'],
  [['0301', '0401', '0201'], 'message-while-open'],
  [['0301', '0501', '0501'], 'chunk-without-start'],
];

test('each breach of the framing ends the session, on both sides', () => {
  for (const [frames, code] of BAD_FRAMES) {
    const pair = readyPair();
    const { client, hub } = transports(pair);
    const messagesOf = (transport: Transport) => frames.map((frame) => transport.encrypt(hex(frame)));
    const [toClient, toHub] = [messagesOf(hub), messagesOf(client)];
    for (const message of toClient.slice(0, -1)) pair.client.receive(message);
    for (const message of toHub.slice(0, -1)) pair.hub.receive(message);
    fails(pair.client, toClient.at(-1)!, code, 1002);
    fails(pair.hub, toHub.at(-1)!, code, 1002);
  }
});

test('a transport message that is damaged, cut short or too long ends the session', () => {
  const damage: [(message: Uint8Array) => Uint8Array, string][] = [
    [(message) => flip(0)(Buffer.from(message)), 'not-authentic'],
    [(message) => flip(-1)(Buffer.from(message)), 'not-authentic'],
    [(message) => message.subarray(0, -1), 'not-authentic'],
    [(message) => message.subarray(0, 15), 'message-too-short'],
    [() => new Uint8Array(0), 'message-too-short'],
    [() => new Uint8Array(65536), 'message-too-long'],
  ];
  for (const [change, code] of damage) {
    const pair = readyPair();
    fails(pair.client, change(pair.hub.sendJson({ a: 1 })[0]!), code, 1002);
    fails(pair.hub, change(readyPair().client.sendJson({ a: 1 })[0]!), code, 1002);
  }
});

test('a transport message replayed, swapped or left out ends the session', () => {
  const orders: ((a: Uint8Array, b: Uint8Array) => Uint8Array[])[] = [
    (a) => [a, a],
    (a, b) => [b, a],
    (_, b) => [b],
  ];
  for (const order of orders) {
    const pair = readyPair();
    const [a, b] = [pair.hub.sendJson({ a: 1 })[0]!, pair.hub.sendJson({ b: 1 })[0]!];
    const events = pair.toClient(order(a, b));
    assert.is(codeOf(events), 'not-authentic');
    assert.is(pair.client.state, 'failed');
    assert.equal(pair.client.receive(a), []);
  }
});

test('text on an established session ends it and is never delivered', () => {
  const texts = ['{"msg_type":"bus","payload":{}}', '', 'hello', '{', 'null', '[]', '{"msg_type":"hello"}'];
  for (const text of texts) {
    fails(readyPair().client, text, 'text-after-ready', 1002);
    fails(readyPair().hub, text, 'text-after-ready', 1002);
  }
});

test('an envelope that comes as bytes, as over MQTT from a peer that lost the session, ends it as text does', () => {
  const long = envelope('speak', { utterance: 'x'.repeat(70_000) }); // longer than any transport message
  for (const text of [HELLO, OFFER, envelope('speak', {}), long]) {
    const bytes = new Uint8Array(Buffer.from(text));
    fails(readyPair().client, bytes, 'text-after-ready', 1002);
    fails(readyPair().hub, bytes, 'text-after-ready', 1002);
  }
  for (const text of ['{"msg_type":"hello"}', '{"a":"transport message?"}', 'x'.repeat(20)]) {
    fails(readyPair().client, new Uint8Array(Buffer.from(text)), 'not-authentic', 1002);
  }
});

test('a message of more than 32 MiB is dropped, and the session lives', () => {
  const pair = readyPair();
  const tooLarge = pair.hub.sendBinary(new Uint8Array(32 * 1024 * 1024 + 1));
  assert.equal(pair.toClient(tooLarge), [
    { type: 'dropped', kind: 'binary', bytes: 33554433, reason: 'too-large' },
  ]);
  assert.equal(pair.toClient(pair.hub.sendJson('{"a":1}')), [
    { type: 'message', kind: 'json', text: '{"a":1}' },
  ]);
});

test('a JSON message that is not UTF-8 is dropped, and the session lives', () => {
  const pair = readyPair();
  const message = transports(pair).hub.encrypt(new Uint8Array([0, 0xc3, 0x28]));
  assert.equal(pair.client.receive(message), [
    { type: 'dropped', kind: 'json', bytes: 2, reason: 'not-utf8' },
  ]);
  assert.is(pair.toClient(pair.hub.sendJson({})).length, 1);
});

/** Sets a counter of a session's transport just before the reserved nonce 2^64 - 1. */
function exhaust(session: ClientSession | HubSession, direction: 'sending' | 'receiving'): void {
  const { transport } = session as unknown as { transport: Record<string, { nonce: Uint8Array }> };
  transport[direction]!.nonce.fill(0xff, 4);
}

test('the reserved nonce is never used to send: the session ends', () => {
  const { client } = readyPair();
  exhaust(client, 'sending');
  raisesLocal(() => client.sendJson({}), 'nonce-exhausted');
  assert.is(client.state, 'failed');
  raisesLocal(() => client.sendJson({}), 'session-over');
  assert.is((client.closed(1000)[0] as { error: { code: string } }).error.code, 'nonce-exhausted');
});

test('the reserved nonce is never used to receive: the session ends', () => {
  const pair = readyPair();
  exhaust(pair.client, 'receiving');
  fails(pair.client, pair.hub.sendJson({})[0]!, 'nonce-exhausted', 1002);
});

test('a bad argument to send changes nothing', () => {
  const pair = readyPair();
  const cyclic: { a?: unknown } = {};
  cyclic.a = cyclic;
  raisesLocal(() => pair.client.sendBinary('text' as never), 'bad-argument');
  raisesLocal(() => pair.client.sendBinary(null as never), 'bad-argument');
  raisesLocal(() => pair.client.sendJson(undefined as never), 'not-json');
  raisesLocal(() => pair.client.sendJson({ a: Number.NaN }), 'unsafe-number');
  raisesLocal(() => pair.client.sendJson('\ud800'), 'lone-surrogate');
  raisesLocal(() => pair.client.sendJson(cyclic as never), 'json-depth');
  assert.equal(types(pair.toHub(pair.client.sendJson({ fine: 1.5 }))), ['message']);
});

test('sending before ready is the caller’s mistake, and changes nothing', () => {
  const client = newClient();
  const hub = newHub();
  raisesLocal(() => client.sendJson({}), 'wrong-state');
  raisesLocal(() => hub.sendBinary(new Uint8Array(1)), 'wrong-state');
  client.receive(HELLO);
  raisesLocal(() => client.sendBinary(new Uint8Array(1)), 'wrong-state');
  assert.equal(types(client.receive(OFFER)), ['transmit']);
});

test('after closed nothing is received, sent or started', () => {
  for (const session of [readyPair().client, readyPair().hub, newClient(), newHub()]) {
    session.closed(1000);
    assert.is(session.state, 'closed');
    assert.equal(session.receive(HELLO), []);
    assert.equal(session.receive(new Uint8Array(20)), []);
    raisesLocal(() => session.sendJson({}), 'session-over');
    raisesLocal(() => session.sendBinary(new Uint8Array(0)), 'session-over');
    raisesLocal(() => session.start(), 'wrong-state');
  }
});

test('what is neither text nor bytes is the caller’s mistake, and changes nothing', () => {
  for (const data of [null, undefined, 7, {}, [1], new ArrayBuffer(4)]) {
    const pair = readyPair();
    raisesLocal(() => pair.client.receive(data as never), 'bad-argument');
    raisesLocal(() => pair.hub.receive(data as never), 'bad-argument');
    assert.is(pair.client.state, 'ready');
  }
});

test('injected crypto that breaks ends the session and is named as the cause', () => {
  const sha256 = () => {
    throw new TypeError('accelerator is off');
  };
  const client = newClient({ crypto: { ...nodeCrypto, sha256 }, psk: () => undefined });
  client.receive(HELLO);
  const [close] = client.receive(OFFER) as { error: LocalError }[];
  assert.instance(close!.error, LocalError);
  assert.is(close!.error.code, 'crypto-failed');
  assert.instance(close!.error.cause, TypeError);
});

test('crypto that breaks on message 2 puts neither the PSK nor the pin in doubt', () => {
  let isBroken = false;
  const hmacSha256: typeof nodeCrypto.hmacSha256 = (...args) => {
    if (isBroken) throw new Error('accelerator is off');
    return nodeCrypto.hmacSha256(...args);
  };
  const pair = new Pair({
    client: { ...KK.client, crypto: { ...nodeCrypto, hmacSha256 } },
    hub: KK.hub,
    wire: (_, data, count) => {
      isBroken = count === 4;
      return [data];
    },
  }).run();
  assert.equal(types(pair.clientEvents), ['transmit', 'close']);
  assert.is(codeOf(pair.clientEvents), 'crypto-failed');
});

test('the errors of the peer are RemoteErrors, the caller’s are LocalErrors', () => {
  const [close] = newClient().receive('x') as { error: Error }[];
  assert.instance(close!.error, RemoteError);
  assert.instance(close!.error, Error);
  assert.not.instance(close!.error, LocalError);
});

test.run();
