/**
 * Run once on a new device, in place of main.js: stores what `hub-protocol-cli provision` wrote, from the folder `provisioned`. What
 * is stored stays: a keyring of an older day would take the pin and the static key back.
 */

import Resource from 'Resource';
import Preference from 'preference';

for (const name of ['connection', 'keyring']) {
  if (Preference.get('hub', name) === undefined) {
    Preference.set('hub', name, String.fromArrayBuffer(new Resource(`${name}.json`).slice(0)));
  }
  trace(`${name}: ${Preference.get('hub', name).length} characters\n`);
}
