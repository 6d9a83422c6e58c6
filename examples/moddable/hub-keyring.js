/**
 * Keeps the keyring in preferences. Since a preference is erased before it is set, two take turns, each with a count before
 * the JSON: if the power fails in between, or one of them is damaged, the other one still has the keyring before the change.
 */
import { parseKeyring, serializeKeyring } from 'hub-protocol';
import Preference from 'preference';

const SLOTS = ['keyring', 'keyring2'];

export class KeyringStore {
  /** @throws if there is no stored keyring that can be read: provision the device again */
  constructor(accessKey) {
    let failure = new Error('no keyring is stored');
    this.count = -1;
    for (let slot = 0; slot < SLOTS.length; slot++) {
      try {
        const text = Preference.get('hub', SLOTS[slot]); // throws if the preference is damaged
        if (text === undefined) continue;
        const start = text.indexOf('{');
        const count = Number(text.slice(0, start)); // 0 without one, as provisioned
        if (!(count > this.count)) continue;
        this.keyring = parseKeyring(text.slice(start), accessKey);
        this.slot = slot;
        this.count = count;
      } catch (error) {
        failure = error;
      }
    }
    if (this.keyring === undefined) throw failure;
  }

  /**
   * Stores a keyring that has changed.
   * @throws if it was not stored: close the session, and send nothing more
   */
  update(keyring) {
    if (keyring === this.keyring) return;
    const slot = 1 - this.slot;
    const count = this.count + 1;
    const text = `${count} ${serializeKeyring(keyring)}`;
    Preference.set('hub', SLOTS[slot], text);
    if (Preference.get('hub', SLOTS[slot]) !== text) throw new Error('the keyring was not stored');
    this.keyring = keyring;
    this.slot = slot;
    this.count = count;
  }
}
