/** What is searched. A target runs one case with random choices, and throws if the law is broken. */
import type { Random } from '../../../test/world/random.ts';
import { binary } from './targets/binary.ts';
import { edges } from './targets/edges.ts';
import { frames } from './targets/frames.ts';
import { link } from './targets/link.ts';
import { requests } from './targets/requests.ts';
import { sessions } from './targets/sessions.ts';
import { values } from './targets/values.ts';

export interface Target {
  readonly run: (random: Random) => void;
  /** How many cases of it are run in each round. Half of the time goes to sessions. */
  readonly cases: number;
}

export const TARGETS: { readonly [name: string]: Target } = {
  sessions: { run: sessions, cases: 21 },
  edges: { run: edges, cases: 1 },
  values: { run: values, cases: 60 },
  frames: { run: frames, cases: 200 },
  binary: { run: binary, cases: 40 },
  requests: { run: requests, cases: 8 },
  link: { run: link, cases: 2 },
};
