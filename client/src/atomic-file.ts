/** Writes files that only their owner can read, and that are either whole or not there at all. */
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

const OTHERS = 0o077; // what a mode allows to group and others
const HAS_MODES = process.platform !== 'win32';

/**
 * Writes a file with mode 0600. A draft beside it is written first and takes its place when all of it is on the disk, so
 * that a full disk, a crash or a second writer leaves what was there. A symbolic link is not followed: it counts as a file.
 * @param mayReplace - whether to replace a file that is there
 * @throws NotPrivate; the error of the system, whose code is EEXIST if a file is there that may not be replaced
 */
export function writeFileAtomically(path: string, text: string, mayReplace: boolean): void {
  const draft = join(dirname(path), `.hub-protocol-${randomBytes(8).toString('hex')}.tmp`);
  try {
    writeDraft(draft, text);
    if (mayReplace) renameSync(draft, path);
    else linkSync(draft, path); // which, unlike rename, fails if there is anything
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

/**
 * Replaces a file, unless another program that uses this function has done so since it was read. The draft is in a folder of
 * its own, `.lock` while this program has the right to replace the file. If a program is killed in that moment, the next one
 * waits for a second and removes its folder. A program that had only been stopped then finds its draft gone, and replaces
 * nothing.
 * @param before - what the file said
 * @returns whether the file was replaced. If not, read it again
 */
export function replaceFile(path: string, before: string, text: string): boolean {
  const own = mkdtempSync(path + DRAFT);
  const lock = `${path}.lock`;
  const name = basename(own); // which no other draft has
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

/** Removes the drafts of `replaceFile` that programs left behind when they were killed, since they contain secrets. */
export function removeDrafts(path: string): void {
  const start = basename(path) + DRAFT;
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(start)) rmSync(join(dirname(path), name), { recursive: true, force: true });
  }
}

const DRAFT = '.draft-';
const ATTEMPTS = 100;
const BETWEEN = 10; // milliseconds

/** Renames a folder to that of the lock, which works only if that is empty or is not there. */
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
    // It is the lock of another program, which has a draft in it, or is gone.
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Writes a new file, which is on the disk when this returns. */
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
