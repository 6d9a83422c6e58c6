/** Reads files that others may have chosen: a device or a pipe may never end. */
import { closeSync, openSync, readSync } from 'node:fs';

/** The longest file to read, in bytes. Recordings are the longest; identities and keyrings have a few kilobytes. */
export const MAX_FILE: number = 32 * 1024 * 1024;

/**
 * Reads a file, or standard input if the path is `-`.
 * @returns its contents; `undefined` if it is longer than MAX_FILE
 * @throws the error of the system
 */
export function readAtMost(path: string): Uint8Array | undefined {
  const file = path === '-' ? 0 : openSync(path, 'r');
  const parts: Buffer[] = [];
  let length = 0;
  try {
    while (length <= MAX_FILE) {
      const part = Buffer.allocUnsafe(65536);
      const count = readSync(file, part);
      if (count === 0) return new Uint8Array(Buffer.concat(parts));
      parts.push(part.subarray(0, count));
      length += count;
    }
    return undefined;
  } finally {
    if (file !== 0) closeSync(file);
  }
}
