import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalCode } from '../../src/errors.ts';
import { type Identity, parseIdentity } from '../../src/identity/identity.ts';
import type { Mqtt } from '../../src/mqtt-topics/mqtt.ts';
import { raisesLocal } from '../raises.ts';

const KEYS = { access_key: 'ak', password: 'pw' };
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };

const identityOf = (fields: object): Identity => parseIdentity({ ...KEYS, ...fields });
const mqttOf = (fields: object): Mqtt => identityOf({ mqtt: { ...BROKER, ...fields } }).mqtt!;
const refuses = (fields: object): unknown => raisesLocal(() => identityOf(fields), 'identity-field');

/** Asserts that a field is read to this value under each of its names. */
function assertAliases(names: string, read: (name: string) => unknown, value: unknown): void {
  for (const name of names.split('|')) assert.equal(read(name), value, name);
}

test('reads text, bytes, a Buffer and an object alike', () => {
  const json = '{"access_key":"ak","password":"pä🔑"}';
  for (const input of [json, new Uint8Array(Buffer.from(json)), Buffer.from(json), JSON.parse(json)]) {
    const { accessKey, password } = parseIdentity(input);
    assert.equal([accessKey, password], ['ak', 'pä🔑']);
  }
});

test('gives what was not issued its default, or leaves it out', () => {
  assert.equal(parseIdentity(KEYS), {
    accessKey: 'ak',
    password: 'pw',
    siteId: '',
    defaultPort: 5679,
    defaultPath: '',
    dataPlaneEndpoints: {},
    protocols: { wss: true, https: false, mqtt: false },
  });
  assert.equal(mqttOf({}), { ...BROKER, tls: false, qos: 1, accessKey: 'ak', hashTopics: false });
});

test('reads an identity with every field', () => {
  const identity = identityOf({
    crypto_key: 'ck',
    public_key: 'pk',
    site_id: 'kitchen',
    default_master: 'hub.example',
    default_port: 5680,
    default_path: '/hub',
    data_plane_endpoints: { wss: 'wss://h', https: 'https://h', mqtt: 'mqtts://h' },
    protocols: { wss: false, https: true, mqtt: { enabled: true } },
    mqtt: { ...BROKER, qos: 2, tls: true, topic_prefix: 'a/b', hub_id: 'hub', hash_topics: true },
    ai_disclosure: 'It is a machine.',
    unknown: { anything: 1 },
  });
  assert.equal(identity, {
    accessKey: 'ak',
    password: 'pw',
    siteId: 'kitchen',
    cryptoKey: 'ck',
    publicKey: 'pk',
    defaultMaster: 'hub.example',
    defaultPort: 5680,
    defaultPath: '/hub',
    dataPlaneEndpoints: { wss: 'wss://h', https: 'https://h', mqtt: 'mqtts://h' },
    protocols: { wss: false, https: true, mqtt: true },
    mqtt: {
      ...BROKER,
      qos: 2,
      tls: true,
      accessKey: 'ak',
      topicPrefix: 'a/b',
      hubId: 'hub',
      hashTopics: true,
    },
    aiDisclosure: 'It is a machine.',
  });
});

test('reads what it has read again', () => {
  const identity = identityOf({
    site: 's',
    host: 'hub.example',
    port: '5680',
    public_key: 'pk',
    mqtt: { ...BROKER, c2s_topic: 'c', qos: '2' },
    endpoints: { ws: 'ws://h' },
  });
  assert.equal(parseIdentity(identity), identity);
});

const TEXTS: [keyof Identity, string][] = [
  ['siteId', 'site_id|siteId|site'],
  ['cryptoKey', 'crypto_key|cryptoKey'],
  ['publicKey', 'public_key|publicKey'],
  ['defaultMaster', 'default_master|defaultMaster|hub_http_host|host|master'],
  ['defaultPath', 'default_path|defaultPath|hub_http_path|path|uri_path'],
  ['aiDisclosure', 'ai_disclosure|aiDisclosure'],
];
test('reads the top-level texts under every name', () => {
  for (const [field, names] of TEXTS) assertAliases(names, (name) => identityOf({ [name]: 'x' })[field], 'x');
});

test('reads the port under every name, as a number or its digits', () => {
  for (const value of [5680, '5680']) {
    const read = (name: string) => identityOf({ [name]: value }).defaultPort;
    assertAliases('default_port|defaultPort|hub_http_port|port', read, 5680);
  }
});

test('reads a port from 1 to 65535 and refuses any other', () => {
  for (const port of [1, 65535]) assert.is(identityOf({ port: String(port) }).defaultPort, port);
  for (const port of [
    0,
    65536,
    -1,
    1.5,
    NaN,
    '',
    '0',
    '65536',
    ' 80',
    '80 ',
    '080',
    '1e3',
    '0x50',
    true,
    [],
  ]) {
    refuses({ port });
  }
});

test('gives the broker the access key of the identity', () => {
  assert.is(mqttOf({}).accessKey, 'ak');
  assert.is(mqttOf({ access_key: 'another' }).accessKey, 'ak');
});

