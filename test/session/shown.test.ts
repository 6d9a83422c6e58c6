/**
 * What tools print of sessions and keyrings: no key, whether they ask the object how to print it (console.log,
 * JSON.stringify) or read its fields (console.dir, console.table, assertion messages, structuredClone).
 */
import nodeAssert from 'node:assert';
import { Console } from 'node:console';
import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Bytes } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { createKeyring, type Keyring, storePsk, updateKeyring } from '../../src/index.ts';
import { NODE_ID } from '../world/keys.ts';
import {
  CLIENT_STATES,
  find,
  HUB_STATES,
  KK,
  Pair,
  type PairOptions,
  pairWithClientIn,
  pairWithHubIn,
} from '../world/pair.ts';
import { bytesIn } from './reachable.ts';

const key = (name: string): Uint8Array => new Uint8Array(createHash('sha256').update(name).digest());
const STATIC = key('static');
const SECRET_PSK = key('psk');
const EPHEMERAL = key('ephemeral');
const ACCESS_KEY = 'access-key-4711';

/** The forms in which a key may be printed. */
function formsOf(secret: Uint8Array): RegExp[] {
  const first = [...secret.subarray(0, 6)];
  return [
    new RegExp(Buffer.from(secret).toString('hex').slice(0, 12), 'i'),
    new RegExp(Buffer.from(secret).toString('base64').slice(0, 10).replace(/[+/]/g, '.')),
    new RegExp(first.join('\\D{1,12}')), // an array of numbers, also in a table or one to a line
    new RegExp(first.map((byte) => byte.toString(16).padStart(2, '0')).join(' ')),
  ];
}

/** Everything that tools print of a value, by the tool. */
function printed(value: object): { [tool: string]: string } {
  const prints = (print: (console: Console) => void): string => {
    const stream = new PassThrough();
    print(new Console({ stdout: stream, colorMode: false }));
    return String(stream.read());
  };
  const message = (compare: () => void): string => {
    try {
      compare();
    } catch (error) {
      return (error as Error).message;
    }
    return 'no message';
  };
  return {
    'console.log': prints((console) => console.log(value, [value], { value })),
    'console.dir': prints((console) => console.dir(value, { depth: null })),
    'console.table': prints((console) => console.table([value])) + prints((console) => console.table(value)),
    inspect: inspect(value, { depth: null, maxArrayLength: null }),
    'inspect without customInspect': inspect(value, {
      depth: null,
      customInspect: false,
      maxArrayLength: null,
    }),
    'JSON.stringify': JSON.stringify([value]),
    String: `${value}`,
    'deepStrictEqual with another': message(() => nodeAssert.deepStrictEqual(value, {})),
    'deepStrictEqual in another': message(() => nodeAssert.deepStrictEqual({ value }, { value: 1 })),
    'assert.equal': message(() => assert.equal(value, 1)),
    'Object.entries': inspect(Object.entries(value), { depth: null, customInspect: false }),
    spread: inspect({ ...value }, { depth: null, customInspect: false }),
  };
}

/** Asserts that no tool prints any of these secrets. */
function hides(value: object, secrets: Uint8Array[], what: string, tools = printed(value)): void {
  for (const [tool, text] of Object.entries(tools)) {
    for (const form of secrets.flatMap(formsOf)) assert.not.match(text, form, `${tool} of ${what}`);
    assert.not.match(text, ACCESS_KEY, `${tool} of ${what}`);
  }
}

test('the check finds a key in every form that tools print', () => {
  const shown = printed({ secret: STATIC });
  for (const tool of ['console.log', 'console.dir', 'console.table', 'inspect', 'JSON.stringify', 'spread']) {
    const text = tool === 'JSON.stringify' ? JSON.stringify([...STATIC]) : shown[tool]!;
    assert.ok(
      formsOf(STATIC).some((form) => form.test(text)),
      tool,
    );
  }
  assert.ok(formsOf(STATIC).some((form) => form.test(inspect(Buffer.from(STATIC)))));
});

const options = (pattern: PairOptions = {}): PairOptions => ({
  client: {
    staticKey: STATIC,
    psks: [{ nodeId: NODE_ID, key: SECRET_PSK as Bytes }],
    randomBytes: ephemeral,
    ...pattern.client,
  },
  hub: { psk: SECRET_PSK },
});
const ephemeral = (length: number): Uint8Array =>
  length === 32 ? new Uint8Array(EPHEMERAL) : randomBytes(length);

