/** Keeps a keyring as text in a platform's storage. It is created once. A storage with promises is read before `connect`. */
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

/** Storage of texts by name with promises, like AsyncStorage. */
export interface AsyncTextStorage {
  /**
   * Reads a text.
   * @param name - its name
   * @returns the text; null only if nothing is stored
   */
  getItem(name: string): Promise<string | null>;
  /**
   * Stores a text.
   * @param name - its name
   * @param text - the text
   * @returns anything, once the text is stored
   */
  setItem(name: string, text: string): Promise<unknown>;
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
  constructor(accessKey: string, storage: TextStorage | undefined) {
    assertStorage(storage);
    this.#accessKey = accessKey;
    this.#storage = storage;
    this.name = nameOf(accessKey);
    if (read(storage, this.name) === null) this.#save(newKeyring(accessKey));
  }

  /**
   * Reads the keyring, if it has changed.
   * @returns the keyring that is stored now
   * @throws LocalError `keyring-…` if the keyring cannot be read
   */
  load(): Keyring {
    const text = read(this.#storage, this.name);
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

/**
 * Opens the keyring in a storage whose functions return promises, such as AsyncStorage. It is read once: no other program may change it.
 * @param accessKey - whose keyring it is. Without one in the storage, a new one is stored
 * @param storage - where it is kept as text
 * @returns the option `keyring` of `connect`
 * @throws LocalError `bad-argument`; `keyring-…` if the keyring cannot be read; any error of the storage
 */
export async function openKeyring(accessKey: string, storage: AsyncTextStorage): Promise<KeyringStore> {
  assertStorage(storage);
  const name = nameOf(accessKey);
  let text = await storage.getItem(name);
  let keyring = text === null ? newKeyring(accessKey) : parseKeyring(text, accessKey);
  let latest: Promise<void> = Promise.resolve();
  const update = async (change: (stored: Keyring) => Keyring): Promise<void> => {
    const changed = change(keyring);
    const changedText = serializeKeyring(changed);
    if (changedText !== text) await storage.setItem(name, changedText);
    [keyring, text] = [changed, changedText];
  };
  await update((stored) => stored);
  return {
    load: () => keyring,
    update(change) {
      latest = latest.catch(() => {}).then(() => update(change));
      return latest;
    },
  };
}

const nameOf = (accessKey: string): string => `hub-keyring ${accessKey}`;

const newKeyring = (accessKey: string): Keyring =>
  createKeyring({ accessKey, staticKey: globalThis.crypto.getRandomValues(new Uint8Array(32)), crypto });

function assertStorage(storage: unknown): asserts storage is TextStorage {
  const { getItem, setItem } = (storage ?? {}) as { [Name in keyof TextStorage]?: unknown };
  if (typeof getItem === 'function' && typeof setItem === 'function') return;
  throw new LocalError('bad-argument', '"storage" expected an object with getItem() and setItem()');
}

function read(storage: TextStorage, name: string): string | null {
  const text = storage.getItem(name);
  if (typeof text !== 'object' || text === null) return text;
  const advice = 'pass keyring: await openKeyring(accessKey, storage) in its place';
  throw new LocalError(
    'bad-argument',
    `"storage" expected getItem() to return a text, got a promise: ${advice}`,
  );
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
