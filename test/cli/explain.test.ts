/** `hub-protocol explain`: names each of these faults, from what each time is at hand, and says where it cannot tell. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { changedMessage } from '../../cli/src/explain/arrivals.ts';
import { strippedPayloads } from '../../cli/src/explain/differences.ts';
import { Case, type Evidence } from '../../cli/src/explain/evidence.ts';
import { type Explanation, explain } from '../../cli/src/explain/explain.ts';
import { mistakenPsks } from '../../judge/src/mistakes/psk.ts';
import { hexToBytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { canonicalJson, type Json, JsonNumber, type JsonObject, type LocalError } from '../../src/index.ts';
import { buildPrologue } from '../../src/parts.ts';
import { DERIVED, PASSWORD } from '../world/keys.ts';
import {
  CLIENT_STATIC,
  HUB_STATIC,
  KK,
  NODE_ID,
  OTHER_NONCE_ORDER,
  PSK,
  play,
  replacing,
  StrangeClient,
  withSwappedKeys,
  withTokens,
} from './faults.ts';

/** Knows the PSK of one password at one hub. */
function derive(password: string, nodeId: string): Uint8Array {
  assert.equal([password, nodeId], [PASSWORD, NODE_ID]);
  return DERIVED;
}

/** The PSKs of those mistakes only that a test needs, since most take a second. */
function trying(cause: RegExp): Pick<Evidence, 'mistakenPsks'> {
  return {
    mistakenPsks: (password, nodeId) =>
      Object.values(mistakenPsks(password, nodeId))
        .flat()
        .filter((mistake) => cause.test(mistake.cause)),
  };
}

function why(evidence: Partial<Evidence>): Explanation {
  return explain({ derive, mistakenPsks: () => [], ...evidence });
}

/** Asserts what the cause is, and returns its text. */
function blames(
  evidence: Partial<Evidence>,
  name: string,
  certainty: 'certain' | 'likely' = 'certain',
): string {
  const { verdict, cause, wouldHelp } = why(evidence);
  assert.is(cause?.name, name, cause?.text ?? `unknown; would help: ${wouldHelp.join('; ')}`);
  assert.is(cause?.certainty, certainty, cause?.text);
  assert.is(verdict, 'fault');
  return cause!.text;
}

function cannotTell(evidence: Partial<Evidence>): Explanation {
  const explanation = why(evidence);
  assert.is(explanation.cause, undefined, explanation.cause?.text);
  assert.is(explanation.verdict, 'unknown');
  assert.ok(explanation.wouldHelp.length > 0);
  return explanation;
}

const wrongPsk = new Uint8Array(32).fill(9);
const secrets = { ephemeralKey: true };

// Passwords and PSKs

test('a wrong password, from the recording of the client alone', () => {
  const { client } = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } });
  assert.match(blames({ client }, 'psk-differs', 'likely'), /password is wrong on one side/);
});

test('a wrong password, from both PSKs', () => {
  const { client } = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } });
  blames({ client, clientPsk: wrongPsk, hubPsk: PSK }, 'psk-differs');
});

test('a wrong password at the client, from the right one', () => {
  const { client } = play({
    hub: { psk: DERIVED },
    client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
    ...secrets,
  });
  assert.match(blames({ client, password: PASSWORD }, 'psk-stale', 'likely'), /stored/);
  assert.match(
    blames({ client, password: PASSWORD, clientPsk: wrongPsk }, 'psk-stale'),
    /not derived from the password/,
  );
});

test('a wrong password at the client, from the PSK of the hub', () => {
  const { client } = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] }, ...secrets });
  assert.match(blames({ client, hubPsk: PSK }, 'psk-stale', 'likely'), /message 2 opens with the PSK given/);
});

test('a wrong password at the hub, from the right one, which the client has', () => {
  const { client } = play({
    client: { psks: [{ nodeId: NODE_ID, key: DERIVED }] },
    hub: { psk: wrongPsk },
    ...secrets,
  });
  const evidence = { client, clientPsk: DERIVED, password: PASSWORD };
  blames(evidence, 'psk-differs', 'likely');
  const { checked } = why(evidence);
  assert.ok(checked.includes('the PSK of the client was derived from the password'));
  assert.ok(checked.some((text) => text.startsWith('the hub uses none of 1 PSKs')));
});

