/** Each rule of ClientLink by itself. random-lives.test.ts tries them together. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Cipher } from '../../src/crypto/crypto.ts';
import {
  buildUtterance,
  ClientLink,
  createKeyring,
  forgetPsks,
  type JsonObject,
  type Keyring,
  type LinkEvent,
  type LinkOptions,
  type Order,
  pinHub,
  RequestScheduler,
  storePsk,
} from '../../src/index.ts';
import type { ReadyEvent } from '../../src/session/events.ts';
import { CLIENT_STATIC, HUB_STATIC, NODE_ID } from '../world/keys.ts';
import { raisesAbout, raisesLocal } from '../world/raises.ts';
import { seeded } from '../world/random.ts';
import { toyCrypto } from '../world/toy-crypto.ts';
import { names, pskFor, readyShell, Shell } from './shell.ts';

const OTHER_STATIC = new Uint8Array(32).fill(9);
const HUB_KEY = toyCrypto.x25519.publicKey(HUB_STATIC);
const question = (requestId: string, text = 'What is on today?'): JsonObject =>
  buildUtterance({ requestId, text });
const diskFull = new Error('no space left');
const newKeyring = (): Keyring =>
  createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto: toyCrypto });

// First contact

test('announces itself over MQTT once it has subscribed', () => {
  const shell = new Shell();
  shell.start();
  assert.equal(names(shell.run(shell.link.opened(1, 0))), ['write']);
});

test('computes one step of a paced handshake in each wake', () => {
  const shell = new Shell({ session: { paced: true } });
  shell.start();
  shell.connect();
  let wakes = 0;
  for (; shell.link.state !== 'ready'; wakes++) {
    assert.is(shell.link.deadline, shell.now);
    shell.wake();
  }
  assert.ok(wakes > 5, String(wakes));
});

test('orders shared secrets of a key that is kept elsewhere', () => {
  const publicKey = toyCrypto.x25519.publicKey(CLIENT_STATIC);
  const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: { publicKey } });
  const shell = new Shell({ keyring });
  shell.start();
  shell.connect();
  const [compute] = shell.ordered('compute');
  const secret = toyCrypto.x25519.sharedSecret(CLIENT_STATIC, compute!.publicKey);
  shell.run(shell.link.computed(1, secret, 0));
  assert.is(shell.link.state, 'ready');
});

test('tells an Error if a shell answers with something else', () => {
  const publicKey = toyCrypto.x25519.publicKey(CLIENT_STATIC);
  for (const answer of [null, undefined, 'no chip']) {
    const shell = new Shell({ keyring: createKeyring({ accessKey: 'kiosk-7', staticKey: { publicKey } }) });
    shell.start();
    shell.connect();
    shell.run(shell.link.computed(1, answer as never, 0));
    assert.instance(shell.told('close')[0]!.error, Error);
  }
});

test('connects again if a shared secret cannot be computed', () => {
  const publicKey = toyCrypto.x25519.publicKey(CLIENT_STATIC);
  const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: { publicKey } });
  const shell = new Shell({ keyring, trace: true });
  shell.start();
  shell.connect();
  const failure = new Error('no chip');
  const orders = names(shell.run(shell.link.computed(1, failure, 0)));
  assert.equal(
    orders.filter((name) => name !== 'tell trace'),
    ['close', 'tell close', 'tell reconnect'],
  );
  assert.is(shell.told('close')[0]!.error, failure);
  const ended = shell.told('trace').find(({ what }) => 'type' in what && what.type === 'ended')!.what;
  const { reason, retry } = ended as { reason: string; retry: string };
  assert.equal([reason, retry], ['dropped', 'later']); // which says nothing about the hub
});

test('waking early has no effect on a session that waits for a shared secret', () => {
  const publicKey = toyCrypto.x25519.publicKey(CLIENT_STATIC);
  const shell = new Shell({ keyring: createKeyring({ accessKey: 'kiosk-7', staticKey: { publicKey } }) });
  shell.start();
  shell.connect();
  assert.equal(shell.link.wake(0), []);
  assert.is(shell.link.state, 'connecting');
});

// Storing

test('an end that is reported twice while a keyring is being stored counts once', () => {
  const shell = readyShell({}, ['derive', 'write']);
  shell.run(shell.link.closed(1, { code: 1006 }, 0));
  shell.run(shell.link.closed(1, { code: 1006 }, 0));
  const orders = names(shell.run(shell.link.stored(undefined, 0)));
  assert.equal(orders, ['tell connect', 'tell close', 'tell reconnect']);
});

/** A link that is storing that its hub has accepted the static key. */
function storingShell(): Shell {
  const shell = readyShell();
  shell.answers.delete('store');
  shell.says('speak', { utterance: 'Welcome.' });
  assert.is(shell.orders.at(-1)!.do, 'store');
  return shell;
}

const codesOf = (shell: Shell): unknown[] =>
  shell.told('unsent').map(({ message, error }) => [message, error.code]);

test('a message that waits for a store is told to be unsent at the end', () => {
  const shell = storingShell();
  const message = { msg_type: 'bus', payload: {} };
  assert.equal(shell.run(shell.link.send(message, 0)), []);
  assert.equal(shell.run(shell.link.received(1, 'text', 0)), []);
  shell.run(shell.link.end(0));
  assert.equal(codesOf(shell), [[message, 'session-over']]);
});

test('a message that waits for a store is told to be unsent if the connection has ended meanwhile', () => {
  const shell = storingShell();
  const [before, after] = [1, 2].map((n) => ({ msg_type: 'bus', payload: { n } }));
  shell.run(shell.link.send(before!, 0));
  shell.closed({ code: 1006 });
  shell.run(shell.link.received(1, 'text', 0));
  shell.run(shell.link.send(after!, 0));
  shell.run(shell.link.stored(undefined, 0));
  assert.equal(codesOf(shell), [
    [after, 'dropped'],
    [before, 'dropped'],
  ]);
});

test('a message behind a change of the keyring is told to be unsent', () => {
  const shell = storingShell();
  shell.run(shell.link.change((keyring) => keyring, 0));
  const message = { msg_type: 'bus', payload: {} };
  shell.run(shell.link.send(message, 0));
  shell.run(shell.link.stored(undefined, 0));
  assert.equal(codesOf(shell), [[message, 'wrong-state']]);
});

