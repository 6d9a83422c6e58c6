/**
 * The models of proofs/ are of this library: run with real cryptography they put the same bytes on the wire as the sessions,
 * they stop where the sessions stop, and the rows that they name are those of the state tables.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CASES, MUTANTS } from '../../evidence/proofs/cases.ts';
import { readModel, textOf, withSettings } from '../../evidence/proofs/model.ts';
import { bytesToHex, utf8ToBytes } from '../../src/bytes.ts';
import type { Pattern, RemoteError } from '../../src/index.ts';
import { protocolName } from '../../src/parts.ts';
import { CLIENT_TRANSITIONS, HUB_TRANSITIONS } from '../../src/session/transitions.ts';
import { parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { canonicalJson } from '../../src/wire/write-json.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_PIN, HUB_STATIC, PSK } from '../world/keys.ts';
import { Pair, type PairOptions, type Wire } from '../world/pair.ts';
import { type Course, nonce, runModel } from './run-model.ts';

const PATTERNS: readonly Pattern[] = ['XXpsk2', 'KKpsk0'];
const SUITE = '25519_ChaChaPoly_SHA256';
const OTHER_KEY = new Uint8Array(32).fill(9);
const CLIENT_EPHEMERAL = new Uint8Array(32).fill(3);
const HUB_EPHEMERAL = new Uint8Array(32).fill(4);
const SESSION = { session_id: 's-1' };

/** Marks a message of JSON text. */
const framed = (text: string): Uint8Array => Buffer.concat([new Uint8Array([0]), utf8ToBytes(text)]);

/** A client and a hub that have pinned each other, with keys that do not change. */
function pairOf(pattern: Pattern, options: PairOptions = {}): Pair {
  return new Pair({
    ...options,
    client: {
      patterns: [pattern],
      pins: [HUB_PIN],
      randomBytes: () => CLIENT_EPHEMERAL.slice(),
      hello: { session: SESSION },
      ...options.client,
    },
    hub: { clientKey: CLIENT_KEY, randomBytes: () => HUB_EPHEMERAL.slice(), ...options.hub },
  });
}

/** The payloads of the envelopes that a side sent. */
function envelopesOf(pair: Pair, to: 'client' | 'hub'): JsonObject[] {
  return pair.sent
    .filter((sent) => sent.to === to && typeof sent.data === 'string')
    .map(({ data }) => parseEnvelope(data).payload);
}

/** The bytes of the Noise messages and transport messages that a side sent, in hex. */
function messagesOf(pair: Pair, to: 'client' | 'hub'): string[] {
  return pair.sent
    .filter((sent) => sent.to === to)
    .map(({ data }) =>
      typeof data === 'string'
        ? (parseEnvelope(data).payload.noise as { msg?: string } | undefined)?.msg
        : bytesToHex(data),
    )
    .filter((message) => message !== undefined);
}

/** Runs a model with both pins, with the values of these sessions. */
function courseOf(
  pattern: Pattern,
  pair: Pair,
  {
    hub = {},
    replaced = {},
  }: {
    hub?: { readonly [name: string]: Uint8Array };
    replaced?: { readonly [name: string]: Uint8Array };
  } = {},
): Course {
  const [hello, offer] = envelopesOf(pair, 'client');
  const shared = {
    n0: nonce(0),
    n1: nonce(1),
    pname: utf8ToBytes(protocolName(pattern, SUITE)),
    offer: Buffer.concat([canonicalJson(hello!), canonicalJson(offer!)]),
  };
  const text = withSettings(readModel(pattern), ['hub-pinned', 'client-pinned', 'negotiated']);
  return runModel(
    text,
    {
      Client: {
        ...shared,
        cs: CLIENT_STATIC,
        ce: CLIENT_EPHEMERAL,
        pskC: PSK,
        p1: utf8ToBytes('{"binarize":false,"encodings":[]}'),
        hello: framed(writeEnvelope('hello', { pubkey: null, session: SESSION, site_id: 'lobby' })),
        request: framed('{"a":1}'),
      },
      Hub: {
        ...shared,
        hs: HUB_STATIC,
        he: HUB_EPHEMERAL,
        pskH: PSK,
        p2: utf8ToBytes('{}'),
        answer: framed('{"b":2}'),
        ...hub,
      },
    },
    replaced,
  );
}

/** What a principal sends, in hex: one text for each Noise message or transport message. */
function sentBy({ messages }: Course, from: string): string[] {
  return messages
    .filter((message) => message.from === from)
    .flatMap(({ values }) => {
      const noise = ['gce', 'm1', 'ghe', 's2', 'm2', 's3', 'm3'].flatMap((name) => values.get(name) ?? []);
      const transport = ['t1', 't2', 't3'].flatMap((name) => values.get(name) ?? []);
      return [...(noise.length > 0 ? [Buffer.concat(noise)] : []), ...transport].map((message) =>
        bytesToHex(message),
      );
    });
}

