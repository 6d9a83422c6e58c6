/**
 * Lists the sizes of the single files and of the device's half of the bridge's line in bytes, minified and gzipped. Fails if one is
 * above its ceiling.
 *
 *     evidence/devices/size
 *     evidence/devices/size --write  also writes them into docs/reference/devices.md
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { FILES } from '../../tools/bundles.ts';
import { code, grouped, table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';

/** What a change may not exceed without a reason that is worth the flash of every device, in bytes when gzipped. */
const CEILINGS: { readonly [name: string]: number } = {
  'hub-protocol.js': 17_305,
  'hub-protocol.core.js': 8_180,
  'hub-protocol.link.js': 21_600,
  'hub-protocol.identity.js': 9_582,
  'hub-protocol.requests.js': 8_730,
  'hub-protocol.binary.js': 4_880,
  'line.cjs': 1_000,
};

const DIST = new URL('../../dist/', import.meta.url);
/** The device's half of the line to a bridge, which devices minify themselves. */
const LINE = readFileSync(new URL('../../examples/bridge/line.cjs', import.meta.url), 'utf8');
const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });

const row = (...cells: (string | number)[]): void =>
  console.log(
    cells.map((cell, i) => (i === 0 ? String(cell).padEnd(32) : String(cell).padStart(10))).join(''),
  );

row('bytes', 'minified', 'gzipped', 'ceiling');
const rows: string[][] = [];
const files = [
  ...FILES.map(({ name }) => ({ name, file: readFileSync(new URL(name, DIST)) })),
  { name: 'line.cjs', file: Buffer.from(transformSync(LINE, { minify: true }).code) },
];
for (const { name, file } of files) {
  const gzipped = gzipSync(file, { level: 9 }).length;
  const ceiling = CEILINGS[name];
  const isOver = ceiling !== undefined && gzipped > ceiling;
  row(name, file.length, gzipped, ceiling ?? '', isOver ? 'TOO LARGE' : '');
  rows.push([
    code(name),
    grouped(file.length),
    grouped(gzipped),
    ceiling === undefined ? '' : grouped(ceiling),
  ]);
  if (isOver) process.exitCode = 1;
}
if (values.write) {
  const sizes = table(['file', 'minified', 'gzipped', 'ceiling, gzipped'], rows);
  writeMeasured('docs/reference/devices.md', { sizes });
}
