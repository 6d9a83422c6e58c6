/**
 * A program that counts in a pin until it is killed: `keyring-writer.ts FILE [TIMES]`. Each time it stores one more than is stored, and
 * prints it.
 */
import { writeSync } from 'node:fs';
import { pinHub } from 'hub-protocol';
import { KeyringFile } from '../../client/dist/keyring-file.js';

const [path, most = Number.POSITIVE_INFINITY] = process.argv.slice(2);
const keyring = new KeyringFile(path!, 'kiosk-7');
for (let i = 0; i < Number(most); i++) {
  let count = 0;
  keyring.update((stored) => {
    const { key } = stored.pins[0] ?? { key: new Uint8Array(32) };
    count = new DataView(key.buffer, key.byteOffset).getUint32(0) + 1;
    const next = new Uint8Array(32);
    new DataView(next.buffer).setUint32(0, count);
    return pinHub(stored, 'hub-1', next);
  });
  writeSync(1, `${count}\n`);
}
