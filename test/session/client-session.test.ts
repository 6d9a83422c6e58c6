import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  canonicalJson,
  HandshakeState,
  parseJson,
  protocolName,
  type SessionEvent,
} from '../../src/index.ts';
import { raisesLocal } from '../raises.ts';
import {
  CLIENT_KEY,
  CLIENT_STATIC,
  codeOf,
  envelope,
  find,
  HELLO,
  HUB_KEY,
  HUB_STATIC,
  KK,
  NODE_ID,
  newClient,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  PSK,
  readyPair,
  textOf,
  types,
} from './pair.ts';

test('first contact: pin, message 3, HELLO, ready, in this order', () => {
  const { clientEvents, sent } = new Pair().run();
  assert.equal(types(clientEvents), ['transmit', 'pin', 'transmit', 'transmit', 'ready']);
  const [, pin, message3, hello] = clientEvents;
  assert.equal(pin, { type: 'pin', nodeId: NODE_ID, key: HUB_KEY });
  assert.is(JSON.parse(textOf(message3)).msg_type, 'shake');
  assert.instance((hello as { data: unknown }).data, Uint8Array);
  assert.is(find(clientEvents, 'ready').pattern, 'XXpsk2');
  assert.equal(find(clientEvents, 'ready').hubKey, HUB_KEY);
  assert.is(sent.length, 6);
});

test('with a pin: KKpsk0, and ready after one answer', () => {
  const { clientEvents, hubEvents } = new Pair(KK).run();
  assert.equal(types(clientEvents), ['transmit', 'transmit', 'ready']);
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'ready', 'hello']);
  assert.is(find(clientEvents, 'ready').pattern, 'KKpsk0');
});

test('both sides know the same handshake hash', () => {
  for (const options of [{}, KK]) {
    const { clientEvents, hubEvents } = new Pair(options).run();
    const ours = find(clientEvents, 'ready').handshakeHash;
    assert.is(ours.length, 32);
    assert.equal(ours, find(hubEvents, 'ready').handshakeHash);
  }
});

test('a handshake envelope has four fields, message 1 the pattern and suite, message 3 the message alone', () => {
  const { sent } = new Pair().run();
  const [, , message1, , message3] = sent.map(({ data }) =>
    typeof data === 'string' ? JSON.parse(data) : data,
  );
  assert.equal(Object.keys(message1), ['msg_type', 'payload', 'metadata', 'route']);
  assert.is(message1.msg_type, 'shake');
  assert.equal(Object.keys(message1.payload.noise), ['pattern', 'suite', 'msg']);
  assert.equal(Object.keys(message3.payload.noise), ['msg']);
  assert.match(message3.payload.noise.msg, /^[0-9a-f]{128}$/);
});

test('the first transport message is the HELLO with pubkey, session and site id', () => {
  const { hubEvents } = new Pair().run();
  const payload = find(hubEvents, 'hello').payload!;
  assert.equal(Object.keys(payload), ['pubkey', 'session', 'site_id']);
  assert.is(payload.pubkey, '');
  assert.is(payload.site_id, 'lobby');
  assert.match((payload.session as { session_id: string }).session_id, /^[0-9a-f]{32}$/);
});

test('HELLO takes the integrator’s fields over its defaults', () => {
  const hello = { session: { session_id: 'mine', lang: 'fr' }, site_id: 'cellar', firmware: 1.5 };
  const { hubEvents } = new Pair({ client: { hello } }).run();
  const payload = find(hubEvents, 'hello').payload!;
  assert.is(payload.site_id, 'cellar');
  assert.equal(payload.session, { session_id: 'mine', lang: 'fr' });
  assert.is(String(payload.firmware), '1.5');
});

test('message 1 tells the hub binarize and encodings in canonical JSON', () => {
  const { hubEvents } = new Pair({ client: { binarize: true, encodings: ['JSON-B64', 'JSON-HEX'] } }).run();
  const ready = find(hubEvents, 'ready');
  assert.is(ready.binarize, true);
  assert.equal(ready.encodings, ['JSON-B64', 'JSON-HEX']);
});

test('without a look-up for PSKs it asks', () => {
  const client = newClient({ psk: undefined });
  client.receive(HELLO);
  assert.equal(types(client.receive(OFFER)), ['psk-needed']);
});

