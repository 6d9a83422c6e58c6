/** The tables of ConnectionPolicy, compared with vectors/tables.json, which is written by hand. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, type Vector } from '../../judge/src/vectors.ts';
import {
  POLICY_ENDINGS,
  POLICY_STATES,
  type PolicyEnding,
  type PolicyState,
} from '../../src/policy/tables.ts';

const rowsOf = (wanted: string): readonly Vector[] =>
  readVectorFile('tables').testGroups.find(({ type }) => type === wanted)!.tests;

test('the states and their successors match the vectors', () => {
  const rows = rowsOf('PolicyState');
  assert.equal([...new Set(rows.map(({ state }) => state))], Object.keys(POLICY_STATES));
  for (const { state, input, next } of rows) {
    const row: { readonly [input: string]: string } = { ...POLICY_STATES[state as PolicyState] };
    assert.is(row[input], next, `${input} in ${state}`);
  }
  assert.is(
    rows.filter(({ next }) => next).length,
    Object.values(POLICY_STATES).flatMap(Object.values).length,
  );
});

test('connections end as the vectors say', () => {
  const rows = rowsOf('PolicyEnding').map(({ when, verdict, usesXxAlone, isRefusal }) => ({
    ...when,
    verdict,
    ...(usesXxAlone && { usesXxAlone }),
    ...(isRefusal && { isRefusal }),
  }));
  assert.equal(JSON.parse(JSON.stringify(POLICY_ENDINGS)), rows);
});

test('only codes that the library has can be in the tables', () => {
  // @ts-expect-error -- the compiler refuses a code that was renamed
  const renamed: PolicyEnding = { error: 'text-after-redy', verdict: 'ask' };
  assert.not(POLICY_ENDINGS.includes(renamed));
});

test.run();
