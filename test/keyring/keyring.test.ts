/** Keyrings: what each event of a session changes, and what a session takes from them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  createKeyring,
  dropPin,
  fingerprint,
  forgetPsks,
  type Keyring,
  parseKeyring,
  pinHub,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../src/index.ts';
import type { SessionEvent } from '../../src/parts.ts';
import type { ReadyEvent } from '../../src/session/events.ts';
import { findHub } from '../../src/session/keyring-fields.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_PSK, NODE_ID, PSK } from '../world/keys.ts';
import { fieldsOf, HELLO, KK, LATER, newClient, OFFER, Pair, readyPair, types } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';
import { toHex } from '../world/vectors.ts';
import { wipedIn } from '../world/wiped.ts';

const ACCESS_KEY = 'kiosk-7';
const OTHER = new Uint8Array(32).fill(0xee);
const READY = { type: 'ready', pattern: 'KKpsk0' } as ReadyEvent;

const fresh = (): Keyring => createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC });
const pinned = (nodeId: string = NODE_ID, keyring: Keyring = fresh()): Keyring =>
  updateKeyring(keyring, { type: 'pin', nodeId, key: HUB_KEY });
const pinOf = (keyring: Keyring, nodeId: string = NODE_ID) => findHub(keyring.pins, nodeId)?.key;
const pskOf = (keyring: Keyring, nodeId: string = NODE_ID) => {
  const psk = findHub(keyring.psks, nodeId);
  return psk?.isSuspect ? undefined : psk?.key;
};
/** A keyring after a restart. */
const stored = (keyring: Keyring): Keyring => parseKeyring(serializeKeyring(keyring), ACCESS_KEY);
const suspect = (nodeId: string = NODE_ID): SessionEvent => ({ type: 'psk-suspect', nodeId });

/** A keyring with everything in it. */
const FULL = updateKeyring(storePsk(pinned(), NODE_ID, PSK), READY);

test('a keyring keeps copies of the keys that it is given', () => {
  const [staticKey, key, psk] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2), new Uint8Array(32)];
  const publicKey = new Uint8Array(CLIENT_KEY);
  const created = createKeyring({ accessKey: ACCESS_KEY, staticKey });
  const elsewhere = createKeyring({ accessKey: ACCESS_KEY, staticKey: { publicKey } });
  const keyring = storePsk(updateKeyring(created, { type: 'pin', nodeId: NODE_ID, key }), NODE_ID, psk);
  for (const bytes of [staticKey, key, psk, publicKey]) bytes.fill(9);
  assert.equal(keyring.staticKey.privateKey, CLIENT_STATIC);
  assert.equal(pinOf(keyring), new Uint8Array(32).fill(2));
  assert.equal(pskOf(keyring), new Uint8Array(32));
  assert.equal((elsewhere.staticKey as { publicKey: Uint8Array }).publicKey, CLIENT_KEY);
});

test('a PSK is stored when a hub has proved it, in place of one that was not provisioned', () => {
  const proved = updateKeyring(fresh(), { type: 'psk', nodeId: NODE_ID, key: new Uint8Array(PSK) });
  assert.equal(proved.psks[0]?.key, PSK);
  assert.is(proved.psks[0]?.isProvisioned, false);
  assert.is(updateKeyring(proved, { type: 'psk', nodeId: NODE_ID, key: new Uint8Array(PSK) }), proved);
  const replaced = updateKeyring(proved, { type: 'psk', nodeId: NODE_ID, key: OTHER });
  assert.equal(
    replaced.psks.map(({ key }) => key),
    [OTHER],
  );
  const provisioned = storePsk(fresh(), NODE_ID, PSK, { isProvisioned: true });
  assert.is(updateKeyring(provisioned, { type: 'psk', nodeId: NODE_ID, key: OTHER }), provisioned);
});

test('a suspect PSK is derived again, and kept until another is proved', () => {
  const doubted = stored(updateKeyring(FULL, suspect()));
  assert.is(doubted.psks[0]?.isSuspect, true);
  const client = newClient(fieldsOf(doubted));
  client.receive(HELLO);
  assert.is(types(client.receive(OFFER)).at(-1), 'psk-needed');
  assert.is(updateKeyring(doubted, suspect()), doubted);
  const same = updateKeyring(doubted, { type: 'psk', nodeId: NODE_ID, key: new Uint8Array(PSK) });
  assert.is(same.psks[0]?.isSuspect, false);
  assert.equal(pskOf(same), PSK);
});

