/** The tables of docs/reference/devices.md that `evidence/devices/run --write` draws. */
import { code, grouped, table } from '../../tools/draw.ts';
import type { Small } from './small-engines.ts';

/** A row of the benchmark. */
export interface Seen {
  readonly engine: string;
  readonly what: string;
  /** Bytes above an empty realm. */
  readonly live: number;
  readonly peak?: number;
  readonly ceilings: { readonly live?: number; readonly peak?: number };
}

const isXs = ({ engine }: Seen): boolean => engine.startsWith('XS');
const NAMES: { readonly [what: string]: string } = {
  'load hub-protocol.full.js': `load ${code('hub-protocol.full.js')}, with AESGCM`,
  'load aes-gcm.js': `load [${code('examples/aes-gcm.ts')}](../../examples/aes-gcm.ts)`,
};
const nameOf = (what: string): string =>
  NAMES[what] ?? what.replace(/^load (.*)/, (_, file) => `load ${code(file)}`);
const cell = (value: number | undefined, ceiling?: number): string =>
  value === undefined ? '' : grouped(value) + (ceiling === undefined ? '' : ` (ceiling ${grouped(ceiling)})`);

/** What files and sessions take of the heap. QuickJS's peak while a file is loaded is not known: it parses in one go. */
export function drawMemory(seen: readonly Seen[]): string {
  const rows = seen.filter((row) => isXs(row) && !/, /.test(row.what));
  return table(
    ['', 'XS live', 'XS peak', 'QuickJS live', 'QuickJS peak'],
    rows.map(({ what, live, peak, ceilings }) => {
      const other = seen.find((row) => !isXs(row) && row.what === what)!;
      const otherPeak = what.startsWith('load ') ? undefined : other.peak;
      return [
        nameOf(what),
        cell(live, ceilings.live),
        cell(peak, ceilings.peak),
        cell(other.live),
        cell(otherPeak),
      ];
    }),
  );
}

/** What the ES5 files take in small engines. */
export function drawSmall(rows: readonly Small[]): string {
  const named = (what: string): string => what.replace(/[\w.-]+\.js/, code);
  return table(
    ['', '', 'file', 'peak'],
    rows.map(({ engine, what, flash, peak }, i) => [
      engine === rows[i - 1]?.engine ? '' : engine,
      named(what),
      cell(flash),
      cell(peak),
    ]),
  );
}
