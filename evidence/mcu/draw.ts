/** Writes what `evidence/mcu/run` counted into docs/evidence/mcu.md, and the first two tables of docs/reference/devices.md. */
import { grouped, table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import type { Memory, Step } from './machine.ts';

export interface Row {
  readonly what: string;
  readonly instructions: number;
  /** What a change may not exceed. */
  readonly budget?: number | undefined;
  readonly step?: Step;
}

/** The least memory in which both handshakes and messages of these lengths succeed. */
export interface Least extends Memory {
  readonly lengths: readonly number[];
  /** Bytes of XS's stack, and of C's. */
  readonly stack: number;
  readonly cStack: number;
  /** Of a first contact and of a reconnect, with all that the garbage collector takes. */
  readonly first: number;
  readonly again: number;
}

const MILLION = 1e6;

/** Boards by name: megahertz, and between how many cycles an instruction of the emulated one probably takes there. */
const BOARDS: readonly (readonly [name: string, megahertz: number, low: number, high: number])[] = [
  ['STM32F4, 168 MHz', 168, 1.2, 2],
  ['ESP32, 240 MHz', 240, 1.5, 3],
  ['RP2040, 133 MHz', 133, 2, 4],
];
function time(instructions: number, [, megahertz, low, high]: (typeof BOARDS)[number]): string {
  const seconds = [low, high].map((cycles) => (instructions * cycles) / megahertz);
  return seconds[0]! < 0.1
    ? `${seconds.map((each) => (1000 * each).toFixed(0)).join(' to ')} ms`
    : `${seconds.map((each) => each.toFixed(1)).join(' to ')} s`;
}
/** Who provides what, and the rows that begin and end so. */
const PROVIDERS: readonly (readonly [name: string, rows: string])[] = [
  ['`deviceCrypto`', ''],
  ['with the chip’s SHA-256', ' with hashes'],
  ['with its X25519 too', ' with hashes and X25519'],
];
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

/** @param least - for short messages, and for long ones */
export function draw(versions: string, rows: readonly Row[], least: readonly Least[]): void {
  /** Millions of instructions of a row. */
  const of = (what: string): number => rows.find((row) => row.what === what)!.instructions / MILLION;
  const counted = table(
    ['step', 'million instructions', 'budget', 'live after it, bytes', 'stack, bytes', 'C stack, bytes'],
    rows.map(({ what, instructions, budget, step }) => [
      what,
      (instructions / MILLION).toFixed(2),
      budget === undefined ? '' : String(budget / MILLION),
      step ? grouped(16 * step.slots + step.chunks) : '',
      step ? grouped(step.stack) : '',
      step ? grouped(step.cStack) : '',
    ]),
  );
  const what = 'first contact, reconnect, and messages up to';
  const memory = table(
    [what, 'chunks', 'slots', 'heap', 'stack', 'heap and stack', 'C stack', 'first contact', 'reconnect'],
    least.map(({ lengths, chunks, slots, stack, cStack, first, again }) => [
      `${grouped(lengths[lengths.length - 1]!)} bytes`,
      ...[chunks, slots, chunks + 16 * slots, stack, chunks + 16 * slots + stack, cStack].map(grouped),
      `${(first / MILLION).toFixed(0)} M`,
      `${(again / MILLION).toFixed(0)} M`,
    ]),
  );
  writeMeasured('docs/evidence/mcu.md', { versions: `Counted with ${versions}.`, counted, memory });
  const { chunks, slots, stack } = least[0]!;
  const ram = `${Math.ceil((chunks + 16 * slots + stack) / 1024)} KB`;
  const boards = table(
    ['board', 'cryptography', 'first contact', 'reconnect', '64 bytes sent', '1 KiB sent', 'RAM'],
    BOARDS.flatMap((board) =>
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
  );
  const watchdog = table(
    ['call', 'million instructions', ...BOARDS.map(([name]) => name)],
    CALLS.map(([call, row, times = 1]) => {
      const instructions = of(row) * times;
      const count = instructions.toFixed(instructions < 10 ? 1 : 0);
      return [call, count, ...BOARDS.map((board) => time(instructions, board))];
    }),
  );
  writeMeasured('docs/reference/devices.md', { boards, watchdog });
}
