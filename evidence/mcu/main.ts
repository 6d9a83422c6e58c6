/**
 * What `hub-protocol.js` takes of a microcontroller: instructions, memory and stacks, in XS on an emulated Cortex-M4 without
 * floating point. They are the same on every machine and in every run. Fails if a step exceeds its budget.
 *
 *     evidence/mcu/run              some ten seconds, once everything is installed
 *     evidence/mcu/run --least      looks for the least memory, too, for some minutes
 *     evidence/mcu/run --file FILE  another build of hub-protocol.js
 *     evidence/mcu/run --write      looks for it, and writes all into docs/evidence/mcu.md and docs/reference/devices.md
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createKeyring, serializeKeyring, storePsk, updateKeyring } from '../../dist/index.js';
import { hex, Peer } from '../devices/peer.ts';
import { draw, type Least, type Row } from './draw.ts';
import { type Memory, type Recorded, runMachine, type Step } from './machine.ts';

const MILLION = 1e6;
/** Millions of instructions, some 3 % above what was measured. */
const BUDGETS: { readonly [row: string]: number } = {
  'XXpsk2: new ClientSession': 16.5,
  'XXpsk2: HELLO': 1.2,
  'XXpsk2: from the offer to message 3': 130,
  'KKpsk0: new ClientSession': 49.5,
  'KKpsk0: while the hub waits': 108.5,
  'KKpsk0: all of a reconnect': 157.5,
  'XXpsk2 with hashes: from the offer to message 3': 67,
  'KKpsk0 with hashes: all of a reconnect': 95,
  'XXpsk2 with hashes and X25519: from the offer to message 3': 16.5,
  'KKpsk0 with hashes and X25519: all of a reconnect': 14,
  '64 bytes sent': 1,
  '64 bytes received': 1.05,
  '1024 bytes sent': 4.8,
  '1024 bytes received': 4.8,
  '16000 bytes sent': 70,
  '16000 bytes received': 69,
  '1000 characters sent': 7.1,
  '1000 characters received': 7.4,
  '5106 characters sent': 45.5,
  '5106 characters received': 36.2,
  '16000 characters sent': 145,
  '16000 characters received': 113,
  'parseJson, 778 bytes': 6.4,
  'canonicalJson, 778 bytes': 3.55,
  parseKeyring: 4.5,
  serializeKeyring: 3.2,
  'the longest call of a paced session': 16.5,
};
/** In which both handshakes and messages of up to 1 KiB succeed: 22 KB, with a stack of 7 KB. */
const MEMORY: Memory = { chunks: 5696, slots: 612 };
const SMALL = [64, 1024];
const LARGE = [64, 1024, 16_000];
/** Of JSON, in characters: 5,106 is the longest utterance. */
const JSON_LENGTHS = [1000, 5106, 16_000];

