/**
 * Keeps the keyring in three preferences. `keyring`, as provisioned, has the static key and is only read, since a preference is
 * erased before it is set. What changes is in `slot0` and `slot1`, both of which are written for each change.
 */
import { nextSlots, parseKeyring, readSlots, serializeChanges } from 'hub-protocol';
import Preference from 'preference';

const SLOTS = ['slot0', 'slot1'];

/** @returns a preference, or `undefined` if it is missing or damaged */
function get(name) {
  try {
    return Preference.get('hub', name);
  } catch {
    return undefined;
  }
}

export class KeyringStore {
  /** @throws if there is no keyring, or neither slot can be read: a person has to restore them */
  constructor(accessKey) {
    this.keyring = parseKeyring(get('keyring'), accessKey, readSlots(SLOTS.map(get)));
  }

  /**
   * Stores a keyring that has changed.
   * @throws if it was not stored: close the session, and send nothing more
   */
  update(keyring) {
    if (keyring === this.keyring) return;
    for (const { slot, text } of nextSlots(SLOTS.map(get), serializeChanges(keyring))) {
      Preference.set('hub', SLOTS[slot], text);
      if (get(SLOTS[slot]) !== text) throw new Error('the keyring was not stored');
    }
    this.keyring = keyring;
  }
}
