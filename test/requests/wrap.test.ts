import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildUtterance } from '../../src/requests/build-request.ts';
import { wrap } from '../../src/requests/wrap.ts';
import { raisesAbout, raisesLocal } from '../world/raises.ts';

const call = wrap as (type: unknown, message?: unknown, options?: unknown) => unknown;
const MESSAGE = buildUtterance({ requestId: 'r1', text: 'Who is at home?' });

test('puts the whole envelope into another one, which has all eight fields', () => {
  for (const type of ['propagate', 'escalate', 'broadcast', 'query', 'cascade'] as const) {
    assert.equal(wrap(type, MESSAGE), {
      msg_type: type,
      payload: MESSAGE,
      metadata: {},
      route: [],
      node: null,
      target_site_id: null,
      target_pubkey: null,
      source_peer: null,
    });
  }
});

test('wraps an envelope that is already wrapped', () => {
  const inner = wrap('query', MESSAGE);
  assert.equal(wrap('escalate', inner).payload, inner);
});

test('refuses types that wrap nothing', () => {
  for (const type of ['bus', 'hello', 'PROPAGATE', '', undefined, null, 1, {}]) {
    raisesLocal(() => call(type, MESSAGE), 'bad-argument');
  }
});

test('refuses a bare bus message, and arguments that are not objects', () => {
  const bare = { type: 'speak', data: {}, context: {} };
  for (const message of [bare, { msg_type: 1 }, Object.create(MESSAGE), [], null, undefined, 'bus']) {
    raisesLocal(() => call('query', message), 'bad-argument');
  }
  const hostile = Object.defineProperty({}, 'msg_type', { get: () => assert.unreachable() });
  raisesLocal(() => call('query', hostile), 'bad-argument');
});

test('refuses unknown options, and blank ids', () => {
  for (const options of [null, { siteId: 'attic' }, { targetSiteId: ' ' }, { queryId: '' }, { queryId: 7 }]) {
    raisesLocal(() => call('query', MESSAGE, options), 'bad-argument');
  }
});

test('names the argument that is wrong', () => {
  raisesAbout('type', () => call('bus', MESSAGE));
  raisesAbout('message', () => call('query', {}));
  const hostile = Object.defineProperty({}, 'msg_type', { get: () => assert.unreachable() });
  raisesAbout('message', () => call('query', hostile));
  raisesAbout('options', () => call('query', MESSAGE, 7));
  raisesAbout('targetSiteId', () => call('query', MESSAGE, { targetSiteId: '' }));
  raisesAbout('queryId', () => call('query', MESSAGE, { queryId: '' }));
});

test.run();
