/** Which rows of the tables in src/ the search has used. */
import { ClientSession, HubSession } from '../../src/index.ts';
import { POLICY_ENDINGS, POLICY_STATES } from '../../src/policy/tables.ts';
import { CLIENT_ENDINGS, CLIENT_FAILURES, HUB_ENDINGS, HUB_FAILURES } from '../../src/session/endings.ts';
import { CLIENT_TRANSITIONS, HUB_TRANSITIONS, type TransitionTable } from '../../src/session/transitions.ts';

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

function transitions(side: string, table: TransitionTable): string[] {
  return Object.entries(table).flatMap(([state, { on }]) =>
    Object.entries(on).flatMap(([input, { next }]) =>
      next.length === 0
        ? [`${side}: ${state}, ${input} → failed`]
        : next.map((after) => `${side}: ${state}, ${input} → ${after}`),
    ),
  );
}

/** Counts a use of each table's row, since the sessions and the policy look it up in the tables themselves. */
export function watch(): Uses {
  const uses: Uses = new Map();
  const use = (name: string): void => void uses.set(name, (uses.get(name) ?? 0) + 1);
  watchDispatch(ClientSession.prototype, 'client', use);
  watchDispatch(HubSession.prototype, 'hub', use);
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
      Object.defineProperty(row, call, {
        enumerable: true,
        get() {
          use(`policy: ${state}, ${call} → ${next}`);
          return next;
        },
      });
    }
  }
  return uses;
}

/** A row counts when what it decides is read: `reason` of an ending, `verdict` of the policy. */
function watchRow(row: object, use: () => void): void {
  const name = 'verdict' in row ? 'verdict' : 'reason';
  const value = (row as { [name: string]: unknown })[name];
  Object.defineProperty(row, name, {
    enumerable: true,
    get() {
      use();
      return value;
    },
  });
}

type Dispatch = (input: string, incoming: unknown, events: unknown) => void;

function watchDispatch(prototype: object, side: string, use: (name: string) => void): void {
  const session = prototype as { state: string; dispatch: Dispatch };
  const original = session.dispatch;
  session.dispatch = function (this: { state: string }, input, incoming, events) {
    const before = this.state;
    try {
      original.call(this, input, incoming, events);
    } catch (error) {
      use(`${side}: ${before}, ${input} → failed`);
      throw error;
    }
    use(`${side}: ${before}, ${input} → ${this.state}`);
  };
}
