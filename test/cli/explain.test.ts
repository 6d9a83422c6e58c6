/** `hub-protocol explain` on what a side has or computes wrongly: names each fault, from what each time is at hand, and says where it cannot tell. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Recording, readRecording } from '../../cli/src/explain/recording.ts';
import { tracing } from '../../ports/typescript/adapter.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { JsonObject } from '../../src/index.ts';
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
  assert.ok(checked.includes('message 2 does not open with the keys known of both sides'));
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

// Prologues that the client computes wrongly

test('a prologue that the client computes otherwise, from the recording of the hub alone and from both', () => {
  const swapped = (hello: JsonObject, offer: JsonObject, name: string): Uint8Array =>
    buildPrologue(offer, hello, name);
  const { hub } = play({ standIn: new StrangeClient(swapped) });
  assert.match(blames({ hub }, 'prologue', 'likely'), /bound a different HELLO or HANDSHAKE/);
  const { hello, offer } = hub;
  const same = { hub, hello: hello!.payload, offer: offer!.payload };
  assert.match(blames(same, 'prologue', 'likely'), /one side builds the prologue otherwise/);
});

test('the first wrong value of an implementation that notes what it computes', () => {
  const { lines } = play({ client: withPsk(wrongPsk), ...secrets });
  const noted = (trace: object[]): Recording =>
    readRecording('client', Buffer.from([...lines.client, JSON.stringify({ trace })].join('\n')));
  const evidence = { clientPsk: PSK, clientStatic: CLIENT_STATIC };
  const wrong = blames({ client: noted([{ prologue: '7b7d' }]), ...evidence }, 'wrong-value');
  assert.match(wrong, /^first wrong value of the client: prologue after start\. .* has 7b7d, and …?7b22/);
  const k = 'ab'.repeat(32);
  assert.match(
    blames({ client: noted([{ k, nonce: '0', ad: k }]), ...evidence }, 'wrong-value'),
    /: k of the AEAD in message 1, payload/,
  );
  assert.is(why({ client: noted([{}]), ...evidence }).cause?.name === 'wrong-value', false);
});

/** Both recordings of a connection, with what both have computed. */
function bothNoted(setup: Setup): { client: Recording; hub: Recording } {
  const traces = { client: [] as JsonObject[], hub: [] as JsonObject[] };
  const noting = (role: 'client' | 'hub') => ({ crypto: tracing(nodeCrypto, traces[role]) });
  const { client, hub } = setup;
  const played = play({
    ...setup,
    client: { ...client, ...noting('client') },
    hub: { ...hub, ...noting('hub') },
  });
  const noted = (role: 'client' | 'hub'): Recording => ({ ...played[role], trace: traces[role] });
  return { client: noted('client'), hub: noted('hub') };
}

test('the first value in which two sides differ that note what they compute, without a key', () => {
  const wrong = withPsk(wrongPsk);
  const xx = blames(bothNoted({ client: wrong }), 'wrong-value');
  assert.match(
    xx,
    /^first value that differs: h after message 2, psk\. It is MixKeyAndHash\(psk\)\. The client has /,
  );
  const kk = bothNoted({ ...KK, client: { ...KK.client, ...wrong } });
  assert.match(blames(kk, 'wrong-value'), /: h after message 1, psk\. /);
  const tokens = withTokens([['e'], ['e', 'ee', 's', 'se', 'psk'], ['s', 'es']]);
  const swapped = bothNoted({ around: { client: tokens } });
  assert.match(
    blames(swapped, 'wrong-value'),
    /: ck after message 2, es\. It is MixKey\(X25519\(the client’s ephemeral/,
  );
  const keys = bothNoted({ around: { hub: withSwappedKeys }, after: closing(1006) });
  assert.is(why(keys).cause?.name === 'wrong-value', false); // the keys of Split are not in these traces
});

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

/** A client whose static key no hub has accepted, and which the hub refuses at message 3. */
const REFUSED: Setup = { client: { staticKeyIsFresh: true }, after: closing(1008) };

test('treats only 1008 as a refusal, even in recordings of versions that knew other codes', () => {
  const { lines } = play(REFUSED);
  const older = lines.client.map((line) => line.replace('"code":1008', '"code":1000'));
  assert.not.equal(older, lines.client);
  const client = readRecording('client', Buffer.from([...older, ...older].join('\n')));
  assert.is(client.failure?.code, 'dropped');
  cannotTell({ client });
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

test('an unpinned hub, although only pinned hubs are trusted', () => {
  const { client, hub } = play({ client: { trust: 'pinned-only' } });
  blames({ client }, 'unknown-hub', 'likely'); // its node id may have been changed on the way
  blames({ client, hub }, 'unknown-hub');
  const { hello, offer } = hub;
  blames({ client, hello: hello!.payload, offer: offer!.payload }, 'unknown-hub');
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

test('does not guess what was changed from the hub’s recording alone, and asks for the client’s', () => {
  const { hub, client } = play({ wire: replacing('"hub-1"', '"hub-2"') });
  assert.match(blames({ hub }, 'prologue', 'likely'), /The client's recording/);
  assert.ok(cannotTell({ client }).wouldHelp.some((text) => text.includes("the hub's recording")));
});

test('a PSK at the hub that is of another password', () => {
  const { client } = play({ client: withPsk(DERIVED), hub: { psk: wrongPsk } });
  assert.match(
    blames({ client, hubPsk: wrongPsk, password: PASSWORD }, 'psk-differs'),
    /the PSK of the hub was not derived/,
  );
});

test.run();