test('reads the access key under every name', () => {
  const read = (name: string) => parseIdentity({ [name]: 'x', password: 'pw' }).accessKey;
  assertAliases('access_key|accessKey|api_key|key', read, 'x');
});

const ENDPOINTS = { wss: 'wss|ws', https: 'https|http', mqtt: 'mqtt|mqtts' };
test('reads the endpoints under every name, of the group and in it', () => {
  for (const group of ['data_plane_endpoints', 'dataPlaneEndpoints', 'endpoints']) {
    for (const [field, names] of Object.entries(ENDPOINTS)) {
      const read = (name: string) => identityOf({ [group]: { [name]: 'x' } }).dataPlaneEndpoints;
      assertAliases(names, read, { [field]: 'x' });
    }
  }
});

test('reads each protocol under every name, as a flag or as an object with one', () => {
  const none = { wss: false, https: false, mqtt: false };
  for (const [field, names] of Object.entries({ wss: 'wss|websocket', https: 'https|http', mqtt: 'mqtt' })) {
    for (const value of [true, { enabled: true }, { enabled: 'yes', port: 1 }]) {
      const read = (name: string) =>
        identityOf({ protocols: { wss: name === 'websocket' ? null : 0, [name]: value } });
      assertAliases(names, (name) => read(name).protocols, { ...none, [field]: true });
    }
  }
});

test('gives a protocol without an answer its default', () => {
  for (const answer of [null, {}, { enabled: null }]) {
    const { protocols } = identityOf({ protocols: { wss: answer, https: answer, mqtt: answer } });
    assert.equal(protocols, { wss: true, https: false, mqtt: false });
  }
});

const MQTT: [keyof Mqtt, string, unknown][] = [
  ['endpoint', 'endpoint|broker_url|brokerUrl', 'mqtt://x'],
  ['username', 'username|broker_username|brokerUsername', 'x'],
  ['password', 'password|broker_password|brokerPassword', 'x'],
  ['topicPrefix', 'topic_prefix|topicPrefix', 'x'],
  ['hubId', 'hub_id|hubId', 'x'],
  ['c2sTopic', 'c2s_topic|c2sTopic', 'x'],
  ['s2cTopic', 's2c_topic|s2cTopic', 'x'],
  ['statusTopic', 'status_topic|statusTopic', 'x'],
  ['hashTopics', 'hash_topics|hashTopics', true],
  ['tls', 'tls', true],
  ['qos', 'qos', 2],
];
test('reads the fields of the broker under every name', () => {
  for (const [field, names, value] of MQTT) {
    assertAliases(names, (name) => mqttOf({ [names.split('|')[0]!]: null, [name]: value })[field], value);
  }
});

test('takes the first name that is there, and null for absent', () => {
  assert.is(identityOf({ site_id: 'first', site: 'second' }).siteId, 'first');
  assert.is(identityOf({ site_id: null, siteId: undefined, site: 'third' }).siteId, 'third');
  const absent = { crypto_key: null, endpoints: null, protocols: null, mqtt: null, ai_disclosure: null };
  assert.equal(identityOf(absent), parseIdentity(KEYS));
  assert.equal(mqttOf({ tls: null, qos: null, topic_prefix: null }), mqttOf({}));
});

test('takes no field from what objects inherit', () => {
  raisesLocal(() => parseIdentity(Object.create(KEYS)), 'identity-access-key');
  raisesLocal(() => parseIdentity('{"__proto__":{"access_key":"a","password":"p"}}'), 'identity-access-key');
});

test('reads a flag as the words and digits it is issued as', () => {
  for (const value of [true, 1, '1', 'true', 'TRUE', 'yes', 'Yes', 'on']) {
    assert.is(mqttOf({ tls: value }).tls, true, String(value));
    assert.is(identityOf({ protocols: { https: value } }).protocols.https, true, String(value));
  }
  for (const value of [false, 0, '0', 'false', 'False', 'no', 'off', 'OFF']) {
    assert.is(mqttOf({ endpoint: 'mqtts://b', tls: value }).tls, false, String(value));
    assert.is(identityOf({ protocols: { wss: value } }).protocols.wss, false, String(value));
  }
});

test('takes TLS from the scheme where no flag says otherwise', () => {
  for (const endpoint of ['mqtts://b', 'MQTTS://b', ' mqtts://b']) assert.is(mqttOf({ endpoint }).tls, true);
  for (const endpoint of ['mqtt://b', 'mqttsx://b', 'b/mqtts:']) assert.is(mqttOf({ endpoint }).tls, false);
});

test('takes credentials without endpoint, username or password for absent', () => {
  for (const name of ['endpoint', 'username', 'password']) {
    for (const value of ['', null])
      assert.is(identityOf({ mqtt: { ...BROKER, [name]: value } }).mqtt, undefined);
  }
  assert.is('mqtt' in identityOf({ mqtt: {} }), false);
});

