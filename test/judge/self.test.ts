/**
 * Every vector, put to this library by the judge's own questions, with each provider of cryptography; and put to it
 * with a wrong answer, which the judge must not pass.
 */

import type { Crypto } from 'hub-protocol';
import { nobleCrypto } from 'hub-protocol/noble';
import { nobleCryptoWithAesGcm } from 'hub-protocol/noble-aesgcm';
import { nodeCrypto } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createAdapter } from '../../examples/judge/adapter.ts';
import type { Fields } from '../../judge/src/adapter.ts';
import { judgeOne, type Task, tasks, type Verdict } from '../../judge/src/judge.ts';
import { QUESTIONS } from '../../judge/src/questions.ts';
import { readVectorFile, vectorFiles } from '../../judge/src/vectors.ts';

const ALL = tasks();
const USES_CIPHERS = ['Handshake', 'HandshakeFailure', 'Seal', 'Open', 'Session'];

function put(
  task: Task,
  crypto: Crypto,
  change: (answer: Fields) => Fields = (answer) => answer,
): Promise<Verdict> {
  const answer = createAdapter(crypto);
  // As a line of JSON would bring it.
  const ask = async (request: Fields) => change(JSON.parse(JSON.stringify(answer({ id: 1, ...request }))));
  return judgeOne(task, { ask, stop: async () => {} });
}

function usesAesGcm({ type, test }: Task): boolean {
  return USES_CIPHERS.includes(type) && JSON.stringify(test).includes('AESGCM');
}

const counts = { node: 0, 'noble with AESGCM': 0, noble: 0 };
const PROVIDERS: [name: keyof typeof counts, crypto: Crypto, tasks: Task[]][] = [
  ['node', nodeCrypto, ALL],
  ['noble with AESGCM', nobleCryptoWithAesGcm, ALL.filter(({ type }) => USES_CIPHERS.includes(type))],
  ['noble', nobleCrypto, ALL.filter((task) => USES_CIPHERS.includes(task.type) && !usesAesGcm(task))],
];

for (const [name, crypto, tasks] of PROVIDERS) {
  for (const task of tasks) {
    test(`${name} passes ${task.file} ${task.test.tcId} ${task.test.comment}`, async () => {
      const { result, failure } = await put(task, crypto);
      assert.is(result, 'passed', JSON.stringify(failure));
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

/** A copy in which the first or the last value is another. An answer without values gets one that it should not have. */
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
  test(`every vector fails where the ${at} value of the answers is another`, async () => {
    for (const task of ALL) {
      if (task.type === 'Psk') continue; // half a second each, and compared as all others are
      const { result } = await put(task, nodeCrypto, ({ id, redacted, refusal, ...answer }) => ({
        // A refusal that the test does not state is not compared.
        ...(changed({ ...answer, ...(task.test.refusal && { refusal }) }, at) as Fields),
        ...(answer.error !== undefined && { error: undefined, answer: 'a refusal was due' }),
        id,
      }));
      assert.is(result, 'failed', `${task.file} ${task.test.tcId}`);
    }
  });
}

test('every vector that is to be refused fails where it is not, and where another code is given', async () => {
  const refused = ALL.filter(({ type, test }) => test.result === 'invalid' && type !== 'Session');
  assert.ok(refused.length > 300);
  for (const task of refused) {
    const { result } = await put(task, nodeCrypto, (answer) =>
      JSON.parse(JSON.stringify(answer).split(`"${task.test.error}"`).join('"dropped"')),
    );
    assert.is(result, 'failed', `${task.file} ${task.test.tcId}`);
  }
});

test('an implementation that does not tell the causes of refusals apart passes', async () => {
  for (const task of ALL.filter(({ test }) => test.result === 'invalid')) {
    const { result } = await put(task, nodeCrypto, (answer) =>
      JSON.parse(JSON.stringify(answer).split(`"error":"${task.test.error}"`).join('"error":"refused"')),
    );
    assert.is(result, 'passed', `${task.file} ${task.test.tcId}`);
  }
});

test('all vectors of all files were put, but for the known answers of primitives', () => {
  let expected = 0;
  for (const file of vectorFiles()) {
    const { testGroups, numberOfTests } = readVectorFile(file);
    let counted = 0;
    for (const { type, tests } of testGroups) {
      assert.ok(tests.length > 0, `${file} has an empty group of type ${type}`);
      counted += tests.length;
      if (QUESTIONS[type] !== undefined) expected += tests.length;
      else assert.is(file, 'rfc', `nobody asks for ${type} of ${file}`); // noise/known-answers.test.ts does
    }
    assert.is(counted, numberOfTests, file);
  }
  assert.is(counts.node, expected);
  assert.is(counts['noble with AESGCM'], PROVIDERS[1]![2].length);
  assert.is(counts.noble, PROVIDERS[2]![2].length);
});

test.run();
