/** A certificate for localhost, and a directory for the peers' files. Both are removed when the process exits. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localhostCertificate } from '../../examples/certificate.ts';

/** A directory that only this user can read. */
export const folder: string = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const { key, cert } = await localhostCertificate();

/** PEM. */
export const certificate: string = cert;
export const certificateKey: string = key;

/** The paths of both, under the names that HiveMind's hub looks for. */
export const files: { cert: string; key: string } = {
  cert: join(folder, 'hivemind.crt'),
  key: join(folder, 'hivemind.key'),
};
writeFileSync(files.cert, certificate);
writeFileSync(files.key, certificateKey, { mode: 0o600 });
