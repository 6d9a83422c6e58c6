import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Identity, parseIdentity } from '../../src/identity/identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';

const SECRET = 'S3cr3t';
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };

const identityOf = (fields: object): Identity =>
  parseIdentity({ access_key: 'ak', password: 'pw', ...fields });

/** Every secret has SECRET in it, and nothing else has. */
const SECRETS = identityOf({
  access_key: `${SECRET}-access-key`,
  password: `${SECRET}-password`,
  crypto_key: `${SECRET}-crypto-key`,
  public_key: 'public',
  site_id: 'kitchen',
  default_master: `https://${SECRET}-user:${SECRET}-pass@hub.example/p?x=${SECRET}`,
  default_path: `/p?authorization=${SECRET}`,
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
    publicKey: 'public',
    defaultMaster: 'https://[redacted]@hub.example/p?[redacted]',
    defaultPort: 5679,
    defaultPath: '/p?[redacted]',
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
      accessKey: '[redacted]',
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
    const identity = identityOf({ host: url, endpoints: { wss: url }, mqtt: { ...BROKER, endpoint: url } });
    assert.not.match(JSON.stringify(identity), 'S3cr3t', url);
  }
});

test('shows nothing where nothing was issued, and a URL without secrets as it is', () => {
  const identity = identityOf({ endpoints: { wss: 'wss://hub.example:5679/path' } });
  assert.equal(JSON.parse(JSON.stringify(identity)), {
    accessKey: '[redacted]',
    password: '[redacted]',
    siteId: '',
    defaultPort: 5679,
    defaultPath: '',
    dataPlaneEndpoints: { wss: 'wss://hub.example:5679/path' },
    protocols: { wss: true, https: false, mqtt: false },
  });
});

test('shows nothing of a URL in which a password cannot be told from a query', () => {
  const urls = ['wss://host/p?a=b@c&x=S3cr3t', 'wss://user:pa?S3cr3t@host', 'wss://user:pa#ss@host/S3cr3t'];
  for (const url of urls) {
    const { wss } = JSON.parse(JSON.stringify(identityOf({ endpoints: { wss: url } }))).dataPlaneEndpoints;
    assert.is(wss, 'wss://[redacted]', url);
  }
});

test('shows no field that holds a secret of another one', () => {
  const access_key = 'S3cr3t/äKey?';
  const bytes = Buffer.from(access_key);
  const forms = [
    access_key,
    encodeURIComponent(access_key),
    encodeURIComponent(access_key).toLowerCase(),
    ...(['base64', 'base64url', 'hex'] as const).map((encoding) => bytes.toString(encoding)),
    bytes.toString('hex').toUpperCase(),
  ];
  for (const form of forms) {
    const identity = identityOf({
      access_key,
      site_id: `client ${form}`,
      host: `wss://hub/${form}/`,
      ai_disclosure: { en: `It is ${form}.`, fr: 'Une machine.' },
      mqtt: { ...BROKER, hub_id: form },
      [form]: 1,
      vendor: 1,
    });
    const { siteId, defaultMaster, aiDisclosure, mqtt, unknownFields } = JSON.parse(JSON.stringify(identity));
    const shown = [siteId, aiDisclosure, mqtt.hubId, unknownFields];
    const REDACTED = '[redacted]';
    const expected = [REDACTED, { en: REDACTED, fr: 'Une machine.' }, REDACTED, [REDACTED, 'vendor']];
    assert.equal(shown, expected, form);
    assert.match(defaultMaster, REDACTED);
  }
});

test('shows of fields that nobody knows the names alone', () => {
  const identity = identityOf({
    vendor: { token: 'x1y2z3' },
    number: 4711,
    protocols: { quic: true },
    mqtt: { ...BROKER, keepalive: 60 },
  });
  const { unknownFields } = JSON.parse(JSON.stringify(identity));
  assert.equal(unknownFields, ['vendor', 'number', 'protocols.quic', 'mqtt.keepalive']);
  assert.not.match(inspect(identity, { depth: 9 }), /x1y2z3|4711|60/);
});

test('shows a copy, of which no unknown fields are known', () => {
  const copy = { ...SECRETS, siteId: 'cellar' };
  assert.equal(redactIdentity(copy), { ...redactIdentity(SECRETS), siteId: 'cellar' });
});

test('redacts texts that have no form in UTF-8', () => {
  const identity = identityOf({ password: 'p\ud800w', site_id: 'p\ud800w', public_key: '\ud800' });
  const { siteId, publicKey } = redactIdentity(identity) as Identity;
  assert.equal([siteId, publicKey], ['[redacted]', '\ud800']);
});

test('shows a host alone, or with its port', () => {
  for (const host of ['hub.example', '192.0.2.1:5679']) {
    assert.is(JSON.parse(JSON.stringify(identityOf({ host }))).defaultMaster, host);
  }
});

test.run();
