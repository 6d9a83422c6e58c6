import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalCode } from '../../src/errors.ts';
import { type Identity, type Mqtt, parseIdentity } from '../../src/identity/identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
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
    dataPlaneEndpoints: {},
    protocols: { wss: true, https: false, mqtt: false },
  });
  assert.equal(mqttOf({}), { ...BROKER, tls: false, qos: 1, hashTopics: false });
});

test('reads an identity with every field', () => {
  const identity = identityOf({
    crypto_key: 'ck',
    site_id: 'kitchen',
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
    dataPlaneEndpoints: { wss: 'wss://h', https: 'https://h', mqtt: 'mqtts://h' },
    protocols: { wss: false, https: true, mqtt: true },
    mqtt: { ...BROKER, qos: 2, tls: true, topicPrefix: 'a/b', hubId: 'hub', hashTopics: true },
    aiDisclosure: 'It is a machine.',
  });
});

test('reads what it has read again', () => {
  const identity = identityOf({
    site: 's',
    mqtt: { ...BROKER, c2s_topic: 'c' },
    endpoints: { ws: 'ws://h' },
  });
  assert.equal(parseIdentity(identity), identity);
});

const TEXTS: [keyof Identity, string][] = [
  ['siteId', 'site_id|siteId|site'],
  ['cryptoKey', 'crypto_key|cryptoKey'],
  ['aiDisclosure', 'ai_disclosure|aiDisclosure'],
];
test('reads the top-level texts under every name', () => {
  for (const [field, names] of TEXTS) assertAliases(names, (name) => identityOf({ [name]: 'x' })[field], 'x');
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
  for (const endpoint of ['mqtts://b', 'MQTTS://b']) assert.is(mqttOf({ endpoint }).tls, true);
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
  for (const qos of [0, 1, 2]) assert.is(mqttOf({ qos }).qos, qos);
  for (const qos of [3, -1, 1.5, '1', true, {}]) raisesLocal(() => mqttOf({ qos }), 'identity-field');
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
  for (const input of ['null', '[]', '"ak"', '1', null, [], 1, undefined, true]) {
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
    for (const name of ['site_id', 'crypto_key']) refuses({ [name]: value });
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

/** Every secret has SECRET in it, and nothing else has. */
const SECRETS = identityOf({
  access_key: `${SECRET}-access-key`,
  password: `${SECRET}-password`,
  crypto_key: `${SECRET}-crypto-key`,
  site_id: 'kitchen',
  data_plane_endpoints: {
    wss: `wss://${SECRET}-user:${SECRET}-pass@hub.example/p?authorization=${SECRET}%3D==&x=${SECRET}#y=${SECRET}`,
    https: `https://${SECRET}-user@hub.example:5679/?key=${SECRET}`,
    mqtt: `mqtts://${SECRET}:${SECRET}@${SECRET}@broker.example`,
  },
  mqtt: {
    endpoint: `mqtts://user:${SECRET}-pass@broker.example:8883`,
    username: `${SECRET}-username`,
    password: `${SECRET}-broker-password`,
    topic_prefix: `hivemind/hub/${SECRET}`,
    c2s_topic: `${SECRET}/c2s`,
    s2c_topic: `${SECRET}/s2c`,
    status_topic: `${SECRET}/status`,
    hub_id: 'hub-1',
  },
  ai_disclosure: { en: 'A machine.' },
});

test('shows no secret of an identity, nor of its parts alone, nor inside something else', () => {
  const { dataPlaneEndpoints, mqtt } = SECRETS;
  for (const value of [SECRETS, dataPlaneEndpoints, mqtt, [{ identity: SECRETS }]]) {
    assert.is(JSON.stringify(value).includes(SECRET), false);
    assert.is(inspect(value, { depth: 9 }).includes(SECRET), false);
    assert.is(inspect(value, { depth: 9, showHidden: true }).includes(SECRET), false);
  }
});

test('shows of an identity what is no secret', () => {
  const shown = {
    accessKey: '[redacted]',
    password: '[redacted]',
    siteId: 'kitchen',
    cryptoKey: '[redacted]',
    dataPlaneEndpoints: {
      wss: 'wss://[redacted]@hub.example/p?[redacted]',
      https: 'https://[redacted]@hub.example:5679/?[redacted]',
      mqtt: 'mqtts://[redacted]@broker.example',
    },
    protocols: { wss: true, https: false, mqtt: false },
    mqtt: {
      endpoint: 'mqtts://[redacted]@broker.example:8883',
      username: '[redacted]',
      password: '[redacted]',
      tls: true,
      qos: 1,
      topicPrefix: '[redacted]',
      hubId: 'hub-1',
      c2sTopic: '[redacted]',
      s2cTopic: '[redacted]',
      statusTopic: '[redacted]',
      hashTopics: false,
    },
    aiDisclosure: { en: 'A machine.' },
  };
  assert.equal(redactIdentity(SECRETS), shown);
  assert.equal(JSON.parse(JSON.stringify(SECRETS)), shown);
});

test('shows no secret of a URL, however it is written', () => {
  const urls = [
    'mqtt://user:pa/S3cr3t@host',
    'mqtt://user:pa#S3cr3t@host',
    'mqtt://S3cr3t:p@ss@host?x',
    'S3cr3t:pass@host:1883',
    'mqtt:user:S3cr3t@host',
    'wss:\\\\user:S3cr3t@host',
    'wss://host/?S3cr3t',
    'wss://host/p?a=1&authorization=S3cr3t%3D',
    'https://host/#S3cr3t',
    'https://host/?a\nS3cr3t',
  ];
  for (const url of urls) {
    const identity = identityOf({ endpoints: { wss: url }, mqtt: { ...BROKER, endpoint: url } });
    assert.not.match(JSON.stringify(identity), 'S3cr3t', url);
  }
});

test('shows nothing where nothing was issued, and a URL without secrets as it is', () => {
  const identity = identityOf({ endpoints: { wss: 'wss://hub.example:5679/path' } });
  assert.equal(JSON.parse(JSON.stringify(identity)), {
    accessKey: '[redacted]',
    password: '[redacted]',
    siteId: '',
    dataPlaneEndpoints: { wss: 'wss://hub.example:5679/path' },
    protocols: { wss: true, https: false, mqtt: false },
  });
});

test.run();
