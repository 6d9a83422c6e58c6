import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type EndpointOptions, selectEndpoint } from '../../src/identity/endpoint.ts';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { raisesLocal } from '../raises.ts';

const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'pw', tls: true };
const ALL = {
  endpoints: { wss: 'wss://hub/w', https: 'https://hub/h', mqtt: 'mqtts://elsewhere' },
  protocols: { wss: true, https: true, mqtt: true },
  mqtt: BROKER,
};
const PLAIN = {
  ...ALL,
  endpoints: { wss: 'ws://hub/w', https: 'http://hub/h' },
  mqtt: { ...BROKER, tls: false },
};

const identityOf = (fields: object): Identity =>
  parseIdentity({ access_key: 'ak', password: 'pw', ...fields });
const select = (fields: object, options?: EndpointOptions) => selectEndpoint(identityOf(fields), options);
const wssOf = (fields: object): string => select(fields, { requested: 'wss', allowPlaintext: true }).url;
const httpsOf = (fields: object): string =>
  select({ protocols: { https: true }, ...fields }, { requested: 'https', allowPlaintext: true }).url;

test('prefers WSS, then HTTPS, then MQTT', () => {
  assert.equal(select(ALL), { protocol: 'wss', url: 'wss://hub/w', tls: true });
  assert.equal(select({ ...ALL, protocols: { wss: false, https: true, mqtt: true } }), {
    protocol: 'https',
    url: 'https://hub/h',
    tls: true,
  });
  assert.equal(select({ ...ALL, protocols: { wss: false, https: false, mqtt: true } }), {
    protocol: 'mqtt',
    url: 'mqtts://broker',
    tls: true,
  });
});

test('prefers in the same order however the supported protocols are listed', () => {
  assert.is(select(ALL, { supported: ['mqtt', 'https', 'wss'] }).protocol, 'wss');
  assert.is(select(ALL, { supported: ['mqtt', 'https'] }).protocol, 'https');
  assert.is(select(ALL, { supported: ['mqtt'] }).protocol, 'mqtt');
});

test('selects the protocol that is requested', () => {
  assert.is(select(ALL, { requested: 'wss' }).protocol, 'wss');
  assert.is(select(ALL, { requested: 'https' }).protocol, 'https');
  assert.is(select(ALL, { supported: ['wss', 'mqtt'], requested: 'mqtt' }).protocol, 'mqtt');
});

test('refuses a requested protocol that is not supported, whatever the identity has', () => {
  for (const fields of [ALL, {}]) {
    const request = (options: EndpointOptions) =>
      raisesLocal(() => select(fields, options), 'unsupported-protocol');
    request({ supported: ['wss'], requested: 'https' });
    request({ supported: ['wss'], requested: 'mqtt' });
    request({ supported: [], requested: 'wss' });
    request({ requested: 'tcp' as 'wss' });
  }
});

test('passes over a protocol that the hub does not serve, or that has no address', () => {
  const { wss, ...endpoints } = ALL.endpoints;
  assert.is(select({ ...ALL, endpoints }).protocol, 'https');
  assert.is(select({ ...ALL, endpoints: { ...endpoints, wss: ' ' } }).protocol, 'https');
  assert.is(select({ ...ALL, endpoints: {} }).protocol, 'mqtt');
  const { protocol } = select({ ...ALL, protocols: { https: true } }, { supported: ['https', 'mqtt'] });
  assert.is(protocol, 'https');
});

test('refuses an identity in which no endpoint can be used', () => {
  const none = (fields: object, options?: EndpointOptions) =>
    raisesLocal(() => select(fields, options), 'no-endpoint');
  none({});
  none({ default_master: ' ' });
  none(ALL, { supported: [] });
  none({ ...ALL, protocols: { wss: false, mqtt: false } });
  none({ ...ALL, protocols: {} }, { requested: 'https' });
  none({ ...ALL, protocols: { mqtt: false } }, { requested: 'mqtt' });
  none({ ...ALL, endpoints: {} }, { requested: 'wss' });
  none({ ...ALL, mqtt: { ...BROKER, password: '' } }, { requested: 'mqtt' });
  none({ default_master: 'hub', protocols: { mqtt: true } }, { requested: 'mqtt' });
});

test('selects MQTT if broker credentials exist and protocols does not mention MQTT', () => {
  assert.equal(select({ mqtt: BROKER }), { protocol: 'mqtt', url: 'mqtts://broker', tls: true });
  const { endpoint: _, ...credentials } = BROKER;
  assert.is(select({ endpoints: { mqtt: 'mqtts://elsewhere' }, mqtt: credentials }).url, 'mqtts://elsewhere');
});

test('returns an explicit endpoint as it was issued, without white space around it', () => {
  for (const url of ['wss://Hub.example', 'ws://u:p@hub:1/?a=b#c', 'WSS://[::1]/', 'wss://hüb/%20']) {
    assert.is(wssOf({ endpoints: { wss: ` ${url}\n` }, host: 'other' }), url);
  }
  for (const url of ['https://hub', 'http://hub:80/a/']) {
    assert.is(httpsOf({ endpoints: { https: url }, host: 'other' }), url);
  }
});

