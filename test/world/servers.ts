/** Servers on loopback, each with one fault on the way of a client to its hub, and certificates, each with one of theirs. */
import { KeyObject, webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import {
  BasicConstraintsExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { type WebSocket, WebSocketServer } from 'ws';

const closers: (() => unknown)[] = [];

/** Closes something when the test is over. */
export function closeLater(...close: readonly (() => unknown)[]): void {
  closers.push(...close);
}

/** For `after.each`. Closes in reverse order. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

/** The connections of the servers that are open. */
export const sockets: Set<Socket> = new Set();

const servers = new Set<Server>();

/** From now on the servers accept no further connection. */
export function stopListening(): void {
  for (const server of servers) server.close();
}

/** Returns the port. */
export async function listen(server: Server): Promise<number> {
  for (const event of ['connection', 'secureConnection'])
    server.on(event, (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    });
  server.on('tlsClientError', () => {});
  servers.add(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closeLater(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    servers.delete(server);
  });
  return (server.address() as AddressInfo).port;
}

/** A port that nothing listens to. */
export async function closedPort(): Promise<number> {
  const port = await listen(createTcpServer());
  await closers.pop()!();
  return port;
}

/** A server that does something with each TCP connection; it hears that the other side has ended. */
export const tcp = (serve: (socket: Socket) => void = () => {}): Promise<number> =>
  listen(
    createTcpServer((socket) => {
      serve(socket);
      socket.resume();
    }),
  );

/** A server that does something when a client has sent its first bytes. */
export const whenAsked = (serve: (socket: Socket) => void) => (): Promise<number> =>
  tcp((socket) => socket.once('data', () => serve(socket)));

/** A server that does something with each WebSocket, without TLS. */
export async function webSockets(
  serve: (socket: WebSocket, request: IncomingMessage) => void = () => {},
): Promise<number> {
  const server = createHttpServer();
  new WebSocketServer({ server }).on('connection', serve);
  return listen(server);
}

/** What a web server answers to everything; without a status, nothing. */
export interface Answer {
  readonly status?: number | undefined;
  readonly headers?: object;
  readonly text?: string;
  readonly tls?: Issued;
}

export function web({ status, headers, text = '', tls }: Answer): Promise<number> {
  const answer = (_: IncomingMessage, response: ServerResponse): void => {
    if (status !== undefined) response.writeHead(status, { ...headers }).end(`<h1>${text}</h1>`);
  };
  const server = tls === undefined ? createHttpServer(answer) : createHttpsServer({ ...tls }, answer);
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const more = `Connection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    request.resume();
    if (status !== undefined) socket.end(`HTTP/1.1 ${status} ${text}\r\n${more}`);
  });
  return listen(server);
}

export interface Issued {
  readonly key: string;
  readonly cert: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY = 24 * 3600 * 1000;
const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
const authorityKeys = await newKeys();

/** @param days - from and to which day after today it is valid */
async function issue(
  name: string,
  days: readonly [number, number] = [-1, 30],
  isSelfSigned = false,
): Promise<Issued> {
  const keys = name === 'authority' ? authorityKeys : await newKeys();
  const [notBefore, notAfter] = days.map((count) => new Date(Date.now() + count * DAY)) as [Date, Date];
  const certificate = await X509CertificateGenerator.create({
    subject: `CN=${name}`,
    issuer: `CN=${isSelfSigned ? name : 'authority'}`,
    notBefore,
    notAfter,
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: isSelfSigned ? keys.privateKey : authorityKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(name === 'authority'),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: name }]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
  return { key, cert: certificate.toString('pem') };
}

/** The authority that has issued the others. */
export const CA: string = (await issue('authority')).cert;
/** For localhost, unless the name says otherwise; alone, without the authority's. */
export const VALID: Issued = await issue('localhost');
export const WITH_AUTHORITY: Issued = { key: VALID.key, cert: `${VALID.cert}\n${CA}` };
export const SELF_SIGNED: Issued = await issue('localhost', [-1, 1], true);
export const OF_ANOTHER: Issued = await issue('hub.example');
export const EXPIRED: Issued = await issue('localhost', [-30, -1]);
export const EARLY: Issued = await issue('localhost', [1, 30]);
