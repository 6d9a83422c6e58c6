/** Each bad input of a handshake has its code, ends the session permanently, and is not answered. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import type { HubSession } from '../../src/index.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import { CLIENT_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import {
  bytesOf,
  CLIENT_STATES,
  changeMessage,
  codeOf,
  envelope,
  fails,
  flip,
  HELLO,
  KK,
  newClient,
  newHub,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  pairWithClientIn,
  pairWithHubIn,
  textOf,
  types,
} from '../world/pair.ts';

const SUITE = '25519_ChaChaPoly_SHA256';

const BAD_ENVELOPES: [Data, string][] = [
  ['', 'bad-json'],
  ['{', 'bad-json'],
  ['{"msg_type":"hello","payload":{}} x', 'bad-json'],
  ["{'msg_type':'hello'}", 'bad-json'],
  ['{"msg_type":"hello","payload":{"a":NaN}}', 'bad-json'],
  ['{"msg_type":"hello","payload":{"a":1,"a":2}}', 'duplicate-key'],
  ['{"msg_type":"hello","payload":{"a":"\\ud800"}}', 'lone-surrogate'],
  [`{"msg_type":"hello","payload":{"a":${'['.repeat(63)}`, 'json-depth'],
  [new Uint8Array([0x7b, 0xff, 0x7d]), 'bad-utf8'],
  [new Uint8Array(0), 'bad-json'],
  [' '.repeat(256 * 1024 + 1), 'envelope-too-large'],
  [new Uint8Array(256 * 1024 + 1), 'envelope-too-large'],
  ['null', 'bad-envelope'],
  ['[]', 'bad-envelope'],
  ['7', 'bad-envelope'],
  [JSON.stringify(HELLO), 'bad-envelope'],
  ['{}', 'bad-envelope'],
  [envelope(7, {}), 'bad-envelope'],
  [envelope(null, {}), 'bad-envelope'],
  ['{"msg_type":"hello"}', 'bad-payload'],
  [envelope('hello', null), 'bad-payload'],
  [envelope('hello', []), 'bad-payload'],
  [envelope('hello', '{"node_id":"hub-1"}'), 'bad-payload'],
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

test('a HELLO needs a node_id that is a non-empty string', () => {
  fails(newClient(), envelope('hello', {}), 'missing-node-id');
  for (const nodeId of [null, 7, '', {}, ['hub-1'], true]) {
    fails(newClient(), envelope('hello', { node_id: nodeId }), 'bad-node-id');
  }
});

test('a node_id that an object only inherits does not count', () => {
  fails(newClient(), '{"msg_type":"hello","payload":{"__proto__":{"node_id":"hub-1"}}}', 'missing-node-id');
});

test('a HANDSHAKE before HELLO is refused, whatever it holds', () => {
  for (const payload of [OFFER_PAYLOAD, {}, { noise: { msg: '00' } }]) {
    fails(newClient(), envelope('shake', payload), 'handshake-before-hello');
  }
});

test('each fault of an offer has its code', () => {
  const { noise } = OFFER_PAYLOAD;
  const cases: [unknown, string][] = [
    [{ noise }, 'protocol-version'],
    [{ max_protocol_version: 2, noise }, 'protocol-version'],
    [{ max_protocol_version: 2.9, noise }, 'protocol-version'],
    [{ max_protocol_version: '3', noise }, 'protocol-version'],
    [{ max_protocol_version: true, noise }, 'protocol-version'],
    [{ max_protocol_version: null, noise }, 'protocol-version'],
    [{ max_protocol_version: 3 }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: {} }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: null }, 'bad-payload'],
    [{ max_protocol_version: 3, noise: [] }, 'bad-payload'],
    [{ max_protocol_version: 3, noise: 'XXpsk2' }, 'bad-payload'],
    [{ max_protocol_version: 3, noise: { ...noise, patterns: 'XXpsk2' } }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: { ...noise, patterns: ['XXpsk2', 7] } }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: { ...noise, suites: null } }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: { ...noise, suites: [] } }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: { ...noise, suites: ['448_ChaChaPoly_BLAKE2b'] } }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: { ...noise, patterns: [] } }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: { ...noise, patterns: ['KKpsk0'] } }, 'bad-offer'],
    [{ max_protocol_version: 3, noise: { ...noise, patterns: ['NNpsk0', 'constructor'] } }, 'bad-offer'],
  ];
  for (const [payload, code] of cases) {
    const client = newClient();
    client.receive(HELLO);
    fails(client, envelope('shake', payload), code);
  }
});

test('an offer that contains a Noise message is unexpected', () => {
  const client = newClient();
  client.receive(HELLO);
  fails(
    client,
    envelope('shake', { ...OFFER_PAYLOAD, noise: { ...OFFER_PAYLOAD.noise, msg: '00' } }),
    'unexpected-message',
  );
});

test('a client whose crypto has no cipher finds no common suite', () => {
  const client = newClient({ crypto: { ...nodeCrypto, ciphers: {} } });
  client.receive(HELLO);
  fails(client, OFFER, 'no-common-suite');
});

test('a client that may use KKpsk0 alone, and has no pin, finds no common pattern', () => {
  const client = newClient({ patterns: ['KKpsk0'] });
  client.receive(HELLO);
  fails(client, OFFER, 'no-common-pattern');
});

const BAD_HEX: unknown[] = [null, 7, {}, [], 'abc', 'zz', '0x00', ' 00', '00 ', '\u0660\u0660'];

test('bad and odd hex is refused in every handshake message', () => {
  for (const msg of BAD_HEX) {
    const client = newClient();
    client.receive(HELLO);
    client.receive(OFFER);
    fails(client, envelope('shake', { noise: { msg } }), 'bad-hex');
    const hub = newHub();
    hub.start();
    fails(
      hub,
      envelope('shake', { noise: { pattern: 'XXpsk2', suite: '25519_AESGCM_SHA256', msg } }),
      'bad-hex',
    );
    fails(pairWithHubIn('awaiting-message-3').hub, envelope('shake', { noise: { msg } }), 'bad-hex');
  }
});

test('message 1 needs a pattern and a suite that were offered', () => {
  const suite = SUITE;
  const cases: [unknown, string][] = [
    [{ msg: '00' }, 'bad-payload'],
    [{ msg: '00', pattern: 'XXpsk2' }, 'bad-payload'],
    [{ msg: '00', suite }, 'bad-payload'],
    [{ msg: '00', pattern: ['XXpsk2'], suite }, 'bad-payload'],
    [{ msg: '00', pattern: 'KKpsk0', suite }, 'not-offered'], // no client key is pinned
    [{ msg: '00', pattern: 'constructor', suite }, 'not-offered'],
    [{ msg: '00', pattern: 'XXpsk2', suite: '25519_AESGCM_SHA512' }, 'not-offered'],
  ];
  for (const [noise, code] of cases) {
    const hub = newHub();
    hub.start();
    fails(hub, envelope('shake', { noise }), code);
  }
});

test('a client that announces a protocol version below 3 is refused', () => {
  const hub = newHub();
  hub.start();
  const noise = { pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256', msg: '00' };
  fails(hub, envelope('shake', { max_protocol_version: 2, noise }), 'protocol-version');
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

test('a flipped bit in any field of XXpsk2 ends it with the code of that field', () => {
  assert.is(tampered(1, flip(0)), 'prologue-differs'); // e
  assert.is(tampered(1, flip(32)), 'prologue-differs'); // payload
  assert.is(tampered(1, flip(-1)), 'prologue-differs'); // its tag
  assert.is(tampered(2, flip(0)), 'static-key-not-authentic'); // e
  assert.is(tampered(2, flip(32)), 'static-key-not-authentic'); // s
  assert.is(tampered(2, flip(79)), 'static-key-not-authentic'); // its tag
  assert.is(tampered(2, flip(80)), 'psk-differs'); // payload
  assert.is(tampered(2, flip(-1)), 'psk-differs'); // its tag
  assert.is(tampered(3, flip(0)), 'static-key-not-authentic'); // s
  assert.is(tampered(3, flip(47)), 'static-key-not-authentic'); // its tag
  assert.is(tampered(3, flip(48)), 'payload-not-authentic'); // the tag of the empty payload
  assert.is(tampered(3, flip(-1)), 'payload-not-authentic');
});

test('a flipped bit in any field of KKpsk0 ends it', () => {
  for (const at of [0, 32, -1]) {
    assert.is(tampered(1, flip(at), KK), 'kk-failed');
    assert.is(tampered(2, flip(at), KK), 'kk-failed');
  }
});

test('a handshake message that is cut short, or too long, is refused', () => {
  const cut = (length: number) => (bytes: Buffer) => bytes.subarray(0, length);
  const grow = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(65536 - bytes.length)]);
  for (const [number, shortest] of [
    [1, 48],
    [2, 96],
    [3, 64],
  ] as const) {
    assert.is(tampered(number, cut(0)), 'message-too-short');
    assert.is(tampered(number, cut(shortest - 1)), 'message-too-short');
    assert.is(tampered(number, grow), 'message-too-long');
  }
  assert.is(tampered(1, cut(47), KK), 'message-too-short');
  assert.is(tampered(2, cut(47), KK), 'message-too-short');
  assert.is(tampered(2, grow, KK), 'message-too-long');
});

test('a public key of low order is refused on both sides', () => {
  const low = (bytes: Buffer) => bytes.fill(0, 0, 32);
  assert.is(tampered(1, low, KK), 'low-order-key');
  assert.is(tampered(2, low), 'low-order-key');
  assert.is(tampered(2, low, KK), 'low-order-key');
  // Under XXpsk2 nothing secret enters message 1, so a client can seal it with such a key: so it is built by hand.
  const hub = newHub();
  const low1 = new Uint8Array(32);
  low1[0] = 1;
  const crypto = {
    ...nodeCrypto,
    x25519: { publicKey: () => low1, sharedSecret: nodeCrypto.x25519.sharedSecret },
  };
  const client = newClient({ crypto });
  const [hello, offer] = hub.start().map(textOf);
  client.receive(hello!);
  fails(hub, textOf(client.receive(offer!)[0]), 'low-order-key');
});

test('a failed KKpsk0 puts the pin in doubt and never the PSK, whatever was wrong with message 2', () => {
  for (const change of [
    flip(0),
    flip(-1),
    (bytes: Buffer) => bytes.subarray(0, 10),
    (bytes: Buffer) => bytes.fill(0, 0, 32),
  ]) {
    const pair = new Pair({
      ...KK,
      wire: (_, data, count) => [count === 4 ? changeMessage(data, change) : data],
    }).run();
    assert.equal(types(pair.clientEvents), ['transmit', 'unpin', 'close']);
  }
});

test('a wrong PSK shows at message 2 of XXpsk2, at the client alone', () => {
  const pair = new Pair({ client: { psks: [{ nodeId: NODE_ID, key: new Uint8Array(32) }] } }).run();
  assert.equal(types(pair.clientEvents), ['transmit', 'psk-suspect', 'close']);
  assert.is(codeOf(pair.clientEvents), 'psk-differs');
  assert.is(codeOf(pair.hubEvents), undefined);
});

test('a wrong PSK shows at message 1 of KKpsk0, at the hub alone', () => {
  const pair = new Pair({
    ...KK,
    client: { ...KK.client, psks: [{ nodeId: NODE_ID, key: new Uint8Array(32) }] },
  }).run();
  assert.is(codeOf(pair.hubEvents), 'kk-failed');
  assert.equal(types(pair.clientEvents), ['transmit']);
});

test('another prologue shows at message 1 of XXpsk2, at the hub', () => {
  const pair = new Pair({
    wire: (_, data, count) => [count === 1 ? envelope('hello', { node_id: NODE_ID, peer: 'changed' }) : data],
  }).run();
  assert.is(codeOf(pair.hubEvents), 'prologue-differs');
});

/** A hub that has started, and a client's HandshakeState with the same prologue. */
function hubAndInitiator(): { hub: HubSession; initiator: HandshakeState } {
  const hub = newHub();
  const [hello, offer] = hub.start().map((event) => JSON.parse(textOf(event)).payload);
  const prologue =
    `{"node_id":"${hello.node_id}"}{"max_protocol_version":3,"noise":{"patterns":["XXpsk2"],"suites":` +
    `${JSON.stringify(offer.noise.suites)}}}Noise_XXpsk2_${SUITE}`;
  const initiator = new HandshakeState({
    crypto: nodeCrypto,
    role: 'initiator',
    pattern: 'XXpsk2',
    suite: SUITE,
    prologue: bytesOf(prologue),
    psk: PSK,
    staticKey: CLIENT_STATIC,
    randomBytes,
  });
  return { hub, initiator };
}

function message1(initiator: HandshakeState, payload: string): string {
  const msg = Buffer.from(initiator.writeMessage(Buffer.from(payload))).toString('hex');
  return envelope('shake', { noise: { pattern: 'XXpsk2', suite: SUITE, msg } });
}

test('a payload of message 1 that cannot be read is refused', () => {
  for (const payload of ['[]', '{', '{"binarize":1}', '{"encodings":"JSON"}', '{"encodings":[1]}']) {
    const { hub, initiator } = hubAndInitiator();
    fails(hub, message1(initiator, payload), 'bad-handshake-payload');
  }
});

test('an empty payload of message 1 counts as an empty object', () => {
  const { hub, initiator } = hubAndInitiator();
  assert.equal(types(hub.receive(message1(initiator, ''))), ['transmit']);
});

test.run();
