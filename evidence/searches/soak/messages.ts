/** Numbered messages of random sizes. Both ends know what each number stands for, so nothing can be lost, changed or swapped unseen. */
import { Random } from '../../../test/world/random.ts';

export type Sender = 'client' | 'hub';

/** A message to send: a JSON text, or bytes. */
export type Message = string | Uint8Array;

const LONGEST = 200_000;
const POOL = Buffer.from(new Random(1).bytes(2 * LONGEST));
const LETTERS = POOL.toString('base64');

/** Mostly some hundred bytes, one in ten up to 4 KB, one in a hundred up to 200 KB, which takes several frames. */
function sizeOf(mixed: number): number {
  const size = mixed >>> 8;
  if (mixed % 100 === 0) return size % LONGEST;
  return size % (mixed % 10 === 0 ? 4096 : 256);
}

export function messageOf(from: Sender, number: number): Message {
  let mixed = Math.imul(2 * number + (from === 'hub' ? 1 : 0) + 0x9e3779b9, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = (mixed ^ (mixed >>> 13)) >>> 0;
  const size = sizeOf(mixed);
  const start = mixed % LONGEST;
  if (number % 2 === 0)
    return `{"from":"${from}","n":${number},"text":"${LETTERS.slice(start, start + size)}"}`;
  return Buffer.concat([Buffer.from(`${from} ${number} `), POOL.subarray(start, start + size)]);
}

/** Throws unless this is the message of that number. */
export function check(message: Message, from: Sender, number: number): void {
  const expected = messageOf(from, number);
  const isSame =
    typeof message === 'string' || typeof expected === 'string'
      ? message === expected
      : Buffer.compare(message, expected) === 0;
  if (!isSame) throw new Error(`message ${number} of the ${from} did not arrive as it was sent`);
}
