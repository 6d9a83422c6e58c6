/** Everything that can be reached from an object through its fields, including hidden ones. */

/** All values: strings, bytes, functions and other objects, each object once. */
export function reachable(root: object): unknown[] {
  const seen = new Set<unknown>();
  const found: unknown[] = [];
  const queue: unknown[] = [root];
  for (let value = queue.pop(); value !== undefined; value = queue.pop()) {
    const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
    if (isObject && seen.has(value)) continue;
    seen.add(value);
    found.push(value);
    if (!isObject || value instanceof Uint8Array) continue;
    for (const key of Reflect.ownKeys(value as object)) {
      const { value: field } = Object.getOwnPropertyDescriptor(value, key)!;
      if (field !== undefined) queue.push(field);
    }
  }
  return found;
}

export function bytesIn(root: object): Uint8Array[] {
  return reachable(root).filter((value): value is Uint8Array => value instanceof Uint8Array);
}
