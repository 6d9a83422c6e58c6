/** Every method in every state: what it does, or how it refuses; and that a refusal changes nothing. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ClientSession, HubSession } from '../../src/index.ts';
import { HELLO, newClient, newHub, OFFER, Pair, PSK, readyPair, types } from './pair.ts';

const stopped = (after: number) =>
  new Pair({ wire: (_, data, count) => (count <= after ? [data] : []) }).run();
const failed = <T extends { receive(data: string): unknown }>(session: T): T => {
  session.receive('nonsense');
  return session;
};
const closed = <T extends { closed(): unknown }>(session: T): T => {
  session.closed();
  return session;
};

const CLIENTS: { [state: string]: () => ClientSession } = {
  'awaiting-hello': () => newClient(),
  'awaiting-offer': () => stopped(1).client,
  'awaiting-psk': () => {
    const client = newClient({ psk: () => undefined });
    client.receive(HELLO);
    client.receive(OFFER);
    return client;
  },
  'awaiting-message-2': () => stopped(2).client,
  ready: () => readyPair().client,
  failed: () => failed(newClient()),
  closed: () => closed(newClient()),
};

const HUBS: { [state: string]: () => HubSession } = {
  new: () => newHub(),
  'awaiting-message-1': () => stopped(2).hub,
  'awaiting-message-3': () => stopped(3).hub,
  ready: () => readyPair().hub,
  failed: () => failed(stopped(2).hub),
  closed: () => closed(newHub()),
};

/** What a call does: the events it answers, the number of messages, or the code of its error. */
function outcome(call: () => unknown): string {
  try {
    const answer = call() as { type: string }[];
    if (answer.length > 0 && answer[0] instanceof Uint8Array) return `${answer.length} sealed`;
    return types(answer).join(' ') || 'nothing';
  } catch (error) {
    return `throws ${(error as { code: string }).code}`;
  }
}

function matrix<T extends { state: string }>(
  sessions: { [state: string]: () => T },
  methods: { [name: string]: (session: T) => unknown },
): { [state: string]: { [name: string]: string } } {
  const found: { [state: string]: { [name: string]: string } } = {};
  for (const [state, make] of Object.entries(sessions)) {
    found[state] = {};
    for (const [name, call] of Object.entries(methods)) {
      const session = make();
      assert.is(session.state, state);
      found[state][name] = outcome(() => call(session));
      if (found[state][name].startsWith('throws')) assert.is(session.state, state, `${name} in ${state}`);
    }
  }
  return found;
}

test('every method of a client in every state', () => {
  const found = matrix(CLIENTS, {
    start: (client) => client.start(),
    providePsk: (client) => client.providePsk(PSK),
    send: (client) => client.sendJson({}),
    hello: (client) => client.receive(HELLO),
    closed: (client) => client.closed(),
  });
  const early = { start: 'throws wrong-state', providePsk: 'throws wrong-state', send: 'throws wrong-state' };
  assert.equal(found, {
    'awaiting-hello': { ...early, start: 'transmit', hello: 'nothing', closed: 'ended' },
    'awaiting-offer': { ...early, hello: 'nothing', closed: 'ended' },
    'awaiting-psk': { ...early, providePsk: 'transmit', hello: 'nothing', closed: 'ended' },
    'awaiting-message-2': { ...early, providePsk: 'nothing', hello: 'nothing', closed: 'ended' },
    ready: { ...early, providePsk: 'nothing', send: '1 sealed', hello: 'nothing', closed: 'ended' },
    failed: {
      ...early,
      providePsk: 'nothing',
      send: 'throws session-over',
      hello: 'nothing',
      closed: 'ended',
    },
    closed: {
      ...early,
      providePsk: 'nothing',
      send: 'throws session-over',
      hello: 'nothing',
      closed: 'nothing',
    },
  });
});

test('every method of a hub in every state', () => {
  const found = matrix(HUBS, {
    start: (hub) => hub.start(),
    send: (hub) => hub.sendJson({}),
    hello: (hub) => hub.receive(HELLO),
    closed: (hub) => hub.closed(),
  });
  const early = {
    start: 'throws wrong-state',
    send: 'throws wrong-state',
    hello: 'nothing',
    closed: 'ended',
  };
  assert.equal(found, {
    new: { ...early, start: 'transmit transmit', hello: 'throws wrong-state' },
    'awaiting-message-1': early,
    'awaiting-message-3': early,
    ready: { ...early, send: '1 sealed' },
    failed: { ...early, send: 'throws session-over' },
    closed: { ...early, send: 'throws session-over', closed: 'nothing' },
  });
});

test('text between the last handshake message and the client’s HELLO ends the session', () => {
  const { hub } = stopped(5); // message 3 arrived, HELLO did not
  assert.is(hub.state, 'ready');
  assert.equal(types(hub.receive('{"msg_type":"bus","payload":{}}')), ['close']);
});

test.run();
