/**
 * Draws what `evidence/mcu/run` counted: docs/evidence/mcu.svg, the tables of docs/evidence/mcu.md, and the first two of docs/reference/devices.md.
 *
 *     evidence/mcu/run --least --json > mcu.json
 *     node --import tsx evidence/mcu/draw.ts mcu.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { grouped } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { escaped, STYLE, WIDTH } from '../../tools/svg.ts';
import type { Report } from './main.ts';

const { measured, versions, rows, shares, least } = JSON.parse(
  readFileSync(process.argv[2]!, 'utf8'),
) as Report;
const DOCS = new URL('../../docs/evidence/', import.meta.url);
const MILLION = 1e6;

/** Millions of instructions of a row. */
const of = (what: string): number => rows.find((row) => row.what === what)!.instructions / MILLION;

const allOf = (pattern: string): number =>
  of(pattern === 'XXpsk2' ? 'XXpsk2: all of a first contact' : 'KKpsk0: all of a reconnect');

/** The parts of a connection now, and in commit 4ffe005, before cryptography was made for interpreters and keys ahead of time. */
const PARTS = ['the constructor, before it is connected', 'HELLO and offer', 'message 2'];
const partsOf = (pattern: string): number[] => [
  of(`${pattern}: new ClientSession`),
  of(`${pattern}: HELLO`) + of(`${pattern}: offer, to message 1`),
  of(`${pattern}: message 2, to ready`),
];
const BARS: readonly (readonly [name: string, parts: readonly number[]])[] = [
  ['first contact, before', [1.01, 79.27, 194.9]],
  ['first contact', partsOf('XXpsk2')],
  ['reconnect, before', [1.01, 184.88, 121.18]],
  ['reconnect', partsOf('KKpsk0')],
];

