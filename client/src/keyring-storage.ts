/** Keeps a keyring as text in a platform's storage. It is created once. */
import { createKeyring, type Keyring, LocalError, parseKeyring, serializeKeyring } from 'hub-protocol';
import { jsCrypto as crypto } from 'hub-protocol/js';
import type { KeyringStore } from './options.ts';

/** Storage of texts by name, like localStorage. */
export interface TextStorage {
  /**
   * Reads a text.
   * @param name - its name
   * @returns the text; null only if nothing is stored, since a new keyring is made for null
   * @throws an error if it cannot be read
   */
  getItem(name: string): string | null;
  /**
   * Stores a text before it returns.
   * @param name - its name
   * @param text - the text
   */
  setItem(name: string, text: string): void;
}

/** A keyring in the storage of an app. */
export class KeyringText implements KeyringStore {
  readonly #storage: TextStorage;
  readonly #accessKey: string;
  protected readonly name: string;
  /** As last read or written. */
  #keyring!: Keyring;
  #text: string | null = null;

  /** @throws LocalError `bad-argument`; any error of the storage */
  constructor(accessKey: string, storage: TextStorage) {
    if (typeof storage?.getItem !== 'function' || typeof storage.setItem !== 'function') {
      throw new LocalError('bad-argument', '"storage" expected an object with getItem() and setItem()');
    }
    this.#accessKey = accessKey;
    this.#storage = storage;
    this.name = `hub-keyring ${accessKey}`;
    if (storage.getItem(this.name) !== null) return;
    const staticKey = globalThis.crypto.getRandomValues(new Uint8Array(32));
    this.#save(createKeyring({ accessKey, staticKey, crypto }));
  }

  /**
   * Reads the keyring, if it has changed.
   * @returns the keyring that is stored now
   * @throws LocalError `keyring-…` if the keyring cannot be read
   */
  load(): Keyring {
    const text = this.#storage.getItem(this.name);
    if (text !== this.#text) this.#keyring = parseKeyring(text ?? '', this.#accessKey);
    this.#text = text;
    return this.#keyring;
  }

  /**
   * Changes the stored keyring, since another tab may have changed it.
   * @param change - returns the changed keyring
   */
  update(change: (stored: Keyring) => Keyring): void {
    const stored = this.load();
    const changed = change(stored);
    if (changed !== stored) this.#save(changed);
  }

  #save(keyring: Keyring): void {
    const text = serializeKeyring(keyring);
    if (text !== this.#text) this.#storage.setItem(this.name, text);
    this.#keyring = keyring;
    this.#text = text;
  }
}

/** A keyring in localStorage, which belongs to the page's origin. */
export class KeyringStorage extends KeyringText {
  /** @throws LocalError `wrong-state` where there is no page; DOMException if the browser does not store anything for this page, or has no room */
  constructor(accessKey: string) {
    if (typeof localStorage === 'undefined') throw notAPage();
    super(accessKey, localStorage);
  }

  /** Forgets this client. Its hubs will refuse the next one, until their operator has forgotten its key. */
  clear(): void {
    localStorage.removeItem(this.name);
  }
}

/** A server that renders a page in advance has no storage and no connection. */
export function notAPage(): LocalError {
  return new LocalError(
    'wrong-state',
    'there is no page here: connect in the browser, not on a server that renders the page',
  );
}
