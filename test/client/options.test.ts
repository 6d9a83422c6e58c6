/** The options of each entry: each is the caller's own, and none is unknown, whatever Object.prototype has. */
import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { createKeyring, type Keyring, parseIdentity, serializeKeyring } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import type { Client, ConnectOptions } from 'hub-protocol-client';
import { connect as websocket } from 'hub-protocol-client';
import { connect as browser } from 'hub-protocol-client/browser';
import { connect as https } from 'hub-protocol-client/https';
import { connect as mqtt } from 'hub-protocol-client/mqtt';
import { connect as reactNative } from 'hub-protocol-client/react-native';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { type Budget, budgetOf } from '../../client/dist/budget.js';
import { issuedWith } from '../world/hosts.ts';
import { endWorlds, newWorld, PSK, type World } from './world.ts';

test.after.each(endWorlds);

const KIB = 1024;
const MIB = 1024 * KIB;
const README = readFileSync(new URL('../../client/README.md', import.meta.url), 'utf8');
const saved = globalThis.WebSocket;
test.before(() => void Object.assign(globalThis, { WebSocket }));
test.after(() => void Object.assign(globalThis, { WebSocket: saved }));

const stored: Keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
const keyring = { load: () => stored, update: () => {} };
const texts = new Map<string, string>();
const storage = {
  getItem: (name: string) => texts.get(name) ?? null,
  setItem: (name: string, text: string) => void texts.set(name, text),
};
const derive = async (): Promise<Uint8Array> => PSK;
const identity = parseIdentity(issuedWith('localhost'));

/** Each entry, with options that lack nothing. */
const ENTRIES: readonly [name: string, connect: (options: never) => Client, options: object][] = [
  ['websocket', websocket, { identity, keyring }],
  ['https', https, { identity, keyring }],
  ['mqtt', mqtt, { identity, keyring }],
  ['browser', browser, { identity, keyring, derive }],
  ['react-native', reactNative, { identity, storage, derive }],
];

const messageOf = (call: () => unknown): string => {
  try {
    call();
    return 'no error';
  } catch (error) {
    assert.is((error as { code?: string }).code, 'bad-argument', String(error));
    return (error as Error).message;
  }
};

const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

for (const [name, connect, options] of ENTRIES) {
  test(`${name} refuses a keyring without the private key, unless a function computes with it`, () => {
    const kept = createKeyring({
      accessKey: identity.accessKey,
      staticKey: { publicKey: stored.staticKey.publicKey! },
    });
    const store = { keyring: { ...keyring, load: () => kept } };
    const texts = { storage: { ...storage, getItem: () => serializeKeyring(kept) } };
    const own = { ...options, ...(name === 'react-native' ? texts : store) };
    assert.match(
      messageOf(() => connect(own as never)),
      '"sharedSecret" expected',
    );
    connect({ ...own, sharedSecret: async () => randomBytes(32) } as never).end();
  });

  test(`${name} refuses an identity that was not parsed`, () => {
    for (const raw of [
      ...[issuedWith('localhost'), JSON.stringify(issuedWith('localhost')), []],
      ...[{ accessKey: 'kiosk-7' }, { password: 'correct horse' }],
    ]) {
      assert.match(
        messageOf(() => connect({ ...options, identity: raw } as never)),
        '"identity" expected the result of parseIdentity',
      );
    }
  });
}

const IN_A_ZONE = parseIdentity(issuedWith('[fe80::1%25eth0]'));

for (const [name, connect, options] of ENTRIES) {
  test(`${name} says that the zone of an IPv6 address is not supported`, () => {
    assert.throws(
      () => connect({ ...options, identity: IN_A_ZONE } as never),
      ({ code, message }: { code: string; message: string }) =>
        code === 'bad-endpoint' && /zone \(%\)/.test(message),
    );
  });
}

const BAD_HOST = parseIdentity(issuedWith('300.1.1.1'));