test('waits for nothing but unsent questions while a keyring is being stored', () => {
  const shell = new Shell({}, []);
  shell.run(shell.link.change((keyring) => pinHub(keyring, NODE_ID, HUB_KEY), 0));
  assert.is(shell.link.deadline, undefined);
  shell.run(shell.link.ask(question('r1'), 0, 5000));
  assert.is(shell.link.deadline, 5000);
});

test('stores that a pin is suspect, and tells both keys before the connection if it is replaced', () => {
  const shell = readyShell();
  const pinned = shell.told('connect')[0]!.hubKey;
  shell.redial();
  shell.answers.delete('write');
  shell.connect(); // with KKpsk0
  const orders = shell.closed(1008);
  assert.equal(names(orders), ['tell static-key-fresh', 'tell close', 'tell reconnect', 'store']);
  assert.is(shell.ordered('store').at(-1)!.keyring.pins[0]!.isSuspect, true);
  assert.equal(names(shell.orders.slice(-2)), ['tell connecting', 'open']);
  shell.answers.add('write');
  shell.connect({ staticKey: new Uint8Array(32).fill(0x77) });
  const [replaced] = shell.told('hub-replaced');
  const { hubKey } = shell.told('connect').at(-1)!;
  assert.equal([replaced!.replaces, replaced!.key], [pinned, hubKey]);
  assert.is(shell.ordered('store').at(-1)!.keyring.pins.length, 1);
  assert.equal(shell.link.keyring.pins[0]!.key, hubKey);
});

/** How a KKpsk0 ends, by close code or otherwise, and whether that makes the pin suspect. */
const KK_ENDINGS = [
  ['1008', true],
  ['a bit of message 2 flipped', true],
  ['1000', false],
  ['1005', false],
  ['1001', false],
  ['1006', false],
  ['timeout', false],
] as const;

