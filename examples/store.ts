/**
 * Keeps a keyring as a string, as a file would. Each update reads the stored keyring anew and changes that: so a pin that
 * another program has stored meanwhile is never overwritten (`updateKeyring` throws `pin-differs`). A store on disk locks
 * the file for the update, creates it only if it does not exist, and replaces it atomically.
 */
import { createKeyring, type Keyring, parseKeyring, serializeKeyring } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';

export class Store {
  readonly #accessKey: string;
  text: string;

  /** @param keyring - the keyring to start with (default a new one) */
  constructor(
    accessKey: string,
    keyring: Keyring = createKeyring({ accessKey, staticKey: randomBytes(32) }),
  ) {
    this.#accessKey = accessKey;
    this.text = serializeKeyring(keyring);
  }

  load(): Keyring {
    return parseKeyring(this.text, this.#accessKey);
  }

  update(change: (keyring: Keyring) => Keyring): void {
    const stored = this.load();
    const changed = change(stored);
    if (changed !== stored) this.text = serializeKeyring(changed);
  }
}
