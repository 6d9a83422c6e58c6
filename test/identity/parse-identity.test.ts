import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalCode } from '../../src/errors.ts';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import type { Mqtt } from '../../src/mqtt-topics/mqtt.ts';
import { raisesLocal } from '../raises.ts';
import { plain } from './plain.ts';

const KEYS = { access_key: 'ak', password: 'pw' };
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };
const DEFAULTS = {
  accessKey: 'ak',
  password: 'pw',
  siteId: '',
  defaultPort: 5679,
  defaultPath: '',
  dataPlaneEndpoints: {},
  protocols: { wss: true, https: false, mqtt: false },
};

const identityOf = (fields: object): Identity => parseIdentity({ ...KEYS, ...fields });
const mqttOf = (fields: object): Mqtt => identityOf({ mqtt: { ...BROKER, ...fields } }).mqtt!;
/** Asserts that fields are ignored, and listed as unreadable. */
function assertIgnored(fields: object, name: string): void {
  const identity = identityOf(fields);
  assert.equal(plain(identity), DEFAULTS, JSON.stringify(fields));
  assert.equal(redactIdentity(identity).unreadableFields, [name], JSON.stringify(fields));
}

test('reads a string, bytes, a Buffer and an object alike', () => {
  const json = '{"access_key":"ak","password":"pä🔑"}';
  for (const input of [json, new Uint8Array(Buffer.from(json)), Buffer.from(json), JSON.parse(json)]) {
    const { accessKey, password } = parseIdentity(input);
    assert.equal([accessKey, password], ['ak', 'pä🔑']);
  }
});

