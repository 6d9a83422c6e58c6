/** Each bad input has its code, ends the session for good, and tells the peer nothing. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type ClientSession,
  type HubSession,
  LocalError,
  RemoteError,
  type SessionEvent,
} from '../src/index.ts';
import { HandshakeState } from '../src/noise/handshake-state.ts';
import { nodeCrypto, randomBytes } from '../src/noise/node.ts';
import type { Transport } from '../src/noise/transport.ts';
import {
  CLIENT_STATIC,
  codeOf,
  type Data,
  envelope,
  find,
  HELLO,
  KK,
  NODE_ID,
  newClient,
  newHub,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  PSK,
  readyPair,
  textOf,
  types,
} from './pair.ts';
import { raisesLocal } from './raises.ts';

/** Asserts that an input ends a session with this code, silently and for good. */
function fails(session: ClientSession | HubSession, data: Data, code: string, closeCode = 1008): void {
  const events = session.receive(data);
  assert.is(codeOf(events), code, `${data}`.slice(0, 100));
  assert.is(types(events).includes('transmit'), false, 'the peer is told something');
  const close = find(events as SessionEvent[], 'close');
  assert.is(events.at(-1), close);
  assert.is(close.code, closeCode);
  assert.ok(close.error.message.length > 10);
  assert.is(session.state, 'failed');
  assert.equal(session.receive(HELLO), []);
  assert.equal(session.receive(OFFER), []);
  assert.equal(session.receive(new Uint8Array(20)), []);
  raisesLocal(() => session.sendJson({}), 'session-over');
}

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

test('malformed cleartext ends a client in every state before the session', () => {
  for (const [data, code] of BAD_ENVELOPES) {
    fails(newClient(), data, code);
    const started = newClient();
    started.receive(HELLO);
    fails(started, data, code);
    const waiting = newClient();
    waiting.receive(HELLO);
    waiting.receive(OFFER);
    fails(waiting, data, code);
  }
});

test('malformed cleartext ends a hub in every state before the session', () => {
  for (const [data, code] of BAD_ENVELOPES) {
    const hub = newHub();
    hub.start();
    fails(hub, data, code);
    fails(hubAwaitingMessage3(), data, code);
  }
});

/** A hub that has started, and a client's HandshakeState that goes with it. */
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
    prologue: Buffer.from(prologue),
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

/** A hub that has answered message 1. */
function hubAwaitingMessage3(): HubSession {
  const { hub, initiator } = hubAndInitiator();
  hub.receive(message1(initiator, '{}'));
  assert.is(hub.state, 'awaiting-message-3');
  return hub;
}

test('a HELLO needs a node_id that is a text', () => {
  fails(newClient(), envelope('hello', {}), 'missing-node-id');
  for (const nodeId of [null, 7, '', {}, ['hub-1'], true]) {
    fails(newClient(), envelope('hello', { node_id: nodeId }), 'bad-node-id');
  }
});

test('a node_id that an object only inherits is none', () => {
  fails(newClient(), '{"msg_type":"hello","payload":{"__proto__":{"node_id":"hub-1"}}}', 'missing-node-id');
});

test('a HANDSHAKE before HELLO is refused, whatever it holds', () => {
  for (const payload of [OFFER_PAYLOAD, {}, { noise: { msg: '00' } }]) {
    fails(newClient(), envelope('shake', payload), 'handshake-before-hello');
  }
});

test('an offer is refused by what is wrong with it', () => {
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
    [{ max_protocol_version: 3, noise: { ...noise, suites: [] } }, 'no-common-suite'],
    [{ max_protocol_version: 3, noise: { ...noise, suites: ['448_ChaChaPoly_BLAKE2b'] } }, 'no-common-suite'],
    [{ max_protocol_version: 3, noise: { ...noise, patterns: [] } }, 'no-common-pattern'],
    [{ max_protocol_version: 3, noise: { ...noise, patterns: ['KKpsk0'] } }, 'no-common-pattern'],
    [
      { max_protocol_version: 3, noise: { ...noise, patterns: ['NNpsk0', 'constructor'] } },
      'no-common-pattern',
    ],
  ];
  for (const [payload, code] of cases) {
    const client = newClient();
    client.receive(HELLO);
    fails(client, envelope('shake', payload), code);
  }
});

