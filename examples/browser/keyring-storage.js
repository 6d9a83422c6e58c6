/** Keeps a keyring in localStorage, which belongs to the page's origin. It is created once. */
import { createKeyring, parseKeyring, serializeKeyring } from 'hub-protocol';
import { nobleCrypto as crypto } from 'hub-protocol/noble';

export class KeyringStorage {
  /** @param {string} accessKey */
  constructor(accessKey) {
    this.accessKey = accessKey;
    this.name = `hub-keyring ${accessKey}`;
    if (localStorage.getItem(this.name) !== null) return;
    const staticKey = globalThis.crypto.getRandomValues(new Uint8Array(32));
    this.#save(createKeyring({ accessKey, staticKey, crypto }));
  }

  /** Throws if the keyring cannot be read: never make a new one. */
  load() {
    const text = localStorage.getItem(this.name);
    // What is not stored, such as that a PSK is to be derived again, lasts until another tab changes the keyring.
    if (text !== this.text) this.keyring = parseKeyring(text, this.accessKey);
    this.text = text;
    return this.keyring;
  }

  /** Changes what is stored now: another tab may have changed it. */
  update(change) {
    const stored = this.load();
    const changed = change(stored);
    if (changed !== stored) this.#save(changed);
  }

  #save(keyring) {
    const text = serializeKeyring(keyring);
    if (text !== this.text) localStorage.setItem(this.name, text);
    this.keyring = keyring;
    this.text = text;
  }
}
