/** The mistakes in topics, brokers, presence and authorization that the judge names, and what it leaves unnamed. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fields } from '../../judge/src/adapter.ts';
import { readAuthorization } from '../../judge/src/live/listen.ts';
import {
  mistakesInAuthorization,
  mistakesInBroker,
  mistakesInPresence,
  mistakesInTopics,
  refutesAuthorization,
} from '../../judge/src/mistakes/addresses.ts';
import type { Vector } from '../../judge/src/vectors.ts';

const vector = (fields: object): Vector => ({
  tcId: 1,
  comment: '',
  flags: [],
  result: 'valid',
  ...fields,
});

const KEY = 'access-key-7f3a';

test('distinguishes swapped topics from renamed levels', () => {
  const right = { publish: 'a/in', subscribe: 'a/out', status: 'a/status' };
  const topics = vector({ mqtt: {}, ...right });
  const swapped = { ...right, publish: 'a/out', subscribe: 'a/in' };
  assert.match(
    mistakesInTopics(topics, swapped).join(),
    /^topics: the topics to publish on and to subscribe to/,
  );
  assert.equal(mistakesInTopics(topics, { ...right, status: 'a/presence' }), [
    'topics: presence stands where status does',
  ]);
  assert.equal(mistakesInTopics(topics, { ...right, status: 'b/status' }), []); // which says nothing about the rule
  assert.equal(mistakesInTopics(topics, { ...right, status: 'status' }), []);
  const short = vector({ mqtt: {}, publish: 'a/b/in', subscribe: 'a/b/out', status: 'a/b/status' });
  const lacking = { publish: 'a/in', subscribe: 'a/out', status: 'a/status' };
  assert.equal(mistakesInTopics(short, lacking), ['topics: a level is missing']);
  const twice = { publish: 'a/b/b/in', subscribe: 'a/b/b/out', status: 'a/b/b/status' };
  assert.match(mistakesInTopics(short, twice).join(), /^topics: the hub id is in them twice/);
  assert.match(
    mistakesInTopics(short, {
      ...lacking,
      publish: 'a/b//in',
      subscribe: 'a/b/out',
      status: 'a/b/status',
    }).join(),
    /^topics: slashes/,
  );
  assert.equal(mistakesInTopics(topics, { error: 'bad-topic' }), []);
});

test('identifies the mistake in the hash of the access key', () => {
  const topics = vector({
    mqtt: { access_key: KEY, username: 'kiosk' },
    publish: 'a/c2s/688549544771c93a',
    subscribe: 'a/s2c/688549544771c93a',
    status: 'a/status/688549544771c93a',
  });
  const withHash = (hash: string): Fields => ({
    publish: `a/c2s/${hash}`,
    subscribe: `a/s2c/${hash}`,
    status: `a/status/${hash}`,
  });
  const found = (hash: string): string => mistakesInTopics(topics, withHash(hash)).join();
  assert.match(found(KEY), /is not hashed/);
  assert.match(found('688549544771c93a7112419d33524cd4'), /has 32 digits/);
  assert.match(found('688549544771C93A'), /in upper case/);
  assert.match(found('f5a786242507279d'), /hashed with sha1/);
  assert.match(found('d99cff6fc8a2f1fb'), /another field/);
  assert.is(found('0123456789abcdef'), '');
});

test('distinguishes a default port from an explicit one', () => {
  const right = { url: 'mqtts://broker.example', host: 'broker.example', port: 8883, tls: true };
  const broker = vector({ ...right, mqtt: { endpoint: right.url } });
  const ofMqtts = 'broker: the default port of mqtts is 1883; it is 8883';
  assert.equal(mistakesInBroker(broker, { ...right, port: 1883 }), [ofMqtts]);
  assert.match(mistakesInBroker(broker, { ...right, tls: false }).join(), /tls is false with mqtts/);
  assert.match(
    mistakesInBroker(broker, { ...right, url: `${right.url}:8883` }).join(),
    /names the default port/,
  );
  assert.equal(mistakesInBroker(broker, { ...right, port: 1, tls: false }), []);
  const given = { ...right, url: `${right.url}:9000`, port: 9000 };
  assert.equal(mistakesInBroker(vector(given), { ...given, port: 8883 }), []);
});

test('names both causes if the port is also the default of the scheme', () => {
  const right = { url: 'mqtts://broker.example', host: 'broker.example', port: 8883, tls: true };
  const broker = vector({ ...right, mqtt: { endpoint: 'MQTT://broker.example', tls: true } });
  const [wrongDefault, ofGiven] = mistakesInBroker(broker, { ...right, port: 1883 });
  assert.match(wrongDefault!, /the default port of mqtts is 1883/);
  assert.match(ofGiven!, /is that of mqtt, from before TLS was asked for/);
});

test('finds the field in which presence is wrong', () => {
  const message = { topic: 'a', payload: 'offline', qos: 1, retain: true };
  const presence = vector({ will: message, online: message, offline: message });
  const wrong = { will: message, online: { ...message, qos: 0 }, offline: message };
  assert.equal(mistakesInPresence(presence, wrong), ['presence: qos is 0; it is 1']);
  assert.equal(mistakesInPresence(presence, { will: message, online: message, offline: message }), []);
});

test('recognizes how an authorization is encoded, and which mistakes a correct one rules out', () => {
  const url = `wss://hub/?authorization=${encodeURIComponent(Buffer.from('a:k~~?').toString('base64'))}`;
  const authorized = vector({ userAgent: 'a', accessKey: 'k~~?', url });
  const with64 = (text: string): string => `wss://hub/?authorization=${encodeURIComponent(text)}`;
  const [swapped] = mistakesInAuthorization(authorized, { url: with64(btoa('k~~?:a')) });
  assert.match(swapped!, /^authorization: the access key comes first/);
  assert.ok(refutesAuthorization(authorized, swapped!));
  assert.not.ok(
    refutesAuthorization(authorized, 'authorization: its padding is missing; base64 ends with = here'),
  );
  assert.equal(mistakesInAuthorization(authorized, { url: with64('anything') }), []);
});

test('reads an authorization of any length in linear time', () => {
  const before = process.cpuUsage(); // a busy machine takes longer, with little more of this
  const padded = `YTpi${'='.repeat(200_000)}x`;
  assert.match(readAuthorization(`/?authorization=${padded}`, 'key').cause!, /not base64/);
  assert.ok(process.cpuUsage(before).user < 2_000_000);
});

test.run();
