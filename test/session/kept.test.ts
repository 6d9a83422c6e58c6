/** What a session keeps once it is ready, has failed or has closed: nothing that only the handshake needed, and nothing of a message. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { HubSession } from '../../src/index.ts';
import type { ClientSession } from '../../src/parts.ts';
import { HUB_PIN, HUB_PSK, NODE_ID } from '../world/keys.ts';
import {
  CLIENT_STATES,
  type ClientAndKeyring,
  envelope,
  HUB_STATES,
  KK,
  LATER,
  newClient,
  OFFER,
  Pair,
  type PairOptions,
  pairWithClientIn,
  pairWithHubIn,
  readyPair,
} from '../world/pair.ts';
import { bytesIn, reachable } from './reachable.ts';

/** Strings that appear in HELLO and offer, in the client's own HELLO, and in message 1. */
const MARKS = ['mark-of-the-hub', 'mark-of-the-offer', 'mark-of-the-client', 'mark-of-message-1'];
const MARKED: PairOptions = {
  client: { hello: { mark: MARKS[2]! }, encodings: [MARKS[3]!] },
  hub: { hello: { mark: MARKS[0]! }, handshake: { mark: MARKS[1]! } },
};
const withKk: PairOptions = {
  client: { ...MARKED.client, ...KK.client },
  hub: { ...MARKED.hub, ...KK.hub },
};

/** The marks that can be reached from a session, in strings and in bytes. */
function marksIn(session: ClientSession | HubSession): string[] {
  const values = reachable(session).flatMap((value) =>
    typeof value === 'string'
      ? [value]
      : value instanceof Uint8Array
        ? [Buffer.from(value).toString('latin1')]
        : [],
  );
  return MARKS.filter((mark) => values.some((value) => value.includes(mark)));
}

test('during the handshake a client keeps the prologue’s inputs as bytes', () => {
  assert.equal(marksIn(pairWithClientIn('awaiting-psk', MARKED).client).sort(), [...MARKS].sort());
});

const VARIANTS: PairOptions[] = [MARKED, withKk, { ...withKk, client: { ...withKk.client, ...LATER } }];
const ENDS: ((session: ClientSession | HubSession) => unknown)[] = [
  (session) => session.receive('nonsense'),
  (session) => session.closed(1006),
];

test('a client that is ready keeps nothing of HELLO, offer and message 1', () => {
  for (const options of VARIANTS) assert.equal(marksIn(readyPair(options).client), []);
});

test('a hub that is ready keeps nothing of HELLO, offer and message 1', () => {
  for (const options of VARIANTS) assert.equal(marksIn(readyPair(options).hub), []);
});

test('a session that is ready keeps of its bytes only keys and counters, and a hub the key that it had pinned', () => {
  for (const options of VARIANTS) {
    const { client, hub } = readyPair(options);
    hub.receive(client.sendJson({})[0]!); // under KKpsk0 a hub is ready only now
    const lengths = (session: ClientSession | HubSession): number[] =>
      bytesIn(session)
        .map(({ length }) => length)
        .filter((length) => length > 0)
        .sort((a, b) => a - b);
    assert.equal(lengths(client), [12, 12, 32, 32]);
    assert.equal(lengths(hub), options === MARKED ? [12, 12, 32, 32] : [12, 12, 32, 32, 32]);
  }
});

test('a session keeps no more after a hundred messages each way, of one frame and of several, than after three', () => {
  const { client, hub } = readyPair(withKk);
  const exchange = (i: number): void => {
    const bytes = new Uint8Array(i % 10 === 0 ? 70_000 : 100);
    for (const frame of [...client.sendJson({ i }), ...client.sendBinary(bytes)]) hub.receive(frame);
    for (const frame of [...hub.sendJson({ i }), ...hub.sendBinary(bytes)]) client.receive(frame);
  };
  for (let i = 0; i < 3; i++) exchange(i);
  const kept = [client, hub].map((session) => reachable(session).length);
  for (let i = 0; i < 100; i++) exchange(i);
  assert.equal(
    [client, hub].map((session) => reachable(session).length),
    kept,
  );
});

