/**
 * Repeats: hubs, clients and brokers send HELLO, offers and handshake messages again. In every state from the offer on,
 * those that the state does not wait for are ignored, as text and as bytes. There is one exception: a HELLO or an offer
 * in bytes on an encrypted session. A hub on MQTT sends these to clients that it does not know, so it has lost the session.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HubSession } from '../../src/index.ts';
import type { ClientSession } from '../../src/parts.ts';
import type { ClientState, HubState } from '../../src/session/transitions.ts';
import { NODE_ID } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import {
  bytesOf,
  CLIENT_STATES,
  codeOf,
  envelope,
  HELLO,
  HUB_STATES,
  KK,
  LATER,
  OFFER,
  OFFER_PAYLOAD,
  Pair,
  type PairOptions,
  pairWithClientIn,
  pairWithHubIn,
  readyPair,
  types,
} from '../world/pair.ts';

const SUITE = '25519_ChaChaPoly_SHA256';

/** The cleartext messages that may come again, by their kind. */
const MESSAGES = {
  hello: [HELLO, envelope('hello', { node_id: 'another' }), envelope('hello', {})],
  offer: [
    OFFER,
    envelope('handshake', OFFER_PAYLOAD),
    envelope('shake', {}),
    envelope('shake', { noise: {} }),
  ],
  'noise null': [envelope('shake', { noise: null }), envelope('shake', { ...OFFER_PAYLOAD, noise: null })],
  'noise of another type': ['x', 7, true, []].map((noise) => envelope('shake', { noise })),
  'message 1': [envelope('shake', { noise: { pattern: 'XXpsk2', suite: SUITE, msg: '00' } })],
  'message 1 without a suite or a pattern': [
    envelope('shake', { noise: { pattern: 'XXpsk2', msg: '00' } }),
    envelope('shake', { noise: { suite: SUITE, msg: '00' } }),
  ],
  'message 2 or 3': [
    envelope('shake', { noise: { msg: '00' } }),
    envelope('handshake', { noise: { msg: null } }),
  ],
} as const;
type Kind = keyof typeof MESSAGES;
const KINDS = Object.keys(MESSAGES) as Kind[];

/** What a state does with a kind: it ignores it, handles it, or fails with one of these codes. */
type Fate = 'ignored' | 'handled' | string[];
const IGNORED: { readonly [kind in Kind]: Fate } = {
  hello: 'ignored',
  offer: 'ignored',
  'noise null': 'ignored',
  'noise of another type': 'ignored',
  'message 1': 'ignored',
  'message 1 without a suite or a pattern': 'ignored',
  'message 2 or 3': 'ignored',
};
const TOO_EARLY: Fate = ['handshake-before-hello'];
const UNEXPECTED = ['unexpected-message', 'handshake-before-hello'] as (string | undefined)[];
const NOT_A_MESSAGE: Fate = ['message-too-short', 'bad-hex'];

const CLIENT_FATES: { readonly [state in ClientState]: { readonly [kind in Kind]: Fate } } = {
  'awaiting-hello': {
    hello: 'handled',
    offer: TOO_EARLY,
    'noise null': TOO_EARLY,
    'noise of another type': TOO_EARLY,
    'message 1': TOO_EARLY,
    'message 1 without a suite or a pattern': TOO_EARLY,
    'message 2 or 3': TOO_EARLY,
  },
  'awaiting-offer': {
    hello: 'handled',
    offer: 'handled',
    'noise null': ['bad-payload', 'protocol-version'],
    'noise of another type': ['protocol-version'],
    'message 1': ['unexpected-message'],
    'message 1 without a suite or a pattern': ['unexpected-message'],
    'message 2 or 3': ['unexpected-message'],
  },
  'awaiting-psk': IGNORED,
  'sealing-message-1': IGNORED,
  'awaiting-message-2': {
    ...IGNORED,
    'message 1': NOT_A_MESSAGE,
    'message 1 without a suite or a pattern': NOT_A_MESSAGE,
    'message 2 or 3': NOT_A_MESSAGE,
  },
  'opening-message-2': IGNORED,
  'sealing-message-3': IGNORED,
  ready: IGNORED, // as text
};
const HUB_FATES: { readonly [state in HubState]: { readonly [kind in Kind]: Fate } | undefined } = {
  new: undefined, // receive() is refused
  'awaiting-message-1': {
    ...IGNORED,
    'message 1': NOT_A_MESSAGE,
    'message 1 without a suite or a pattern': ['bad-payload'],
    'message 2 or 3': ['bad-payload'],
  },
  'awaiting-message-3': { ...IGNORED, 'message 2 or 3': NOT_A_MESSAGE },
  'awaiting-first-message': IGNORED, // as text
  ready: IGNORED, // as text
};
const ENCRYPTED = ['awaiting-first-message', 'ready'];
const GREETINGS: Kind[] = ['hello', 'offer', 'noise null', 'noise of another type'];

const AS_TEXT: ((text: string) => Data)[] = [(text) => text, (text) => `\n ${text}`];
const AS_BYTES: ((text: string) => Data)[] = [
  bytesOf,
  (text) => bytesOf(` \t\r\n${text}`),
  (text) => bytesOf(`\t${text}`),
];

