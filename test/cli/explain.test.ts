/** `hub-protocol explain` on what a side has or computes wrongly: names each fault, from what each time is at hand, and says where it cannot tell. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Evidence } from '../../cli/src/explain/evidence.ts';
import { type Recording, readRecording } from '../../cli/src/explain/recording.ts';
import { mistakenPsks } from '../../judge/src/mistakes/psk.ts';
import { bytesToHex, hexToBytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { canonicalJson, type Json, JsonNumber, type JsonObject } from '../../src/index.ts';
import { buildPrologue } from '../../src/parts.ts';
import { DERIVED, PASSWORD } from '../world/keys.ts';
import {
  blames,
  CLIENT_STATIC,
  cannotTell,
  closing,
  HUB_STATIC,
  KK,
  NODE_ID,
  OTHER_NONCE_ORDER,
  PSK,
  play,
  replacing,
  type Setup,
  StrangeClient,
  secrets,
  why,
  withPsk,
  withSwappedKeys,
  withTokens,
  wrongPsk,
} from './faults.ts';

/** The PSKs of those mistakes only that a test needs, since most take a second. */
function trying(cause: RegExp): Pick<Evidence, 'mistakenPsks'> {
  return {
    mistakenPsks: (password, nodeId) =>
      Object.values(mistakenPsks(password, nodeId))
        .flat()
        .filter((mistake) => cause.test(mistake.cause)),
  };
}

/** What a client recorded in one file, connection after connection. */
function inOneFile(...setups: readonly Setup[]): Recording {
  return readRecording('client', Buffer.from(setups.flatMap((setup) => play(setup).lines.client).join('\n')));
}

// Passwords and PSKs

test('a wrong password, from the recording of the client alone', () => {
  const { client } = play({ client: withPsk(wrongPsk) });
  assert.match(blames({ client }, 'psk-differs', 'likely'), /password is wrong on one side/);
});

test('a wrong password, from both PSKs', () => {
  const { client } = play({ client: withPsk(wrongPsk) });
  blames({ client, clientPsk: wrongPsk, hubPsk: PSK }, 'psk-differs');
});

test('a wrong password at the client, from the right one', () => {
  const { client } = play({ hub: { psk: DERIVED }, client: withPsk(wrongPsk), ...secrets });
  assert.match(blames({ client, password: PASSWORD }, 'psk-stale', 'likely'), /stored/);
  assert.match(
    blames({ client, password: PASSWORD, clientPsk: wrongPsk }, 'psk-stale'),
    /not derived from the password/,
  );
});

test('a wrong password at the client, from the PSK of the hub', () => {
  const { client } = play({ client: withPsk(wrongPsk), ...secrets });
  assert.match(blames({ client, hubPsk: PSK }, 'psk-stale', 'likely'), /message 2 opens with the PSK given/);
});

test('a wrong password at the hub, from the right one, which the client has', () => {
  const { client } = play({ client: withPsk(DERIVED), hub: { psk: wrongPsk }, ...secrets });
  const evidence = { client, clientPsk: DERIVED, password: PASSWORD };
  blames(evidence, 'psk-differs', 'likely');
  const { checked } = why(evidence);
  assert.ok(checked.includes('the PSK of the client was derived from the password'));
  assert.ok(checked.some((text) => text.startsWith('the hub uses none of 1 PSKs')));
});

test('a wrong password under KKpsk0, by elimination from both recordings', () => {
  const { client, hub } = play({ ...KK, client: { ...KK.client, ...withPsk(wrongPsk) } });
  blames({ client, hub }, 'psk-differs', 'likely');
});

test('does not put a failed KKpsk0 down to the PSK if the static key of the client was not compared', () => {
  const { client, hub } = play({ ...KK, client: { ...KK.client, staticKey: wrongPsk } });
  assert.is(hub.failure?.code, 'kk-failed');
  const { hello, offer, pin } = client;
  const { checked } = cannotTell({
    hub,
    hello: hello!.payload,
    offer: offer!.payload,
    clientPin: pin,
  });
  assert.ok(checked.includes('the client has pinned the static key of this hub'));
});

test('does not put a failed KKpsk0 down to PSKs that agree', () => {
  const { client, hub } = play({ ...KK, client: { ...KK.client, ...withPsk(wrongPsk) } });
  const { checked } = cannotTell({ client, hub, clientPsk: PSK, hubPsk: PSK });
  assert.equal(
    checked.filter((text) => text.includes('PSK')),
    ['the PSKs of both sides agree'],
  );
});

test('asks for the PSK alone where nothing else is missing', () => {
  const { client } = play({ client: withPsk(wrongPsk), ...secrets });
  const { wouldHelp } = why({ client });
  assert.ok(wouldHelp.some((text) => text.startsWith('the password (--password')));
  assert.not.ok(wouldHelp.some((text) => text.startsWith('the private keys')));
});

