/** A certificate for localhost, and a directory for the peers' files. Both are removed when the process exits. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localhostCertificate } from 'hub-protocol-cli/certificate';

/** A directory that only this user can read. */
export const folder: string = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const { key, cert, ca } = await localhostCertificate();

/** PEM. */
export const certificate: string = cert;
export const certificateKey: string = key;
/** Of the authority that issued it. */
export const authority: string = ca;

/** The paths of all three, the first two under the names that HiveMind's hub looks for. */
export const files: { cert: string; key: string; ca: string } = {
  cert: join(folder, 'hivemind.crt'),
  key: join(folder, 'hivemind.key'),
  ca: join(folder, 'authority.crt'),
};
writeFileSync(files.cert, certificate);
writeFileSync(files.ca, authority);
writeFileSync(files.key, certificateKey, { mode: 0o600 });
