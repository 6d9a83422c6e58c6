/** `hub-protocol explain` on messages: what was changed, lost or overtaken on the way, and what a recording says. */
import { parseJson, REMOTE_ERRORS, type RemoteCode } from 'hub-protocol-judge/internals';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CannotRun } from '../../cli/src/command.ts';
import { SPEAKING } from '../../cli/src/explain/codes.ts';
import { explain } from '../../cli/src/explain/explain.ts';
import { type Failure, type Recording, readRecording } from '../../cli/src/explain/recording.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { CryptoProvider, JsonObject } from '../../src/index.ts';
import {
  blames,
  closing,
  KK,
  knownPsk,
  play,
  replacing,
  type Setup,
  why,
  withPsk,
  wrongPsk,
} from './faults.ts';

/** What the hub sent, what the client saw, and where they differ. */
for (const [hub, client, place] of [
  ['{"a":1,"b":[1]}', '{"b":[1], "a":1}', undefined],
  ['{"a":{"b":1,"c":2}}', '{"a":{"b":1,"c":3}}', [16, 'a.c', '2', '3']],
  ['{"a":[1,2]}', '{"a":[1]}', [7, 'a[1]', '2', 'nothing']],
  ['{"x y":"a\\u001b"}', '{"x y":["b"]}', [7, '["x y"]', '"a\\u001b"', '["b"]']],
  ['{"é":1,"z":1}', '{"é":2,"z":2}', [5, 'z', '1', '2']],
  ['{"a":1.0}', '{"a":1}', [6, 'a', '1.0', '1']],
  [`{"a":0}`, `{"a":["${'v'.repeat(57)}"]}`, [5, 'a', '0', `["${'v'.repeat(57)}…`]],
] as const) {
  test(`says how HELLO ${client.slice(0, 40)} differs from ${hub}`, () => {
    const played = play({ client: withPsk(wrongPsk) });
    const side = (role: 'client' | 'hub', hello: string): Recording => {
      const recording = played[role];
      return { ...recording, hello: { ...recording.hello!, payload: parseJson(hello) as JsonObject } };
    };
    const { cause } = why({ client: side('client', client), hub: side('hub', hub) });
    if (place === undefined) {
      assert.is(cause?.name, 'psk-differs');
      return;
    }
    const [offset, path, sent, seen] = place;
    assert.equal(cause?.place, { payload: 'HELLO', path, offset });
    assert.ok(
      cause!.text.startsWith(`in ${path} of HELLO the hub sent ${sent}, and the client saw ${seen}: `),
      cause!.text,
    );
  });
}

test('a suite that was removed on the way, which no side names by itself', () => {
  const { client, hub } = play({ wire: replacing(',"25519_AESGCM_SHA256"', '') });
  assert.match(blames({ client, hub }, 'offer-changed'), /in noise\.suites\[1\] of HANDSHAKE/);
});

/** Changes the message of a side; messages are counted from 1. */
const changing =
  (side: 'client' | 'hub', number: number, change: (data: string) => string[]): NonNullable<Setup['wire']> =>
  (from, data, count) =>
    from === side && count === number ? change(data as string) : [data];