test('a wrong password under KKpsk0, by elimination from both recordings', () => {
  const { client, hub } = play({
    ...KK,
    client: { ...KK.client, psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
  });
  blames({ client, hub }, 'psk-differs', 'likely');
});

test('a wrong password under KKpsk0, by computing what the hub read', () => {
  const { hub } = play({
    ...KK,
    client: { ...KK.client, psks: [{ nodeId: NODE_ID, key: DERIVED }] },
  });
  const { clientKey } = KK.hub!;
  assert.ok(clientKey);
  const evidence = {
    hub,
    hubStatic: HUB_STATIC,
    hubPsk: PSK,
    password: PASSWORD,
    clientStatic: CLIENT_STATIC,
  };
  assert.match(blames({ ...evidence, hubPsk: undefined }, 'psk-differs', 'likely'), /the hub used another/);
});

/** The PSK with a sixteenth of the memory, by argon2-cffi: the mistake that is derived fastest. */
const LITTLE_MEMORY = hexToBytes('8d85c0bda57576ce61077711c0445c9c5b086c56ebecd719023272df7052e491')!;

test('a PSK derived with other parameters, from the password and that PSK', () => {
  const { client } = play({ client: { psks: [{ nodeId: NODE_ID, key: LITTLE_MEMORY }] } });
  const evidence = { client, clientPsk: LITTLE_MEMORY, password: PASSWORD, ...trying(/ 4096 KiB/) };
  assert.match(blames(evidence, 'psk-derivation'), /4096 KiB/);
});

test('a PSK that the hub derives with other parameters, by computing message 2', () => {
  const { client } = play({
    client: { psks: [{ nodeId: NODE_ID, key: DERIVED }] },
    hub: { psk: LITTLE_MEMORY },
    ...secrets,
  });
  const evidence = { client, clientPsk: DERIVED, password: PASSWORD, ...trying(/ (?:4096|8192) KiB/) };
  assert.match(blames(evidence, 'psk-derivation'), /the hub derives the PSK wrongly: .* 4096 KiB/);
});

// What the hub said, changed on the way

test('a field of HELLO that was changed, from both recordings', () => {
  const { client, hub } = play({ wire: replacing('"hub-1"', '"hub-2"') });
  const { cause } = why({ client, hub });
  assert.is(cause?.name, 'hello-changed');
  assert.equal(cause?.place, { payload: 'HELLO', path: 'node_id', offset: 16 });
});

test('a field of HELLO that was changed, from one recording and the payloads of the other side', () => {
  const { client, hub } = play({
    hub: { hello: { peer: { 'a b': ['x', 'y'] } } },
    wire: replacing('"y"', '"z"'),
  });
  const payloads = (of: typeof client): Partial<Evidence> => ({
    hello: of.hello!.payload,
    offer: of.offer!.payload,
  });
  for (const evidence of [
    { client, ...payloads(hub) },
    { hub, ...payloads(client) },
  ]) {
    const { cause } = why(evidence);
    assert.equal([cause?.name, cause?.place?.path], ['hello-changed', 'peer["a b"][1]']);
    assert.match(cause!.text, /the hub sent "y", and the client saw "z"/);
  }
});

test('a field of the offer that was changed, added or removed', () => {
  const hub = { handshake: { binarize: true, encodings: ['a', 'b'] } };
  for (const [from, to, path] of [
    ['"binarize":true', '"binarize":false', 'binarize'],
    ['"binarize":true', '"binarize":true,"preshared":1', 'preshared'],
    ['"binarize":true,', '', 'binarize'],
    ['["a","b"]', '["a"]', 'encodings[1]'],
  ] as const) {
    const { client, hub: other } = play({ hub, wire: replacing(from, to) });
    const { cause } = why({ client, hub: other });
    assert.equal([cause?.name, cause?.place?.path], ['offer-changed', path]);
  }
});

test('a stripped list of patterns, from both recordings and from the hub’s alone', () => {
  const { client, hub } = play({ ...KK, wire: replacing(',"KKpsk0"', '') });
  assert.is(client.pattern, 'XXpsk2');
  assert.match(blames({ client, hub }, 'patterns-stripped'), /KKpsk0/);
  assert.match(blames({ hub }, 'patterns-stripped'), /KKpsk0/);
});

test('a stripped list of suites, from both recordings and from the hub’s alone', () => {
  const { client, hub } = play({ wire: replacing(',"25519_AESGCM_SHA256"', '') });
  assert.is(client.suite, '25519_ChaChaPoly_SHA256');
  assert.match(blames({ client, hub }, 'suites-stripped'), /AESGCM/);
  assert.match(blames({ hub }, 'suites-stripped'), /AESGCM/);
});

test('a list of suites from which everything was stripped', () => {
  const strip = /"suites":\[[^\]]*\]/;
  const { client, hub } = play({
    wire: (_, data) => [typeof data === 'string' ? data.replace(strip, '"suites":[]') : data],
  });
  blames({ client, hub }, 'suites-stripped');
  assert.match(blames({ client }, 'offer', 'likely'), /lacks .* 25519_ChaChaPoly_SHA256/);
});

