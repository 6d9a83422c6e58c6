/** What a client sends and binds in a handshake that succeeds. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { binaryReader } from '../../src/binary.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  buildPrologue,
  type ClientSession,
  HandshakeState,
  parseJson,
  protocolName,
  type SessionEvent,
} from '../../src/index.ts';
import { raisesLocal } from '../raises.ts';
import { HUB_KEY, HUB_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import {
  bytesOf,
  codeOf,
  envelope,
  find,
  HELLO,
  KK,
  LATER,
  newClient,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  readyPair,
  sharedSecretOf,
  textOf,
  types,
} from '../world/pair.ts';

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

test('with a pin: KKpsk0, and ready after message 2', () => {
  const { clientEvents, hubEvents } = new Pair(KK).run();
  assert.equal(types(clientEvents), ['transmit', 'transmit', 'ready']);
  assert.equal(types(hubEvents), ['transmit', 'transmit', 'transmit', 'ready', 'hello']);
  assert.is(find(clientEvents, 'ready').pattern, 'KKpsk0');
});

test('both sides have the same handshake hash', () => {
  for (const options of [{}, KK]) {
    const { clientEvents, hubEvents } = new Pair(options).run();
    const { handshakeHash } = find(clientEvents, 'ready');
    assert.is(handshakeHash.length, 32);
    assert.equal(handshakeHash, find(hubEvents, 'ready').handshakeHash);
  }
});

test('a handshake envelope has four fields; message 1 names pattern and suite, message 3 does not', () => {
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
  assert.equal(Object.keys(payload).sort(), ['pubkey', 'session', 'site_id']);
  assert.is(payload.pubkey, null); // some hubs pin an empty string
  assert.is(payload.site_id, 'lobby');
  assert.match((payload.session as { session_id: string }).session_id, /^[0-9a-f]{32}$/);
});

test('HELLO names pubkey, session and site_id, in the order of other clients', () => {
  const payload = find(new Pair().run().hubEvents, 'hello').payload!;
  assert.equal(Object.keys(payload), ['pubkey', 'session', 'site_id']);
});

test('the fields of the hello option replace the defaults of HELLO', () => {
  const hello = { session: { session_id: 'mine', lang: 'fr' }, site_id: 'cellar', firmware: 1.5 };
  const { hubEvents } = new Pair({ client: { hello } }).run();
  const payload = find(hubEvents, 'hello').payload!;
  assert.is(payload.site_id, 'cellar');
  assert.equal(payload.session, { session_id: 'mine', lang: 'fr' });
  assert.is(String(payload.firmware), '1.5');
});

test('message 1 tells the hub binarize and encodings', () => {
  const { hubEvents } = new Pair({
    client: { binarize: true, readBinary: binaryReader(), encodings: ['JSON-B64', 'JSON-HEX'] },
  }).run();
  const ready = find(hubEvents, 'ready');
  assert.is(ready.binarize, true);
  assert.equal(ready.encodings, ['JSON-B64', 'JSON-HEX']);
});

test('start() over MQTT announces the client, and names neither its session nor its site', () => {
  const hello = {
    pubkey: 'key',
    session: { session_id: 'mine', location_preferences: { city: 'Paris' } },
    site_id: 'cellar',
    firmware: '1.5',
  };
  for (const client of [newClient(), newClient({ hello, siteId: 'attic' })]) {
    const events = client.start();
    assert.is(events.length, 1);
    assert.equal(JSON.parse(textOf(events[0])), {
      msg_type: 'hello',
      payload: { pubkey: null, site_id: '' },
      metadata: {},
      route: [],
      node: null,
      target_site_id: null,
      target_pubkey: null,
      source_peer: null,
    });
  }
});

test('the sealed HELLO names session and site also after start()', () => {
  const hello = { session: { session_id: 'mine' } };
  const pair = new Pair({ client: { hello } });
  pair.client.start();
  const payload = find(pair.run().hubEvents, 'hello').payload!;
  assert.equal(payload, { pubkey: null, session: { session_id: 'mine' }, site_id: 'lobby' });
});

test('start() is called once, before anything is received', () => {
  const client = newClient();
  client.start();
  raisesLocal(() => client.start(), 'wrong-state');
  client.receive(HELLO);
  raisesLocal(() => client.start(), 'wrong-state');
  assert.equal(types(client.receive(OFFER)), ['transmit']);
});

test('unknown fields of HELLO and offer are bound into the prologue as they came', () => {
  const hello =
    '{"__proto__": {"x": 1.0}, "node_id": "hub-1", "\u{1f600}": 1, "\ue000": 12345678901234567890}';
  const offer = `{"constructor": 1e400, ${JSON.stringify(OFFER_PAYLOAD).slice(1)}`;
  const client = newClient();
  client.receive(`{"msg_type":"hello","payload":${hello}}`);
  const [message1] = client.receive(`{"msg_type":"handshake","payload":${offer}}`);
  // The prologue by hand: keys in code-point order, tokens kept.
  const prologue = bytesOf(
    '{"__proto__":{"x":1.0},"node_id":"hub-1","\ue000":12345678901234567890,"\u{1f600}":1}' +
      '{"constructor":1e400,"max_protocol_version":3,"noise":{"patterns":["XXpsk2","KKpsk0"],' +
      '"suites":["25519_ChaChaPoly_SHA256","25519_AESGCM_SHA256"]}}' +
      'Noise_XXpsk2_25519_ChaChaPoly_SHA256',
  );
  const hub = responder('XXpsk2', '25519_ChaChaPoly_SHA256', prologue);
  const { noise } = JSON.parse(textOf(message1)).payload;
  const payload = hub.readMessage(Buffer.from(noise.msg, 'hex'));
  assert.is(Buffer.from(payload).toString(), '{"binarize":false,"encodings":[]}');
});

test('the client’s first suite that the hub offers is used', () => {
  const { ChaChaPoly, AESGCM } = nodeCrypto.ciphers;
  const prefersAes = { ...nodeCrypto, ciphers: { AESGCM: AESGCM!, ChaChaPoly: ChaChaPoly! } };
  const { clientEvents } = readyPair({ client: { crypto: prefersAes } });
  assert.is(find(clientEvents, 'ready').suite, '25519_AESGCM_SHA256');
  const only = readyPair({ client: { crypto: prefersAes }, hub: { suites: ['25519_ChaChaPoly_SHA256'] } });
  assert.is(find(only.clientEvents, 'ready').suite, '25519_ChaChaPoly_SHA256');
});

test('ready tells the encoding that the hub names in message 2', () => {
  for (const [payload, encoding] of [
    ['{"encoding": "JSON-HEX"}', 'JSON-HEX'],
    ['', undefined],
    ['{"encoding":null}', undefined],
  ] as const) {
    const events = answerMessage1(payload);
    assert.is(find(events, 'ready').encoding, encoding);
  }
});

test('ready tells the encoding also if message 3 has to wait for a shared secret', () => {
  const client = newClient(LATER);
  const { publicKey } = find(answerMessage1('{"encoding":"JSON-HEX"}', client), 'waiting');
  assert.is(find(client.resume(sharedSecretOf(publicKey!)), 'ready').encoding, 'JSON-HEX');
});

test('a payload of message 2 that is not a JSON object ends the session as one that does not open', () => {
  for (const payload of ['[]', 'null', '{', '"{}"', '{"a":1,"a":1}', ' ', '\xff']) {
    const events = answerMessage1(payload);
    assert.equal(types(events), ['psk-suspect', 'close'], payload);
    assert.is(codeOf(events), 'psk-differs', payload);
  }
});

test('a payload of message 2 whose encoding is not a string ends the session', () => {
  assert.is(codeOf(answerMessage1('{"encoding":7}')), 'bad-handshake-payload');
});

test('a payload of message 2 may have 256 bytes, and one byte more is refused before it is opened', () => {
  const payload = JSON.stringify({ padding: 'x'.repeat(256 - '{"padding":""}'.length) });
  assert.is(find(answerMessage1(payload), 'ready').encoding, undefined);
  const events = answerMessage1(`${payload} `);
  assert.equal(types(events), ['close']);
  assert.is(codeOf(events), 'message-too-long');
});

test('the payload of message 2 is read before the pin is compared', () => {
  const newPinned = () =>
    newClient({ pins: [{ nodeId: NODE_ID, key: new Uint8Array(32).fill(7) }], patterns: ['XXpsk2'] });
  assert.is(codeOf(answerMessage1('noise', newPinned())), 'psk-differs');
  assert.is(codeOf(answerMessage1('{}', newPinned())), 'hub-key-changed');
});

function responder(
  pattern: 'XXpsk2',
  suite: '25519_ChaChaPoly_SHA256',
  prologue: Uint8Array,
): HandshakeState {
  return new HandshakeState({
    crypto: nodeCrypto,
    role: 'responder',
    pattern,
    suite,
    prologue,
    psk: PSK,
    staticKey: HUB_STATIC,
    randomBytes,
  });
}

/** The events of a client that receives a message 2 with this payload. */
function answerMessage1(payload: string, client: ClientSession = newClient()): SessionEvent[] {
  client.receive(HELLO);
  const [message1] = client.receive(OFFER);
  const { noise } = JSON.parse(textOf(message1)).payload;
  const prologue = buildPrologue(
    parseJson(`{"node_id":"${NODE_ID}"}`),
    parseJson(JSON.stringify(OFFER_PAYLOAD)),
    protocolName(noise.pattern, noise.suite),
  );
  const hub = responder(noise.pattern, noise.suite, prologue);
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
    wire: (_, data) => [typeof data === 'string' ? bytesOf(data) : data],
  }).run();
  assert.is(client.state, 'ready');
  assert.is(hub.state, 'ready');
});

test('a hub may repeat the pattern in message 2', () => {
  const { client } = new Pair({
    wire: (to, data) => [
      to === 'client' && typeof data === 'string'
        ? data.replace('{"msg":', '{"pattern":"XXpsk2","msg":')
        : data,
    ],
  }).run();
  assert.is(client.state, 'ready');
});

test.run();
