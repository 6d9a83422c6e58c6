import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import { serializeIdentity } from '../../src/identity/serialize.ts';
import { ALIASES, OBJECTS } from '../../tools/aliases.ts';
import { raisesLocal } from '../world/raises.ts';
import { plain } from './plain.ts';

const KEYS = { access_key: 'ak', password: 'pw' };
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };

const write = (identity: Identity): string => serializeIdentity(identity, { secrets: true });
/** An identity as JSON, parsed and written again. */
const writeText = (text: string): string => write(parseIdentity(text));
/** The fields of an identity, parsed and written again. */
const writeFields = (fields: object): object => JSON.parse(writeText(JSON.stringify({ ...KEYS, ...fields })));

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

test('writes back the fields that were read, with the same names and values', () => {
  assert.is(writeText(JSON.stringify(FULL)), JSON.stringify(FULL));
  assert.is(writeText(JSON.stringify(KEYS)), JSON.stringify(KEYS));
});

test('writes JSON that is parsed to the same identity, and written the same again', () => {
  for (const fields of [FULL, KEYS, { ...KEYS, host: 'h', mqtt: { broker_url: 'mqtt://b' } }]) {
    const identity = parseIdentity(JSON.stringify(fields));
    const text = write(identity);
    assert.equal(plain(parseIdentity(text)), plain(identity));
    assert.is(writeText(text), text);
  }
});

test('writes numbers with their original tokens', () => {
  const numbers =
    '"n":[1.0,-0,1e400,12345678901234567890.5000],"default_port":5.68e3,"mqtt":{"qos":2.0,"x":1.50}';
  const text = `{"access_key":"ak","password":"pw",${numbers}}`;
  assert.is(writeText(text), text);
  assert.is(parseIdentity(text).defaultPort, 5680);
});

test('writes each field under its current name, even if it was issued under an old one', () => {
  for (const object of OBJECTS) {
    for (const [current, ...earlier] of Object.values(ALIASES[object])) {
      const parent = ALIASES.identity[object]?.[0];
      const inObject = (name: string) => {
        const keys = Object.fromEntries(Object.entries(KEYS).filter(([key]) => parent || key !== current));
        return parent ? { ...keys, [parent]: { [name]: 'x' } } : { ...keys, [name]: 'x' };
      };
      for (const name of earlier) {
        assert.equal(JSON.parse(writeText(JSON.stringify(inObject(name)))), inObject(current!), name);
      }
    }
  }
});

test('writes the value that was used if several names had one, and leaves out null', () => {
  assert.equal(writeFields({ site: 'second', site_id: 'first' }), { ...KEYS, site_id: 'first' });
  assert.equal(writeFields({ site_id: null, siteId: null, site: 'third' }), { ...KEYS, site_id: 'third' });
  assert.equal(writeFields({ crypto_key: null, mqtt: null, protocols: { wss: null } }), {
    ...KEYS,
    protocols: {},
  });
});

test('keeps credentials of a broker that count as absent', () => {
  const fields = { mqtt: { username: 'user', topic_prefix: 'a/b', keepalive: 60 } };
  assert.equal(writeFields(fields), { ...KEYS, ...fields });
});

test('keeps unknown fields whatever they are called', () => {
  const text =
    '{"access_key":"ak","password":"pw","__proto__":{"a":1},"issued":"2026-01-01","toJSON":1,"":0}';
  assert.is(writeText(text), text);
});

test('keeps an unknown field that is called undefined, and reads no other field from it', () => {
  const text = '{"access_key":"ak","password":"pw","undefined":"x"}';
  const identity = parseIdentity(text);
  assert.is(write(identity), text);
  assert.is(identity.siteId, '');
  assert.equal(redactIdentity(identity).unknownFields, ['undefined']);
});

test('does not confuse a field named "issued" with the source of the identity', () => {
  const text = '{"access_key":"ak","password":"pw","issued":{"fields":{"access_key":"other"}}}';
  assert.is(writeText(text), text);
  assert.is(parseIdentity(JSON.parse(text)).accessKey, 'ak');
});

test('keeps nested objects as they were issued', () => {
  const fields = {
    data_plane_endpoints: { mqtt: { broker_url: 'mqtt://b', x: 1 } },
    ai_disclosure: { mqtt: {} },
  };
  assert.equal(writeFields(fields), { ...KEYS, ...fields });
  assert.equal(redactIdentity(parseIdentity({ ...KEYS, ...fields })).unknownFields, undefined);
});

test('writes the same after another parse', () => {
  const identity = parseIdentity(JSON.stringify(FULL));
  assert.is(write(parseIdentity(identity)), JSON.stringify(FULL));
});

test('refuses a copy made by spreading, which lacks the credentials', () => {
  const copy = { ...parseIdentity(JSON.stringify(FULL)) };
  raisesLocal(() => write(copy), 'identity-access-key');
  raisesLocal(() => serializeIdentity(copy), 'identity-access-key');
});

test('writes an issued object unchanged', () => {
  assert.equal(JSON.parse(write({ ...KEYS, site: 'cellar' } as never)), { ...KEYS, site_id: 'cellar' });
});

test('writes back fields of the wrong type', () => {
  const odd = {
    site_id: 7,
    default_port: {},
    protocols: ['wss'],
    data_plane_endpoints: [],
    mqtt: 'x',
    ai_disclosure: 1,
  };
  assert.equal(writeFields(odd), { ...KEYS, ...odd });
  assert.equal(writeFields({ mqtt: { ...BROKER, qos: [] } }), { ...KEYS, mqtt: { ...BROKER, qos: [] } });
});

test('writes the object as it was at the time of parsing', () => {
  const vendor = { list: [1] };
  const fields = { ...KEYS, vendor, absent: undefined, mqtt: { ...BROKER } };
  const identity = parseIdentity(fields);
  vendor.list.push(2);
  fields.mqtt.password = 'changed';
  assert.equal(JSON.parse(write(identity)), { ...KEYS, vendor: { list: [1] }, mqtt: BROKER });
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