test('a field of HELLO that was removed, from the recording of the hub alone', () => {
  const { hub } = play({ hub: { hello: { peer: 'x' } }, wire: replacing(',"peer":"x"', '') });
  assert.match(blames({ hub }, 'hello-changed'), /the field "peer" of HELLO/);
});

test('a number that was rewritten in transit', () => {
  const hub = { hello: { ratio: 1.5, version: 3 } };
  const { client, hub: other } = play({ hub, wire: replacing('"ratio":1.5', '"ratio":1.50') });
  assert.match(
    blames({ client, hub: other }, 'number-rewritten'),
    /the hub sent 1.5, and the client saw 1.50/,
  );
});

// Prologues that the client computes wrongly

const HELLO = { '\ue000': 2, '\u{1f600}': 1, ratio: 0.5 };

for (const [what, prologue, cause] of [
  [
    'in the wrong order',
    (hello: JsonObject, offer: JsonObject, name: string) => buildPrologue(offer, hello, name),
    /HANDSHAKE, HELLO, protocol name/,
  ],
  [
    'without the protocol name',
    (hello: JsonObject, offer: JsonObject) => Buffer.concat([canonicalJson(hello), canonicalJson(offer)]),
    /its parts are HELLO, HANDSHAKE;/,
  ],
  [
    'with keys sorted by UTF-16 unit',
    (hello: JsonObject, offer: JsonObject, name: string) => Buffer.from(utf16(hello) + utf16(offer) + name),
    /key order: keys are sorted by UTF-16 unit/,
  ],
  [
    'with keys as they came',
    (hello: JsonObject, offer: JsonObject, name: string) =>
      Buffer.from(JSON.stringify(hello) + JSON.stringify(offer) + name),
    /it holds the payloads as they came/,
  ],
  [
    'with floats written anew',
    (hello: JsonObject, offer: JsonObject, name: string) =>
      Buffer.from(utf8(hello).replace('1.0', '1') + utf8(offer) + name),
    /numbers: .*keep each token/,
  ],
] as const) {
  test(`a prologue ${what}, from the recording of the hub alone`, () => {
    const isFloat = what.startsWith('with floats');
    const hello: JsonObject = isFloat ? (JSON.parse('{"ratio":10}') as JsonObject) : HELLO;
    const standIn = new StrangeClient(prologue);
    const { hub } = play({
      standIn,
      hub: { hello: isFloat ? { ratio: new JsonNumber('1.0') } : hello },
    });
    assert.match(blames({ hub }, 'prologue'), cause);
  });
}

test('a prologue that is empty, from the recording of the hub alone', () => {
  const { hub } = play({ standIn: new StrangeClient(() => new Uint8Array(0)) });
  assert.match(blames({ hub }, 'prologue'), /it is empty/);
});

test('does not guess the contents of an unknown prologue', () => {
  const { hub } = play({ standIn: new StrangeClient(() => new Uint8Array(7)) });
  cannotTell({ hub });
});

function utf8(value: Json): string {
  return Buffer.from(canonicalJson(value)).toString();
}