test('an offer that is an answer already has no place', () => {
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

test('a client that may use KKpsk0 only, and has no pin, finds no common pattern', () => {
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
    fails(hubAwaitingMessage3(), envelope('shake', { noise: { msg } }), 'bad-hex');
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

test('a client that says it speaks less than protocol 3 is refused', () => {
  const hub = newHub();
  hub.start();
  const noise = { pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256', msg: '00' };
  fails(hub, envelope('shake', { max_protocol_version: 2, noise }), 'protocol-version');
});

/** Runs a handshake in which one message (1, 2 or 3) is changed, and gives the receiver's error code. */
function tampered(
  number: number,
  change: (bytes: Buffer) => Buffer,
  options: object = {},
): string | undefined {
  const pair = new Pair({
    ...options,
    wire: (_, data, count) => {
      if (count !== number + 2) return [data];
      const message = JSON.parse(data as string);
      message.payload.noise.msg = change(Buffer.from(message.payload.noise.msg, 'hex')).toString('hex');
      return [JSON.stringify(message)];
    },
  }).run();
  return codeOf(number === 2 ? pair.clientEvents : pair.hubEvents);
}

const flip = (at: number) => (bytes: Buffer) => {
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  return bytes;
};

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
  // Under XXpsk2 nothing secret enters message 1, so a client can seal it with such a key: hence by hand.
  const hub = newHub();
  const crypto = {
    ...nodeCrypto,
    x25519: { ...nodeCrypto.x25519, publicKey: () => new Uint8Array(32) },
  };
  const client = newClient({ crypto });
  const [hello, offer] = hub.start().map(textOf);
  client.receive(hello!);
  fails(hub, textOf(client.receive(offer!)[0]), 'low-order-key');
});

test('a failed KKpsk0 puts the PSK and the pin in doubt, whatever was wrong with the answer', () => {
  for (const change of [
    flip(0),
    flip(-1),
    (bytes: Buffer) => bytes.subarray(0, 10),
    (bytes: Buffer) => bytes.fill(0, 0, 32),
  ]) {
    const pair = new Pair({
      ...KK,
      wire: (_, data, count) => {
        if (count !== 4) return [data];
        const message = JSON.parse(data as string);
        message.payload.noise.msg = change(Buffer.from(message.payload.noise.msg, 'hex')).toString('hex');
        return [JSON.stringify(message)];
      },
    }).run();
    assert.equal(types(pair.clientEvents), ['transmit', 'psk-suspect', 'unpin', 'close']);
  }
});

test('a wrong password shows at message 2 of XXpsk2, at the client alone', () => {
  const pair = new Pair({ client: { psk: () => new Uint8Array(32) } }).run();
  assert.equal(types(pair.clientEvents), ['transmit', 'psk-suspect', 'close']);
  assert.is(codeOf(pair.clientEvents), 'psk-differs');
  assert.is(codeOf(pair.hubEvents), undefined);
});

test('a wrong password shows at message 1 of KKpsk0, at the hub alone', () => {
  const pair = new Pair({ ...KK, client: { ...KK.client, psk: () => new Uint8Array(32) } }).run();
  assert.is(codeOf(pair.hubEvents), 'kk-failed');
  assert.equal(types(pair.clientEvents), ['transmit']);
});

test('another prologue shows at message 1 of XXpsk2, at the hub', () => {
  const pair = new Pair({
    wire: (_, data, count) => [count === 1 ? envelope('hello', { node_id: NODE_ID, peer: 'changed' }) : data],
  }).run();
  assert.is(codeOf(pair.hubEvents), 'prologue-differs');
});

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

// On the session

/** Transports of a pair that is ready, to seal what no session would. */
function transports(pair: Pair): { client: Transport; hub: Transport } {
  const of = (session: unknown) => (session as { transport: Transport }).transport;
  return { client: of(pair.client), hub: of(pair.hub) };
}

const BAD_FRAMES: [number[][], string][] = [
  [[[]], 'empty-plaintext'],
  [[[6, 1]], 'unknown-marker'],
  [[[255]], 'unknown-marker'],
  [[[4, 1]], 'chunk-without-start'],
  [[[5, 1]], 'chunk-without-start'],
  [
    [
      [2, 1],
      [0, 1],
    ],
    'message-while-open',
  ],
  [
    [
      [3, 1],
      [1, 1],
    ],
    'message-while-open',
  ],
  [
    [
      [2, 1],
      [3, 1],
    ],
    'message-while-open',
  ],
  [
    [
      [3, 1],
      [4, 1],
      [2, 1],
    ],
    'message-while-open',
  ],
  [
    [
      [3, 1],
      [5, 1],
      [5, 1],
    ],
    'chunk-without-start',
  ],
];

test('each breach of the framing ends the session, on both sides', () => {
  for (const [frames, code] of BAD_FRAMES) {
    const pair = readyPair();
    const { client, hub } = transports(pair);
    const messagesOf = (transport: Transport) =>
      frames.map((frame) => transport.encrypt(new Uint8Array(frame)));
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

test('the errors of the peer are RemoteErrors, the caller’s are LocalErrors', () => {
  const [close] = newClient().receive('x') as { error: Error }[];
  assert.instance(close!.error, RemoteError);
  assert.instance(close!.error, Error);
  assert.not.instance(close!.error, LocalError);
});

test.run();
