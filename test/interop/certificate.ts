/** A certificate for localhost, and a folder for what the peers keep: both gone with the process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** A folder that nobody else can read. */
export const folder: string = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const pair = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  algorithm: 'sha256',
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
});

/** PEM. */
export const certificate: string = pair.cert;
export const certificateKey: string = pair.private;

/** Paths of both, under the names that a HiveMind hub looks for. */
export const files: { cert: string; key: string } = {
  cert: join(folder, 'hivemind.crt'),
  key: join(folder, 'hivemind.key'),
};
writeFileSync(files.cert, certificate);
writeFileSync(files.key, certificateKey, { mode: 0o600 });
