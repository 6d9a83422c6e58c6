/** Each bad input of an encrypted session has its code. It ends the session permanently, or is dropped. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ClientSession,
  type HubSession,
  LocalError,
  RemoteError,
  splitMessage,
} from '../../src/index.ts';
import type { Transport } from '../../src/noise/transport.ts';
import { raisesLocal } from '../raises.ts';
import { hex } from '../vectors.ts';
import {
  bytesOf,
  codeOf,
  envelope,
  fails,
  find,
  flip,
  HELLO,
  newClient,
  OFFER,
  pairWithHubIn,
  readyPair,
  transportOf,
} from '../world/pair.ts';

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
    const messagesOf = (transport: Transport) => frames.map((frame) => transport.encrypt(hex(frame)));
    const [toClient, toHub] = [messagesOf(transportOf(pair.hub)), messagesOf(transportOf(pair.client))];
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
    fails(pairWithHubIn('awaiting-first-message').hub, change(new Uint8Array(20)), code, 1002);
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

/** The sessions that are encrypted. */
const encrypted = (): (ClientSession | HubSession)[] => [
  readyPair().client,
  readyPair().hub,
  pairWithHubIn('awaiting-first-message').hub,
];

test('text on an encrypted session ends it and is never delivered', () => {
  const texts = ['{"msg_type":"bus","payload":{}}', '', 'hello', '{', 'null', '[]', '{"msg_type":"hello"}'];
  for (const text of texts) for (const session of encrypted()) fails(session, text, 'text-after-ready', 1002);
});

test('an envelope in bytes, as from a peer on MQTT that lost the session, ends it as text does', () => {
  const long = envelope('speak', { utterance: 'x'.repeat(70_000) }); // longer than any transport message
  for (const text of [HELLO, OFFER, envelope('speak', {}), long]) {
    for (const session of encrypted()) fails(session, bytesOf(text), 'text-after-ready', 1002);
  }
});

test('bytes that are not an envelope are a transport message that is not authentic', () => {
  for (const text of ['{"msg_type":"hello"}', '{"a":"transport message?"}', 'x'.repeat(20)]) {
    for (const session of encrypted()) fails(session, bytesOf(text), 'not-authentic', 1002);
  }
});

test('text-after-ready tells both causes, and to connect again', () => {
  const { message } = find(readyPair().client.receive(''), 'close').error;
  for (const part of [/lost the session/, /MQTT/, /third party/, /connect again/i])
    assert.match(message, part);
});

test('a message of more than 32 MiB is dropped, and the session goes on', () => {
  const pair = readyPair();
  const hub = transportOf(pair.hub);
  const tooLarge = splitMessage('binary', new Uint8Array(32 * 1024 * 1024 + 1));
  const sealed = tooLarge.map((frame) => hub.encrypt(frame));
  assert.equal(pair.toClient(sealed), [
    { type: 'dropped', kind: 'binary', bytes: 33554433, reason: 'too-large' },
  ]);
  assert.equal(pair.toClient(pair.hub.sendJson('{"a":1}')), [
    { type: 'message', kind: 'json', text: '{"a":1}' },
  ]);
});

test('a message of more than 32 MiB is refused before it is sealed, and the session goes on', () => {
  const pair = readyPair();
  const longest = 32 * 1024 * 1024;
  raisesLocal(() => pair.client.sendBinary(new Uint8Array(longest + 1)), 'message-too-long');
  raisesLocal(() => pair.client.sendJson(`"${'x'.repeat(longest - 1)}"`), 'message-too-long');
  assert.is(pair.client.sendBinary(new Uint8Array(longest)).length, 517);
});

test('a JSON message that is not UTF-8 is dropped, and the session goes on', () => {
  const pair = readyPair();
  const message = transportOf(pair.hub).encrypt(new Uint8Array([0, 0xc3, 0x28]));
  assert.equal(pair.client.receive(message), [
    { type: 'dropped', kind: 'json', bytes: 2, reason: 'not-utf8' },
  ]);
  assert.is(pair.toClient(pair.hub.sendJson({})).length, 1);
});

/** Sets a counter of a session's transport just before the reserved nonce 2^64 - 1. */
function exhaust(session: ClientSession | HubSession, direction: 'sending' | 'receiving'): void {
  const { cipherStates: keys } = (
    session as unknown as { channel: { cipherStates: Record<string, { nonce: Uint8Array }> } }
  ).channel;
  keys[direction]!.nonce.fill(0xff, 4);
}

test('the reserved nonce is never used to send: the session ends', () => {
  const { client } = readyPair();
  exhaust(client, 'sending');
  raisesLocal(() => client.sendJson({}), 'nonce-exhausted');
  assert.is(client.state, 'failed');
  raisesLocal(() => client.sendJson({}), 'session-over');
  assert.is(find(client.closed(1000), 'ended').error.code, 'nonce-exhausted');
});

test('the reserved nonce is never used to receive: the session ends', () => {
  const pair = readyPair();
  exhaust(pair.client, 'receiving');
  fails(pair.client, pair.hub.sendJson({})[0]!, 'nonce-exhausted', 1002);
});

test('after closed nothing is received, sent or started', () => {
  for (const session of [...encrypted(), newClient()]) {
    session.closed(1000);
    assert.is(session.state, 'closed');
    assert.equal(session.receive(envelope('hello', { node_id: 'hub-1' })), []);
    assert.equal(session.receive(new Uint8Array(20)), []);
    raisesLocal(() => session.sendJson({}), 'session-over');
    raisesLocal(() => session.sendBinary(new Uint8Array(0)), 'session-over');
    raisesLocal(() => session.start(), 'wrong-state');
  }
});

test('the error that ends a session is the cause of session-over', () => {
  const { client } = readyPair();
  const { error } = find(client.receive(''), 'close');
  assert.is(raisesLocal(() => client.sendJson({}), 'session-over').cause, error);
});

test('the faults of the peer are RemoteErrors', () => {
  const { error } = find(newClient().receive('x'), 'close');
  assert.instance(error, RemoteError);
  assert.instance(error, Error);
  assert.not.instance(error, LocalError);
});

test.run();