function utf16(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(utf16).join()}]`;
  if (typeof value !== 'object' || value === null || 'token' in value) return utf8(value);
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${utf16((value as JsonObject)[key]!)}`)
    .join()}}`;
}

// Keys

const other = (options: object): object => ({ ...KK, ...options });

test('a replaced hub under XXpsk2, from the recording of the client alone', () => {
  const { client } = play({ client: { ...KK.client, patterns: ['XXpsk2'] }, hub: { staticKey: wrongPsk } });
  blames({ client }, 'hub-replaced');
});

test('a replaced hub under KKpsk0, from both recordings, and with its key', () => {
  const { client, hub } = play(other({ hub: { ...KK.hub, staticKey: wrongPsk } }));
  assert.is(client.pattern, 'KKpsk0');
  blames({ client, hub }, 'hub-replaced');
  blames({ client, hubStatic: wrongPsk }, 'hub-replaced');
  assert.ok(cannotTell({ client }).wouldHelp.some((text) => text.includes('XXpsk2')));
});

test('a client that lost its static key under XXpsk2', () => {
  const { client, hub } = play({ client: { staticKey: wrongPsk }, hub: { ...KK.hub } });
  blames({ client, hub }, 'client-key-lost');
  blames({ hub }, 'client-key-lost');
  blames({ client }, 'client-key-lost', 'likely');
});

test('a client that lost its static key under KKpsk0', () => {
  const { client, hub } = play(other({ client: { ...KK.client, staticKey: wrongPsk } }));
  blames({ client, hub }, 'client-key-lost');
  cannotTell({ hub });
});

test('a client with a new static key at a hub that it has pinned', () => {
  const { client } = play(other({ client: { ...KK.client, staticKey: wrongPsk, staticKeyIsFresh: true } }));
  assert.match(blames({ client }, 'client-key-lost', 'likely'), /static-key-fresh/);
});

test('a stored public key that does not belong to the private key', () => {
  const staticKey = { privateKey: CLIENT_STATIC, publicKey: nodeCrypto.x25519.publicKey(wrongPsk) };
  const { client, hub } = play({ client: { staticKey } });
  assert.is(hub.failure?.state, 'awaiting-message-3');
  blames({ client, clientStatic: CLIENT_STATIC }, 'key-pair', 'likely');
});

test('a stored public key that does not belong to the private key, from the message that carries it', () => {
  const staticKey = { privateKey: CLIENT_STATIC, publicKey: nodeCrypto.x25519.publicKey(wrongPsk) };
  const { hub } = play({ client: { staticKey }, ...secrets });
  blames({ hub, hubPsk: PSK, hubStatic: HUB_STATIC, clientStatic: CLIENT_STATIC }, 'key-pair', 'likely');
});

test('a replaced hub, though the key given is of another hub', () => {
  const { client, hub } = play(other({ hub: { ...KK.hub, staticKey: wrongPsk } }));
  blames({ client, hub, hubStatic: HUB_STATIC }, 'hub-replaced');
});

test('blames no lost client key if the hub recorded another failure', () => {
  const { client, hub } = play({ hub: { crypto: OTHER_NONCE_ORDER } });
  assert.is(client.failure?.code, 'client-key-refused');
  blames({ client }, 'client-key-lost', 'likely');
  cannotTell({ client, hub });
});

test('blames no lost client key if the hub accepted the key', () => {
  const { client, hub } = play({
    after: ({ client }) => {
      client.closed(1008);
    },
  });
  blames({ client }, 'client-key-lost', 'likely');
  cannotTell({ client, hub });
});

test('reports that two pins of the client contradict each other', () => {
  const { client, hub } = play(other({ client: { ...KK.client, staticKey: wrongPsk } }));
  const { contradictions } = why({ client, hub, clientPin: 'ab'.repeat(32) });
  assert.is(contradictions.length, 1);
  assert.match(contradictions[0]!, /^the client's recording has the pin/);
});

test('reports that PSKs agree although the handshake shows a difference', () => {
  const { client } = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } });
  const { checked } = cannotTell({ client, clientPsk: PSK, hubPsk: PSK });
  assert.ok(checked.some((text) => text.includes('though the PSKs given agree')));
});

test('an unpinned hub, although only pinned hubs are trusted', () => {
  const { client, hub } = play({ client: { trust: 'pinned-only' } });
  blames({ client }, 'unknown-hub', 'likely'); // its node id may have been changed on the way
  blames({ client, hub }, 'unknown-hub');
  const { hello, offer } = hub;
  blames({ client, hello: hello!.payload, offer: offer!.payload }, 'unknown-hub');
});

// Noise

test('the other nonce order at the client, from what the hub holds', () => {
  const { hub } = play({ client: { crypto: OTHER_NONCE_ORDER }, ...secrets });
  assert.match(blames({ hub, hubPsk: PSK, hubStatic: HUB_STATIC }, 'noise-mistake'), /nonce order/);
});

test('the other nonce order at the hub, from what the client holds and what the hub recorded', () => {
  const { client, hub } = play({ hub: { crypto: OTHER_NONCE_ORDER }, ...secrets });
  const evidence = { client, clientPsk: PSK, clientStatic: CLIENT_STATIC };
  assert.match(
    blames({ ...evidence, hub }, 'noise-mistake', 'likely'),
    /the hub reads message 3 wrongly.*nonce order/,
  );
  const alone = why(evidence);
  assert.is(alone.cause?.certainty, 'likely');
  assert.ok(alone.checked.some((text) => text.startsWith('message 3 is correct')));
});

test('the other nonce order under KKpsk0, visible in the second transport message', () => {
  const { hub } = play({
    ...KK,
    client: { ...KK.client, crypto: OTHER_NONCE_ORDER },
    after: ({ client, hub }) => {
      for (const message of client.sendJson({})) hub.receive(message);
    },
  });
  assert.match(blames({ hub }, 'counter', 'likely'), /little-endian/);
});

test('swapped keys for sending and receiving', () => {
  const { hub } = play({ around: { client: withSwappedKeys }, ...secrets });
  assert.is(hub.failure?.code, 'not-authentic');
  const evidence = { hub, hubPsk: PSK, hubStatic: HUB_STATIC };
  assert.match(blames(evidence, 'noise-mistake'), /split: each side sends with the other/);
});

for (const [at, messages] of [
  [
    'psk0',
    [
      ['psk', 'e'],
      ['e', 'ee', 's', 'es'],
      ['s', 'se'],
    ],
  ],
  ['psk3', [['e'], ['e', 'ee', 's', 'es'], ['s', 'se', 'psk']]],
] as const) {
  test(`the psk token in the wrong place, as in ${at}, at the hub`, () => {
    const { client, hub } = play({ around: { hub: withTokens(messages) }, ...secrets });
    const evidence = at === 'psk0' ? { hub, hubPsk: PSK } : { client, clientPsk: PSK };
    if (at === 'psk3') assert.match(blames(evidence, 'noise-mistake'), /as in psk3/);
    else assert.ok(cannotTell(evidence).checked.some((text) => text.startsWith('message 1 is correct')));
  });
}

test('a static key that the hub sends before it may', () => {
  const tokens = withTokens([['e'], ['e', 's', 'ee', 'es', 'psk'], ['s', 'se']]);
  const { client } = play({ around: { hub: tokens }, ...secrets });
  assert.match(blames({ client, clientPsk: PSK }, 'noise-mistake'), /token order: s comes before ee/);
  const { client: without, hub } = play({ around: { hub: tokens } });
  assert.match(blames({ client: without, hub }, 'noise-mistake', 'likely'), /hub-protocol-judge names it/);
});

test('the psk token in the wrong place, as in psk0, at the client', () => {
  const tokens = withTokens([
    ['psk', 'e'],
    ['e', 'ee', 's', 'es'],
    ['s', 'se'],
  ]);
  const { hub } = play({ around: { client: tokens } });
  assert.match(blames({ hub, hubPsk: PSK }, 'noise-mistake'), /as in psk0/);
});

// Messages

test('HANDSHAKE before HELLO', () => {
  const held: (string | Uint8Array)[] = [];
  const { client, hub } = play({
    wire: (from, data, count) => {
      if (from === 'hub' && count === 1) {
        held.push(data);
        return [];
      }
      return from === 'hub' && count === 2 ? [data, ...held] : [data];
    },
  });
  blames({ client, hub }, 'message-order');
  assert.match(blames({ client }, 'message-order', 'likely'), /lost, repeated or overtaken on the way/);
});

test('a message that was changed', () => {
  const { client, hub } = play({
    wire: (from, data, count) => [
      from === 'hub' && count === 3
        ? (data as string).replace(/..(?="}})/, (hex) => (hex === '00' ? '01' : '00'))
        : data,
    ],
  });
  assert.match(blames({ client, hub }, 'message-changed'), /message 2 was changed/);
});

const published = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? Buffer.from(data) : data;

test('a hub on MQTT that has lost the session, and greets the client again', () => {
  for (const count of [1, 2]) {
    let greeting: Uint8Array | undefined;
    const { client } = play({
      wire: (from, data, at) => {
        if (from === 'hub' && at === count) greeting = published(data);
        return [data];
      },
      after: ({ client }) => {
        client.receive(greeting!);
      },
    });
    assert.match(blames({ client }, 'session-lost', 'likely'), /repeated/);
  }
});

test('does not mistake a repeat of message 2 for a message that opened', () => {
  let message: Uint8Array | undefined;
  const { client } = play({
    wire: (from, data, count) => {
      if (from === 'hub' && count === 3) message = published(data);
      return [data];
    },
    after: ({ client }) => {
      client.receive(message!);
      client.closed(1008);
    },
  });
  assert.is(client.opened, 0);
  blames({ client }, 'client-key-lost', 'likely');
});

test('does not mistake a repeat of message 1 for message 3', () => {
  const { client, hub } = play({
    wire: (from, data, count) => (from === 'client' && count === 1 ? [data, data] : [data]),
  });
  assert.equal(hub.messages, client.messages);
  assert.is(why({ client, hub }).verdict, 'no-fault');
});

test('compares as many messages as there are, however often each was repeated', () => {
  const { client, hub } = play();
  let reads = 0;
  const repeated = (count: number): Evidence['client'] => {
    const hello = { ...hub.hello!, content: '' };
    Object.defineProperty(hello, 'content', {
      get: () => {
        reads++;
        return hub.hello!.content;
      },
    });
    return { ...hub, sent: Array(count).fill(hello), received: Array(count).fill(hello) };
  };
  const readsFor = (count: number): number => {
    reads = 0;
    const examined = new Case({
      client: { ...repeated(count)!, role: 'client', messages: client.messages },
      hub: repeated(count)!,
      derive,
      mistakenPsks: () => [],
    });
    changedMessage(examined);
    return reads;
  };
  assert.is(readsFor(2000), 2 * readsFor(1000));
});

test('tries only a limited number of fields that may have been removed', () => {
  const fields = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field-${index}`, index]));
  const tried = [...strippedPayloads(fields(5000), fields(5000))];
  assert.ok(tried.length < 200, `${tried.length}`);
});

