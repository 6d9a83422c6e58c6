/**
 * Keeps a keyring in a file, which only its owner may read, also if others could before. It is created once and replaced atomically: a loss of power
 * leaves the old keyring or the new one. A keyring that cannot be read is an error, never a new keyring. Several programs
 * may share the file: each change is applied to the stored keyring.
 */
import { createKeyring, type Keyring, LocalError, parseKeyring, serializeKeyring } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { makePrivate, removeDrafts, replaceFile, writeFileAtomically } from './atomic-file.ts';
import type { KeyringStore } from './options.ts';

const fs = process.getBuiltinModule('node:fs'); // as in atomic-file.ts

/** A keyring in a file. `connect` makes one for a path. */
export class KeyringFile implements KeyringStore {
  readonly #path: string;
  readonly #accessKey: string;
  /** As last read or written. Not all of it is stored: a PSK can be suspect until another program writes the file. */
  #keyring!: Keyring;
  #text: string | undefined;

  /** @param keyring - its path, or a store of the caller's */
  static of(keyring: string | KeyringStore, accessKey: string): KeyringStore {
    if (typeof keyring === 'string') return new KeyringFile(keyring, accessKey);
    if (typeof keyring?.load === 'function' && typeof keyring.update === 'function') return keyring;
    throw new LocalError('bad-argument', '"keyring" expected a path, or an object with load() and update()');
  }

  /**
   * @param path - the file, which is created if it does not exist
   * @param accessKey - whose keyring it is
   * @throws LocalError `keyring-…` if the keyring cannot be read; the system's error if the file cannot be read or written
   */
  constructor(path: string, accessKey: string) {
    this.#path = path;
    this.#accessKey = accessKey;
    removeDrafts(path);
    if (!fs.existsSync(path)) this.#create();
    makePrivate(path);
    this.load();
  }

  /**
   * Reads the file, if it has changed.
   * @returns the keyring that is stored now
   */
  load(): Keyring {
    const text = fs.readFileSync(this.#path, 'utf8');
    if (text !== this.#text) this.#keyring = parseKeyring(text, this.#accessKey);
    this.#text = text;
    return this.#keyring;
  }

  /**
   * Changes the keyring that is stored now. The file is written only if its contents change, to spare flash memory.
   * @param change - returns the changed keyring
   */
  update(change: (keyring: Keyring) => Keyring): void {
    for (;;) {
      const stored = this.load();
      const changed = change(stored); // throws if another program has pinned another key of this hub
      if (changed === stored) return;
      const text = serializeKeyring(changed);
      if (text === this.#text || replaceFile(this.#path, this.#text!, text)) {
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
    try {
      writeFileAtomically(this.#path, serializeKeyring(keyring), false);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // else another program was faster
    }
  }
}