test('the same keyring is returned if nothing changes, so that it need not be stored', () => {
  const events: SessionEvent[] = [
    { type: 'pin', nodeId: NODE_ID, key: new Uint8Array(HUB_KEY) },
    { type: 'pin-suspect', nodeId: 'hub-2' },
    suspect('hub-2'),
    READY,
    { type: 'message', kind: 'json', text: '{}' },
    { type: 'new-hub', nodeId: 'hub-2' },
    { type: 'waiting', publicKey: HUB_KEY },
    { type: 'transmit', data: '' },
  ];
  for (const event of events) assert.is(updateKeyring(FULL, event), FULL, event.type);
  assert.is(storePsk(FULL, NODE_ID, new Uint8Array(PSK)), FULL);
  assert.is(storePsk(FULL, NODE_ID, PSK, { isProvisioned: false }), FULL);
  assert.is(storePsk(FULL, NODE_ID, PSK, {}), FULL);
  assert.is(dropPin(FULL, 'hub-2'), FULL);
  const empty = fresh();
  assert.is(forgetPsks(empty), empty);
});

test('a suspect pin is no longer suspect once it is confirmed or replaced', () => {
  const two = pinHub(pinned(), 'hub-2', OTHER);
  const doubted = stored(updateKeyring(two, { type: 'pin-suspect', nodeId: NODE_ID }));
  assert.equal(
    doubted.pins.map(({ isSuspect }) => isSuspect),
    [true, false],
  );
  assert.is(updateKeyring(doubted, { type: 'pin-suspect', nodeId: NODE_ID }), doubted);
  const pin = { type: 'pin', nodeId: NODE_ID } as const;
  const confirmed = updateKeyring(doubted, { ...pin, key: new Uint8Array(HUB_KEY) });
  assert.is(serializeKeyring(confirmed), serializeKeyring(two));
  const replaced = updateKeyring(doubted, { ...pin, key: OTHER, replaces: new Uint8Array(HUB_KEY) });
  assert.equal(replaced.pins, [{ nodeId: NODE_ID, key: OTHER }, doubted.pins[1]]);
});

test('a keyring has at most 16 pins, which stay, and 16 PSKs', () => {
  let keyring = fresh();
  for (let i = 0; i < 16; i++) keyring = storePsk(pinned(`hub-${i}`, keyring), `hub-${i}`, PSK);
  const pin: SessionEvent = { type: 'pin', nodeId: 'hub-16', key: OTHER };
  raisesLocal(() => updateKeyring(keyring, pin), 'keyring-full');
  raisesLocal(() => updateKeyring(keyring, { ...pin, type: 'psk' }), 'keyring-full');
  assert.is(updateKeyring(keyring, { ...pin, nodeId: 'hub-0', replaces: HUB_KEY }).pins.length, 16);
  assert.is(updateKeyring(dropPin(keyring, 'hub-3'), pin).pins.length, 16);
});

test('a pin replaces only the key that was found stale: another program may have pinned a third one', () => {
  const third = new Uint8Array(32).fill(77);
  const event = { type: 'pin', nodeId: NODE_ID, key: OTHER, replaces: HUB_KEY } as const;
  raisesLocal(() => updateKeyring(pinHub(fresh(), NODE_ID, third), event), 'pin-differs');
  assert.equal(pinOf(updateKeyring(fresh(), event)), OTHER);
});

test('a pin is not replaced by another key: a person drops it first', () => {
  const keyring = pinned();
  const event = { type: 'pin', nodeId: NODE_ID, key: OTHER } as const;
  raisesLocal(() => updateKeyring(keyring, event), 'pin-differs');
  assert.equal(pinOf(keyring), HUB_KEY);
  assert.equal(pinOf(updateKeyring(dropPin(keyring, NODE_ID), event)), OTHER);
});

