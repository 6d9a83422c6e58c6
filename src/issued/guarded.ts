import { LocalError } from '../errors.ts';

/**
 * Runs a function that reads objects of the caller's.
 * @throws LocalError what the function throws; `bad-argument` for any other error, such as that of a getter, of a revoked
 *   proxy, or of reading a field of `null`
 */
export function guarded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LocalError) throw error;
    throw new LocalError('bad-argument', 'an argument is not of the documented type, or reading it failed');
  }
}
