/** What vectors/mqtt-topics.json cannot say of topics, brokers and client ids: options, forms of the identity, and what errors show. */
import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalCode } from '../../src/errors.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { brokerEndpoint } from '../../src/mqtt-topics/broker-endpoint.ts';
import { clientId } from '../../src/mqtt-topics/client-id.ts';
import { deriveTopics, type Topics } from '../../src/mqtt-topics/topics.ts';
import { raisesLocal } from '../world/raises.ts';

const refuses = (mqtt: object, code: LocalCode): unknown => raisesLocal(() => deriveTopics(mqtt), code);
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 16);

const today = (prefix: string): Topics => ({
  publish: `${prefix}/in`,
  subscribe: `${prefix}/out`,
  status: `${prefix}/status`,
});
const earlier = (base: string, key: string): Topics => ({
  publish: `${base}/c2s/${key}`,
  subscribe: `${base}/s2c/${key}`,
  status: `${base}/status/${key}`,
});

test('uses the access key of the caller, then that of the object, then the user name', () => {
  const mqtt = { hub_id: 'hub', username: 'user' };
  assert.equal(deriveTopics(mqtt), earlier('hivemind/hub', 'user'));
  assert.equal(deriveTopics({ ...mqtt, access_key: '' }), earlier('hivemind/hub', 'user'));
  for (const name of ['access_key', 'accessKey', 'api_key', 'key']) {
    assert.equal(deriveTopics({ ...mqtt, [name]: 'ak' }), earlier('hivemind/hub', 'ak'));
    const topics = deriveTopics({ ...mqtt, [name]: 'ak' }, { accessKey: 'caller' });
    assert.equal(topics, earlier('hivemind/hub', 'caller'));
  }
});

test('refuses an access key of the caller that is empty or not a string', () => {
  for (const accessKey of ['', 1, null, {}]) {
    const options = { accessKey: accessKey as string };
    raisesLocal(() => deriveTopics({ hub_id: 'hub' }, options), 'bad-argument');
  }
});

test('does not read the access key of the object if the caller passes one', () => {
  const mqtt = { topic_prefix: 'a/ak', access_key: 7 };
  refuses(mqtt, 'identity-field');
  assert.equal(deriveTopics(mqtt, { accessKey: 'ak' }), today('a/ak'));
});

test('refuses an access key that has no UTF-8 form', () => {
  refuses({ hub_id: 'hub', access_key: '\ud800' }, 'lone-surrogate');
});

test('refuses a prefix, a hub id or a topic that has no UTF-8 form', () => {
  for (const value of ['a\ud800', '\udc00b']) {
    refuses({ topic_prefix: value, access_key: 'ak' }, 'bad-topic');
    refuses({ hub_id: value, access_key: 'ak' }, 'bad-topic');
    refuses({ topic_prefix: 'a', c2s_topic: value }, 'bad-topic');
  }
});

test('allows topics of up to 65535 bytes in UTF-8', () => {
  const most = 65535 - '/status'.length;
  for (const prefix of ['a'.repeat(most), 'é'.repeat(most / 2)]) {
    assert.equal(deriveTopics({ topic_prefix: prefix }), today(prefix));
    refuses({ topic_prefix: `a${prefix}` }, 'bad-topic');
  }
  const publish = `a/${'b'.repeat(65533)}`;
  assert.is(deriveTopics({ topic_prefix: 'a', c2s_topic: publish }).publish, publish);
  refuses({ topic_prefix: 'a', c2s_topic: `${publish}b` }, 'bad-topic');
});

const HIGH = { c2s_topic: 'c2s/ak/in', s2c_topic: 's2c/ak/in' };
/** Issued topics at the edges of a scope: what is derived, or the code. */
const EDGES: readonly (readonly [what: string, mqtt: object, expected: LocalCode | Partial<Topics>])[] = [
  ['below a prefix that names nobody', { topic_prefix: 'a', c2s_topic: 'a/b/c' }, { publish: 'a/b/c' }],
  ['of one level and of nobody', { access_key: 'ak', ...HIGH, c2s_topic: 'in' }, 'topic-out-of-scope'],
  ['of nobody at a hub', { access_key: 'ak', hub_id: 'h', c2s_topic: 'hivemind/h/in' }, 'topic-out-of-scope'],
  ['that begins with #', { topic_prefix: 'a', c2s_topic: '#' }, 'bad-topic'],
  ['that begins with +', { topic_prefix: 'a', c2s_topic: '+/in' }, 'bad-topic'],
  ['whose first level is c2s', { access_key: 'ak', ...HIGH }, { status: 'status/ak/in' }],
];
for (const [what, mqtt, expected] of EDGES) {
  test(`reads an issued topic ${what}`, () => {
    if (typeof expected === 'string') refuses(mqtt, expected);
    else assert.equal({ ...deriveTopics(mqtt), ...expected }, deriveTopics(mqtt));
  });
}

