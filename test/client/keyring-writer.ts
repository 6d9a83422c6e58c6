/**
 * A program that stores pins for ever, until it is killed: `keyring-writer.ts FILE NAME`. Prints the number of each pin once
 * it is stored.
 */
import { writeSync } from 'node:fs';
import { updateKeyring } from 'hub-protocol';
import { KeyringFile } from '../../client/dist/keyring-file.js';

const [path, name] = process.argv.slice(2) as [string, string];
const most = Number(process.argv[4] ?? Number.POSITIVE_INFINITY);
const keyring = new KeyringFile(path, 'kiosk-7');
for (let i = 0; i < most; i++) {
  const key = new Uint8Array(32).fill((i % 255) + 1);
  keyring.update((stored) => updateKeyring(stored, { type: 'pin', nodeId: `${name} ${i}`, key }));
  writeSync(1, `${i}\n`);
}
