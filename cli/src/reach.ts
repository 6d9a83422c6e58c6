/** The way to a server, a step at a time: DNS, TCP, TLS, and the account at an MQTT broker. No secret is sent before TLS is verified. */
import { lookup } from 'node:dns/promises';
import { request } from 'node:http';
import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls';
import type { SocketOptions } from 'hub-protocol-client';
import {
  causeOf,
  causeOfOpening,
  type Finding,
  type Place,
  refusesVersion,
  sentenceOfCause,
} from 'hub-protocol-client/causes';
import { type Route, tunnel } from 'hub-protocol-client/sockets';
import { clientId, deriveTopics, type Identity } from 'hub-protocol-judge/internals';
import { generate, type IConnackPacket, type Packet, parser } from 'mqtt-packet';
import { createWebSocketStream, WebSocket } from 'ws';

/** The name of the program, for the logs of hubs and brokers. */
export const DOCTOR_NAME = 'hub-protocol-doctor';

/** What is wrong, as a sentence that says what to do. */
export class Fault extends Error {
  readonly code: string;
  /** The code of the platform, such as `ECONNREFUSED`. */
  readonly platformCode: string | undefined;
  /** The step that has failed; by default the first that has not passed. */
  readonly step: string | undefined;

  constructor(
    code: string,
    message: string,
    given: { platformCode?: string | undefined; step?: string } = {},
  ) {
    super(message);
    this.code = code;
    this.platformCode = given.platformCode;
    this.step = given.step;
  }
}

/** Where a server is, and how long each step to it may take. */
export interface Server {
  readonly place: Place;
  /** An IPv6 address has no brackets. */
  readonly host: string;
  readonly port: number;
  readonly url: string;
  readonly socket: SocketOptions;
  readonly route: Route;
  /** In milliseconds. */
  readonly timeout: number;
}

const LATE: Finding = { cause: 'not-reachable', platformCode: 'ETIMEDOUT' };
const SILENT: Finding = { cause: 'not-a-hub', platformCode: 'ETIMEDOUT' };

function faultOf(finding: Finding, { place }: Server, more = ''): Fault {
  const { cause, platformCode } = finding;
  return new Fault(cause, sentenceOfCause(finding, place) + more, { platformCode });
}

/**
 * Starts something that ends with a value or an error, and waits no longer than the server may take.
 * @param late - the finding if it does not end
 * @param start - returns what undoes it unless there is a value
 */
function within<Value>(
  server: Server,
  late: Finding,
  start: (done: (value: Value) => void, fail: (error: unknown) => void) => () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let undo = (): void => {};
    const timer = setTimeout(() => fail(faultOf(late, server)), server.timeout);
    const fail = (error: unknown): void => {
      clearTimeout(timer);
      undo();
      reject(error instanceof Fault ? error : faultOf(causeOfOpening(error, true), server));
    };
    undo = start((value) => {
      clearTimeout(timer);
      resolve(value);
    }, fail);
  });
}

/** The addresses of the host. */
export async function resolveHost(server: Server): Promise<string[]> {
  const { host } = server;
  if (isIP(host) !== 0) return [host];
  return within(server, { cause: 'not-reachable', platformCode: 'EAI_AGAIN' }, (done, fail) => {
    lookup(host, { all: true }).then((found) => done(found.map(({ address }) => address)), fail);
    return () => {}; // a lookup cannot be stopped
  });
}

export function openSocket(server: Server): Promise<Duplex> {
  const { host, port, timeout, route } = server;
  return within(server, LATE, (done, fail) => {
    if (route.proxy !== undefined) {
      tunnel(route.proxy, { host, port }, timeout, (error, socket) => (socket ? done(socket) : fail(error)));
      return () => {}; // it has the same timeout
    }
    const socket = connectTcp({ host, port, ...route.options });
    socket.once('connect', () => done(socket)).on('error', fail);
    return () => socket.destroy();
  });
}

/** Negotiates TLS, also with a certificate that is not accepted. */
export function secure(socket: Duplex, server: Server): Promise<TLSSocket> {
  const { host, route } = server;
  return within(server, SILENT, (done, fail) => {
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const tls = connectTls({ ...route.options, socket, host, rejectUnauthorized: false, ...servername });
    tls.once('secureConnect', () => done(tls)).on('error', fail);
    tls.once('close', () => fail({ code: 'ECONNRESET' }));
    return () => socket.destroy();
  });
}

/** What the certificate was refused for may be the fault of a clock. */
const OF_TIME = ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'];
/** This program was written after that, so a clock that says less is wrong. */
const WRITTEN = Date.UTC(2026, 10, 25);
const DAY = 24 * 3600 * 1000; // milliseconds

/**
 * @returns what to say of the certificate of the server
 * @throws Fault unless it is accepted
 */
export async function verify(tls: TLSSocket, server: Server): Promise<string> {
  const certificate = tls.getPeerCertificate(); // before the server can end the connection
  if (tls.authorized) {
    return `${tls.getProtocol()}; the certificate is accepted, and valid until ${dayOf(certificate.valid_to)}`;
  }
  const finding = causeOf({ code: tls.authorizationError }) ?? { cause: 'certificate-refused' as const };
  const isOfTime = OF_TIME.some((code) => code === finding.platformCode);
  const more = isOfTime ? ` ${clockNote(Date.now(), await timeOf(tls, server), certificate)}` : '';
  tls.destroy();
  throw faultOf(finding, server, more);
}