test('passes over plaintext endpoints for a later protocol with TLS, allowed or not', () => {
  for (const allowPlaintext of [undefined, false, true]) {
    const https = { ...PLAIN, endpoints: { ...PLAIN.endpoints, https: 'https://hub' } };
    assert.equal(select(https, { allowPlaintext }), { protocol: 'https', url: 'https://hub', tls: true });
    assert.is(select({ ...PLAIN, mqtt: BROKER }, { allowPlaintext }).url, 'mqtts://broker');
    assert.is(
      select({ ...PLAIN, endpoints: { wss: 'ws://hub' }, host: 'hub' }, { allowPlaintext }).protocol,
      'https',
    );
  }
});

test('refuses plaintext endpoints if there is no other, unless they are allowed', () => {
  for (const allowPlaintext of [undefined, false]) {
    raisesLocal(() => select(PLAIN, { allowPlaintext }), 'plaintext-endpoint');
    raisesLocal(() => select({ host: 'ws://hub' }, { allowPlaintext }), 'plaintext-endpoint');
    for (const requested of ['wss', 'https', 'mqtt'] as const) {
      raisesLocal(() => select(PLAIN, { requested, allowPlaintext }), 'plaintext-endpoint');
    }
    const secure = { ...PLAIN, mqtt: BROKER };
    raisesLocal(() => select(secure, { supported: ['wss', 'https'], allowPlaintext }), 'plaintext-endpoint');
  }
  assert.equal(select(PLAIN, { allowPlaintext: true }), { protocol: 'wss', url: 'ws://hub/w', tls: false });
  assert.equal(select(PLAIN, { requested: 'https', allowPlaintext: true }), {
    protocol: 'https',
    url: 'http://hub/h',
    tls: false,
  });
  assert.equal(select(PLAIN, { requested: 'mqtt', allowPlaintext: true }), {
    protocol: 'mqtt',
    url: 'mqtt://broker',
    tls: false,
  });
});

test('refuses an explicit endpoint for another protocol, or that is not a URL', () => {
  const bad = [
    'hub',
    'wss:hub',
    'wss://',
    'wss:///p',
    'wss://h:0',
    'wss://h:65536',
    'wss://a b',
    'wss://a\\b',
  ];
  for (const url of ['https://hub', 'http://hub', 'mqtts://hub', 'wssx://hub', ...bad]) {
    raisesLocal(() => wssOf({ endpoints: { wss: url }, host: 'other' }), 'bad-endpoint');
  }
  for (const url of ['wss://hub', 'ws://hub', 'hub']) {
    raisesLocal(() => httpsOf({ endpoints: { https: url } }), 'bad-endpoint');
  }
});

test('refuses an endpoint that cannot be used, and does not pass over it', () => {
  for (const wss of ['hub', 7, {}]) {
    raisesLocal(() => select({ ...ALL, endpoints: { ...ALL.endpoints, wss } }), 'bad-endpoint');
  }
});

test('ignores the endpoints of protocols that are not considered', () => {
  for (const wss of ['hub', 7]) {
    const fields = { ...ALL, endpoints: { wss, https: 'https://hub' } };
    assert.is(select(fields, { supported: ['https'] }).url, 'https://hub');
  }
});

test('refuses an address formed from fields of the wrong type once it is needed', () => {
  for (const field of [
    { host: {} },
    { host: 'hub', port: {} },
    { host: 'hub', port: '0443' },
    { host: 'hub', path: [] },
  ]) {
    raisesLocal(() => wssOf(field), 'bad-endpoint');
    assert.is(wssOf({ ...field, endpoints: { wss: 'wss://hub' } }), 'wss://hub');
  }
  raisesLocal(() => wssOf({ host: 'hub', endpoints: { wss: 7 } }), 'bad-endpoint');
  raisesLocal(() => select({ mqtt: { ...BROKER, endpoint: 7 } }), 'bad-endpoint');
});

test('needs no default port if the host has a port', () => {
  assert.is(wssOf({ host: 'hub:443', port: {} }), 'wss://hub:443');
});

test('ignores objects of the wrong type', () => {
  for (const value of [[], 'x', 7]) {
    assert.is(wssOf({ host: 'hub', endpoints: value, protocols: value, mqtt: value }), 'wss://hub:5679');
  }
});

test('forms an address from the default host, with port 5679', () => {
  assert.is(wssOf({ default_master: 'hub.example' }), 'wss://hub.example:5679');
  assert.is(httpsOf({ default_master: 'hub.example' }), 'https://hub.example:5679');
  assert.is(wssOf({ default_master: ' [2001:db8::1] ' }), 'wss://[2001:db8::1]:5679');
});

test('uses the port of the default host, then the default port', () => {
  assert.is(wssOf({ host: 'hub:1', port: 2 }), 'wss://hub:1');
  assert.is(wssOf({ host: 'https://hub:1', port: 2 }), 'wss://hub:1');
  assert.is(wssOf({ host: 'hub', port: '2' }), 'wss://hub:2');
  assert.is(wssOf({ host: 'https://hub', port: 2 }), 'wss://hub:2');
});

