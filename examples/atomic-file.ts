/** Writes files that only their owner can read, and that are either whole or not there at all. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** The file system lets others read every file, as FAT does. */
export class NotPrivate extends Error {}

const OTHERS = 0o077; // what a mode allows to group and others
const HAS_MODES = process.platform !== 'win32';

/**
 * Writes a file with mode 0600. A draft beside it is written first and takes its place when all of it is on the disk, so
 * that a full disk, a crash or a second writer leaves what was there. A symbolic link is not followed: it counts as a file.
 * @param mayReplace - whether to replace a file that is there
 * @throws NotPrivate; the error of the system, whose code is EEXIST if a file is there that may not be replaced
 */
export function writeFileAtomically(path: string, text: string, mayReplace: boolean): void {
  const folder = dirname(path);
  const draft = join(folder, `.hub-protocol-${randomBytes(8).toString('hex')}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const file = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    try {
      if (HAS_MODES && (fstatSync(file).mode & OTHERS) !== 0) throw new NotPrivate();
      writeAll(file, Buffer.from(text));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (mayReplace) renameSync(draft, path);
    else linkSync(draft, path); // which, unlike rename, fails if there is anything
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(folder);
}

/** A disk that is nearly full takes a part of what it is given, and says how much. */
function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

/** Without this, a file may be gone after a loss of power although its contents are on the disk. */
function syncFolder(folder: string): void {
  let file: number | undefined;
  try {
    file = openSync(folder, constants.O_RDONLY);
    fsyncSync(file);
  } catch {
    // Not every system opens folders or syncs them. The file is there and whole.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
