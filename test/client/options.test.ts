/** The options of each entry: each is the caller's own, and none is unknown, whatever Object.prototype has. */
import { readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { createKeyring, type Keyring, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import type { Client } from 'hub-protocol-client';
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
import { endWorlds, newWorld, PSK } from './world.ts';

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

const WRONG: readonly [what: string, options: object][] = [
  ['a misspelt option', { allowPlainText: true }],
  ['a key of the keyring among the options of the session', { session: { keyring } }],
  ['a misspelt option of the session', { session: { trusts: 'pinned-only' } }],
  ['a misspelt option of the policy', { policy: { pause: 1 } }],
  ['a misspelt option of the requests', { requests: { deadline: 1 } }],
  ['a misspelt deadline of the requests', { requests: { deadlines: { wait: 1 } } }],
  ['a deadline of requests that no timer takes', { requests: { deadlines: { idle: 3e9 } } }],
  ['a session that is none', { session: 7 }],
  ['a session that is null', { session: null }],
  ['a policy that is a list', { policy: [] }],
  ['a time between pings that no timer takes', { pingEvery: Number.POSITIVE_INFINITY }],
  ['a time between pings of nothing', { pingEvery: 0 }],
  ['a time between pings that is a text', { pingEvery: '1000' }],
  ['memory that is a text', { maxMemory: '64 MiB' }],
  ['memory in which no connection fits', { maxMemory: 2 ** 20 - 1 }],
  ['memory without end', { maxMemory: Number.POSITIVE_INFINITY }],
  ['a limit of messages, which follows from the memory', { session: { maxMessage: 1000 } }],
  ['a derivation that is no function', { derive: 'scrypt' }],
  ['a shared secret that is no function', { sharedSecret: new Uint8Array(32) }],
  ['a language that is none', { lang: 7 }],
  ['an empty language', { lang: ' ' }],
  ['a misspelt option of the disclosure', { disclosure: { shared: true } }],
  ['a disclosure that is no object', { disclosure: 'fr' }],
  ['a disclosure that was given at an unknown time', { disclosure: { lastGiven: 'yesterday' } }],
  ['a voice that is a word', { disclosure: { isVoice: 'yes' } }],
  ['a shared device that is a number', { disclosure: { isShared: 1 } }],
];

/** What each refusal says of a misspelt name. */
const MISSPELT: readonly [options: object, message: string][] = [
  [{ alowPlaintext: true }, '"options.alowPlaintext" does not exist: did you mean "allowPlaintext"?'],
  [{ allow_plaintext: true }, '"options.allow_plaintext" does not exist: did you mean "allowPlaintext"?'],
  [{ pnigEvery: 1 }, '"options.pnigEvery" does not exist: did you mean "pingEvery"?'],
  [{ session: { trusts: 'pinned-only' } }, '"session.trusts" does not exist: did you mean "trust"?'],
  [
    { policy: { onKKFailure: 'keep-pin' } },
    '"policy.onKKFailure" does not exist: did you mean "onKkFailure"?',
  ],
  [{ requests: { deadline: {} } }, '"requests.deadline" does not exist: did you mean "deadlines"?'],
  [{ requests: { deadlines: { idel: 1 } } }, '"deadlines.idel" does not exist: did you mean "idle"?'],
  [{ policy: { deadlines: { heloo: 1 } } }, '"deadlines.heloo" does not exist'],
  [{ language: 'de' }, '"options.language" does not exist'],
  [{ disclosure: { isshared: true } }, '"disclosure.isshared" does not exist: did you mean "isShared"?'],
  [{ colour: 'red' }, '"options.colour" does not exist'],
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
  for (const [what, wrong] of WRONG) {
    test(`${name} refuses ${what}`, () => {
      assert.is(
        codeOf(() => connect({ ...options, ...wrong } as never)),
        'bad-argument',
      );
    });
  }

  test(`${name} names the option that a misspelt one was meant to be`, () => {
    for (const [wrong, message] of MISSPELT) {
      assert.is(
        messageOf(() => connect({ ...options, ...wrong } as never)),
        message,
      );
    }
  });

  test(`${name} says which option is missing, or is none`, () => {
    for (const missing of Object.keys(options)) {
      if (name === 'browser' && missing !== 'identity') continue; // a page has defaults for both
      for (const value of [undefined, null, 7, '']) {
        if (missing === 'keyring' && value === '') continue; // a path
        assert.match(
          messageOf(() => connect({ ...options, [missing]: value } as never)),
          `"${missing}" expected`,
        );
      }
    }
  });

  test(`${name} refuses an identity that was not parsed`, () => {
    for (const raw of [issuedWith('localhost'), JSON.stringify(issuedWith('localhost')), []]) {
      assert.match(
        messageOf(() => connect({ ...options, identity: raw } as never)),
        '"identity" expected the result of parseIdentity',
      );
    }
  });

  test(`${name} pings once a day if it is told to, and no less often`, () => {
    const code = (pingEvery: number): string | undefined =>
      codeOf(() => connect({ ...options, pingEvery } as never).end());
    assert.equal([code(86_400_000), code(86_400_001)], ['no error', 'bad-argument']);
  });

  test(`${name} refuses options that are not an object`, () => {
    for (const none of [undefined, null, 7, 'identity.json', []]) {
      assert.is(
        codeOf(() => connect(none as never)),
        'bad-argument',
      );
    }
  });
}

function polluted<T>(field: string, value: unknown, run: () => T): T {
  Object.defineProperty(Object.prototype, field, { value, configurable: true, writable: true });
  try {
    return run();
  } finally {
    delete (Object.prototype as { [field: string]: unknown })[field];
  }
}

for (const [name, connect, options] of ENTRIES) {
  test(`${name} reads no option from Object.prototype`, () => {
    const plain = parseIdentity(
      JSON.parse(
        JSON.stringify(issuedWith('localhost')).replace(/(wss|https|mqtts):/g, (scheme) =>
          scheme.replace('s:', ':'),
        ),
      ),
    );
    const bad: readonly [string, unknown][] = [
      ['session', { trusts: 'pinned-only' }],
      ['policy', { pause: 1 }],
      ['requests', { deadline: 1 }],
      ['pingEvery', 0],
      ['userAgent', 'a:b'],
    ];
    assert.is(
      codeOf(() => polluted('allowPlaintext', true, () => connect({ ...options, identity: plain } as never))),
      'plaintext-endpoint',
    );
    for (const [field, value] of bad) {
      const start = (): void => connect(options as never).end();
      assert.is(
        codeOf(() => polluted(field, value, start)),
        'no error',
        field,
      );
    }
  });
}

test('Object.prototype neither receives the password nor answers a question', async () => {
  const world = newWorld();
  const derived: unknown[] = [];
  const client = world.start();
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

test('a listener to an event that does not exist is refused by on, once and off, with the name that was meant', () => {
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

test('a page refuses a path as the store of its keyring', () => {
  assert.match(
    messageOf(() => browser({ identity, derive, keyring: 'keyring.json' } as never)),
    'a page has no files',
  );
});

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
    if (declaration?.type === 'TsTypeAliasDeclaration' && name === 'ClientEvent') {
      walk(declaration.typeAnnotation, name);
    } else if (declaration?.type === 'TsInterfaceDeclaration' && /(?:Event|Answer|AskError)$/.test(name!)) {
      visit(declaration.body.body, declaration.body.span.start, name!);
    }
  }
  assert.equal(nameless, []);
  const listed = /^## Events\n([\s\S]*?)^## /m.exec(README)![1]!.matchAll(/^\| ((?:`[\w-]+`(?:, )?)+) \|/gm);
  const events = [...listed].flatMap(([, cell]) => cell!.match(/[\w-]+/g)!).filter((name) => name !== 'type');
  assert.equal([...types].filter((name) => name !== 'received' && name !== 'sent').sort(), events.sort());
});

/** The rows of the README, in its order. */
const ROWS: readonly (keyof Budget)[] = [
  'message',
  'inflated',
  'waiting',
  'frame',
  'packet',
  'response',
  'responseWhenReady',
];

const shown = (bytes: number): string => (bytes < MIB ? `${bytes / KIB} KiB` : `${bytes / MIB} MiB`);

test('the bounds are by default what the README says', () => {
  const table = README.slice(README.indexOf('## Memory'), README.indexOf('## Events'));
  const stated = [...table.matchAll(/^\| .* \| \d+\/\d+ \| (\d+ [KM]iB) \|/gm)].map(([, value]) => value);
  const budget = budgetOf();
  assert.equal(
    stated,
    ROWS.map((row) => shown(budget[row])),
  );
});

test('the bounds have the shares that the README says, as far as nothing else limits them', () => {
  const table = README.slice(README.indexOf('## Memory'), README.indexOf('## Events'));
  const shares = [...table.matchAll(/^\| .* \| (\d+)\/(\d+) \|/gm)].map(([, a, b]) => Number(a) / Number(b));
  const budget = budgetOf(32 * MIB);
  for (const [i, row] of ROWS.entries()) assert.is(budget[row], shares[i]! * 32 * MIB, row);
});

test('in the least memory, each transport carries a transport message of 65,535 bytes', () => {
  const { frame, packet, response } = budgetOf(MIB);
  assert.ok(frame >= 65_535 && packet >= 2 * 65_535 && response >= 65_535);
});

test('more memory than any message takes changes no bound of the transports', () => {
  const [most, usual] = [budgetOf(1024 * MIB), budgetOf()];
  for (const row of ['message', 'frame', 'packet', 'response', 'responseWhenReady'] as const) {
    assert.is(most[row], usual[row]);
  }
  assert.is(most.inflated, 16 * MIB);
});

test.run();
