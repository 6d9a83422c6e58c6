/** Values that throw when they are read. */

const { proxy, revoke } = Proxy.revocable({}, {});
revoke();

function throws(): never {
  throw new TypeError('not to be read');
}

/** A revoked proxy, and one whose every trap throws. */
export const UNREADABLE: readonly object[] = [
  proxy,
  new Proxy({}, { get: throws, has: throws, ownKeys: throws, getOwnPropertyDescriptor: throws }),
];

/** The fields of an object, and one that throws when it is read. */
export function withThrowing(field: string, fields: object = {}): object {
  return Object.defineProperty({ ...fields }, field, { get: throws, enumerable: true });
}
