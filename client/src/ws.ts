/** `hub-protocol-client`: a client over WebSocket for Node.js, Bun and Deno, with `ws`. */
import type { TLSSocket } from 'node:tls';
import { authorizedUrl } from 'hub-protocol';
import { addressOf } from './address.ts';
import { budgetOf } from './budget.ts';
import { causeOfOpening, causeOfSilence, openingTimeout, readRetryAfter } from './causes.ts';
import type { Client } from './client.ts';
import { clientOnNode } from './client-on-node.ts';
import type { NodeOptions } from './options.ts';
import { LIMITS, watchArriving } from './pieces.ts';
import type { Connection, Transport } from './platform.ts';
import { readNodeOptions } from './read-options.ts';
import { routeTo } from './sockets.ts';
import WebSocket from './ws-on-node.cts';

export type { Client } from './client.ts';
export { KeyringFile } from './keyring-file.ts';
export type * from './options.ts';

/**
 * Connects to the hub of an identity, and stays connected until `end` is called.
 * @param options - the identity, where to keep the keyring, and what may differ from the defaults
 * @returns the client. It connects once the code that called this has ended, so listeners that you add at once hear everything
 * @throws LocalError if the hub must not be used, `keyring-…` if the keyring cannot be read or stored
 * @example
 * import { parseIdentity } from 'hub-protocol';
 * import { connect } from 'hub-protocol-client';
 *
 * const identity = parseIdentity({ access_key: 'kiosk-7', password: 'correct horse', default_master: 'wss://hub.example' });
 * const client = connect({ identity, keyring: 'kiosk-7.keyring.json' });
 * client.on('connect', ({ nodeId }) => console.log('connected to', nodeId));
 * client.on('ask', ({ advice }) => console.error(advice)); // only a person can help
 * client.on('end', () => console.log('ended')); // ended
 * client.end(); // when the program ends
 */
export function connect(options: NodeOptions): Client {
  const given = readNodeOptions(options);
  const budget = budgetOf(given);
  const { identity, allowPlaintext, userAgent = 'hub-protocol-client', pingEvery = 15_000, policy } = given;
  const { url } = addressOf(identity, 'wss', { allowPlaintext });
  // This URL is a secret: it is not logged, and redirects are not followed.
  const authorized = authorizedUrl(url, userAgent, identity.accessKey, { allowPlaintext });
  const timeout = openingTimeout(policy?.deadlines);
  const { options: ofSocket, agent, headers, tickets, place } = routeTo(url, given, timeout);

  function open(connection: Connection): Transport {
    let isConnected = false;
    let isOpen = false;
    const socket = new WebSocket(authorized, {
      ...ofSocket,
      ...(tickets && { session: tickets.take() }),
      agent,
      headers,
      maxPayload: budget.frame,
      ...LIMITS,
      allowSynchronousEvents: false, // one message, then whatever else waits in the event loop
      perMessageDeflate: false, // what is encrypted cannot be compressed
      finishRequest(request) {
        request.on('socket', (raw) => {
          isConnected = !raw.connecting; // through a proxy
          tickets?.keep(raw as TLSSocket);
          raw.once('connect', () => {
            isConnected = true;
          });
        });
        request.end();
      },
    });
    keepAlive(socket, pingEvery);
    watchArriving(socket, connection);
    socket.on('message', (data, isBinary) =>
      connection.received(isBinary ? (data as Buffer) : data.toString()),
    );
    // The option handshakeTimeout does not count while TLS is agreed.
    const late = setTimeout(() => connection.closed(causeOfSilence(isConnected)), timeout);
    socket.on('open', () => {
      isOpen = true;
      clearTimeout(late);
    });
    socket.on('close', () => clearTimeout(late));
    socket.on('error', (error) => {
      if (!isOpen) connection.closed(causeOfOpening(error, isConnected)); // later, `close` follows
    });
    socket.on('unexpected-response', (_, { statusCode: status, headers }) =>
      connection.closed({
        status: status!,
        platformCode: `HTTP_${status}${headers['www-authenticate'] === undefined ? '' : '_LOGIN'}`,
        retryAfter: readRetryAfter(headers['retry-after']),
      }),
    );
    socket.on('close', (code, reason) => connection.closed({ code, reason: reason.toString() }));
    return {
      write: (data) => socket.send(data, (error) => error && connection.closed()),
      unsent: () => socket.bufferedAmount,
      close: (code) => socket.close(code),
    };
  }

  return clientOnNode(given, { open, place });
}

/** The part of a WebSocket of `ws` that pings need. */
interface PingedSocket {
  /** 0 until it is open, then 1. */
  readonly readyState: number;
  /** Sends a ping. */
  ping(): void;
  /** Ends the connection without a farewell. */
  terminate(): void;
  /**
   * Calls a listener at each event.
   * @param event - its name
   * @param listener - the listener
   * @returns anything
   */
  on(event: 'pong' | 'message' | 'close' | 'error', listener: () => void): unknown;
}

/** What Node.js has of a socket: its own timeouts of sockets look at it, too. With TLS, `_parent` is the one below. */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
  readonly _parent?: Handle;
}

/**
 * How much is to be sent, and how much the system has taken so far, both in bytes. The former does not show whether bytes leave:
 * Node.js passes all that waits at once, and subtracts it when the last byte is taken. NaN on platforms that do not tell it.
 */
function backlogOf(socket: object): { waiting: number; taken: number } {
  const { bufferedAmount = Number.NaN, _socket } = socket as {
    bufferedAmount?: number;
    _socket?: { _handle?: Handle | null };
  };
  const handle = _socket?._handle?._parent ?? _socket?._handle;
  return {
    waiting: bufferedAmount,
    taken: handle ? handle.bytesWritten - handle.writeQueueSize : Number.NaN,
  };
}

/**
 * Pings the other end of a WebSocket, and terminates the socket if one ping is not answered before the next. A ping waits behind what
 * was sent earlier: as long as the other end takes some of that between two pings it is there, and it may then be silent for as long
 * again, since the network holds the rest. Its answers wait, too: while nothing waits here, a message is as good. Never throws.
 * @param socket - a WebSocket of `ws`
 * @param every - the time between pings, in milliseconds
 */
export function keepAlive(socket: PingedSocket, every = 30_000): void {
  let isAlive = true;
  let isHeard = false;
  let before = backlogOf(socket);
  let patience = 0; // how many pings need no answer
  const check = (): void => {
    if (socket.readyState === WebSocket.CONNECTING) return; // the opening has a time of its own
    const backlog = backlogOf(socket);
    if (isHeard && backlog.waiting === 0) isAlive = true;
    if (before.waiting + backlog.waiting > 0 && backlog.taken > before.taken) patience++;
    else if (!isAlive && patience-- === 0) socket.terminate();
    before = backlog;
    isAlive = false;
    isHeard = false;
    if (socket.readyState === WebSocket.OPEN) socket.ping();
  };
  // Not at once: with TLS, what another timer has just written waits until this turn of the event loop ends.
  const pings = setInterval(() => setImmediate(check), every);
  socket.on('pong', () => {
    isAlive = true;
    patience = 0;
  });
  socket.on('message', () => {
    isHeard = true;
  });
  socket.on('close', () => clearInterval(pings));
  socket.on('error', () => {}); // `close` follows; the message may contain the URL, so it is not logged
}