test('a wrong password under KKpsk0, by computing what the hub read', () => {
  const { hub } = play({ ...KK, client: { ...KK.client, psks: [{ nodeId: NODE_ID, key: DERIVED }] } });
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
  const { client } = play({ client: withPsk(LITTLE_MEMORY) });
  const evidence = { client, clientPsk: LITTLE_MEMORY, password: PASSWORD, ...trying(/ 4096 KiB/) };
  assert.match(blames(evidence, 'psk-derivation'), /4096 KiB/);
});

test('a PSK that the hub derives with other parameters, by computing message 2', () => {
  const { client } = play({ client: withPsk(DERIVED), hub: { psk: LITTLE_MEMORY }, ...secrets });
  const evidence = { client, clientPsk: DERIVED, password: PASSWORD, ...trying(/ (?:4096|8192) KiB/) };
  assert.match(blames(evidence, 'psk-derivation'), /the hub derives the PSK wrongly: .* 4096 KiB/);
});

test('passes over mistakes that lead to no PSK, or to another, when it looks for one that opens message 2', () => {
  const { client } = play({ client: withPsk(DERIVED), hub: { psk: LITTLE_MEMORY }, ...secrets });
  const evidence = { client, clientPsk: DERIVED, password: PASSWORD };
  const none = { cause: 'none', derive: () => undefined };
  const another = { cause: 'another', derive: () => bytesToHex(wrongPsk) };
  const right = { cause: 'right', derive: () => bytesToHex(LITTLE_MEMORY) };
  const mistakes = [none, another, right];
  assert.match(blames({ ...evidence, mistakenPsks: () => mistakes }, 'psk-derivation'), /wrongly: right$/);
  blames({ ...evidence, mistakenPsks: () => [none, another] }, 'psk-differs', 'likely');
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
    const { hub } = play({ standIn, hub: { hello: isFloat ? { ratio: new JsonNumber('1.0') } : hello } });
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
  const setup: Setup = { client: { staticKey: wrongPsk, staticKeyIsFresh: true }, hub: { ...KK.hub } };
  const { client, hub } = play(setup);
  blames({ client, hub }, 'client-key-lost');
  blames({ hub }, 'client-key-lost');
  blames({ client: inOneFile(setup, setup) }, 'client-key-lost', 'likely');
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
  const text = blames(
    { hub, hubPsk: PSK, hubStatic: HUB_STATIC, clientStatic: CLIENT_STATIC },
    'key-pair',
    'likely',
  );
  const [used, own] = [wrongPsk, CLIENT_STATIC].map((key) => bytesToHex(nodeCrypto.x25519.publicKey(key)));
  assert.match(
    text,
    `the client used the public key ${used}, and the private key given has another, ${own}:`,
  );
});

test('a replaced hub, though the key given is of another hub', () => {
  const { client, hub } = play(other({ hub: { ...KK.hub, staticKey: wrongPsk } }));
  blames({ client, hub, hubStatic: HUB_STATIC }, 'hub-replaced');
});

/** A client whose static key no hub has accepted. */
const FRESH: Setup = { client: { staticKeyIsFresh: true } };
/** The same, which the hub refuses at message 3. */
const REFUSED: Setup = { ...FRESH, after: closing(1008) };

test('a client key that was refused twice in a row, whatever failed earlier between', () => {
  const unready = play({ ...FRESH, wire: () => [], after: closing(1006) });
  assert.is(unready.client.isReady, false);
  for (const between of [[], [{ ...FRESH, wire: () => [], after: closing(1006) }]])
    blames({ client: inOneFile(REFUSED, ...between, REFUSED) }, 'client-key-lost', 'likely');
});

test('does not take one refusal of a client key for a lost key', () => {
  const text = blames({ client: inOneFile(REFUSED) }, 'refused', 'likely');
  assert.match(text, /once.*somebody between client and hub/);
  const lost: Setup = { ...FRESH, after: closing(1006) };
  assert.match(blames({ client: inOneFile(REFUSED, lost, REFUSED) }, 'refused', 'likely'), /once/);
  const another: Setup = { client: { ...FRESH.client, staticKey: wrongPsk }, after: closing(1008) };
  assert.match(blames({ client: inOneFile(another, REFUSED) }, 'refused', 'likely'), /once/);
});

test('does not take a refusal for a lost client key once a hub has accepted the key', () => {
  const heard: NonNullable<Setup['after']> = ({ client, hub }) => {
    for (const message of hub.sendJson({})) client.receive(message);
  };
  const kk = { ...KK, client: { ...KK.client, ...FRESH.client } };
  for (const accepted of [kk, { ...FRESH, after: heard }]) {
    const text = blames({ client: inOneFile(accepted, REFUSED, REFUSED) }, 'refused', 'likely');
    assert.match(text, /after the handshake, before it sent anything/);
  }
  assert.match(blames({ client: play({ after: closing(1008) }).client }, 'refused', 'likely'), /message 3/);
});

test('treats only 1008 as a refusal, even in recordings of versions that knew other codes', () => {
  const { lines } = play(REFUSED);
  const older = lines.client.map((line) => line.replace('"code":1008', '"code":1000'));
  assert.not.equal(older, lines.client);
  const client = readRecording('client', Buffer.from([...older, ...older].join('\n')));
  assert.is(client.failure?.code, 'dropped');
  cannotTell({ client });
});