for (const pattern of PATTERNS) {
  test(`the model of ${pattern} sends the bytes that the sessions send`, () => {
    const pair = pairOf(pattern).run();
    const request = pair.client.sendJson({ a: 1 });
    pair.toHub(request);
    const answer = pair.hub.sendJson({ b: 2 });
    const course = courseOf(pattern, pair);
    assert.is(course.halted, undefined);
    assert.equal(sentBy(course, 'Client'), [...messagesOf(pair, 'hub'), bytesToHex(request[0]!)]);
    assert.equal(sentBy(course, 'Hub'), [...messagesOf(pair, 'client'), bytesToHex(answer[0]!)]);
  });

  test(`the model of ${pattern} ends with the handshake hash of the sessions`, () => {
    const pair = pairOf(pattern).run();
    const ready = pair.clientEvents.find(({ type }) => type === 'ready') as { handshakeHash: Uint8Array };
    const { Client, Hub } = courseOf(pattern, pair).principals;
    const name = pattern === 'XXpsk2' ? 'H9' : 'H8';
    assert.is(bytesToHex(Client!.get(`h${name.replace('H', 'C')}`)!), bytesToHex(ready.handshakeHash));
    assert.is(bytesToHex(Hub!.get(`h${name}`)!), bytesToHex(ready.handshakeHash));
  });

  test(`the model of ${pattern} goes through the rows of the state tables, from the first state to ready`, () => {
    const rows = [...readModel(pattern).matchAll(/^\/\/ row: (client|hub) (\S+) (\S+) (\S+)$/gm)];
    for (const [side, table] of [
      ['client', CLIENT_TRANSITIONS],
      ['hub', HUB_TRANSITIONS],
    ] as const) {
      let state = side === 'client' ? 'awaiting-hello' : 'new';
      for (const [, named, from, input, to] of rows) {
        if (named !== side) continue;
        assert.is(from, state);
        assert.is((table as { [state: string]: { [input: string]: string } })[from!]?.[input!], to);
        state = to!;
      }
      assert.is(state, 'ready');
    }
  });
}

/** Replaces bytes at the end of what is sent to one side as its nth message. */
function damaged(side: 'client' | 'hub', nth: number): Wire {
  let seen = 0;
  return (to, data) => {
    if (to !== side || ++seen !== nth) return [data];
    if (typeof data !== 'string') {
      const copy = data.slice();
      copy[copy.length - 1]! ^= 1;
      return [copy];
    }
    const { payload } = parseEnvelope(data);
    const { msg } = payload.noise as { msg?: string };
    if (msg === undefined) return [writeEnvelope('shake', { ...payload, added: true })];
    const last = msg.endsWith('0') ? '1' : '0';
    return [data.replace(msg, msg.slice(0, -1) + last)];
  };
}

interface Fault {
  readonly what: string;
  readonly pattern: Pattern;
  readonly options: PairOptions;
  /** What differs for the model. */
  readonly model: (course: Course) => {
    hub?: { readonly [name: string]: Uint8Array };
    replaced?: { readonly [name: string]: Uint8Array };
  };
  /** The statement at which the model stops. */
  readonly halted: string;
  /** Who stops, and why. */
  readonly side: 'client' | 'hub';
  readonly code: string;
}

const flipped = (bytes: Uint8Array): Uint8Array => {
  const copy = bytes.slice();
  copy[copy.length - 1]! ^= 1;
  return copy;
};
/** The value that a message of an undisturbed course carries, with a bit changed. */
const spoiled =
  (name: string) =>
  ({ messages }: Course) => {
    const value = messages.find(({ values }) => values.has(name))!.values.get(name)!;
    return { replaced: { [name]: flipped(value) } };
  };

const FAULTS: readonly Fault[] = [
  {
    what: 'a hub with another key than the pinned one',
    pattern: 'XXpsk2',
    options: { hub: { staticKey: OTHER_KEY } },
    model: () => ({ hub: { hs: OTHER_KEY }, replaced: { ghs: HUB_KEY } }),
    halted: '_ = ASSERT(ghsC, ghs)?',
    side: 'client',
    code: 'hub-key-changed',
  },
  {
    what: 'a hub with another PSK',
    pattern: 'XXpsk2',
    options: { hub: { psk: OTHER_KEY } },
    model: () => ({ hub: { pskH: OTHER_KEY } }),
    halted: 'p2C = AEAD_DEC(kC5, n0, m2, hC6)?',
    side: 'client',
    code: 'psk-differs',
  },
  {
    what: 'a client with another key than the pinned one',
    pattern: 'XXpsk2',
    options: { hub: { clientKey: HUB_KEY } },
    model: () => ({ replaced: { gcs: HUB_KEY } }),
    halted: '_ = ASSERT(gcsH, gcs)?',
    side: 'hub',
    code: 'client-key-changed',
  },
  {
    what: 'an offer that was changed',
    pattern: 'XXpsk2',
    options: { wire: damaged('client', 2) },
    model: spoiled('offer'),
    halted: 'p1H = AEAD_DEC(kH1, n0, m1, hH2)?',
    side: 'hub',
    code: 'prologue-differs',
  },
  {
    what: 'an offer that was changed',
    pattern: 'KKpsk0',
    options: { wire: damaged('client', 2) },
    model: spoiled('offer'),
    halted: 'p1H = AEAD_DEC(kH4, n0, m1, hH5)?',
    side: 'hub',
    code: 'kk-failed',
  },
  {
    what: 'a hub with another PSK',
    pattern: 'KKpsk0',
    options: { hub: { psk: OTHER_KEY } },
    model: () => ({ hub: { pskH: OTHER_KEY } }),
    halted: 'p1H = AEAD_DEC(kH4, n0, m1, hH5)?',
    side: 'hub',
    code: 'kk-failed',
  },
  {
    what: 'a hub with another key than the pinned one',
    pattern: 'KKpsk0',
    options: { hub: { staticKey: OTHER_KEY } },
    model: () => ({ hub: { hs: OTHER_KEY }, replaced: { ghs: HUB_KEY } }),
    halted: 'p1H = AEAD_DEC(kH4, n0, m1, hH5)?',
    side: 'hub',
    code: 'kk-failed',
  },
  {
    what: 'message 2 that was changed',
    pattern: 'KKpsk0',
    options: { wire: damaged('client', 3) },
    model: spoiled('m2'),
    halted: 'p2C = AEAD_DEC(kC7, n0, m2, hC7)?',
    side: 'client',
    code: 'kk-failed',
  },
  {
    what: 'a first transport message that was changed',
    pattern: 'KKpsk0',
    options: { wire: damaged('hub', 2) },
    model: spoiled('t1'),
    halted: 'helloH = AEAD_DEC(toHubH, n0, t1, nil)?',
    side: 'hub',
    code: 'not-authentic',
  },
];

