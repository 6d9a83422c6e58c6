/** Bad input of an encrypted session that is too long for the vectors, or that they cannot say, and its errors. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HubSession } from '../../src/index.ts';
import type { ClientSession } from '../../src/parts.ts';
import { splitMessage } from '../../src/parts.ts';
import { bytesOf, fails, find, pairWithHubIn, readyPair, transportOf } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

/** The sessions that are encrypted. */
const encrypted = (): (ClientSession | HubSession)[] => [
  readyPair().client,
  readyPair().hub,
  pairWithHubIn('awaiting-first-message').hub,
];

test('bytes that are not an envelope are a transport message that is not authentic', () => {
  for (const text of ['{"msg_type":"hello"}', '{"a":"transport message?"}', 'x'.repeat(20)]) {
    for (const session of encrypted()) fails(session, bytesOf(text), 'not-authentic', 1002);
  }
});

test('the message of text-after-ready names both causes and the remedy', () => {
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

test('the error that ends a session is the cause of session-over', () => {
  const { client } = readyPair();
  const { error } = find(client.receive(''), 'close');
  assert.is(raisesLocal(() => client.sendJson({}), 'session-over').cause, error);
});

test.run();
