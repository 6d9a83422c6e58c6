/** What ends a client for good or for a while: `end`, also in a listener, and injected code that fails. */
import { createKeyring, fingerprint, type LinkClosing, updateKeyring } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Client } from '../../client/dist/client.js';
import type { AskEvent, ClientEvent, ConnectOptions, KeyringStore } from '../../client/dist/options.js';
import type { Platform } from '../../client/dist/platform.js';
import { Clock } from '../world/clock.ts';
import {
  endWorlds,
  HUB_STATIC,
  newWorld,
  POLICY,
  PSK,
  soon,
  started,
  until,
  type World,
  watchingTimers,
} from './world.ts';

test.after.each(endWorlds);

const pause = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time));

/** How a client comes to emit an event. */
interface Cause {
  /** What is prepared before it starts. */
  readonly before?: (world: World) => void;
  readonly options?: Partial<ConnectOptions>;
  /** What happens when it has connected. */
  readonly whenConnected?: (world: World, client: Client) => void;
}

const HUB_KEY = new Uint8Array(crypto.x25519.publicKey(HUB_STATIC));
const otherHub = { nodeId: 'hub-2', key: new Uint8Array(crypto.x25519.publicKey(randomBytes(32))) };
const pinned = (nodeId: string, key: Uint8Array<ArrayBuffer>) => (world: World) =>
  world.store.update((keyring) => updateKeyring(keyring, { type: 'pin', nodeId, key }));

/** What makes a client emit each type of event: a new one does not compile without its row. */
const CAUSES: { readonly [type in ClientEvent['type']]: Cause } = {
  connecting: {},
  deriving: {},
  connect: {},
  disclosure: { whenConnected: (world) => world.say('one') },
  message: { whenConnected: (world) => world.say('one') },
  speak: { whenConnected: (world) => world.say('one') },
  envelope: {
    whenConnected: (world) => world.send(world.hub!.sendJson({ msg_type: 'propagate', payload: {} })),
  },
  bytes: { whenConnected: (world) => world.sendBytes() },
  close: { whenConnected: (world) => world.drop() },
  reconnect: { whenConnected: (world) => world.drop() },
  ask: {
    before: (world) => {
      world.store.fault = new Error('the disk is full');
    },
  },
  unsent: {
    whenConnected(world, client) {
      world.store.whileStoring = () => client.send({ bad: Number.NaN });
      world.say('one');
    },
  },
  dropped: {
    options: { maxMemory: 2 ** 20 },
    whenConnected: (world) => world.say('x'.repeat(2 ** 19)),
  },
  'new-hub': { before: pinned(otherHub.nodeId, otherHub.key) },
  'static-key-fresh': {
    before(world) {
      pinned('hub-1', HUB_KEY)(world);
      world.clientKey = world.store.keyring.staticKey.publicKey;
      world.refusesWith = 1008; // KKpsk0, which the hub offers to this key
    },
  },
  'hub-replaced': {
    whenConnected(world) {
      world.hubStatic = randomBytes(32);
      world.refusesWith = 1008;
      world.drop();
    },
  },
  end: { whenConnected: (_, client) => client.end() },
  trace: {},
};
const TYPES = Object.keys(CAUSES) as ClientEvent['type'][];

/** Starts a client that derives, connects, and then meets what causes an event. */
function startFor(type: ClientEvent['type'], world: World): Client {
  const { before = () => {}, options = {}, whenConnected = () => {} } = CAUSES[type];
  before(world);
  const client = world.start({
    derive: async (_password, _salt, onProgress) => {
      onProgress(0.5);
      return PSK;
    },
    ...options,
  });
  client.once('connect', () =>
    setTimeout(() => world.types.includes('end') || whenConnected(world, client), 5),
  );
  return client;
}

const SPOKEN = {
  ...{ type: 'speak', data: { utterance: 'one' }, requestId: undefined, sessionId: undefined },
  payload: { type: 'speak', data: { utterance: 'one' }, context: {} },
};

