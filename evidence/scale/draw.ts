/**
 * Draws what `evidence/scale/run` measured: the curves in docs/evidence/, and the tables of docs/evidence/scale.md.
 *
 *     evidence/scale/run --json > bench.json
 *     node --import tsx evidence/scale/draw.ts bench.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { writeMeasured } from '../../tools/measured.ts';
import { type Axis, type Series, svg } from '../../tools/svg.ts';
import type { Report } from './main.ts';
import { COLUMNS, cells, type Row } from './rows.ts';

const report = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Report;
const DOCS = new URL('../../docs/evidence/', import.meta.url);

/** The benchmarks that are curves, and do not stand in the table. */
const CURVES = ['message size', 'sessions in one process'];

const rowsOf = (name: string): readonly Row[] => report.benchmarks.find((each) => each.name === name)!.rows;
const rows: readonly Row[] = report.benchmarks.flatMap((each) => each.rows);
const rowOf = (what: string): Row => rows.find((row) => row.what === what)!;

const KIB = 1024;
const lengths: Axis = {
  label: 'length of the message',
  isLogarithmic: true,
  ticks: [
    [64, '64 B'],
    [KIB, '1 KiB'],
    [16 * KIB, '16 KiB'],
    [256 * KIB, '256 KiB'],
    [4 * KIB * KIB, '4 MiB'],
    [32 * KIB * KIB, '32 MiB'],
  ],
};
const counts: Axis = {
  label: 'sessions in one process',
  isLogarithmic: true,
  ticks: [1, 10, 100, 1000, 10_000].map((count) => [count, count.toLocaleString('en')]),
};

/** An axis from 0 to the least round number above all points. */
function upTo(label: string, series: readonly Series[]): Axis {
  const highest = Math.max(...series.flatMap(({ points }) => points.map(([, y]) => y)));
  const step = [1, 2, 2.5, 5, 10].map((unit) => unit * 10 ** Math.floor(Math.log10(highest / 2)));
  const least = step.find((each) => 5 * each >= highest)!;
  const ticks = Array.from({ length: Math.ceil(highest / least) + 1 }, (_, i) => i * least);
  return { label, isLogarithmic: false, ticks: ticks.map((tick) => [tick, tick.toLocaleString('en')]) };
}

const megabytes = (x: number, ms: number): number => x / 1e6 / (ms / 1000);
const bySize = rowsOf('message size').map(({ x, ms, besideMs }) => [x!, ms!, besideMs!] as const);
const throughput: Series[] = [
  { name: 'client to hub, whole sessions', points: bySize.map(([x, ms]) => [x, megabytes(x, ms)]) },
  { name: 'raw node:crypto: seal and open', points: bySize.map(([x, , ms]) => [x, megabytes(x, ms)]) },
];
writeFileSync(
  new URL('throughput.svg', DOCS),
  svg([
    {
      title: 'Throughput by message length',
      x: lengths,
      y: {
        label: 'MB a second, one core',
        isLogarithmic: true,
        ticks: [1, 10, 100, 1000].map((tick) => [tick, tick.toLocaleString('en')]),
      },
      series: throughput,
    },
  ]),
);

const byCount = rowsOf('sessions in one process');
const sizes: Series[] = [
  {
    name: 'session of a hub, node provider',
    points: byCount.flatMap(({ x, bytes }) => (bytes === undefined ? [] : [[x!, bytes] as const])),
  },
];
const rates: Series[] = [
  {
    name: 'both ends, KKpsk0',
    points: byCount.flatMap(({ x, ms }) => (ms === undefined ? [] : [[x!, 1000 / ms] as const])),
  },
  {
    name: 'its DHs alone, raw node:crypto',
    points: byCount.flatMap(({ x, besideMs: ms }) => (ms === undefined ? [] : [[x!, 1000 / ms] as const])),
  },
];
writeFileSync(
  new URL('idle-sessions.svg', DOCS),
  svg([
    { title: 'Memory of an idle session', x: counts, y: upTo('bytes a session', sizes), series: sizes },
    {
      title: 'Connections while the others are idle',
      x: counts,
      y: upTo('connections a second, one core', rates),
      series: rates,
    },
  ]),
);

const markdown = (lines: readonly (readonly string[])[]): string =>
  lines.map((line) => `| ${line.join(' | ')} |`).join('\n');

function table(): string {
  const measured = report.benchmarks.filter(({ name }) => !CURVES.includes(name));
  return markdown([COLUMNS, COLUMNS.map(() => '---'), ...measured.flatMap((each) => each.rows.map(cells))]);
}

const number = (value: number): string =>
  value.toLocaleString('en', value < 100 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 });

const MILLION = 1e6;

/** What one core does, and what a million devices need. */
function arithmetic(): { core: string; million: string } {
  const seconds = (what: string): number => rowOf(what).ms! / 1000;
  const connection = seconds('a hub’s half of a connection, KKpsk0');
  const first = seconds('a hub’s half of a connection, XXpsk2');
  const receive = seconds('a hub receives JSON of 1020 bytes');
  const send = seconds('a hub sends JSON of 1020 bytes');
  const derive = seconds('argon2id, 64 MiB, 3 passes');
  const idle = rowOf('an idle session of a hub').bytes!;
  const core = markdown([
    ['', 'symbol', 'takes', 'one core'],
    ['---', '---', '---', '---'],
    ['a reconnect, KKpsk0', '`c`', `${number(1000 * connection)} ms`, `${number(1 / connection)} a second`],
    ['a first contact, XXpsk2', '', `${number(1000 * first)} ms`, `${number(1 / first)} a second`],
    ['1 KB of JSON received', '`r`', `${number(1e6 * receive)} µs`, `${number(1 / receive)} a second`],
    ['1 KB of JSON sent', '`s`', `${number(1e6 * send)} µs`, `${number(1 / send)} a second`],
    ['an idle session', '`b`', `${number(idle)} bytes`, ''],
    ['a PSK derived', '`a`', `${number(1000 * derive)} ms, 64 MiB`, `${number(1 / derive)} a second`],
  ]);
  const million = markdown([
    ['for a million devices', 'formula', ''],
    ['---', '---', '---'],
    ['memory of idle sessions', '`N × b`', `${number((MILLION * idle) / 1e9)} GB`],
    [
      'one message a minute, each way',
      '`N ÷ 60 × (r + s)`',
      `${number((MILLION / 60) * (receive + send))} cores`,
    ],
    ['all reconnect within 10 minutes', '`N × c ÷ 600`', `${number((MILLION * connection) / 600)} cores`],
    ['all reconnect within 1 minute', '`N × c ÷ 60`', `${number((MILLION * connection) / 60)} cores`],
    ['each PSK derived once', '`N × a`', `${number((MILLION * derive) / 3600)} hours of a core`],
  ]);
  return { core, million };
}

const parts = {
  machine: `The machine has ${report.machine}.`,
  ...arithmetic(),
  table: table(),
};
writeMeasured('docs/evidence/scale.md', parts, report.measured);
