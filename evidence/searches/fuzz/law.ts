/** What must hold whatever the input: errors of the library's own classes only, no secret in them, and an end. */
import { inspect } from 'node:util';
import { LocalError, RemoteError } from '../../../src/index.ts';

/** A breach of the law. It is an error of the library, or of this search. */
export class Breach extends Error {
  readonly cause: unknown;

  constructor(what: string, cause?: unknown) {
    super(what);
    this.cause = cause;
  }
}

export function breach(what: string, cause?: unknown): never {
  throw new Breach(what, cause);
}

/** Counts the inputs: each call of a public function, and each message that a session received. */
export const tally: { inputs: number; sessions: number; mutated: number } = {
  inputs: 0,
  sessions: 0,
  mutated: 0,
};

/** A result, or the error that a call of the library threw. */
export type Outcome<T> =
  | { readonly value: T; readonly error?: undefined }
  | { readonly error: LocalError | RemoteError };

/** Calls the library with arguments that may be wrong. All that it may throw is a LocalError. */
export function ask<T>(what: string, call: () => T): Outcome<T> {
  tally.inputs++;
  try {
    return { value: call() };
  } catch (error) {
    if (!(error instanceof LocalError)) breach(`${what} threw something other than a LocalError`, error);
    return { error: checked(error) };
  }
}

/** Calls the library with something that a peer may have written. It may throw errors of both classes. */
export function read<T>(what: string, call: () => T): Outcome<T> {
  tally.inputs++;
  try {
    return { value: call() };
  } catch (error) {
    if (!(error instanceof LocalError || error instanceof RemoteError)) {
      breach(`${what} threw something other than its own errors`, error);
    }
    return { error: checked(error) };
  }
}

function checked<E extends LocalError | RemoteError>(error: E): E {
  if (typeof error.code !== 'string' || error.message === '')
    breach('an error has no code or no message', error);
  return error;
}

/** The forms in which a secret may be shown. */
export function formsOf(secret: Uint8Array | string): string[] {
  if (typeof secret === 'string')
    return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').slice(0, -4)];
  const bytes = Buffer.from(secret);
  return [
    bytes.toString('hex').slice(0, 24),
    bytes.toString('base64').slice(0, 16),
    [...bytes.subarray(0, 8)].join(','),
    [...bytes.subarray(0, 8)].join(', '),
  ];
}

/** Checks that none of these forms is in what tools print of a value. */
export function showsNone(value: unknown, forms: readonly string[], what: string): void {
  const inspected = inspect(value, { depth: 6, maxArrayLength: null }).replace(/\s+/g, ' '); // numbers stand in columns
  const shown = inspected + JSON.stringify(value);
  for (const form of forms) if (shown.includes(form)) breach(`${what} shows a secret`);
}
