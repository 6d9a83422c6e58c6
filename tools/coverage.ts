/**
 * Compares the coverage of each package with its floor, from the report that c8 has written. The library is covered in
 * full; the lines that no test reaches are listed. The floors of the other packages only rise.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Percent of the lines and of the branches, by folder. The tests use the client as it was built. */
const FLOORS: { readonly [folder: string]: readonly [lines: number, branches: number] } = {
  'src/': [100, 100],
  'bundles/': [100, 100],
  'client/dist/': [98.5, 96.5],
  'cli/src/': [97.5, 96],
  'judge/src/': [90, 90],
};

interface Count {
  readonly total: number;
  readonly covered: number;
}

const ROOT = new URL('../', import.meta.url);
const report: { readonly [path: string]: { readonly lines: Count; readonly branches: Count } } = JSON.parse(
  readFileSync(new URL('coverage/coverage-summary.json', ROOT), 'utf8'),
);

for (const [folder, floors] of Object.entries(FLOORS)) {
  const inside = Object.keys(report).filter((path) => path.startsWith(new URL(folder, ROOT).pathname));
  if (inside.length === 0) throw new Error(`no coverage of ${folder} was reported`);
  const [lines, branches] = (['lines', 'branches'] as const).map((what) =>
    percent(inside.map((path) => report[path]![what])),
  );
  const isLow = lines! < floors[0] || branches! < floors[1];
  const verdict = isLow ? `BELOW its floor, ${floors[0]} and ${floors[1]} %` : 'ok';
  console.log(`${folder.padEnd(13)} lines ${lines} %, branches ${branches} %: ${verdict}`);
  if (!isLow) continue;
  process.exitCode = 1;
  const shown = ['report', '--reporter=text', '--skip-full', `--include=${folder}**`];
  spawnSync('node_modules/.bin/c8', shown, { cwd: ROOT, stdio: 'inherit' });
}

/** Rounded down, so that 100 means all. */
function percent(counts: readonly Count[]): number {
  const sum = (what: keyof Count): number => counts.reduce((total, count) => total + count[what], 0);
  return Math.floor((1000 * sum('covered')) / sum('total')) / 10;
}
