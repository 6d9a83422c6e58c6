import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';

const SECRET = 'S3cr3t';
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };

const identityOf = (fields: object): Identity =>
  parseIdentity({ access_key: 'ak', password: 'pw', ...fields });

/** Every secret contains SECRET, and nothing else does. */
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

test('shows no secret of an identity, of its parts, or of an object that contains it', () => {
  const { dataPlaneEndpoints, mqtt } = SECRETS;
  for (const value of [SECRETS, dataPlaneEndpoints, mqtt, [{ identity: SECRETS }]]) {
    assert.is(JSON.stringify(value).includes(SECRET), false);
    assert.is(inspect(value, { depth: 9 }).includes(SECRET), false);
    assert.is(inspect(value, { depth: 9, showHidden: true }).includes(SECRET), false);
  }
});

test('shows every field of an identity that is not secret', () => {
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
    protocols: { wss: true, https: true, mqtt: true },
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

test('shows the same fields of each part', () => {
  const identity = parseIdentity(SECRETS);
  const { dataPlaneEndpoints, mqtt } = redactIdentity(identity);
  assert.equal(JSON.parse(JSON.stringify(identity.dataPlaneEndpoints)), dataPlaneEndpoints);
  assert.equal(JSON.parse(JSON.stringify(identity.mqtt)), mqtt);
});

test('hides the secrets in a URL, whatever its spelling', () => {
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

test('leaves out fields that were not issued, and shows a URL without secrets', () => {
  const identity = identityOf({ endpoints: { wss: 'wss://hub.example:5679/path' } });
  assert.equal(redactIdentity(identity), {
    accessKey: '[redacted]',
    password: '[redacted]',
    siteId: '',
    defaultPort: 5679,
    defaultPath: '',
    dataPlaneEndpoints: { wss: 'wss://hub.example:5679/path' },
    protocols: { wss: true, https: false, mqtt: false },
  });
});

test('shows that a URL names a user, even an empty one', () => {
  const shown = redactIdentity(identityOf({ endpoints: { wss: 'wss://@hub' } }));
  assert.equal(shown.dataPlaneEndpoints, { wss: 'wss://[redacted]@hub' });
});

test('shows strings that contain only part of a secret, or a placeholder that was not issued', () => {
  const identity = identityOf({ access_key: 'S3cr3t', site_id: '3cr3t', public_key: 'who?' });
  assert.equal([redactIdentity(identity).siteId, redactIdentity(identity).publicKey], ['3cr3t', 'who?']);
});

test('shows only the scheme of a URL in which a password and a query look alike', () => {
  const urls = ['wss://host/p?a=b@c&x=S3cr3t', 'wss://user:pa?S3cr3t@host', 'wss://user:pa#ss@host/S3cr3t'];
  for (const url of urls) {
    const { wss } = JSON.parse(JSON.stringify(identityOf({ endpoints: { wss: url } }))).dataPlaneEndpoints;
    assert.is(wss, 'wss://[redacted]', url);
  }
});

test('shows no field that contains a secret of another one', () => {
  for (const access_key of ['S3cr3t/äKey?', 'S3cr3>>>???']) assertShownNowhere(access_key);
});

/** Asserts that no field is shown which contains an access key, in any form. */
function assertShownNowhere(access_key: string): void {
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
      password: 'another secret',
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
    const expected = [REDACTED, { fr: 'Une machine.' }, REDACTED, [REDACTED, 'vendor']];
    assert.equal(shown, expected, form);
    assert.match(defaultMaster, REDACTED);
  }
}

test('shows no secret that is percent-encoded, in part, twice or next to an invalid escape', () => {
  const access_key = 'S3cr3t/äKey\n0';
  const escaped = Buffer.from(access_key).toString('hex').replace(/../g, '%$&');
  const partly = access_key.replace('c', '%63').replace('K', '%4B').replace('ä', '%c3%A4');
  for (const form of [escaped, escaped.toUpperCase(), partly, `%zz%4${partly}%`, `100%${escaped}`]) {
    const identity = identityOf({ access_key, path: `/a/${form}/b`, host: `wss://hub/${form}`, site: form });
    const { defaultPath, defaultMaster, siteId } = redactIdentity(identity);
    assert.equal([defaultPath, defaultMaster, siteId], ['[redacted]', '[redacted]', '[redacted]'], form);
  }
});

test('shows only the names of unknown fields', () => {
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

test('shows the names of fields that could not be read', () => {
  const identity = identityOf({
    site: 4711,
    endpoints: { ws: {} },
    protocols: [],
    mqtt: { ...BROKER, qos: 3 },
  });
  const { unreadableFields } = JSON.parse(JSON.stringify(identity));
  assert.equal(unreadableFields, ['protocols', 'site_id', 'data_plane_endpoints.wss', 'mqtt.qos']);
  assert.not.match(inspect(identity, { depth: 9 }), /4711/);
});

test('redacts an issued identity that was not parsed', () => {
  const issued = { access_key: 'S3cr3t', password: 'pw', site: 'kitchen', x: 1 };
  assert.equal(redactIdentity(issued as never), redactIdentity(parseIdentity(issued)));
  assert.equal(redactIdentity(issued as never).unknownFields, ['x']);
});

test('redacts strings that UTF-8 cannot encode', () => {
  const identity = identityOf({ password: 'p\ud800w', site_id: 'p\ud800w', public_key: '\ud800' });
  const { siteId, publicKey } = redactIdentity(identity) as Identity;
  assert.equal([siteId, publicKey], ['[redacted]', '[redacted]']);
});

/** The length of strings for which a backtracking regular expression or a naive search takes quadratic time. */
const LONG = 2 ** 19;
test('redacts long and repetitive strings in linear time', () => {
  const ones = '1'.repeat(LONG);
  const identity = identityOf({
    access_key: `${ones}2`,
    default_master: `${ones}!`,
    site_id: ones,
    default_path: `/${'%31'.repeat(LONG / 4)}`,
    public_key: '%'.repeat(LONG),
    endpoints: { wss: `${'a'.repeat(LONG)}`, https: `https://${'@'.repeat(LONG)}` },
    mqtt: { ...BROKER, topic_prefix: 'ab'.repeat(LONG / 2), hub_id: `${'ab'.repeat(LONG / 2)}b` },
  });
  assert.is(redactIdentity(identity).siteId, '[redacted]'); // it contains the beginning of the access key
});

test('shows a host alone, or with its port', () => {
  for (const host of ['hub.example', '192.0.2.1:5679']) {
    assert.is(JSON.parse(JSON.stringify(identityOf({ host }))).defaultMaster, host);
  }
});

test.run();
