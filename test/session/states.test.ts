/** Every method in every state: what it does, or how it refuses; and that a refusal changes nothing. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HubSession } from '../../src/index.ts';
import type { ClientSession } from '../../src/parts.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { PSK } from '../world/keys.ts';
import {
  CLIENT_STATES,
  envelope,
  fails,
  find,
  HELLO,
  HUB_STATES,
  newClient,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  pairWithClientIn,
  pairWithHubIn,
  readyPair,
  types,
} from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

const SECRET = new Uint8Array(32).fill(7);

function failed<Session extends { receive(data: string): unknown }>(session: Session): Session {
  session.receive('nonsense');
  return session;
}
function closed<Session extends { closed(): unknown }>(session: Session): Session {
  session.closed();
  return session;
}

/** What a call does: the types of its events, the number of messages, or the code of its error. */
function outcomeOf(call: () => unknown): string {
  try {
    const result = call() as { type: string }[];
    if (result.length > 0 && result[0] instanceof Uint8Array) return `${result.length} sealed`;
    return types(result).join(' ') || 'nothing';
  } catch (error) {
    return `throws ${(error as { code: string }).code}`;
  }
}

/** The outcome of each method in each state. */
function matrix<Session extends { state: string }>(
  sessions: { [state: string]: () => Session },
  methods: { [name: string]: (session: Session) => unknown },
): { [state: string]: { [name: string]: string } } {
  const found: { [state: string]: { [name: string]: string } } = {};
  for (const [state, create] of Object.entries(sessions)) {
    found[state] = {};
    for (const [name, call] of Object.entries(methods)) {
      const session = create();
      assert.is(session.state, state);
      const outcome = outcomeOf(() => call(session));
      if (outcome.startsWith('throws')) assert.is(session.state, state, `${name} in ${state}`);
      found[state][name] = outcome;
    }
  }
  return found;
}

const CLIENTS: { [state: string]: () => ClientSession } = {
  failed: () => failed(newClient()),
  closed: () => closed(newClient()),
};
for (const state of CLIENT_STATES) CLIENTS[state] = () => pairWithClientIn(state).client;

const HUBS: { [state: string]: () => HubSession } = {
  failed: () => failed(pairWithHubIn('awaiting-message-1').hub),
  closed: () => closed(pairWithHubIn('awaiting-message-1').hub),
};
for (const state of HUB_STATES) HUBS[state] = () => pairWithHubIn(state).hub;

const REFUSED = 'throws wrong-state';
const OVER = 'throws session-over';

test('every method of a client acts as its table says, in every state', () => {
  const found = matrix(CLIENTS, {
    start: (client) => client.start(),
    receive: (client) => client.receive(HELLO),
    providePsk: (client) => client.providePsk(PSK),
    resume: (client) => client.resume(SECRET),
    sendJson: (client) => client.sendJson({}),
    sendBinary: (client) => client.sendBinary(SECRET),
    closed: (client) => client.closed(),
  });
  const before = {
    start: REFUSED,
    receive: 'nothing',
    providePsk: 'nothing',
    resume: 'nothing',
    sendJson: REFUSED,
    sendBinary: REFUSED,
    closed: 'ended',
  };
  assert.equal(found, {
    'awaiting-hello': { ...before, start: 'transmit', providePsk: REFUSED },
    'awaiting-offer': { ...before, providePsk: REFUSED },
    'awaiting-psk': { ...before, providePsk: 'transmit' },
    'sealing-message-1': { ...before, resume: 'transmit' },
    'awaiting-message-2': before,
    'opening-message-2': { ...before, resume: 'pin-suspect close' }, // the secret of another key
    'sealing-message-3': { ...before, resume: 'transmit transmit ready' },
    ready: { ...before, sendJson: '1 sealed', sendBinary: '1 sealed' },
    failed: { ...before, sendJson: OVER, sendBinary: OVER },
    closed: { ...before, sendJson: OVER, sendBinary: OVER, closed: 'nothing' },
  });
});

test('every method of a hub acts as its table says, in every state', () => {
  const found = matrix(HUBS, {
    start: (hub) => hub.start(),
    receive: (hub) => hub.receive(HELLO),
    sendJson: (hub) => hub.sendJson({}),
    sendBinary: (hub) => hub.sendBinary(SECRET),
    closed: (hub) => hub.closed(),
  });
  const before = {
    start: REFUSED,
    receive: 'nothing',
    sendJson: REFUSED,
    sendBinary: REFUSED,
    closed: 'ended',
  };
  assert.equal(found, {
    new: { ...before, start: 'transmit transmit', receive: REFUSED },
    'awaiting-message-1': before,
    'awaiting-message-3': before,
    'awaiting-first-message': before,
    ready: { ...before, sendJson: '1 sealed', sendBinary: '1 sealed' },
    failed: { ...before, sendJson: OVER, sendBinary: OVER },
    closed: { ...before, sendJson: OVER, sendBinary: OVER, closed: 'nothing' },
  });
});

