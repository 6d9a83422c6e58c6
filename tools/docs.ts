/**
 * Writes every file that is drawn from the code: pages, parts of pages, and two modules.
 *
 *     npm run docs        builds first, about 5 s
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { aliases } from './aliases.ts';
import { apiPages } from './api.ts';
import type { Drawn } from './draw.ts';
import { errors } from './errors.ts';
import { evidence } from './evidence.ts';
import { interop } from './interop.ts';
import { permutation } from './permutation.ts';
import { policyTables } from './policy-tables.ts';
import { readme } from './readme.ts';
import { sessionTables } from './session-tables.ts';
import { workedExample } from './worked-example.ts';

const ROOT = new URL('..', import.meta.url);

/** Every file that is drawn. */
export function drawnFiles(): Drawn {
  return {
    ...aliases(),
    ...permutation(),
    ...sessionTables(),
    ...policyTables(),
    ...workedExample(),
    ...errors(),
    ...interop(),
    ...evidence(),
    ...readme(),
    ...apiPages(),
  };
}

if (process.argv[1] === import.meta.filename) {
  const files = Object.entries(drawnFiles());
  rmSync(new URL('docs/reference/api/', ROOT), { recursive: true, force: true }); // with the pages that are no longer drawn
  mkdirSync(new URL('docs/reference/api/', ROOT));
  for (const [path, text] of files) writeFileSync(new URL(path, ROOT), text);
}
