/** Reads what callers pass. Whatever they pass, the result is a value or a LocalError. */
import { kindOf } from './bytes.ts';
import { LocalError } from './errors.ts';

/**
 * Runs code that reads an argument. A getter that throws or a revoked proxy is the caller's mistake like any other.
 * @param name - of the argument, for the error message
 * @returns what the code returns
 * @throws LocalError any that the code throws; `bad-argument`, with the error as its cause, for any other error
 */
export function readArgument<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError('bad-argument', `"${name}" cannot be read: pass a plain object`, error);
  }
}

/**
 * Checks that an argument is an object and not an array.
 * @throws LocalError `bad-argument`
 */
export function assertObject(
  value: unknown,
  name: string,
): asserts value is { readonly [field: string]: unknown } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new LocalError('bad-argument', `"${name}" expected object, got ${kindOf(value)}`);
  }
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

/**
 * Reads members that an object need not have, each once. They are the object's own or its class's. A member that all
 * objects inherit is none: whoever can add one to Object.prototype would choose it for every caller.
 */
export function membersOf<Members extends object, Name extends keyof Members & string>(
  object: Members,
  names: readonly Name[],
): Pick<Members, Name> {
  const read = Object.create(null) as Pick<Members, Name>;
  const inherited = Object.prototype as Partial<Members>;
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    const member = object[name];
    if (member !== inherited[name] || Object.prototype.hasOwnProperty.call(object, name)) read[name] = member;
  }
  return read;
}

/** The names of options. The compiler refuses a list that lacks one. */
export type OptionNames<Options> = { readonly [name in keyof Required<Options>]: true };

/**
 * Copies options, so that each is read only once. Unknown options are refused, so that a misspelt one is not ignored.
 * @param name - of the argument, for the error message
 * @param known - the names of all options
 * @throws LocalError `bad-argument`
 */
export function readOptions<Options extends object>(
  options: Options,
  name: string,
  known: OptionNames<Options>,
): Options {
  return readArgument(name, () => {
    assertObject(options, name);
    const copy = Object.create(null) as Options; // in which an option that is not given is undefined, whatever objects inherit
    const given = Object.keys(options) as (keyof Options & string)[];
    for (let i = 0; i < given.length; i++) {
      const option = given[i]!;
      if (!Object.prototype.hasOwnProperty.call(known, option)) {
        throw new LocalError('bad-argument', `"${name}.${option}" is an unknown option`);
      }
      copy[option] = options[option];
    }
    return copy;
  });
}
