/** What can be reached: from an object through its fields, including hidden ones, and from a state by an input. */
import type { Input, TransitionTable } from '../../src/session/transitions.ts';

/** All values: strings, bytes, functions and other objects, each object once. */
export function reachable(root: object): unknown[] {
  const seen = new Set<unknown>();
  const found: unknown[] = [];
  const queue: unknown[] = [root];
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (isObject && seen.has(value)) continue;
    seen.add(value);
    found.push(value);
    if (!isObject || value instanceof Uint8Array) continue;
    for (const key of Reflect.ownKeys(value as object)) {
      const { value: field } = Object.getOwnPropertyDescriptor(value, key)!;
      if (field !== undefined) queue.push(field);
    }
  }
  return found;
}

export function bytesIn(root: object): Uint8Array[] {
  return reachable(root).filter((value): value is Uint8Array => value instanceof Uint8Array);
}

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
