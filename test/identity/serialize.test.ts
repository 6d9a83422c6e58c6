import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import { serializeIdentity } from '../../src/identity/serialize.ts';
import { raisesLocal } from '../world/raises.ts';

const KEYS = { access_key: 'ak', password: 'pw' };
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };

const write = (identity: Identity): string => serializeIdentity(identity, { secrets: true });

/** An identity under the current names, with unknown fields in every object. */
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

test('keeps an unknown field that is called undefined, and reads no other field from it', () => {
  const text = '{"access_key":"ak","password":"pw","undefined":"x"}';
  const identity = parseIdentity(text);
  assert.is(write(identity), text);
  assert.is(identity.siteId, '');
  assert.equal(redactIdentity(identity).unknownFields, ['undefined']);
});

test('refuses a copy made by spreading, which lacks the credentials', () => {
  const copy = { ...parseIdentity(JSON.stringify(FULL)) };
  raisesLocal(() => write(copy), 'identity-access-key');
  raisesLocal(() => serializeIdentity(copy), 'identity-access-key');
});

test('parses objects that JSON cannot represent, and refuses to write them', () => {
  for (const unknown of [() => 1, { a: undefined }, [new Date()]]) {
    raisesLocal(() => write(parseIdentity({ ...KEYS, unknown })), 'not-json');
  }
  raisesLocal(() => write(parseIdentity({ ...KEYS, unknown: Number.NaN })), 'unsafe-number');
  raisesLocal(() => write(parseIdentity({ ...KEYS, site_id: '\ud800' })), 'lone-surrogate');
});

test('writes without secrets by default', () => {
  const identity = parseIdentity(JSON.stringify(FULL));
  for (const options of [undefined, {}, { secrets: false }, { secrets: undefined }]) {
    const text = serializeIdentity(identity, options);
    assert.is(text, JSON.stringify(redactIdentity(identity)));
    assert.is(JSON.parse(text).password, '[redacted]');
  }
});

test('refuses unknown options, and a `secrets` option that is not a boolean', () => {
  const identity = parseIdentity(JSON.stringify(FULL));
  raisesLocal(() => serializeIdentity(identity, { secrets: 'yes' as never }), 'bad-argument');
  raisesLocal(() => serializeIdentity(identity, { secret: true } as never), 'bad-argument');
});

test('refuses JSON that two parsers could read differently', () => {
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
