import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { clientId } from '../../src/mqtt-topics/client-id.ts';
import { raisesLocal } from '../raises.ts';

test('joins the name and the access key', () => {
  assert.is(clientId('bridge', 'Ak_7-x'), 'bridge-Ak_7-x');
});

test('replaces each character of the access key that not every broker accepts', () => {
  assert.is(clientId('bridge', 'a/b+c d\n.é🔑~'), 'bridge-a-b-c-d-----');
});

test('uses the name as it is', () => {
  assert.is(clientId('my bridge/1', 'ak'), 'my bridge/1-ak');
});

test('uses 48 characters of the access key', () => {
  assert.is(clientId('bridge', 'k'.repeat(48)), `bridge-${'k'.repeat(48)}`);
  assert.is(clientId('bridge', `${'k'.repeat(48)}x`), `bridge-${'k'.repeat(48)}`);
});

test('refuses a name or an access key that is empty or not a string', () => {
  for (const value of ['', undefined, null, 7, ['ak'], {}]) {
    raisesLocal(() => clientId(value as string, 'ak'), 'bad-argument');
    raisesLocal(() => clientId('bridge', value as string), 'bad-argument');
  }
});

test.run();