for (const { what, pattern, options, model, halted, side, code } of FAULTS) {
  test(`${pattern}, ${what}: the model stops where the ${side} stops, and neither sends more nor is ready`, () => {
    const pair = pairOf(pattern, options).run();
    const events = side === 'client' ? pair.clientEvents : pair.hubEvents;
    const close = events.find(({ type }) => type === 'close') as { error: RemoteError } | undefined;
    assert.is(close?.error.code, code);
    const honest = courseOf(pattern, pairOf(pattern, withoutWire(options)).run());
    const course = courseOf(pattern, pair, model(honest));
    assert.is(course.halted, halted);
    const name = side === 'client' ? 'Client' : 'Hub';
    const sent = messagesOf(pair, side === 'client' ? 'hub' : 'client');
    assert.equal(sentBy(course, name), sent);
    assert.not(events.some(({ type }) => type === 'ready' || type === 'pin'));
    assert.is(course.principals.Hub!.has('readyH'), false);
  });
}

function withoutWire({ client, hub }: PairOptions): PairOptions {
  return { ...(client && { client }), ...(hub && { hub }) };
}

test('under KKpsk0 the hub is ready when the first transport message has opened, in the model and in the session', () => {
  const pair = pairOf('KKpsk0', { stopAfter: 4 }).run();
  assert.is(pair.hub.state, 'awaiting-first-message');
  assert.not(pair.hubEvents.some(({ type }) => type === 'ready'));
  pair.release();
  assert.ok(pair.hubEvents.some(({ type }) => type === 'ready'));
  const text = withSettings(readModel('KKpsk0'), []);
  assert.ok(text.indexOf('\nhelloH = ') < text.indexOf('\nreadyH = '));
});

test('the policies of a failed KKpsk0 are what the cases say: replace-pin compares no pin, keep-pin does', () => {
  for (const onKkFailure of ['replace-pin', 'keep-pin'] as const) {
    const failed = pairOf('KKpsk0', { client: { onKkFailure }, hub: { psk: OTHER_KEY } }).run();
    assert.ok(failed.client.closed(1008).some(({ type }) => type === 'pin-suspect'));
    const pins = [{ ...HUB_PIN, isSuspect: true }];
    const next = pairOf('XXpsk2', { client: { onKkFailure, pins }, hub: { staticKey: OTHER_KEY } }).run();
    assert.is(next.client.state, onKkFailure === 'keep-pin' ? 'failed' : 'ready');
    const named = CASES.filter(({ name }) => name.startsWith(`KKpsk0, then XXpsk2: ${onKkFailure}`));
    assert.ok(named.length > 0);
    for (const { name, parts } of named) {
      assert.is(parts[1]!.settings.includes('hub-pinned'), onKkFailure === 'keep-pin', name);
    }
  }
});

test('every change applies to the model of its case, and no attack is found there on what it breaks', () => {
  for (const mutant of MUTANTS) {
    const own = CASES.find(({ name }) => name === mutant.of);
    assert.ok(own, mutant.of);
    assert.not.equal(textOf(own, mutant), textOf(own));
    for (const value of mutant.fails) assert.ok(own.holds.includes(value), `${mutant.name}: ${value}`);
  }
});

test('with the setting `refused` nothing follows the refusal, and the client has read no message 2 under KKpsk0', () => {
  for (const pattern of PATTERNS) {
    const [happens] = withSettings(readModel(pattern), ['refused']).split('\nqueries[') as [string];
    assert.ok(happens.endsWith('heardC = HASH(refusal)\n]'), happens);
    assert.is(/p2C = /.test(happens), pattern === 'XXpsk2');
  }
});

test.run();
