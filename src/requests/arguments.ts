/** Checks of what callers pass to requests and replies. */
import { assertString, kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { isBlank } from './white-space.ts';

/**
 * Returns the string itself if it contains more than white space.
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
 * Returns the number itself if it can be a time.
 * @throws LocalError `bad-argument`
 */
export function assertTime(value: unknown, name: string): number {
  if (typeof value === 'number' && isFinite(value)) return value;
  throw new LocalError('bad-argument', `"${name}" expected milliseconds, got ${kindOf(value)}`);
}
