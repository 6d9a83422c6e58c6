/** Shows the keyring that the client keeps in localStorage. */
import { dropPin } from 'hub-protocol';
import { KeyringStorage } from 'hub-protocol-client/browser';
import { fingerprint } from './fingerprint.js';

const byId = (id) => document.getElementById(id);
let shown; // redraw only after a change, to leave the cursor and the focus alone

/** As a person does who restores an old machine: the hub knows this client by the key that is gone. */
export function loseKeyring(accessKey) {
  new KeyringStorage(accessKey).clear();
  showKeyring(accessKey);
}

export function showKeyring(accessKey) {
  const storage = new KeyringStorage(accessKey);
  const { staticKey, staticKeyIsFresh, pins, psks } = storage.load();
  const view = {
    key: fingerprint(staticKey.publicKey),
    isAccepted: staticKeyIsFresh ? 'accepted by no hub yet' : 'accepted by a hub',
    pins: pins.map(({ nodeId, key }) => ({ nodeId, key: fingerprint(key) })),
    psks: psks.map(({ nodeId, isProvisioned }) => `${nodeId}, ${isProvisioned ? 'provisioned' : 'derived'}`),
  };
  const now = JSON.stringify([accessKey, view]);
  if (now === shown) return;
  shown = now;
  byId('static-key').textContent = view.key;
  byId('is-accepted').textContent = view.isAccepted;
  byId('psks').replaceChildren(
    ...view.psks.map((text) => Object.assign(document.createElement('li'), { textContent: text })),
  );
  byId('pins').replaceChildren(
    ...view.pins.map(({ nodeId, key }) => {
      const row = byId('pin').content.firstElementChild.cloneNode(true);
      row.querySelector('.hub').textContent = nodeId;
      row.querySelector('code').textContent = key;
      const drop = row.querySelector('button');
      drop.setAttribute('aria-label', `Unpin ${nodeId}`);
      drop.addEventListener('click', () => {
        storage.update((stored) => dropPin(stored, nodeId));
        showKeyring(accessKey);
        byId('keyring-title').focus(); // the button is gone
      });
      return row;
    }),
  );
}