test('recordings of two connections', () => {
  const first = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } });
  const second = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } });
  assert.match(
    blames({ client: first.client, hub: second.hub }, 'message-changed', 'likely'),
    /two connections/,
  );
});

test('a message that was lost', () => {
  const { client, hub } = play({
    wire: (from, data, count) => (from === 'hub' && count === 3 ? [] : [data]),
    after: ({ client, hub }) => {
      client.closed('timeout');
      hub.closed(1000);
    },
  });
  assert.match(blames({ client, hub }, 'message-lost'), /a Noise message/);
  cannotTell({ client });
});

test('a message that never arrived is surely lost, unless a hub refused the client meanwhile', () => {
  for (const [lost, clientCode, hubCode, certainty] of [
    ['client', 1006, 1000, 'certain'],
    ['client', 1008, 1000, 'likely'],
    ['hub', 'timeout', 1008, 'certain'], // clients close as they like
  ] as const) {
    const { client, hub } = play({
      wire: (from, data, count) => (from === lost && (from === 'client' || count === 3) ? [] : [data]),
      after: ({ client, hub }) => {
        client.closed(clientCode);
        hub.closed(hubCode);
      },
    });
    const text = blames({ client, hub }, 'message-lost', certainty);
    assert.is(text.includes('Or the hub closed'), certainty === 'likely');
  }
});

