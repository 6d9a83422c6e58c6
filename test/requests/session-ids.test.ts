import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sessionIdsMatch } from '../../src/requests/session-ids.ts';

test('matches an id that is returned unchanged, or behind a namespace', () => {
  assert.ok(sessionIdsMatch('abc', 'abc'));
  assert.ok(sessionIdsMatch('abc', 'n:abc'));
  assert.ok(sessionIdsMatch('a:b', 'n:a:b'));
  assert.not.ok(sessionIdsMatch('abc', 'n:abc:def'));
});

test('matches nothing if an id is missing or blank', () => {
  for (const none of [undefined, null, 7, '', ' ', '\u00a0', {}]) {
    assert.is(sessionIdsMatch(none as string, none as string), false);
    assert.is(sessionIdsMatch('abc', none as string), false);
    assert.is(sessionIdsMatch(none as string, 'abc'), false);
  }
});

test.run();
