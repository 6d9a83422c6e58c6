/**
 * Keeps a keyring in a file, which only its owner may read. It is created once and replaced atomically: a loss of power
 * leaves the old keyring or the new one. A keyring that cannot be read is an error, never a new keyring.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createKeyring, type Keyring, parseKeyring, serializeKeyring } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';

export class KeyringFile {
  readonly #path: string;
  readonly #accessKey: string;

  constructor(path: string, accessKey: string) {
    this.#path = path;
    this.#accessKey = accessKey;
    if (existsSync(path)) return;
    const draft = this.#write(createKeyring({ accessKey, staticKey: randomBytes(32), crypto: nodeCrypto }));
    linkSync(draft, path); // fails if another program has created the file meanwhile
    rmSync(draft);
  }

  load(): Keyring {
    return parseKeyring(readFileSync(this.#path, 'utf8'), this.#accessKey);
  }

  /** Changes what is stored now, so that a pin that another program has stored meanwhile is never overwritten. */
  update(change: (keyring: Keyring) => Keyring): void {
    const stored = this.load();
    const changed = change(stored);
    if (changed !== stored) renameSync(this.#write(changed), this.#path);
  }

  /** Writes a file beside the keyring's, and returns its path. */
  #write(keyring: Keyring): string {
    const draft = `${this.#path}.${process.pid}`;
    const file = openSync(draft, 'w', 0o600);
    try {
      writeSync(file, serializeKeyring(keyring));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return draft;
  }
}
