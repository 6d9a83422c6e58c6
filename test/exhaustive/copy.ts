/** Copies and compares objects with all that they refer to, as far as it can change: sessions cannot be copied otherwise. */

/** Makes a function that copies objects. What is reachable from `constant` is never changed, and the copies share it. */
export function copier(constant: readonly object[]): <T>(value: T) => T {
  const shared = new WeakSet<object>();
  const share = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || shared.has(value)) return;
    shared.add(value);
    Object.values(value).forEach(share);
  };
  constant.forEach(share);
  return (value) => {
    const copies = new Map<object, object>();
    const copy = (value: unknown): unknown => {
      if (typeof value !== 'object' || value === null || value instanceof Error || shared.has(value))
        return value;
      const known = copies.get(value);
      if (known !== undefined) return known;
      if (value instanceof Uint8Array) {
        const bytes = value.slice();
        copies.set(value, bytes);
        return bytes;
      }
      const made = (Array.isArray(value) ? [] : Object.create(Object.getPrototypeOf(value))) as {
        [key: string]: unknown;
      };
      copies.set(value, made);
      for (const name of Object.getOwnPropertyNames(value)) {
        made[name] = copy((value as { [key: string]: unknown })[name]);
      }
      return made;
    };
    return copy(value) as typeof value;
  };
}

/** Whether two objects with the same fields are equal in all that they refer to. Functions and errors must be the same ones. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return false;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  const names = Object.getOwnPropertyNames(a);
  return (
    names.length === Object.getOwnPropertyNames(b).length &&
    names.every((name) =>
      isEqual((a as { [key: string]: unknown })[name], (b as { [key: string]: unknown })[name]),
    )
  );
}

/** A number for a string. That two of 10 million strings have the same one has a chance of one in 200. */
export function hashOf(text: string): number {
  let [a, b] = [0x12345678, 0x9abcdef0];
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x9e3779b1);
    b = Math.imul(b ^ text.charCodeAt(i), 0x5f356495);
    a ^= b >>> 15;
  }
  return hash53(Math.imul(a ^ (a >>> 16), 0x85ebca6b), Math.imul(b ^ (b >>> 13), 0xc2b2ae35));
}

function hash53(a: number, b: number): number {
  return ((a ^ (b >>> 11)) >>> 11) * 0x100000000 + ((b ^ (a >>> 7)) >>> 0);
}
