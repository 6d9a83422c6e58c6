/**
 * Creates a certificate for localhost, its key, and the certificate of the authority that issued it, as PEM. The hub sends both
 * certificates, as hubs should: Moddable checks the name in a certificate only if a second one follows.
 */
import { type CertificateExtension, type GenerateResult, generate } from 'selfsigned';

export interface Certificate {
  key: string;
  /** The hub's own certificate, and then that of the authority. */
  cert: string;
  /** The certificate of the authority, which clients trust. */
  ca: string;
}

export async function localhostCertificate(): Promise<Certificate> {
  const ca = await issue('an authority for localhost', [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
  ]);
  const own = await issue(
    'localhost',
    [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
    { key: ca.private, cert: ca.cert },
  );
  return { key: own.private, cert: `${own.cert.trim()}\n${ca.cert}`, ca: ca.cert };
}

function issue(
  value: string,
  extensions: CertificateExtension[],
  ca?: { key: string; cert: string },
): Promise<GenerateResult> {
  const options = { keyType: 'ec', algorithm: 'sha256', extensions, ...(ca && { ca }) } as const;
  return generate([{ name: 'commonName', value }], options);
}
