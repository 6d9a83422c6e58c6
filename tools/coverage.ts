/**
 * Compares the coverage of each package with its floor, from the report that c8 has written. The library is covered in
 * full; a line or a branch of it that no test reaches is listed. The floors of the other packages only rise.
 */
import { readFileSync } from 'node:fs';

/** Percent of the lines and of the branches, by folder. The tests use the client as it was built. */
const FLOORS: { readonly [folder: string]: readonly [lines: number, branches: number] } = {
  'src/': [100, 100],
  'bundles/': [100, 100],
  'client/dist/': [98.5, 96.5],
  'cli/src/': [97.5, 96],
  'judge/src/': [90, 90],
};

/** The counts of one file, and the lines where something was not reached. */
interface Covered {
  readonly file: string;
  readonly lines: readonly [hit: number, all: number];
  readonly branches: readonly [hit: number, all: number];
  readonly missed: readonly number[];
}

const report = readFileSync(new URL('../coverage/lcov.info', import.meta.url), 'utf8');
const files = report
  .split('end_of_record\n')
  .filter((record) => record.startsWith('TN:'))
  .map(read);

for (const [folder, floors] of Object.entries(FLOORS)) {
  const inside = files.filter(({ file }) => file.startsWith(folder));
  if (inside.length === 0) throw new Error(`no coverage of ${folder} was reported`);
  const [lines, branches] = (['lines', 'branches'] as const).map((what) =>
    percent(inside.map((file) => file[what])),
  );
  const isLow = lines! < floors[0] || branches! < floors[1];
  const verdict = isLow ? `BELOW its floor, ${floors[0]} and ${floors[1]} %` : 'ok';
  console.log(`${folder.padEnd(13)} lines ${lines} %, branches ${branches} %: ${verdict}`);
  if (!isLow) continue;
  process.exitCode = 1;
  for (const { file, missed } of inside) if (missed.length > 0) console.log(`  ${file}:${missed.join(',')}`);
}

/** Reads one record of the lcov format. */
function read(record: string): Covered {
  const [file] = fields(record, 'SF');
  const count = (name: string): number => Number(fields(record, name)[0] ?? 0);
  const lines = fields(record, 'DA').map((field) => field.split(','));
  const branches = fields(record, 'BRDA').map((field) => field.split(','));
  const missed = [...lines, ...branches]
    .filter((field) => field.at(-1) === '0')
    .map(([line]) => Number(line));
  return {
    file: file!,
    lines: [count('LH'), count('LF')],
    branches: [count('BRH'), count('BRF')],
    missed: [...new Set(missed)].sort((a, b) => a - b),
  };
}

function fields(record: string, name: string): string[] {
  return record
    .split('\n')
    .filter((line) => line.startsWith(`${name}:`))
    .map((line) => line.slice(name.length + 1));
}

/** Rounded down, so that 100 means all. */
function percent(counts: readonly (readonly [hit: number, all: number])[]): number {
  const sum = (index: 0 | 1): number => counts.reduce((total, count) => total + count[index], 0);
  return Math.floor((1000 * sum(0)) / sum(1)) / 10;
}