for (const [name, connect, options] of ENTRIES) {
  test(`${name} refuses an address that no URL can have at once, unless the platform has no URL`, () => {
    const start = (): void => connect({ ...options, identity: BAD_HOST } as never).end();
    assert.is(codeOf(start), 'bad-endpoint');
    const { URL } = globalThis;
    Object.assign(globalThis, { URL: undefined });
    try {
      if (name === 'react-native') assert.is(codeOf(start), 'no error');
    } finally {
      Object.assign(globalThis, { URL });
    }
  });
}

test('a key pair in the keyring that computes by itself needs no option', async () => {
  const world = newWorld();
  const { publicKey, privateKey } = world.store.keyring.staticKey;
  const sharedSecret = (key: Uint8Array): Uint8Array => crypto.x25519.sharedSecret(privateKey!, key);
  const staticKey = { publicKey, sharedSecret };
  world.store.keyring = { accessKey: 'kiosk-7', staticKey, staticKeyIsFresh: true, pins: [], psks: [] };
  assert.is((await world.start().ask('hello')).reply.text, 'You said: hello');
});

test('Object.prototype neither receives the password nor answers a question', async () => {
  const world = newWorld();
  const derived: unknown[] = [];
  const client = world.start({ plays: true });
  client.on('trace', ({ what }) => {
    if ('type' in what && what.type === 'sent') derived.push(what.envelope);
  });
  Object.defineProperty(Object.prototype, 'derive', {
    value: async (password: string) => derived.push(password),
    configurable: true,
  });
  await client.ask('hello');
  delete (Object.prototype as { derive?: unknown }).derive;
  Object.defineProperty(Object.prototype, 'value', { value: '4711', configurable: true });
  Object.defineProperty(Object.prototype, 'payload', { value: '/go', configurable: true });
  const asked = client.ask({ text: 'hello' });
  delete (Object.prototype as { value?: unknown }).value;
  delete (Object.prototype as { payload?: unknown }).payload;
  await asked;
  const types = derived.map((sent) => Object(sent).payload?.data?.utterances?.[0]);
  assert.equal(types, ['hello', 'hello']);
});

test('on, once and off refuse an event that does not exist, and suggest the intended name', () => {
  const client = newWorld().start();
  const on = (type: string, listener: unknown = () => {}): string => {
    const [message, ...others] = (['on', 'once', 'off'] as const).map((method) =>
      messageOf(() => client[method](type as never, listener as never)),
    );
    assert.equal(others, [message, message]);
    return message!;
  };
  assert.is(on('mesage'), '"event.mesage" does not exist: did you mean "message"?');
  assert.is(on('Connect'), '"event.Connect" does not exist: did you mean "connect"?');
  assert.is(on('new_hub'), '"event.new_hub" does not exist: did you mean "new-hub"?');
  assert.is(on('toString'), '"event.toString" does not exist');
  assert.is(on('message', 'log'), 'the listener of "message" expected a function');
});

test('an app without a derivation is refused before anything is stored', () => {
  texts.clear();
  assert.match(
    messageOf(() => reactNative({ identity, storage } as never)),
    'an app has no worker',
  );
  assert.is(texts.size, 0);
});

/**
 * What a client does with an option in an option, at a hub in memory. The others are the core's: the client passes the session, the
 * policy and the requests whole, as shells.test.ts shows.
 */
interface Nested {
  readonly given: Partial<ConnectOptions>;
  readonly seen: (world: World, client: Client, options: Partial<ConnectOptions>) => unknown;
  readonly expected: unknown;
  /** What is seen without the option. */
  readonly byDefault: unknown;
  /** Other options, with and without the option. */
  readonly both?: Partial<ConnectOptions>;
}

const isDisclosed = async (_: World, client: Client): Promise<boolean> => {
  let isDue = false;
  client.on('disclosure', () => {
    isDue = true;
  });
  await client.ask('hello');
  return isDue;
};

