/** The argument of `closed`: a close code, a timeout, or an object with the HTTP status and the reason. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Closing, RemoteError } from '../../src/index.ts';
import {
  CLIENT_STATES,
  find,
  HUB_STATES,
  KK,
  newClient,
  outcomeOf,
  pairWithClientIn,
  pairWithHubIn,
  readyPair,
  types,
} from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

test('a code alone and a code in an object mean the same, in every state', () => {
  for (const code of [undefined, 1006, 1008]) {
    for (const state of CLIENT_STATES) {
      const client = () => pairWithClientIn(state, KK).client;
      assert.equal(outcomeOf(client().closed({ code })), outcomeOf(client().closed(code)), state);
    }
    for (const state of HUB_STATES) {
      const hub = () => pairWithHubIn(state).hub;
      assert.equal(outcomeOf(hub().closed({ code })), outcomeOf(hub().closed(code)), state);
    }
  }
});

test('accepts a WebSocket’s close event directly', () => {
  class CloseEvent {
    get code(): number {
      return 1008;
    }
    get reason(): string {
      return 'connection_limit';
    }
    readonly wasClean = true;
  }
  const events = newClient().closed(new CloseEvent());
  assert.equal(outcomeOf(events), ['ended', 'dropped', 'later', 'unavailable']);
});

test('ended carries the code, the status and the reason that were given', () => {
  const given: [Closing | undefined, number | undefined, number | undefined, string | undefined][] = [
    [undefined, undefined, undefined, undefined],
    ['timeout', undefined, undefined, undefined],
    [1008, 1008, undefined, undefined],
    [{}, undefined, undefined, undefined],
    [{ code: 1006, status: 403 }, 1006, 403, undefined],
    [{ status: 503, reason: 'maintenance' }, undefined, 503, 'maintenance'],
    [{ code: 1008, reason: 'connection_limit' }, 1008, undefined, 'connection_limit'],
  ];
  for (const [closing, code, status, closeReason] of given) {
    for (const { client, hub } of [readyPair(), readyPair(KK)]) {
      for (const session of [client, hub, newClient()]) {
        const ended = find(
          session.closed(closing) as { type: string }[] as ReturnType<typeof client.closed>,
          'ended',
        );
        assert.is(ended.code, code);
        assert.is(ended.status, status);
        assert.is(ended.closeReason, closeReason);
      }
    }
  }
});

test('ended carries them also after a failure', () => {
  const client = newClient();
  client.receive('nonsense');
  const { error, code, status, closeReason } = find(
    client.closed({ code: 1006, status: 503, reason: 'x' }),
    'ended',
  );
  assert.equal([error.code, code, status, closeReason], ['bad-json', 1006, 503, 'x']);
});

test('the error of a failed connection has the platform’s code in a field, but not in its message', () => {
  for (const cause of ['not-reachable', 'certificate-refused', 'not-a-hub', 'broker-refused'] as const) {
    const { error } = find(newClient().closed({ cause, platformCode: 'EXAMPLE' }), 'ended');
    assert.equal([error.code, (error as RemoteError).platformCode], [cause, 'EXAMPLE']);
    assert.not.match(error.message, 'EXAMPLE');
  }
});

test('no message contains the close reason, which the peer wrote', () => {
  for (const code of [1000, 1006]) {
    const { error } = find(newClient().closed({ code, reason: 'key 4711' }), 'ended');
    assert.not.match(`${error} ${error.message} ${error.stack}`, '4711');
  }
});

const UNREADABLE = {
  get code(): number {
    throw new Error('gone');
  },
};
const revoked = Proxy.revocable({}, {});
revoked.revoke();

test('any other argument is refused, and does not end the session', () => {
  const mistakes: unknown[] = [
    null,
    'lost',
    '1006',
    true,
    Symbol('closed'),
    () => 1006,
    { code: '1006' },
    { code: null },
    { status: '401' },
    { reason: 7 },
    { reason: null },
    { cause: 'unknown' },
    { cause: null },
    { platformCode: 7 },
    UNREADABLE,
    revoked.proxy,
  ];
  for (const closing of mistakes) {
    for (const session of [newClient(), readyPair().client, readyPair().hub]) {
      const { state } = session;
      raisesLocal(() => session.closed(closing as Closing), 'bad-argument');
      assert.is(session.state, state);
      assert.equal(types(session.closed()), ['ended']);
    }
  }
});

test.run();
