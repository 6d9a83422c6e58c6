/**
 * Draws the table of mutants in docs/evidence/searches.md, folder by folder. It counts those in the sources, and as noticed all that
 * are not in survivors.json, so run `npm run mutate` before.
 *
 *     node --import tsx test/mutation/scores.ts
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { code, grouped, table, withParts } from '../../tools/draw.ts';
import { mutated } from './mutants.ts';
import { isMutated, keyOf, readSurvivors } from './survivors.ts';

const ROOT = new URL('../../', import.meta.url);
const PAGE = new URL('docs/evidence/searches.md', ROOT);
const REST = 'other files of `src`';

const survivors = new Set(readSurvivors().map(keyOf));
const rows = new Map<string, { all: number; left: number }>();
const total = { all: 0, left: 0 };
for (const path of readdirSync(new URL('src/', ROOT), { recursive: true, encoding: 'utf8' }).sort()) {
  const file = `src/${path}`;
  if (!file.endsWith('.ts') || !isMutated(file)) continue;
  const name = path.includes('/') ? code(file.slice(0, file.lastIndexOf('/'))) : REST;
  const row = rows.get(name) ?? { all: 0, left: 0 };
  rows.set(name, row);
  const { mutants } = mutated(file, readFileSync(new URL(file, ROOT), 'utf8'), 0);
  for (const mutant of mutants.filter(({ isStatic }) => !isStatic)) {
    for (const counts of [row, total]) {
      counts.all++;
      if (survivors.has(keyOf(mutant))) counts.left++;
    }
  }
}
const rest = rows.get(REST)!;
rows.delete(REST);
rows.set(REST, rest).set('all', total);

const cells = [...rows].map(([name, { all, left }]) => [
  name,
  grouped(all),
  `${((100 * (all - left)) / all).toFixed(1)} %`,
  grouped(left),
]);
const drawn = table(['changes in', 'tried', 'noticed', 'survive, with a reason'], cells);
writeFileSync(PAGE, withParts(readFileSync(PAGE, 'utf8'), { mutants: drawn }));
