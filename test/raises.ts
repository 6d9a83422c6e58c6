/** Asserts errors by class and code, never by their message. */
import * as assert from 'uvu/assert';
import type { LocalCode, RemoteCode } from '../src/errors.ts';
import { LocalError, RemoteError } from '../src/errors.ts';

/** Asserts that a call throws a LocalError with this code. Returns the error. */
export function raisesLocal(call: () => unknown, code: LocalCode): LocalError {
  return raises(call, LocalError, code) as LocalError;
}

/** Asserts that a call throws a RemoteError with this code. Returns the error. */
export function raisesRemote(call: () => unknown, code: RemoteCode): RemoteError {
  return raises(call, RemoteError, code) as RemoteError;
}

function raises(call: () => unknown, kind: typeof LocalError | typeof RemoteError, code: string): unknown {
  let caught: unknown;
  try {
    call();
  } catch (error) {
    caught = error;
  }
  assert.instance(caught, kind, `expected ${kind.name} ${code}, got ${caught}`);
  assert.is((caught as LocalError).code, code);
  return caught;
}
