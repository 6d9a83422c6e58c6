/** A certificate for localhost, and a folder for what the peers keep: both gone with the process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localhostCertificate } from '../../examples/certificate.ts';

/** A folder that nobody else can read. */
export const folder: string = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const { key, cert } = await localhostCertificate();

/** PEM. */
export const certificate: string = cert;
export const certificateKey: string = key;

/** Paths of both, under the names that a HiveMind hub looks for. */
export const files: { cert: string; key: string } = {
  cert: join(folder, 'hivemind.crt'),
  key: join(folder, 'hivemind.key'),
};
writeFileSync(files.cert, certificate);
writeFileSync(files.key, certificateKey, { mode: 0o600 });
