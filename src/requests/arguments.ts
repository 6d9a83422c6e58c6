/** Checks of what callers pass. Whatever they pass, the result is a value or a LocalError. */
import { assertString, kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { isBlank } from './white-space.ts';

/**
 * Runs code that reads an argument. Getters that throw and revoked proxies are the caller's mistake like any other.
 * @throws LocalError `bad-argument` where the code throws anything else
 */
export function readArgument<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError('bad-argument', `"${name}" cannot be read: pass a plain object`, error);
  }
}

/** @throws LocalError `bad-argument` for anything but an object */
export function assertObject(value: unknown, name: string): asserts value is JsonObject {
  if (!isJsonObject(value)) {
    throw new LocalError('bad-argument', `"${name}" expected an object, got ${kindOf(value)}`);
  }
}

/**
 * Reads options from an object that may have these and no others, so that a misspelt one is not ignored.
 * @throws LocalError `bad-argument`
 */
export function readOptions(
  options: unknown,
  name: string,
  known: readonly string[],
): { readonly [option: string]: unknown } {
  return readArgument(name, () => {
    assertObject(options, name);
    const given = Object.keys(options);
    for (let i = 0; i < given.length; i++) {
      if (known.indexOf(given[i]!) < 0) {
        throw new LocalError(
          'bad-argument',
          `"${name}" has no option "${given[i]}": use ${known.join(', ')}`,
        );
      }
    }
    const values: { [option: string]: unknown } = {};
    for (let i = 0; i < known.length; i++) values[known[i]!] = options[known[i]!];
    return values;
  });
}

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
