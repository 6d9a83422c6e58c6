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
  findEnding,
  findFailure,
  HUB_ENDINGS,
  HUB_FAILURES,
  readClosing,
} from '../../src/session/endings.ts';
import type { EndedEvent } from '../../src/session/events.ts';
import type { ClientState, HubState } from '../../src/session/transitions.ts';
import { CLIENT_KEY, HUB_PIN, NODE_ID } from '../world/keys.ts';
import {
  CLIENT_STATES,
  find,
  HELLO,
  HUB_STATES,
  KK,
  newClient,
  newHub,
  OFFER,
  outcomeOf,
  Pair,
  type PairOptions,
  pairWithClientIn,
  pairWithHubIn,
  readyPair,
  types,
} from '../world/pair.ts';

const CLOSINGS: (Closing | undefined)[] = [
  undefined,
  1000,
  1005,
  1006,
  1008,
  'timeout',
  { status: 401 },
  { status: 503 },
  { cause: 'not-reachable' },
  { cause: 'certificate-refused' },
  { status: 404 },
  { cause: 'broker-refused' },
];
type Decision = Pick<EndedEvent, 'reason' | 'retry'>;

/** Asserts that a connection ended as a row says, and returns the row. */
function follows<Row extends Decision>(row: Row, ended: EndedEvent): Row {
  assert.is(ended.reason, row.reason);
  assert.is(ended.retry, row.retry);
  return row;
}

/** Whether a client that is ready has heard the hub, and whether its static key is fresh. */
const READY = [
  [false, false],
  [false, true],
  [true, false],
] as const;

/** How a client ends in this state and pattern, with every kind of closing; before and after it heard the hub. */
function clientEndings(state: ClientState, pattern: PairOptions): EndingRow<ClientState>[] {
  const rows: EndingRow<ClientState>[] = [];
  for (const closing of CLOSINGS) {
    for (const [heard, isFresh] of state === 'ready' ? READY : [[false, false]]) {
      const client = { ...pattern.client, staticKeyIsFresh: isFresh };
      const pair = pairWithClientIn(state, { ...pattern, client });
      if (heard) pair.toClient(pair.hub.sendJson({}));
      const events = pair.client.closed(closing);
      const ended = find(events, 'ended');
      const close = readClosing(closing).kind;
      const row = findEnding(CLIENT_ENDINGS, { close, state, pattern: ended.pattern, heard, isFresh });
      assert.is(ended.error.code, row.error);
      assert.equal(types(events), row.doubtsPin ? ['pin-suspect', 'ended'] : ['ended']);
      rows.push(follows(row, ended));
    }
  }
  return rows;
}

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

test('a client dials later if the transport has found the cause', () => {
  for (const cause of ['not-reachable', 'certificate-refused', 'not-a-hub', 'broker-refused'] as const) {
    const { reason, retry } = find(pairWithClientIn('awaiting-hello').client.closed({ cause }), 'ended');
    assert.equal([reason, retry], ['dropped', 'later']);
  }
});

test('each row for a client that had not failed is reached', () => {
  const reached = CLIENT_STATES.flatMap((state) => clientEndings(state, KK));
  for (const state of ['awaiting-message-2', 'ready'] as const) reached.push(...clientEndings(state, {}));
  for (const row of CLIENT_ENDINGS) assert.ok(reached.includes(row), JSON.stringify(row));
});

test('each row for a hub that had not failed is reached', () => {
  const reached: EndingRow<HubState>[] = [];
  for (const state of HUB_STATES) {
    for (const closing of CLOSINGS) {
      const ended = find(pairWithHubIn(state).hub.closed(closing), 'ended');
      const facts = {
        close: readClosing(closing).kind,
        state,
        pattern: ended.pattern,
        heard: state === 'ready',
      };
      const row = findEnding(HUB_ENDINGS, facts);
      assert.is(ended.error.code, row.error);
      reached.push(follows(row, ended));
    }
  }
  for (const row of HUB_ENDINGS) assert.ok(reached.includes(row), JSON.stringify(row));
});

const greeted = (client: ReturnType<typeof newClient>) => {
  client.receive(HELLO);
  client.receive(OFFER);
  return client;
};

const throwing = () => {
  throw new Error('disk');
};

test('each row for a client that had failed is reached', () => {
  const otherKey: PairOptions = {
    client: { pins: [{ nodeId: NODE_ID, key: CLIENT_KEY }], patterns: ['XXpsk2'] },
  };
  const afterReady = readyPair().client;
  afterReady.receive('{}');
  const remote = newClient();
  remote.receive('{}');
  const clients = [
    new Pair(otherKey).run().client,
    greeted(newClient({ trust: 'pinned-only' })),
    greeted(
      newClient({
        staticKey: { publicKey: CLIENT_KEY, sharedSecret: throwing },
        pins: [HUB_PIN, { ...HUB_PIN, nodeId: 'hub-2' }],
      }),
    ),
    afterReady,
    remote,
  ];
  const reached = clients.map((client) => {
    const isEstablished = client === afterReady;
    assert.is(client.state, 'failed');
    const ended = find(client.closed(1006), 'ended');
    return follows(findFailure(CLIENT_FAILURES, ended.error, isEstablished), ended);
  });
  for (const row of CLIENT_FAILURES) assert.ok(reached.includes(row), JSON.stringify(row));
});

test('each row for a hub that had failed is reached', () => {
  const early = newHub();
  early.start();
  const reached = [early, readyPair().hub].map((hub) => {
    const isEstablished = hub !== early;
    hub.receive('{}');
    const ended = find(hub.closed(1006), 'ended');
    return follows(findFailure(HUB_FAILURES, ended.error, isEstablished), ended);
  });
  for (const row of HUB_FAILURES) assert.ok(reached.includes(row), JSON.stringify(row));
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
  timeout: [/slow/, /ignoring/],
  'not-reachable': [/address/, /network/, /running/],
  'certificate-refused': [/clock/, /authority/],
  'not-a-hub': [/port/, /path/],
  'broker-refused': [/operator/, /account/],
  unavailable: [/later/],
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

test('if a client leaves after message 2, the hub’s message names another password and another pin as causes', () => {
  const { client, hub } = new Pair({
    client: { psks: [{ nodeId: NODE_ID, key: new Uint8Array(32) }] },
  }).run();
  assert.is(client.state, 'failed');
  assert.is(hub.state, 'awaiting-message-3');
  const { message } = find(hub.closed(4008), 'ended').error;
  for (const cause of [/password/, /pin/]) assert.match(message, cause);
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

test('closed reports the first failure', () => {
  const client = newClient();
  const events = client.receive('nonsense');
  const closing = client.closed(1006);
  assert.is(find(closing, 'ended').error, find(events, 'close').error);
  assert.equal(outcomeOf(closing), ['ended', 'refused', 'later', 'bad-json']);
});

test('ended names the pattern once it has been chosen', () => {
  const client = newClient(KK.client);
  const hub = newHub(KK.hub);
  hub.start();
  client.receive(HELLO);
  assert.is(find(newClient().closed('timeout'), 'ended').pattern, undefined);
  client.receive(OFFER);
  assert.is(find(client.closed('timeout'), 'ended').pattern, 'KKpsk0');
  assert.is(find(hub.closed(1006), 'ended').pattern, undefined);
  const pair = readyPair();
  assert.is(find(pair.client.closed(1006), 'ended').pattern, 'XXpsk2');
  assert.is(find(pair.hub.closed(1006), 'ended').pattern, 'XXpsk2');
});

test.run();
