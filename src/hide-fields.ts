/**
 * Keeps secrets from getting into logs, assertion messages and clones by accident. It does not keep them from code in the
 * same realm, which can read every field by its name.
 */

/**
 * Describes a property, and inherits nothing: `get` or `set` in a polluted Object.prototype would make it invalid.
 * @param isOpen - whether the property can be changed and deleted
 * @param enumerable - whether it enumerates (default: if it is open)
 */
export function descriptor(
  value: unknown,
  isOpen: boolean,
  enumerable: boolean = isOpen,
): PropertyDescriptor {
  const own = Object.create(null) as PropertyDescriptor;
  own.value = value;
  own.enumerable = enumerable;
  own.configurable = isOpen;
  own.writable = isOpen;
  return own;
}

/**
 * Makes fields of an object non-enumerable: console.dir, console.table, the messages of assert.deepStrictEqual,
 * structuredClone, `Object.keys`, `for`-`in` and spread skip them. They stay readable and writable as before, and stay
 * hidden when they are assigned again.
 *
 * A record names its secret fields, once they have their values:
 *
 *     hideFields(identity, ['accessKey', 'password']);
 *
 * A class hides all its fields at the end of its constructor, without naming them (a name in a string keeps a private
 * field from getting a short name in the files for devices). A field added later would enumerate, so a class whose
 * instances hold secrets initializes every field, if only with `undefined`:
 *
 *     private transport: Transport | undefined = undefined;
 *     constructor() {
 *       …
 *       hideFields(this);
 *     }
 *
 * Assertions compare enumerable fields only: tests must compare hidden ones by name.
 * @param names - of own fields (default: all that are enumerable)
 * @returns the object
 */
export function hideFields<T extends object>(object: T, names?: readonly (keyof T & string)[]): T {
  const hidden = names ?? (Object.keys(object) as (keyof T & string)[]);
  for (let i = 0; i < hidden.length; i++) {
    // No field is deleted to be defined anew: if memory ends here, the object must still have its keys to wipe.
    const value = object[hidden[i]!]; // required: Espruino sets the field to it and ignores the rest
    Object.defineProperty(object, hidden[i]!, descriptor(value, true, false));
  }
  return object;
}
