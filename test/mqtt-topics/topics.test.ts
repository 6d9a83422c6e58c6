import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalCode } from '../../src/errors.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { deriveTopics, type Topics } from '../../src/mqtt-topics/topics.ts';
import { raisesLocal } from '../raises.ts';

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
const issued = ({ publish, subscribe, status }: Topics) => ({
  c2s_topic: publish,
  s2c_topic: subscribe,
  status_topic: status,
});

test('derives the current topics from a prefix without a hub id', () => {
  assert.equal(deriveTopics({ topic_prefix: 'hivemind/hub/ak' }), today('hivemind/hub/ak'));
  assert.equal(deriveTopics({ topic_prefix: 'anything', access_key: 'ak' }), today('anything'));
});

test('derives the current topics despite a hub id if the prefix ends with the client’s own level', () => {
  for (const own of ['ak', hashOf('ak'), 'user']) {
    const mqtt = { topic_prefix: `hivemind/hub/${own}`, hub_id: 'hub', access_key: 'ak', username: 'user' };
    assert.equal(deriveTopics(mqtt), today(`hivemind/hub/${own}`));
  }
});

test('derives an earlier hub’s topics from its id, under the default prefix or an issued one', () => {
  assert.equal(deriveTopics({ hub_id: 'hub', access_key: 'ak' }), earlier('hivemind/hub', 'ak'));
  const mqtt = { topic_prefix: 'a/b', hub_id: 'hub', access_key: 'ak' };
  assert.equal(deriveTopics(mqtt), earlier('a/b/hub', 'ak'));
});

test('does not add the hub’s id to a prefix that has it as a level', () => {
  for (const prefix of ['hub', 'a/hub', 'a/hub/b']) {
    assert.equal(
      deriveTopics({ topic_prefix: prefix, hub_id: 'hub', access_key: 'ak' }),
      earlier(prefix, 'ak'),
    );
  }
  const mqtt = { topic_prefix: 'a/hub1', hub_id: 'hub', access_key: 'ak' };
  assert.equal(deriveTopics(mqtt), earlier('a/hub1/hub', 'ak'));
});

test('derives an earlier hub’s topics if the client’s own level is not at the end of the prefix', () => {
  const mqtt = { topic_prefix: 'ak/b', hub_id: 'hub', access_key: 'ak' };
  assert.equal(deriveTopics(mqtt), earlier('ak/b/hub', 'ak'));
});

