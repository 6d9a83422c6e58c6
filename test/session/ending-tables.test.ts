/** The tables of endings.ts: each row decides how some connection ends, and each error says what to do. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EndingCode } from '../../src/errors.ts';
import { clientEnding, hubEnding, kkFailed } from '../../src/errors-table.ts';
import type { Closing } from '../../src/index.ts';
import {
  CLIENT_ENDINGS,
  CLIENT_FAILURES,
  type EndingRow,
  HUB_ENDINGS,
  HUB_FAILURES,
  readClosing,
} from '../../src/session/endings.ts';
import type { ClientState } from '../../src/session/transitions.ts';
import { CLIENT_STATES, HUB_STATES } from '../world/pair.ts';

test('a closing is of the first kind that matches', () => {
  const closings: readonly (readonly [Closing | undefined, string])[] = [
    ['timeout', 'timeout'],
    [{ cause: 'not-a-hub', status: 401 }, 'not-a-hub'],
    [{ status: 401 }, 'unauthorized'],
    [{ status: 403, code: 1008 }, 'unauthorized'],
    [{ status: 408 }, 'unavailable'],
    [{ status: 429, code: 1008 }, 'unavailable'],
    [{ code: 1008, reason: 'connection_limit' }, 'unavailable'],
    [{ code: 1008, reason: 'Connection_limit' }, 'refusal'],
    [1008, 'refusal'],
    [1000, 'loss'],
    [undefined, 'loss'],
  ];
  for (const [closing, kind] of closings) assert.is(readClosing(closing).kind, kind, JSON.stringify(closing));
});

test('each table ends with a row that matches everything', () => {
  const last = (table: readonly object[]): string[] => Object.keys(table.at(-1)!).sort();
  assert.equal(last(CLIENT_ENDINGS), ['error', 'reason', 'retry']);
  assert.equal(last(HUB_ENDINGS), ['error', 'reason', 'retry']);
  assert.equal(last(CLIENT_FAILURES), ['reason', 'retry']);
  assert.equal(last(HUB_FAILURES), ['reason', 'retry']);
});

/** What the sentence of each error has to name, so that a person knows what to do. */
const ACTIONS: { readonly [code in EndingRow<ClientState>['error']]: RegExp[] } = {
  timeout: [/slow/, /ignores/, /log/],
  'not-reachable': [/address/, /network/, /running/],
  'certificate-refused': [/clock/, /authority/],
  'not-a-hub': [/port/, /path/],
  'broker-refused': [/operator/, /account/],
  unavailable: [/starting/, /full/, /later/],
  'access-refused': [/access key/],
  'negotiation-refused': [/message 1/, /access key/, /suite/],
  'kk-refused': [/password/, /static key/, /third party/, /XXpsk2/],
  'client-key-refused': [/another program/, /share|restore/i, /operator/],
  refused: [/access key/],
  dropped: [/connect again/],
};
const CODES = Object.keys(ACTIONS) as EndingCode[];

test('the message of each client ending names the causes and the remedy', () => {
  for (const code of CODES) {
    const { message } = clientEnding(code, { state: 'awaiting-hello' });
    for (const action of ACTIONS[code]) assert.match(message, action, code);
  }
});

test('each client ending has its own message', () => {
  const sentences = CODES.map((code) => clientEnding(code, { state: 'ready' }).message);
  assert.is(new Set(sentences).size, CODES.length);
});

test('the messages of a timeout name the state, and those of a loss at the hub', () => {
  for (const state of CLIENT_STATES)
    assert.match(clientEnding('timeout', { state }).message, `state ${state}`);
  for (const state of HUB_STATES.filter((state) => state !== 'awaiting-message-3')) {
    for (const code of ['timeout', 'dropped'] as const)
      assert.match(hubEnding(code, { state }).message, `state ${state}`);
  }
});

test('each error carries the code of its row', () => {
  for (const code of CODES) assert.is(clientEnding(code, { state: 'ready' }).code, code);
  for (const { error } of HUB_ENDINGS) assert.is(hubEnding(error, { state: 'ready' }).code, error);
});

test('each hub ending has its own message', () => {
  const sentences = [
    hubEnding('timeout', { state: 'awaiting-message-3' }),
    hubEnding('dropped', { state: 'awaiting-message-3' }),
    hubEnding('dropped', { state: 'ready' }),
  ].map(({ message }) => message);
  assert.is(new Set(sentences).size, 3);
});

test('a KKpsk0 that was refused and one that failed have the same causes', () => {
  assert.is(kkFailed().message, clientEnding('kk-refused', { state: 'awaiting-message-2' }).message);
});

test.run();
