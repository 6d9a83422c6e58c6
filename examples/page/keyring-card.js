/** Shows the keyring that the client keeps in localStorage. */
import { dropPin } from 'hub-protocol';
import { KeyringStorage } from '../browser/keyring-storage.js';
import { fingerprint } from './fingerprint.js';

const byId = (id) => document.getElementById(id);

export function showKeyring(accessKey) {
  const storage = new KeyringStorage(accessKey);
  const { staticKey, staticKeyIsFresh, pins, psks } = storage.load();
  byId('static-key').textContent = fingerprint(staticKey.publicKey);
  byId('is-accepted').textContent = staticKeyIsFresh ? 'accepted by no hub yet' : 'accepted by a hub';
  byId('pins').replaceChildren(
    ...pins.map(({ nodeId, key }) => {
      const row = byId('pin').content.firstElementChild.cloneNode(true);
      row.querySelector('.hub').textContent = nodeId;
      row.querySelector('code').textContent = fingerprint(key);
      const drop = row.querySelector('button');
      drop.setAttribute('aria-label', `Drop the pin of ${nodeId}`);
      drop.addEventListener('click', () => {
        storage.update((stored) => dropPin(stored, nodeId));
        showKeyring(accessKey);
      });
      return row;
    }),
  );
  byId('psks').replaceChildren(
    ...psks.map(({ nodeId, isProvisioned }) => {
      const row = document.createElement('li');
      row.textContent = `${nodeId}, ${isProvisioned ? 'provisioned' : 'derived'}`;
      return row;
    }),
  );
}
