/**
 * Every vector, checked against this library by the judge's own checks, with each provider of cryptography; and with
 * wrong responses, which the judge must not accept.
 */

import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fields } from '../../judge/src/adapter.ts';
import { CHECKS, OPERATIONS } from '../../judge/src/checks/checks.ts';
import { listTasks, runVector, type Task } from '../../judge/src/run-vectors.ts';
import { readVectorFile, rulesOf, vectorFiles } from '../../judge/src/vectors.ts';
import type { Verdict } from '../../judge/src/verdict.ts';
import { createAdapter, lineOf } from '../../ports/typescript/adapter.ts';
import type { Argon2idParameters } from '../../src/crypto/crypto.ts';
import { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { CryptoProvider } from '../../src/index.ts';
import { argon2id as derive } from '../../src/noise/argon2id.ts';
import { hex, readVectors, toHex } from '../world/vectors.ts';
import { createAdapterWithAnyCounter } from './any-counter.ts';

const ALL = listTasks();
/** Where providers can differ. Sessions use them as these do. */
const USES_CIPHERS = ['Handshake', 'HandshakeFailure', 'Seal', 'Open'];

/** The right responses to each task, in order. */
const RESPONSES = new Map<Task, Fields[]>();

type Respond = (request: Fields) => Fields;

/** The PSKs of the vectors, by what Argon2id is called with. */
const PSKS = new Map(
  readVectors('argon2id', 'Psk').map(({ password, salt, psk }) => [
    [toHex(Buffer.from(password)), salt, 3, 65536, 1, 32].join(),
    hex(psk),
  ]),
);

/** Takes a second with 64 MiB, and so only once here: for a password longer than a block of BLAKE2b. */
function argon2id(inputs: Argon2idParameters): Uint8Array {
  const { password, salt, passes, memoryKiB, parallelism, length } = inputs;
  const called = [toHex(password), toHex(salt), passes, memoryKiB, parallelism, length].join();
  const known = password.length > 128 ? undefined : PSKS.get(called);
  return known?.slice() ?? derive({ ...inputs, crypto: { blake2b: nodeCrypto.blake2b! } });
}

function answering(crypto: CryptoProvider, create = createAdapterWithAnyCounter): Respond {
  const respond = create(crypto);
  return (request) => JSON.parse(lineOf(respond({ id: 1, ...request })));
}

const run = (task: Task, respond: Respond): Promise<Verdict> =>
  runVector(task, { send: async (request) => respond(request), stop: async () => {} });

/** Judges right responses that are changed. */
function runChanged(task: Task, change: (response: Fields) => Fields): Promise<Verdict> {
  // After a failure the judge plays the other side of a handshake, or one with another key. All other requests are those that were recorded.
  if (task.type.startsWith('Handshake')) {
    const respond = answering(nodeCrypto);
    return run(task, (request) => change(respond(request)));
  }
  const responses = RESPONSES.get(task)!.values();
  return run(task, () => change(responses.next().value!));
}

/** What a vector tests, and where its values come from. */
function whereFrom({ file, type, test }: Task): string {
  const { generator, testGroups } = readVectorFile(file);
  const { source } = testGroups.find(({ tests }) => tests.some(({ tcId }) => tcId === test.tcId))!;
  const of = [...rulesOf(file, type, test), ...test.flags].join(', ');
  return `${of}; ${generator ?? 'written by hand'}, from ${source.join(', ')}`;
}

test('a failed vector tells its rules, its flags, its generator and the source of its values', () => {
  const task = ALL.find(({ file, test }) => file === 'negotiation' && test.tcId === 1)!;
  assert.is(
    whereFrom(task),
    'P-34, P-49, OwnPreference; vectors/generate/negotiation.py, from the specification, by hand',
  );
});

test('a number that JSON writes as null is no response', () => {
  assert.throws(() => lineOf({ results: [{ deadline: Number.NaN }] }), /deadline is NaN/);
});

const counts = { node: 0, noble: 0 };
const PROVIDERS: [name: keyof typeof counts, crypto: CryptoProvider, tasks: Task[]][] = [
  ['node', { ...nodeCrypto, argon2id }, ALL],
  // The functions of hub-protocol/noble are the same.
  ['noble', nobleCryptoWithAesGcm, ALL.filter(({ type }) => USES_CIPHERS.includes(type))],
];

for (const [name, crypto, tasks] of PROVIDERS) {
  for (const task of tasks) {
    test(`${name} passes ${task.file} ${task.test.tcId} ${task.test.comment}`, async () => {
      const responses: Fields[] = [];
      const respond = answering(crypto);
      const { result, failure } = await run(task, (request) => {
        const response = respond(request);
        responses.push(response);
        return response;
      });
      RESPONSES.set(task, responses);
      assert.is(result, 'passed', `${whereFrom(task)}: ${JSON.stringify(failure)}`);
      counts[name]++;
    });
  }
}

/** Another value of the same kind. */
function other(value: unknown): unknown {
  if (typeof value === 'string')
    return value.endsWith('0') ? `${value.slice(0, -1)}1` : `${value.slice(0, -1)}0`;
  if (typeof value === 'number') return value + 1;
  return value === null ? 'something' : !value;
}

/** A copy with another first or last value. A response without values gets one that it should not have. */
function changed(value: unknown, at: 'first' | 'last'): unknown {
  if (typeof value !== 'object' || value === null) return other(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return [{ type: 'message' }];
    return value.map((item, i) => (i === (at === 'first' ? 0 : value.length - 1) ? changed(item, at) : item));
  }
  const names = Object.keys(value);
  const name = at === 'first' ? names[0] : names.at(-1);
  if (name === undefined) return { unexpected: true };
  return { ...value, [name]: changed((value as Fields)[name], at) };
}

for (const at of ['first', 'last'] as const) {
  test(`every vector fails if the ${at} value of each response is wrong`, async () => {
    // For a wrong PSK of the first vector the judge tries eight derivations.
    for (const task of ALL.filter(({ type, test }) => type !== 'Psk' || test.tcId !== 1)) {
      const { result } = await runChanged(task, ({ id, redacted, refusal, ...response }) => ({
        // A refusal that the vector does not have is not compared.
        ...(changed({ ...response, ...(task.test.refusal && { refusal }) }, at) as Fields),
        ...(response.error !== undefined && { error: undefined, success: true }),
        id,
      }));
      assert.is(result, 'failed', `${task.file} ${task.test.tcId}`);
    }
  });
}

test('every vector that is refused fails if it is refused with another code', async () => {
  const refused = ALL.filter(({ type, test }) => test.error !== undefined && type !== 'Session');
  assert.ok(refused.length > 300);
  for (const task of refused) {
    const codes = [task.test.error, ...(task.test.otherErrors ?? [])];
    const { result } = await runChanged(task, (response) =>
      JSON.parse(JSON.stringify(response), (_name, value) => (codes.includes(value) ? 'dropped' : value)),
    );
    assert.is(result, 'failed', `${task.file} ${task.test.tcId}`);
  }
});

test('every vector that is refused passes if it is refused without a code', async () => {
  for (const task of ALL.filter(({ test }) => test.error !== undefined)) {
    const { result } = await runChanged(task, (response) =>
      JSON.parse(JSON.stringify(response).split(`"error":"${task.test.error}"`).join('"error":"refused"')),
    );
    assert.is(result, 'passed', `${task.file} ${task.test.tcId}`);
  }
});

test('the public adapter passes every vector, or declines a counter that it cannot reach', async () => {
  const verdicts: Verdict[] = [];
  for (const task of ALL.filter(({ operation }) => operation === 'seal' || operation === 'open')) {
    verdicts.push(await run(task, answering(nodeCrypto, createAdapter)));
  }
  const passed = verdicts.filter(({ result }) => result === 'passed');
  const declined = verdicts.filter(({ result }) => result === 'declined');
  assert.is(passed.length + declined.length, verdicts.length);
  assert.ok(passed.length > declined.length);
});

test('every vector of every file was checked, except for primitives and tables', () => {
  let expected = 0;
  for (const file of vectorFiles()) {
    const { testGroups, numberOfTests } = readVectorFile(file);
    let counted = 0;
    for (const { type, tests } of testGroups) {
      assert.ok(tests.length > 0, `${file} has an empty group of type ${type}`);
      counted += tests.length;
      if (CHECKS[type] !== undefined) expected += tests.length;
      else assert.ok(['rfc', 'tables'].includes(file), `there is no check for ${type} of ${file}`);
    }
    assert.is(counted, numberOfTests, file);
  }
  assert.is(counts.node, expected);
  assert.is(counts.noble, PROVIDERS[1]![2].length);
});

test('every check belongs to an operation, and every operation has a check', () => {
  const checked = new Set(Object.values(CHECKS).map(({ operation }) => operation));
  assert.equal([...checked].sort(), OPERATIONS.map(({ name }) => name).sort());
});

test.run();
