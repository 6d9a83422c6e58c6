/**
 * Draws the state diagram and the table of endings in docs/reference/policy.md from the tables that ConnectionPolicy runs on.
 */
import {
  POLICY_ENDINGS,
  POLICY_STATES,
  type PolicyEnding,
  type PolicyState,
  type Verdict,
} from '../src/policy/tables.ts';
import { code, type Drawn, mermaid, pageWith, table } from './draw.ts';

/** The name of each input in the diagram. */
const LABELS: { readonly [input: string]: string } = {
  begin: 'begin()',
  ready: 'ready',
  goodbye: 'goodbye()',
  resume: 'resume()',
};

/** The verdicts, in the words of the table. */
const VERDICTS: { readonly [verdict in Verdict]: string } = {
  ask: '`ask`, and dial after a long pause',
  redial: '`dial`, immediately',
  pause: '`dial`, after a pause',
  rest: '`rest`',
};

/** The states in which there is a connection that may end. */
const CONNECTED: readonly PolicyState[] = ['connecting', 'ready', 'leaving', 'returning'];

function diagram(): string {
  const states = Object.keys(POLICY_STATES) as PolicyState[];
  const edges: string[] = [];
  for (const state of states) {
    for (const [input, next] of Object.entries(POLICY_STATES[state])) {
      edges.push(`    ${state} --> ${next}: ${LABELS[input]}`);
    }
    if (!CONNECTED.includes(state)) continue;
    edges.push(`    ${state} --> ${verdictsIn(state).includes('rest') ? 'resting' : 'waiting'}: ended`);
  }
  return mermaid(states, edges);
}

/** The possible verdicts after a connection has ended in a state. */
function verdictsIn(state: PolicyState): Verdict[] {
  const own = POLICY_ENDINGS.find((row) => row.state === state);
  const rows = own ? [own] : POLICY_ENDINGS.filter((row) => row.state === undefined);
  return rows.map(({ verdict }) => verdict);
}

function endings(rows: readonly PolicyEnding[]): string {
  const named = (value: string | undefined): string => (value === undefined ? 'any' : code(value));
  return table(
    ['in state', '`retry`', '`reason`', '`error.code`', 'pattern', 'was ready', 'decision'],
    rows.map((row) => [
      named(row.state),
      named(row.retry),
      named(row.reason),
      `${named(row.error)}${repeated(row)}`,
      row.pattern ?? 'any',
      row.wasReady === undefined ? 'either' : row.wasReady ? 'yes' : 'no',
      `${VERDICTS[row.verdict]}${row.isRefusal ? ' of up to ten times `maxPause`' : ''}${row.usesXxAlone ? '; XXpsk2 alone from now on' : ''}`,
    ]),
  );
}

/** A row's condition on an earlier connection that ended with the same error. */
function repeated({ isRepeated, error }: PolicyEnding): string {
  if (!isRepeated) return '';
  return error === 'psk-differs' ? ', again within an hour' : ', again, with nothing heard';
}

export function policyTables(): Drawn {
  return pageWith('docs/reference/policy.md', { states: diagram(), endings: endings(POLICY_ENDINGS) });
}
