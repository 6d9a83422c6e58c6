/** Which mutant is on, and what ran: the mutated modules ask here. */

interface State {
  /** The mutant that is on, or -1. */
  active: number;
  /** How many rounds all loops ran, and how many they may. */
  ticks: number;
  mostTicks: number;
  /** If there, gets a 1 for each mutant whose code runs. */
  hits: Uint8Array | undefined;
}

/** Of all copies of this module: a test may bundle the mutated modules, and this one with them. */
const shared = globalThis as { mutation?: State };
shared.mutation ??= { active: -1, ticks: 0, mostTicks: Number.POSITIVE_INFINITY, hits: undefined };
const state: State = shared.mutation;
export default state;

/** Whether a mutant is on. */
export function $m(id: number): boolean {
  if (state.hits !== undefined) state.hits[id] = 1;
  return id === state.active;
}

/** Counts a round of a loop. */
export function $tick(): void {
  if (++state.ticks > state.mostTicks) throw new Error('a loop does not end');
}