test('bad arguments are refused in every state that reads them', () => {
  for (const state of CLIENT_STATES) {
    const { client } = pairWithClientIn(state);
    raisesLocal(() => client.receive(7 as never), 'bad-argument');
    raisesLocal(() => client.closed('lost' as never), 'bad-argument');
    if (state === 'awaiting-psk') raisesLocal(() => client.providePsk('psk' as never), 'bad-argument');
    if (/sealing|opening/.test(state)) {
      raisesLocal(() => client.resume('secret' as never), 'bad-argument');
      raisesLocal(() => client.resume(new Uint8Array(31)), 'bad-length');
    }
    assert.is(client.state, state);
  }
  for (const state of HUB_STATES) {
    const { hub } = pairWithHubIn(state);
    raisesLocal(() => hub.receive(7 as never), state === 'new' ? 'wrong-state' : 'bad-argument');
    raisesLocal(() => hub.closed('lost' as never), 'bad-argument');
    assert.is(hub.state, state);
  }
});

const offering = (noise: object): string =>
  envelope('shake', { ...OFFER_PAYLOAD, noise: { ...OFFER_PAYLOAD.noise, ...noise } });
/** Inputs that a client in this state does not wait for, or refuses, and their codes. */
const REFUSED_INPUTS = [
  ['awaiting-hello', OFFER, 'handshake-before-hello'],
  ['awaiting-hello', envelope('bus', {}), 'unexpected-message'],
  ['awaiting-offer', envelope('shake', { noise: { msg: '00' } }), 'unexpected-message'],
  ['awaiting-offer', envelope('bus', {}), 'unexpected-message'],
  ['awaiting-message-2', envelope('bus', {}), 'unexpected-message'],
  ['awaiting-offer', offering({ patterns: ['KKpsk0'] }), 'bad-offer'],
  ['awaiting-offer', offering({ suites: ['25519_AESGCM_SHA256'] }), 'bad-offer'],
] as const;
for (const [state, input, code] of REFUSED_INPUTS) {
  test(`a client that is ${state} ends with ${code}: ${input.slice(0, 70)}`, () => {
    fails(pairWithClientIn(state).client, input, code);
  });
}

test('a hub refuses a message 1 that does not name its pattern and its suite as strings', () => {
  const [pattern, suite] = ['XXpsk2', '25519_ChaChaPoly_SHA256'];
  for (const noise of [{}, { pattern }, { suite }, { pattern, suite: 7 }, { pattern: 7, suite }]) {
    fails(
      pairWithHubIn('awaiting-message-1').hub,
      envelope('shake', { noise: { ...noise, msg: '00' } }),
      'bad-payload',
    );
  }
});

test('by default the first 16 bytes of the handshake hash name the session', () => {
  const pair = readyPair();
  const { sessionId } = find(pair.clientEvents, 'ready');
  assert.match(sessionId!, /^[0-9a-f]{32}$/);
  const { clientEvents } = readyPair({ client: { hello: { session: null } } });
  assert.is(find(clientEvents, 'ready').sessionId, undefined);
});

test('a client starts once', () => {
  const client = newClient();
  client.start();
  raisesLocal(() => client.start(), 'wrong-state');
});

test('a client tells what the hub calls it, and whether the hub offers the binary form', () => {
  const ready = (hello: JsonObject, binarize: boolean | number): unknown => {
    const pair = readyPair({ hub: { hello, handshake: { binarize } } });
    const { peer, binarize: isOffered } = find(pair.clientEvents, 'ready');
    return [peer, isOffered];
  };
  assert.equal(
    [ready({ peer: 'hub::1' }, true), ready({ peer: 1 }, 1)],
    [
      ['hub::1', true],
      [undefined, false],
    ],
  );
});

test('text between the last handshake message and the client’s HELLO ends the session', () => {
  const { hub } = new Pair({ stopAfter: 5 }).run(); // message 3 arrived, HELLO did not
  assert.is(hub.state, 'ready');
  assert.equal(types(hub.receive(envelope('bus', {}))), ['close']);
});

test.run();
