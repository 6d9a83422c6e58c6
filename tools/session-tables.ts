/**
 * Draws the state diagrams and the tables of endings in docs/reference/sessions.md from the tables that the sessions run on, and the
 * tables of events from their docstrings.
 */
import {
  CLIENT_ENDINGS,
  CLIENT_FAILURES,
  type EndingRow,
  type FailureRow,
  HUB_ENDINGS,
  HUB_FAILURES,
} from '../src/session/endings.ts';
import {
  CLIENT_TRANSITIONS,
  HUB_TRANSITIONS,
  type Input,
  type Step,
  type TransitionTable,
} from '../src/session/transitions.ts';
import { code, type Drawn, idOf, mermaid, pageWith, table } from './draw.ts';
import { clientEvents, hubEvents, linkOrders } from './events.ts';

/** The names of inputs and steps in the diagrams. */
const LABELS: { readonly [name in Input | Step]: string } = {
  hello: 'HELLO',
  offer: 'HANDSHAKE (offer)',
  'noise-with-choice': 'Noise message',
  noise: 'Noise message',
  other: 'other text',
  start: 'start()',
  psk: 'PSK, stored or from providePsk()',
  resume: 'resume()',
  frame: 'transport message',
  written: 'message written',
  read: 'message read',
  done: 'done',
};

/** Labels that are more exact than the label of the input or the step. */
const EXACT: { readonly [edge: string]: string } = {
  'sealing-message-1 → awaiting-message-2': 'message 1 written',
  'awaiting-message-2 → opening-message-2': 'message 2',
  'opening-message-2 → sealing-message-3': 'message 2 of XXpsk2 read',
  'opening-message-2 → ready': 'message 2 of KKpsk0 read',
  'sealing-message-3 → ready': 'message 3 written',
  'awaiting-message-1 → awaiting-message-3': 'message 1',
  'awaiting-message-1 → failed': 'message 1 without pattern or suite',
  'awaiting-message-3 → ready': 'message 3',
  'awaiting-message-3 → awaiting-first-message': 'message 2 of KKpsk0 written',
  'awaiting-first-message → ready': 'first transport message',
};

/** A state diagram in Mermaid. */
function diagram(table: TransitionTable<string>): string {
  const states = Object.keys(table);
  const edges = new Set<string>();
  for (const state of states) {
    for (const [name, next] of Object.entries(table[state]!)) {
      if (name === 'repeat') continue;
      const label = EXACT[`${state} → ${next}`] ?? LABELS[name as Input | Step];
      edges.add(`    ${idOf(state)} --> ${idOf(next)}: ${label}`);
    }
  }
  return mermaid(states, [
    ...edges,
    '    failed --> closed: closed()',
    '    closed --> [*]',
    '    note right of failed: any failure, from any state',
    '    note right of closed: closed(), from any state',
  ]);
}

/** The table of endings of a session that had not failed. */
function endings(rows: readonly EndingRow<string>[]): string {
  return table(
    ['closed with', 'in state', 'pattern', 'hub heard', '`reason`', '`retry`', '`error.code`', 'pin'],
    rows.map(({ close, state, pattern, heard, isFresh, reason, retry, error, doubtsPin }) => [
      close ?? 'any',
      state?.map(code).join(', ') ?? 'any',
      (pattern ?? 'any') + (isFresh ? ', with a static key that no hub has accepted yet' : ''),
      heard === undefined ? 'either' : heard ? 'yes' : 'no',
      code(reason),
      code(retry),
      code(error),
      doubtsPin ? '`pin-suspect`' : '',
    ]),
  );
}

/** The table of endings of a session that had failed. */
function failures(rows: readonly FailureRow[]): string {
  return table(
    ['error', 'fault of', 'handshake done', '`reason`', '`retry`'],
    rows.map(({ error, isLocal, isEstablished, reason, retry }) => [
      error === undefined ? 'any' : code(error),
      isLocal === undefined ? 'either side' : isLocal ? 'this side' : 'the peer',
      isEstablished === undefined ? 'either' : isEstablished ? 'yes' : 'no',
      code(reason),
      code(retry),
    ]),
  );
}

/** The generated parts of the page, by their names in its comments. */
const PARTS: { readonly [name: string]: string } = {
  'client events': clientEvents(),
  'hub events': hubEvents(),
  'link orders': linkOrders(),
  'client states': diagram(CLIENT_TRANSITIONS),
  'hub states': diagram(HUB_TRANSITIONS),
  'client endings': endings(CLIENT_ENDINGS),
  'client failures': failures(CLIENT_FAILURES),
  'hub endings': endings(HUB_ENDINGS),
  'hub failures': failures(HUB_FAILURES),
};

export function sessionTables(): Drawn {
  return pageWith('docs/reference/sessions.md', PARTS);
}
