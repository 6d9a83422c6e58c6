/** The rows of the table that `evidence/scale/run` prints, and what each of them should reach. */
import { grouped } from '../../tools/draw.ts';
import { type Contender, paired, type Spread } from './paired.ts';
import { TARGETS } from './targets.ts';

export interface Row {
  /** What is measured, for instance `XXpsk2, node`. */
  readonly what: string;
  /** Where it lies on a curve: a length in bytes, or a number of sessions. */
  readonly x?: number;
  /** The time of one call, or a size. */
  readonly ms?: number;
  readonly bytes?: number;
  /** What it is compared with. */
  readonly beside?: string;
  readonly besideMs?: number;
  /** Our time divided by the other one. */
  readonly ratio?: Spread;
  /** The most that the ratio, or without one the value, should be. */
  readonly target?: number;
  readonly isMet?: boolean;
  /** Why the target is not met, or why nothing was measured. */
  readonly reason?: string;
}

export interface Benchmark {
  readonly name: string;
  /** About how long it takes. */
  readonly seconds: number;
  run(): Promise<Row[]>;
}

/** Adds the target to a row, if there is one for it. */
export function judged(row: Row): Row {
  const target = TARGETS[row.beside === undefined ? row.what : `${row.what} beside ${row.beside}`];
  const value = row.ratio?.median ?? row.bytes ?? row.ms;
  if (target === undefined || value === undefined) return row;
  const isMet = value <= target.most;
  const reason = isMet ? undefined : target.reason;
  return { ...row, target: target.most, isMet, ...(reason === undefined ? {} : { reason }) };
}

/** A contender, or why there is none. */
export type Peer = Contender | { readonly name: string; readonly missing: string };

/** Compares our work with that of others: a row for each of them. */
export async function compare(
  what: string,
  time: Contender['time'],
  peers: readonly Peer[],
  seconds: number,
  { x, leastMs }: { x?: number; leastMs?: number } = {},
): Promise<Row[]> {
  const present = peers.filter((peer) => 'time' in peer);
  const [ours, ...others] = await paired([{ name: what, time }, ...present], seconds, leastMs);
  const at = x === undefined ? {} : { x };
  const rows = others.map(
    ({ name, ms, ratio }): Row => ({ what, ...at, ms: ours!.ms, beside: name, besideMs: ms, ratio }),
  );
  if (peers.length === 0) rows.push({ what, ...at, ms: ours!.ms });
  for (const peer of peers) {
    if ('missing' in peer)
      rows.push({ what, ms: ours!.ms, beside: peer.name, reason: `NOT MEASURED: ${peer.missing}` });
  }
  return rows.map(judged);
}

/** Three significant digits. */
function time(ms: number): string {
  const [value, unit] = ms < 0.9995 ? [1000 * ms, 'µs'] : [ms, 'ms'];
  return `${value < 999.5 ? value.toPrecision(3) : grouped(value)} ${unit}`;
}

const perSecond = (ms: number): string =>
  ms < 100 ? grouped(Number((1000 / ms).toPrecision(3))) : (1000 / ms).toPrecision(2);

const size = (bytes: number): string => `${bytes < 10 ? bytes.toFixed(2) : grouped(bytes)} B`;
const isSize = ({ bytes }: Row): boolean => bytes !== undefined;

export const COLUMNS = [
  '',
  'takes',
  'a second',
  'compared with',
  'which takes',
  'ratio',
  'middle half',
  'target',
] as const;

/** The cells of a row, by {@link COLUMNS}; the last one says whether the target is met, and if not, why. */
export function cells(row: Row): string[] {
  const { what, ms, bytes, beside = '', besideMs, ratio, target, isMet, reason } = row;
  const isUnsure = ratio !== undefined && target !== undefined && ratio.low <= target;
  const missed = isUnsure ? 'NOT MET, but in the middle half' : 'NOT MET';
  const verdict = isMet === undefined ? '' : isMet ? 'met' : missed;
  const most = target === undefined ? '' : `${isSize(row) ? size(target) : target}: ${verdict}`;
  return [
    what,
    bytes === undefined ? (ms === undefined ? '' : time(ms)) : size(bytes),
    ms === undefined ? '' : perSecond(ms),
    beside,
    besideMs === undefined ? '' : time(besideMs),
    ratio === undefined ? '' : ratio.median.toFixed(2),
    ratio === undefined ? '' : `${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)}`,
    [most, reason].filter(Boolean).join('. '),
  ];
}

const WIDTHS = [40, 10, 9, 34, 12, 7, 14];

/** A line of the table on a terminal. */
export function line(texts: readonly string[]): string {
  return texts
    .map((text, i) => {
      const width = WIDTHS[i];
      if (width === undefined) return `  ${text}`;
      return i === 0 ? text.padEnd(width) : i === 3 ? `  ${text.padEnd(width)}` : text.padStart(width);
    })
    .join('')
    .trimEnd();
}