test('reads fields under every name, and the result of parseIdentity()', () => {
  const broker = { endpoint: 'mqtts://b', username: 'user', password: 'pw' };
  const topics = earlier('a/hub', hashOf('ak'));
  for (const fields of [
    { topic_prefix: 'a', hub_id: 'hub', hash_topics: true },
    { topicPrefix: 'a', hubId: 'hub', hashTopics: 'yes' },
  ]) {
    const { mqtt } = parseIdentity({ key: 'ak', password: 'pw', mqtt: { ...broker, ...fields } });
    assert.equal(deriveTopics(mqtt!), topics);
    assert.equal(deriveTopics(fields, { accessKey: 'ak' }), topics);
  }
  const { publish: c2sTopic, subscribe: s2cTopic, status: statusTopic } = topics;
  assert.equal(deriveTopics({ accessKey: 'ak', c2sTopic, s2cTopic, statusTopic }), topics);
});

test('refuses arguments and topic fields of the wrong type', () => {
  for (const mqtt of [undefined, null, 'a/b', 1, []]) refuses(mqtt as object, 'identity-field');
  for (const name of ['topic_prefix', 'hub_id', 'c2s_topic', 's2c_topic', 'status_topic', 'access_key']) {
    refuses({ topic_prefix: 'a', [name]: 7 }, 'identity-field');
  }
  refuses({ topic_prefix: 'a', hash_topics: 'maybe' }, 'identity-field');
  raisesLocal(() => deriveTopics({ topic_prefix: 'a' }, null as never), 'bad-argument');
});

test('refuses topic fields of the wrong type, which parseIdentity() ignored', () => {
  const broker = { endpoint: 'mqtts://b', username: 'user', password: 'pw', topic_prefix: 'a/ak' };
  const mqttOf = (fields: object) =>
    parseIdentity({ access_key: 'ak', password: 'pw', mqtt: { ...broker, ...fields } }).mqtt!;
  for (const name of ['topic_prefix', 'hub_id', 'c2s_topic', 's2c_topic', 'status_topic', 'hash_topics']) {
    refuses(mqttOf({ [name]: [7] }), 'identity-field');
  }
  for (const fields of [{ qos: 7 }, { tls: 'maybe' }, { access_key: 7 }, { endpoint: 7 }]) {
    assert.equal(deriveTopics(mqttOf(fields)), today('a/ak'));
  }
});

test('shows no value in an error', () => {
  for (const [mqtt, code] of [
    [{ topic_prefix: 'S3cr3t #' }, 'bad-topic'],
    [{ topic_prefix: 'a', c2s_topic: 'S3cr3t #' }, 'bad-topic'],
    [{ topic_prefix: 'a', c2s_topic: 'S3cr3t' }, 'topic-out-of-scope'],
    [{ username: 'S3cr3t' }, 'no-topics'],
    [{ topic_prefix: ['S3cr3t'] }, 'identity-field'],
  ] as [object, LocalCode][]) {
    const error = raisesLocal(() => deriveTopics(mqtt), code);
    assert.not.match(error.stack!.split('\n    at')[0]!, 'S3cr3t');
  }
});

test('brokerEndpoint() reads an IPv6 address, a WebSocket path and the TLS flag', () => {
  const endpoint = (url: string, tls?: boolean) => brokerEndpoint({ endpoint: url, tls });
  assert.is(endpoint('mqtts://[2001:db8::1]:8884').host, '2001:db8::1');
  assert.is(endpoint('wss://b/mqtt/').url, 'wss://b/mqtt');
  assert.equal(endpoint('mqtt://b', true), { url: 'mqtts://b', host: 'b', port: 8883, tls: true });
  raisesLocal(() => endpoint('ws://b'), 'plaintext-endpoint');
  const plain = brokerEndpoint({ endpoint: 'ws://b/mqtt' }, { allowPlaintext: true });
  assert.is(plain.url, 'ws://b/mqtt');
});

test('brokerEndpoint() refuses arguments of the wrong type, and an address of the wrong type', () => {
  for (const mqtt of [undefined, null, 'mqtt://b', 1, []]) {
    raisesLocal(() => brokerEndpoint(mqtt as object), 'identity-field');
  }
  for (const options of [null, { allowPlaintext: 1 }]) {
    raisesLocal(() => brokerEndpoint({ endpoint: 'mqtts://b' }, options as object), 'bad-argument');
  }
  for (const endpoint of [1, {}, ['mqtts://b']]) {
    raisesLocal(() => brokerEndpoint({ endpoint }), 'bad-endpoint');
  }
});

test('brokerEndpoint() shows no value in an error', () => {
  for (const endpoint of ['mqtts://u:S3cr3t@b', 'mqtts://b?S3cr3t', 'tcp://S3cr3t', 'S3cr3t']) {
    const error = raisesLocal(() => brokerEndpoint({ endpoint }), 'bad-endpoint');
    assert.not.match(error.stack!.split('\n    at')[0]!, 'S3cr3t');
  }
});

test('clientId() refuses a name or an access key that is empty or not a string', () => {
  for (const value of ['', undefined, null, 7, ['ak'], {}]) {
    raisesLocal(() => clientId(value as string, 'ak'), 'bad-argument');
    raisesLocal(() => clientId('bridge', value as string), 'bad-argument');
  }
});

test('derives no topics without a prefix or a hub’s id, and none of a hub without a key', () => {
  for (const mqtt of [{ access_key: 'ak' }, { hub_id: 'hub' }, { hub_id: 'hub', hash_topics: true }])
    refuses(mqtt, 'no-topics');
});

test.run();
