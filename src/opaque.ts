/**
 * Controls how JSON.stringify and Node's inspection show an object with secrets. Its fields do not enumerate
 * (hide-fields.ts), so otherwise they would show an empty object, as they do in the files for devices. Instead they show a
 * name or the public part, and so does inspection with `showHidden`.
 */
import { descriptor } from './hide-fields.ts';

/** A name that no field has. */
const SHOWN = 'hub-protocol.shown';

interface Opaque {
  readonly [SHOWN]: string | ((instance: unknown) => unknown);
}

/**
 * Defines how JSON.stringify and Node's inspection show an object.
 * @param target - the object, or the prototype of a class for all its instances
 * @param shown - a name, shown in brackets, or a function that returns the value to show
 */
export function opaque<T extends object>(target: T, shown: string | ((instance: T) => unknown)): void {
  Object.defineProperty(target, SHOWN, descriptor(shown, false));
  Object.defineProperty(target, 'toJSON', descriptor(show, false));
  if (typeof Symbol === 'function') {
    Object.defineProperty(target, Symbol.for('nodejs.util.inspect.custom'), descriptor(show, false));
  }
}

/** One function for all objects: a closure for each would cost a device 200 bytes. */
function show(this: Opaque): unknown {
  const shown = this[SHOWN];
  return typeof shown === 'string' ? `[${shown}]` : shown(this);
}
