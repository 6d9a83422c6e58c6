/** Checks of the options that both sessions take. */
import { kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { MAX_ENVELOPE, MAX_MESSAGE } from '../limits.ts';
import { isStringArray } from '../wire/handshake.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { isPattern, PATTERNS, type Pattern } from './protocol.ts';

/**
 * Copies the options, so that each is read once and a getter that throws does no harm later.
 * @param names - the options that there are
 * @throws LocalError `bad-argument`, naming an option that does not exist
 */
export function readOptions<Options extends object>(
  options: Options,
  names: readonly (keyof Options)[],
): Options {
  if (typeof options !== 'object' || options === null) {
    throw new LocalError('bad-argument', `"options" expected object, got ${kindOf(options)}`);
  }
  const copy = {} as Options;
  let unknown: string | undefined;
  try {
    const given = Object.keys(options) as (keyof Options & string)[];
    for (let i = 0; i < given.length; i++) {
      const name = given[i]!;
      if (names.indexOf(name) < 0) unknown = name;
      else copy[name] = options[name];
    }
  } catch (error) {
    throw new LocalError('bad-argument', '"options" expected an object that can be read', error);
  }
  if (unknown !== undefined) {
    throw new LocalError('bad-argument', `"${unknown}" is not an option of this session: is it misspelt?`);
  }
  return copy;
}

/** The patterns given, or all of protocol 3. */
export function assertPatterns(patterns: readonly Pattern[] | undefined): readonly Pattern[] {
  if (patterns === undefined) return PATTERNS;
  if (!isStringArray(patterns) || patterns.length === 0 || !patterns.every(isPattern)) {
    throw new LocalError('bad-argument', '"patterns" expected an array of "XXpsk2" and "KKpsk0"');
  }
  return patterns.slice();
}

/** The further fields of a payload, or none. */
export function assertFields(fields: JsonObject | undefined, name: string): JsonObject {
  if (fields === undefined) return {};
  if (!isJsonObject(fields)) {
    throw new LocalError('bad-argument', `"${name}" expected object, got ${kindOf(fields)}`);
  }
  return fields;
}

export function assertFunction(value: unknown, name: string): void {
  if (typeof value !== 'function') {
    throw new LocalError('bad-argument', `"${name}" expected function, got ${kindOf(value)}`);
  }
}

/** The one of these values that was given, or the first. */
export function assertChoice<Choice extends string>(
  value: Choice | undefined,
  name: string,
  choices: readonly Choice[],
): Choice {
  if (value === undefined) return choices[0]!;
  if (choices.indexOf(value) < 0) {
    throw new LocalError('bad-argument', `"${name}" expected "${choices.join('" or "')}"`);
  }
  return value;
}

/** The cap for cleartext envelopes, in bytes. */
export function assertMaxEnvelope(maxEnvelope: number | undefined): number {
  if (maxEnvelope === undefined) return MAX_ENVELOPE;
  if (typeof maxEnvelope !== 'number' || !(maxEnvelope > 0 && maxEnvelope <= MAX_MESSAGE)) {
    throw new LocalError('bad-argument', `"maxEnvelope" expected a number from 1 to ${MAX_MESSAGE}`);
  }
  return maxEnvelope;
}
