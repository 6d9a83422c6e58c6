/** Checks what callers pass to requests and replies. */
import { assertString } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { isBlank } from './white-space.ts';

/**
 * Checks that an argument is a string with more than white space in it.
 * @returns the string itself
 * @throws LocalError `bad-argument`
 */
export function assertNotBlank(value: unknown, name: string): string {
  assertString(value, name);
  if (isBlank(value)) {
    throw new LocalError('bad-argument', `"${name}" expected more than white space`);
  }
  return value;
}
