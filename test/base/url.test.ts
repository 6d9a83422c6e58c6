import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { splitUrl, trimSlashes } from '../../src/url.ts';
import { fc } from '../world/property.ts';

test('reads hosts by name, in any script, and by address', () => {
  for (const host of [
    'localhost',
    'a_b.c-d~',
    'bücher.example',
    '192.0.2.1',
    '[2001:db8::1]',
    '[::ffff:192.0.2.1]',
  ]) {
    assert.is(splitUrl(`ws://u@${host}:1/p`)?.host, host);
  }
});

test('refuses brackets around anything but an IPv6 address', () => {
  for (const host of ['[]', '[a]', '[192.0.2.1]', '[::g]', '[::1', '::1]', '[::1]a', 'a[::1]']) {
    assert.is(splitUrl(`ws://${host}/`), undefined, host);
  }
});

test('refuses strings without a scheme or a host', () => {
  for (const text of [
    '',
    'h',
    'h:1',
    '//h',
    'ws:h',
    'ws:/h',
    '1ws://h',
    'ws://',
    'ws:///p',
    'ws://u@',
    'ws://:1',
  ]) {
    assert.is(splitUrl(text), undefined, text);
  }
});

test('refuses ports outside 1 to 65535', () => {
  assert.is(splitUrl('ws://h:1')?.port, 1);
  assert.is(splitUrl('ws://h:65535')?.port, 65535);
  for (const port of ['', '0', '65536', '-1', '+1', '1.', 'x', '9'.repeat(400)]) {
    assert.is(splitUrl(`ws://h:${port}`), undefined, port);
  }
});

test('refuses white space, controls and backslashes anywhere', () => {
  for (const character of [
    ' ',
    '\t',
    '\n',
    '\u0000',
    '\u001f',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ufeff',
    '\\',
  ]) {
    for (const url of ['ws://u#h', 'ws://h#', 'ws://h/#', 'ws://h?#', '#ws://h']) {
      assert.is(splitUrl(url.replace('#', character)), undefined);
    }
  }
});

test('finds the same host as the URL class', () => {
  const piece = fc.constantFrom(
    '/',
    '?',
    '#',
    '@',
    ':',
    '\\',
    '[',
    ']',
    '::',
    'a',
    'b.c',
    '%',
    '%2f',
    '.',
    '-',
    '\t',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const url = `wss://${pieces.join('')}`;
      const parts = splitUrl(url);
      if (parts === undefined || !URL.canParse(url)) return;
      const { hostname, username, password } = new URL(url);
      assert.is(parts.host, hostname, url);
      if (parts.userinfo === '') assert.is(username + password, '', url);
    }),
    { numRuns: 5000 },
  );
});

test('trims slashes at both ends and no others', () => {
  for (const [path, trimmed] of [
    ['', ''],
    ['/', ''],
    ['///', ''],
    ['a', 'a'],
    ['/a//b///', 'a//b'],
    [' / ', ' / '],
  ] as const) {
    assert.is(trimSlashes(path), trimmed);
  }
});

test.run();
