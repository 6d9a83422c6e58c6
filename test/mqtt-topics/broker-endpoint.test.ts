import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { type BrokerEndpoint, brokerEndpoint } from '../../src/mqtt-topics/broker-endpoint.ts';
import { raisesLocal } from '../raises.ts';

const PLAINTEXT = { allowPlaintext: true };
const refuses = (endpoint: string, fields = {}): unknown =>
  raisesLocal(() => brokerEndpoint({ endpoint, ...fields }, PLAINTEXT), 'bad-endpoint');

const SCHEMES: [endpoint: string, tls: boolean | undefined, BrokerEndpoint][] = [
  ['mqtt://b', undefined, { url: 'mqtt://b', host: 'b', port: 1883, tls: false }],
  ['mqtts://b', undefined, { url: 'mqtts://b', host: 'b', port: 8883, tls: true }],
  ['ssl://b', undefined, { url: 'ssl://b', host: 'b', port: 8883, tls: true }],
  ['ws://b', undefined, { url: 'ws://b', host: 'b', port: 80, tls: false }],
  ['wss://b', undefined, { url: 'wss://b', host: 'b', port: 443, tls: true }],
  ['mqtt://b', true, { url: 'mqtts://b', host: 'b', port: 8883, tls: true }],
  ['ssl://b', true, { url: 'ssl://b', host: 'b', port: 8883, tls: true }],
  ['ws://b', true, { url: 'wss://b', host: 'b', port: 443, tls: true }],
  ['wss://b', true, { url: 'wss://b', host: 'b', port: 443, tls: true }],
  ['mqtt://b', false, { url: 'mqtt://b', host: 'b', port: 1883, tls: false }],
  ['mqtts://b', false, { url: 'mqtts://b', host: 'b', port: 8883, tls: true }],
  ['ssl://b', false, { url: 'ssl://b', host: 'b', port: 8883, tls: true }],
  ['wss://b', false, { url: 'wss://b', host: 'b', port: 443, tls: true }],
];
for (const [endpoint, tls, expected] of SCHEMES) {
  test(`reads ${endpoint} with tls ${tls}`, () => {
    assert.equal(brokerEndpoint({ endpoint, tls }, PLAINTEXT), expected);
    if (expected.tls) assert.equal(brokerEndpoint({ endpoint, tls }), expected);
    else raisesLocal(() => brokerEndpoint({ endpoint, tls }), 'plaintext-endpoint');
  });
}

test('refuses an address without TLS if the flag cannot be read', () => {
  for (const tls of [' on', 'maybe', '', 2, [], {}]) {
    for (const endpoint of ['mqtt://b', 'ws://b']) {
      raisesLocal(() => brokerEndpoint({ endpoint, tls }), 'plaintext-endpoint');
      raisesLocal(() => brokerEndpoint({ endpoint, tls }, { allowPlaintext: false }), 'plaintext-endpoint');
      assert.is(brokerEndpoint({ endpoint, tls }, PLAINTEXT).tls, false);
    }
    assert.is(brokerEndpoint({ endpoint: 'mqtts://b', tls }).tls, true);
  }
});

test('reads schemes in either case, and ignores white space around the address', () => {
  for (const endpoint of [' MqTt://Broker\n', '\ufeffmqtt://Broker\u00a0']) {
    assert.equal(brokerEndpoint({ endpoint, tls: 'yes' }), {
      url: 'mqtts://Broker',
      host: 'Broker',
      port: 8883,
      tls: true,
    });
  }
});

test('refuses other schemes, and a missing one, whatever the flag says', () => {
  const schemes = ['tcp', 'http', 'https', 'tls', 'mqttss', 'mqt', 'file', 'constructor', 'tostring'];
  for (const endpoint of [...schemes.map((scheme) => `${scheme}://b`), 'b', 'b:1883', 'mqtt:b', '//b', '']) {
    for (const tls of [undefined, true, false]) refuses(endpoint, { tls });
  }
  raisesLocal(() => brokerEndpoint({ username: 'user' }), 'bad-endpoint');
});

