/** Asserts errors by class and code, and by nothing of their message but the name of the argument. */
import * as assert from 'uvu/assert';
import type { LocalCode, RemoteCode } from '../../src/errors.ts';
import { LocalError, RemoteError } from '../../src/errors.ts';

/** Asserts that a call throws a LocalError with this code. Returns the error. */
export function raisesLocal(call: () => unknown, code: LocalCode): LocalError {
  return raises(call, LocalError, code) as LocalError;
}

/** Asserts that a call throws a RemoteError with this code. Returns the error. */
export function raisesRemote(call: () => unknown, code: RemoteCode): RemoteError {
  return raises(call, RemoteError, code) as RemoteError;
}

/** Asserts that a call throws a LocalError whose message starts with this name of an argument, in quotes, and has no gap. */
export function raisesAbout(name: string, call: () => unknown): void {
  const caught = thrownBy(call);
  assert.instance(caught, LocalError);
  const { message } = caught as LocalError;
  assert.is(message.indexOf(`"${name}" `), 0, message);
  assertNoGap(message);
}

/** Asserts that no part of a message is empty. */
export function assertNoGap(message: string): void {
  assert.not.match(message, /""|expected ,| {2}/);
}

function raises(call: () => unknown, kind: typeof LocalError | typeof RemoteError, code: string): unknown {
  const caught = thrownBy(call);
  assert.instance(caught, kind, `expected ${kind.name} ${code}, got ${caught}`);
  assert.is((caught as LocalError).code, code);
  return caught;
}

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  return undefined;
}
