import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { authorizedUrl } from '../../src/identity/authorized-url.ts';
import { raisesLocal } from '../raises.ts';

const authorizationOf = (url: string): string | null => new URL(url).searchParams.get('authorization');

test('adds the authorization that a hub expects', () => {
  assert.is(
    authorizedUrl('wss://hub:5679/p', 'kiosk/1.0', 'ak'),
    'wss://hub:5679/p?authorization=a2lvc2svMS4wOmFr',
  );
});

test('writes the authorization in UTF-8, base64 and percent-encoding', () => {
  const url = authorizedUrl('wss://hub/', 'kiösk', '??>>~~🔑');
  assert.is(authorizationOf(url), Buffer.from('kiösk:??>>~~🔑').toString('base64'));
  assert.match(url, /\?authorization=[A-Za-z0-9]*(?:%2B|%2F|%3D|[A-Za-z0-9])*$/);
  for (const escaped of ['%2B', '%2F', '%3D']) {
    assert.ok(authorizedUrl('wss://hub', 'x', '>>>???>>').concat(url).includes(escaped), escaped);
  }
});

test('adds a path where there is none', () => {
  assert.is(authorizedUrl('wss://hub', 'a', 'b'), 'wss://hub/?authorization=YTpi');
  assert.is(authorizedUrl('wss://hub?c=d', 'a', 'b'), 'wss://hub/?c=d&authorization=YTpi');
});

test('keeps the other fields of the query', () => {
  assert.is(authorizedUrl('wss://h/p?c=d&e', 'a', 'b'), 'wss://h/p?c=d&e&authorization=YTpi');
  assert.is(authorizedUrl('wss://h/p?', 'a', 'b'), 'wss://h/p?authorization=YTpi');
  const others = 'authorizations=1&x=authorization&%61=2&%e9=3&%4=4&%zz=5';
  assert.is(authorizedUrl(`wss://h/p?${others}`, 'a', 'b'), `wss://h/p?${others}&authorization=YTpi`);
});

test('leaves out every authorization of the query, however its name is written', () => {
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

test('refuses a URL without TLS, unless it is allowed', () => {
  for (const options of [undefined, {}, { allowPlaintext: false }]) {
    raisesLocal(() => authorizedUrl('ws://hub', 'a', 'b', options), 'plaintext-endpoint');
  }
  const url = authorizedUrl('ws://hub', 'a', 'b', { allowPlaintext: true });
  assert.is(url, 'ws://hub/?authorization=YTpi');
});

test('refuses a URL that is not a WebSocket URL', () => {
  for (const url of ['https://hub', 'mqtts://hub', 'hub', 'wss://', 'wss://hub#a', ' wss://hub']) {
    raisesLocal(() => authorizedUrl(url, 'a', 'b'), 'bad-endpoint');
  }
});

test('refuses arguments of the wrong type, and a colon in the user agent', () => {
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
  assert.is(authorizationOf(authorizedUrl('wss://hub', 'a', 'b:c')), Buffer.from('a:b:c').toString('base64'));
  raisesLocal(() => authorizedUrl('wss://hub', 'a', '\ud800'), 'lone-surrogate');
});

test.run();
