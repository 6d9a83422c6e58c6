/** What `hub-protocol pair` gives a page in its address: an identity, and the key of its hub. docs/guides/hub-chat.md explains it. */
import { parseIdentity, updateKeyring } from 'hub-protocol';
import { KeyringStorage } from 'hub-protocol-client/browser';

/** Options for `connect`, from the code in the address of this page, or an earlier one; undefined without. */
export function pairing() {
  const isNew = /[#&]hub_key=/.test(location.hash);
  if (isNew) {
    localStorage.setItem('hub-pairing', location.hash.slice(1));
    history.replaceState(null, '', location.pathname + location.search); // it has the password
  }
  const stored = localStorage.getItem('hub-pairing');
  if (stored === null) return undefined;
  const {
    hub_id: nodeId,
    hub_key,
    lang,
    ai_disclosure,
    ...issued
  } = Object.fromEntries(new URLSearchParams(stored));
  const identity = parseIdentity({ ...issued, ai_disclosure: { [lang]: ai_disclosure } });
  const keyring = new KeyringStorage(identity.accessKey);
  const key = Uint8Array.from(atob(hub_key), (character) => character.charCodeAt(0));
  if (isNew) keyring.update((kept) => updateKeyring(kept, { type: 'pin', nodeId, key })); // before first contact
  return { identity, keyring, session: { trust: 'pinned-only' } };
}
