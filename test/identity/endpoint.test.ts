import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { authorizedUrl, type EndpointOptions, selectEndpoint } from '../../src/identity/endpoint.ts';
import { type Identity, parseIdentity } from '../../src/identity/identity.ts';
import { raisesLocal } from '../raises.ts';

const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'pw', tls: true };
const ALL = {
  endpoints: { wss: 'wss://hub/w', https: 'https://hub/h', mqtt: 'mqtts://elsewhere' },
  protocols: { wss: true, https: true, mqtt: true },
  mqtt: BROKER,
};

const identityOf = (fields: object): Identity =>
  parseIdentity({ access_key: 'ak', password: 'pw', ...fields });
const select = (fields: object, options?: EndpointOptions) => selectEndpoint(identityOf(fields), options);
const wssOf = (fields: object): string => select(fields).url;
const httpsOf = (fields: object): string =>
  select({ protocols: { https: true }, ...fields }, { requested: 'https' }).url;

test('prefers WSS, then HTTPS, then MQTT', () => {
  assert.equal(select(ALL), { protocol: 'wss', url: 'wss://hub/w' });
  assert.equal(select({ ...ALL, protocols: { wss: false, https: true, mqtt: true } }), {
    protocol: 'https',
    url: 'https://hub/h',
  });
  assert.equal(select({ ...ALL, protocols: { wss: false, https: false, mqtt: true } }), {
    protocol: 'mqtt',
    url: 'mqtts://broker',
  });
});

test('prefers in the same order however the supported protocols are listed', () => {
  assert.is(select(ALL, { supported: ['mqtt', 'https', 'wss'] }).protocol, 'wss');
  assert.is(select(ALL, { supported: ['mqtt', 'https'] }).protocol, 'https');
  assert.is(select(ALL, { supported: ['mqtt'] }).protocol, 'mqtt');
});

test('takes the protocol that is asked for', () => {
  assert.is(select(ALL, { requested: 'wss' }).protocol, 'wss');
  assert.is(select(ALL, { requested: 'https' }).protocol, 'https');
  assert.is(select(ALL, { supported: ['wss', 'mqtt'], requested: 'mqtt' }).protocol, 'mqtt');
});

test('refuses to be asked for a protocol that is not supported, whatever the identity has', () => {
  for (const fields of [ALL, {}]) {
    const ask = (options: EndpointOptions) =>
      raisesLocal(() => select(fields, options), 'unsupported-protocol');
    ask({ supported: ['wss'], requested: 'https' });
    ask({ supported: ['wss'], requested: 'mqtt' });
    ask({ supported: [], requested: 'wss' });
    ask({ requested: 'tcp' as 'wss' });
  }
});

test('passes over a protocol that the hub does not serve, or that has no address', () => {
  const { wss, ...endpoints } = ALL.endpoints;
  assert.is(select({ ...ALL, endpoints }).protocol, 'https');
  assert.is(select({ ...ALL, endpoints: { ...endpoints, wss: ' ' } }).protocol, 'https');
  assert.is(select({ ...ALL, endpoints: {} }).protocol, 'mqtt');
  assert.is(
    select({ ...ALL, protocols: { https: true } }, { supported: ['https', 'mqtt'] }).protocol,
    'https',
  );
});

test('finds no endpoint where nothing is left', () => {
  const none = (fields: object, options?: EndpointOptions) =>
    raisesLocal(() => select(fields, options), 'no-endpoint');
  none({});
  none({ default_master: ' ' });
  none(ALL, { supported: [] });
  none({ ...ALL, protocols: { wss: false } });
  none({ ...ALL, protocols: {} }, { requested: 'https' });
  none({ ...ALL, protocols: {} }, { requested: 'mqtt' });
  none({ ...ALL, endpoints: {} }, { requested: 'wss' });
  none({ ...ALL, mqtt: { ...BROKER, password: '' } }, { requested: 'mqtt' });
  none({ default_master: 'hub', protocols: { mqtt: true } }, { requested: 'mqtt' });
});

test('answers an explicit endpoint as it was issued but for white space around', () => {
  for (const url of ['wss://Hub.example', 'ws://u:p@hub:1/?a=b#c', 'WSS://[::1]/', 'wss://hüb/%20']) {
    assert.is(wssOf({ endpoints: { wss: ` ${url}\n` }, host: 'other' }), url);
  }
  for (const url of ['https://hub', 'http://hub:80/a/']) {
    assert.is(httpsOf({ endpoints: { https: url }, host: 'other' }), url);
  }
});