test('does not blame the way for a transport message that a busy session refused twice', () => {
  const { client, hub } = play({
    after: ({ client, hub }) => {
      const [message] = hub.sendJson({ n: 1 });
      hub.sendJson({ n: 'longer' });
      const refused: string[] = [];
      const attempt = (): void => {
        try {
          client.receive(message!);
        } catch (error) {
          refused.push((error as LocalError).code);
        }
      };
      client.sendJson({
        get n() {
          attempt();
          attempt();
          return 1;
        },
      });
      assert.equal(refused, ['wrong-state', 'wrong-state']);
      client.closed('timeout');
    },
  });
  assert.is(why({ client, hub }).cause, undefined);
});

test('message 3 that was lost or overtaken, from the recording of the hub alone and from both', () => {
  for (const isLost of [true, false]) {
    const held: (string | Uint8Array)[] = [];
    const { client, hub } = play({
      wire: (from, data, count) => {
        if (from === 'hub' || count < 2) return [data];
        if (count === 2) held.push(data);
        return count === 2 ? [] : isLost ? [data] : [data, ...held];
      },
    });
    assert.match(blames({ hub }, 'message-order', 'likely'), /where message 3 was due/);
    assert.match(blames({ client, hub }, 'message-order'), /lost or overtaken: a Noise message/);
    assert.match(blames({ client }, 'client-key-lost', 'likely'), /lost, repeated or overtaken/);
  }
});