const { values } = parseArgs({
  options: {
    file: { type: 'string', default: fileURLToPath(new URL('../../dist/hub-protocol.js', import.meta.url)) },
    least: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

/** A first contact and a reconnect, with binary messages of these lengths each way, and JSON. */
function connections(
  lengths: readonly number[],
  isPaced = false,
  jsonLengths: readonly number[] = [],
): Recorded['connections'] {
  return (['XXpsk2', 'KKpsk0'] as const).map((pattern) => {
    const peer = new Peer(pattern);
    return {
      name: isPaced ? `${pattern}, paced` : pattern,
      isPaced,
      ...peer.transcript(),
      messages: [
        ...lengths.map((length) => ({ length, sealed: peer.binary(length).map(hex).join('') })),
        ...jsonLengths.map((length) => ({
          length,
          sealed: peer.json(1, length).map(hex).join(''),
          isJson: true,
        })),
      ],
    };
  });
}

/** A keyring with a hub's pin and PSK. */
function keyring(): string {
  const bytes = (value: number): Uint8Array => new Uint8Array(32).fill(value);
  const pair = { privateKey: bytes(1), publicKey: bytes(2) };
  const empty = createKeyring({ accessKey: 'lobby', staticKey: pair });
  const pinned = updateKeyring(empty, { type: 'pin', nodeId: 'hub-1', key: new Uint8Array(32).fill(3) });
  return serializeKeyring(storePsk(pinned, 'hub-1', bytes(4)));
}

/** JSON of about 1 KiB. */
const LARGER_JSON = JSON.stringify(
  Array.from({ length: 12 }, (_, i) => ({
    id: i,
    room: 'kitchen',
    on: i % 2 === 0,
    level: i * 10,
    tags: ['a', 'b'],
  })),
);

/** The instructions of the steps whose names start so. */
const sumOf = (steps: readonly Step[], ...starts: string[]): number =>
  steps
    .filter(({ step }) => starts.some((start) => step.startsWith(start)))
    .reduce((sum, { instructions }) => sum + instructions, 0);

async function measure(): Promise<Row[]> {
  const unpaced = connections(LARGE, false, JSON_LENGTHS);
  const recorded: Recorded = {
    connections: [...unpaced, ...connections([], true)],
    counted: connections([]),
    json: { HELLO: unpaced[0]!.hello, [`${LARGER_JSON.length} bytes`]: LARGER_JSON },
    accessKey: 'lobby',
    keyring: keyring(),
  };
  const steps = await runMachine(values.file, recorded);
  if (typeof steps === 'string') throw new Error(`the machine says: ${steps}`);
  const sum = (...starts: string[]): number => sumOf(steps, ...starts);
  const paced = steps.filter(({ step }) => step.includes('paced'));
  const inside = steps.filter(({ step }) => step.includes(' with '));
  const longest = paced.reduce((most, step) => (step.instructions > most.instructions ? step : most));
  const rows: Row[] = [];
  const add = (what: string, instructions: number, step?: Step): void => {
    const budget = BUDGETS[what];
    rows.push({ what, instructions, budget: budget && budget * MILLION, ...(step && { step }) });
  };
  const seen = new Set<string>();
  for (const step of steps) {
    if (paced.includes(step) || inside.includes(step) || seen.has(step.step)) continue;
    seen.add(step.step);
    add(step.step, step.instructions, step);
  }
  add('XXpsk2: from the offer to message 3', sum('XXpsk2: offer', 'XXpsk2: message 2'));
  add('XXpsk2: all of a first contact', sum('XXpsk2:'));
  add('KKpsk0: while the hub waits', sum('KKpsk0: HELLO', 'KKpsk0: offer', 'KKpsk0: message 2'));
  add('KKpsk0: all of a reconnect', sum('KKpsk0:'));
  for (const chip of ['hashes', 'hashes and X25519']) {
    const first = `XXpsk2 with ${chip}`;
    add(`${first}: from the offer to message 3`, sum(`${first}: offer`, `${first}: message 2`));
    add(`KKpsk0 with ${chip}: all of a reconnect`, sum(`KKpsk0 with ${chip}:`));
  }
  add('the longest call of a paced session', longest.instructions, longest);
  return rows;
}

/** What the two handshakes and messages take in so much memory; `undefined` if it is not enough. */
async function within(memory: Memory, lengths: readonly number[]): Promise<Least | undefined> {
  const steps = await runMachine(values.file, { connections: connections(lengths), json: {} }, memory);
  if (typeof steps === 'string') return undefined;
  const measured = steps.filter(({ step }) => step !== 'load from source');
  return {
    ...memory,
    lengths,
    stack: Math.max(...measured.map(({ stack }) => stack)),
    cStack: Math.max(...measured.map(({ cStack }) => cStack)),
    first: sumOf(steps, 'XXpsk2:'),
    again: sumOf(steps, 'KKpsk0:'),
  };
}

/** The least number up to `most`, in steps, for which the test succeeds. */
async function leastOf(
  most: number,
  by: number,
  succeeds: (number: number) => Promise<boolean>,
): Promise<number> {
  let low = 0;
  let high = Math.ceil(most / by);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (await succeeds(middle * by)) high = middle;
    else low = middle;
  }
  return high * by;
}

/** The least memory: of chunks with slots enough, of slots with chunks enough, then both. */
async function least(lengths: readonly number[], most: Memory): Promise<Least> {
  const enough = async (memory: Memory): Promise<boolean> => (await within(memory, lengths)) !== undefined;
  const [chunks, slots] = await Promise.all([
    leastOf(most.chunks, 64, (chunks) => enough({ chunks, slots: most.slots })),
    leastOf(most.slots, 4, (slots) => enough({ chunks: most.chunks, slots })),
  ]);
  for (let more = 0; ; more += 64) {
    const found = await within({ chunks: chunks + more, slots }, lengths);
    if (found !== undefined) return found;
  }
}

const version = (command: string, ...options: string[]): string =>
  /\d+\.\d+\.\d+/.exec(execFileSync(command, options, { encoding: 'utf8' }))![0];
const xsnap = JSON.parse(
  readFileSync(
    new URL('../../test/engines/node_modules/@agoric/xsnap/package.json', import.meta.url),
    'utf8',
  ),
) as { version: string };
const versions = `XS 13.3 (npm @agoric/xsnap ${xsnap.version}), gcc ${version('arm-none-eabi-gcc', '-dumpfullversion')} -O2, QEMU ${version('qemu-system-arm', '--version')}`;
const line = (what: string, cells: readonly (string | number)[], verdict = ''): void =>
  console.log(`${what.padEnd(44)}${cells.map((cell) => String(cell).padStart(12)).join('')}  ${verdict}`);
const millions = (instructions: number): string => (instructions / MILLION).toFixed(2);

console.log(
  `${versions}. This takes ${values.least || values.write ? 'some minutes' : 'about ten seconds'}.\n`,
);
const rows = await measure();
line('', ['M instr.', 'live slots', 'chunks', 'stack', 'C stack']);
for (const { what, instructions, budget, step } of rows) {
  const isOver = budget !== undefined && instructions > budget;
  if (isOver) process.exitCode = 1;
  line(
    what,
    [millions(instructions), step?.slots ?? '', step?.chunks ?? '', step?.stack ?? '', step?.cStack ?? ''],
    budget === undefined ? '' : `${isOver ? 'TOO MUCH' : 'at most'} ${budget / MILLION}`,
  );
}
const fitting = await within(MEMORY, SMALL);
const bytes = MEMORY.chunks + 16 * MEMORY.slots;
console.log(
  `\nBoth handshakes and messages of up to 1 KiB, in ${bytes} bytes of heap: ${fitting ? 'they fit' : 'THEY DO NOT FIT'}`,
);
if (fitting === undefined) process.exitCode = 1;
const found: Least[] =
  values.least || values.write
    ? [
        await least(SMALL, { chunks: 16_384, slots: 1024 }),
        await least(LARGE, { chunks: 65_536, slots: 1024 }),
      ]
    : [];
for (const { lengths, chunks, slots, stack, cStack, first, again } of found) {
  console.log(
    `  up to ${lengths[lengths.length - 1]} bytes: ${chunks} of chunks + ${slots} slots = ${chunks + 16 * slots}, stack ${stack}, C stack ${cStack}; ` +
      `first contact ${millions(first)}, reconnect ${millions(again)} M instructions`,
  );
}
if (values.write) draw(versions, rows, found);
