/**
 * Reads the fields of an object as issued: each field under every name that it has had. `null` counts as absent.
 *
 * A value of a type that cannot be read counts as absent too, since most fields are optional and a newer issuer may
 * give them another form. `unreadable` lists these fields for callers that need one.
 */
import * as errors from '../errors-table.ts';
import { JsonNumber } from '../wire/json.ts';

/** An object as issued: any field may have a value of any type. */
export type Fields = { readonly [name: string]: unknown };

/** All names of a field, separated by bars, the current one first: see aliases.ts. */
export type Names = string;

/** All names of a field, the current one first. */
export function namesOf(names: Names): string[] {
  return names.split('|');
}

/** The current name of a field. */
export function currentName(names: Names): string {
  return namesOf(names)[0]!;
}

/** The first of a field's names under which the object has a value; `undefined` if there is none. */
export function nameIn(fields: Fields, names: Names): string | undefined {
  const all = namesOf(names);
  for (let i = 0; i < all.length; i++) {
    const name = all[i]!;
    if (!Object.prototype.hasOwnProperty.call(fields, name)) continue;
    if (fields[name] !== undefined && fields[name] !== null) return name;
  }
  return undefined;
}

/** Whether a value is an object with fields: not null, an array or a JsonNumber. */
export function isObject(value: unknown): value is Fields {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

const TRUE = ['1', 'true', 'yes', 'on'];
const FALSE = ['0', 'false', 'no', 'off'];

/** The fields of one object as issued. Every reader returns `undefined` for a field that counts as absent. */
export class IssuedFields {
  /** The current names of the fields whose values cannot be read. */
  readonly unreadable: string[];
  private readonly fields: Fields;

  /** @param unreadable - fields that were left out of `fields` because they could not be read */
  constructor(fields: Fields, unreadable: readonly string[] = []) {
    this.fields = fields;
    this.unreadable = unreadable.slice();
  }

  /** The value of a field, whatever its type; a JsonNumber as the nearest number. */
  value(names: Names): NonNullable<unknown> | undefined {
    const name = nameIn(this.fields, names);
    const value = name === undefined ? undefined : this.fields[name]!;
    return value instanceof JsonNumber ? value.valueOf() : value;
  }

  /** A string. */
  string(names: Names): string | undefined {
    const value = this.value(names);
    return typeof value === 'string' ? value : this.unread(names, value);
  }

  /**
   * A flag: a boolean, 1 or 0, or one of the strings `1`, `0`, `true`, `false`, `yes`, `no`, `on` and `off` in either
   * case.
   */
  flag(names: Names): boolean | undefined {
    return this.flagFrom(this.value(names), names);
  }

  /** A protocol: a flag, or an object with the flag `enabled`. */
  enabled(names: Names): boolean | undefined {
    const value = this.value(names);
    return this.flagFrom(isObject(value) ? new IssuedFields(value).value('enabled') : value, names);
  }

  private flagFrom(value: unknown, names: Names): boolean | undefined {
    const word = typeof value === 'object' ? '' : String(value).toLowerCase();
    if (TRUE.indexOf(word) >= 0) return true;
    if (FALSE.indexOf(word) >= 0) return false;
    return this.unread(names, value);
  }

  /** An integer from `least` to `most`, or its decimal digits as a string without a leading zero. */
  integer(names: Names, least: number, most: number): number | undefined {
    const value = this.value(names);
    const number =
      typeof value === 'string' && String(Number(value)) === value.trim() ? Number(value) : value;
    const isInteger = typeof number === 'number' && Math.floor(number) === number;
    return isInteger && number >= least && number <= most ? number : this.unread(names, value);
  }

  /** The fields of an object; none if the object is absent. */
  object(names: Names): IssuedFields {
    const value = this.value(names);
    return new IssuedFields(isObject(value) ? value : (this.unread(names, value) ?? {}));
  }

  /** @throws LocalError `identity-field` for the first of these fields that cannot be read */
  assertReadable(names: readonly Names[]): void {
    for (let i = 0; i < names.length; i++) {
      const name = currentName(names[i]!);
      if (this.unreadable.indexOf(name) >= 0) throw errors.badField(name, 'of a type that can be read');
    }
  }

  /** Notes that a field has a value, but of a type that cannot be read. */
  private unread(names: Names, value: unknown): undefined {
    if (value !== undefined) this.unreadable.push(currentName(names));
  }
}