test('a person pins exactly the key that a hub presented, whatever was pinned', () => {
  for (const keyring of [fresh(), pinned()]) {
    const trusted = pinHub(keyring, NODE_ID, OTHER);
    assert.equal(trusted.pins, [{ nodeId: NODE_ID, key: OTHER }]);
    assert.is(pinHub(trusted, NODE_ID, OTHER), trusted);
  }
  assert.is(pinHub(pinned(), 'hub-2', OTHER).pins.length, 2);
});

test('a pin needs a node id and a key of 32 bytes', () => {
  for (const nodeId of [undefined, null, 5, ''] as unknown as string[]) {
    raisesLocal(() => pinHub(pinned(), nodeId, OTHER), 'bad-argument');
    raisesLocal(() => dropPin(pinned(), nodeId), 'bad-argument');
  }
  raisesLocal(() => pinHub(pinned(), NODE_ID, undefined as never), 'bad-argument');
  raisesLocal(() => pinHub(pinned(), NODE_ID, OTHER.subarray(1)), 'bad-length');
});

test('the fingerprint of a key is its first 8 bytes in hex', () => {
  assert.is(fingerprint(new Uint8Array(32).map((_, i) => 0xa0 + i)), 'a0a1a2a3a4a5a6a7');
  raisesLocal(() => fingerprint(OTHER.subarray(1)), 'bad-length');
});

test('no event removes a provisioned PSK', () => {
  const keyring = storePsk(pinned(), NODE_ID, PSK, { isProvisioned: true });
  const events: SessionEvent[] = [
    suspect(),
    { type: 'pin-suspect', nodeId: NODE_ID },
    READY,
    { type: 'message', kind: 'json', text: '{}' },
  ];
  for (const event of events) assert.equal(pskOf(updateKeyring(keyring, event)), PSK, event.type);
  assert.is(updateKeyring(keyring, suspect()), keyring);
});

test('a provisioned PSK is replaced by another, and removed only by forgetPsks', () => {
  const keyring = storePsk(fresh(), NODE_ID, PSK, { isProvisioned: true });
  const derived = storePsk(keyring, NODE_ID, OTHER);
  assert.equal(pskOf(derived), OTHER);
  assert.is(derived.psks[0]!.isProvisioned, false);
  assert.is(pskOf(updateKeyring(derived, suspect())), undefined);
  assert.equal(forgetPsks(keyring).psks, []);
});

test('forgetPsks removes all PSKs after a change of the password, and nothing else', () => {
  const keyring = forgetPsks(storePsk(FULL, 'hub-2', PSK));
  assert.equal(keyring.psks, []);
  assert.equal(pinOf(keyring), HUB_KEY);
  assert.is(keyring.staticKeyIsFresh, false);
});

test('hubs are kept apart, whatever they are called', () => {
  let keyring = fresh();
  const nodeIds = [
    '__proto__',
    'constructor',
    'toString',
    '-----BEGIN\nKEY-----\n',
    '\u{1f600}',
    'a',
    'A',
    'a ',
  ];
  nodeIds.forEach((nodeId, i) => {
    const key = new Uint8Array(32).fill(i);
    for (const look of [pinOf, pskOf]) assert.is(look(keyring, nodeId), undefined);
    keyring = storePsk(updateKeyring(keyring, { type: 'pin', nodeId, key }), nodeId, key);
  });
  keyring = parseKeyring(serializeKeyring(keyring), ACCESS_KEY);
  nodeIds.forEach((nodeId, i) => {
    for (const look of [pinOf, pskOf]) assert.equal(look(keyring, nodeId), new Uint8Array(32).fill(i));
  });
});