test('no tool prints a key of a client, in any state', () => {
  for (const state of CLIENT_STATES) {
    const { client } = pairWithClientIn(state, options());
    const secrets = [
      STATIC,
      SECRET_PSK,
      EPHEMERAL,
      ...bytesIn(client).filter((bytes) => bytes.length === 32),
    ];
    hides(client, secrets, `a client in ${state}`);
    assert.is(JSON.stringify({ client }), '{"client":"[ClientSession]"}');
    assert.equal(Object.keys(client), []);
    assert.equal(structuredClone(client), {});
  }
});

test('no tool prints a key of a hub, in any state', () => {
  for (const state of HUB_STATES) {
    const hubOptions = { psk: SECRET_PSK, randomBytes: ephemeral };
    const { hub } = pairWithHubIn(state, {
      client: { psks: [{ nodeId: NODE_ID, key: SECRET_PSK as Bytes }] },
      hub: hubOptions,
    });
    const secrets = [SECRET_PSK, EPHEMERAL, ...bytesIn(hub).filter((bytes) => bytes.length === 32)];
    hides(hub, secrets, `a hub in ${state}`);
    assert.is(JSON.stringify({ hub }), '{"hub":"[HubSession]"}');
    assert.equal(Object.keys(hub), []);
    assert.equal(structuredClone(hub), {});
  }
});

test('inspection shows a session as its name, at every depth and with hidden fields', () => {
  const { client, hub } = new Pair(KK).run();
  const everything = { showHidden: true, depth: Number.POSITIVE_INFINITY };
  assert.is(inspect(client, everything), '[ClientSession]');
  assert.is(inspect(hub, everything), '[HubSession]');
});

/** A keyring with a key of each kind, and the hub's key. */
function fullKeyring(): { keyring: Keyring; secrets: Uint8Array[] } {
  const keyring = createKeyring({ accessKey: ACCESS_KEY, staticKey: STATIC });
  const pinned = updateKeyring(keyring, { type: 'pin', nodeId: NODE_ID, key: new Uint8Array(key('hub')) });
  return {
    keyring: storePsk(pinned, NODE_ID, SECRET_PSK, { isProvisioned: true }),
    secrets: [STATIC, SECRET_PSK],
  };
}

test('no tool prints a key of a keyring, nor its access key', () => {
  const { keyring, secrets } = fullKeyring();
  hides(keyring, secrets, 'a keyring');
  assert.is(inspect(keyring), '[Keyring]');
  assert.is(JSON.stringify({ keyring }), '{"keyring":"[Keyring]"}');
  assert.equal(Object.keys(keyring), []);
  assert.equal(structuredClone(keyring), {});
});

test('no tool prints the private key of the key pair in a keyring', () => {
  const { staticKey } = createKeyring({ accessKey: ACCESS_KEY, staticKey: STATIC, crypto: nodeCrypto });
  hides(staticKey, [STATIC], 'a key pair');
  assert.equal((staticKey as { privateKey: Uint8Array }).privateKey, STATIC);
});

test('no tool prints a key of the PSKs in a keyring', () => {
  const { keyring, secrets } = fullKeyring();
  hides(keyring.psks, secrets, 'PSKs');
  hides(keyring.psks[0]!, secrets, 'a PSK');
  assert.is(JSON.stringify(keyring.psks), `[{"nodeId":"${NODE_ID}","isProvisioned":true,"isSuspect":false}]`);
  assert.not.ok(bytesIn(structuredClone(keyring.psks) as unknown as object).length > 0);
});

test('inspection with hidden fields shows no key of a PSK or of a key pair', () => {
  const { psks } = fullKeyring().keyring;
  const { staticKey } = createKeyring({ accessKey: ACCESS_KEY, staticKey: STATIC, crypto: nodeCrypto });
  const everything = { showHidden: true, depth: Number.POSITIVE_INFINITY };
  for (const value of [psks[0], staticKey]) {
    for (const form of [STATIC, SECRET_PSK].flatMap(formsOf))
      assert.not.match(inspect(value, everything), form);
  }
});

test('no tool shows the PSK of the event', () => {
  const event = find(new Pair({ client: { psks: [] } }).run().release().clientEvents, 'psk');
  const shown = [JSON.stringify(event), inspect(event), JSON.stringify(structuredClone({ ...event }))];
  for (const text of shown) assert.not.match(text, /key/);
  assert.is(JSON.stringify(event), `{"type":"psk","nodeId":"${NODE_ID}"}`);
});

test('the fields of a keyring are hidden, but can still be read', () => {
  const { keyring } = fullKeyring();
  assert.is(keyring.accessKey, ACCESS_KEY);
  assert.equal(keyring.staticKey.privateKey, STATIC);
  assert.equal(keyring.psks[0]!.key, SECRET_PSK);
});

test.run();
