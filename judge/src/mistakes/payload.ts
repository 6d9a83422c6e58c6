/** The payload of a handshake message: its length is visible whatever the keys are. */
import type { Causes } from '../verdict.ts';

const TAG = 16; // bytes: a difference of this length is more likely a tag than a payload

/** The excess length of a message in hexadecimal, in bytes, if it can be its payload; else 0. */
export function excessOf(right: string, got: string): number {
  const excess = (got.length - right.length) / 2;
  return /^(?:[\da-f]{2})*$/.test(got) && excess % TAG !== 0 ? excess : 0;
}

/** The mistakes that show in the length of a message whose payload was given, in bytes. */
export function mistakesInPayload(right: string, got: string, length: number): Causes {
  const excess = excessOf(right, got);
  if (excess === 0 || length + excess < 0) return [];
  return [
    length + excess === 0
      ? 'payload: it is left out; a handshake message ends with it'
      : 'payload: it is not the given one, since its length differs',
  ];
}
