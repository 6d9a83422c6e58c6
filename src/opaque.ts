/**
 * Objects that hold secrets show nothing of themselves: neither in JSON.stringify nor when Node inspects them
 * for a log. This keeps secrets out of logs by accident; it does not keep code in the same realm from them.
 */

/** A name that no field has. */
const SHOWN = 'hub-protocol.shown';

interface Opaque {
  readonly [SHOWN]: string | ((instance: unknown) => unknown);
}

/** Makes an object, or all instances of a prototype, appear as `shown`: a name, or what it answers for the object. */
export function opaque<T extends object>(prototype: T, shown: string | ((instance: T) => unknown)): void {
  Object.defineProperty(prototype, SHOWN, { value: shown });
  Object.defineProperty(prototype, 'toJSON', { value: show });
  if (typeof Symbol === 'function') {
    Object.defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), { value: show });
  }
}

/** One for all of them: on a device, a function for each would be 200 bytes more. */
function show(this: Opaque): unknown {
  const shown = this[SHOWN];
  return typeof shown === 'string' ? `[${shown}]` : shown(this);
}