test('asks for the PSK with the node id and its SHA-256, and goes on when it is provided', () => {
  const client = newClient({ psk: () => undefined });
  client.receive(HELLO);
  const events = client.receive(OFFER);
  assert.equal(types(events), ['psk-needed']);
  const { nodeId, salt } = find(events, 'psk-needed');
  assert.is(nodeId, NODE_ID);
  assert.equal(Buffer.from(salt), createHash('sha256').update(NODE_ID).digest());
  assert.is(client.state, 'awaiting-psk');
  assert.equal(types(client.providePsk(PSK)), ['transmit']);
  assert.is(client.state, 'awaiting-message-2');
});

test('a PSK that is late or comes twice does nothing', () => {
  const client = newClient({ psk: () => undefined });
  client.receive(HELLO);
  client.receive(OFFER);
  client.providePsk(PSK);
  assert.equal(client.providePsk(PSK), []);
  client.closed(1006);
  assert.equal(client.providePsk(PSK), []);
});

test('a PSK of another length is refused and changes nothing', () => {
  const client = newClient({ psk: () => undefined });
  client.receive(HELLO);
  client.receive(OFFER);
  raisesLocal(() => client.providePsk(new Uint8Array(31)), 'bad-length');
  raisesLocal(() => client.providePsk('secret' as never), 'bad-argument');
  assert.equal(types(client.providePsk(PSK)), ['transmit']);
});

test('a PSK before it is asked for is the caller’s mistake, and changes nothing', () => {
  const client = newClient();
  raisesLocal(() => client.providePsk(PSK), 'wrong-state');
  client.receive(HELLO);
  raisesLocal(() => client.providePsk(PSK), 'wrong-state');
  assert.equal(types(client.receive(OFFER)), ['transmit']);
});

test('a stored PSK that is no 32 bytes, or cannot be read, counts as none', () => {
  const unreadable = () => {
    throw new Error('cache is corrupt');
  };
  for (const psk of [() => new Uint8Array(31), () => 'secret' as never, () => null as never, unreadable]) {
    const client = newClient({ psk });
    client.receive(HELLO);
    assert.equal(types(client.receive(OFFER)), ['psk-needed']);
  }
});

test('a pin look-up that throws, or answers neither 32 bytes nor undefined, ends the session before message 1', () => {
  const unreadable = () => {
    throw new Error('disk');
  };
  const answers = [
    unreadable,
    () => null,
    () => '',
    () => [],
    () => new Uint8Array(0),
    () => new Uint8Array(33),
  ];
  for (const pin of answers) {
    const client = newClient({ pin: pin as never });
    client.receive(HELLO);
    const events = client.receive(OFFER);
    assert.equal(types(events), ['close']);
    assert.is(codeOf(events), 'trust-unreadable');
    const { code, error } = find(events, 'close');
    assert.is(code, 1008);
    const ended = { type: 'ended', reason: 'refused', retry: 'never', error, pattern: undefined };
    assert.equal(client.closed(1006), [ended]);
  }
});

test('a pin under XXpsk2 that matches is not announced again', () => {
  const { clientEvents } = new Pair({ client: { pin: () => HUB_KEY, patterns: ['XXpsk2'] } }).run();
  assert.equal(types(clientEvents), ['transmit', 'transmit', 'transmit', 'ready']);
});

test('a pin under XXpsk2 that differs is refused before message 3 leaves, and the pin stays', () => {
  const { client, clientEvents, sent } = new Pair({
    client: { pin: () => CLIENT_KEY, patterns: ['XXpsk2'] },
  }).run();
  assert.equal(types(clientEvents), ['transmit', 'close']);
  assert.is(codeOf(clientEvents), 'hub-key-changed');
  assert.is(sent.length, 4); // HELLO, offer, messages 1 and 2
  assert.is(find(client.closed(1008), 'ended').retry, 'never');
});

test('the pin is enforced too where the hub does not offer KKpsk0', () => {
  const { clientEvents } = new Pair({ client: { pin: () => CLIENT_KEY } }).run();
  assert.is(codeOf(clientEvents), 'hub-key-changed');
});

