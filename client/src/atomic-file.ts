/** Writes files that only their owner can read, either completely or not at all. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The file system lets others read every file, as FAT does. */
export class NotPrivate extends Error {}

const OTHERS = 0o077; // the permissions of group and others
const HAS_MODES = process.platform !== 'win32';

/**
 * Writes a file with mode 0600. A draft is written next to it first, and replaces it when all of it is on the disk. A full
 * disk, a crash or a second writer leaves the old file. A symbolic link is not followed: it counts as a file.
 * @param mayReplace - whether to replace an existing file
 * @throws NotPrivate; the error of the system, with the code EEXIST if there is a file that may not be replaced
 */
export function writeFileAtomically(path: string, text: string, mayReplace: boolean): void {
  const draft = join(dirname(path), `.hub-protocol-${randomBytes(8).toString('hex')}.tmp`);
  try {
    writeDraft(draft, text);
    if (mayReplace) renameSync(draft, path);
    else linkSync(draft, path); // fails, unlike rename, if the file exists
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

/**
 * Replaces a file, unless another program that uses this function has done so since it was read. The draft is in a separate
 * folder, renamed to `.lock` while this program may replace the file. If a program is killed at that moment, the next one
 * waits for a second and removes its folder. If the program was only stopped, it then finds its draft gone, and replaces
 * nothing.
 * @param before - the contents of the file when it was read
 * @returns whether the file was replaced. If not, read it again
 */
export function replaceFile(path: string, before: string, text: string): boolean {
  const own = mkdtempSync(path + DRAFT);
  const lock = `${path}.lock`;
  const name = basename(own); // unique to this draft
  try {
    writeDraft(join(own, name), text);
    takeLock(own, lock);
    if (readFileSync(path, 'utf8') !== before) return false;
    renameSync(join(lock, name), path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false; // another program has removed the draft
    throw error;
  } finally {
    rmSync(own, { recursive: true, force: true });
    rmSync(join(lock, name), { force: true });
    removeIfEmpty(lock);
  }
  syncFolder(dirname(path));
  return true;
}

/** Removes drafts of `replaceFile` that killed programs left behind, since they contain secrets. */
export function removeDrafts(path: string): void {
  const start = basename(path) + DRAFT;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(start)) rmSync(join(dirname(path), name), { recursive: true, force: true });
  }
}

const DRAFT = '.draft-';
const ATTEMPTS = 100;
const BETWEEN = 10; // milliseconds

/** Renames a folder to the lock's name, which works only if the lock is empty or does not exist. */
function takeLock(own: string, lock: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      renameSync(own, lock);
      return;
    } catch (error) {
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error;
    }
    // The lock is held for less than a millisecond, so its program was killed.
    if (attempt % ATTEMPTS === 0) rmSync(lock, { recursive: true, force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN);
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The lock is another program's, with a draft in it, or it is gone.
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Writes a new file. When this returns, it is on the disk. */
function writeDraft(draft: string, text: string): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const file = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    if (HAS_MODES && (fstatSync(file).mode & OTHERS) !== 0) throw new NotPrivate();
    writeAll(file, Buffer.from(text));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A disk that is nearly full takes only a part of the bytes, and says how many. */
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
    // Not every system opens folders or syncs them. The file exists and is complete.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
