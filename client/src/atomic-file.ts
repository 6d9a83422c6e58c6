/** Writes files that only their owner can read, either completely or not at all. */
import { basename, dirname, join, resolve } from 'node:path';

// Imports would take longer: for them, Node.js reads all that a module exports, and so loads fs/promises and WebCrypto.
const crypto = process.getBuiltinModule('node:crypto');
const fs = process.getBuiltinModule('node:fs');

/** The file system lets others read every file, as FAT does. */
export class NotPrivate extends Error {}

const OTHERS = 0o077; // the permissions of group and others
const IS_WINDOWS = process.platform === 'win32';
const HAS_MODES = !IS_WINDOWS;

/**
 * Writes a file with mode 0600. A draft is written next to it first, and replaces it when all of it is on the disk. A full
 * disk, a crash or a second writer leaves the old file. A symbolic link is not followed: it counts as a file.
 * @param mayReplace - whether to replace an existing file
 * @throws NotPrivate; the error of the system, with the code EEXIST if there is a file that may not be replaced
 */
export function writeFileAtomically(path: string, text: string, mayReplace: boolean): void {
  if (!mayReplace) {
    if (replaceFile(path, undefined, text)) return;
    throw Object.assign(new Error('EEXIST: there is a file of that name'), { code: 'EEXIST' });
  }
  const draft = join(dirname(path), `.hub-protocol-${crypto.randomBytes(8).toString('hex')}.tmp`);
  try {
    writeDraft(draft, text);
    fs.renameSync(draft, path);
  } finally {
    fs.rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

/**
 * Replaces a file, unless another program that uses this function has done so since it was read, also on a file system without
 * hard links, such as exFAT. The draft is in a separate
 * folder, renamed to the lock while this program may replace the file. If a program is killed at that moment, the next one
 * waits for a second and removes its folder. If the program was only stopped, it then finds its draft gone, and replaces
 * nothing.
 * @param before - the contents of the file when it was read; `undefined` if there was none
 * @returns whether the file was replaced. If not, read it again
 */
export function replaceFile(path: string, before: string | undefined, text: string): boolean {
  const own = fs.mkdtempSync(path + DRAFT);
  const lock = lockOf(path);
  const name = basename(own); // unique to this draft
  let isLocked = false;
  try {
    writeDraft(join(own, name), text);
    takeLock(own, lock, path);
    isLocked = true;
    const there = fs.lstatSync(path, { throwIfNoEntry: false });
    if ((there && fs.readFileSync(path, 'utf8')) !== before) return false;
    renameFile(join(lock, name), path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false; // another program has removed the draft
    throw error;
  } finally {
    fs.rmSync(own, { recursive: true, force: true });
    if (isLocked) removeDraft(lock, [name]);
  }
  syncFolder(dirname(path));
  return true;
}

/** The file that a path leads to, through symbolic links, also if it does not exist yet: the link then keeps its target. */
export function targetOf(path: string): string {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    try {
      target = resolve(dirname(target), fs.readlinkSync(target));
    } catch {
      return target; // it is no link
    }
  }
  return target;
}

/**
 * Takes the permissions of others from a file, if possible: one that was copied or restored may have them. A file on a read-only
 * disk, or of another owner, can still be read.
 */
export function makePrivate(path: string): void {
  try {
    if (HAS_MODES && (fs.statSync(path).mode & OTHERS) !== 0) fs.chmodSync(path, 0o600);
  } catch {
    // Its owner has given it to this program as it is.
  }
}

/** Removes drafts of `replaceFile` that killed programs left behind, since they contain secrets. */
export function removeDrafts(path: string): void {
  try {
    for (const entry of fs.readdirSync(dirname(path), { withFileTypes: true })) {
      const folder = join(dirname(path), entry.name);
      if (!entry.isDirectory() || !isDraftOf(path, entry.name)) continue;
      const left = leftIn(folder, (held) => held === entry.name);
      if (left !== undefined) removeDraft(folder, left);
    }
  } catch {
    // That cannot be done here, as on a read-only disk, and is not needed to read the file.
  }
}

/** Whether this is the name of a draft of a file: what `mkdtemp` makes of its start. */
function isDraftOf(path: string, name: string): boolean {
  const start = basename(path) + DRAFT;
  return name.startsWith(start) && /^[A-Za-z0-9]{6}$/.test(name.slice(start.length));
}

/**
 * What a killed program leaves behind in a folder: at most one entry, for which `isOwn` holds.
 * @returns `undefined` if the folder holds anything else, or cannot be read
 */
function leftIn(folder: string, isOwn: (entry: string) => boolean): string[] | undefined {
  try {
    const entries = fs.readdirSync(folder);
    return entries.length <= 1 && entries.every(isOwn) ? entries : undefined;
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? [] : undefined; // another program has removed it
  }
}

/** Removes the folder only if it is then empty: nothing but the draft is deleted. */
function removeDraft(folder: string, names: readonly string[]): void {
  for (const name of names) fs.rmSync(join(folder, name), { force: true });
  removeIfEmpty(folder);
}

/** A name that nobody gives to anything else. */
function lockOf(path: string): string {
  return join(dirname(path), `.hub-protocol-${basename(path)}.lock`);
}

/** As in Linux. */
const MOST_LINKS = 40;
const DRAFT = '.draft-';
const ATTEMPTS = 100;
const BETWEEN = 10; // milliseconds

/** Renames a folder to the lock's name, which works only if the lock is empty or does not exist. */
function takeLock(own: string, lock: string, path: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      return void fs.renameSync(own, lock);
    } catch (error) {
      const code = codeOf(error)!;
      if (code === 'ENOTDIR') throw notALock(lock);
      const mayPass = ['ENOTEMPTY', 'EEXIST'].includes(code) || (isPassing(code) && attempt < 3 * ATTEMPTS);
      if (!mayPass) throw error;
    }
    // The lock is held for less than a millisecond, so its program was killed.
    if (attempt % ATTEMPTS === 0) breakLock(lock, path);
    else sleep();
  }
}

