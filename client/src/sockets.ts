/**
 * How the transports of Node.js reach a server: the option `socket`, for WebSockets, MQTT and HTTPS alike, and the proxy that the
 * environment names, as Node.js reads it.
 */
import type { Agent, ClientRequest, OutgoingHttpHeaders } from 'node:http';
import type { NetConnectOpts, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { DetailedPeerCertificate, SecureContext, TLSSocket } from 'node:tls';
import { LocalError } from 'hub-protocol';
import { userAgentHeader } from './address.ts';
import { hasTls, type Place, placeOf, socketOptions } from './causes.ts';
import type { NodeOptions, SocketOptions } from './options.ts';

// As in atomic-file.ts.
const http = process.getBuiltinModule('node:http');
const https = process.getBuiltinModule('node:https');
const net = process.getBuiltinModule('node:net');
const tls = process.getBuiltinModule('node:tls');

type Done = (error: Error | null, stream?: Duplex) => void;

/** Ways to one server. */
export interface Route {
  /** What `net.connect`, `tls.connect` and their like take. */
  readonly options: object;
  readonly agent: Agent | undefined;
  readonly headers: OutgoingHttpHeaders;
  /** Of the environment, if it is used. */
  readonly proxy: URL | undefined;
  /** Opens a connection without HTTP, with TLS if the address has it. */
  dial(): Duplex;
  /** Its TLS sessions, unless an agent has them. */
  readonly tickets: Tickets | undefined;
  readonly place: Place;
}

/**
 * @param url - which was checked
 * @param timeout - how long a connection may take, in milliseconds
 * @throws LocalError `bad-argument`
 */
export function routeTo(
  url: string,
  {
    socket = Object.create(null),
    userAgent = 'hub-protocol-client',
  }: Pick<NodeOptions, 'socket' | 'userAgent'>,
  timeout: number,
  partner: Place['partner'] = 'hub',
): Route {
  const { agent, headers, ...rest } = socket;
  const given = agent as Agent | undefined;
  const { ca, cert, key, passphrase } = socket;
  const own = ca !== undefined || cert !== undefined || key !== undefined;
  const options = {
    ...socketOptions(timeout),
    ...rest,
    ...(own && { secureContext: contextOf({ ca, cert, key, passphrase }) }), // Bun takes the others only
  };
  const place = placeOf(url, partner);
  const isTls = hasTls(place);
  const host = place.host.replace(/^\[|\]$/g, '');
  const port = Number(place.at.slice(place.at.lastIndexOf(':') + 1));
  const target = {
    ...options,
    host,
    port,
    servername: socket.servername ?? (net.isIP(host) === 0 ? host : ''),
  };
  const proxy = given === undefined ? proxyFor({ isTls, host, port }) : undefined;
  const through = proxy?.isUsed ? proxy.url : undefined;
  const used = given ?? (through && agentThrough(through, isTls, timeout));
  const tickets = isTls && given === undefined ? new Tickets() : undefined;
  return {
    options,
    agent: used,
    headers: { ...userAgentHeader(userAgent), ...headers },
    proxy: through,
    dial() {
      if (used !== undefined)
        return new Later((done) => askAgent(used, { ...target, secureEndpoint: isTls }, done));
      return tickets === undefined
        ? net.connect(target as NetConnectOpts)
        : tickets.keep(tls.connect({ ...target, session: tickets.take() } as object));
    },
    tickets,
    place: {
      ...place,
      hasAgent: given !== undefined,
      ...(proxy && { proxy: { at: placeOf(proxy.url.href).at, isUsed: proxy.isUsed } }),
    },
  };
}

/**
 * The TLS session of the last connection (RFC 8446, section 2.2). With it a server shows no certificate again, so it is over when one of
 * its certificates is: Node.js would not look.
 */
class Tickets {
  #latest: Buffer | undefined;
  #used: Buffer | undefined;
  #until = 0;

  /** One that does not lead to a session is not used again. */
  take(): Buffer | undefined {
    this.#used = Date.now() < this.#until ? this.#latest : undefined;
    this.#latest = undefined;
    return this.#used;
  }

  /** In each engine these events come once the certificate is verified. */
  keep<Secure extends TLSSocket>(socket: Secure): Secure {
    socket.on('secureConnect', () => {
      if (socket.isSessionReused()) this.#latest ??= this.#used;
      else this.#until = endOf(socket.getPeerCertificate(true));
    });
    return socket.on('session', (ticket: Buffer) => {
      this.#latest = ticket;
    });
  }
}

/** When the first certificate of a chain expires. */
function endOf(leaf: DetailedPeerCertificate): number {
  const ends = new Map<string, number>(); // the last one names itself as its issuer
  for (let each = leaf; each && !ends.has(each.fingerprint256); each = each.issuerCertificate)
    ends.set(each.fingerprint256, Date.parse(each.valid_to));
  return Math.min(...ends.values());
}

type Pair = Pick<SocketOptions, 'ca' | 'cert' | 'key' | 'passphrase'>;

let latest: { readonly pair: Pair; readonly context: SecureContext } | undefined;

/** The latest is kept: a new one for each connection would parse the certificates again. */
function contextOf(pair: Pair): SecureContext {
  const { ca, cert, key, passphrase } = latest?.pair ?? {};
  if (
    latest !== undefined &&
    ca === pair.ca &&
    cert === pair.cert &&
    key === pair.key &&
    passphrase === pair.passphrase
  )
    return latest.context;
  try {
    latest = { pair, context: tls.createSecureContext(pair) };
  } catch {
    const message =
      '"socket" expected a certificate (cert) and its private key (key), both as PEM, and the key’s passphrase if it has one';
    throw new LocalError('bad-argument', message);
  }
  return latest.context;
}

/** A stream that is there at once, over a socket that comes later. */
class Later extends Duplex {
  #socket: Duplex | undefined;

  constructor(start: (done: Done) => void) {
    super({
      construct: (callback) =>
        start((error, socket) => {
          if (socket === undefined) return callback(error);
          this.#socket = socket;
          socket.on('data', (part) => this.push(part) || socket.pause());
          socket.on('end', () => this.push(null));
          socket.on('error', (fault) => this.destroy(fault));
          socket.on('close', () => this.destroy());
          callback();
          this.emit('connect');
        }),
    });
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(part: Uint8Array, _: string, callback: (error?: Error | null) => void): void {
    this.#socket!.write(part, callback);
  }

  override _final(callback: () => void): void {
    this.#socket!.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket?.destroy();
    callback(error);
  }
}

/** An agent makes sockets for requests, and this one is for none. */
function askAgent(
  agent: Agent,
  options: { readonly host: string; readonly secureEndpoint: boolean },
  done: Done,
): void {
  const request = { getHeader: () => options.host, once: () => {}, on: () => {}, emit: () => false };
  try {
    // All versions of Node.js have it, as the agents for proxies, which add theirs.
    (agent as Agent & { createSocket(request: unknown, options: object, done: Done): void }).createSocket(
      request,
      options,
      done,
    );
  } catch (error) {
    done(error as Error);
  }
}

interface Target {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
}

interface Proxy {
  readonly url: URL;
  /** Node.js uses what the environment names only if it is told to. */
  readonly isUsed: boolean;
}

/** The proxy for a server, by the variables that Node.js reads. */
export function proxyFor(
  { isTls, host, port }: Target,
  env: NodeJS.ProcessEnv = process.env,
): Proxy | undefined {
  const read = (name: string): string => env[name.toLowerCase()] || env[name] || '';
  const address = read(isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  const excepted = read('NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/);
  if (address === '' || excepted.some((pattern) => excepts(pattern, host.toLowerCase(), port)))
    return undefined;
  const full = address.includes('://') ? address : `http://${address}`;
  if (!URL.canParse(full) || !/^https?:$/.test(new URL(full).protocol)) return undefined;
  const given = `${env.NODE_OPTIONS ?? ''} ${process.execArgv.join(' ')}`;
  return {
    url: new URL(full),
    isUsed: env.NODE_USE_ENV_PROXY === '1' || / --use-env-proxy\b/.test(` ${given}`),
  };
}

/** Whether a member of NO_PROXY names a host: a name, an address, `.example` or `*.example`, a range of addresses, also with a port. */
function excepts(pattern: string, host: string, port: number): boolean {
  if (pattern === '*' || pattern === host || pattern === `${host}:${port}`) return pattern !== '';
  if (/^\*?\./.test(pattern)) return host.endsWith(pattern.replace(/^\*/, ''));
  const [first, last] = pattern.split('-').map(numberOf);
  const own = numberOf(host);
  return first !== undefined && last !== undefined && own !== undefined && first <= own && own <= last;
}

function numberOf(address: string): number | undefined {
  return net.isIPv4(address)
    ? address.split('.').reduce((sum, byte) => 256 * sum + Number(byte), 0)
    : undefined;
}

/** An agent whose sockets lead through a proxy, by CONNECT (RFC 9110, section 9.3.6), which also lets MQTT and WebSockets through. */
function agentThrough(proxy: URL, isTls: boolean, timeout: number): Agent {
  const agent = new (isTls ? https : http).Agent({ keepAlive: true });
  const through = {
    createConnection(
      options: NetConnectOpts & { host: string; port: number; servername?: string },
      done: Done,
    ) {
      tunnel(proxy, options, timeout, (error, socket) => {
        if (socket === undefined || !isTls) return done(error, socket);
        const { host } = options;
        done(
          null,
          tls.connect({ ...options, socket, servername: net.isIP(host) === 0 ? host : '' } as object),
        );
      });
    },
  };
  return Object.assign(agent, through);
}

/** Asks a proxy for a connection to a server. */
export function tunnel(
  proxy: URL,
  { host, port }: { host: string; port: number },
  timeout: number,
  done: Done,
): void {
  const at = `${net.isIPv6(host) ? `[${host}]` : host}:${port}`;
  const account = [proxy.username, proxy.password].map(decodeURIComponent).join(':');
  const request: ClientRequest = (proxy.protocol === 'https:' ? https : http).request({
    ...{
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    },
    ...{ method: 'CONNECT', path: at, agent: false, timeout, ...socketOptions(timeout) },
    headers: {
      host: at,
      ...(account !== ':' && { 'proxy-authorization': `Basic ${Buffer.from(account).toString('base64')}` }),
    },
  });
  const fail = (code: string | number | undefined): void =>
    done(Object.assign(new Error('the proxy has opened no connection'), { code: `PROXY_${code}` }));
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    request.off('error', failed);
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) socket.unshift(head);
      return done(null, socket);
    }
    socket.destroy();
    fail(statusCode);
  });
  request.on('response', (response) => {
    response.destroy();
    fail(response.statusCode);
  });
  const failed = (error: NodeJS.ErrnoException): void => fail(error.code ?? 'ECONNRESET');
  request.on('error', failed);
  request.on('timeout', () => request.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
  request.end();
}
