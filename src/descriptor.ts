/** Descriptors of properties that inherit nothing: `get` or `set` in a polluted Object.prototype would make them invalid. */

/**
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
