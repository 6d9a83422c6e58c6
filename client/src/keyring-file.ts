/**
 * Keeps a keyring in a file, which only its owner may read, also if others could before. It is created once and replaced atomically: a loss of power
 * leaves the old keyring or the new one. A keyring that cannot be read is an error, never a new keyring. Several programs
 * may share the file: each change is applied to the stored keyring.
 */
import { createKeyring, type Keyring, LocalError, parseKeyring, serializeKeyring } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { makePrivate, NotPrivate, removeDrafts, replaceFile, targetOf } from './atomic-file.ts';
import type { KeyringStore } from './options.ts';

const fs = process.getBuiltinModule('node:fs'); // as in atomic-file.ts

/** A keyring in a file. `connect` makes one for a path. */
export class KeyringFile implements KeyringStore {
  readonly #path: string;
  readonly #accessKey: string;
  /** As last read or written. */
  #keyring!: Keyring;
  #text: string | undefined;

  /** @param keyring - its path, or a store of the caller's */
  static of(keyring: string | KeyringStore, accessKey: string): KeyringStore {
    if (typeof keyring === 'string') return new KeyringFile(keyring, accessKey);
    if (typeof keyring?.load === 'function' && typeof keyring.update === 'function') return keyring;
    throw new LocalError('bad-argument', '"keyring" expected a path, or an object with load() and update()');
  }

  /**
   * Until a hub is pinned and has a PSK, this tries whether the file can be replaced: otherwise the client would derive a PSK for nothing.
   * @param path - the file, which is created if it does not exist
   * @param accessKey - whose keyring it is
   * @throws LocalError `keyring-…` if the keyring cannot be read or stored
   */
  constructor(path: string, accessKey: string) {
    if (path === '')
      throw new LocalError('bad-argument', '"keyring" expected the path of a file, not an empty string');
    this.#path = targetOf(path);
    this.#accessKey = accessKey;
    removeDrafts(this.#path);
    const isNew = !fs.existsSync(this.#path);
    if (isNew) this.#create();
    makePrivate(this.#path);
    const { pins, psks } = this.load();
    if (!isNew && (pins.length === 0 || psks.length === 0)) this.#replace(this.#text, this.#text!);
  }

  /**
   * Reads the file, if it has changed.
   * @returns the keyring that is stored now
   * @throws LocalError `keyring-…` if the keyring cannot be read
   */
  load(): Keyring {
    const text = trying('keyring-not-readable', () => fs.readFileSync(this.#path, 'utf8'));
    if (text !== this.#text) this.#keyring = parseKeyring(text.replace(/^\uFEFF/, ''), this.#accessKey);
    this.#text = text;
    return this.#keyring;
  }

  /**
   * Changes the keyring that is stored now. The file is written only if its contents change, to spare flash memory.
   * @param change - returns the changed keyring
   * @throws LocalError `keyring-…` if the keyring cannot be read or stored
   */
  update(change: (keyring: Keyring) => Keyring): void {
    for (;;) {
      const stored = this.load();
      const changed = change(stored); // throws if another program has pinned another key of this hub
      if (changed === stored) return;
      const text = serializeKeyring(changed);
      if (text === this.#text || this.#replace(this.#text, text)) {
        this.#keyring = changed;
        this.#text = text;
        return;
      }
    }
  }

  #create(): void {
    const keyring = createKeyring({
      accessKey: this.#accessKey,
      staticKey: randomBytes(32),
      crypto: nodeCrypto,
    });
    this.#replace(undefined, serializeKeyring(keyring)); // unless another program was faster
  }

  #replace(before: string | undefined, text: string): boolean {
    return trying('keyring-not-writable', () => replaceFile(this.#path, before, text));
  }
}

type Code = 'keyring-not-readable' | 'keyring-not-writable';

const NOT_ITS_OWNER =
  process.platform === 'win32'
    ? 'this user has no right to that, or another program has the file open. Change its permissions, or end that program'
    : 'this user has no right to that. Change the owner of the folder and of what is in it';

/** What is wrong with the place of a keyring, and what to do, by the code of the system. */
const FAULTS: { readonly [systemCode: string]: string } = {
  ENOENT: 'its folder does not exist. Make it, or pass the whole path: ~ stands for no folder here',
  EISDIR: 'its path is that of a folder. Name a file in it',
  ENOTDIR: 'a part of its path is a file, not a folder. Pass another path',
  EACCES: NOT_ITS_OWNER,
  EPERM: NOT_ITS_OWNER,
  ERR_ACCESS_DENIED: 'Node.js forbids it. Add its folder to --allow-fs-read and --allow-fs-write',
  EROFS: 'its disk is read-only. Choose a place on another disk',
  EBUSY:
    'its file is mounted, or another program holds it, so it cannot be replaced. Mount its folder instead',
  ENOSPC: 'the disk is full, or can hold no more files. Make room on it',
  EDQUOT: 'the quota of this user is used up. Make room, or ask for more',
  ENAMETOOLONG: 'its name is too long: a few characters are added to it. Choose a shorter one',
  EMFILE: 'this program has too many open files. Raise their limit (ulimit -n), or close some',
  ELOOP: 'its symbolic links lead in a circle. Name the file itself',
  ESTALE: 'the network share was lost. Mount it again',
  EIO: 'the disk fails. Copy what is on it, and replace it',
};

/** Reads or writes the file. Turns the errors of the system into those of the library. */
function trying<T>(code: Code, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const cannot = `the keyring cannot be ${code === 'keyring-not-readable' ? 'read' : 'stored'}`;
    const { code: systemCode, message } = error as NodeJS.ErrnoException;
    if (error instanceof NotPrivate) {
      const tell = `${cannot}: its file system lets others read every file. Choose a place on another one, or mount it for this user only (umask=077)`;
      throw new LocalError('keyring-not-private', tell, error);
    }
    if (systemCode === undefined) throw new LocalError(code, `${cannot}: ${message}`, error);
    const isGone = systemCode === 'ENOENT' && code === 'keyring-not-readable';
    const fault = isGone ? 'the file is gone. Restore it from a copy' : FAULTS[systemCode];
    throw new LocalError(
      code,
      `${cannot} (${systemCode}): ${fault ?? 'ask who looks after this machine'}`,
      error,
    );
  }
}
