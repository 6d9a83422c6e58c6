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

/** Variables by which a program that a test starts learns which mutant is on, and in which folder to name those that it reached. */
export const MUTANT = 'MUTATION_MUTANT';
export const HITS = 'MUTATION_HITS';

/** Of all copies of this module: a test may bundle the mutated modules, and this one with them. */
const shared = globalThis as { mutation?: State };
shared.mutation ??= newState();
const state: State = shared.mutation;
export default state;

function newState(): State {
  const { env, getBuiltinModule } = (globalThis as { process?: typeof process }).process ?? {};
  const { [MUTANT]: active = '-1', [HITS]: folder } = env ?? {};
  const hits = folder === undefined ? undefined : new Uint8Array(1 << 17);
  if (hits !== undefined) {
    process.on('exit', () => {
      const ids = [...hits.keys()].filter((id) => hits[id] === 1);
      const file = `${folder}/${process.pid}-${performance.now()}`;
      getBuiltinModule!('node:fs').writeFileSync(file, ids.join(' '));
    });
  }
  return { active: Number(active), ticks: 0, mostTicks: Number.POSITIVE_INFINITY, hits };
}

/** Whether a mutant is on. */
export function $m(id: number): boolean {
  if (state.hits !== undefined) state.hits[id] = 1;
  return id === state.active;
}

/** Counts a round of a loop. */
export function $tick(): void {
  if (++state.ticks > state.mostTicks) throw new Error('a loop does not end');
}