/** The fields of each event, but `tell`: an error is shown as its code or its message, random bytes as their length. */
const FIELDS: { readonly [type in Exclude<ClientEvent['type'], 'trace'>]: object } = {
  connecting: {},
  deriving: { progress: 0.5 },
  connect: {
    ...{ nodeId: 'hub-1', hubKey: HUB_KEY, pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256' },
    ...{ handshakeHash: 32, sessionId: 32, encoding: undefined, peer: undefined, binarize: false },
  },
  disclosure: { text: undefined, language: 'en' },
  message: { message: SPOKEN },
  speak: { text: 'one', speech: 'one', displayItems: [], expectsAnswer: false, message: SPOKEN },
  envelope: { envelope: { msg_type: 'propagate', payload: {} } },
  bytes: { kind: 'binary', bytes: Uint8Array.of(1), bin_type: 'file', metadata: {} },
  close: { error: 'dropped' },
  reconnect: { after: 'a pause', error: undefined },
  ask: { error: 'the disk is full', after: 'a pause', act: 'resume' },
  unsent: { message: { bad: Number.NaN }, error: 'unsafe-number' },
  dropped: { kind: 'json', bytes: 524_370, reason: 'too-large' },
  'new-hub': { nodeId: 'hub-1' },
  'static-key-fresh': { nodeId: 'hub-1', error: 'static-key-fresh' },
  'hub-replaced': { nodeId: 'hub-1', key: 32, replaces: HUB_KEY },
  end: {},
};
const TELLING: readonly string[] = ['close', 'ask', 'unsent', 'dropped', 'static-key-fresh', 'hub-replaced'];

for (const type of Object.keys(FIELDS) as (keyof typeof FIELDS)[]) {
  test(`the event ${type} has its fields, and a sentence if a person is to read one`, async () => {
    const client = startFor(type, newWorld());
    const told = await soon(
      new Promise<ClientEvent & { [name in 'tell' | 'advice' | 'who']?: string }>((resolve) =>
        client.once(type, resolve as never),
      ),
    );
    const { tell, who, advice, ...event } = told;
    const shown = Object.entries(event).map(([name, value]: [string, unknown]) => {
      if (value instanceof Error) return [name, (value as { code?: string }).code ?? value.message];
      if (name === 'after') return [name, Number(value) <= POLICY.maxPause && 'a pause'];
      return [name, ['handshakeHash', 'sessionId', 'key'].includes(name) ? Object(value).length : value];
    });
    assert.equal(Object.fromEntries(shown), { type, ...FIELDS[type] });
    for (const one of [tell, advice, who]) assert.is(one !== undefined, TELLING.includes(type));
    for (const one of [tell, advice]) assert.match(one ?? 'None.', /^[A-Z].*\.$/);
  });
}

/** What a client tells but for `trace`, in order. */
function everyEventOf(client: Client): string[] {
  const types: string[] = [];
  for (const type of TYPES) if (type !== 'trace') client.on(type, () => types.push(type));
  return types;
}

for (const type of TYPES) {
  if (type === 'end') continue; // below
  test(`after end in the listener of ${type}, also twice, nothing more is told but the end`, async () => {
    const client = startFor(type, newWorld());
    let later: string[] = [];
    client.once(type, () => {
      later = everyEventOf(client);
      client.end();
      client.end();
    });
    await until(() => client.state === 'ended');
    await pause(5);
    const same = ['disclosure', 'message', 'speak']; // one message of the hub is told as these
    assert.equal(later, [...(same.includes(type) ? same.slice(same.indexOf(type) + 1) : []), 'end']);
  });

  test(`end in the listener of ${type} is final`, async () => {
    const world = newWorld();
    const client = startFor(type, world);
    client.once(type, () => client.end());
    const isFirst = type === 'unsent'; // only what is sent during the first message of the hub waits for the store
    const waiting = isFirst ? 'nothing' : client.ask('hello').catch(({ message }: Error) => message);
    await until(() => client.state === 'ended');
    const dials = world.dials;
    await pause(30);
    assert.is(client.send({ msg_type: 'ping', payload: {} }), false);
    assert.is(world.types.filter((seen) => seen === 'end').length, 1);
    assert.equal([world.types.at(-1), world.dials], ['end', dials]);
    assert.not.equal(await waiting, undefined);
    world.store.fault = undefined;
    client.resume();
    await until(() => world.dials > dials);
  });
}

/** What a listener does that is called with an event once, and what comes of it. */
const ACTS: { readonly [what: string]: (client: Client) => unknown } = {
  'resumes the client': (client) => client.resume(),
  'asks a question': (client) => client.ask('in the listener').catch(() => {}),
  'sends an envelope': (client) => client.send({ msg_type: 'ping', payload: {} }),
  'begins a conversation': (client) => client.newConversation(),
  'removes all listeners of its event': () => {},
  'throws an error': () => {
    throw new Error('a fault of the application');
  },
};

for (const type of TYPES) {
  for (const [what, act] of Object.entries(ACTS)) {
    test(`a listener of ${type} that ${what} disturbs neither the others nor the connection`, async () => {
      const world = newWorld();
      const client = startFor(type, world);
      const heard: string[] = [];
      const second = (): number => heard.push('second');
      const first = (event: { type: string }): void => {
        heard.push('first');
        client.off(type, first);
        if (event.type === 'ask') world.store.fault = undefined;
        if (what.startsWith('removes')) client.off(type, second);
        act(client);
      };
      client.on(type, first).on(type, second);
      const uncaught = await uncaughtWhile(() => until(() => heard.length >= 2));
      assert.equal(heard.slice(0, 2), ['first', 'second']); // of this event, also one that was just removed
      const isThrown = what.startsWith('throws');
      assert.equal(uncaught, isThrown ? ['a fault of the application'] : []);
      client.resume();
      assert.is((await client.ask('hello')).ending, 'handled');
      assert.is(client.state, 'ready');
      const { dials } = world;
      await pause(5);
      assert.is(world.dials, dials);
    });
  }
}

/** The messages of the errors that are reported as uncaught until something is done, and a moment later. */
async function uncaughtWhile(act: () => Promise<void>): Promise<string[]> {
  const messages: string[] = [];
  const before = process.rawListeners('uncaughtException') as (() => void)[];
  process.removeAllListeners('uncaughtException');
  const report = ({ message }: Error): void => void messages.push(message);
  process.on('uncaughtException', report);
  try {
    await act();
    await pause(2);
  } finally {
    process.off('uncaughtException', report);
    for (const listener of before) process.on('uncaughtException', listener);
  }
  return messages;
}

/** What a client stores, writes and tells, in order. */
function logOf(world: World): { log: string[]; start: (options?: Partial<ConnectOptions>) => Client } {
  const log: string[] = [];
  const keyring: KeyringStore = {
    load: () => world.store.load(),
    update(change) {
      const before = world.store.load();
      world.store.update(change);
      const { pins, psks, staticKeyIsFresh } = world.store.load();
      if (pins !== before.pins) log.push(`store ${pins.length} pin`);
      if (psks !== before.psks) log.push(`store ${psks.length} psk`);
      if (staticKeyIsFresh !== before.staticKeyIsFresh) log.push('store that the key is accepted');
    },
  };
  const open: Platform['open'] = (connection) => {
    const { write, close } = world.platform.open(connection);
    return {
      close,
      write(data) {
        log.push(typeof data === 'string' ? `write ${JSON.parse(data).msg_type}` : 'write bytes');
        write(data);
      },
    };
  };
  const start = (options?: Partial<ConnectOptions>): Client => {
    const client = world.start({ plays: true, ...options }, { open, keyring });
    for (const type of ['connect', 'close', 'hub-replaced'] as const) client.on(type, () => log.push(type));
    return client;
  };
  return { log, start };
}

const FIRST_CONTACT = [
  'write shake', // message 1
  ...['store 1 pin', 'store 1 psk'], // which message 2 proves
  ...['write shake', 'write bytes', 'connect'], // message 3 and HELLO
  ...['write bytes', 'store that the key is accepted'], // the question, and its answer
];
const HUB_WITH_A_NEW_KEY = [
  'close',
  ...['write shake', 'close', 'store 1 pin', 'write shake', 'close'], // KKpsk0 fails twice
  ...['write shake', 'store 1 pin', 'hub-replaced'],
  ...['write shake', 'write bytes', 'connect', 'write bytes'],
];

test('what a handshake proves is stored before anything is sent that depends on it', async () => {
  const world = newWorld();
  const { log, start } = logOf(world);
  const client = start();
  await client.ask('hello');
  assert.equal(log.splice(0), FIRST_CONTACT);
  world.hubStatic = randomBytes(32);
  world.refusesWith = 1008;
  world.drop();
  await client.ask('hello');
  assert.equal(log, HUB_WITH_A_NEW_KEY);
});

test('end in the listener of any trace is final', async () => {
  for (let count = 1, isOver = false; !isOver; count++) {
    const world = newWorld();
    const client = world.start();
    let left = count;
    let hasConnected = false;
    client.on('connect', () => {
      hasConnected = true;
    });
    client.on('trace', () => {
      if (--left === 0) client.end();
    });
    const waiting = client.ask('hello').catch(() => {});
    await waiting;
    await pause(10);
    isOver = left > 0;
    if (isOver) assert.ok(count > 8 && hasConnected);
    else {
      assert.is(client.send({ msg_type: 'ping', payload: {} }), false, `trace ${count}`);
      assert.is(world.types.at(-1), 'end', `trace ${count}`);
    }
    client.end();
  }
});

test('end clears the timer of a client that waits for its hub', async () => {
  const world = newWorld();
  world.isSilent = true;
  await watchingTimers(async (timers) => {
    const client = world.start();
    await until(() => world.dials === 1);
    assert.equal(timers.running, ['client']);
    client.end();
    assert.equal(timers.running, []);
  });
});

test('end in the listener of end does nothing more', async () => {
  const { world, client } = started();
  client.on('end', () => client.end());
  client.end();
  client.end();
  assert.equal(world.types, ['end']);
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
  client.end();
  assert.equal(world.types, ['end', 'connect', 'end']);
});

test('end and resume in the listener of connecting connect once', async () => {
  const { world, client } = started();
  let isFirst = true;
  client.on('connecting', () => {
    if (!isFirst) return;
    isFirst = false;
    client.end();
    client.resume();
  });
  await until(() => world.types.includes('connect'));
  assert.is((await client.ask('hello')).ending, 'handled');
  assert.equal([world.dials, world.types], [1, ['end', 'connect']]);
});

/** Randomness that fails while a flag is set. */
class Flaky {
  isBroken = false;
  readonly randomBytes = (length: number): Uint8Array => {
    if (this.isBroken) throw new Error('no randomness');
    return randomBytes(length);
  };
}

test('a client whose randomBytes failed at a dial dials again after resume', async () => {
  const world = newWorld();
  const source = new Flaky();
  source.isBroken = true;
  const client = world.start({}, { randomBytes: source.randomBytes });
  await until(() => world.types.includes('ask'));
  source.isBroken = false;
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('a client whose randomBytes failed at a pause asks a person, and dials again after resume', async () => {
  const world = newWorld();
  const source = new Flaky();
  const client = world.start({}, { randomBytes: source.randomBytes });
  await client.ask('hello');
  source.isBroken = true;
  world.drop();
  await until(() => world.types.includes('ask'));
  source.isBroken = false;
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('a hub with another key is reported with both fingerprints, before the connection and its answers', async () => {
  const { world, client } = started();
  await client.ask('hello');
  const old = fingerprint(crypto.x25519.publicKey(HUB_STATIC));
  const seen: string[] = [];
  client.on('hub-replaced', ({ advice }) => seen.push(advice)).on('connect', () => seen.push('connect'));
  world.hubStatic = randomBytes(32);
  world.refusesWith = 1008;
  world.drop();
  await client.ask('hello');
  const fresh = fingerprint(crypto.x25519.publicKey(world.hubStatic));
  assert.match(seen[0]!, new RegExp(`^The hub’s key was ${old} and is now ${fresh}\\. .* operator`));
  assert.equal(seen.slice(1), ['connect']);
});

for (const [point, after, expected] of [
  ['before message 1', 0, /may not know the access key/],
  ['before message 2', 1, /may have another password or another key/],
  ['before a message', 2, /may know this client by another key/],
] as const) {
  test(`1000 three times in a row ${point} adds what a hub may refuse, and costs nothing`, async () => {
    const world = newWorld();
    const tells: string[] = [];
    const { open } = world.platform;
    const client = world.start(
      {},
      {
        open(connection) {
          const texts = (): void => connection.closed({ code: 1000 });
          if (after === 0) connection.received = () => {};
          const transport = open(connection);
          if (after === 0) queueMicrotask(texts);
          return {
            ...transport,
            write(data) {
              if (after === 2) transport.write(data);
              if (after === 1 || (after === 2 && typeof data !== 'string')) queueMicrotask(texts);
            },
          };
        },
      },
    );
    client.on('close', ({ advice }) => tells.push(advice));
    await until(() => tells.length >= 3);
    for (const i of [0, 1]) assert.match(tells[i]!, /something in between/);
    assert.match(tells[2]!, expected);
    assert.not.ok(world.types.includes('ask'));
  });
}

test('a key that a person trusts takes the place of the pinned one, and no other key does', async () => {
  const { world, client } = started({ policy: { ...POLICY, onKkFailure: 'keep-pin' } });
  await client.ask('hello');
  const change = async (): Promise<Extract<AskEvent, { act: 'trust' }>> => {
    world.hubStatic = randomBytes(32);
    world.refusesWith = 1008;
    const asked = new Promise<AskEvent>((resolve) => client.once('ask', resolve));
    world.drop();
    const event = await asked;
    return event.act === 'trust' ? event : Promise.reject(new Error(event.act));
  };
  const event = await change();
  assert.is(client.state, 'asking');
  client.trust(event);
  assert.is((await client.ask('hello')).ending, 'handled');
  const pins = world.store.load().pins.map(({ key }) => fingerprint(key));
  assert.equal(pins, [fingerprint(new Uint8Array(crypto.x25519.publicKey(world.hubStatic)))]);
  await change(); // which nobody trusts
  assert.equal(
    world.store.load().pins.map(({ key }) => fingerprint(key)),
    pins,
  );
});

test('what another program has stored counts from the next connection on', async () => {
  const { world, client } = started();
  const patterns: string[] = [];
  client.on('connect', ({ pattern }) => patterns.push(pattern));
  await client.ask('hello');
  const { privateKey } = world.store.keyring.staticKey;
  world.store.keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: privateKey!, crypto });
  world.drop();
  await client.ask('hello');
  world.drop();
  await client.ask('hello');
  assert.equal(patterns, ['XXpsk2', 'XXpsk2', 'KKpsk0']);
  assert.is(world.derivations, 2);
});

/** Ends the connections of a client, one after the other, before or after the hub has spoken. Returns what is told of each. */
async function tellsOf(
  closings: readonly (readonly [isReady: boolean, closing: LinkClosing | undefined])[],
): Promise<string[]> {
  const world = newWorld();
  const tells: string[] = [];
  let at = 0;
  const open: Platform['open'] = (connection) => {
    const [isReady, closing] = closings[at++] ?? [true, undefined];
    if (!isReady) queueMicrotask(() => connection.closed(closing));
    return isReady ? world.platform.open(connection) : { write: () => {}, close: () => {} };
  };
  const client = world.start({}, { open });
  client.on('close', ({ advice }) => tells.push(advice));
  for (const [i, [isReady, closing]] of closings.entries()) {
    if (isReady) {
      await client.ask('hello');
      world.lose(closing);
    }
    await until(() => tells.length > i);
  }
  return tells;
}

test('what is told of a connection does not depend on how earlier ones went', async () => {
  const forbidden = { code: 4003, reason: 'QUERY is not allowed for this client' };
  const tells = await tellsOf([
    [true, forbidden],
    [true, undefined],
    [true, { code: 1000 }],
    ...[1000, 1005, 1000].map((code) => [false, { code }] as const),
    [true, { code: 1000 }],
    [false, { code: 1000 }],
  ]);
  assert.match(tells[0]!, /may not send query envelopes/);
  for (const i of [1, 2, 3, 4, 6, 7]) assert.match(tells[i]!, /something in between/, String(i));
  assert.match(tells[5]!, /has ended 3 connections in a row .*may not know the access key/);
});

test('two devices with one access key at a broker say so, and each dials at most once in two minutes', async () => {
  const clock = new Clock();
  const { setTimeout, clearTimeout } = globalThis;
  Object.assign(globalThis, {
    setTimeout: (run: () => void, time = 0) => clock.after(time, run),
    clearTimeout: (timer?: number) => clock.clear(timer),
  });
  Object.assign(performance, { now: () => clock.now });
  let takeOver = (): void => {};
  const place = { scheme: 'mqtts', host: 'broker', at: 'broker:8883', partner: 'broker' } as const;
  const devices = [newWorld(), newWorld()].map((world) => {
    const tells: string[] = [];
    const open: Platform['open'] = (connection) => {
      takeOver();
      takeOver = () => connection.closed();
      return world.platform.open(connection);
    };
    const client = world.start({ policy: { maxPause: 60_000 } }, { open, place });
    client.on('reconnect', ({ advice }) => advice?.includes('this access key') && tells.push(advice));
    return { world, client, tells };
  });
  try {
    while (clock.now < 8 * 3_600_000) {
      clock.runUntil(clock.now + 1000);
      await new Promise(setImmediate);
    }
    for (const { world, client, tells } of devices) {
      assert.ok(world.dials > 60 && world.dials < 260, `${world.dials} dials`);
      assert.ok(tells.length > 0 && tells.length < 3, `${tells.length} sentences`);
      client.end();
    }
  } finally {
    Object.assign(globalThis, { setTimeout, clearTimeout });
    delete (performance as { now?: unknown }).now;
  }
});

test.run();
