import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ReadyEvent, SessionEvent } from '../../src/index.ts';
import {
  createKeyring,
  dropPin,
  forgetPsks,
  type Keyring,
  keyringOptions,
  parseKeyring,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../src/index.ts';
import { raisesLocal } from '../raises.ts';
import { CLIENT_STATIC, HUB_KEY, KK, NODE_ID, Pair, PSK, types } from './pair.ts';

const ACCESS_KEY = 'kiosk-7';
const OTHER = new Uint8Array(32).fill(0xee);
const READY = { type: 'ready' } as ReadyEvent;

const fresh = (): Keyring => createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC });
const pinned = (nodeId: string = NODE_ID, device: Keyring = fresh()): Keyring =>
  updateKeyring(device, { type: 'pin', nodeId, key: new Uint8Array(HUB_KEY) });
const pinOf = (device: Keyring, nodeId: string = NODE_ID) => keyringOptions(device).pin(nodeId);
const pskOf = (device: Keyring, nodeId: string = NODE_ID) => keyringOptions(device).psk(nodeId);

/** A record with everything in it. */
const FULL = updateKeyring(storePsk(pinned(), NODE_ID, PSK), READY);
const STORED = JSON.parse(serializeKeyring(FULL));
const parse = (fields: object): Keyring => parseKeyring(JSON.stringify({ ...STORED, ...fields }), ACCESS_KEY);

test('is created with a static key that is fresh, and knows no hub', () => {
  const { staticKey, staticKeyIsFresh, pin, psk } = keyringOptions(fresh());
  assert.equal(staticKey, CLIENT_STATIC);
  assert.is(staticKeyIsFresh, true);
  assert.is(pin(NODE_ID), undefined);
  assert.is(psk(NODE_ID), undefined);
});

test('keeps copies of the keys that it is given', () => {
  const [staticKey, key, psk] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2), new Uint8Array(32)];
  const created = createKeyring({ accessKey: ACCESS_KEY, staticKey });
  const device = storePsk(updateKeyring(created, { type: 'pin', nodeId: NODE_ID, key }), NODE_ID, psk);
  for (const bytes of [staticKey, key, psk]) bytes.fill(9);
  assert.equal(device.staticKey, CLIENT_STATIC);
  assert.equal(pinOf(device), new Uint8Array(32).fill(2));
  assert.equal(pskOf(device), new Uint8Array(32));
});

test('each change answers a new record, and the old one stays as it was', () => {
  const before = serializeKeyring(FULL);
  const changes = [
    updateKeyring(FULL, { type: 'pin', nodeId: 'hub-2', key: OTHER }),
    updateKeyring(FULL, { type: 'unpin', nodeId: NODE_ID }),
    updateKeyring(FULL, { type: 'psk-suspect', nodeId: NODE_ID }),
    storePsk(FULL, NODE_ID, OTHER),
    storePsk(FULL, 'hub-2', PSK),
    forgetPsks(FULL),
    dropPin(FULL, NODE_ID),
  ];
  for (const changed of changes) assert.is.not(serializeKeyring(changed), before);
  assert.is(serializeKeyring(FULL), before);
});

test('answers the same record where nothing changes, so that it need not be stored', () => {
  const events: SessionEvent[] = [
    { type: 'pin', nodeId: NODE_ID, key: new Uint8Array(HUB_KEY) },
    { type: 'unpin', nodeId: 'hub-2' },
    { type: 'psk-suspect', nodeId: 'hub-2' },
    READY,
    { type: 'transmit', data: '' },
  ];
  for (const event of events) assert.is(updateKeyring(FULL, event), FULL, event.type);
  assert.is(storePsk(FULL, NODE_ID, new Uint8Array(PSK)), FULL);
  assert.is(dropPin(FULL, 'hub-2'), FULL);
  const empty = fresh();
  assert.is(forgetPsks(empty), empty);
});

test('stores a pin, and lets it go at unpin', () => {
  assert.equal(pinOf(pinned()), HUB_KEY);
  assert.is(pinOf(updateKeyring(pinned(), { type: 'unpin', nodeId: NODE_ID })), undefined);
  assert.is(pinOf(dropPin(pinned(), NODE_ID)), undefined);
});

test('refuses to put another key in the place of a pin', () => {
  const device = pinned();
  const event = { type: 'pin', nodeId: NODE_ID, key: OTHER } as const;
  raisesLocal(() => updateKeyring(device, event), 'pin-differs');
  assert.equal(pinOf(device), HUB_KEY);
  assert.equal(pinOf(updateKeyring(dropPin(device, NODE_ID), event)), OTHER);
});

test('stores a PSK in the place of another, and forgets it where it is suspect', () => {
  const device = storePsk(storePsk(storePsk(fresh(), NODE_ID, PSK), 'hub-2', PSK), NODE_ID, OTHER);
  assert.equal(pskOf(device), OTHER);
  const suspect = updateKeyring(device, { type: 'psk-suspect', nodeId: NODE_ID });
  assert.is(pskOf(suspect), undefined);
  assert.equal(pskOf(suspect, 'hub-2'), PSK);
});