test('a node id such as __proto__ is looked up and pinned as it is', () => {
  for (const nodeId of ['__proto__', 'constructor', 'toString']) {
    const asked: string[] = [];
    const pin = (id: string) => {
      asked.push(id);
      return undefined;
    };
    const { clientEvents } = new Pair({ client: { pin }, hub: { nodeId } }).run();
    assert.equal(asked, [nodeId]);
    assert.is(find(clientEvents, 'pin').nodeId, nodeId);
  }
});

test('unknown fields of HELLO and offer are bound into the prologue as they came', () => {
  const hello =
    '{"__proto__": {"x": 1.0}, "node_id": "hub-1", "\u{1f600}": 1, "\ue000": 12345678901234567890}';
  const offer = `{"constructor": 1e400, ${JSON.stringify(OFFER_PAYLOAD).slice(1)}`;
  const client = newClient();
  client.receive(`{"msg_type":"hello","payload":${hello}}`);
  const [message1] = client.receive(`{"msg_type":"handshake","payload":${offer}}`);
  // The prologue by hand: keys in code-point order, tokens kept.
  const name = 'Noise_XXpsk2_25519_ChaChaPoly_SHA256';
  const prologue = Buffer.from(
    '{"__proto__":{"x":1.0},"node_id":"hub-1","\ue000":12345678901234567890,"\u{1f600}":1}' +
      '{"constructor":1e400,"max_protocol_version":3,"noise":{"patterns":["XXpsk2","KKpsk0"],' +
      '"suites":["25519_ChaChaPoly_SHA256","25519_AESGCM_SHA256"]}}' +
      name,
  );
  const hub = new HandshakeState({
    crypto: nodeCrypto,
    role: 'responder',
    pattern: 'XXpsk2',
    suite: '25519_ChaChaPoly_SHA256',
    prologue: new Uint8Array(prologue),
    psk: PSK,
    staticKey: HUB_STATIC,
    randomBytes,
  });
  const { payload } = JSON.parse(textOf(message1));
  const read = hub.readMessage(new Uint8Array(Buffer.from(payload.noise.msg, 'hex')));
  assert.is(Buffer.from(read).toString(), '{"binarize":false,"encodings":[]}');
});

test('the latest HELLO before the offer counts', () => {
  const client = newClient({ psk: () => undefined });
  client.receive(envelope('hello', { node_id: 'stale' }));
  client.receive(HELLO);
  assert.is(find(client.receive(OFFER), 'psk-needed').nodeId, NODE_ID);
});

test('takes the first of its own suites that the hub offers', () => {
  const { ChaChaPoly, AESGCM } = nodeCrypto.ciphers;
  const prefersAes = { ...nodeCrypto, ciphers: { AESGCM: AESGCM!, ChaChaPoly: ChaChaPoly! } };
  const { clientEvents } = readyPair({ client: { crypto: prefersAes } });
  assert.is(find(clientEvents, 'ready').suite, '25519_AESGCM_SHA256');
  const only = readyPair({ client: { crypto: prefersAes }, hub: { suites: ['25519_ChaChaPoly_SHA256'] } });
  assert.is(find(only.clientEvents, 'ready').suite, '25519_ChaChaPoly_SHA256');
});

test('the encoding that the hub names in message 2 comes with ready', () => {
  for (const [payload, encoding] of [
    ['{"encoding": "JSON-HEX"}', 'JSON-HEX'],
    ['', undefined],
    ['{"encoding":null}', undefined],
  ] as const) {
    const events = answerMessage1(payload);
    assert.is(find(events, 'ready').encoding, encoding);
  }
});

test('a payload of message 2 that is no JSON object, or names no text as encoding, ends the session', () => {
  for (const payload of ['[]', 'null', '{', '"{}"', '{"encoding":7}', '\xff']) {
    assert.is(codeOf(answerMessage1(payload)), 'bad-handshake-payload', payload);
  }
});

/** What a client makes of a message 2 with this payload. */
function answerMessage1(payload: string): SessionEvent[] {
  const client = newClient();
  client.receive(HELLO);
  const [message1] = client.receive(OFFER);
  const { noise } = JSON.parse(textOf(message1)).payload;
  const hub = new HandshakeState({
    crypto: nodeCrypto,
    role: 'responder',
    pattern: noise.pattern,
    suite: noise.suite,
    prologue: Buffer.concat([
      canonicalJson(parseJson(`{"node_id":"${NODE_ID}"}`)),
      canonicalJson(parseJson(JSON.stringify(OFFER_PAYLOAD))),
      Buffer.from(protocolName(noise.pattern, noise.suite)),
    ]),
    psk: PSK,
    staticKey: HUB_STATIC,
    randomBytes,
  });
  hub.readMessage(Buffer.from(noise.msg, 'hex'));
  const msg = Buffer.from(hub.writeMessage(Buffer.from(payload, 'latin1'))).toString('hex');
  return client.receive(envelope('shake', { noise: { msg } }));
}