function bars(): string {
  const [left, right, top, height] = [164, 56, 70, 34];
  const longest = 350;
  const width = (value: number): number => Math.round((value / longest) * (WIDTH - left - right) * 10) / 10;
  const bottom = top + BARS.length * height;
  const parts = [`<text class="title" x="16" y="24">Millions of instructions of a connection</text>`];
  let legend = 16;
  for (const [i, name] of PARTS.entries()) {
    parts.push(`<rect class="d${i}" x="${legend}" y="40" width="12" height="12"/>`);
    parts.push(`<text x="${legend + 18}" y="51">${escaped(name)}</text>`);
    legend += 44 + 7 * name.length;
  }
  for (let tick = 0; tick <= longest; tick += 50) {
    const x = left + width(tick);
    parts.push(`<path class="grid" d="M${x} ${top}V${bottom}"/>`);
    parts.push(`<text x="${x}" y="${bottom + 20}" text-anchor="middle">${tick}</text>`);
  }
  for (const [i, [name, values]] of BARS.entries()) {
    const y = top + i * height + 6;
    parts.push(`<text x="${left - 10}" y="${y + 16}" text-anchor="end">${escaped(name)}</text>`);
    let x = left;
    for (const [j, value] of values.entries()) {
      parts.push(`<rect class="d${j}" x="${x}" y="${y}" width="${width(value)}" height="22"/>`);
      x += width(value);
    }
    const sum = values.reduce((total, value) => total + value, 0);
    parts.push(`<text x="${x + 6}" y="${y + 16}">${sum.toFixed(0)}</text>`);
  }
  const all = bottom + 36;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${all}" width="${WIDTH}" height="${all}" role="img">
<title>Millions of instructions of a connection</title>
<style>${STYLE}</style>
<rect class="back" width="${WIDTH}" height="${all}"/>
${parts.join('\n')}
</svg>
`;
}

const markdown = (lines: readonly (readonly (string | number)[])[]): string =>
  lines.map((line) => `| ${line.join(' | ')} |`).join('\n');

const counted = markdown([
  ['step', 'million instructions', 'budget', 'live after it, bytes', 'stack, bytes', 'C stack, bytes'],
  ['---', '---', '---', '---', '---', '---'],
  ...rows.map(({ what, instructions, budget, step }) => [
    what,
    (instructions / MILLION).toFixed(2),
    budget === undefined ? '' : budget / MILLION,
    step ? grouped(16 * step.slots + step.chunks) : '',
    step ? grouped(step.stack) : '',
    step ? grouped(step.cStack) : '',
  ]),
]);

/** Boards by name: megahertz, and between how many cycles an instruction of the emulated one probably takes there. */
const BOARDS: readonly (readonly [name: string, megahertz: number, low: number, high: number])[] = [
  ['STM32F4, 168 MHz', 168, 1.2, 2],
  ['ESP32, 240 MHz', 240, 1.5, 3],
  ['RP2040, 133 MHz', 133, 2, 4],
];
const TIMED = [
  'XXpsk2: from the offer to message 3',
  'XXpsk2: all of a first contact',
  'KKpsk0: while the hub waits',
  'KKpsk0: all of a reconnect',
  'the longest call of a paced session',
  '64 bytes sent',
  '1024 bytes sent',
  '16000 bytes sent',
];
function time(instructions: number, [, megahertz, low, high]: (typeof BOARDS)[number]): string {
  const seconds = [low, high].map((cycles) => (instructions * cycles) / megahertz);
  return seconds[0]! < 0.1
    ? `${seconds.map((each) => (1000 * each).toFixed(0)).join(' to ')} ms`
    : `${seconds.map((each) => each.toFixed(1)).join(' to ')} s`;
}
const times = markdown([
  ['estimated', ...BOARDS.map(([name]) => name)],
  ['---', ...BOARDS.map(() => '---')],
  ['cycles for an instruction', ...BOARDS.map(([, , low, high]) => `${low} to ${high}`)],
  ...TIMED.map((what) => [what, ...BOARDS.map((board) => time(of(what), board))]),
]);

const memory = markdown([
  [
    'first contact, reconnect, and messages up to',
    'chunks',
    'slots',
    'heap',
    'stack',
    'heap and stack',
    'C stack',
    'first contact',
    'reconnect',
  ],
  Array.from({ length: 9 }, () => '---'),
  ...least.map(({ lengths, chunks, slots, stack, cStack, first, again }) => [
    `${grouped(lengths[lengths.length - 1]!)} bytes`,
    grouped(chunks),
    slots,
    grouped(chunks + 16 * slots),
    grouped(stack),
    grouped(chunks + 16 * slots + stack),
    grouped(cStack),
    `${(first / MILLION).toFixed(0)} M`,
    `${(again / MILLION).toFixed(0)} M`,
  ]),
]);

const shared = markdown([
  ['part', 'calls', 'first contact', '', 'calls', 'reconnect', ''],
  ['---', '---:', '---:', '---:', '---:', '---:', '---:'],
  ...shares
    .filter(({ connection }) => connection === 'XXpsk2')
    .map((first) => {
      const again = shares.find(({ connection, part }) => connection === 'KKpsk0' && part === first.part)!;
      return [
        first.part,
        ...[first, again].flatMap(({ connection, calls, instructions }) => [
          calls || '',
          (instructions / MILLION).toFixed(1),
          `${Math.round((100 * instructions) / MILLION / allOf(connection))} %`,
        ]),
      ];
    }),
]);

const parts = { versions: `Counted with ${versions}.`, counted, shared, times, memory };
writeMeasured('docs/evidence/mcu.md', parts, measured);

/** Who provides what, and the rows that begin and end so. */
const PROVIDERS: readonly (readonly [name: string, rows: string])[] = [
  ['`deviceCrypto`', ''],
  ['with the chip’s SHA-256', ' with hashes'],
  ['with its X25519 too', ' with hashes and X25519'],
];
const small = least[0]!;
const ram = `${Math.ceil((small.chunks + 16 * small.slots + small.stack) / 1024)} KB`;
const boards = markdown([
  ['board', 'cryptography', 'first contact', 'reconnect', '64 bytes sent', '1 KiB sent', 'RAM'],
  Array.from({ length: 7 }, () => '---'),
  ...BOARDS.flatMap((board) =>
    PROVIDERS.map(([name, rows], i) => [
      i === 0 ? board[0] : '',
      name,
      time(of(`XXpsk2${rows}: from the offer to message 3`), board),
      time(of(`KKpsk0${rows}: all of a reconnect`), board),
      ...(i === 0
        ? [time(of('64 bytes sent'), board), time(of('1024 bytes sent'), board), ram]
        : ['', '', '']),
    ]),
  ),
]);

/** What a watchdog sees: a call and its row. The last one is in proportion to the one before it. */
const CALLS: readonly (readonly [call: string, row: string, times?: number])[] = [
  ['a step of a paced handshake', 'the longest call of a paced session'],
  ['the rest of a handshake that is not paced', 'XXpsk2: message 2, to ready'],
  ...[1000, 5106, 16_000].flatMap((length) =>
    (['sent', 'received'] as const).map(
      (way) => [`JSON of ${grouped(length)} characters ${way}`, `${length} characters ${way}`] as const,
    ),
  ),
  ['16,000 bytes sent or received', '16000 bytes sent'],
  [
    'a transport message of 65,535 bytes received, even if it is then dropped',
    '16000 bytes received',
    65_535 / 16_000,
  ],
];
const watchdog = markdown([
  ['call', 'million instructions', ...BOARDS.map(([name]) => name)],
  ['---', '---', ...BOARDS.map(() => '---')],
  ...CALLS.map(([call, row, times = 1]) => {
    const instructions = of(row) * times;
    const count = instructions.toFixed(instructions < 10 ? 1 : 0);
    return [call, count, ...BOARDS.map((board) => time(instructions, board))];
  }),
]);
writeMeasured('docs/reference/devices.md', { boards, watchdog }, measured);
writeFileSync(new URL('mcu.svg', DOCS), bars());
