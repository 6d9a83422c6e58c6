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

test('shows a host alone, or with its port', () => {
  for (const host of ['hub.example', '192.0.2.1:5679']) {
    assert.is(JSON.parse(JSON.stringify(identityOf({ host }))).defaultMaster, host);
  }
});

test.run();