test('keeps a port that is given', () => {
  assert.equal(brokerEndpoint({ endpoint: 'mqtt://b:1884', tls: true }), {
    url: 'mqtts://b:1884',
    host: 'b',
    port: 1884,
    tls: true,
  });
  for (const port of [1, 65535]) assert.is(brokerEndpoint({ endpoint: `wss://b:${port}/` }).port, port);
});

test('refuses a port outside 1 to 65535, or none after the colon', () => {
  for (const port of ['0', '65536', '-1', 'x', '1e3', '', '1883x', '18 83', '８８'])
    refuses(`mqtt://b:${port}`);
});

test('keeps the path of a WebSocket without the slash at its end', () => {
  const urlOf = (endpoint: string) => brokerEndpoint({ endpoint }, PLAINTEXT).url;
  assert.is(urlOf('ws://b/mqtt'), 'ws://b/mqtt');
  assert.is(urlOf('wss://b/'), 'wss://b');
  assert.is(urlOf('wss://b:8080/mqtt'), 'wss://b:8080/mqtt');
  assert.is(urlOf('wss://b/a/mqtt/'), 'wss://b/a/mqtt');
});

test('leaves out the path of an address that is not a WebSocket', () => {
  for (const path of ['', '/', '/a/b']) {
    assert.is(brokerEndpoint({ endpoint: `mqtts://b:1${path}` }).url, 'mqtts://b:1');
  }
});

test('refuses a user, a password, a query and a fragment', () => {
  for (const start of ['mqtts://', 'wss://']) {
    for (const rest of ['user@b', 'user:pw@b', '@b', 'user:12/pw@b', 'b?', 'b/?a=1', 'b#', 'b/p#a']) {
      refuses(start + rest);
    }
  }
});

test('reads an IPv6 address in brackets, and refuses one without', () => {
  assert.equal(brokerEndpoint({ endpoint: 'mqtts://[2001:db8::1]:8884' }), {
    url: 'mqtts://[2001:db8::1]:8884',
    host: '2001:db8::1',
    port: 8884,
    tls: true,
  });
  for (const host of ['::1', '[::1', '::1]', '[]', '[b]', '[::1]b']) refuses(`mqtt://${host}`);
});

test('refuses strings that are not a host', () => {
  for (const host of ['', ':1883', '/path', 'a b', 'a\\b', 'a\u0000b', 'a,b', 'a%b', 'a\u2003b', 'a\u007f']) {
    refuses(`mqtt://${host}`);
  }
});

test('reads an endpoint under every name, and what parseIdentity() returned', () => {
  const expected = brokerEndpoint({ endpoint: 'ws://b', tls: true });
  for (const name of ['endpoint', 'broker_url', 'brokerUrl']) {
    assert.equal(brokerEndpoint({ [name]: 'ws://b', tls: 'on' }), expected);
  }
  const mqtt = { broker_url: 'ws://b', username: 'u', password: 'p', tls: 1 };
  const identity = parseIdentity({ access_key: 'ak', password: 'pw', mqtt });
  assert.equal(brokerEndpoint(identity.mqtt!), expected);
});

test('refuses arguments of the wrong type, and an address of the wrong type', () => {
  for (const mqtt of [undefined, null, 'mqtt://b', 1, []]) {
    raisesLocal(() => brokerEndpoint(mqtt as object), 'identity-field');
  }
  for (const options of [null, { allowPlaintext: 1 }]) {
    raisesLocal(() => brokerEndpoint({ endpoint: 'mqtts://b' }, options as object), 'bad-argument');
  }
  for (const endpoint of [1, {}, ['mqtts://b']]) refuses(endpoint as never);
});

test('shows no value in an error', () => {
  for (const endpoint of ['mqtts://u:S3cr3t@b', 'mqtts://b?S3cr3t', 'tcp://S3cr3t', 'S3cr3t']) {
    const error = raisesLocal(() => brokerEndpoint({ endpoint }), 'bad-endpoint');
    assert.not.match(error.stack!.split('\n    at')[0]!, 'S3cr3t');
  }
});

test.run();
