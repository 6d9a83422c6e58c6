/**
 * White space in the strings of requests and replies: U+0009 to U+000D, the space, and the no-break space. The set is
 * fixed here because programming languages disagree about the rest.
 */
import { assertString } from '../arguments.ts';
import * as errors from '../errors-table.ts';

/** Replaces each run of white space by one space, and removes it at both ends. */
export function collapse(string: string): string {
  return string.replace(/[\t-\r \u00a0]+/g, ' ').replace(/^ | $/g, '');
}

/** Whether a string is empty or only white space. */
export function isBlank(string: string): boolean {
  return collapse(string) === '';
}

/**
 * Checks that an argument is a string that is not blank.
 * @returns the string itself
 * @throws LocalError `bad-argument`
 */
export function assertNotBlank(value: unknown, name: string): string {
  assertString(value, name);
  if (isBlank(value)) {
    throw errors.expected(name, 'more than white space');
  }
  return value;
}
