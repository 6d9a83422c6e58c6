/**
 * Run once on a new device, in place of main.js: stores the output of `hub-protocol-cli provision` from the folder `provisioned`.
 * Does not overwrite: an older keyring would revert the pin and the static key.
 */

import Resource from 'Resource';
import Preference from 'preference';

for (const name of ['connection', 'keyring']) {
  if (Preference.get('hub', name) === undefined) {
    Preference.set('hub', name, String.fromArrayBuffer(new Resource(`${name}.json`).slice(0)));
  }
  trace(`${name}: ${Preference.get('hub', name).length} characters\n`);
}