test('forgets all PSKs after a change of the password, and keeps the rest', () => {
  const device = forgetPsks(storePsk(FULL, 'hub-2', PSK));
  assert.equal(device.psks, []);
  assert.equal(pinOf(device), HUB_KEY);
  assert.is(device.staticKeyIsFresh, false);
});

test('a static key is fresh until a session is ready, whatever else happens', () => {
  const device = storePsk(pinned(), NODE_ID, PSK);
  assert.is(keyringOptions(device).staticKeyIsFresh, true);
  assert.is(keyringOptions(updateKeyring(device, READY)).staticKeyIsFresh, false);
});

test('keeps hubs apart, whatever they are called', () => {
  let device = fresh();
  const nodeIds = ['__proto__', 'constructor', 'toString', '-----BEGIN\nKEY-----\n', '\u{1f600}', 'a', 'A'];
  nodeIds.forEach((nodeId, i) => {
    const key = new Uint8Array(32).fill(i);
    for (const look of [pinOf, pskOf]) assert.is(look(device, nodeId), undefined);
    device = storePsk(updateKeyring(device, { type: 'pin', nodeId, key }), nodeId, key);
  });
  device = parseKeyring(serializeKeyring(device), ACCESS_KEY);
  nodeIds.forEach((nodeId, i) => {
    for (const look of [pinOf, pskOf]) assert.equal(look(device, nodeId), new Uint8Array(32).fill(i));
  });
});

test('refuses arguments that could not be stored', () => {
  const staticKey = CLIENT_STATIC;
  for (const accessKey of ['', undefined, 7]) {
    raisesLocal(() => createKeyring({ accessKey: accessKey as string, staticKey }), 'bad-argument');
    raisesLocal(() => storePsk(FULL, accessKey as string, PSK), 'bad-argument');
    raisesLocal(() => parseKeyring(serializeKeyring(FULL), accessKey as string), 'bad-argument');
  }
  raisesLocal(() => createKeyring({ accessKey: '\ud800', staticKey }), 'lone-surrogate');
  raisesLocal(() => storePsk(FULL, '\ud800', PSK), 'lone-surrogate');
  for (const key of ['secret', undefined, []]) {
    raisesLocal(() => createKeyring({ accessKey: ACCESS_KEY, staticKey: key as never }), 'bad-argument');
    raisesLocal(() => storePsk(FULL, NODE_ID, key as never), 'bad-argument');
  }
  for (const length of [0, 31, 33]) {
    const key = new Uint8Array(length);
    raisesLocal(() => createKeyring({ accessKey: ACCESS_KEY, staticKey: key }), 'bad-length');
    raisesLocal(() => storePsk(FULL, NODE_ID, key), 'bad-length');
    raisesLocal(() => updateKeyring(FULL, { type: 'pin', nodeId: 'hub-2', key }), 'bad-length');
  }
  for (const input of [undefined, {}, null]) {
    raisesLocal(() => parseKeyring(input as never, ACCESS_KEY), 'bad-argument');
  }
});

test('is written as versioned JSON, and read from text and bytes alike', () => {
  const text = serializeKeyring(FULL);
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  assert.equal(JSON.parse(text), {
    version: 1,
    access_key: ACCESS_KEY,
    static_key: hex(CLIENT_STATIC),
    static_key_is_fresh: false,
    pins: [{ node_id: NODE_ID, key: hex(HUB_KEY) }],
    psks: [{ node_id: NODE_ID, key: hex(PSK) }],
  });
  const upperCase = ` ${text.replace(hex(HUB_KEY), hex(HUB_KEY).toUpperCase())}\n`;
  for (const input of [text, new Uint8Array(Buffer.from(text)), upperCase]) {
    const device = parseKeyring(input, ACCESS_KEY);
    assert.equal(device, FULL);
    assert.is(serializeKeyring(device), text);
  }
  assert.is(parseKeyring(serializeKeyring(fresh()), ACCESS_KEY).staticKeyIsFresh, true);
});

test('refuses what is no JSON object: a record that was cut short is none', () => {
  const text = serializeKeyring(FULL);
  for (let end = 0; end < text.length; end++) {
    raisesLocal(() => parseKeyring(text.slice(0, end), ACCESS_KEY), 'keyring-not-json');
  }
  const latin1 = new Uint8Array([0x7b, 0xff]);
  for (const input of ['null', '[]', '1', '"x"', `${text}x`, text.replace('{', '{"version":1,'), latin1]) {
    raisesLocal(() => parseKeyring(input, ACCESS_KEY), 'keyring-not-json');
  }
});

test('refuses a record of another version, whatever else is in it', () => {
  for (const version of [2, 0, '1', null, undefined, 1.5]) {
    raisesLocal(() => parse({ version, access_key: 'another', pins: 7 }), 'keyring-version');
  }
});

