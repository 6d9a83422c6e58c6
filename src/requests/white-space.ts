/**
 * White space in the texts of requests and replies: U+0009 to U+000D, the space and the no-break space. It is listed
 * here because languages differ in what else they count as such.
 */
import { assertString } from '../bytes.ts';
import { LocalError } from '../errors.ts';

const WHITE_SPACE = /[\t-\r \u00a0]+/g;

/** Each run of white space as one space, and none at the ends. */
export function collapse(text: string): string {
  return text.replace(WHITE_SPACE, ' ').replace(/^ | $/g, '');
}

/** Whether there is nothing but white space. */
export function isBlank(text: string): boolean {
  return collapse(text) === '';
}

/**
 * The same text, once it is seen to hold more than white space.
 * @throws LocalError `bad-argument`
 */
export function notBlank(value: unknown, name: string): string {
  assertString(value, name);
  if (isBlank(value)) throw new LocalError('bad-argument', `"${name}" expected more than white space`);
  return value;
}
