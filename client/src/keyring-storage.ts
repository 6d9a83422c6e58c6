/** Keeps a keyring as text where a platform stores text. It is created once. */
import { createKeyring, type Keyring, parseKeyring, serializeKeyring } from 'hub-protocol';
import { jsCrypto as crypto } from 'hub-protocol/js';
import type { KeyringStore } from './options.ts';

/** Where text is kept by names, as in localStorage. */
export interface TextStorage {
  /** Returns null if nothing is stored, and throws if it cannot be read: in place of a lost keyring a new one is made. */
  getItem(name: string): string | null;
  /** Has stored the text when it returns. */
  setItem(name: string, text: string): void;
}

/** A keyring in the storage of an app. */
export class KeyringText implements KeyringStore {
  readonly #storage: TextStorage;
  readonly #accessKey: string;
  protected readonly name: string;
  /** As it was read or written last. Not all of it is stored: a PSK can be suspect until another tab changes the keyring. */
  #keyring!: Keyring;
  #text: string | null = null;

  /** @throws what the storage throws */
  constructor(accessKey: string, storage: TextStorage) {
    this.#accessKey = accessKey;
    this.#storage = storage;
    this.name = `hub-keyring ${accessKey}`;
    if (storage.getItem(this.name) !== null) return;
    const staticKey = globalThis.crypto.getRandomValues(new Uint8Array(32));
    this.#save(createKeyring({ accessKey, staticKey, crypto }));
  }

  /** @throws LocalError `keyring-…` if the keyring cannot be read */
  load(): Keyring {
    const text = this.#storage.getItem(this.name);
    if (text !== this.#text) this.#keyring = parseKeyring(text ?? '', this.#accessKey);
    this.#text = text;
    return this.#keyring;
  }

  /** Changes what is stored now, since another tab may have changed it. */
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
  /** @throws DOMException if the browser stores nothing for this page, or has no room */
  constructor(accessKey: string) {
    super(accessKey, localStorage);
  }

  /** Forgets this client. Its hubs will refuse the next one, until their operator has forgotten its key. */
  clear(): void {
    localStorage.removeItem(this.name);
  }
}