test('refuses the record of another access key', () => {
  raisesLocal(() => parseKeyring(serializeKeyring(FULL), 'kiosk-8'), 'keyring-other-identity');
});

test('never takes a static key that cannot be read for one that is absent', () => {
  const bad = [undefined, null, '', 7, [], 'zz'.repeat(32), '00'.repeat(31), '00'.repeat(33), '0'.repeat(63)];
  for (const static_key of bad) raisesLocal(() => parse({ static_key }), 'keyring-field');
});

test('never takes a pin that cannot be read for one that is absent', () => {
  const [pin] = STORED.pins;
  const entries = [
    null,
    'x',
    [],
    {},
    { ...pin, key: '' },
    { ...pin, key: '00'.repeat(31) },
    { ...pin, key: null },
    { ...pin, node_id: '' },
    { ...pin, node_id: 7 },
    { ...pin, nodeId: 'x' },
    { key: pin.key },
    { node_id: NODE_ID },
  ];
  for (const entry of entries) raisesLocal(() => parse({ pins: [entry] }), 'keyring-field');
  for (const pins of [undefined, null, '', {}, [pin, pin], [pin, null]]) {
    raisesLocal(() => parse({ pins }), 'keyring-field');
  }
});

test('refuses a record with another field missing, unknown or of another type', () => {
  const bad: object[] = [
    { access_key: undefined },
    { access_key: 7 },
    { access_key: '' },
    { static_key_is_fresh: undefined },
    { static_key_is_fresh: 0 },
    { pin: [] },
    { constructor: 1 },
  ];
  for (const fields of bad) raisesLocal(() => parse(fields), 'keyring-field');
});

test('takes a PSK that cannot be read for one that is absent, and keeps the others', () => {
  const [psk] = STORED.psks;
  for (const entry of [null, 'x', {}, { ...psk, key: '' }, { ...psk, key: 7 }, { key: psk.key }]) {
    const device = parse({ psks: [entry, { ...psk, node_id: 'hub-2' }] });
    assert.is(pskOf(device), undefined);
    assert.equal(pskOf(device, 'hub-2'), PSK);
    assert.equal(pinOf(device), HUB_KEY);
  }
  for (const psks of [undefined, null, 'x', {}]) assert.is(pskOf(parse({ psks })), undefined);
  const device = parse({ psks: [psk, { ...psk, key: '00'.repeat(32) }] });
  assert.equal(device.psks.length, 1);
  assert.equal(pskOf(device), PSK);
});

test('shows nothing of itself, nor do its parts show a key', () => {
  const secrets = [CLIENT_STATIC, PSK].flatMap((key) => [
    Buffer.from(key).toString('hex'),
    Buffer.from(key).toString('base64'),
    String(key),
    inspect(key).slice(16, 60),
  ]);
  assert.is(inspect(FULL), '[Keyring]');
  assert.is(JSON.stringify({ device: FULL }), '{"device":"[Keyring]"}');
  assert.is(JSON.stringify(FULL.psks), `[{"nodeId":"${NODE_ID}"}]`);
  for (const shown of [FULL, FULL.pins, FULL.psks, { device: FULL }]) {
    const text = `${shown} ${JSON.stringify(shown)} ${inspect(shown, { depth: Number.POSITIVE_INFINITY })}`;
    for (const secret of secrets) assert.not.ok(text.includes(secret));
  }
});

test('no error shows what is in a record', () => {
  const secret = 'S3cr3t';
  const stored = { ...STORED, access_key: secret };
  const inputs = [
    secret,
    JSON.stringify({ ...stored, version: secret }),
    JSON.stringify(stored),
    JSON.stringify({ ...STORED, [secret]: secret }),
    JSON.stringify({ ...STORED, static_key: secret }),
    JSON.stringify({ ...STORED, pins: [{ node_id: secret, key: secret }] }),
  ];
  for (const input of inputs) {
    let error: unknown;
    try {
      parseKeyring(input, ACCESS_KEY);
    } catch (caught) {
      error = caught;
    }
    assert.not.match(`${error} ${inspect(error, { showHidden: true })}`.replace(/\n {4}at .*/g, ''), secret);
  }
});

test('carries a client from its first contact to its reconnect', () => {
  let device = storePsk(fresh(), NODE_ID, PSK);
  const connect = (): string[] => {
    device = parseKeyring(serializeKeyring(device), ACCESS_KEY);
    const hub = device.pins.length === 0 ? {} : KK.hub;
    const { client, clientEvents } = new Pair({ client: keyringOptions(device), hub }).run();
    assert.is(client.state, 'ready');
    for (const event of clientEvents) device = updateKeyring(device, event);
    return types(clientEvents);
  };
  assert.equal(connect(), ['transmit', 'pin', 'transmit', 'transmit', 'ready']);
  assert.equal(connect(), ['transmit', 'transmit', 'ready']);
  assert.equal(keyringOptions(device).pin(NODE_ID), HUB_KEY);
});

test.run();
