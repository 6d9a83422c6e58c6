/** A keyring in IndexedDB: `connect({ identity, keyring: await openKeyring(identity.accessKey) })` in a page. */
import { createKeyring, parseKeyring, serializeKeyring } from 'hub-protocol';
import { jsCrypto } from 'hub-protocol/js';

export async function openKeyring(accessKey) {
  const database = await new Promise((resolve, reject) => {
    const opening = indexedDB.open('hub', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keyrings');
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  let keyring;

  /** A transaction reads and writes: no tab overwrites what another has stored. */
  function update(change) {
    return new Promise((resolve, reject) => {
      const transaction = database.transaction('keyrings', 'readwrite', { durability: 'strict' });
      const keyrings = transaction.objectStore('keyrings');
      let changed;
      keyrings.get(accessKey).onsuccess = ({ target: { result: text } }) => {
        try {
          changed = change(text === undefined ? newKeyring(accessKey) : parseKeyring(text, accessKey));
          const changedText = serializeKeyring(changed);
          if (changedText !== text) keyrings.put(changedText, accessKey);
        } catch (error) {
          reject(error);
          transaction.abort();
        }
      };
      transaction.oncomplete = () => {
        keyring = changed;
        resolve();
      };
      transaction.onabort = () => reject(transaction.error); // such as a full disk
    });
  }

  await update((stored) => stored);
  return { load: () => keyring, update };
}

function newKeyring(accessKey) {
  const staticKey = crypto.getRandomValues(new Uint8Array(32));
  return createKeyring({ accessKey, staticKey, crypto: jsCrypto });
}