/** Says whose clock is wrong, as far as that can be seen. */
function clockNote(now: number, theirs: number, certificate: PeerCertificate): string {
  if (now < WRITTEN) return 'That clock is wrong: this program is newer.';
  if (Math.abs(theirs - now) > DAY) {
    return `The server’s clock says ${dayOf(theirs)}, so one of the two is wrong.`;
  }
  const { valid_from, valid_to } = certificate;
  return `The certificate is valid from ${dayOf(valid_from)} to ${dayOf(valid_to)}.`;
}

/** A day, as people write it; what a server wrote in another form is not shown. */
function dayOf(time: number | string): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? 'an unknown day' : date.toISOString().slice(0, 10);
}

/** How long a server may take to tell its time, in milliseconds. */
const LONGEST_WAIT_FOR_TIME = 2000;

/** The time of a web server, in milliseconds; `NaN` if it does not tell it. The server was not verified, so it learns nothing. */
function timeOf(tls: TLSSocket, { host, place, timeout }: Server): Promise<number> {
  if (place.scheme.startsWith('mqtt')) return Promise.resolve(Number.NaN);
  const signal = AbortSignal.timeout(Math.min(timeout, LONGEST_WAIT_FOR_TIME));
  return new Promise((resolve) => {
    const asked = request({ method: 'HEAD', host, createConnection: () => tls, signal }, ({ headers }) =>
      resolve(Date.parse(String(headers.date))),
    );
    asked.on('error', () => resolve(Number.NaN)).end();
  });
}

/** The most that is read of a broker, in bytes. */
const MOST_OF_BROKER = 512 * 1024;

/** What a broker of MQTT 5 allows; an older one does not tell it. */
export type BrokerLimits = IConnackPacket['properties'];

/**
 * Logs on to a broker, subscribes to the client's topic, and leaves. The hub does not notice.
 * @param open - a verified socket; a broker that does not speak MQTT 5 gets a second one, with 3.1.1
 * @throws Fault if the broker refuses the account or the topic
 */
export async function logOn(
  open: () => Promise<Duplex>,
  identity: Identity,
  server: Server,
): Promise<BrokerLimits> {
  try {
    return await logOnWith(5, await open(), identity, server);
  } catch (error) {
    if (!(error instanceof Fault) || !refusesVersion(error)) throw error;
    return logOnWith(4, await open(), identity, server);
  }
}

async function logOnWith(
  protocolVersion: 4 | 5,
  socket: Duplex,
  identity: Identity,
  server: Server,
): Promise<BrokerLimits> {
  const { username, password, qos } = identity.mqtt!;
  const account = { username, password: Buffer.from(password) };
  const { subscribe: topic } = deriveTopics(identity.mqtt!);
  const limits = await within<BrokerLimits>(server, SILENT, (done, fail) => {
    let received = 0;
    let allowed: BrokerLimits;
    const refuse = (kind: string, code: number): void =>
      fail(faultOf({ cause: 'broker-refused', platformCode: `${kind}_${code}` }, server));
    const isNone = (): void => fail(faultOf({ cause: 'not-a-hub' }, server));
    const write = (packet: Packet): boolean => socket.write(generate(packet, { protocolVersion }));
    const packets = parser({ protocolVersion });
    packets.on('error', isNone);
    packets.on('packet', (packet) => {
      if (packet.cmd === 'connack') {
        const isOld = protocolVersion === 5 && packet.length === 2; // of 3.1.1, whatever version was asked for
        const code = isOld ? 1 : (packet.returnCode ?? packet.reasonCode!);
        if (protocolVersion === 5) allowed = packet.properties ?? {};
        if (code !== 0) refuse('CONNACK', code);
        else write({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }] });
      } else if (packet.cmd === 'suback') {
        const granted = packet.granted[0] as number;
        if (granted >= 0x80) refuse('SUBACK', granted);
        else done(allowed);
      } else if (packet.cmd === 'connect') isNone();
    });
    socket.on('data', (part: Buffer) => {
      received += part.length;
      if (received > MOST_OF_BROKER) isNone();
      else packets.parse(part);
    });
    socket.on('error', fail);
    socket.on('close', () => setImmediate(fail, { code: 'ECONNRESET' })); // through a proxy, an alert of TLS may come after it
    const id = clientId(DOCTOR_NAME, identity.accessKey);
    write({ cmd: 'connect', protocolVersion, clientId: id, clean: true, keepalive: 60, ...account });
    return () => socket.destroy();
  });
  socket.end(generate({ cmd: 'disconnect' }, { protocolVersion }));
  return limits;
}

/** A broker's MQTT over WebSocket. */
export function overWebSocket({ url, route: { options, agent, headers } }: Server): Duplex {
  const given = { ...options, agent, headers: headers as Record<string, string>, maxPayload: MOST_OF_BROKER };
  const socket = new WebSocket(url, ['mqtt'], given);
  return createWebSocketStream(socket);
}