test('gives defaults to fields that were not issued, or leaves them out', () => {
  assert.equal(plain(parseIdentity(KEYS)), DEFAULTS);
  assert.equal(plain(identityOf({ mqtt: BROKER })), {
    ...DEFAULTS,
    protocols: { wss: true, https: false, mqtt: true },
    mqtt: { ...BROKER, tls: false, qos: 1, accessKey: 'ak', hashTopics: false },
  });
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
  assert.equal(plain(identity), {
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

test('reads an identity that it returned', () => {
  const identity = identityOf({
    site: 's',
    host: 'hub.example',
    port: '5680',
    public_key: 'pk',
    mqtt: { ...BROKER, c2s_topic: 'c', qos: '2', topic_prefix: 7 },
    endpoints: { ws: 'ws://h' },
    path: [],
  });
  const again = parseIdentity(identity);
  assert.equal(plain(again), plain(identity));
  assert.equal(redactIdentity(again), redactIdentity(identity));
});

test('reads a port from 1 to 65535, as a number or as its digits', () => {
  for (const port of [1, 443, 65535]) {
    assert.is(identityOf({ port }).defaultPort, port);
    assert.is(identityOf({ port: String(port) }).defaultPort, port);
  }
  const json = '{"access_key":"ak","password":"pw","port":4.43e2}';
  assert.is(parseIdentity(json).defaultPort, 443);
});

test('ignores a port that is anything else', () => {
  const digits = ['', '0', '65536', ' 80', '80 ', '080', '1e3', '0x50', '443.0', '+80', '٤٤٣'];
  for (const port of [0, 65536, -1, 1.5, NaN, true, [], {}, ...digits])
    assertIgnored({ port }, 'default_port');
});

test('gives the broker the access key of the identity', () => {
  assert.is(mqttOf({}).accessKey, 'ak');
  for (const access_key of ['another', 7]) assert.is(mqttOf({ access_key }).accessKey, 'ak');
});

test('reads a protocol as a flag, or as an object with one', () => {
  for (const value of [true, 1, 'yes', { enabled: true }, { enabled: 'yes', port: 1 }]) {
    assert.equal(identityOf({ protocols: { https: value } }).protocols, {
      ...DEFAULTS.protocols,
      https: true,
    });
  }
  for (const value of [false, 0, 'no', { enabled: false }, { enabled: 'off', port: 1 }]) {
    assert.equal(identityOf({ protocols: { wss: value } }).protocols, { ...DEFAULTS.protocols, wss: false });
  }
});

test('gives a protocol its default if it is neither on nor off', () => {
  for (const value of [null, {}, { enabled: null }, 'maybe', 2, [], { enabled: 'maybe' }]) {
    const { protocols } = identityOf({ protocols: { wss: value, https: value, mqtt: value } });
    assert.equal(protocols, DEFAULTS.protocols, JSON.stringify(value));
  }
});

test('lists a protocol that is neither on nor off as unreadable', () => {
  for (const value of ['maybe', 2, [], { enabled: 'maybe' }, { enabled: [] }]) {
    assertIgnored({ protocols: { https: value } }, 'protocols.https');
  }
  for (const value of [null, {}, { enabled: null }, { port: 1 }]) {
    assert.is(redactIdentity(identityOf({ protocols: { https: value } })).unreadableFields, undefined);
  }
});

test('turns MQTT on if there are broker credentials, unless the identity turns it off', () => {
  const isOn = (fields: object) => identityOf(fields).protocols.mqtt;
  assert.is(isOn({}), false);
  assert.is(isOn({ mqtt: BROKER }), true);
  for (const mqtt of [null, {}, 'maybe']) assert.is(isOn({ mqtt: BROKER, protocols: { mqtt } }), true);
  assert.is(isOn({ mqtt: BROKER, protocols: { mqtt: false } }), false);
  assert.is(isOn({ mqtt: BROKER, protocols: { mqtt: { enabled: 'off' } } }), false);
  assert.is(isOn({ mqtt: { ...BROKER, password: '' } }), false);
  assert.is(isOn({ protocols: { mqtt: true } }), true);
});

test('takes the broker’s address from mqtt.endpoint, and without it from data_plane_endpoints.mqtt', () => {
  const { endpoint, ...credentials } = BROKER;
  const address = (mqtt: object) =>
    identityOf({ endpoints: { mqtt: 'mqtts://elsewhere' }, mqtt }).mqtt?.endpoint;
  assert.is(address(BROKER), endpoint);
  for (const mqtt of [credentials, { ...BROKER, endpoint: null }, { ...BROKER, endpoint: ' ' }]) {
    assert.is(address(mqtt), 'mqtts://elsewhere');
  }
  assert.is(identityOf({ endpoints: { mqtt: 'mqtts://elsewhere' }, mqtt: credentials }).mqtt?.tls, true);
});

test('reads a broker’s address of the wrong type as empty', () => {
  const { endpoint: _, ...credentials } = BROKER;
  for (const value of [7, {}, ['mqtt://broker']]) {
    const issued = { endpoints: { mqtt: 'mqtts://elsewhere' }, mqtt: { ...BROKER, endpoint: value } };
    assert.is(identityOf(issued).mqtt?.endpoint, '');
    assert.is(identityOf({ endpoints: { mqtt: value }, mqtt: credentials }).mqtt?.endpoint, '');
  }
});

test('takes the first name that has a value', () => {
  assert.is(identityOf({ site_id: 'first', site: 'second' }).siteId, 'first');
  assert.is(identityOf({ site_id: null, siteId: undefined, site: 'third' }).siteId, 'third');
});

test('reads null as absent', () => {
  const absent = { crypto_key: null, endpoints: null, protocols: null, mqtt: null, ai_disclosure: null };
  assert.equal(plain(identityOf(absent)), DEFAULTS);
  assert.equal(redactIdentity(identityOf(absent)).unreadableFields, undefined);
  const { mqtt } = identityOf({ mqtt: { ...BROKER, tls: null, qos: null, topic_prefix: null } });
  assert.equal([mqtt!.tls, mqtt!.qos, mqtt!.topicPrefix], [false, 1, undefined]);
});

test('ignores what objects inherit', () => {
  raisesLocal(() => parseIdentity(Object.create(KEYS)), 'identity-access-key');
  raisesLocal(() => parseIdentity('{"__proto__":{"access_key":"a","password":"p"}}'), 'identity-access-key');
});

test('reads a flag as a boolean, a digit or a word', () => {
  for (const value of [true, 1, '1', 'true', 'TRUE', 'yes', 'Yes', 'on']) {
    assert.is(mqttOf({ tls: value }).tls, true, String(value));
    assert.is(identityOf({ protocols: { https: value } }).protocols.https, true, String(value));
  }
  for (const value of [false, 0, '0', 'false', 'False', 'no', 'off', 'OFF']) {
    assert.is(mqttOf({ endpoint: 'mqtts://b', tls: value }).tls, false, String(value));
    assert.is(identityOf({ protocols: { wss: value } }).protocols.wss, false, String(value));
  }
});

test('ignores a flag that is anything else', () => {
  for (const value of ['', 'maybe', 'y', ' on', 2, -1, [], {}, Object.create(null), { toString: 1 }]) {
    assert.is(mqttOf({ endpoint: 'mqtts://b', tls: value }).tls, true);
    assert.is(mqttOf({ tls: value }).tls, false);
    assert.is(mqttOf({ hash_topics: value }).hashTopics, false);
  }
});

test('takes TLS from the scheme if no flag says otherwise', () => {
  for (const endpoint of ['mqtts://b', 'MQTTS://b', ' mqtts://b']) assert.is(mqttOf({ endpoint }).tls, true);
  for (const endpoint of ['mqtt://b', 'mqttsx://b', 'b/mqtts:']) assert.is(mqttOf({ endpoint }).tls, false);
});

test('reads credentials without an address, a user name or a password as absent', () => {
  for (const name of ['endpoint', 'username', 'password']) {
    for (const value of ['', null])
      assert.is(identityOf({ mqtt: { ...BROKER, [name]: value } }).mqtt, undefined);
  }
  for (const name of ['username', 'password']) {
    assert.is(identityOf({ mqtt: { ...BROKER, [name]: 7 } }).mqtt, undefined);
  }
  assert.is('mqtt' in identityOf({ mqtt: {} }), false);
});

test('reads a quality of service of 0, 1 and 2, and anything else as 1', () => {
  for (const qos of [0, 1, 2]) {
    assert.is(mqttOf({ qos }).qos, qos);
    assert.is(mqttOf({ qos: String(qos) }).qos, qos);
  }
  for (const qos of [3, -1, 1.5, NaN, '', '3', '-1', '01', '1.0', true, {}])
    assert.is(mqttOf({ qos }).qos, 1);
});

test('reads a disclosure in one language or in several', () => {
  assert.is(identityOf({ ai_disclosure: 'A machine.' }).aiDisclosure, 'A machine.');
  const both = { en: 'A machine.', fr: 'Une machine.' };
  assert.equal(identityOf({ ai_disclosure: both }).aiDisclosure, both);
});

test('reads a disclosure for each language, whatever the language is called', () => {
  const json = '{"access_key":"a","password":"p","ai_disclosure":{"__proto__":"Hi","en|de":"Ho"}}';
  assert.is(JSON.stringify(parseIdentity(json).aiDisclosure), '{"__proto__":"Hi","en|de":"Ho"}');
});

test('leaves out languages of a disclosure that have no string', () => {
  const { aiDisclosure } = identityOf({ ai_disclosure: { en: 'A machine.', fr: null, version: 2, de: {} } });
  assert.equal(aiDisclosure, { en: 'A machine.' });
});

test('refuses input that is not JSON in UTF-8', () => {
  const latin1 = new Uint8Array([0x22, 0xff, 0x22]);
  for (const input of ['', '{', '{"a":1,}', "{'a':1}", latin1, new Uint8Array(0)]) {
    raisesLocal(() => parseIdentity(input), 'identity-not-json');
  }
});

test('refuses input that is not an object', () => {
  for (const input of ['null', '[]', '"ak"', '1', '1.0', null, [], 1, undefined, true]) {
    raisesLocal(() => parseIdentity(input as object), 'identity-not-an-object');
  }
});

test('refuses an access key or a password that is missing, empty or not a string', () => {
  for (const value of [undefined, null, '', 1, ['x'], {}]) {
    raisesLocal(() => parseIdentity({ ...KEYS, access_key: value }), 'identity-access-key');
    raisesLocal(() => parseIdentity({ ...KEYS, password: value }), 'identity-password');
  }
});

test('ignores optional strings of another type', () => {
  for (const value of [1, true, [], {}]) {
    for (const name of ['site_id', 'crypto_key', 'public_key', 'default_master', 'default_path']) {
      assertIgnored({ [name]: value }, name);
    }
    assertIgnored({ endpoints: { wss: value } }, 'data_plane_endpoints.wss');
  }
  for (const value of [1, true, []]) assertIgnored({ ai_disclosure: value }, 'ai_disclosure');
});

test('ignores objects of another type', () => {
  for (const value of ['x', 1, true, []]) {
    for (const name of ['data_plane_endpoints', 'protocols', 'mqtt']) assertIgnored({ [name]: value }, name);
  }
});

test('ignores parts of topics of another type', () => {
  for (const name of ['topic_prefix', 'hub_id', 'c2s_topic', 's2c_topic', 'status_topic', 'hash_topics']) {
    const identity = identityOf({ mqtt: { ...BROKER, [name]: [7] } });
    assert.equal(plain(identity), plain(identityOf({ mqtt: BROKER })));
    assert.equal(redactIdentity(identity).unreadableFields, [`mqtt.${name}`]);
  }
});

const SECRET = 'S3cr3t';
const SECRETIVE: [unknown, LocalCode][] = [
  [`{"access_key":"${SECRET}"`, 'identity-not-json'],
  [Buffer.from(`${SECRET}\xff`, 'latin1'), 'identity-not-json'],
  [[SECRET], 'identity-not-an-object'],
  [`"${SECRET}"`, 'identity-not-an-object'],
  [{ access_key: [SECRET], password: SECRET }, 'identity-access-key'],
  [{ access_key: SECRET, password: [SECRET] }, 'identity-password'],
];
test('shows no value in an error', () => {
  for (const [input, code] of SECRETIVE) {
    const error = raisesLocal(() => parseIdentity(input as object), code);
    const inspected = inspect(error, { showHidden: true });
    for (const shown of [String(error), error.stack!, inspected]) {
      assert.is(shown.includes(SECRET), false, code);
    }
    assert.is(error.cause, undefined);
  }
});

test.run();
