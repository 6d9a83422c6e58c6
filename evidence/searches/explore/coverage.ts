/** Which rows of the tables in src/ the search has used. */

import { POLICY_ENDINGS, POLICY_STATES } from '../../../src/policy/tables.ts';
import { Channel } from '../../../src/session/channel.ts';
import { CLIENT_ENDINGS, CLIENT_FAILURES, HUB_ENDINGS, HUB_FAILURES } from '../../../src/session/endings.ts';
import { isLateRepeat, lateInputOf } from '../../../src/session/inputs.ts';
import {
  CLIENT_TRANSITIONS,
  HUB_TRANSITIONS,
  type TransitionTable,
} from '../../../src/session/transitions.ts';
import type { Side } from '../../../test/world/line.ts';

/** How often each row was used, by its name. */
export type Uses = Map<string, number>;

/** The names of all rows. */
export function allRows(): string[] {
  return [
    ...transitions('client', CLIENT_TRANSITIONS),
    ...transitions('hub', HUB_TRANSITIONS),
    ...CLIENT_ENDINGS.map((_, i) => `client ending ${i + 1}`),
    ...CLIENT_FAILURES.map((_, i) => `client failure ${i + 1}`),
    ...HUB_ENDINGS.map((_, i) => `hub ending ${i + 1}`),
    ...HUB_FAILURES.map((_, i) => `hub failure ${i + 1}`),
    ...POLICY_ENDINGS.map((_, i) => `policy ending ${i + 1}`),
    ...Object.entries(POLICY_STATES).flatMap(([state, row]) =>
      Object.entries(row).map(([call, next]) => `policy: ${state}, ${call} → ${next}`),
    ),
  ];
}

function transitions<State extends string>(side: Side, table: TransitionTable<State>): string[] {
  return rowsOf(table).flatMap(([state, row]) =>
    Object.entries(row).map(([name, next]) => rowName(side, state, name, next)),
  );
}

function rowsOf<State extends string>(
  table: TransitionTable<State>,
): [string, TransitionTable<State>[State]][] {
  return Object.entries(table);
}

function rowName(side: Side, state: string, name: string, next: string): string {
  return `${side}: ${state}, ${name} → ${next}`;
}

/** Counts a use of each table's row, since the sessions and the policy look it up in the tables themselves. */
export function watch(): Uses {
  const uses: Uses = new Map();
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1);
  watchTransitions('client', CLIENT_TRANSITIONS, use);
  watchTransitions('hub', HUB_TRANSITIONS, use);
  for (const [name, table] of Object.entries({
    'client ending': CLIENT_ENDINGS,
    'hub ending': HUB_ENDINGS,
    'client failure': CLIENT_FAILURES,
    'hub failure': HUB_FAILURES,
    'policy ending': POLICY_ENDINGS,
  })) {
    for (const [i, row] of table.entries()) watchRow(row, () => use(`${name} ${i + 1}`));
  }
  for (const [state, row] of Object.entries(POLICY_STATES)) {
    for (const [call, next] of Object.entries(row)) {
      watchField(row, call, () => use(`policy: ${state}, ${call} → ${next}`));
    }
  }
  return uses;
}

/** A row counts when what it decides is read: `reason` of an ending, `verdict` of the policy. */
function watchRow(row: object, use: () => void): void {
  watchField(row, 'verdict' in row ? 'verdict' : 'reason', use);
}

function watchField(row: object, name: string, use: () => void): void {
  const value = (row as { [name: string]: unknown })[name];
  Object.defineProperty(row, name, {
    enumerable: true,
    get() {
      use();
      return value;
    },
  });
}

/** An entry counts when the next state is read. `repeat` does when a repeat is received, since some states read it for others. */
function watchTransitions<State extends string>(
  side: Side,
  table: TransitionTable<State>,
  use: (name: string) => void,
): void {
  const unwatched = structuredClone(table);
  for (const [state, row] of rowsOf(table)) {
    for (const [name, next] of Object.entries(row)) {
      if (name !== 'repeat') watchField(row, name, () => use(rowName(side, state, name, next)));
    }
  }
  const channel = Channel.prototype as unknown as Receiver;
  const { receive } = channel;
  channel.receive = function (this: Receiver, data) {
    const { state } = this;
    if (this.transitions === table && state in unwatched) {
      const row = unwatched[state as State];
      const input = lateInputOf(data);
      if (input !== undefined && row[input] === undefined && row.repeat !== undefined) {
        const isIgnored = 'frame' in row ? isLateRepeat(input, typeof data === 'string') : input !== 'other';
        if (isIgnored) use(rowName(side, state, 'repeat', row.repeat));
      }
    }
    return receive.call(this, data);
  };
}

/** A Channel, as far as it is watched. */
interface Receiver {
  state: string;
  transitions: unknown;
  receive(data: string | Uint8Array): unknown;
}