test('reads a quality of service of 0, 1 and 2 and refuses any other', () => {
  for (const qos of [0, 1, 2]) {
    assert.is(mqttOf({ qos }).qos, qos);
    assert.is(mqttOf({ qos: String(qos) }).qos, qos);
  }
  for (const qos of [3, -1, 1.5, NaN, '', '3', '-1', '01', '1.0', true, {}])
    raisesLocal(() => mqttOf({ qos }), 'identity-field');
});

test('reads a disclosure in one language or in several', () => {
  assert.is(identityOf({ ai_disclosure: 'A machine.' }).aiDisclosure, 'A machine.');
  const both = { en: 'A machine.', fr: 'Une machine.' };
  assert.equal(identityOf({ ai_disclosure: both }).aiDisclosure, both);
});

test('leaves out a language without a text', () => {
  assert.equal(identityOf({ ai_disclosure: { en: 'A machine.', fr: null } }).aiDisclosure, {
    en: 'A machine.',
  });
});

test('refuses input that is not JSON in UTF-8', () => {
  const latin1 = new Uint8Array([0x22, 0xff, 0x22]);
  for (const input of ['', '{', '{"a":1,}', "{'a':1}", latin1, new Uint8Array(0)])
    raisesLocal(() => parseIdentity(input), 'identity-not-json');
});

test('refuses input that is not an object', () => {
  for (const input of ['null', '[]', '"ak"', '1', '1.0', null, [], 1, undefined, true]) {
    raisesLocal(() => parseIdentity(input as object), 'identity-not-an-object');
  }
});

test('refuses an access key or a password that is missing, empty or not a text', () => {
  for (const value of [undefined, null, '', 1, ['x'], {}]) {
    raisesLocal(() => parseIdentity({ ...KEYS, access_key: value }), 'identity-access-key');
    raisesLocal(() => parseIdentity({ ...KEYS, password: value }), 'identity-password');
  }
});

test('refuses a text that is none, under every group', () => {
  for (const value of [1, true, [], {}]) {
    for (const name of ['site_id', 'crypto_key', 'public_key', 'host', 'path']) refuses({ [name]: value });
    refuses({ endpoints: { wss: value } });
    refuses({ ai_disclosure: { en: value } });
    for (const name of ['endpoint', 'username', 'password', 'topic_prefix', 'hub_id', 'c2s_topic']) {
      refuses({ mqtt: { ...BROKER, [name]: value } });
    }
  }
  for (const value of [1, true]) refuses({ ai_disclosure: value });
});

test('refuses a group that is not an object', () => {
  for (const value of ['x', 1, true, []]) {
    for (const name of ['endpoints', 'protocols', 'mqtt']) refuses({ [name]: value });
  }
});

test('refuses a flag that is neither yes nor no', () => {
  for (const value of ['', 'maybe', 'y', 2, -1, ' true', [], { toString: 1 }, Object.create(null)]) {
    refuses({ mqtt: { ...BROKER, tls: value } });
    refuses({ mqtt: { ...BROKER, hash_topics: value } });
    refuses({ protocols: { wss: { enabled: value } } });
  }
  for (const value of ['', 'maybe', 2, []]) refuses({ protocols: { wss: value } });
});

const SECRET = 'S3cr3t';
const SECRETIVE: [unknown, LocalCode][] = [
  [`{"access_key":"${SECRET}"`, 'identity-not-json'],
  [Buffer.from(`${SECRET}\xff`, 'latin1'), 'identity-not-json'],
  [[SECRET], 'identity-not-an-object'],
  [`"${SECRET}"`, 'identity-not-an-object'],
  [{ access_key: [SECRET], password: SECRET }, 'identity-access-key'],
  [{ access_key: SECRET, password: [SECRET] }, 'identity-password'],
  [{ ...KEYS, crypto_key: [SECRET] }, 'identity-field'],
  [{ ...KEYS, endpoints: SECRET }, 'identity-field'],
  [{ ...KEYS, host: [SECRET] }, 'identity-field'],
  [{ ...KEYS, port: SECRET }, 'identity-field'],
  [{ ...KEYS, mqtt: { ...BROKER, password: [SECRET] } }, 'identity-field'],
  [{ ...KEYS, mqtt: { ...BROKER, qos: SECRET } }, 'identity-field'],
  [{ ...KEYS, mqtt: { ...BROKER, tls: SECRET } }, 'identity-field'],
  [{ ...KEYS, protocols: { wss: { enabled: SECRET } } }, 'identity-field'],
];
test('shows no value in an error', () => {
  for (const [input, code] of SECRETIVE) {
    const error = raisesLocal(() => parseIdentity(input as object), code);
    const inspected = inspect(error, { showHidden: true });
    for (const shown of [String(error), error.stack!, inspected])
      assert.is(shown.includes(SECRET), false, code);
    assert.is(error.cause, undefined);
  }
});

test('reads a disclosure for each language, whatever a language is called', () => {
  const identity = parseIdentity(
    '{"access_key":"a","password":"p","ai_disclosure":{"__proto__":"Hi","en|de":"Ho"}}',
  );
  assert.is(JSON.stringify(identity.aiDisclosure), '{"__proto__":"Hi","en|de":"Ho"}');
});

test.run();
