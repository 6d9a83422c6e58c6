/** Checks the options of sessions. */
import { readArgument } from '../arguments.ts';
import { kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { MAX_ENVELOPE, MAX_MESSAGE } from '../limits.ts';
import { isStringArray, mergeFields } from '../wire/handshake.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { isPattern, PATTERNS, type Pattern } from './protocol.ts';

/**
 * Checks patterns.
 * @returns the patterns, by default all of protocol 3
 * @throws LocalError `bad-argument`
 */
export function assertPatterns(patterns: readonly Pattern[] | undefined): readonly Pattern[] {
  if (patterns === undefined) return PATTERNS;
  if (!isStringArray(patterns) || patterns.length === 0 || !patterns.every(isPattern)) {
    throw new LocalError('bad-argument', '"patterns" expected an array of "XXpsk2" and "KKpsk0"');
  }
  return patterns.slice();
}

/**
 * Checks further fields of a payload, and reads each of them once.
 * @returns a copy of the fields, by default none
 * @throws LocalError `bad-argument`
 */
export function assertFields(fields: JsonObject | undefined, name: string): JsonObject {
  if (fields === undefined) return {};
  if (!isJsonObject(fields)) {
    throw new LocalError('bad-argument', `"${name}" expected object, got ${kindOf(fields)}`);
  }
  return readArgument(name, () => mergeFields(fields, {}));
}

/** @throws LocalError `bad-argument` for anything but a function */
export function assertFunction(value: unknown, name: string): void {
  if (typeof value !== 'function') {
    throw new LocalError('bad-argument', `"${name}" expected function, got ${kindOf(value)}`);
  }
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
    throw new LocalError('bad-argument', `"${name}" expected "${choices.join('" or "')}"`);
  }
  return value;
}

/**
 * Checks the cap for cleartext envelopes.
 * @returns the cap in bytes, by default MAX_ENVELOPE
 * @throws LocalError `bad-argument`
 */
export function assertMaxEnvelope(maxEnvelope: number | undefined): number {
  if (maxEnvelope === undefined) return MAX_ENVELOPE;
  if (typeof maxEnvelope !== 'number' || !(maxEnvelope > 0 && maxEnvelope <= MAX_MESSAGE)) {
    throw new LocalError('bad-argument', `"maxEnvelope" expected a number from 1 to ${MAX_MESSAGE}`);
  }
  return maxEnvelope;
}
