/** A heap that is full: what the engine throws is neither the caller's mistake nor the peer's. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CheckedCrypto } from '../../src/crypto/checked.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { canonicalJson, createKeyring, LocalError, parseIdentity } from '../../src/index.ts';
import { failureOf } from '../../src/memory.ts';
import { CipherState } from '../../src/noise/cipher-state.ts';
import { Transport } from '../../src/noise/transport.ts';
import { readyShell } from '../link/shell.ts';
import { create } from '../noise/handshakes.ts';
import { Pair } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';
import { replacing } from '../world/replacing.ts';

/** What engines throw. The test for QuickJS-ng, in test/engines/full-heap.ts, makes them throw it. */
const internal = Object.assign(new Error('out of memory'), { name: 'InternalError' });
const FULL: [engine: string, error: unknown][] = [
  ['V8', new RangeError('Array buffer allocation failed')],
  ['JavaScriptCore', new RangeError('Out of memory')],
  ['Hermes', new RangeError('Cannot allocate a data block for the ArrayBuffer')],
  ['QuickJS', internal],
  ['QuickJS without memory for an error', null],
  ['Duktape', new Error('alloc failed')],
  ['SpiderMonkey', 'out of memory'],
];

const raise = (error: unknown) => (): never => {
  throw error;
};
const throwing = (error: unknown): object =>
  Object.defineProperty({}, 'a', { get: raise(error), enumerable: true });

for (const [engine, error] of FULL) {
  test(`${engine}: what it throws becomes out-of-memory`, () => {
    const { code, cause } = failureOf(error);
    assert.equal([code, cause], ['out-of-memory', error]);
  });
}

const getter = (name: PropertyKey, fields: object = {}): object =>
  Object.defineProperty(fields, name, { get: raise(null), enumerable: true });
const staticKey = new Uint8Array(32).fill(1);
const DOORS: { readonly [what: string]: () => unknown } = {
  'a value read is not not-json': () => canonicalJson(getter('a')),
  'an object inspected is not not-json': () => canonicalJson(getter(Symbol.toStringTag)),
  'an argument read is not bad-argument': () => createKeyring(getter('accessKey', { staticKey }) as never),
  'cryptography is not crypto-failed': () => {
    const crypto = { ...nodeCrypto, x25519: { ...nodeCrypto.x25519, importKey: raise(null) } };
    return createKeyring({ accessKey: 'a', staticKey, crypto });
  },
  'an identity copied is not bad-identity': () =>
    parseIdentity({ access_key: 'key', password: 'word', more: getter('a') }),
};
for (const [what, call] of Object.entries(DOORS)) {
  test(`when memory is full, ${what}`, () => void raisesLocal(call, 'out-of-memory'));
}

test('a stack overflow and a number out of range are not reported as out-of-memory', () => {
  for (const error of [
    new RangeError('Maximum call stack size exceeded'),
    new RangeError('Invalid string length'),
  ])
    assert.is(failureOf(error).code, 'crypto-failed');
});

test('an error that cannot be inspected counts as out-of-memory, the likely reason', () => {
  const error = { toString: raise(null) };
  const failure = failureOf(error);
  assert.instance(failure, LocalError);
  assert.is(failure.code, 'out-of-memory');
  assert.is(failureOf(error), failure); // made ahead
});

test('an error that begins with what engines say counts as out-of-memory', () => {
  for (const error of ['memory is full', 'allocation failed'])
    assert.is(failureOf(error).code, 'out-of-memory');
});

test('a session whose value cannot be written for lack of memory fails, and wipes its keys', () => {
  const { client } = new Pair().run();
  raisesLocal(() => client.sendJson(throwing(internal)), 'out-of-memory');
  assert.is(client.state, 'failed');
  raisesLocal(() => client.sendJson({}), 'session-over');
});

test('a session whose value throws another error goes on', () => {
  const { client } = new Pair().run();
  raisesLocal(() => client.sendJson(throwing(new Error('no'))), 'not-json');
  assert.is(client.state, 'ready');
  assert.is(client.sendJson({}).length, 1);
});

test('a session that is closed when memory is full fails, and reports the ending in a second call', () => {
  const { client } = new Pair().run();
  const closing = Object.defineProperty({}, 'code', { get: raise(internal), enumerable: true });
  raisesLocal(() => client.closed(closing), 'out-of-memory');
  assert.is(client.state, 'failed');
  const [ended] = client.closed(1006);
  assert.is(ended?.type === 'ended' && ended.error.code, 'out-of-memory');
});

test('a session without memory for an event fails, and throws the same error', () => {
  const { client, hub } = new Pair().run();
  const [message] = hub.sendJson({});
  const { push } = Array.prototype;
  Array.prototype.push = raise(internal);
  try {
    raisesLocal(() => client.receive(message!), 'out-of-memory');
  } finally {
    Array.prototype.push = push;
  }
  assert.is(client.state, 'failed');
  assert.equal(client.receive(message!), []);
});

