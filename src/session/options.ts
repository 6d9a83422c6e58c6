/** Checks of the options that both sessions take. */
import { kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { MAX_ENVELOPE, MAX_MESSAGE } from '../limits.ts';
import { isStringArray } from '../wire/handshake.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { isPattern, PATTERNS, type Pattern } from './protocol.ts';

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
