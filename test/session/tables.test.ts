/** The tables of the sessions, compared with vectors/tables.json, which is written by hand. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile } from '../../judge/src/vectors.ts';
import {
  CLIENT_ENDINGS,
  CLIENT_FAILURES,
  HUB_ENDINGS,
  HUB_FAILURES,
  readClosing,
} from '../../src/session/endings.ts';
import { isLateRepeat } from '../../src/session/inputs.ts';
import {
  CLIENT_TRANSITIONS,
  HUB_TRANSITIONS,
  type Input,
  type TransitionTable,
} from '../../src/session/transitions.ts';
import { nextStates } from './reachable.ts';

// biome-ignore lint/suspicious/noExplicitAny: each type of group has fields of its own
const groups: any[] = [...readVectorFile('tables').testGroups];

/** The rows of a group, without what every vector has. */
function rowsOf(type: string, role: string): object[] {
  const { tests } = groups.find((group) => group.type === type && group.role === role);
  return tests.map(({ tcId, comment, flags, result, ...row }: { [field: string]: unknown }) => row);
}

const ENVELOPES: readonly Input[] = ['hello', 'offer', 'noise-with-choice', 'noise', 'other'];

const SIDES = [
  { role: 'client', table: CLIENT_TRANSITIONS, endings: CLIENT_ENDINGS, failures: CLIENT_FAILURES },
  { role: 'hub', table: HUB_TRANSITIONS, endings: HUB_ENDINGS, failures: HUB_FAILURES },
];

for (const { role, table, endings, failures } of SIDES) {
  test(`the endings of a ${role} match the vectors`, () => {
    const rows = endings.map(({ state: states, ...row }) => ({ states, ...row }));
    assert.equal(JSON.parse(JSON.stringify(rows)), rowsOf('Ending', role));
    assert.equal(JSON.parse(JSON.stringify(failures)), rowsOf('Failure', role));
  });

  test(`the states of a ${role} and their successors match the vectors`, () => {
    const rows = rowsOf('Transition', role) as {
      state: string;
      input: Input;
      form?: 'text' | 'bytes';
      next?: string[];
      ignored?: true;
    }[];
    assert.equal([...new Set(rows.map(({ state }) => state))].sort(), Object.keys(table).sort());
    for (const { state, input, form, next, ignored } of rows) {
      const row = (table as TransitionTable<string>)[state]!;
      assert.equal(
        nextStates(table as TransitionTable<string>, state, input),
        next ?? [],
        `${state}, ${input}`,
      );
      if (!ENVELOPES.includes(input)) continue; // a call that comes too late is handled by its method
      const isIgnored =
        row[input] === undefined &&
        row.repeat !== undefined &&
        (form === undefined ? input !== 'other' : isLateRepeat(input, form === 'text'));
      assert.is(isIgnored, ignored === true, `${state}, ${input}, ${form}`);
    }
  });
}

test('each way of closing has the kind that the vectors state', () => {
  for (const { closings, kind } of groups.find(({ type }) => type === 'Closing').tests) {
    for (const closing of closings) assert.is(readClosing(closing).kind, kind, JSON.stringify(closing));
  }
});

test.run();