test('uses the hash of the access key with an earlier hub if hash_topics is set', () => {
  const mqtt = { hub_id: 'hub', access_key: 'clé🔑', hash_topics: true };
  assert.equal(deriveTopics(mqtt), earlier('hivemind/hub', hashOf('clé🔑')));
  assert.equal(deriveTopics({ ...mqtt, hash_topics: 'no' }), earlier('hivemind/hub', 'clé🔑'));
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

test('trims white space, then slashes', () => {
  for (const around of [' a/b ', '/a/b/', '\t///a/b//\n', '\u00a0/a/b']) {
    assert.equal(deriveTopics({ topic_prefix: around }), today('a/b'));
    assert.equal(deriveTopics({ hub_id: around, access_key: 'ak' }), earlier('hivemind/a/b', 'ak'));
  }
});

const BAD = {
  'is empty': ['', ' ', '/', ' // '],
  'has a wildcard': ['a/#', 'a/+/b', '#', '+', '+/a', 'a+b'],
  'has white space': ['a b', '/ a/', 'a\u00a0b', 'a\u0085b', 'a/\u2003/b', 'a\ufeffb'],
  'has a control': ['a\u0000', 'a\u0001b', 'a\u001fb', 'a\u007fb', 'a\tb', 'a\nb'],
  'starts with a dollar sign': ['$SYS/a', '/$share/a'],
  'has an empty level': ['a//b'],
  'has no UTF-8 form': ['a\ud800', '\udc00b'],
};
for (const [what, values] of Object.entries(BAD)) {
  test(`refuses a prefix or a hub id that ${what}`, () => {
    for (const value of values) {
      refuses({ topic_prefix: value, access_key: 'ak' }, 'bad-topic');
      refuses({ hub_id: value, access_key: 'ak' }, 'bad-topic');
    }
  });

  test(`refuses a topic that ${what}`, () => {
    for (const value of values) {
      for (const name of ['c2s_topic', 's2c_topic', 'status_topic']) {
        refuses({ topic_prefix: 'a', [name]: value }, 'bad-topic');
      }
    }
  });
}

test('trims nothing from an issued topic', () => {
  for (const value of [' a/in', 'a/in\n', '/a/in', 'a/in/']) {
    refuses({ topic_prefix: 'a', c2s_topic: value }, 'bad-topic');
  }
});

test('allows dollar signs further in, and letters of any script', () => {
  for (const prefix of ['a/$b', 'a$', 'clé/🔑', '\u0080']) {
    assert.equal(deriveTopics({ topic_prefix: prefix }), today(prefix));
  }
});

test('refuses derived topics if the access key has characters that topics must not have', () => {
  for (const key of ['a#', '+', 'a b', '/a', 'a\u0000']) {
    refuses({ hub_id: 'hub', access_key: key }, 'bad-topic');
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

test('returns issued topics that start with the current prefix', () => {
  const own = { publish: 'a/ak/up', subscribe: 'a/ak/x/down', status: 'a/ak/s' };
  assert.equal(deriveTopics({ topic_prefix: '/a/ak/', ...issued(own) }), own);
});

test('derives the topics that were not issued', () => {
  const mqtt = { topic_prefix: 'a/ak', c2s_topic: 'a/ak/up' };
  assert.equal(deriveTopics(mqtt), { ...today('a/ak'), publish: 'a/ak/up' });
  const other = { hub_id: 'hub', access_key: 'ak', status_topic: 'hivemind/hub/presence/ak' };
  assert.equal(deriveTopics(other), {
    ...earlier('hivemind/hub', 'ak'),
    status: 'hivemind/hub/presence/ak',
  });
});

test('refuses issued topics that do not start with the prefix', () => {
  for (const topic of ['a/ak', 'a/ak2/in', 'a/other/in', 'in', 'b/a/ak/in', 'A/ak/in']) {
    for (const name of ['c2s_topic', 's2c_topic', 'status_topic']) {
      refuses({ topic_prefix: 'a/ak', [name]: topic }, 'topic-out-of-scope');
    }
  }
});

test('refuses issued topics of another client below a prefix that names none', () => {
  const mqtt = { topic_prefix: 'hivemind/hub', access_key: 'ak', username: 'user' };
  for (const topic of ['hivemind/hub/other/in', 'hivemind/hub/ak2/in', 'hivemind/hub/c2s/other']) {
    for (const name of ['c2s_topic', 's2c_topic', 'status_topic']) {
      refuses({ ...mqtt, [name]: topic }, 'topic-out-of-scope');
    }
  }
});

test('returns issued topics below a prefix that names no client if they are a single level or contain the client’s', () => {
  const mqtt = { topic_prefix: 'hivemind/hub', access_key: 'ak', username: 'user' };
  for (const topic of [
    'hivemind/hub/up',
    'hivemind/hub/ak/in',
    'hivemind/hub/c2s/ak',
    'hivemind/hub/user/a/b',
  ]) {
    assert.is(deriveTopics({ ...mqtt, c2s_topic: topic }).publish, topic);
  }
});

test('refuses issued topics with hub and client under another prefix', () => {
  for (const scope of [
    { hub_id: 'hub-1' },
    { topic_prefix: 'hivemind/hub-1/k' },
    { topic_prefix: 'a', hub_id: 'hub-1' },
  ]) {
    for (const name of ['c2s_topic', 's2c_topic', 'status_topic']) {
      refuses({ ...scope, access_key: 'k', [name]: 'evil/hub-1/k' }, 'topic-out-of-scope');
    }
  }
});

test('returns issued topics of an earlier hub that have the client’s level below the hub’s', () => {
  const mqtt = { hub_id: 'hub', access_key: 'ak', username: 'user' };
  for (const own of ['ak', hashOf('ak'), 'user']) {
    const topics = earlier('hivemind/hub', own);
    assert.equal(deriveTopics({ ...mqtt, ...issued(topics) }), topics);
    assert.is(deriveTopics({ ...mqtt, c2s_topic: `hivemind/hub/${own}/x` }).publish, `hivemind/hub/${own}/x`);
  }
});

test('refuses issued topics of an earlier hub outside of the hub’s levels, or without the client’s', () => {
  const mqtt = { hub_id: 'hub', access_key: 'ak' };
  const topics = ['hivemind/hub/c2s/other', 'hivemind/hub/c2s/ak2', 'hivemind/hub', 'hivemind/hub2/c2s/ak'];
  for (const topic of [...topics, 'hivemind/hub/up', 'other/hub/c2s/ak', 'ak', 'ak/hivemind/hub/c2s']) {
    refuses({ ...mqtt, c2s_topic: topic }, 'topic-out-of-scope');
  }
  refuses({ hub_id: 'ak', access_key: 'ak', c2s_topic: 'hivemind/ak/c2s/other' }, 'topic-out-of-scope');
});

test('returns issued topics without prefix and hub id that have the client’s level', () => {
  for (const own of ['ak', hashOf('ak'), 'user']) {
    for (const topics of [today(own), today(`x/${own}/y`), earlier('x', own)]) {
      assert.equal(deriveTopics({ access_key: 'ak', username: 'user', ...issued(topics) }), topics);
    }
  }
});

test('refuses issued topics without prefix and hub id that lack the client’s level, or if nothing names the client', () => {
  refuses({ access_key: 'ak', ...issued(today('x/other')) }, 'topic-out-of-scope');
  refuses({ access_key: 'ak', ...issued(today('x/ak2')) }, 'topic-out-of-scope');
  refuses({ access_key: 'ak', c2s_topic: 'up' }, 'topic-out-of-scope');
  refuses(issued(today('x/ak')), 'topic-out-of-scope');
  refuses({ access_key: '', username: '', ...issued(today('x/ak')) }, 'topic-out-of-scope');
  refuses({ hub_id: 'hub', ...issued(earlier('hivemind/hub', 'ak')) }, 'topic-out-of-scope');
});

test('derives the status topic from the one to publish to', () => {
  for (const topics of [today('x/ak'), earlier('x', 'ak'), today('c2s_/ak'), earlier('in', 'ak')]) {
    const mqtt = { access_key: 'ak', c2s_topic: topics.publish, s2c_topic: topics.subscribe };
    assert.equal(deriveTopics(mqtt), topics);
  }
  const mqtt = { access_key: 'ak', c2s_topic: 'c2s/ak/in', s2c_topic: 's2c/ak' };
  assert.is(deriveTopics(mqtt).status, 'status/ak/in');
});

test('derives no status topic if no level names the direction', () => {
  for (const topic of ['ak/up', 'in/ak', 'ak/c2s_', 'ak/xc2s', 'ak/xin', 'ak/IN']) {
    refuses({ access_key: 'ak', c2s_topic: topic, s2c_topic: 'ak/out' }, 'no-topics');
  }
});

test('refuses a derived status topic without the client’s level', () => {
  refuses({ access_key: 'c2s', c2s_topic: 'x/c2s', s2c_topic: 'x/c2s' }, 'topic-out-of-scope');
});

test('refuses to derive topics if neither prefix nor hub id nor all topics were issued', () => {
  refuses({}, 'no-topics');
  refuses({ access_key: 'ak', username: 'user', hash_topics: true }, 'no-topics');
  refuses({ topic_prefix: null, hub_id: null, access_key: 'ak' }, 'no-topics');
  refuses({ access_key: 'ak', c2s_topic: 'ak/in' }, 'no-topics');
  refuses({ access_key: 'ak', s2c_topic: 'ak/out', status_topic: 'ak/status' }, 'no-topics');
});

test('refuses to derive an earlier hub’s topics if nothing names the client', () => {
  refuses({ hub_id: 'hub' }, 'no-topics');
  refuses({ hub_id: 'hub', hash_topics: true }, 'no-topics');
});

test('reads fields under every name, and what parseIdentity() returned', () => {
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

test('refuses arguments of the wrong type, and fields of topics of the wrong type', () => {
  for (const mqtt of [undefined, null, 'a/b', 1, []]) refuses(mqtt as object, 'identity-field');
  for (const name of ['topic_prefix', 'hub_id', 'c2s_topic', 's2c_topic', 'status_topic', 'access_key']) {
    refuses({ topic_prefix: 'a', [name]: 7 }, 'identity-field');
  }
  refuses({ topic_prefix: 'a', hash_topics: 'maybe' }, 'identity-field');
  raisesLocal(() => deriveTopics({ topic_prefix: 'a' }, null as never), 'bad-argument');
});

test('refuses an identity’s fields of topics of the wrong type, which parseIdentity() ignored', () => {
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

test.run();
