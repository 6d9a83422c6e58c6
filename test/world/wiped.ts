/** What a function wipes. */
import { toHex } from './vectors.ts';

/** Calls a function, and returns in hex what was in the arrays that it filled with zeros. */
export function wipedIn(call: () => void): string[] {
  const fills = [Uint8Array.prototype.fill, Buffer.prototype.fill] as const;
  const wiped: string[] = [];
  const noting = (fill: Uint8Array['fill']) =>
    function (this: Uint8Array, ...args: [number, number?, number?]) {
      if (args.length === 1 && args[0] === 0) wiped.push(toHex(this));
      return fill.apply(this, args);
    };
  Object.assign(Uint8Array.prototype, { fill: noting(fills[0]) });
  Object.assign(Buffer.prototype, { fill: noting(fills[1]) });
  try {
    call();
  } finally {
    Object.assign(Uint8Array.prototype, { fill: fills[0] });
    Object.assign(Buffer.prototype, { fill: fills[1] });
  }
  return wiped;
}
