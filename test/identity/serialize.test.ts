import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Identity, parseIdentity } from '../../src/identity/identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import { serializeIdentity } from '../../src/identity/serialize.ts';
import { raisesLocal } from '../raises.ts';

const KEYS = { access_key: 'ak', password: 'pw' };
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };

const write = (identity: Identity): string => serializeIdentity(identity, { secrets: true });
/** What becomes of an identity's text. */
const writeText = (text: string): string => write(parseIdentity(text));
/** What becomes of an identity's fields. */
const writeFields = (fields: object): object => JSON.parse(writeText(JSON.stringify({ ...KEYS, ...fields })));

/** An identity under today's names, with fields that nobody knows wherever there are fields. */
const FULL = {
  ...KEYS,
  region: 'eu',
  site_id: 'kitchen',
  crypto_key: 'ck',
  public_key: 'pk',
  default_master: 'hub.example',
  default_port: 5680,
  default_path: '/hub',
  data_plane_endpoints: { wss: 'wss://h', https: 'https://h', mqtt: 'mqtts://h', coap: 'coap://h' },
  protocols: { wss: false, https: { enabled: 'yes', port: 1 }, mqtt: 1, quic: true },
  mqtt: {
    ...BROKER,
    tls: 'on',
    qos: '2',
    access_key: 'ak',
    topic_prefix: 'a/b',
    hub_id: 'hub',
    c2s_topic: 'a/c',
    s2c_topic: 'a/s',
    status_topic: 'a/t',
    hash_topics: 0,
    keepalive: 60,
  },
  ai_disclosure: { en: 'A machine.', fr: 'Une machine.', de: null },
  vendor: { token: 'vt', list: [1, null, { deep: true }] },
  nothing: null,
};

test('writes back what was read, under the same names and with the same values', () => {
  assert.is(writeText(JSON.stringify(FULL)), JSON.stringify(FULL));
  assert.is(writeText(JSON.stringify(KEYS)), JSON.stringify(KEYS));
});

test('writes what can be read to the same identity, and the same text again', () => {
  for (const fields of [FULL, KEYS, { ...KEYS, host: 'h', mqtt: { broker_url: 'mqtt://b' } }]) {
    const identity = parseIdentity(JSON.stringify(fields));
    const text = write(identity);
    assert.equal(parseIdentity(text), identity);
    assert.is(writeText(text), text);
  }
});

test('writes numbers as the token that they came as', () => {
  const numbers =
    '"n":[1.0,-0,1e400,12345678901234567890.5000],"default_port":5.68e3,"mqtt":{"qos":2.0,"x":1.50}';
  const text = `{"access_key":"ak","password":"pw",${numbers}}`;
  assert.is(writeText(text), text);
  assert.is(parseIdentity(text).defaultPort, 5680);
});

const ALIASES: [string | undefined, string, unknown][] = [
  [undefined, 'access_key|accessKey|api_key|key', 'x'],
  [undefined, 'password', 'x'],
  [undefined, 'site_id|siteId|site', 'x'],
  [undefined, 'crypto_key|cryptoKey', 'x'],
  [undefined, 'public_key|publicKey', 'x'],
  [undefined, 'default_master|defaultMaster|hub_http_host|host|master', 'x'],
  [undefined, 'default_port|defaultPort|hub_http_port|port', '5680'],
  [undefined, 'default_path|defaultPath|hub_http_path|path|uri_path', 'x'],
  [undefined, 'data_plane_endpoints|dataPlaneEndpoints|endpoints', {}],
  [undefined, 'ai_disclosure|aiDisclosure', 'x'],
  ['data_plane_endpoints', 'wss|ws', 'x'],
  ['data_plane_endpoints', 'https|http', 'x'],
  ['data_plane_endpoints', 'mqtt|mqtts', 'x'],
  ['protocols', 'wss|websocket', true],
  ['protocols', 'https|http', { enabled: true }],
  ['mqtt', 'access_key|accessKey|api_key|key', 'x'],
  ['mqtt', 'endpoint|broker_url|brokerUrl', 'x'],
  ['mqtt', 'username|broker_username|brokerUsername', 'x'],
  ['mqtt', 'password|broker_password|brokerPassword', 'x'],
  ['mqtt', 'topic_prefix|topicPrefix', 'x'],
  ['mqtt', 'hub_id|hubId', 'x'],
  ['mqtt', 'c2s_topic|c2sTopic', 'x'],
  ['mqtt', 's2c_topic|s2cTopic', 'x'],
  ['mqtt', 'status_topic|statusTopic', 'x'],
  ['mqtt', 'hash_topics|hashTopics', true],
];

