/** Where an input may lead: the state that a table names, and those that the session reaches from there by itself. */
import type { Input, TransitionTable } from '../../src/session/transitions.ts';

/** The states in which a session may be after an input, in the order of the table; none if the input has no place. */
export function nextStates<State extends string>(
  table: TransitionTable<State>,
  state: State,
  input: Input,
): State[] {
  const reached = new Set<string>();
  const reach = (next: State | 'failed' | undefined): void => {
    if (next === undefined || next === 'failed' || reached.has(next)) return;
    reached.add(next);
    const { written, read, done, psk } = table[next];
    for (const after of [written, read, done]) reach(after);
    if (input === 'offer') reach(psk); // the PSK is in the keyring
  };
  reach(table[state][input]);
  return (Object.keys(table) as State[]).filter((state) => reached.has(state));
}
