/** A heap that is full: what the engine throws is neither the caller's mistake nor the peer's. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { canonicalJson, createKeyring, LocalError } from '../../src/index.ts';
import { failureOf } from '../../src/memory.ts';
import { Pair } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

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
  test(`a value read where memory is full is out-of-memory, not not-json: ${engine}`, () => {
    assert.is(raisesLocal(() => canonicalJson(throwing(error)), 'out-of-memory').cause, error);
  });

  test(`an argument read where memory is full is out-of-memory, not bad-argument: ${engine}`, () => {
    const options = Object.defineProperty({ staticKey: new Uint8Array(32).fill(1) }, 'accessKey', {
      get: raise(error),
      enumerable: true,
    });
    raisesLocal(() => createKeyring(options as never), 'out-of-memory');
  });

  test(`cryptography where memory is full is out-of-memory, not crypto-failed: ${engine}`, () => {
    const crypto = { ...nodeCrypto, x25519: { ...nodeCrypto.x25519, importKey: raise(error) } };
    const staticKey = new Uint8Array(32).fill(1);
    const failure = raisesLocal(() => createKeyring({ accessKey: 'a', staticKey, crypto }), 'out-of-memory');
    assert.is(failure.cause, error);
  });

  test(`an error that reaches an object unchanged is out-of-memory: ${engine}`, () => {
    assert.is(failureOf(error).code, 'out-of-memory');
  });
}

test('a stack that is full, and a number that is out of range, are not out-of-memory', () => {
  for (const error of [
    new RangeError('Maximum call stack size exceeded'),
    new RangeError('Invalid string length'),
  ])
    assert.is(failureOf(error).code, 'crypto-failed');
});

test('an error that cannot be examined is out-of-memory: its examination may have failed for that', () => {
  const error = { toString: raise(null) };
  const failure = failureOf(error);
  assert.instance(failure, LocalError);
  assert.is(failure.code, 'out-of-memory');
  assert.is(failureOf(error), failure); // made ahead
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

test('a session that is told of its end where memory is full fails, and tells the end in a second call', () => {
  const { client } = new Pair().run();
  const closing = Object.defineProperty({}, 'code', { get: raise(internal), enumerable: true });
  raisesLocal(() => client.closed(closing), 'out-of-memory');
  assert.is(client.state, 'failed');
  const [ended] = client.closed(1006);
  assert.is(ended?.type === 'ended' && ended.error.code, 'out-of-memory');
});

test('a session without memory for an event fails, and throws what it has failed with', () => {
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

test.run();
