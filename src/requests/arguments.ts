/** Checks what callers pass to requests and replies. */
import { assertString, kindOf } from '../bytes.ts';
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

/**
 * Checks that an argument is a finite number: a time in milliseconds.
 * @returns the number itself
 * @throws LocalError `bad-argument`
 */
export function assertTime(value: unknown, name: string): number {
  if (typeof value === 'number' && isFinite(value)) return value;
  throw new LocalError('bad-argument', `"${name}" expected milliseconds, got ${kindOf(value)}`);
}
