import type { Test } from 'uvu';
import { engine } from '../../src/engine.ts';

/** Calls a function while the library uses its own code alone, as on an engine without TextEncoder and TextDecoder. */
export function withoutEngine<T>(call: () => T): T {
  const { codec, hasJson } = engine();
  Object.assign(engine(), { codec: undefined, hasJson: false });
  try {
    return call();
  } finally {
    Object.assign(engine(), { codec, hasJson });
  }
}

/** Declares each test twice: with what the engine offers, and with the library's own code alone. */
export function bothWays(test: Test): (name: string, body: () => void) => void {
  return (name, body) => {
    test(name, body);
    test(`${name}, by the library’s own code`, () => withoutEngine(body));
  };
}
