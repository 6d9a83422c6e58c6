/** The cleartext ephemeral public key at the start of a handshake message. No mistake in Noise itself changes it. */
import type { Causes } from '../verdict.ts';

const KEY_DIGITS = 64;

const GIVEN =
  'ephemeral key: it is not the given one; the adapter hands ephemeralKey to the implementation, whose random bytes it may be';
const REVERSED = 'ephemeral key: its bytes are in reverse order';

/**
 * The mistakes in the key of a message.
 * @param right - the correct message in hexadecimal
 * @param got - the message that was written
 */
export function mistakesInEphemeralKey(right: string, got: string): Causes {
  const [key, other] = [right, got].map((digits) => digits.slice(0, KEY_DIGITS)) as [string, string];
  if (key === other || got.length !== right.length) return [];
  return [other === key.match(/../g)!.reverse().join('') ? REVERSED : GIVEN];
}