test('a client that has failed or closed keeps nothing of them, in any state', () => {
  for (const end of ENDS) {
    for (const state of CLIENT_STATES) {
      const { client } = pairWithClientIn(state, MARKED);
      end(client);
      assert.equal(marksIn(client), [], state);
    }
  }
});

test('a hub that has failed or closed keeps nothing of them, in any state', () => {
  for (const end of ENDS) {
    for (const state of HUB_STATES) {
      if (state === 'new' && end === ENDS[0]) continue; // it cannot receive yet
      const { hub } = pairWithHubIn(state, MARKED);
      end(hub);
      assert.equal(marksIn(hub), [], state);
    }
  }
});

test('the keyring is not kept once the client is ready, has failed or has closed', () => {
  const ends: ((pair: Pair) => unknown)[] = [
    (pair) => pair.run(),
    (pair) => pair.client.receive('nonsense'),
    (pair) => pair.client.closed(1006),
  ];
  for (const end of ends) {
    const pins = [HUB_PIN];
    const psks = [HUB_PSK];
    const pair = new Pair({ client: { pins, psks }, hub: KK.hub });
    assert.ok(reachable(pair.client).includes(pins) && reachable(pair.client).includes(psks));
    end(pair);
    assert.not.ok(reachable(pair.client).includes(pins) || reachable(pair.client).includes(psks));
  }
});

test('while the client waits for the offer, a HELLO of 256 KiB costs little more memory than its bytes', () => {
  const client = newClient();
  const numbers = `[${'1,'.repeat(120_000)}1]`;
  client.receive(`{"msg_type":"hello","payload":{"node_id":"${NODE_ID}","pad":${numbers}}}`);
  const values = reachable(client);
  assert.ok(values.length < 250, `${values.length} values are kept`);
  const bytes = values.reduce(
    (sum: number, value) => sum + (value instanceof Uint8Array ? value.length : 0),
    0,
  );
  assert.ok(bytes > 240_000 && bytes < 300_000, `${bytes} bytes are kept`);
});

// The engine itself is asked too, since a closure keeps what no field shows.

interface Weak {
  deref(): object | undefined;
}
const { WeakRef: Reference } = globalThis as unknown as { WeakRef: new (target: object) => Weak };
setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Options with what the client need not keep, and references by which one can tell whether they are kept. */
function watched(): { options: ClientAndKeyring; references: Weak[] } {
  const [pins, psks, session] = [[HUB_PIN], [HUB_PSK], { session_id: 'mine' }];
  return {
    options: { pins, psks, hello: { session } },
    references: [pins, psks, session].map((target) => new Reference(target)),
  };
}

/** Waits until the references are gone, for some collections. */
async function areGone(references: Weak[]): Promise<boolean> {
  for (let i = 0; i < 10; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    collect();
    if (references.every((reference) => reference.deref() === undefined)) return true;
  }
  return false;
}

const STEPS: { readonly [when: string]: (pair: Pair) => unknown } = {
  'is ready': (pair) => pair.run(),
  'has failed': (pair) => pair.client.receive('nonsense'),
  'has closed': (pair) => pair.client.closed(1006),
  'has failed at message 2': (pair) => {
    pair.client.receive(envelope('hello', { node_id: NODE_ID }));
    pair.client.receive(OFFER);
    pair.client.receive(envelope('shake', { noise: { msg: '00' } }));
  },
};
for (const [when, step] of Object.entries(STEPS)) {
  test(`the caller's pins and PSKs can be garbage-collected when the client ${when}`, async () => {
    const session = await (async () => {
      const { options, references } = watched();
      const pair = new Pair({ client: options, hub: KK.hub });
      step(pair);
      const { client } = pair;
      return { client, references };
    })();
    assert.ok(await areGone(session.references));
    assert.ok(session.client.state !== 'awaiting-hello'); // the session itself is still there
  });
}

test.run();
