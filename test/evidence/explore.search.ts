/** The search of `evidence/searches/explore/run`, where it is short: it finds nothing in the library, and something where a fault is planted. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { same } from '../../evidence/searches/explore/laws.ts';
import {
  CLIENT_KEY,
  HUB_KEY,
  IMPOSTOR_STATIC,
  NODE_ID,
  OLD_KEY,
  PSK,
} from '../../evidence/searches/explore/scenarios.ts';
import { explore } from '../../evidence/searches/explore/search.ts';
import type { Cipher } from '../../src/crypto/crypto.ts';
import { type CryptoProvider, HubSession } from '../../src/index.ts';
import { LinkMachine } from '../../src/link/machine.ts';
import { Questions } from '../../src/link/questions.ts';
import { StoredKeyring } from '../../src/link/stored-keyring.ts';
import { ClientSession, ConnectionPolicy, type SessionEvent } from '../../src/parts.ts';
import { toyCrypto } from '../world/toy-crypto.ts';

const FOREVER = Number.POSITIVE_INFINITY;

test('finds no breach with a known hub and one act of an attacker', () => {
  const { violation, states, explored, longest } = explore('known hub', 1, FOREVER);
  assert.is(violation, undefined);
  assert.equal(states, explored);
  assert.ok(states[1]! > 10_000 && longest > 5);
});

test('reports its progress when it gives up', () => {
  const { states, explored } = explore('first contact', 1, 0);
  assert.equal([states, explored], [[1], [0]]);
});

/** What a search finds while a method is another one. */
function foundWith<T extends object, K extends keyof T>(
  target: T,
  name: K,
  fault: (original: T[K]) => T[K],
  scenario: string,
): string {
  const original = target[name];
  target[name] = fault(original);
  try {
    return explore(scenario, 0, FOREVER).violation ?? explore(scenario, 1, FOREVER).violation ?? '';
  } finally {
    target[name] = original;
  }
}

type Receive = ClientSession['receive'];

/** A client whose receive() emits other events. */
const changing =
  (change: (events: SessionEvent[], session: ClientSession) => SessionEvent[]) =>
  (receive: Receive): Receive =>
    function (this: ClientSession, data) {
      return change(receive.call(this, data), this);
    };

test('finds a client that pins before the hub has proved its key', () => {
  const key = new Uint8Array(toyCrypto.x25519.publicKey(IMPOSTOR_STATIC));
  const pins = changing((events, { state }) =>
    state === 'failed' ? [{ type: 'pin', nodeId: NODE_ID, key }, ...events] : events,
  );
  assert.match(foundWith(ClientSession.prototype, 'receive', pins, 'first contact'), 'was pinned');
});

test('finds a client that replaces a pin that it should keep', () => {
  const keys = { key: new Uint8Array(HUB_KEY), replaces: new Uint8Array(OLD_KEY) };
  const replaces = changing((events, { state }) =>
    state === 'failed' ? [{ type: 'pin', nodeId: NODE_ID, ...keys }, ...events] : events,
  );
  const found = foundWith(ClientSession.prototype, 'receive', replaces, 'new hub key');
  assert.match(found, 'not shown to be stale');
});

test('finds a client that stores an unproved PSK', () => {
  const key = new Uint8Array(PSK);
  const stores = changing((events, { state }) =>
    state === 'awaiting-psk' ? [...events, { type: 'psk', nodeId: NODE_ID, key }] : events,
  );
  assert.match(foundWith(ClientSession.prototype, 'receive', stores, 'first contact'), 'not proved');
});

test('finds a client that mistakes a shared secret equal to the last one for a repeat', () => {
  let last: Uint8Array | undefined;
  const repeats = (resume: ClientSession['resume']): ClientSession['resume'] =>
    function (this: ClientSession, secret) {
      const isRepeat = this.state === 'opening-message-2' && secret && last && same(last, secret);
      last = secret;
      return isRepeat ? [] : resume.call(this, secret);
    };
  const found = foundWith(ClientSession.prototype, 'resume', repeats, 'key kept elsewhere');
  assert.match(found, 'changed nothing');
});

test('finds a session that does something after its end', () => {
  const lives = changing((events, { state }) =>
    state === 'closed' ? [{ type: 'pin-suspect', nodeId: NODE_ID }] : events,
  );
  assert.match(foundWith(ClientSession.prototype, 'receive', lives, 'known hub'), 'after the end');
});