test('takes from the scheme of the default host only whether there is TLS', () => {
  for (const scheme of ['wss', 'https', 'HTTPS']) {
    assert.is(wssOf({ host: `${scheme}://hub` }), 'wss://hub:5679');
    assert.is(httpsOf({ host: `${scheme}://hub` }), 'https://hub:5679');
  }
  for (const scheme of ['ws', 'http', 'Ws']) {
    assert.is(wssOf({ host: `${scheme}://hub` }), 'ws://hub:5679');
    assert.is(httpsOf({ host: `${scheme}://hub` }), 'http://hub:5679');
  }
});

test('adds the default path, with one slash before it and none after', () => {
  for (const path of ['a/b', '/a/b', '/a/b/', ' //a/b// ']) {
    assert.is(wssOf({ host: 'hub', path }), 'wss://hub:5679/a/b');
    assert.is(wssOf({ host: 'wss://hub/', path }), 'wss://hub:5679/a/b');
    assert.is(wssOf({ host: 'wss://hub:1/base/', path }), 'wss://hub:1/base/a/b');
  }
  for (const path of ['', '/', ' ']) {
    assert.is(wssOf({ host: 'hub', path }), 'wss://hub:5679');
    assert.is(wssOf({ host: 'wss://hub/base/', path }), 'wss://hub:5679/base');
  }
});

test('keeps the user of a default host', () => {
  assert.is(wssOf({ host: 'https://u:p@hub' }), 'wss://u:p@hub:5679');
});

test('refuses a default host that is neither a host nor a URL of a hub', () => {
  const hosts = [
    'mqtts://hub',
    'ftp://hub',
    'hub:0',
    'hub:65536',
    'hub:',
    'hub:x',
    '::1',
    'a b',
    'wss:hub',
    '//hub',
  ];
  for (const host of [...hosts, 'wss://hub?a', 'hub/?a', 'wss://hub#a', 'a,b']) {
    raisesLocal(() => wssOf({ host }), 'bad-endpoint');
    raisesLocal(() => httpsOf({ host }), 'bad-endpoint');
  }
  raisesLocal(() => wssOf({ host: 'hub', path: '/a b' }), 'bad-endpoint');
});

test('refuses the address of a broker that brokerEndpoint() refuses', () => {
  const mqtt = { ...BROKER, endpoint: 'tcp://broker' };
  raisesLocal(() => select({ ...ALL, mqtt }, { requested: 'mqtt' }), 'bad-endpoint');
});

test('takes an identity as it was issued, and the fields of one', () => {
  const issued = { access_key: 'ak', password: 'pw', host: 'hub' };
  assert.is(selectEndpoint(issued as unknown as Identity).url, 'wss://hub:5679');
  const { accessKey, password, defaultMaster } = parseIdentity(issued);
  assert.is(selectEndpoint({ accessKey, password, defaultMaster } as Identity).url, 'wss://hub:5679');
});

test('refuses anything but an identity, and options of the wrong type', () => {
  for (const identity of [undefined, null, 'wss://hub', []]) {
    assert.throws(
      () => selectEndpoint(identity as never),
      ({ code }: { code: string }) => code.startsWith('identity-'),
    );
  }
  raisesLocal(() => selectEndpoint({} as Identity), 'identity-access-key');
  for (const supported of ['wss', null, {}]) {
    raisesLocal(() => select(ALL, { supported: supported as [] }), 'bad-argument');
  }
  for (const allowPlaintext of ['true', 1, null]) {
    raisesLocal(() => select(ALL, { allowPlaintext: allowPlaintext as never }), 'bad-argument');
  }
});

test('shows no value in an error', () => {
  for (const fields of [
    { endpoints: { wss: 'https://u:S3cr3t@hub' } },
    { endpoints: { wss: 'S3cr3t' } },
    { host: 'mqtt://u:S3cr3t@hub' },
    { host: 'wss://hub?S3cr3t' },
  ]) {
    const error = raisesLocal(() => select(fields), 'bad-endpoint');
    assert.not.match(error.stack!.split('\n    at')[0]!, 'S3cr3t');
  }
  const error = raisesLocal(() => select({ host: 'ws://u:S3cr3t@hub' }), 'plaintext-endpoint');
  assert.not.match(error.stack!.split('\n    at')[0]!, 'S3cr3t');
});

test('no-endpoint names the fields that have addresses, and unknown ones, but nothing that could be a secret', () => {
  const messageOf = (fields: object): string => {
    try {
      select(fields);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  for (const name of ['data_plane_endpoints', 'default_master', 'mqtt']) assert.match(messageOf({}), name);
  assert.match(messageOf({ url: 'wss://secret.example', endpoint: 'x' }), /Unknown fields: url, endpoint$/);
  assert.not.match(messageOf({ url: 'wss://secret.example' }), 'secret');
  assert.not.match(messageOf({ 'a secret\n': 1 }), /secret|Unknown/);
  assert.not.match(messageOf({}), 'Unknown');
});

test.run();