/** Runs a call during which the n-th call of a built-in method fails. Returns whether that was reached. */
function failing(owner: object, name: string, n: number, call: () => void): boolean {
  const before = Object.getOwnPropertyDescriptor(owner, name)!;
  const method = before.value as (...args: unknown[]) => unknown;
  let calls = 0;
  const value = function (this: unknown, ...args: unknown[]): unknown {
    if (++calls === n) throw internal;
    return Reflect.apply(method, this, args);
  };
  Reflect.defineProperty(owner, name, { ...before, value });
  try {
    call();
  } finally {
    Reflect.defineProperty(owner, name, before);
  }
  return calls >= n;
}

/** The built-in methods that allocate in what follows. */
const ALLOCATING: [owner: object, name: string][] = [
  [Array.prototype, 'push'],
  [Object.getPrototypeOf(Uint8Array.prototype) as object, 'subarray'],
  [Object, 'defineProperty'],
  [Object, 'keys'],
  [JSON, 'parse'],
  [JSON, 'stringify'],
  [String, 'fromCharCode'],
  [TextDecoder.prototype, 'decode'],
];

/** Calls that allocate, each on sessions of its own, and the session that must have failed if one throws. */
const CALLS: [what: string, prepare: () => { session?: { readonly state: string }; call: () => unknown }][] =
  [
    [
      'a session that sends a string',
      () => {
        const { client } = new Pair().run();
        return { session: client, call: () => client.sendJson('{"__proto__":["b",{"c":1}]}') };
      },
    ],
    [
      'a session that reads message 2',
      () => {
        const { client, held } = new Pair({ stopAfter: 3 }).run();
        return { session: client, call: () => client.receive(held[0]!.data) };
      },
    ],
    [
      'a session that reads cleartext after it was ready',
      () => {
        const { client } = new Pair().run();
        return { session: client, call: () => client.receive('{"msg_type":"hello","payload":{}}') };
      },
    ],
    [
      'a hub that reads HELLO',
      () => {
        const { hub, held } = new Pair({ stopAfter: 5 }).run();
        return { session: hub, call: () => hub.receive(held[0]!.data) };
      },
    ],
    ['a handshake', () => ({ call: () => create('initiator', 'XXpsk2') })],
    [
      'a link whose connection ends',
      () => {
        const { link, connection } = readyShell();
        return { call: () => link.closed(connection, { code: 1006 }, 0) };
      },
    ],
    [
      'a transport',
      () => {
        const [a, b, handshakeHash, remoteStaticKey] = [1, 2, 3, 4].map((byte) =>
          new Uint8Array(32).fill(byte),
        );
        const keys = [a!, b!].map((key) => {
          const state = new CipherState(new CheckedCrypto(nodeCrypto), 'ChaChaPoly');
          state.initializeKey(key);
          return state;
        });
        const [sending, receiving] = keys as [CipherState, CipherState];
        return {
          call: () =>
            new Transport({
              sending,
              receiving,
              handshakeHash: handshakeHash!,
              remoteStaticKey: remoteStaticKey!,
            }),
        };
      },
    ],
  ];

/** JSON is read by the engine, and by the library's own code. */
const READERS: (<Result>(call: () => Result) => Result)[] = [
  (call) => call(),
  (call) => replacing(JSON, { parse: raise(new SyntaxError('no')) }, call),
];

for (const [what, prepare] of CALLS) {
  test(`${what} fails for good wherever memory ends`, () => {
    let reached = 0;
    /** What a call returned, without keys. */
    const shown = (value: unknown): string =>
      [value as { type?: string; error?: LocalError } | undefined]
        .flat()
        .map((event) => `${event?.type} ${event?.error?.code}`)
        .join();
    const expected = shown(prepare().call());
    const cases = READERS.flatMap((reader) =>
      ALLOCATING.map((allocating) => [reader, ...allocating] as const),
    );
    for (const [reader, owner, name] of cases) {
      for (let n = 1; n < 500; n++) {
        const { session, call } = prepare();
        let failure: unknown;
        let result: unknown;
        const wasReached = reader(() =>
          failing(owner, name, n, () => {
            try {
              result = call();
            } catch (error) {
              failure = error;
            }
          }),
        );
        if (!wasReached) break;
        reached++;
        if (failure === undefined) {
          const isNoticed = /out-of-memory/.test(shown(result));
          assert.ok(isNoticed || shown(result) === expected, `${name} ${n} has no effect`);
          continue;
        }
        assert.is((failure as LocalError).code, 'out-of-memory', `${name} ${n}`);
        if (session !== undefined) assert.is(session.state, 'failed', `${name} ${n}`);
      }
    }
    assert.ok(reached > 1, String(reached));
  });
}

test('without memory for an error, a preallocated one is used', () => {
  failing(Object, 'defineProperty', 1, () => {
    assert.is(failureOf(new Error('no')).code, 'out-of-memory');
  });
});

test.run();