/** What comes of a hub that has another key. */
async function outcomeOfNewKey(world: World, client: Client): Promise<string> {
  await client.ask('hello');
  world.hubStatic = randomBytes(32);
  world.refusesWith = 1008;
  world.drop();
  return client.ask('hello', { timeout: 1000 }).then(
    () => 'replaced',
    () => 'kept',
  );
}

let calls = 0;
const counted =
  <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
  (...args: Args): Result => {
    calls++;
    return call(...args);
  };
const isCalled = async (_: World, client: Client): Promise<boolean> => {
  calls = 0;
  await client.ask('hello');
  return calls > 0;
};
const NESTED_ROWS: { readonly [option: string]: Nested } = {
  'disclosure.isVoice': {
    ...{ given: { disclosure: { lastGiven: 'earlier-session', isVoice: true } }, seen: isDisclosed },
    ...{ both: { disclosure: { lastGiven: 'earlier-session' } }, expected: true, byDefault: false },
  },
  'disclosure.isShared': {
    ...{ given: { disclosure: { lastGiven: 'earlier-session', isShared: true } }, seen: isDisclosed },
    ...{ both: { disclosure: { lastGiven: 'earlier-session' } }, expected: true, byDefault: false },
  },
  'disclosure.lastGiven': {
    ...{ given: { disclosure: { lastGiven: 'this-session' } }, seen: isDisclosed },
    ...{ expected: false, byDefault: true },
  },
  'session.crypto': {
    ...{ given: { session: { crypto: { ...crypto, sha256: counted(crypto.sha256) } } }, seen: isCalled },
    ...{ expected: true, byDefault: false },
  },
  'session.randomBytes': {
    ...{ given: { session: { randomBytes: counted(randomBytes) } }, seen: isCalled },
    ...{ expected: true, byDefault: false },
  },
  'session.trust': {
    given: { session: { trust: 'pinned-only' } },
    seen: (_, client) =>
      client.ask('hello').then(
        ({ ending }) => ending,
        ({ code }) => code,
      ),
    ...{ expected: 'unknown-hub', byDefault: 'handled' },
  },
  'session.hello': {
    given: { session: { hello: { session: { session_id: 'own' } } } },
    async seen(world, client) {
      await client.ask('hello');
      return Object(world.greetings[0]).session_id === 'own';
    },
    ...{ expected: true, byDefault: false },
  },
  'session.onKkFailure': {
    ...{ given: { session: { onKkFailure: 'keep-pin' } }, seen: outcomeOfNewKey },
    ...{ expected: 'replaced', byDefault: 'replaced' }, // the option of the policy decides
  },
  'policy.onKkFailure': {
    ...{ given: { policy: { onKkFailure: 'keep-pin', basePause: 5, maxPause: 5 } }, seen: outcomeOfNewKey },
    ...{ expected: 'kept', byDefault: 'replaced' },
  },
};

for (const [name, { given, seen, expected, byDefault, both = {} }] of Object.entries(NESTED_ROWS)) {
  test(`the option ${name} has its effect, which is absent without it`, async () => {
    for (const [options, is] of [
      [{ ...both, ...given }, expected],
      [both, byDefault],
    ] as const) {
      const session = { ...both.session, ...options.session };
      const world = newWorld();
      const client = world.start({ ...options, session });
      assert.equal(await seen(world, client, options), is);
    }
  });
}

/** A node of a syntax tree. */
// biome-ignore lint/suspicious/noExplicitAny: the fields of a node depend on its type
type Node = { type: string; span: { start: number; end: number }; [field: string]: any };

