/** What is wrong in the head of a binary message, which is not made of whole bytes. */
import type { Fields } from '../adapter.ts';
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';

const PART: readonly (readonly [name: string, bits: number])[] = [
  ['the bit that tells of a version', 1],
  ['the code of the type', 5],
  ['the bit that tells compression', 1],
];

/** The first part of the head that is wrong; none if only what follows it is. */
export function mistakesInBinary(test: Vector, { message: got }: Fields): Causes {
  if (test.error === 'message-too-long' && typeof got === 'string')
    return isInCharacters(test) ? [TOO_LONG, CHARACTERS] : [TOO_LONG];
  const { message: right } = test;
  if (typeof right !== 'string' || typeof got !== 'string') return [];
  const [a, b] = [bitsOf(right), bitsOf(got)];
  const [blank, other] = [a.indexOf('1'), b.indexOf('1')];
  if (other < 0) return [];
  if (blank !== other)
    return [
      `binary: ${other} zeros come before the first bit that is set; ${blank} are due, so that the message ends with a whole byte`,
    ];
  let at = blank + 1;
  for (const [name, bits] of PART) {
    const [due, is] = [a, b].map((text) => Number.parseInt(text.slice(at, at + bits), 2));
    if (due !== is) return [`binary: ${name} is ${is}; it is ${due}`];
    at += bits;
  }
  const length = Number.parseInt(a.slice(at, at + 8), 2);
  return length === Number.parseInt(b.slice(at, at + 8), 2)
    ? []
    : ['binary: the length of the metadata is wrong; it is that of its JSON, in bytes'];
}

const MOST = 255;
const TOO_LONG = 'binary: metadata of more than 255 bytes is written; its length has one byte';
const CHARACTERS =
  'binary: the length of the metadata is counted in characters; it is that of its JSON in UTF-8, at most 255 bytes';

/** Whether the metadata is too long in bytes alone. */
function isInCharacters({ metadata }: Vector): boolean {
  return typeof metadata === 'string' && metadata.length <= MOST;
}

/** Whether refusing this metadata rules out the cause. */
export function refutesBinary(test: Vector, cause: string): boolean {
  if (test.error !== 'message-too-long') return false;
  return cause === TOO_LONG ? !isInCharacters(test) : cause === CHARACTERS && isInCharacters(test);
}

function bitsOf(digits: string): string {
  return digits.replace(/../g, (byte) => Number.parseInt(byte, 16).toString(2).padStart(8, '0'));
}
