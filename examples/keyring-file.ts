/**
 * Keeps a keyring in a file, which only its owner may read. It is created once and replaced atomically: a loss of power
 * leaves the old keyring or the new one. A keyring that cannot be read is an error, never a new keyring. Several programs
 * may share the file: each change is applied to what is stored, under a lock.
 */
import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createKeyring, type Keyring, parseKeyring, serializeKeyring } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { writeFileAtomically } from './atomic-file.ts';

export class KeyringFile {
  readonly #path: string;
  readonly #accessKey: string;
  /** As it was read or written last. In memory, since not all of it is stored: a PSK can be suspect. */
  #keyring: Keyring;
  #text: string;

  constructor(path: string, accessKey: string) {
    this.#path = path;
    this.#accessKey = accessKey;
    const created = createKeyring({ accessKey, staticKey: randomBytes(32), crypto: nodeCrypto });
    this.#text = contentsOf(path) ?? create(path, serializeKeyring(created));
    this.#keyring = parseKeyring(this.#text, accessKey);
  }

  load(): Keyring {
    return this.#keyring;
  }

  /** Changes the keyring. The file is written only if that changes what is stored. */
  update(change: (keyring: Keyring) => Keyring): void {
    const changed = change(this.#keyring);
    if (serializeKeyring(changed) === this.#text) this.#keyring = changed;
    else locked(this.#path, () => this.#replace(change));
  }

  #replace(change: (keyring: Keyring) => Keyring): void {
    const stored = readFileSync(this.#path, 'utf8');
    const keyring = stored === this.#text ? this.#keyring : parseKeyring(stored, this.#accessKey);
    const changed = change(keyring); // throws if another program has pinned another key of this hub
    const text = serializeKeyring(changed);
    if (text !== stored) writeFileAtomically(this.#path, text, true);
    this.#keyring = changed;
    this.#text = text;
  }
}

function contentsOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Creates the file, unless another program has just done so. Returns what is in it. */
function create(path: string, text: string): string {
  try {
    writeFileAtomically(path, text, false);
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
  }
  return readFileSync(path, 'utf8');
}

const ATTEMPTS = 500;
const BETWEEN = 10; // milliseconds
const STALE = 10_000; // milliseconds: the lock is held for a few of them, so its program was killed

/** Runs `body` while no other program does so for this path. */
function locked(path: string, body: () => void): void {
  const lock = `${path}.lock`;
  for (let attempt = 1; !take(lock); attempt++) {
    if (attempt === ATTEMPTS) throw new Error(`another program does not release ${lock}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN);
  }
  try {
    body();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    if (ageOf(lock) > STALE) removeStale(lock);
    return false;
  }
}

/** Of several programs that find a stale lock, one removes it, and none removes the lock that comes next. */
function removeStale(lock: string): void {
  const own = `${lock}.${process.pid}`;
  try {
    renameSync(lock, own);
    if (ageOf(own) <= STALE) linkSync(own, lock);
  } catch (error) {
    if (!isCode(error, 'ENOENT') && !isCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function ageOf(lock: string): number {
  const stats = statSync(lock, { throwIfNoEntry: false });
  return stats === undefined ? 0 : Date.now() - stats.mtimeMs;
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
