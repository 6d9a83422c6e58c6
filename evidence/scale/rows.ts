/** The rows of the tables of docs/evidence/scale.md, and what some of them should reach. */
import { grouped } from '../../tools/draw.ts';
import { type Contender, paired } from './paired.ts';

export interface Row {
  /** What is measured, for instance `a question and its answer over TLS`. */
  readonly what: string;
  /** The time of one call, or a size. */
  readonly ms?: number;
  readonly bytes?: number;
  /** What it is compared with, and the median of our time divided by that. */
  readonly beside?: string;
  readonly ratio?: number;
}

/** The most that the ratio may be, or the bytes, or the milliseconds. The key is the row's name, with the peer's where there is one. */
const GOALS: { readonly [row: string]: string } = {
  'an idle session of a client': '4,096 B',
  'an idle session of a hub': '4,096 B',
  'import of `hub-protocol-client` beside import of ws': '1.5',
  '1,000 clients over TLS after a restart beside ws': '1.5',
  'connections 1 to 100, XXpsk2 beside connections 901 to 1000': '2.5',
  '10,000 requests wait in a queue': '50 ms',
};

export function goalOf({ what, beside }: Row): string {
  return GOALS[beside === undefined ? what : `${what} beside ${beside}`] ?? '';
}

/** Compares our work with that of others: a row for each of them. */
export async function compare(
  what: string,
  time: Contender['time'],
  peers: readonly Contender[],
  seconds: number,
  leastMs?: number,
): Promise<Row[]> {
  const [ours, ...others] = await paired([{ name: what, time }, ...peers], seconds, leastMs);
  return others.map(({ name, ratio }) => ({ what, ms: ours!.ms, beside: name, ratio }));
}

/** What a row shows: the ratio, and our own time or size; nothing if it could not be measured. */
export function cellOf({ ms, bytes, ratio }: Row): string {
  if (ms === undefined && bytes === undefined) return '';
  const takes = bytes === undefined ? timeOf(ms!) : `${grouped(Math.round(bytes))} B`;
  return ratio === undefined ? takes : `**${ratio.toFixed(2)}** ${takes}`;
}

/** Three significant digits. */
function timeOf(ms: number): string {
  const [value, unit] = ms < 0.9995 ? [1000 * ms, 'µs'] : [ms, 'ms'];
  return `${value < 999.5 ? value.toPrecision(3) : grouped(Math.round(value))} ${unit}`;
}

/**
 * What each of so many takes while all are kept: in V8's heap and in arrays, and of the memory of the process, with the collector's
 * slack.
 */
export function bytesOf(count: number, make: () => unknown): { used: number; rss: number } {
  const { Bun } = globalThis as { Bun?: { gc(isSynchronous: boolean): void } };
  const inUse = () => {
    for (let i = 0; i < 2; i++) Bun === undefined ? globalThis.gc!() : Bun.gc(true);
    const { heapUsed, external, rss } = process.memoryUsage(); // external includes the memory of array buffers
    return { used: heapUsed + external, rss };
  };
  for (let i = 0; i < 1000; i++) make(); // compiled, and its shapes made
  const kept: unknown[] = new Array(count).fill(null);
  const before = inUse();
  for (let i = 0; i < count; i++) kept[i] = make();
  const after = inUse();
  return { used: (after.used - before.used) / kept.length, rss: (after.rss - before.rss) / kept.length };
}