/** Hands over each message of a kind in each form, and asserts what the session does with it. */
function meets(
  create: () => ClientSession | HubSession,
  kind: Kind,
  fate: Fate,
  forms: ((text: string) => Data)[],
): void {
  let session = create();
  const { state } = session;
  for (const text of MESSAGES[kind]) {
    for (const form of forms) {
      const events = session.receive(form(text));
      if (fate === 'ignored') {
        assert.equal(events, [], text);
        assert.is(session.state, state);
        continue;
      }
      if (fate === 'handled') assert.not.ok(UNEXPECTED.includes(codeOf(events)), text);
      else assert.ok(fate.includes(codeOf(events)!), `${codeOf(events)} for ${text}`);
      session = create();
    }
  }
}

/** One test for each kind and form of message in a state. */
function testFates(
  name: string,
  state: string,
  fates: { readonly [kind in Kind]: Fate },
  create: Create,
): void {
  for (const kind of KINDS) {
    for (const [form, forms] of [
      ['text', AS_TEXT],
      ['bytes', AS_BYTES],
    ] as const) {
      const isLost = form === 'bytes' && ENCRYPTED.includes(state) && GREETINGS.includes(kind);
      const fate = isLost ? ['text-after-ready'] : fates[kind];
      const said = typeof fate === 'string' ? fate : fate.join(' or ');
      test(`at a ${name} in ${state}, ${kind} as ${form} is ${said}`, () => meets(create, kind, fate, forms));
    }
  }
}
type Create = () => ClientSession | HubSession;

for (const state of CLIENT_STATES) {
  testFates('client', state, CLIENT_FATES[state], () => pairWithClientIn(state).client);
}
for (const state of HUB_STATES) {
  const fates = HUB_FATES[state];
  if (fates !== undefined) testFates('hub', state, fates, () => pairWithHubIn(state).hub);
}

/** All that a state ignores. */
function ignoredBy(state: string, fates: { readonly [kind in Kind]: Fate }): Data[] {
  const ignored: Data[] = [];
  for (const kind of KINDS.filter((kind) => fates[kind] === 'ignored')) {
    const isText = ENCRYPTED.includes(state) && GREETINGS.includes(kind);
    for (const form of isText ? AS_TEXT : [...AS_TEXT, ...AS_BYTES])
      ignored.push(...MESSAGES[kind].map(form));
  }
  return ignored;
}

test('a session that ignored repeats goes on as if they had not arrived', () => {
  for (const state of CLIENT_STATES) {
    const pair = pairWithClientIn(state);
    for (const data of ignoredBy(state, CLIENT_FATES[state])) assert.equal(pair.client.receive(data), []);
    converses(pair.release());
  }
  for (const state of HUB_STATES) {
    const pair = pairWithHubIn(state);
    const fates = HUB_FATES[state];
    if (fates === undefined) pair.run();
    else for (const data of ignoredBy(state, fates)) assert.equal(pair.hub.receive(data), []);
    converses(pair.release());
  }
});

function converses(pair: Pair): void {
  assert.equal([pair.client.state, pair.hub.state], ['ready', 'ready']);
  assert.equal(types(pair.toHub(pair.client.sendJson({}))), ['message']);
  assert.equal(types(pair.toClient(pair.hub.sendJson({}))), ['message']);
}

test('every cleartext message may arrive twice, as text or as bytes', () => {
  for (const options of [{}, KK, { client: LATER }, { ...KK, client: { ...KK.client, ...LATER } }]) {
    for (const again of [(data: string) => data, bytesOf]) {
      const pair = new Pair({
        ...options,
        wire: (_, data) => (typeof data === 'string' ? [data, again(data)] : [data]),
      }).run();
      assert.equal(types(pair.clientEvents), types(new Pair(options).run().clientEvents));
      converses(pair);
    }
  }
});

test('the whole handshake may arrive again as text once the session is ready, and its Noise messages as bytes too', () => {
  for (const options of [{}, KK] as PairOptions[]) {
    const pair = readyPair(options);
    for (const { to, data } of pair.sent) {
      if (typeof data !== 'string') continue;
      for (const form of data.includes('"msg":') ? [...AS_TEXT, ...AS_BYTES] : AS_TEXT) {
        assert.equal(pair[to].receive(form(data)), []);
      }
    }
    converses(pair);
  }
});

test('a late HELLO and a late offer do not enter the prologue', () => {
  // Two pairs were queued: the first starts the handshake and is bound, the second changes nothing.
  const late = [envelope('hello', { node_id: NODE_ID, peer: 2 }), OFFER];
  const pair = new Pair({
    wire: (to, data, count) => (to === 'client' && count === 2 ? [data, ...late] : [data]),
  });
  converses(pair.run());
});

test('a hub that waits for message 3 ignores message 1 again and again', () => {
  const pair = pairWithHubIn('awaiting-message-3');
  const [, , message1] = pair.sent;
  for (let i = 0; i < 3; i++) assert.equal(pair.hub.receive(message1!.data), []);
  converses(pair.release());
});

test.run();
