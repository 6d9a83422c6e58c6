/** Reads and checks what callers pass. Whatever they pass, the result is a value or a LocalError. */
import { isBytes } from './bytes.ts';
import { LocalError } from './errors.ts';
import * as errors from './errors-table.ts';
import { assertNotFull } from './memory.ts';

/**
 * Runs code that reads an argument. A getter that throws and a revoked proxy are the caller's mistake, like any other.
 * @param name - of the argument, for the error message
 * @returns what the code returns
 * @throws LocalError any that the code throws; `out-of-memory`; `bad-argument`, with the error as its cause, for any other error
 */
export function readArgument<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LocalError) throw error;
    assertNotFull(error);
    throw errors.unreadable(name, error);
  }
}

/**
 * Checks that an argument is bytes.
 * @param length - the length it must have, in bytes (default any)
 * @throws LocalError `bad-argument` for anything but a Uint8Array, and for one whose memory was transferred;
 *   `bad-length` for another length
 */
export function assertBytes(value: unknown, name: string, length?: number): asserts value is Uint8Array {
  if (!isBytes(value)) {
    throw errors.expectedType(name, 'Uint8Array', value);
  }
  if (value.length === 0) {
    try {
      value.subarray(0, 0);
    } catch {
      throw errors.transferred(name);
    }
  }
  if (length !== undefined && value.length !== length) {
    throw errors.expectedBytes(name, length, value);
  }
}

/**
 * Checks that an argument is a string that is not empty.
 * @throws LocalError `bad-argument`
 */
export function assertString(value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string' || value === '') {
    throw errors.expectedString(name, value);
  }
}

/**
 * Checks that an argument is a boolean or not given.
 * @returns the boolean, false by default
 * @throws LocalError `bad-argument`
 */
export function assertFlag(value: unknown, name: string): boolean {
  if (value !== undefined && typeof value !== 'boolean') {
    throw errors.expectedType(name, 'boolean', value);
  }
  return value ?? false;
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
    throw errors.expectedType(name, 'object', value);
  }
}

/**
 * Checks that an argument is a finite number: a time in milliseconds.
 * @returns the number itself
 * @throws LocalError `bad-argument`
 */
export function assertTime(value: unknown, name: string): number {
  if (typeof value === 'number' && isFinite(value)) return value;
  throw errors.expectedType(name, 'milliseconds', value);
}

/** The longest time to wait that an option may name, a day: timers take no more than 25. */
const DAY = 86400000;

/**
 * Checks that an option is a time to wait: in milliseconds, greater than 0 and at most a day.
 * @returns the number itself
 * @throws LocalError `bad-argument`
 */
export function assertWait(value: unknown, name: string): number {
  const time = assertTime(value, name);
  if (!(time > 0 && time <= DAY)) {
    throw errors.expected(name, 'more than 0 and at most a day');
  }
  return time;
}

/**
 * Checks that an argument is an integer within limits.
 * @throws LocalError `bad-argument`
 */
export function assertInteger(value: unknown, name: string, least: number, most: number): void {
  if (typeof value !== 'number' || Math.floor(value) !== value || value < least || value > most) {
    throw errors.expectedInteger(name, least, most, value);
  }
}

/**
 * Checks that an option is a number of bytes.
 * @param most - the largest that is allowed, which is the default
 * @returns the number
 * @throws LocalError `bad-argument`
 */
export function assertSize(value: unknown, name: string, most: number): number {
  if (value === undefined) return most;
  if (typeof value === 'number' && value >= 0 && value <= most) return value;
  throw errors.expectedSize(name, most);
}

/**
 * Checks that an option is one of a few strings.
 * @returns the string, by default the first
 * @throws LocalError `bad-argument`
 */
export function assertChoice<Choice extends string>(
  value: Choice | undefined,
  name: string,
  choices: readonly Choice[],
): Choice {
  if (value === undefined) return choices[0]!;
  if (choices.indexOf(value) < 0) {
    throw errors.expectedChoice(name, choices);
  }
  return value;
}

/**
 * Checks that an argument is a function.
 * @throws LocalError `bad-argument`
 */
export function assertFunction(value: unknown, name: string): void {
  if (typeof value !== 'function') {
    throw errors.expectedType(name, 'function', value);
  }
}

/**
 * Checks that an argument is an object with these functions.
 * @param required - the names of the functions that it must have
 * @param optional - the names of those that it may have
 * @throws LocalError `bad-argument`, which names the function that is missing
 */
export function assertMethods(
  object: unknown,
  name: string,
  required: readonly string[],
  optional: readonly string[] = [],
): void {
  const keys = required.concat(optional);
  for (let i = 0; i < keys.length; i++) {
    const value = readField(object, name, keys[i]!);
    if (i < required.length || value !== undefined) assertFunction(value, `${name}.${keys[i]!}`);
  }
}

/**
 * Reads a field of an argument.
 * @throws LocalError `bad-argument` for anything but an object, and for a getter that throws
 */
export function readField(object: unknown, name: string, key: string): unknown {
  return readArgument(`${name}.${key}`, () => {
    assertObject(object, name);
    return object[key];
  });
}

/**
 * Reads an object's optional members, each once. They are its own or its class's. Members of Object.prototype do not
 * count: code that can add one there would choose it for every caller.
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
 * Copies options, to read each only once. Only own properties count, whatever Object.prototype has, and unknown options are
 * refused, since one may be misspelt. For packages that take options beside those of this library.
 * @param options - what the caller passed
 * @param name - of the argument, for the error message
 * @param known - the names of all options
 * @returns the copy, which inherits nothing
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { readOptions } from 'hub-protocol/parts';
 *
 * const { colour } = readOptions({ colour: 'red' }, 'options', { colour: true });
 * console.log(colour); // red
 */
export function readOptions<Options extends object>(
  options: Options,
  name: string,
  known: OptionNames<Options>,
): Options {
  return readArgument(name, () => {
    assertObject(options, name);
    const copy = Object.create(null) as Options; // an option that is not given is undefined, whatever objects inherit
    const given = Object.keys(options) as (keyof Options & string)[];
    for (let i = 0; i < given.length; i++) {
      const option = given[i]!;
      if (known[option] !== true) {
        throw errors.unknownName(`${name}.${option}`, known);
      }
      copy[option] = options[option];
    }
    return copy;
  });
}