test('refuses an explicit endpoint for another protocol, or that is no URL', () => {
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

test('refuses an endpoint that cannot be used rather than to pass over it', () => {
  raisesLocal(() => select({ ...ALL, endpoints: { ...ALL.endpoints, wss: 'hub' } }), 'bad-endpoint');
});

test('looks at no endpoint that it does not choose', () => {
  const fields = { ...ALL, endpoints: { wss: 'hub', https: 'https://hub' } };
  assert.is(select(fields, { supported: ['https'] }).url, 'https://hub');
});

test('makes an address of the default host, with the port 5679', () => {
  assert.is(wssOf({ default_master: 'hub.example' }), 'wss://hub.example:5679');
  assert.is(httpsOf({ default_master: 'hub.example' }), 'https://hub.example:5679');
  assert.is(wssOf({ default_master: ' [2001:db8::1] ' }), 'wss://[2001:db8::1]:5679');
});

test('takes the port of the default host, then the default port', () => {
  assert.is(wssOf({ host: 'hub:1', port: 2 }), 'wss://hub:1');
  assert.is(wssOf({ host: 'https://hub:1', port: 2 }), 'wss://hub:1');
  assert.is(wssOf({ host: 'hub', port: '2' }), 'wss://hub:2');
  assert.is(wssOf({ host: 'https://hub', port: 2 }), 'wss://hub:2');
});

test('takes the scheme of the default host for no more than whether there is TLS', () => {
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

test('refuses the endpoint of a broker that is refused', () => {
  const mqtt = { ...BROKER, endpoint: 'tcp://broker' };
  raisesLocal(() => select({ ...ALL, mqtt }, { requested: 'mqtt' }), 'bad-endpoint');
});

test('refuses what is no identity, and protocols that are no list', () => {
  for (const identity of [undefined, null, 'wss://hub', {}, { protocols: {} }]) {
    raisesLocal(() => selectEndpoint(identity as Identity), 'bad-argument');
  }
  for (const supported of ['wss', null, {}]) {
    raisesLocal(() => select(ALL, { supported: supported as [] }), 'bad-argument');
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
});

const authorizationOf = (url: string): string | null => new URL(url).searchParams.get('authorization');

test('adds the authorization that a hub expects', () => {
  assert.is(
    authorizedUrl('wss://hub:5679/p', 'kiosk/1.0', 'ak'),
    'wss://hub:5679/p?authorization=a2lvc2svMS4wOmFr',
  );
});

test('writes authorization in UTF-8, base64 and percent-encoding', () => {
  const url = authorizedUrl('wss://hub/', 'kiösk', '??>>~~🔑');
  assert.is(authorizationOf(url), Buffer.from('kiösk:??>>~~🔑').toString('base64'));
  assert.match(url, /\?authorization=[A-Za-z0-9]*(?:%2B|%2F|%3D|[A-Za-z0-9])*$/);
  for (const escaped of ['%2B', '%2F', '%3D']) {
    assert.ok(authorizedUrl('wss://hub', 'x', '>>>???>>').concat(url).includes(escaped), escaped);
  }
});

test('writes a path for the hub alone', () => {
  assert.is(authorizedUrl('ws://hub', 'a', 'b'), 'ws://hub/?authorization=YTpi');
  assert.is(authorizedUrl('ws://hub?c=d', 'a', 'b'), 'ws://hub/?c=d&authorization=YTpi');
});

test('keeps a query but for an authorization in it', () => {
  assert.is(authorizedUrl('wss://h/p?c=d&e', 'a', 'b'), 'wss://h/p?c=d&e&authorization=YTpi');
  assert.is(authorizedUrl('wss://h/p?', 'a', 'b'), 'wss://h/p?authorization=YTpi');
  assert.is(
    authorizedUrl('wss://h/p?authorization=x&c=d&authorization=', 'a', 'b'),
    'wss://h/p?c=d&authorization=YTpi',
  );
});

test('refuses a URL that is not for a WebSocket', () => {
  for (const url of ['https://hub', 'mqtts://hub', 'hub', 'wss://', 'wss://hub#a', ' wss://hub']) {
    raisesLocal(() => authorizedUrl(url, 'a', 'b'), 'bad-endpoint');
  }
});

test('refuses arguments that are empty or no texts, and a colon in the user agent', () => {
  for (const value of ['', undefined, null, 1]) {
    raisesLocal(() => authorizedUrl(value as string, 'a', 'b'), 'bad-argument');
    raisesLocal(() => authorizedUrl('wss://hub', value as string, 'b'), 'bad-argument');
    raisesLocal(() => authorizedUrl('wss://hub', 'a', value as string), 'bad-argument');
  }
  raisesLocal(() => authorizedUrl('wss://hub', 'a:b', 'c'), 'bad-argument');
  assert.is(authorizationOf(authorizedUrl('wss://hub', 'a', 'b:c')), Buffer.from('a:b:c').toString('base64'));
  raisesLocal(() => authorizedUrl('wss://hub', 'a', '\ud800'), 'lone-surrogate');
});

test.run();