/** Ends the KKpsk0 of a link that has pinned its hub. Message 2 does not arrive as it was sent. */
function endKk(shell: Shell, how: string): void {
  const { received } = shell.link;
  shell.link.received = (connection, data, now) => {
    if (typeof data !== 'string' || !data.includes('"msg":'))
      return received.call(shell.link, connection, data, now);
    const flipped = data.replace(/"msg":"(.)/, (_, digit) => `"msg":"${digit === '0' ? 1 : 0}`);
    return /bit/.test(how) ? received.call(shell.link, connection, flipped, now) : [];
  };
  shell.connect();
  shell.link.received = received;
  if (/timeout/.test(how)) shell.wake();
  else shell.closed(/bit/.test(how) ? 1008 : Number(how));
}

for (const [how, doubtsPin] of KK_ENDINGS) {
  for (const onKkFailure of ['replace-pin', 'keep-pin'] as const) {
    for (const trust of ['first-use', 'pinned-only'] as const) {
      test(`a KKpsk0 that ends with ${how}, under ${onKkFailure} and ${trust}: the pin stays, and what another key means`, () => {
        const keyring = pinHub(
          createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto: toyCrypto }),
          NODE_ID,
          HUB_KEY,
        );
        const shell = new Shell({ keyring, policy: { onKkFailure }, session: { trust } });
        shell.clientKey = toyCrypto.x25519.publicKey(CLIENT_STATIC);
        shell.start();
        endKk(shell, how);
        assert.equal(
          shell.link.keyring.pins.map(({ key, isSuspect }) => [key, isSuspect === true]),
          [[HUB_KEY, doubtsPin]],
        );
        assert.is(shell.told('ask').length, 0);
        if (shell.link.state === 'waiting') shell.wake();
        shell.connect({ staticKey: OTHER_STATIC, clientKey: undefined });
        const isReplaced = doubtsPin && onKkFailure === 'replace-pin' && trust === 'first-use';
        const [pin] = shell.link.keyring.pins;
        assert.equal(pin!.key, isReplaced ? toyCrypto.x25519.publicKey(OTHER_STATIC) : HUB_KEY);
        assert.is(shell.told('hub-replaced').length, isReplaced ? 1 : 0);
        if (!isReplaced) shell.closed(1008);
        assert.equal(
          shell.told('ask').map(({ error }) => error.code),
          isReplaced ? [] : ['hub-key-changed'],
        );
      });
    }
  }
}

test('forgets earlier failures once it is ready', () => {
  const shell = readyShell({}, ['derive', 'write']);
  shell.run(shell.link.stored(diskFull, 0));
  shell.wake();
  shell.connect();
  shell.run(shell.link.stored(diskFull, shell.now));
  shell.wake();
  shell.answers.add('store');
  shell.connect();
  assert.is(shell.link.state, 'ready');
  shell.answers.delete('store');
  shell.redial().connect({ nodeId: 'hub-2', clientKey: undefined });
  for (let i = 1; i < 3; i++) {
    const orders = shell.run(shell.link.stored(diskFull, shell.now));
    assert.equal(names(orders), ['close', 'tell close', 'tell reconnect']);
    shell.wake();
    shell.connect({ nodeId: 'hub-2', clientKey: undefined });
  }
});

test('stores that a hub has accepted the key, from KKpsk0 or a message, even one that is dropped, and goes on without it', () => {
  const fresh = readyShell({ session: { maxMessage: 100 } });
  fresh.answers.delete('store');
  for (const sealed of fresh.hub!.sendBinary(new Uint8Array(101)))
    fresh.run(fresh.link.received(1, sealed, 0));
  const pinned = readyShell();
  pinned.answers.delete('store');
  pinned.redial().connect();
  for (const [shell, event] of [
    [fresh, 'tell dropped'],
    [pinned, 'tell connect'],
  ] as const) {
    assert.is(names(shell.orders).at(-1), 'store');
    assert.is(shell.ordered('store').at(-1)!.keyring.staticKeyIsFresh, false);
    assert.is(names(shell.run(shell.link.stored(diskFull, shell.now))).at(-1), event);
    assert.is(shell.link.state, 'ready');
  }
});

test('ends a connection to a hub that another program has pinned with another key', () => {
  const shell = new Shell({}, ['derive', 'write']);
  shell.start();
  shell.run(shell.link.change((keyring) => storePsk(keyring, 'hub-2', OTHER_STATIC), 0));
  shell.run(shell.link.stored(undefined, 0, pinHub(newKeyring(), NODE_ID, OTHER_STATIC)));
  shell.connect();
  assert.is((shell.told('close').at(-1)!.error as { code?: string }).code, 'hub-key-changed');
});

test('asks a person if a shared store cannot be read three times', () => {
  const shell = new Shell({ shared: true }, ['derive', 'write']);
  assert.equal(names(shell.start()), ['store']);
  for (let i = 1; i < 3; i++) {
    assert.equal(names(shell.run(shell.link.stored(diskFull, shell.now))), ['tell reconnect']);
    assert.equal(names(shell.wake()), ['store']);
  }
  assert.equal(names(shell.run(shell.link.stored(diskFull, shell.now))), ['tell ask']);
  assert.equal(names(shell.start()), ['store']);
});

test('stores a change that a person makes while a shared store is being read', () => {
  const shell = new Shell({ shared: true }, ['derive', 'write']);
  shell.start();
  shell.run(shell.link.change((keyring) => pinHub(keyring, NODE_ID, HUB_KEY), 0));
  assert.equal(names(shell.run(shell.link.stored(undefined, 0, newKeyring()))), ['store']);
  assert.equal(names(shell.run(shell.link.stored(undefined, 0))), ['tell connecting', 'open']);
  assert.is(shell.link.keyring.pins.length, 1);
});

test('remembers that a pin is suspect if that could not be stored, in a shared store as well', () => {
  for (const shared of [false, true]) {
    const shell = readyShell({ shared });
    const { keyring } = shell.link;
    shell.redial();
    shell.answers.delete('store');
    shell.answers.delete('write');
    shell.connect();
    shell.closed(1008);
    shell.run(shell.link.stored(diskFull, shell.now));
    if (shared) shell.run(shell.link.stored(undefined, shell.now, keyring)); // it is read before each connection
    assert.is(shell.link.keyring.pins[0]!.isSuspect, true);
    assert.is(names(shell.orders).at(-1), 'open');
  }
});

test('forgets that a pin is suspect when a person trusts another key', () => {
  const shell = readyShell({ policy: { onKkFailure: 'keep-pin' } });
  shell.redial();
  shell.answers.delete('write');
  shell.connect();
  shell.closed(1008);
  shell.answers.add('write');
  shell.connect({ staticKey: OTHER_STATIC });
  shell.run(shell.link.trust(shell.now));
  assert.is(shell.link.keyring.pins[0]!.isSuspect, undefined);
});

test('asks at once when a seventeenth hub knows the password', () => {
  const shell = readyShell();
  shell.run(
    shell.link.change((keyring) => {
      let full = keyring;
      for (let i = 1; i < 16; i++) full = pinHub(full, `hub ${i}`, OTHER_STATIC);
      return full;
    }, shell.now),
  );
  shell.connect({ nodeId: 'hub 16', clientKey: undefined });
  assert.is((shell.told('ask')[0]!.error as { code?: string }).code, 'keyring-full');
  assert.is(shell.link.keyring.pins.length, 16);
});

test('asks when a fourth hub within an hour is not pinned, and never about the pinned one', () => {
  const shell = readyShell();
  const meet = (nodeId: string): unknown[] => {
    shell.closed();
    shell.start();
    shell.connect({ nodeId, clientKey: undefined });
    return shell.told('ask').map(({ error }) => (error as { code?: string }).code);
  };
  shell.answers.delete('derive');
  for (const nodeId of ['a', 'b', 'a', 'c', 'b']) assert.equal(meet(nodeId), []);
  assert.equal(meet('d'), ['unknown-hub']);
  shell.now += 3_600_000;
  assert.equal(meet('d'), ['unknown-hub']);
  shell.closed();
  shell.start();
  assert.is(shell.connect().link.state, 'ready');
});

test('an answer of the store that nothing asked for changes nothing', () => {
  const shell = readyShell();
  assert.equal(shell.link.stored(diskFull, 0), []);
  assert.is(shell.link.state, 'ready');
});

// Deriving

test('stops a derivation when a server names another hub, and ignores its answer', () => {
  const shell = new Shell({}, ['store', 'write']);
  shell.start();
  shell.connect({ nodeId: 'hub-2' });
  shell.redial();
  shell.connect();
  assert.equal(names(shell.orders.slice(-2)), ['stop-deriving', 'derive']);
  const [first, second] = shell.ordered('derive');
  assert.equal(shell.link.derived(first!.derivation, pskFor('hub-2'), shell.now), []);
  shell.run(shell.link.derived(second!.derivation, pskFor(NODE_ID), shell.now));
  assert.is(shell.link.state, 'ready');
});

test('never uses the PSK of one hub for another', () => {
  const shell = new Shell({}, ['store']);
  shell.start();
  shell.connect({ nodeId: 'hub-2' });
  shell.run(shell.link.derived(1, pskFor('hub-2'), 0)); // message 2 never comes, so the PSK is not proved
  shell.redial().connect();
  assert.is(shell.ordered('derive').length, 2);
});

test('goes on deriving while a connection to the same hub is lost and made again', () => {
  const shell = new Shell({}, ['store', 'write']);
  shell.start();
  shell.connect();
  shell.redial().connect();
  assert.is(shell.ordered('derive').length, 1);
  assert.is(shell.ordered('stop-deriving').length, 0);
  shell.run(shell.link.derived(1, pskFor(NODE_ID), shell.now));
  assert.is(shell.link.state, 'ready');
});

test('keeps a PSK that is derived before the next hub has said who it is', () => {
  const shell = new Shell({}, ['store', 'write']);
  shell.start();
  shell.connect();
  shell.redial();
  assert.equal(shell.run(shell.link.derived(1, pskFor(NODE_ID), shell.now)), []);
  shell.connect();
  assert.is(shell.ordered('derive').length, 1);
  assert.is(shell.link.state, 'ready');
});

test('derives again after a derived PSK has not opened message 2', () => {
  const shell = new Shell();
  shell.start();
  shell.connect({ psk: new Uint8Array(32).fill(7) });
  assert.is((shell.told('close')[0]!.error as { code?: string }).code, 'psk-differs');
  shell.wake();
  shell.connect();
  assert.is(shell.ordered('derive').length, 2);
});

test('derives again after a new password', () => {
  const shell = new Shell({}, ['store', 'write']);
  shell.start();
  shell.connect();
  assert.equal(names(shell.run(shell.link.change(forgetPsks, 0))), [
    'close',
    'stop-deriving',
    'tell connecting',
    'open',
  ]);
  shell.connect();
  shell.run(shell.link.derived(2, pskFor(NODE_ID), 0));
  assert.is(shell.link.state, 'ready');
});

test('makes a change once, even if a person changes something else while it is being stored', () => {
  const shell = new Shell({}, ['derive', 'write']);
  const other = (keyring: Keyring): Keyring =>
    keyring.pins.length > 0 ? newKeyring() : pinHub(keyring, NODE_ID, HUB_KEY);
  shell.run(shell.link.change(other, 0));
  shell.run(shell.link.change((keyring) => storePsk(keyring, NODE_ID, OTHER_STATIC), 0));
  shell.run(shell.link.stored(undefined, 0));
  shell.run(shell.link.stored(undefined, 0));
  assert.is(shell.link.keyring.pins.length, 1);
});

test('wipes the derived PSK when it is no longer needed', () => {
  const shell = new Shell({}, ['write']);
  shell.start();
  shell.connect();
  shell.run(shell.link.derived(1, pskFor(NODE_ID), 0));
  const { psk } = (shell.link as unknown as { machine: { derivation: { psk: Uint8Array } } }).machine
    .derivation;
  assert.equal(psk, pskFor(NODE_ID));
  shell.run(shell.link.stored(undefined, 0));
  assert.equal(psk, new Uint8Array(32));
});

// Ending

test('the end stops the derivation, the connection and the questions', () => {
  const shell = new Shell({}, ['store', 'write']);
  shell.start();
  shell.connect();
  const asked = question('r1');
  shell.run(shell.link.ask(asked, 0));
  assert.equal(names(shell.run(shell.link.end(0))), ['close', 'stop-deriving', 'tell unsent', 'tell end']);
  assert.is(shell.told('unsent')[0]!.message, asked);
  assert.is(shell.ordered('close')[0]!.code, 1000);
  assert.is(shell.link.state, 'ended');
  assert.is(shell.link.deadline, undefined);
  assert.equal(shell.link.end(0), []);
});

test('the end ends the pause, in which there is no connection to end', () => {
  const shell = readyShell({ trace: true });
  shell.closed({ code: 1006 });
  const due = shell.link.deadline!;
  assert.equal(names(shell.run(shell.link.end(0))), ['tell end']);
  assert.equal(shell.link.wake(due), []);
  assert.equal(names(shell.start()), ['tell connecting', 'open']);
  const orders = names(shell.closed({ code: 1006 })).filter((name) => name !== 'tell trace');
  assert.equal(orders, ['tell close', 'tell reconnect']);
});

test('the end forgets a change that is not stored yet', () => {
  const shell = new Shell({}, ['derive', 'write']);
  shell.run(shell.link.change((keyring) => pinHub(keyring, NODE_ID, HUB_KEY), 0));
  shell.run(shell.link.stored(diskFull, 0));
  shell.run(shell.link.end(0));
  assert.equal(names(shell.start()), ['tell connecting', 'open']);
});

test('a change that was held is gone after the end', () => {
  const shell = readyShell({}, ['derive', 'write']);
  shell.run(shell.link.change((keyring) => pinHub(keyring, 'hub-2', OTHER_STATIC), 0));
  shell.run(shell.link.end(0));
  assert.equal(shell.link.stored(undefined, 0), []);
  assert.is(shell.link.state, 'ended');
});

test('a paced connection that has ended leaves no step to the next one', () => {
  const shell = new Shell({ session: { paced: true } });
  shell.start();
  shell.connect();
  assert.is(shell.link.deadline, 0);
  shell.redial();
  assert.ok(shell.link.deadline! > shell.now);
});

test('reports as unsent what is asked or sent after the end', () => {
  const shell = readyShell();
  shell.run(shell.link.end(0));
  shell.run(shell.link.ask(question('r1'), 0));
  shell.run(shell.link.send({ a: 1 }, 0));
  assert.equal(
    shell.told('unsent').map(({ error }) => error.code),
    ['session-over', 'wrong-state'],
  );
});

// Dialling

test('shows an error to a person when it has come twice in a row', () => {
  const shell = new Shell();
  shell.start();
  shell.redial().redial();
  assert.equal(
    shell.told('reconnect').map(({ error }) => error?.code),
    [undefined, 'dropped'],
  );
});

test('connects again, and says nothing about the hub, if its own side cannot open a transport', () => {
  const shell = new Shell();
  shell.start();
  const failure = new Error('this address cannot be opened');
  for (let i = 1; i < 3; i++) {
    assert.equal(names(shell.closed(failure)), ['tell close', 'tell reconnect']);
    shell.wake();
  }
  assert.equal(names(shell.closed(failure)), ['tell close', 'tell ask']);
  assert.is(shell.told('ask')[0]!.error, failure);
});

test('the end of an older transport leaves the present one open', () => {
  const shell = readyShell().redial();
  shell.run(shell.link.closed(1, { code: 1006 }, shell.now));
  shell.connect();
  assert.is(shell.link.state, 'ready');
});

test('uses XXpsk2 alone after a failed KKpsk0, whatever the options of the session say', () => {
  const shell = readyShell({
    session: { patterns: ['XXpsk2', 'KKpsk0'] },
    policy: { onKkFailure: 'keep-pin' },
  });
  shell.says('news');
  shell.redial();
  shell.answers.delete('write');
  shell.connect();
  shell.closed(1008);
  assert.is(shell.link.keyring.pins.length, 1); // the policy says to keep it
  if (shell.link.state === 'waiting') shell.wake();
  shell.answers.add('write');
  shell.connect();
  assert.equal(
    shell.told('connect').map(({ pattern }) => pattern),
    ['XXpsk2', 'XXpsk2'],
  );
});

test('a person is asked until a connection is ready, for whatever reason others fail meanwhile', () => {
  const shell = new Shell();
  shell.start();
  shell.closed({ cause: 'certificate-refused' });
  shell.wake();
  assert.is(shell.link.state, 'asking');
  assert.equal(names(shell.closed({ code: 1006 })), ['tell close', 'tell reconnect']);
  assert.is(shell.link.state, 'asking');
});

test('dials on after there was no randomness for a pause', () => {
  let isBroken = false;
  const random = seeded(3);
  const shell = new Shell({
    randomBytes(length) {
      if (isBroken) throw new Error('no entropy');
      return random(length);
    },
  });
  shell.start();
  isBroken = true;
  shell.closed({ code: 1006 });
  isBroken = false;
  assert.is(shell.told('ask')[0]!.after, 60_000);
  assert.equal(names(shell.wake()), ['tell connecting', 'open']);
  shell.connect();
  assert.is(shell.link.state, 'ready');
});

test('asks nobody about hubs that are not known, though no PSK can be derived for them', () => {
  const shell = readyShell();
  shell.answers.delete('derive');
  for (let i = 0; i < 3; i++) {
    shell.redial().connect({ nodeId: 'another', clientKey: undefined });
    const { derivation } = shell.ordered('derive').at(-1)!;
    shell.run(shell.link.derived(derivation, new Error('provision it'), shell.now));
  }
  assert.equal(shell.told('ask'), []);
});

test('waits no longer than it would have, however far its clock is set back', () => {
  const shell = new Shell();
  shell.now = 1e12;
  shell.start();
  shell.closed({ code: 1006 });
  const pause = shell.link.deadline! - shell.now;
  shell.now = 0;
  assert.equal(shell.run(shell.link.wake(0)), []);
  assert.is(shell.link.deadline, pause);
  shell.now = pause;
  assert.equal(names(shell.wake()), ['tell connecting', 'open']);
  assert.is(shell.link.deadline, pause + 30_000);
});

test('gives this side three attempts again after a person has acted', () => {
  const shell = new Shell();
  shell.start();
  for (let i = 0; i < 3; i++) {
    if (i > 0) shell.wake();
    shell.closed(new Error('no socket'));
  }
  assert.is(shell.link.state, 'asking');
  shell.start();
  assert.equal(names(shell.closed(new Error('no socket'))), ['tell close', 'tell reconnect']);
});

test('pauses after a session could not be made', () => {
  const shell = new Shell({ session: { hello: { bad: Number.NaN } } });
  assert.equal(names(shell.start()), ['tell close', 'tell reconnect']);
  shell.wake();
  assert.equal(names(shell.wake()), ['tell close', 'tell ask']);
  assert.is(shell.told('ask')[0]!.error.code, 'unsafe-number');
});

test('start does nothing while there is a connection, and ends a pause', () => {
  const shell = readyShell();
  assert.equal(shell.start(), []);
  shell.closed({ code: 1006 });
  assert.equal(names(shell.start()), ['tell connecting', 'open']);
});

// A person

test('trusts nobody when no hub has presented a key', () => {
  const shell = readyShell();
  raisesLocal(() => shell.link.trust(0), 'wrong-state');
  const known = new Shell({ session: { trust: 'pinned-only' } });
  known.start();
  known.connect();
  assert.is((known.told('ask')[0]!.error as { code?: string }).code, 'unknown-hub');
  raisesLocal(() => known.link.trust(0), 'wrong-state');
});

test('trusts nobody after the end', () => {
  const shell = readyShell({ policy: { onKkFailure: 'keep-pin' } });
  shell.redial().connect({ staticKey: OTHER_STATIC, clientKey: undefined });
  assert.is(shell.link.state, 'asking');
  shell.run(shell.link.end(shell.now));
  raisesLocal(() => shell.link.trust(shell.now), 'wrong-state');
});

test('stores what a person has changed before anything else, as often as it takes', () => {
  const shell = new Shell({}, ['derive', 'write']);
  shell.start();
  shell.run(shell.link.change((keyring) => pinHub(keyring, NODE_ID, HUB_KEY), 0));
  assert.equal(names(shell.run(shell.link.stored(diskFull, 0))), ['tell reconnect']);
  assert.equal(names(shell.wake()), ['store']);
  shell.run(shell.link.stored(diskFull, shell.now));
  shell.wake();
  assert.equal(names(shell.run(shell.link.stored(diskFull, shell.now))), ['tell ask']);
  assert.equal(names(shell.start()), ['store']);
  assert.equal(names(shell.run(shell.link.stored(undefined, shell.now))), ['tell connecting', 'open']);
  assert.is(shell.link.keyring.pins.length, 1);
});

test('an object that is not a keyring is refused, and the keyring can still be stored', () => {
  const shell = new Shell({}, ['write']);
  shell.start();
  shell.connect();
  const [derive] = shell.ordered('derive');
  shell.run(shell.link.derived(derive!.derivation, pskFor(NODE_ID), 0));
  raisesLocal(() => shell.link.stored(undefined, 0, {} as Keyring), 'bad-argument');
  assert.equal(names(shell.run(shell.link.stored(undefined, 0))), ['write', 'write', 'tell connect']);
});

test('a change that throws changes nothing', () => {
  const shell = readyShell();
  raisesLocal(
    () => shell.link.change((keyring) => pinHub(keyring, NODE_ID, new Uint8Array(3)), 0),
    'bad-length',
  );
  raisesLocal(() => shell.link.change(() => ({}) as Keyring, 0), 'bad-argument');
  raisesLocal(() => shell.link.change('forget' as never, 0), 'bad-argument');
  assert.is(shell.link.state, 'ready');
});

// Questions

test('takes no more questions while 10,000 were not sent', () => {
  const { link } = new Shell();
  const asked = Array.from({ length: 10_000 }, (_, i) => question(`r${i}`));
  for (const envelope of asked) link.ask(envelope, 0);
  raisesLocal(() => link.ask(question('another'), 0), 'too-many-requests');
  link.cancel(asked[5000]!, 0);
  link.ask(question('another'), 0);
});

test('knows which question is late first, whatever their timeouts', () => {
  const { link } = new Shell();
  const asked = ['r1', 'r2', 'r3', 'r4'].map((id) => question(id));
  for (const [i, timeout] of [5000, 3000, 86_400_000, 4000].entries()) link.ask(asked[i]!, 0, timeout);
  for (const [cancelled, deadline] of [
    [1, 4000],
    [0, 4000],
    [3, 86_400_000],
    [2, undefined],
  ] as const) {
    link.cancel(asked[cancelled]!, 0);
    assert.is(link.deadline, deadline);
  }
  link.ask(question('r5'), 0, 2000);
  assert.is(link.deadline, 2000);
});

test('a question that was cancelled can be asked again', () => {
  const shell = readyShell();
  const [asked, other] = [question('r1'), question('r2')];
  shell.run(shell.link.ask(asked, 0));
  shell.run(shell.link.ask(other, 0));
  shell.run(shell.link.cancel(question('r1'), 0)); // the same, but another object
  shell.run(shell.link.cancel(asked, 0));
  shell.run(shell.link.cancel(asked, 0)); // nobody waits for it any more
  shell.run(shell.link.ask(asked, 0));
  shell.says('ovos.utterance.handled', {}, { request_id: 'r2' });
  shell.wake();
  shell.says('speak', { utterance: 'Yes.' }, { request_id: 'r1' });
  shell.says('ovos.utterance.handled', {}, { request_id: 'r1' });
  assert.equal(
    shell.told('finish').map(({ requestId, reply }) => [requestId, reply.text]),
    [
      ['r2', ''],
      ['r1', 'Yes.'],
    ],
  );
});

test('without a cause, such a question says which state the link is in', () => {
  const shell = readyShell();
  shell.redial({ code: 1006 }).connect(); // ready again: the loss is no cause any more
  shell.run(shell.link.ask(question('r1'), shell.now));
  shell.run(shell.link.ask(question('r2'), shell.now, 1000));
  shell.now += 1000;
  shell.run(shell.link.wake(shell.now));
  assert.is(shell.told('unsent')[0]!.error.code, 'wrong-state');
});

test('a question that is dropped while its session is busy is not sent when the session is free', () => {
  const shell = readyShell();
  shell.run(shell.link.ask(question('r1'), 0));
  shell.run(shell.link.ask(question('r2'), 0, 1000));
  shell.run(shell.link.ask(question('r3'), 0));
  shell.now = 1000;
  shell.run(shell.link.wake(1000));
  shell.says('speak', { utterance: 'Yes.' }, { request_id: 'r1' });
  shell.wake();
  assert.equal(
    shell.heard.map((text) => /r\d/.exec(text)![0]),
    ['r1', 'r3'],
  );
  assert.is(shell.told('unsent').length, 1);
  assert.equal(
    shell.told('finish').map(({ requestId }) => requestId),
    ['r1'],
  );
});

test('a question that was sent ends with the end, and says so', () => {
  const shell = readyShell();
  shell.run(shell.link.ask(question('r1'), 0));
  shell.run(shell.link.end(0));
  const [finish] = shell.told('finish');
  assert.equal([finish!.ending, finish!.error!.code], ['closed', 'session-over']);
  assert.match(finish!.error!.message, 'end() was called');
});

test('a question that cannot be sent is reported as unsent, and does not end others', () => {
  const shell = readyShell();
  const [long, twice, empty] = [question('r1'), question('r2'), {}];
  (long as { payload: JsonObject }).payload = {
    ...(long as { payload: JsonObject }).payload,
    data: { bad: Number.NaN },
  };
  shell.run(shell.link.ask(long, 0));
  shell.run(shell.link.ask(question('r2'), 0));
  shell.run(shell.link.ask(twice, 0));
  shell.run(shell.link.ask(empty, 0));
  assert.equal(
    shell.told('unsent').map(({ message, error }) => [message, error.code]),
    [
      [long, 'unsafe-number'],
      [twice, 'bad-argument'],
      [empty, 'bad-argument'],
    ],
  );
  assert.is(shell.told('finish').length, 0);
  assert.is(shell.heard.length, 1);
});

test('a message that is not a question may be refused without ending a question', () => {
  const shell = readyShell();
  shell.run(shell.link.send({ msg_type: 'bus', payload: { type: 'x', data: {}, context: {} } }, 0));
  shell.run(shell.link.ask(question('r1'), 0));
  shell.says('hive.policy.denied', { denied_type: 'recognizer_loop:utterance' });
  assert.is(shell.told('finish').length, 0);
});

test('a message that cannot be sent is told to be unsent', () => {
  const shell = readyShell();
  const message = { bad: Number.NaN };
  shell.run(shell.link.send(message, 0));
  assert.equal(
    shell.told('unsent').map(({ message, error }) => [message, error.code]),
    [[message, 'unsafe-number']],
  );
});

// Without memory; test/engines/full-heap.ts lets each allocation fail

/**
 * Gives a link an input while no array can grow, and no buffer can be made.
 * @param nth - the only call of `push` that fails instead
 */
function full(input: () => Order[], nth?: number): Order[] {
  const { push } = Array.prototype;
  const Buffers = globalThis.ArrayBuffer;
  const fail = (): never => {
    throw Object.assign(new Error('out of memory'), { name: 'InternalError' });
  };
  let calls = 0;
  Array.prototype.push = function (...items) {
    return nth === undefined || ++calls === nth ? fail() : Reflect.apply(push, this, items);
  };
  if (nth === undefined)
    globalThis.ArrayBuffer = class {
      constructor() {
        fail();
      }
    } as never;
  try {
    return input();
  } finally {
    Array.prototype.push = push;
    globalThis.ArrayBuffer = Buffers;
  }
}

const FULL_INPUTS: { readonly [what: string]: (link: ClientLink) => Order[] } = {
  'a message': (link) => link.received(1, 'text', 0),
  'a PSK': (link) => link.derived(1, pskFor(NODE_ID), 0),
  'a question': (link) => link.ask(question('r1'), 0),
  'an end': (link) => link.end(0),
};
for (const [what, input] of Object.entries(FULL_INPUTS)) {
  test(`a failed allocation ends the link, with its keys wiped: ${what}`, () => {
    const shell = new Shell({}, what === 'a PSK' ? [] : ['derive']);
    shell.start();
    shell.connect();
    const { machine } = shell.link as unknown as {
      machine: { derivation: { psk?: Uint8Array }; session: { state: string } };
    };
    const { session } = machine;
    const failure = raisesLocal(() => full(() => input(shell.link)), 'out-of-memory');
    assert.equal([shell.link.state, shell.link.deadline], ['ended', undefined]);
    assert.match(session.state, /^(failed|closed)$/);
    assert.equal(machine.derivation.psk ?? new Uint8Array(32), new Uint8Array(32));
    for (const again of [input, (link: ClientLink) => link.start(0)]) {
      assert.is(
        raisesLocal(() => again(shell.link), 'out-of-memory'),
        failure,
      );
    }
  });
}

const noMemory = (): never => {
  throw new RangeError('Array buffer allocation failed');
};
const NO_MEMORY: { readonly [where: string]: [Partial<LinkOptions>, (shell: Shell) => unknown] } = {
  'for the end of a session': [{}, ({ link }) => full(() => link.closed(1, { code: 1006 }, 0), 2)],
  'for a message': [{}, ({ link }) => full(() => link.send({ msg_type: 'ping', payload: {} }, 0))],
  'to seal a message': [
    {},
    ({ link }) =>
      link.send(
        {
          msg_type: 'ping',
          payload: {
            get a() {
              return noMemory();
            },
          },
        },
        0,
      ),
  ],
  'for a request': [
    { requests: () => Object.assign(new RequestScheduler(), { request: noMemory }) },
    ({ link }) => link.ask(question('r1'), 0),
  ],
  'for the length of a pause': [
    { randomBytes: (length) => (length === 32 ? new Uint8Array(32).fill(5) : noMemory()) },
    (shell) => shell.closed({ code: 1006 }),
  ],
};
for (const [where, [options, input]] of Object.entries(NO_MEMORY)) {
  test(`a link is over if there is no memory ${where}`, () => {
    const shell = readyShell(options);
    raisesLocal(() => input(shell), 'out-of-memory');
    assert.is(shell.link.state, 'ended');
  });
}

test('an end leaves no failure to the next start', () => {
  let isBroken = false;
  const seal = (): never => {
    throw new Error('broken');
  };
  const ChaChaPoly = (key: Uint8Array): Cipher => {
    const cipher = toyCrypto.ciphers.ChaChaPoly!(key);
    const get = (_: Cipher, name: 'open'): unknown =>
      isBroken && /^seal/.test(name) ? seal : cipher[name]?.bind(cipher);
    return new Proxy(cipher, { get } as ProxyHandler<Cipher>);
  };
  const shell = readyShell({
    crypto: { ...toyCrypto, ciphers: { ChaChaPoly } },
    requests: ({ sessionId }) => new RequestScheduler({ sessionId, saysHandled: true }),
  });
  for (const id of ['r1', 'r2', 'r3']) shell.run(shell.link.ask(question(id), 0));
  shell.answers.delete('store');
  isBroken = true;
  shell.says('ovos.utterance.handled', {}, { request_id: 'r1' }); // r2 cannot be sealed, and the key was accepted
  assert.is(shell.orders.at(-1)!.do, 'store');
  isBroken = false;
  shell.run(shell.link.end(0));
  shell.start();
  assert.equal(names(shell.run(shell.link.stored(undefined, 0))), ['tell connecting', 'open']);
});

test('a message that cannot be sealed ends the connection', () => {
  let isBroken = false;
  const ChaChaPoly = (key: Uint8Array): Cipher => {
    const cipher = toyCrypto.ciphers.ChaChaPoly!(key);
    const get = (_: Cipher, name: 'open'): unknown => {
      if (isBroken && /^seal/.test(name)) throw new Error('broken');
      return cipher[name]?.bind(cipher);
    };
    return new Proxy(cipher, { get } as ProxyHandler<Cipher>);
  };
  const shell = readyShell({ crypto: { ...toyCrypto, ciphers: { ChaChaPoly } } });
  isBroken = true;
  const orders = shell.run(shell.link.send({ msg_type: 'bus', payload: {} }, 0));
  assert.equal(names(orders), ['tell unsent', 'close', 'tell close', 'tell reconnect']);
});

/** What no input brings about by itself: the session has ended, or this side has failed, before the link has seen it. */
interface Inside {
  readonly machine: { session: { closed(): void }; fail(error: unknown): void; failure: unknown };
}

test('an end is told if the session has ended before', () => {
  const { link } = readyShell();
  (link as unknown as Inside).machine.session.closed();
  assert.equal(names(link.end(0)), ['close', 'tell end']);
});

test('the first of two failures of this side is the one that is told', () => {
  const { machine } = readyShell().link as unknown as Inside;
  machine.fail(diskFull);
  machine.fail(new Error('another'));
  assert.is(machine.failure, diskFull);
});

// What is told

test('tells what happens inside only if asked to', () => {
  assert.is(readyShell().told('trace').length, 0);
  const shell = readyShell({ trace: true });
  shell.run(shell.link.send({ msg_type: 'ping', payload: {} }, 0));
  shell.run(shell.link.send(new Uint8Array([0, 1]), 0)); // the order `write` shows it
  const sent = shell.told('trace').map(({ what }) => 'envelope' in what && what.envelope);
  assert.equal(sent.filter(Boolean), [{ msg_type: 'ping', payload: {} }]);
  shell.closed({ code: 1006 });
  const seen = shell.told('trace').map(({ what }) => ('type' in what ? what.type : what.do));
  assert.equal(seen, ['psk-needed', 'psk', 'pin', 'ready', 'sent', 'ended', 'dial']); // and `write` shows `transmit`
  shell.wake();
  shell.answers.delete('write');
  shell.connect();
  shell.closed(1008); // during KKpsk0
  const later = shell.told('trace').slice(seen.length);
  assert.equal(
    later.map(({ what }) => ('type' in what ? what.type : what.do)),
    ['static-key-fresh', 'pin-suspect', 'ended', 'dial'],
  );
});

test('a part of a reply that nobody waits for is not told', () => {
  class Hasty extends RequestScheduler {
    override receive(message: string, now: number): ReturnType<RequestScheduler['receive']> {
      this.request(question('stray'), now);
      return super.receive(message, now);
    }
  }
  const shell = readyShell({ requests: ({ sessionId }) => new Hasty({ sessionId }) });
  shell.says('speak', { utterance: 'To whom?' }, { request_id: 'stray' });
  assert.equal([...shell.told('part'), ...shell.told('message')], []);
});

test('tells nothing that a scheduler decides at the end of a connection but which questions have ended', () => {
  class Talking extends RequestScheduler {
    override closed(): ReturnType<RequestScheduler['closed']> {
      const event = { type: 'speak', data: {}, requestId: undefined, sessionId: undefined, payload: {} };
      return [{ do: 'handle', event } as never, ...super.closed()];
    }
  }
  const shell = readyShell({ requests: ({ sessionId }) => new Talking({ sessionId }) });
  shell.closed();
  assert.equal(shell.told('message'), []);
});

// Misuse

test('refuses unknown options, and keyrings and times that are not valid', () => {
  const options = { crypto: toyCrypto, randomBytes: seeded(1), siteId: '', keyring: newKeyring() };
  raisesAbout('options.request', () => new ClientLink({ ...options, request: 1 } as unknown as LinkOptions));
  raisesLocal(() => new ClientLink({ ...options, keyring: {} as Keyring }), 'bad-argument');
  raisesAbout('requests', () => new ClientLink({ ...options, requests: 1 } as unknown as LinkOptions));
  raisesAbout('trace', () => new ClientLink({ ...options, trace: 1 } as unknown as LinkOptions));
  raisesAbout('shared', () => new ClientLink({ ...options, shared: 1 } as unknown as LinkOptions));
  const link = new ClientLink(options);
  const NOT_A_TIME = Number.NaN;
  const calls: (() => Order[])[] = [
    () => link.start(NOT_A_TIME),
    () => link.opened(0, NOT_A_TIME),
    () => link.received(0, '', NOT_A_TIME),
    () => link.closed(0, undefined, NOT_A_TIME),
    () => link.stored(undefined, NOT_A_TIME),
    () => link.derived(0, new Uint8Array(32), NOT_A_TIME),
    () => link.computed(0, new Uint8Array(32), NOT_A_TIME),
    () => link.wake(NOT_A_TIME),
    () => link.send({}, NOT_A_TIME),
    () => link.ask({}, NOT_A_TIME),
    () => link.change(forgetPsks, NOT_A_TIME),
    () => link.end(NOT_A_TIME),
  ];
  for (const call of calls) raisesAbout('now', call);
  for (const wrong of [NOT_A_TIME, 0, 86_400_001]) raisesAbout('timeout', () => link.ask({}, 0, wrong));
  raisesAbout('update', () => link.change(1 as never, 0));
  assert.is(link.state, 'waiting');
});

test('shows no secret', () => {
  const shell = readyShell();
  assert.is(JSON.stringify(shell.link), '"[ClientLink]"');
  assert.equal(Object.keys(shell.link), []);
  assert.equal(Object.keys((shell.link as unknown as { machine: object }).machine), []);
});

test('a question that was cancelled is never sent, and nothing is told of it', () => {
  const shell = new Shell();
  const [first, second] = [question('cancelled'), question('other')];
  shell.run(shell.link.ask(first, 0));
  shell.run(shell.link.ask(second, 0));
  assert.equal(shell.run(shell.link.cancel(first, 0)), []);
  shell.start();
  shell.connect();
  assert.equal(
    shell.heard.filter((text) => text.includes('"bus"')).map((text) => /"request_id":"(\w+)"/.exec(text)![1]),
    ['other'],
  );
  assert.equal([...shell.told('unsent'), ...shell.told('finish')], []);
});

test('a question that was cancelled after it was sent frees its session, and has no part any more', () => {
  const shell = readyShell();
  const [first, second] = [question('cancelled'), question('other')];
  shell.run(shell.link.ask(first, 0));
  shell.run(shell.link.ask(second, 0));
  shell.run(shell.link.cancel(first, 0));
  assert.match(shell.heard.slice(-1)[0]!, '"other"');
  shell.says('speak', { utterance: 'Late.' }, { request_id: 'cancelled' });
  assert.equal(shell.told('part'), []);
  assert.is(shell.told('message')[0]!.message.requestId, 'cancelled');
  shell.closed();
  assert.equal(
    shell.told('finish').map(({ requestId }) => requestId),
    ['other'],
  );
});

test('a part names the event that carried it, as a message does', () => {
  const shell = readyShell();
  shell.run(shell.link.ask(question('q'), 0));
  shell.says('speak', { utterance: '<b>Which?</b>', expect_response: true }, { request_id: 'q' });
  const [{ message, ...part }] = shell.told('part') as [Extract<LinkEvent, { type: 'part' }>];
  assert.equal([message.type, message.requestId], ['speak', 'q']);
  assert.equal(part, {
    type: 'part',
    requestId: 'q',
    text: '<b>Which?</b>',
    speech: 'Which?',
    displayItems: [],
    expectsAnswer: true,
  });
});

test('what a hub has shown outlives the connection, and the option of the program counts until then', () => {
  const made: RequestScheduler[] = [];
  const requests = ({ sessionId }: ReadyEvent): RequestScheduler => {
    made.push(new RequestScheduler({ sessionId, saysHandled: false }));
    return made[made.length - 1]!;
  };
  const shell = readyShell({ requests });
  assert.is(made[0]!.saysHandled, false);
  shell.run(shell.link.ask(question('q'), 0));
  shell.says('speak', { utterance: 'One.' }, { request_id: 'q' });
  shell.says('ovos.utterance.handled', {}, { request_id: 'q' });
  shell.redial().connect();
  assert.is(made[1]!.saysHandled, true);
});

test.run();
