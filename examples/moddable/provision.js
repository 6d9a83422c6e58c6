/**
 * Run once on a new device, in place of main.js: stores what `hub-protocol-cli provision` wrote, from the folder `provisioned`.
 * The keyring comes last, so that an interrupted run is repeated. Does not overwrite: the pins and the static key would be lost.
 */

import Resource from 'Resource';
import Preference from 'preference';

const FILES = {
  connection: 'connection.json',
  slot0: 'slot.txt',
  slot1: 'slot.txt',
  keyring: 'keyring.json',
};

if (Preference.get('hub', 'keyring') === undefined) {
  for (const name of Object.keys(FILES)) {
    Preference.set('hub', name, String.fromArrayBuffer(new Resource(FILES[name]).slice(0)));
  }
}
for (const name of Object.keys(FILES)) trace(`${name}: ${Preference.get('hub', name).length} characters\n`);
