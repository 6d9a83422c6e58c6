/** The vectors of policy.json: events and times in, decisions out. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, type Vector } from '../../judge/src/vectors.ts';
import { eventOf, hex, policyDecisionToJson } from '../../ports/typescript/values.ts';
import { ConnectionPolicy } from '../../src/index.ts';
import { raisesLocal } from '../world/raises.ts';

function check({ options, random, steps, results, error }: Vector): void {
  const draws: Uint8Array[] = random.map(hex);
  const create = () => new ConnectionPolicy({ ...options, randomBytes: () => draws.shift()! });
  if (error !== undefined) {
    raisesLocal(create, 'bad-argument');
    return;
  }
  const policy = create();
  for (const [i, { at, do: call, state, event }] of steps.entries()) {
    const where = `step ${i + 1}, ${call}`;
    if (call === 'begin') assert.equal(policy.begin(at) ?? null, results[i].options, where);
    if (call === 'deadline') assert.is(policy.deadline(state, at) ?? null, results[i].deadline, where);
    if (call === 'take') {
      assert.equal(policyDecisionToJson(policy.take(eventOf(event), at)), results[i].decision, where);
    }
    if (call === 'goodbye') policy.goodbye();
    if (call === 'resume') policy.resume();
  }
  assert.is(draws.length, 0);
}

for (const vector of readVectorFile('policy').testGroups.flatMap(({ tests }) => tests)) {
  test(`${vector.tcId}, ${vector.flags.join()}: ${vector.comment}`, () => check(vector));
}

test.run();