test('finds a client that loses a message', () => {
  const loses = changing((events) => events.filter(({ type }) => type !== 'message'));
  assert.match(foundWith(ClientSession.prototype, 'receive', loses, 'known hub'), 'never connected');
});

test('finds a hub that is ready before a replayed client has proved anything', () => {
  const ready = (receive: HubSession['receive']): HubSession['receive'] =>
    function (this: HubSession, data) {
      const events = receive.call(this, data);
      if (this.state !== 'awaiting-first-message') return events;
      const ready = { type: 'ready', pattern: 'KKpsk0', binarize: false } as const;
      const channel = { suite: '25519_ChaChaPoly_SHA256', handshakeHash: new Uint8Array(32) } as const;
      return [...events, { ...ready, ...channel, clientKey: new Uint8Array(CLIENT_KEY), encodings: [] }];
    };
  assert.match(
    foundWith(HubSession.prototype, 'receive', ready, 'known hub'),
    'the client of this connection',
  );
});

/** A cipher that opens what was not sealed. */
class CarelessCipher implements Cipher {
  readonly cipher: Cipher;

  constructor(cipher: Cipher) {
    this.cipher = cipher;
  }

  seal(nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array {
    return this.cipher.seal(nonce, associatedData, plaintext);
  }

  open(nonce: Uint8Array, associatedData: Uint8Array, sealed: Uint8Array): Uint8Array {
    return this.cipher.open(nonce, associatedData, sealed) ?? sealed.slice(0, -16);
  }
}

test('finds a cipher that opens forged messages', () => {
  const careless =
    (cipherOf: CryptoProvider['ciphers']['ChaChaPoly']): CryptoProvider['ciphers']['ChaChaPoly'] =>
    (key) =>
      new CarelessCipher(cipherOf!(key));
  const found = foundWith(toyCrypto.ciphers, 'ChaChaPoly', careless, 'first contact');
  assert.match(found, 'a hub sees the static key before its pin is stored');
});

test('finds a policy that never dials again', () => {
  const rests = (take: ConnectionPolicy['take']): ConnectionPolicy['take'] =>
    function (this: ConnectionPolicy, event, now) {
      const decision = take.call(this, event, now);
      return decision?.do === 'ask' ? { do: 'rest' } : decision;
    };
  assert.match(foundWith(ConnectionPolicy.prototype, 'take', rests, 'new hub key'), 'never connected');
});

test('finds a policy that does not ask for XXpsk2 after a failed KKpsk0', () => {
  const forgets = (begin: ConnectionPolicy['begin']): ConnectionPolicy['begin'] =>
    function (this: ConnectionPolicy, now) {
      const options = begin.call(this, now);
      return options && { onKkFailure: options.onKkFailure! };
    };
  assert.match(
    foundWith(ConnectionPolicy.prototype, 'begin', forgets, 'new hub key, MQTT'),
    'never connected',
  );
});

test('finds a link that takes inputs while a keyring is being stored', () => {
  const field = Object.getOwnPropertyDescriptor(StoredKeyring.prototype, 'isBusy')!;
  Object.defineProperty(StoredKeyring.prototype, 'isBusy', { ...field, get: () => false });
  try {
    assert.match(explore('first contact', 1, FOREVER).violation ?? '', 'store is the last order');
  } finally {
    Object.defineProperty(StoredKeyring.prototype, 'isBusy', field);
  }
});

test('finds a link that writes to a transport that has gone', () => {
  const late = (closed: LinkMachine['closed']): LinkMachine['closed'] =>
    function (this: LinkMachine, now, connection, closing) {
      const machine = this as unknown as { isCut: boolean };
      closed.call(this, now, connection, closing);
      machine.isCut = false;
    };
  assert.match(
    foundWith(LinkMachine.prototype, 'closed', late, 'first contact'),
    /is not written to|closed once/,
  );
});

test('finds a link that leaves a question behind', () => {
  const forgets = (): Questions['close'] => () => undefined;
  assert.match(foundWith(Questions.prototype, 'close', forgets, 'known hub'), /question|never connected/);
});

test('finds a link that orders something else when it is given the same inputs', () => {
  let count = 0;
  const differs = (ask: Questions['ask']): Questions['ask'] =>
    function (this: Questions, envelope, until, isLimited) {
      ask.call(this, envelope, until + ++count, isLimited);
    };
  assert.match(foundWith(Questions.prototype, 'ask', differs, 'known hub'), 'gave other orders');
});

test.run();