const damaged = (text: string): string =>
  text.replace(/"msg":"(\w{80})../, (_, start) => `"msg":"${start}00`);

test('a message that was changed, whichever it is', () => {
  for (const [side, number] of [
    ['client', 1],
    ['hub', 3],
    ['client', 2],
  ] as const) {
    const { client, hub } = play({ wire: changing(side, number, (data) => [damaged(data)]) });
    assert.match(blames({ client, hub }, 'message-changed'), /where a Noise message was due/);
  }
  const { client } = play({ wire: changing('hub', 2, () => ['{']) });
  blames({ client }, 'bad-envelope', 'likely');
});

test('a message that was lost, for which the other side waited', () => {
  const { client, hub } = play({ wire: changing('hub', 3, () => []), after: closing('timeout', 1006) });
  assert.match(
    blames({ client, hub }, 'message-lost'),
    /of the hub never arrived while the client waited: a Noise message/,
  );
  const refused = play({ wire: changing('client', 2, () => []), after: closing(1008, 1000) });
  blames({ client: refused.client, hub: refused.hub }, 'message-order');
});

test('transport messages that were lost, cut or replayed, from the recording of the reader and from both', () => {
  for (const [name, deliver] of [
    ['message-order', (messages: Uint8Array[]) => [messages[0]!, messages[2]!]],
    ['message-order', (messages: Uint8Array[]) => [messages[0]!, messages[0]!]],
    ['message-changed', (messages: Uint8Array[]) => [messages[0]!, messages[1]!.slice(0, -3)]],
  ] as const) {
    const { client, hub } = play({
      after: (sides) => {
        const messages = [1, 22, 333].map((value) => sides.client.sendJson(value)[0]!);
        for (const message of deliver(messages)) sides.hub.receive(message);
      },
    });
    blames({ client, hub }, name);
    assert.match(
      blames({ hub }, 'message-order', 'likely'),
      /transport messages? opened, and the next did not/,
    );
  }
});

test('does not blame a message that its reader ignored, or a client’s HELLO before the hub has a session', () => {
  const repeating = changing('hub', 2, (data) => [data, data]);
  const { client, hub } = play({ client: withPsk(wrongPsk), wire: repeating });
  blames({ client, hub }, 'psk-differs', 'likely');
  const early = play({ client: withPsk(wrongPsk), isMqtt: true });
  blames({ client: early.client, hub: early.hub }, 'psk-differs', 'likely');
});

test('a local fault', () => {
  let isBroken = false;
  const crypto: CryptoProvider = {
    ...nodeCrypto,
    sha256: (...parts) => (isBroken ? new Uint8Array(3) : nodeCrypto.sha256(...parts)),
  };
  const wire: Setup['wire'] = (_from, data) => {
    isBroken = true;
    return [data];
  };
  blames({ client: play({ client: { crypto }, wire }).client }, 'own-fault');
});

for (const [ending, name] of [
  [1008, 'access-refused'],
  [{ status: 401 }, 'access-refused'],
  [{ status: 503 }, 'unavailable'],
] as const) {
  test(`a hub that closes before message 1 with ${JSON.stringify(ending)}`, () => {
    const { client } = play({ wire: (from, data) => (from === 'hub' ? [] : [data]), after: closing(ending) });
    blames({ client }, name, 'likely');
  });
}

test('a hub that closes after the handshake, and one that has another key of this client', () => {
  assert.match(
    blames({ client: play({ ...KK, after: closing(1008) }).client }, 'refused', 'likely'),
    /revoked/,
  );
  const fresh: Setup = { client: { staticKeyIsFresh: true }, after: closing(1008) };
  assert.match(blames({ client: play(fresh).client }, 'refused', 'likely'), /pinned another static key/);
});

test('names what both sides may use if they have no common pattern, and is certain if nothing was changed', () => {
  const { client, hub } = play({ ...KK, hub: {}, client: { ...KK.client, patterns: ['KKpsk0'] } });
  for (const [evidence, certainty] of [
    [{ client }, 'likely'],
    [{ client, hub }, 'certain'],
  ] as const) {
    const text = blames(evidence, 'offer', certainty);
    assert.match(text, /^no common pattern: the hub offers XXpsk2, and the client may use KKpsk0/);
  }
});

// What a recording says

const HEADER = { recording: 1, role: 'client', publicKey: '11'.repeat(32), patterns: [], suites: ['A'] };
const recordingOf = (...lines: object[]): Recording =>
  readRecording('x', Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
const call = (state: string): object => ({ call: 'receive', state, text: '{}' });
const opens = { call: 'receive', state: 'ready', isText: false, length: 20 };
const close = (error: string, more: object = {}): object => ({ event: 'close', error, ...more });
const ended = (error: string, more: object = {}): object => ({
  event: 'ended',
  error,
  reason: error,
  ...more,
});

test('takes each code of a failed session for its cause, and is certain only of what was authenticated', () => {
  for (const code of Object.keys(REMOTE_ERRORS) as RemoteCode[]) {
    const client = recordingOf(HEADER, call('awaiting-offer'), close(code));
    const { cause } = explain({ client, derive: knownPsk });
    const name = code.startsWith('no-common') ? 'offer' : SPEAKING[code];
    if (name === undefined) continue;
    assert.is(cause?.name, name, code);
    if (!code.startsWith('no-common'))
      assert.ok(
        cause!.text.startsWith(
          `${REMOTE_ERRORS[code].means} (${code}, at the client in state awaiting-offer)`,
        ),
      );
    assert.is(/ Or a message was changed, /.test(cause!.text), cause!.certainty === 'likely');
  }
});

test('reads of a recording how the session ended', () => {
  const none = { isOwn: false, isLocal: false, closeCode: undefined, status: undefined };
  const cases: [lines: object[], failure?: Partial<Record<keyof Failure, unknown>>][] = [
    [[]],
    [[call('a'), call('b'), close('bad-json'), call('c')], { code: 'bad-json', isOwn: true, state: 'b' }],
    [
      [close('bad-random', { isLocal: true })],
      { code: 'bad-random', isOwn: true, isLocal: true, state: 'unknown' },
    ],
    [[call('a'), ended('dropped', { code: 1006 })], { code: 'dropped', state: 'a', closeCode: 1006 }],
    [
      [call('a'), ended('client-key-refused', { code: 1000 })],
      { code: 'dropped', state: 'a', closeCode: 1000 },
    ],
    [[call('a'), ended('refused', { status: 401 })], { code: 'refused', state: 'a', status: 401 }],
    [[call('A'), close('a b')], { code: 'unknown', isOwn: true, state: 'unknown' }],
    // Once the peer was heard, an ending says nothing about the handshake.
    [[opens, ended('dropped')]],
    [[opens, call('ready'), close('bad-utf8')], { code: 'bad-utf8', isOwn: true, state: 'ready' }],
  ];
  for (const [lines, failure] of cases) {
    const found = recordingOf(HEADER, ...lines).failure;
    assert.equal(found, failure && { ...none, ...failure }, JSON.stringify(lines));
  }
});

test('reads of a recording what was sent, and what arrived before the end', () => {
  const shake = (noise: object): string => JSON.stringify({ msg_type: 'shake', payload: { noise } });
  const receive = (text: string, state = 'a'): object => ({ call: 'receive', state, text });
  const hello = (id: string): string => `{"msg_type":"hello","payload":{"node_id":"${id}"}}`;
  const found = recordingOf(
    HEADER,
    receive(hello('first')),
    receive(hello('hub-1')),
    receive(shake({ patterns: ['XXpsk2'] })),
    { event: 'transmit', text: shake({ pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256', msg: 'aa' }) },
    { event: 'transmit', text: shake({ pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256', msg: 'aa' }) },
    receive(shake({ msg: 'xx' })),
    { event: 'transmit', text: shake({ msg: 'cc' }) },
    { event: 'transmit', isText: false, length: 7 },
    { lengths: [8, 'x', 9] },
    { ...opens, length: 21 },
    receive('{'),
    receive(hello('over'), 'closed'),
    { ephemeralKey: '44'.repeat(32), sealed: 'ee' },
  );
  const contents = (all: Recording['sent']): string[] => all.map(({ type, length }) => `${type} ${length}`);
  assert.equal(contents(found.sent).slice(2), ['message 53', 'sealed 7', 'sealed 8', 'sealed 9']);
  assert.equal(contents(found.received).slice(3), ['message 53', 'sealed 21', 'other 1']);
  assert.equal(found.hello?.payload, { node_id: 'hub-1' });
  assert.equal(found.messages, [Uint8Array.of(0xaa), undefined, Uint8Array.of(0xcc)]);
  assert.equal([found.pattern, found.suite, found.opened], ['XXpsk2', '25519_ChaChaPoly_SHA256', 1]);
  assert.equal([found.ephemeralKey, found.sealed], [new Uint8Array(32).fill(0x44), Uint8Array.of(0xee)]);
});

test('refuses what is no recording, and says why', () => {
  for (const [text, said] of [
    [' \n\t\n', 'is not a recording: its first line has no role'],
    ['horse', 'is not a recording: line 1 is not a JSON object'],
    ['{"a":1}\n\n[]\n{}', 'is not a recording: line 2 is not a JSON object'],
    ['{"role":"hub","recording":2}', 'is a recording of another version'],
    ['{"role":"hub","recording":1,"publicKey":"5"}', 'its publicKey is not a key of 32 bytes'],
  ] as const) {
    assert.throws(
      () => readRecording('x', Buffer.from(text)),
      (error: Error) => error instanceof CannotRun && error.message.includes(said),
    );
  }
});

test.run();