test('a wrong PSK behind a broker that rewrites JSON without effect', () => {
  const { client, hub } = play({
    client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
    wire: (_, data) => [typeof data === 'string' ? JSON.stringify(JSON.parse(data), null, 2) : data],
  });
  assert.equal(hub.messages.slice(0, 2), client.messages.slice(0, 2));
  blames({ client }, 'psk-differs', 'likely');
  blames({ client, hub }, 'psk-differs', 'likely');
});

test('the HELLO of a client that was lost before the next frame, from both recordings', () => {
  const { client, hub } = play({
    ...KK,
    wire: (from, data, count) => (from === 'client' && count === 2 ? [] : [data]),
    after: ({ client, hub }) => {
      for (const message of client.sendJson({ n: 1 })) hub.receive(message);
    },
  });
  assert.match(blames({ client, hub }, 'message-order', 'likely'), /number 1 of the client was due/);
});

test('a wrong PSK, or something on the way, which added a message that its reader ignored', () => {
  for (const [to, at] of [
    ['hub', 1],
    ['client', 3],
  ] as const) {
    const { client, hub } = play({
      client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
      wire: (from, data, count) =>
        from !== to && count === at ? ['{"msg_type":"hello","payload":{}}', data] : [data],
    });
    assert.match(blames({ client, hub }, 'psk-differs', 'likely'), /Or a message was changed/);
  }
});

test('does not count as lost a HELLO that a client sends over MQTT before the hub has a session', () => {
  const { client, hub } = play({
    client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
    isMqtt: true,
  });
  assert.is(client.sent[0]?.type, 'hello');
  blames({ client, hub }, 'psk-differs', 'likely');
});

test('the first two transport messages in the wrong order', () => {
  const held: (string | Uint8Array)[] = [];
  const { hub } = play({
    ...secrets,
    wire: (from, data) => {
      if (from === 'client' && typeof data !== 'string') {
        held.push(data);
        return [];
      }
      return [data];
    },
    after: ({ client, hub }) => {
      for (const message of client.sendJson({})) hub.receive(message);
    },
  });
  assert.match(
    blames({ hub, hubPsk: PSK, hubStatic: HUB_STATIC }, 'message-order'),
    /counter 1 arrived first/,
  );
  cannotTell({ hub });
});

test('a later transport message that was lost', () => {
  const { hub } = play({
    after: ({ client, hub }) => {
      for (const message of client.sendJson(1)) hub.receive(message);
      client.sendJson(2);
      for (const message of client.sendJson(3)) hub.receive(message);
    },
  });
  blames({ hub }, 'message-order', 'likely');
});

// What a side says itself

test('a local fault', () => {
  const { hub } = play({ hub: { randomBytes: () => new Uint8Array(31) } });
  assert.match(blames({ hub }, 'own-fault'), /bad-random/);
});

test('a message 2 that is too short, which arrived as the hub sent it', () => {
  const { client, hub } = play({ around: { hub: withTokens([['e'], ['e'], ['s', 'se']]) } });
  assert.is(client.failure?.code, 'message-too-short');
  blames({ client }, 'bad-message', 'likely');
  blames({ client, hub }, 'bad-message');
});

