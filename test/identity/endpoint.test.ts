/** What vectors/identity.json cannot say of endpoints and authorized URLs: arguments, and what errors show. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { authorizedUrl, readAuthorization } from '../../src/identity/authorized-url.ts';
import { type EndpointOptions, selectEndpoint } from '../../src/identity/endpoint.ts';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { raisesLocal } from '../world/raises.ts';

const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'pw', tls: true };
const ALL = {
  endpoints: { wss: 'wss://hub/w', https: 'https://hub/h', mqtt: 'mqtts://elsewhere' },
  protocols: { wss: true, https: true, mqtt: true },
  mqtt: BROKER,
};

const identityOf = (fields: object): Identity =>
  parseIdentity({ access_key: 'ak', password: 'pw', ...fields });
const select = (fields: object, options?: EndpointOptions) => selectEndpoint(identityOf(fields), options);

test('accepts an issued identity and a parsed one', () => {
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

test('refuses an address formed from fields of the wrong type once it is needed', () => {
  for (const field of [
    { host: {} },
    { host: 'hub', port: {} },
    { host: 'hub', port: '0443' },
    { host: 'hub', path: [] },
  ]) {
    raisesLocal(() => select(field), 'bad-endpoint');
    assert.is(select({ ...field, endpoints: { wss: 'wss://hub' } }).url, 'wss://hub');
  }
  assert.is(select({ host: 'wss://hub:1', port: {} }).url, 'wss://hub:1');
  raisesLocal(() => select({ host: 'hub', endpoints: { wss: 7 } }), 'bad-endpoint');
  raisesLocal(() => select({ mqtt: { ...BROKER, endpoint: 7 } }), 'bad-endpoint');
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

test('authorizedUrl() leaves out every authorization of the query, however its name is written', () => {
  const names = [
    'authorization=x',
    'authorization=',
    'authorization',
    '%61uthorization=z',
    'authorizatio%6E',
    '%61%75thorization==',
  ];
  for (const name of names) {
    assert.is(authorizedUrl(`wss://h/p?${name}&c=d`, 'a', 'b'), 'wss://h/p?c=d&authorization=YTpi', name);
    assert.is(authorizedUrl(`wss://h/p?c=d&${name}`, 'a', 'b'), 'wss://h/p?c=d&authorization=YTpi', name);
  }
  assert.is(authorizedUrl(`wss://h/p?${names.join('&')}`, 'a', 'b'), 'wss://h/p?authorization=YTpi');
});

test('authorizedUrl() gives a host a path, escapes its base64, and takes no TLS if that may be', () => {
  assert.is(authorizedUrl('wss://h/', 'a', '??????'), 'wss://h/?authorization=YTo%2FPz8%2FPz8%3D');
  assert.is(authorizedUrl('wss://h', 'a', 'b'), 'wss://h/?authorization=YTpi');
  assert.is(authorizedUrl('ws://h/p', 'a', 'b', { allowPlaintext: true }), 'ws://h/p?authorization=YTpi');
});

test('authorizedUrl() refuses arguments of the wrong type, and a colon in the user agent', () => {
  for (const value of ['', undefined, null, 1]) {
    raisesLocal(() => authorizedUrl(value as string, 'a', 'b'), 'bad-argument');
    raisesLocal(() => authorizedUrl('wss://hub', value as string, 'b'), 'bad-argument');
    raisesLocal(() => authorizedUrl('wss://hub', 'a', value as string), 'bad-argument');
  }
  for (const options of [null, { allowPlaintext: 'yes' }]) {
    raisesLocal(() => authorizedUrl('wss://hub', 'a', 'b', options as object), 'bad-argument');
  }
  for (const userAgent of ['a:b', ':b', 'a:']) {
    raisesLocal(() => authorizedUrl('wss://hub', userAgent, 'c'), 'bad-argument');
  }
  raisesLocal(() => authorizedUrl('wss://hub', 'a', '\ud800'), 'lone-surrogate');
});

/** The base64 is Python's. */
const AUTHORIZATIONS: readonly (readonly [url: string, userAgent: string, accessKey: string])[] = [
  ['/?authorization=a2lvc2s6YWNjZXNzIGtleQ%3D%3D', 'kiosk', 'access key'],
  ['/?authorization=a2lvc2s6YWNjZXNzIGtleQ==', 'kiosk', 'access key'],
  ['/?authorization=a2lvc2s6YWNjZXNzIGtleQ', 'kiosk', 'access key'],
  ['//?authorization=a2lvc2s6YWNjZXNzIGtleQ==', 'kiosk', 'access key'],
  ['wss://hub.example/?authorization=a2lvc2s6YWNjZXNzIGtleQ==#there', 'kiosk', 'access key'],
  ['/?a=b&%61uthorization=a2lvc2s6YWNjZXNzIGtleQ==&authorization=dDphOmI6Yw==', 'kiosk', 'access key'],
  ['/?authorization=bGFtcDpuP34%2Bbw%3D%3D', 'lamp', 'n?~>o'],
  ['/?authorization=bGFtcDpuP34+bw==', 'lamp', 'n?~>o'],
  ['/?authorization=bGFtcDpuP34 bw==', 'lamp', 'n?~>o'],
  ['/?authorization=bGFtcDpuP34%20bw==', 'lamp', 'n?~>o'],
  ['/?authorization=dDphOmI6Yw==', 't', 'a:b:c'],
  ['/?authorization=a2lvc2s60LrQu9GO0Yct8J+UkSs=', 'kiosk', 'ключ-\u{1f511}+'],
  ['/?authorization=Og==', '', ''],
];

for (const [url, userAgent, accessKey] of AUTHORIZATIONS) {
  test(`readAuthorization() reads ${url}`, () => {
    assert.equal(readAuthorization(url), { userAgent, accessKey });
  });
}

const NOT_AUTHORIZED = [
  ...[
    '',
    '/',
    '//',
    '//[',
    '*',
    'http://[',
    '/?',
    '/?authorization',
    '/?authorization=',
    '/?authorization=%',
  ],
  ...['authorization=YTpi', '/#?authorization=YTpi', '/?authorizations=YTpi', '/?a=1?authorization=YTpi'],
  '/?authorization=YTp%',
  '/?authorization=YTpiY', // a length that no bytes have
  '/?authorization=YTpi====',
  '/?authorization=YTp-', // another alphabet
  '/?authorization=YTp\u{1f511}',
  '/?authorization=\ud800',
  '/?authorization=YWI=', // without a colon
  '/?authorization=gDpi', // not UTF-8
];

test('readAuthorization() returns undefined for any other URL', () => {
  for (const url of NOT_AUTHORIZED) assert.is(readAuthorization(url), undefined, url);
  for (const url of [undefined, null, 1] as unknown[])
    raisesLocal(() => readAuthorization(url as string), 'bad-argument');
});

test('readAuthorization() reads what authorizedUrl() wrote', () => {
  for (const accessKey of ['n?~>o', 'a:b', '\u{1f511}', ' ', 'k'.repeat(300), '++//==']) {
    const url = authorizedUrl('wss://hub/p?a=b', 'kiosk', accessKey);
    assert.equal(readAuthorization(url), { userAgent: 'kiosk', accessKey });
  }
});

test.run();
