/**
 * Reading the fields of issued objects: each under every name it was ever issued with, `null` counting as absent. What
 * cannot be read raises `identity-field`, which names the field and shows no value.
 */
import { LocalError } from '../errors.ts';
import { JsonNumber } from '../wire/json.ts';

export type Fields = { readonly [name: string]: unknown };

/** The names of a field, with a bar between them; the first is the one to write it under. Lists take more memory. */
export type Names = string;

/** The access key's, wherever it stands. */
export const ACCESS_KEY: Names = 'access_key|accessKey|api_key|key';

export function namesOf(names: Names): string[] {
  return names.split('|');
}

/** The first of these names that stands before a value. */
export function nameOf(fields: Fields, names: Names): string | undefined {
  const all = namesOf(names);
  for (let i = 0; i < all.length; i++) {
    const name = all[i]!;
    if (!Object.prototype.hasOwnProperty.call(fields, name)) continue;
    if (fields[name] !== undefined && fields[name] !== null) return name;
  }
  return undefined;
}

/** The first of these fields that is there. */
export function pick(fields: Fields, names: Names): NonNullable<unknown> | undefined {
  const name = nameOf(fields, names);
  const value = name === undefined ? undefined : fields[name]!;
  return value instanceof JsonNumber ? value.valueOf() : value;
}

export function text(fields: Fields, names: Names): string | undefined {
  return asText(pick(fields, names), names);
}

export function asText(value: unknown, names: Names): string | undefined {
  if (value !== undefined && typeof value !== 'string') throw badField(names, 'a text');
  return value;
}

/** Whether a field holds fields of its own. */
export function isGroup(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

export function group(fields: Fields, names: Names): Fields {
  const value = pick(fields, names) ?? {};
  if (!isGroup(value)) throw badField(names, 'an object');
  return value;
}

const TRUE = ['1', 'true', 'yes', 'on'];
const FALSE = ['0', 'false', 'no', 'off'];

export function flag(fields: Fields, names: Names, byDefault: boolean): boolean {
  const value = pick(fields, names);
  if (value === undefined) return byDefault;
  const word = typeof value === 'object' ? '' : String(value).toLowerCase();
  if (TRUE.indexOf(word) >= 0) return true;
  if (FALSE.indexOf(word) >= 0) return false;
  throw badField(names, 'a boolean');
}

/** A whole number in a range, or its decimal digits as a text. */
export function integer(
  fields: Fields,
  names: Names,
  range: { least: number; most: number; byDefault: number },
): number {
  const value = pick(fields, names) ?? range.byDefault;
  const number = typeof value === 'string' && String(Number(value)) === value ? Number(value) : value;
  if (
    typeof number !== 'number' ||
    Math.floor(number) !== number ||
    number < range.least ||
    number > range.most
  ) {
    throw badField(names, `a whole number from ${range.least} to ${range.most}`);
  }
  return number;
}

export function badField(names: Names, expected: string): LocalError {
  return new LocalError('identity-field', `the identity’s field ${namesOf(names)[0]} is not ${expected}`);
}