function sleep(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN);
}

/** On Windows a folder takes no place of another, and scanners of viruses hold new files for a moment. */
function isPassing(code: string): boolean {
  return IS_WINDOWS && ['EPERM', 'EACCES', 'EBUSY'].includes(code);
}

function renameFile(from: string, to: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      return void fs.renameSync(from, to);
    } catch (error) {
      if (!isPassing(codeOf(error)!) || attempt === ATTEMPTS) throw error;
      sleep();
    }
  }
}

/** Removes the lock of a program that was killed, and nothing else. */
function breakLock(lock: string, path: string): void {
  const left = leftIn(lock, (entry) => isDraftOf(path, entry));
  if (left === undefined) throw notALock(lock);
  removeDraft(lock, left);
}

function notALock(lock: string): Error {
  return new Error(`${lock} is in the way, and was not made by this program: move it elsewhere`);
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // The lock is another program's, with a draft in it, or it is gone.
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Writes a new file. When this returns, it is on the disk. */
function writeDraft(draft: string, text: string): void {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_SYNC } = fs.constants;
  const isRestricted = process.permission !== undefined; // Node.js then has no fsync
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | (isRestricted ? O_SYNC : 0);
  const file = fs.openSync(draft, flags, 0o600);
  try {
    if (HAS_MODES && (fs.fstatSync(file).mode & OTHERS) !== 0) throw new NotPrivate();
    writeAll(file, Buffer.from(text));
    if (!isRestricted) fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

/** A disk that is nearly full takes only a part of the bytes, and says how many. */
function writeAll(file: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += fs.writeSync(file, bytes, at);
}

/** Without this, a file may be gone after a loss of power although its contents are on the disk. */
function syncFolder(folder: string): void {
  let file: number | undefined;
  try {
    file = fs.openSync(folder, fs.constants.O_RDONLY);
    fs.fsyncSync(file);
  } catch {
    // Not every system opens folders or syncs them. The file exists and is complete.
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}
