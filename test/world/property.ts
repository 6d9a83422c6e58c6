/** fast-check with the seed of this run. Tests of properties import it from here, so that each run of them tries the same inputs. */
import * as fc from 'fast-check';
import { SEED } from './seed.ts';

fc.configureGlobal({ seed: SEED });

/** How many inputs to try: usually so many. */
export const runs = (usual: number): { readonly numRuns: number } => ({
  numRuns: Number(process.env.FUZZ_RUNS ?? usual),
});

export { fc };
