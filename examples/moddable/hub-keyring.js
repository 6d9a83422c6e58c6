/**
 * Keeps the keyring in preferences. Since a preference is erased before it is set, two take turns, each with a count before
 * the JSON: if the power fails in between, the other one still has the keyring before the change.
 */
import { parseKeyring, serializeKeyring } from 'hub-protocol';
import Preference from 'preference';

const SLOTS = ['keyring', 'keyring2'];

export class KeyringStore {
  /** @throws if there is no stored keyring that can be read: provision the device again */
  constructor(accessKey) {
    const texts = SLOTS.map((slot) => Preference.get('hub', slot) ?? '');
    const counts = texts.map((text) => (text === '' ? -1 : Number(text.slice(0, text.indexOf('{')))));
    this.slot = counts[1] > counts[0] ? 1 : 0;
    this.count = counts[this.slot];
    const text = texts[this.slot];
    this.keyring = parseKeyring(text.slice(text.indexOf('{')), accessKey);
  }

  update(keyring) {
    if (keyring === this.keyring) return;
    this.keyring = keyring;
    this.slot = 1 - this.slot;
    this.count++;
    Preference.set('hub', SLOTS[this.slot], `${this.count} ${serializeKeyring(keyring)}`);
  }
}
