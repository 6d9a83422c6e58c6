import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { presence } from '../../src/mqtt-topics/presence.ts';
import { deriveTopics, type Topics } from '../../src/mqtt-topics/topics.ts';
import { raisesLocal } from '../world/raises.ts';

const retained = (topic: string, payload: string) => ({ topic, payload, qos: 1, retain: true });

test('returns the will, online and offline, retained and at QoS 1', () => {
  assert.equal(presence(deriveTopics({ topic_prefix: 'hivemind/hub/ak' })), {
    will: retained('hivemind/hub/ak/status', 'offline'),
    online: retained('hivemind/hub/ak/status', 'online'),
    offline: retained('hivemind/hub/ak/status', 'offline'),
  });
});

test('uses the status topic of an older hub, and an issued one', () => {
  const earlier = deriveTopics({ hub_id: 'hub', access_key: 'ak' });
  assert.is(presence(earlier).will.topic, 'hivemind/hub/status/ak');
  const issued = deriveTopics({ topic_prefix: 'a/ak', status_topic: 'a/ak/presence' });
  assert.is(presence(issued).online.topic, 'a/ak/presence');
});

test('returns messages that share no object', () => {
  const { will, online, offline } = presence({ status: 'a/status' });
  assert.is.not(will, offline);
  assert.is.not(will, online);
});

test('refuses topics without a status topic', () => {
  for (const topics of [undefined, null, {}, { status: '' }, { status: 7 }, 'a/status']) {
    raisesLocal(() => presence(topics as Topics), 'bad-argument');
  }
});

test.run();