for (const [what, from, to, name, change] of [
  ['an envelope that is not JSON', '{', '', 'bad-envelope', 'message-changed'],
  [
    'a hub of an older protocol',
    '"max_protocol_version":3',
    '"max_protocol_version":2',
    'offer',
    'offer-changed',
  ],
  ['a HELLO without a node id', '"node_id"', '"id"', 'offer', 'message-changed'],
] as const) {
  test(what, () => {
    const { client, hub } = play({ wire: replacing(from, to) });
    assert.match(blames({ client }, name, 'likely'), /changed, .* on the way: the hub's recording shows/);
    blames({ client, hub }, change);
  });
}

for (const [what, closing, name] of [
  ['a hub that closes before it says anything', 1008, 'access-refused'],
  ['a hub that answers with HTTP 403', { status: 403 }, 'access-refused'],
  ['a hub that takes no more clients', { code: 1008, reason: 'connection_limit' }, 'unavailable'],
] as const) {
  test(what, () => {
    const { client } = play({
      wire: () => [],
      after: ({ client }) => {
        client.closed(closing);
      },
    });
    blames({ client }, name, 'likely');
  });
}

test('a hub that revoked the access key after KKpsk0', () => {
  const { client } = play({
    ...KK,
    after: ({ client }) => {
      client.closed(1008);
    },
  });
  blames({ client }, 'refused', 'likely');
});

// Controls

test('says that nothing failed', () => {
  for (const setup of [{}, KK, secrets]) {
    const { client, hub } = play(setup);
    assert.is(why({ client, hub }).verdict, 'no-fault');
    assert.is(why({ client }).verdict, 'no-fault');
  }
});

test('says that a recording ends in the middle of the handshake', () => {
  const { client, hub } = play({ wire: (from, data, count) => (from === 'hub' && count > 2 ? [] : [data]) });
  for (const evidence of [{ client }, { hub }, { client, hub }]) {
    const { verdict, cause, wouldHelp } = why(evidence);
    assert.equal([verdict, cause], ['unfinished', undefined]);
    assert.ok(wouldHelp.some((text) => text.startsWith('the rest of the recording')));
  }
});

test('names what differs although a recording ends in the middle of the handshake', () => {
  const { client, hub } = play({
    wire: (from, data, count) => {
      if (from === 'client') return [];
      return [count === 1 ? (data as string).replace('"hub-1"', '"hub-2"') : data];
    },
  });
  assert.is(client.failure ?? hub.failure, undefined);
  blames({ client, hub }, 'hello-changed');
});

test('does not guess what was changed from the hub’s recording alone, and asks for the client’s', () => {
  const { hub, client } = play({ wire: replacing('"hub-1"', '"hub-2"') });
  assert.ok(cannotTell({ hub }).wouldHelp.some((text) => text.includes("the client's recording")));
  assert.ok(cannotTell({ client }).wouldHelp.some((text) => text.includes("the hub's recording")));
});

test('does not guess why a hub closes after a correct message 1', () => {
  const { client, hub } = play({
    wire: (from, data) => (from === 'client' ? [] : [data]),
    after: ({ client, hub }) => {
      client.closed(1008);
      hub.closed(1000);
    },
  });
  const { checked } = why({ client });
  assert.ok(checked.some((text) => text.startsWith('message 1 is correct')));
  cannotTell({ client });
  assert.ok(hub.failure);
});

test('does not guess more about KKpsk0 from one side without its keys', () => {
  const { client, hub } = play({
    ...KK,
    client: { ...KK.client, psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
  });
  cannotTell({ client });
  cannotTell({ hub });
});

test('does not guess why a hub stays silent or is lost', () => {
  for (const closing of ['timeout', 1006] as const) {
    const { client } = play({
      wire: (from, data, count) => (from === 'hub' && count > 2 ? [] : [data]),
      after: ({ client }) => {
        client.closed(closing);
      },
    });
    cannotTell({ client });
  }
});

test('does not guess a cause from PSKs that agree', () => {
  const { client } = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } });
  cannotTell({ client, clientPsk: PSK, hubPsk: PSK });
});

test('does not guess what a random message 2 is', () => {
  const { client } = play({
    ...secrets,
    wire: (from, data, count) => [
      from === 'hub' && count === 3
        ? (data as string).replace(/"msg":"\w{100}/, `"msg":"${'ab'.repeat(50)}`)
        : data,
    ],
  });
  cannotTell({ client, clientPsk: PSK });
});

test.run();