test('every event, and every field of one, has a docstring in the published types', () => {
  const code = readFileSync(new URL('../../client/dist/options.d.ts', import.meta.url));
  const text = Buffer.concat([Buffer.from(';'), code]);
  const { body, span } = parseSync(text.toString(), { syntax: 'typescript' });
  const nameless: string[] = [];
  const types = new Set<string>();
  const visit = (members: Node[], from: number, owner: string): void => {
    let end = from;
    for (const { key, typeAnnotation, span: own } of members) {
      const isDocumented = text.subarray(end - span.start, own.start - span.start).includes('/**');
      end = own.end;
      if (!isDocumented) nameless.push(`${owner}.${key.value}`);
      if (key.value === 'type') types.add(typeAnnotation.typeAnnotation.literal.value);
    }
  };
  const walk = (type: Node, owner: string): void => {
    if (type.type === 'TsTypeLiteral') visit(type.members, type.span.start, owner);
    for (const part of type.types ?? []) walk(part, owner);
    if (type.type === 'TsParenthesizedType') walk(type.typeAnnotation, owner);
  };
  for (const { declaration } of body as unknown as Node[]) {
    const name: string | undefined = declaration?.id?.value;
    if (declaration?.type === 'TsTypeAliasDeclaration' && ['ClientEvent', 'AskEvent'].includes(name!)) {
      walk(declaration.typeAnnotation, name!);
    } else if (declaration?.type === 'TsInterfaceDeclaration' && /(?:Event|Answer|AskError)$/.test(name!)) {
      visit(declaration.body.body, declaration.body.span.start, name!);
    }
  }
  assert.equal(nameless, []);
  const page = readFileSync(new URL('../../docs/reference/api/client.md', import.meta.url), 'utf8');
  const events = Array.from(page.matchAll(/^### Event '([\w-]+)'$/gm), ([, name]) => name!);
  assert.equal([...types].filter((name) => name !== 'received' && name !== 'sent').sort(), events.sort());
});

/** The rows of the README, in its order. */
const ROWS: readonly (keyof Budget)[] = [
  'message',
  'values',
  'inflated',
  'waiting',
  'replies',
  'states',
  'frame',
  'packet',
  'response',
  'responseWhenReady',
];

const shown = (bytes: number): string => (bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`);

test('the bounds are by default what the README says', () => {
  const table = README.slice(README.indexOf('## Memory'), README.indexOf('## In a page'));
  const stated = [...table.matchAll(/^\| .* \| \d+\/\d+ \| (\d+ [KM]iB) \|/gm)].map(([, value]) => value);
  const budget = budgetOf();
  assert.equal(
    stated,
    ROWS.map((row) => shown(budget[row])),
  );
});

test('the bounds have the shares that the README states, unless something else limits them', () => {
  const table = README.slice(README.indexOf('## Memory'), README.indexOf('## In a page'));
  const shares = [...table.matchAll(/^\| .* \| (\d+)\/(\d+) \|/gm)].map(([, a, b]) => Number(a) / Number(b));
  const budget = budgetOf({ maxMemory: 32 * MIB });
  for (const [i, row] of ROWS.entries()) assert.is(budget[row], shares[i]! * 32 * MIB, row);
});

test('the least memory has room for a transport message, and the most for no longer one than the default', () => {
  const least = {
    ...{ all: MIB, message: MIB / 2, inflated: 16 * KIB, waiting: 128 * KIB },
    ...{ replies: 256 * KIB, states: 16 * KIB, responseWhenReady: 352 * KIB },
  };
  const floors = { values: 64 * KIB, frame: 66 * KIB, packet: 132 * KIB, response: 66 * KIB };
  assert.equal(budgetOf({ maxMemory: MIB }), { ...least, ...floors });
  assert.equal(budgetOf({ maxMemory: 1024 * MIB }), {
    ...budgetOf(),
    all: 1024 * MIB,
    inflated: 16 * MIB,
    waiting: 128 * MIB,
    replies: 256 * MIB,
  });
  assert.is(budgetOf({ maxMemory: MIB + 1 }).waiting, 128 * KIB);
});

test.run();
