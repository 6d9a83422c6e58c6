/** Checks the options of sessions. */

import { readArgument } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import type { Pattern } from '../noise/patterns.ts';
import { isStringArray, mergeFields } from '../wire/handshake.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { OFFERED_PATTERNS } from './protocol.ts';

/**
 * Checks patterns.
 * @returns the patterns, by default all of protocol 3
 * @throws LocalError `bad-argument`
 */
export function assertPatterns(patterns: readonly Pattern[] | undefined): readonly Pattern[] {
  if (patterns === undefined) return OFFERED_PATTERNS;
  const isOffered = (name: Pattern): boolean => OFFERED_PATTERNS.indexOf(name) >= 0;
  if (!isStringArray(patterns) || patterns.length === 0 || !patterns.every(isOffered)) {
    throw errors.expected('patterns', 'an array of "XXpsk2" and "KKpsk0"');
  }
  return patterns.slice();
}

/**
 * Checks further fields of a payload, and reads each once.
 * @returns a copy of the fields, by default none
 * @throws LocalError `bad-argument`
 */
export function assertFields(fields: JsonObject | undefined, name: string): JsonObject {
  if (fields === undefined) return {};
  if (!isJsonObject(fields)) {
    throw errors.expectedType(name, 'object', fields);
  }
  return readArgument(name, () => mergeFields(fields, {}));
}