test('writes each field under its first name, whichever it came under', () => {
  for (const [group, names, value] of ALIASES) {
    const [canonical, ...others] = names.split('|');
    for (const name of [canonical!, ...others]) {
      const inGroup = (name: string) => (group ? { [group]: { [name]: value } } : { [name]: value });
      const keys: Record<string, string> = { ...KEYS };
      if (group === undefined) delete keys[canonical!];
      const written = JSON.parse(writeText(JSON.stringify({ ...keys, ...inGroup(name) })));
      assert.equal(written, { ...keys, ...inGroup(canonical!) }, `${group} ${name}`);
    }
  }
});

test('writes of several names the one that counted, and nothing for null', () => {
  assert.equal(writeFields({ site: 'second', site_id: 'first' }), { ...KEYS, site_id: 'first' });
  assert.equal(writeFields({ site_id: null, siteId: null, site: 'third' }), { ...KEYS, site_id: 'third' });
  assert.equal(writeFields({ crypto_key: null, mqtt: null, protocols: { wss: null } }), {
    ...KEYS,
    protocols: {},
  });
});

test('keeps the credentials of a broker that count as absent', () => {
  const fields = { mqtt: { username: 'user', topic_prefix: 'a/b', keepalive: 60 } };
  assert.equal(writeFields(fields), { ...KEYS, ...fields });
});

test('keeps unknown fields whatever they are called', () => {
  const text =
    '{"access_key":"ak","password":"pw","__proto__":{"a":1},"issued":"2026-01-01","toJSON":1,"":0}';
  assert.is(writeText(text), text);
});

test('keeps what was read through another reading', () => {
  const identity = parseIdentity(JSON.stringify(FULL));
  assert.is(write(parseIdentity(identity)), JSON.stringify(FULL));
});

test('writes of a copy the fields of the copy', () => {
  const identity = parseIdentity(JSON.stringify(FULL));
  const copy = { ...identity, siteId: 'cellar' };
  const written = parseIdentity(write(copy));
  assert.equal(written, copy);
  assert.not.match(write(copy), 'keepalive');
});

test('writes an object as it was when it was read', () => {
  const vendor = { list: [1] };
  const fields = { ...KEYS, vendor, absent: undefined, mqtt: { ...BROKER } };
  const identity = parseIdentity(fields);
  vendor.list.push(2);
  fields.mqtt.password = 'changed';
  assert.equal(JSON.parse(write(identity)), { ...KEYS, vendor: { list: [1] }, mqtt: BROKER });
});

test('reads what JSON has no form for, and does not write it', () => {
  for (const unknown of [() => 1, { a: undefined }, [new Date()]]) {
    raisesLocal(() => write(parseIdentity({ ...KEYS, unknown })), 'not-json');
  }
  raisesLocal(() => write(parseIdentity({ ...KEYS, unknown: Number.NaN })), 'unsafe-number');
  raisesLocal(() => write(parseIdentity({ ...KEYS, site_id: '\ud800' })), 'lone-surrogate');
});

test('writes without secrets unless it is asked for them', () => {
  const identity = parseIdentity(JSON.stringify(FULL));
  for (const options of [undefined, {}, { secrets: false }, { secrets: 'yes' as never }]) {
    const text = serializeIdentity(identity, options);
    assert.is(text, JSON.stringify(redactIdentity(identity)));
    assert.is(JSON.parse(text).password, '[redacted]');
  }
});

test('refuses JSON that two readers could read differently', () => {
  const depth = (levels: number) =>
    `{"access_key":"ak","password":"pw","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  parseIdentity(depth(63));
  const texts = [
    '{"access_key":"ak","access_key":"ak2","password":"pw"}',
    '{"access_key":"ak","password":"pw","x":{"a":1,"a":1}}',
    '{"access_key":"ak","password":"pw","x":"\\ud800"}',
    depth(64),
  ];
  for (const text of texts) {
    const error = raisesLocal(() => parseIdentity(text), 'identity-not-json');
    assert.is(error.cause, undefined);
  }
});

test.run();
