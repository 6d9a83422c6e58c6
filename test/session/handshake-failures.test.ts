/** Bad input of a handshake in the states that the vectors do not visit, or too long for them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { Data } from '../world/line.ts';
import {
  CLIENT_STATES,
  changeMessage,
  codeOf,
  envelope,
  fails,
  HELLO,
  KK,
  newClient,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  pairWithClientIn,
  pairWithHubIn,
} from '../world/pair.ts';

/** One of each kind. vectors/envelopes.json has all, in the states that wait for an envelope. */
const BAD_ENVELOPES: [Data, string][] = [
  ['{', 'bad-json'],
  ['{"msg_type":"hello","payload":{"a":1,"a":2}}', 'duplicate-key'],
  ['{"msg_type":"hello","payload":{"a":"\\ud800"}}', 'lone-surrogate'],
  [`{"msg_type":"hello","payload":{"a":${'['.repeat(63)}`, 'json-depth'],
  [new Uint8Array([0x7b, 0xff, 0x7d]), 'bad-utf8'],
  [new Uint8Array(256 * 1024 + 1), 'envelope-too-large'],
  ['{}', 'bad-envelope'],
  ['{"msg_type":"hello"}', 'bad-payload'],
  [envelope('bus', {}), 'unexpected-message'],
];

test('malformed cleartext ends a client in every state before ready', () => {
  for (const state of CLIENT_STATES.filter((state) => state !== 'ready')) {
    for (const [data, code] of BAD_ENVELOPES) fails(pairWithClientIn(state).client, data, code);
  }
});

test('malformed cleartext ends a hub in every state before ready', () => {
  for (const state of ['awaiting-message-1', 'awaiting-message-3'] as const) {
    for (const [data, code] of BAD_ENVELOPES) fails(pairWithHubIn(state).hub, data, code);
  }
});

test('a client whose crypto has no cipher fails with no-common-suite', () => {
  const client = newClient({ crypto: { ...nodeCrypto, ciphers: {} } });
  client.receive(HELLO);
  fails(client, OFFER, 'no-common-suite');
});

test('a hub refuses a message 1 that names a protocol version without 3', () => {
  const { noise } = OFFER_PAYLOAD;
  const chosen = { pattern: 'XXpsk2', suite: noise.suites[0], msg: '00' };
  for (const [version, code] of [
    [2, 'protocol-version'],
    [3, 'message-too-short'],
  ] as const) {
    const { hub } = pairWithHubIn('awaiting-message-1');
    fails(hub, envelope('shake', { max_protocol_version: version, noise: chosen }), code);
  }
});

/** Runs a handshake in which one message (1, 2 or 3) is changed, and returns the receiver's error code. */
function tampered(
  number: number,
  change: (bytes: Buffer) => Buffer,
  options: object = {},
): string | undefined {
  const pair = new Pair({
    ...options,
    wire: (_, data, count) => [count === number + 2 ? changeMessage(data, change) : data],
  }).run();
  return codeOf(number === 2 ? pair.clientEvents : pair.hubEvents);
}

test('a handshake message that is too long is refused', () => {
  const grow = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(65536 - bytes.length)]);
  for (const number of [1, 2, 3]) assert.is(tampered(number, grow), 'message-too-long');
  assert.is(tampered(2, grow, KK), 'message-too-long');
});

test.run();
