/**
 * Keeps the keyring in three preferences. `keyring`, as provisioned, has the static key and is only read, since a preference is
 * erased before it is set. What changes is in `slot0` and `slot1`, both of which are written for each change, and at the start
 * if a change was cut.
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

/** Writes both slots, one after the other. @throws if one cannot be read back */
function write(keyring) {
  for (const { slot, text } of nextSlots(SLOTS.map(get), serializeChanges(keyring))) {
    Preference.set('hub', SLOTS[slot], text);
    if (get(SLOTS[slot]) !== text) throw new Error('the keyring was not stored');
  }
}

export class KeyringStore {
  /** @throws if there is no keyring, or neither slot can be read: a person has to restore them */
  constructor(accessKey) {
    const slots = SLOTS.map(get);
    this.keyring = parseKeyring(get('keyring'), accessKey, readSlots(slots));
    if (slots[0] === slots[1]) return;
    try {
      write(this.keyring); // a loss of power has left only one of them
    } catch {
      // The next change fails too, if the flash is damaged.
    }
  }

  /**
   * Stores a keyring that has changed.
   * @throws if it was not stored: close the session, and send nothing more
   */
  update(keyring) {
    if (keyring === this.keyring) return;
    write(keyring);
    this.keyring = keyring;
  }
}