test('blames no lost client key if the hub recorded another failure', () => {
  const setup = { ...FRESH, hub: { crypto: OTHER_NONCE_ORDER } };
  const { client, hub } = play(setup);
  assert.is(client.failure?.code, 'client-key-refused');
  blames({ client: inOneFile(setup, setup) }, 'client-key-lost', 'likely');
  cannotTell({ client, hub });
  const accepted = play({ hub: { crypto: OTHER_NONCE_ORDER } });
  assert.is(accepted.client.failure?.code, 'refused');
  cannotTell({ client: accepted.client, hub: accepted.hub });
});

test('blames no lost client key if the hub accepted the key', () => {
  const { client, hub } = play(REFUSED);
  blames({ client }, 'refused', 'likely');
  cannotTell({ client, hub });
});

test('takes the end of a connection for no failure of the handshake once one message of the hub was read', () => {
  for (const count of [0, 1, 2]) {
    const { client } = play({
      after(sides) {
        for (let i = 0; i < count; i++) {
          for (const message of sides.hub.sendJson({})) sides.client.receive(message);
        }
        sides.client.closed(1006);
      },
    });
    assert.equal([client.opened, client.failure?.code], [count, count === 0 ? 'dropped' : undefined]);
    assert.is(why({ client }).verdict, count === 0 ? 'unknown' : 'no-fault');
  }
});

test('reports that two pins of the client contradict each other', () => {
  const { client, hub } = play(other({ client: { ...KK.client, staticKey: wrongPsk } }));
  const { contradictions } = why({ client, hub, clientPin: 'ab'.repeat(32) });
  assert.is(contradictions.length, 1);
  assert.match(contradictions[0]!, /^the client's recording has the pin/);
});

test('takes no pin from the keyring that the client did not have when it recorded', () => {
  const { client, hub } = play({ client: withPsk(wrongPsk) });
  const { contradictions } = why({ client, hub, clientPin: 'ab'.repeat(32) });
  blames({ client, hub, clientPin: 'ab'.repeat(32) }, 'psk-differs', 'likely');
  assert.equal(contradictions, []);
});

test('reports that PSKs agree although the handshake shows a difference', () => {
  const { client } = play({ client: withPsk(wrongPsk) });
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
    if (at === 'psk3') {
      assert.match(blames({ client, clientPsk: PSK }, 'noise-mistake'), /as in psk3/);
      return;
    }
    // No PSK seals message 1 of XXpsk2, so that it says nothing about the hub's, whoever's is given.
    for (const given of [{ hubPsk: PSK }, { clientPsk: PSK }, { password: PASSWORD }]) {
      const { checked } = cannotTell({ hub, ...given });
      assert.ok(checked.some((text) => text.startsWith('message 1 is correct')));
    }
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

// Controls

test('derives nothing for a node id that no hub has', () => {
  const { lines } = play({ client: withPsk(wrongPsk) });
  for (const nodeId of ['""', '5', 'null']) {
    const text = lines.hub.join('\n').replace('\\"hub-1\\"', JSON.stringify(nodeId).slice(1, -1));
    const hub = readRecording('hub', Buffer.from(text));
    assert.equal(hub.hello?.payload, { node_id: JSON.parse(nodeId) });
    cannotTell({ hub, password: PASSWORD });
  }
});

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
    after: closing(1008, 1000),
  });
  const { checked } = why({ client });
  assert.ok(checked.some((text) => text.startsWith('message 1 is correct')));
  cannotTell({ client });
  assert.ok(hub.failure);
});

test('does not guess more about KKpsk0 from one side without its keys', () => {
  const { client, hub } = play({ ...KK, client: { ...KK.client, ...withPsk(wrongPsk) } });
  cannotTell({ client });
  cannotTell({ hub });
});

test('does not guess why a hub stays silent or is lost', () => {
  for (const ending of ['timeout', 1006] as const) {
    const { client } = play({
      wire: (from, data, count) => (from === 'hub' && count > 2 ? [] : [data]),
      after: closing(ending),
    });
    cannotTell({ client });
  }
});

test('does not guess a cause from PSKs that agree', () => {
  const { client } = play({ client: withPsk(wrongPsk) });
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

test('names the side that has the key which is not pinned', () => {
  const { client, hub } = play(other({ client: { ...KK.client, staticKey: wrongPsk } }));
  assert.match(
    blames({ client, hub }, 'client-key-lost'),
    /Pinned: [0-9a-f]{64}; the client's: [0-9a-f]{64}$/,
  );
});

test('a PSK at the hub that is of another password', () => {
  const { client } = play({ client: withPsk(DERIVED), hub: { psk: wrongPsk } });
  assert.match(
    blames({ client, hubPsk: wrongPsk, password: PASSWORD }, 'psk-differs'),
    /the PSK of the hub was not derived/,
  );
});

test.run();
