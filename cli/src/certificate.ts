/**
 * Creates a certificate for localhost, its key, and the certificate of the authority that issued it, as PEM.
 *
 * The hub sends both certificates, and both name the key of their issuer, as public authorities' certificates do. Moddable
 * requires this: it checks the name in a certificate only if a second one follows, and finds the authority by the name of its
 * key.
 */
import { KeyObject, webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

export interface Certificate {
  key: string;
  /** The hub's own certificate, followed by the authority's. */
  cert: string;
  /** The certificate of the authority, which clients trust. */
  ca: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const AUTHORITY = 'an authority for localhost';
const DAY = 24 * 3600 * 1000; // milliseconds

export interface CertificateOptions {
  /** The name that the certificate is for (default `localhost`, with the address 127.0.0.1). */
  readonly host?: string;
  /** From when to when it is valid (default from yesterday for a year). */
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

export async function localhostCertificate(options: CertificateOptions = {}): Promise<Certificate> {
  const { host = 'localhost', notBefore, notAfter } = options;
  const [authority, own] = [await newKeys(), await newKeys()];
  const ca = await issue(AUTHORITY, authority, authority, [
    new BasicConstraintsExtension(true, 0, true),
    new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
  ]);
  const extensions = [
    new BasicConstraintsExtension(false),
    new SubjectAlternativeNameExtension([
      { type: 'dns', value: host },
      // Moddable uses it as the name
      ...(host === 'localhost' ? [{ type: 'ip', value: '127.0.0.1' } as const] : []),
    ]),
  ];
  const cert = await issue(host, own, authority, extensions, notBefore, notAfter);
  const key = KeyObject.from(own.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { key: key.toString(), cert: `${cert}\n${ca}\n`, ca };
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function issue(
  subject: string,
  { publicKey }: webcrypto.CryptoKeyPair,
  issuer: webcrypto.CryptoKeyPair,
  extensions: Extension[],
  notBefore: Date = new Date(Date.now() - DAY),
  notAfter: Date = new Date(Date.now() + 365 * DAY),
): Promise<string> {
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${subject}`,
    issuer: `CN=${AUTHORITY}`,
    notBefore,
    notAfter,
    signingAlgorithm: ALGORITHM,
    publicKey,
    signingKey: issuer.privateKey,
    extensions: [
      ...extensions,
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return certificate.toString('pem');
}
