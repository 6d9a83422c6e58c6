/**
 * Recognizes that the engine has no memory left. That must not be taken for a mistake of the caller or of the peer, and there may
 * be no memory for another error either.
 */
import { LocalError, RemoteError } from './errors.ts';
import * as errors from './errors-table.ts';

/** Made when this file is loaded, for when no new one can be made. */
const OUT_OF_MEMORY: LocalError = errors.noMemoryLeft();

/**
 * Whether an engine throws this when it cannot allocate: “Array buffer allocation failed” (V8), “Out of memory” (JavaScriptCore), “out of
 * memory” (QuickJS and SpiderMonkey), “Cannot allocate a data block” (Hermes), “alloc failed” (Duktape); or `null`, where QuickJS
 * cannot allocate an error either.
 */
function isFull(error: unknown): boolean {
  const text = String(error);
  return text === 'null' || text.indexOf('memory') >= 0 || text.indexOf('alloc') >= 0;
}

/**
 * Called with an error before it is dropped, or replaced by another one.
 * @throws LocalError `out-of-memory` if the engine had no memory, or has none for this check
 */
export function assertNotFull(error: unknown): void {
  let full: LocalError | undefined;
  try {
    if (isFull(error)) full = errors.noMemoryLeft(error);
  } catch {
    full = OUT_OF_MEMORY;
  }
  if (full !== undefined) throw full;
}

/** The error if it says that there was no memory, as `out-of-memory`: what it comes from is final. Never throws. */
export function outOfMemory(error: unknown): LocalError | undefined {
  const failure = failureOf(error);
  return failure.code === 'out-of-memory' ? (failure as LocalError) : undefined;
}

/**
 * The error itself, if it is one of ours; `out-of-memory` if the engine had no memory; `crypto-failed` for anything else. Never
 * throws, however full the heap is.
 */
export function failureOf(error: unknown): LocalError | RemoteError {
  if (error instanceof LocalError || error instanceof RemoteError) return error;
  try {
    assertNotFull(error);
    return errors.cryptoIncomplete(error);
  } catch (full) {
    return full instanceof LocalError ? full : OUT_OF_MEMORY;
  }
}