test('arguments that could not be stored are refused', () => {
  const staticKey = CLIENT_STATIC;
  for (const accessKey of ['', undefined, 7]) {
    raisesLocal(() => createKeyring({ accessKey: accessKey as string, staticKey }), 'bad-argument');
    raisesLocal(() => storePsk(FULL, accessKey as string, PSK), 'bad-argument');
    const pin = { type: 'pin', nodeId: accessKey as string, key: HUB_KEY } as const;
    raisesLocal(() => updateKeyring(FULL, pin), 'bad-argument');
  }
  raisesLocal(() => createKeyring({ accessKey: '\ud800', staticKey }), 'lone-surrogate');
  raisesLocal(() => storePsk(FULL, '\ud800', PSK), 'lone-surrogate');
  raisesLocal(() => pinned('\ud800'), 'lone-surrogate');
  for (const key of ['secret', undefined, []]) {
    raisesLocal(() => createKeyring({ accessKey: ACCESS_KEY, staticKey: key as never }), 'bad-argument');
    raisesLocal(() => storePsk(FULL, NODE_ID, key as never), 'bad-argument');
  }
  for (const length of [0, 31, 33]) {
    const key = new Uint8Array(length);
    raisesLocal(() => createKeyring({ accessKey: ACCESS_KEY, staticKey: key }), 'bad-length');
    raisesLocal(() => createKeyring({ accessKey: ACCESS_KEY, staticKey: { publicKey: key } }), 'bad-length');
    raisesLocal(() => storePsk(FULL, NODE_ID, key), 'bad-length');
    raisesLocal(() => updateKeyring(FULL, { type: 'pin', nodeId: 'hub-2', key }), 'bad-length');
  }
  for (const isProvisioned of ['yes', 1, null]) {
    raisesLocal(
      () => storePsk(FULL, NODE_ID, PSK, { isProvisioned: isProvisioned as never }),
      'bad-argument',
    );
  }
  raisesLocal(() => updateKeyring(FULL, undefined as never), 'bad-argument');
  raisesLocal(() => updateKeyring(FULL, {} as never), 'bad-argument');
});

test('the copy of the static key from which its public key is computed is wiped', () => {
  const create = () => createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC, crypto: nodeCrypto });
  assert.ok(wipedIn(create).includes(toHex(CLIENT_STATIC)));
});

test('a static key of zeros is refused', () => {
  const zeros = new Uint8Array(32);
  raisesLocal(() => createKeyring({ accessKey: ACCESS_KEY, staticKey: zeros }), 'bad-argument');
  raisesLocal(
    () => createKeyring({ accessKey: ACCESS_KEY, staticKey: { publicKey: zeros } }),
    'bad-argument',
  );
});

/** Connects a client with its keyring, as it was stored, and returns the types of its events and the new keyring. */
function connect(keyring: Keyring): [string[], Keyring] {
  let stored = parseKeyring(serializeKeyring(keyring), ACCESS_KEY);
  const hub = stored.pins.length === 0 ? {} : KK.hub;
  const pair = readyPair({ client: fieldsOf(stored), hub });
  pair.advance('client', pair.toClient(pair.hub.sendJson({})));
  for (const event of pair.clientEvents) stored = updateKeyring(stored, event);
  return [types(pair.clientEvents), stored];
}

test('a keyring carries a client from its first contact to its reconnect', () => {
  const [first, afterFirst] = connect(storePsk(fresh(), NODE_ID, PSK));
  assert.equal(first, ['transmit', 'pin', 'transmit', 'transmit', 'ready', 'message']);
  const [second, afterSecond] = connect(afterFirst);
  assert.equal(second, ['transmit', 'transmit', 'ready', 'message']);
  assert.equal(pinOf(afterSecond), HUB_KEY);
});

test('a keyring with only a public key does the same, and its session asks for shared secrets', () => {
  const keyring = storePsk(
    createKeyring({ accessKey: ACCESS_KEY, staticKey: LATER.staticKey }),
    NODE_ID,
    PSK,
  );
  const [first, afterFirst] = connect(keyring);
  assert.equal(first, ['transmit', 'pin', 'waiting', 'transmit', 'transmit', 'ready', 'message']);
  const [second] = connect(afterFirst);
  assert.equal(second, ['waiting', 'transmit', 'waiting', 'transmit', 'ready', 'message']);
});

test('a session computes the public key that a keyring lacks', () => {
  assert.is(new Pair({ client: { ...fieldsOf(fresh()), psks: [HUB_PSK] } }).run().client.state, 'ready');
});

test('createKeyring() computes the public key if it is given crypto, and keeps a given public key', () => {
  const made = createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC, crypto: nodeCrypto });
  assert.equal(made.staticKey.publicKey, CLIENT_KEY);
  const staticKey = { privateKey: CLIENT_STATIC, publicKey: OTHER };
  assert.equal(
    createKeyring({ accessKey: ACCESS_KEY, staticKey, crypto: nodeCrypto }).staticKey.publicKey,
    OTHER,
  );
});

test.run();