test('hex is read in either case', () => {
  const { client } = new Pair({
    wire: (to, data) => [
      to === 'client' && typeof data === 'string'
        ? data.replace(/"msg":"([0-9a-f]+)"/, (_, digits) => `"msg":"${digits.toUpperCase()}"`)
        : data,
    ],
  }).run();
  assert.is(client.state, 'ready');
});

test('cleartext may come as UTF-8 bytes, as it does over MQTT', () => {
  const { client, hub } = new Pair({
    wire: (_, data) => [typeof data === 'string' ? new Uint8Array(Buffer.from(data)) : data],
  }).run();
  assert.is(client.state, 'ready');
  assert.is(hub.state, 'ready');
});

test('a hub that repeats the pattern beside message 2 is understood', () => {
  const { client } = new Pair({
    wire: (to, data) => [
      to === 'client' && typeof data === 'string'
        ? data.replace('{"msg":', '{"pattern":"XXpsk2","msg":')
        : data,
    ],
  }).run();
  assert.is(client.state, 'ready');
});

test('start() writes the cleartext HELLO of a client over MQTT, once', () => {
  const client = newClient();
  const [event] = client.start();
  assert.equal(JSON.parse(textOf(event)), {
    msg_type: 'hello',
    payload: { pubkey: '', site_id: 'lobby' },
    metadata: {},
    route: [],
    node: null,
    target_site_id: null,
    target_pubkey: null,
    source_peer: null,
  });
  raisesLocal(() => client.start(), 'wrong-state');
  client.receive(HELLO);
  raisesLocal(() => client.start(), 'wrong-state');
  assert.equal(types(client.receive(OFFER)), ['transmit']);
});

test('options of the wrong type or length are refused by name', () => {
  const bad = {
    crypto: [null, undefined, 'noble'],
    siteId: [null, undefined, {}, 7],
    randomBytes: [undefined, new Uint8Array(32)],
    pin: [{}, null],
    psk: [PSK],
    hello: [[], null, 'x'],
    staticKeyIsFresh: ['yes', 1, null],
    binarize: ['yes'],
    encodings: ['JSON', [1]],
    patterns: [[], ['XX'], 'XXpsk2', ['constructor']],
    onKkFailure: ['drop'],
    staticKey: ['secret', undefined],
  };
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      const error = raisesLocal(() => newClient({ [name]: value } as never), 'bad-argument');
      assert.match(error.message, name);
    }
  }
  raisesLocal(() => newClient({ staticKey: new Uint8Array(31) }), 'bad-length');
  raisesLocal(() => newClient({ hello: { when: new Date() as never } }), 'not-json');
  raisesLocal(() => newClient({ encodings: ['\ud800'] }), 'lone-surrogate');
});

test('keeps copies of its options', () => {
  const staticKey = new Uint8Array(CLIENT_STATIC);
  const hello = { session: { session_id: 'mine' } };
  const pair = new Pair({ client: { staticKey, hello } });
  staticKey.fill(0);
  hello.session.session_id = 'changed';
  pair.run();
  assert.equal(find(pair.hubEvents, 'ready').clientKey, CLIENT_KEY);
  assert.equal(find(pair.hubEvents, 'hello').payload!.session, { session_id: 'mine' });
});

test('randomness of the wrong length ends the session', () => {
  const client = newClient({ randomBytes: () => new Uint8Array(16) });
  client.receive(HELLO);
  assert.is(codeOf(client.receive(OFFER)), 'bad-random');
  const later = newClient({ randomBytes: () => new Uint8Array(16), psk: () => undefined });
  later.receive(HELLO);
  later.receive(OFFER);
  assert.is(codeOf(later.providePsk(PSK)), 'bad-random');
  assert.is(later.state, 'failed');
});

test.run();
