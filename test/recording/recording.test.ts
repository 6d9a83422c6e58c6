/** Recordings of sessions: what is in them, that it contains no secret, and that the session works as without one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isZero } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { HubSession } from '../../src/index.ts';
import { MAX_ENVELOPE } from '../../src/limits.ts';
import type { ClientSession } from '../../src/parts.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_PIN, HUB_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import { sharedSecretOf, textOf } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';
import { connect, EPHEMERAL, hex, type Line, linesWith, parse, ready, record } from './record.ts';

test('begins with the role, the own public key, and the options that are not secret', () => {
  const { clientLines, hubLines } = record(
    {
      patterns: ['XXpsk2'],
      trust: 'first-use',
      onKkFailure: 'keep-pin',
      pins: [HUB_PIN],
      staticKeyIsFresh: true,
    },
    { clientKey: CLIENT_KEY, suites: ['25519_ChaChaPoly_SHA256'], patterns: ['XXpsk2'] },
  );
  assert.equal(parse(clientLines), [
    {
      recording: 1,
      role: 'client',
      publicKey: hex(CLIENT_KEY),
      patterns: ['XXpsk2'],
      suites: ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'],
      trust: 'first-use',
      onKkFailure: 'keep-pin',
      hasPins: true,
      staticKeyIsFresh: true,
    },
  ]);
  assert.equal(parse(hubLines), [
    {
      recording: 1,
      role: 'hub',
      publicKey: hex(HUB_KEY),
      patterns: ['XXpsk2'],
      suites: ['25519_ChaChaPoly_SHA256'],
      nodeId: NODE_ID,
      clientKey: hex(CLIENT_KEY),
    },
  ]);
});

test('records every cleartext envelope in full, in both directions', () => {
  const { clientLines, hubLines } = ready();
  const received = parse(clientLines).filter(({ call, state }) => call === 'receive' && state !== 'ready');
  const sent = linesWith(hubLines, 'event').filter(({ event, text }) => event === 'transmit' && text);
  assert.is(received.length, 3); // HELLO, HANDSHAKE, message 2
  assert.equal(
    received.map(({ text }) => text),
    sent.map(({ text }) => text),
  );
  assert.match(sent[0]!.text as string, /"node_id":"hub-1"/);
});

test('records whether pin and PSK were found, and the pin, which is public', () => {
  assert.equal(linesWith(ready().clientLines, 'lookedUp'), [
    { lookedUp: 'pin', found: false },
    { lookedUp: 'psk', found: true },
  ]);
  const { clientLines } = ready({ pins: [HUB_PIN] }, { clientKey: CLIENT_KEY });
  assert.equal(linesWith(clientLines, 'lookedUp')[0], { lookedUp: 'pin', found: true, key: hex(HUB_KEY) });
});

test('records that neither was found', () => {
  const recorded = record({ psks: [] });
  connect(recorded);
  assert.is(recorded.client.state, 'awaiting-psk');
  assert.equal(linesWith(recorded.clientLines, 'lookedUp'), [
    { lookedUp: 'pin', found: false },
    { lookedUp: 'psk', found: false },
  ]);
});

test('looks the pin up under the node id of the HELLO, whatever the HANDSHAKE says', () => {
  const { client, hub, clientLines } = record({ pins: [HUB_PIN] }, { clientKey: CLIENT_KEY });
  const [hello, offer] = hub.start().map(textOf);
  const { msg_type, payload } = JSON.parse(offer!);
  client.receive(hello!);
  client.receive(JSON.stringify({ msg_type, payload: { ...payload, node_id: 'hub-2' } }));
  assert.equal(linesWith(clientLines, 'lookedUp')[0], { lookedUp: 'pin', found: true, key: hex(HUB_KEY) });
});

test('records no look-up if the connection ends before the offer', () => {
  const { client, hub, clientLines } = record({ pins: [] });
  client.receive(textOf(hub.start()[0]!));
  client.closed(1006);
  assert.equal(linesWith(clientLines, 'lookedUp'), []);
  assert.is(parse(clientLines)[0]!.hasPins, false);
});

test('records no look-up before the offer has arrived', () => {
  const { client, hub, clientLines } = record();
  const [hello] = hub.start().map(textOf);
  client.receive(hello!);
  client.receive(hello!);
  assert.equal(linesWith(clientLines, 'lookedUp'), []);
});

test('records events with their public keys, but without sealed content', () => {
  const { clientLines, hubLines } = ready();
  const events = (lines: string[]): Line[] =>
    linesWith(lines, 'event').filter(({ event }) => event !== 'transmit');
  const common = { pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256' };
  assert.equal(events(clientLines), [
    { event: 'pin', nodeId: NODE_ID, key: hex(HUB_KEY) },
    { event: 'ready', nodeId: NODE_ID, ...common, hubKey: hex(HUB_KEY) },
  ]);
  assert.equal(events(hubLines), [
    { event: 'pin', key: hex(CLIENT_KEY) },
    { event: 'ready', ...common, clientKey: hex(CLIENT_KEY) },
    { event: 'hello' },
  ]);
});

test('records lengths once the session is encrypted', () => {
  const { client, hub, clientLines, hubLines } = ready();
  clientLines.length = 0;
  hubLines.length = 0;
  for (const message of client.sendJson({ say: 'plaintext' })) hub.receive(message);
  hub.receive(client.sendBinary(new Uint8Array(10))[0]!);
  assert.equal(parse(clientLines), [
    { call: 'sendJson', state: 'ready' },
    { lengths: [36] },
    { call: 'sendBinary', state: 'ready' },
    { lengths: [27] },
  ]);
  assert.equal(parse(hubLines), [
    { call: 'receive', state: 'ready', isText: false, length: 36 },
    { event: 'message', kind: 'json', length: 19 },
    { call: 'receive', state: 'ready', isText: false, length: 27 },
    { event: 'message', kind: 'binary', length: 10 },
  ]);
});

test('records the length of a dropped message', () => {
  const { client, hub, hubLines } = ready({}, { maxMessage: 100 });
  for (const message of client.sendBinary(new Uint8Array(101))) hub.receive(message);
  assert.equal(parse(hubLines).at(-1), {
    event: 'dropped',
    reason: 'too-large',
    kind: 'binary',
    length: 101,
  });
});

for (const [what, data] of [
  ['an empty text', ''],
  ['a text as long as an envelope may be', ' '.repeat(MAX_ENVELOPE)],
] as const) {
  test(`records ${what} in full`, () => {
    const { client, clientLines } = record();
    client.receive(data);
    assert.equal(parse(clientLines)[1], { call: 'receive', state: 'awaiting-hello', text: data });
  });
}

for (const [what, data, line] of [
  ['bytes that are not UTF-8', Uint8Array.of(0xff), { isText: false, length: 1 }],
  ['a lone surrogate', '\ud800', { isText: true, length: 1 }],
  ['more than an envelope may be', ' '.repeat(MAX_ENVELOPE + 1), { isText: true, length: MAX_ENVELOPE + 1 }],
] as const) {
  test(`records ${what} by its length`, () => {
    const { client, clientLines } = record();
    client.receive(data);
    assert.equal(parse(clientLines)[1], { call: 'receive', state: 'awaiting-hello', ...line });
    assert.is(parse(clientLines)[2]!.event, 'close');
  });
}

test('records the error that a method throws, and rethrows it', () => {
  const { client, clientLines } = record();
  raisesLocal(() => client.providePsk(PSK), 'wrong-state');
  raisesLocal(() => client.receive(1 as never), 'bad-argument');
  assert.equal(parse(clientLines).slice(1), [
    { call: 'providePsk', state: 'awaiting-hello' },
    { threw: 'wrong-state' },
    { call: 'receive', state: 'awaiting-hello', isText: false },
    { threw: 'bad-argument' },
  ]);
});

test('records a call of each method by its name', () => {
  const { client, hub, clientLines, hubLines } = record();
  client.start();
  raisesLocal(() => client.providePsk(PSK), 'wrong-state');
  client.resume();
  hub.start();
  const callsIn = (lines: string[]) => linesWith(lines, 'call').map(({ call }) => call);
  assert.equal(callsIn(clientLines), ['start', 'providePsk', 'resume']);
  assert.equal(callsIn(hubLines), ['start']);
});

test('records whether an error is local', () => {
  const { hub, hubLines } = record({}, { randomBytes: () => new Uint8Array(31) });
  connect({ ...record(), hub });
  const line = parse(hubLines).at(-1)!;
  assert.equal([line.error, line.isLocal], ['bad-random', true]);
});

test('contains no secret', () => {
  const later = { staticKey: { publicKey: CLIENT_KEY } };
  const { client, hub, clientLines, hubLines } = record(
    { ...later, psks: [] },
    {},
    { ephemeralKey: true }, // which a session that works does not record
  );
  const toHub = (events: ReturnType<ClientSession['receive']>): void => {
    for (const event of events) {
      if (event.type === 'transmit') for (const event_ of hub.receive(event.data)) toClient([event_]);
      if (event.type === 'waiting') toHub(client.resume(sharedSecretOf(event.publicKey!)));
      if (event.type === 'psk-needed') toHub(client.providePsk(PSK));
    }
  };
  const toClient = (events: ReturnType<HubSession['receive']>): void => {
    for (const event of events) if (event.type === 'transmit') toHub(client.receive(event.data));
  };
  toClient(hub.start());
  for (const message of client.sendJson({ say: 'plaintext' })) hub.receive(message);
  for (const message of hub.sendJson({ say: 'plaintext' })) client.receive(message);
  client.closed(1000);
  hub.closed(1000);
  const all = clientLines.concat(hubLines).join('\n');
  const secrets = [PSK, CLIENT_STATIC, HUB_STATIC, EPHEMERAL, sharedSecretOf(HUB_KEY)];
  for (const secret of secrets) {
    assert.not.ok(all.includes(hex(secret)));
    assert.not.ok(all.includes(Buffer.from(secret).toString('base64')));
  }
  assert.not.ok(/plaintext|lobby|session_id/.test(all));
});

test('wipes its copy of the static key', () => {
  const given: Uint8Array[] = [];
  const { sharedSecret, publicKey: compute } = nodeCrypto.x25519;
  const publicKey = (key: Uint8Array) => {
    given.push(key);
    return compute(key);
  };
  const { client } = record({
    crypto: { ...nodeCrypto, x25519: { sharedSecret, publicKey } },
  });
  client.closed();
  assert.is(given.length, 3); // the static and the ephemeral key of the session, and the static key of the recording
  assert.ok(given.every(isZero));
});

test('the session goes on without a recording if write() throws', () => {
  let calls = 0;
  const write = (): never => {
    calls++;
    throw new Error('disk full');
  };
  ready({}, {}, { write });
  assert.is(calls, 2); // once a session
});

test('refuses options that the constructors refuse, and invalid recording options', () => {
  raisesLocal(() => record({ siteId: 1 as never }), 'bad-argument');
  raisesLocal(() => record({ pins: 1 as never }), 'bad-argument');
  raisesLocal(() => record({ keyring: 1 } as never), 'bad-argument');
  raisesLocal(() => record({ randomBytes: 1 as never }, {}, { ephemeralKey: true }), 'bad-argument');
  raisesLocal(() => record({ nonsense: 1 } as never), 'bad-argument');
  raisesLocal(() => record({}, { nonsense: 1 } as never), 'bad-argument');
  raisesLocal(() => record({}, {}, { write: 1 as never }), 'bad-argument');
  raisesLocal(() => record({}, {}, { ephemeralKey: 1 as never }), 'bad-argument');
  raisesLocal(() => record({}, {}, { nonsense: 1 } as never), 'bad-argument');
});

test('makes no client, and ends a hub, if randomBytes() returns something else', () => {
  const randomBytes = () => new Uint8Array(31);
  raisesLocal(() => record({ randomBytes }, {}, { ephemeralKey: true }), 'bad-random');
  const recorded = record({}, { randomBytes }, { ephemeralKey: true });
  connect(recorded);
  assert.is(parse(recorded.hubLines).at(-1)!.error, 'bad-random');
});

test('shows nothing of the session', () => {
  const { client } = record();
  assert.equal(Object.keys(client), []);
  assert.is(JSON.stringify(client), '"[RecordedSession]"');
});

test.run();
