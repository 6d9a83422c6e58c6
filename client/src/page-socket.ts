/** A client over the global WebSocket of pages and of React Native. */
import { authorizedUrl } from 'hub-protocol';
import { jsCrypto as crypto } from 'hub-protocol/js';
import { addressOf, cannotOpen } from './address.ts';
import { budgetOf } from './budget.ts';
import { Client } from './client.ts';
import { binaryReader } from './inflate-in-page.ts';
import { notAPage } from './keyring-storage.ts';
import type { ConnectOptions, Derive, KeyringStore } from './options.ts';
import { type Place, placeOf, unknownCause } from './place.ts';
import type { Connection, Failure, Transport } from './platform.ts';
import { Tab } from './tab.ts';

/** How long another tab may have the connection until this one says so, in milliseconds. One that is loaded again has let it go by then. */
const PATIENCE = 1000;
/** How often it says so: at most that often, in milliseconds. */
const AGAIN = 60_000;
const PING = { msg_type: 'ping', payload: {} }; // a message, since such a WebSocket cannot ping
/** All that a page can know of its connection. */
const CAUSES: { readonly [platformCode: string]: (place: Place) => string } = {
  CONNECT_SRC: ({ scheme, at }) =>
    `The Content-Security-Policy of this page forbids the connection. Add ${scheme}://${at} to its connect-src.`,
  ANOTHER_TAB: () =>
    'One tab at a time has the connection. When the other is closed, this one connects by itself.',
};
const randomBytes = (length: number): Uint8Array<ArrayBuffer> =>
  globalThis.crypto.getRandomValues(new Uint8Array(length));

export function connectByWebSocket(
  options: ConnectOptions,
  { keyring, derive }: { keyring: KeyringStore; derive: Derive },
): Client {
  const { identity, allowPlaintext, pingEvery = 60_000, userAgent = 'hub-protocol-client' } = options;
  const { url } = addressOf(identity, 'wss', { allowPlaintext });
  if (typeof WebSocket === 'undefined') throw notAPage();
  const authorized = authorizedUrl(url, userAgent, identity.accessKey, { allowPlaintext });

  let latest: Connection | undefined;
  const tab = new Tab(identity.accessKey, {
    isNew: () => keyring.load().staticKeyIsFresh,
    back() {
      if (client.state === 'waiting') client.resume();
    },
    left: () => latest?.closed(),
  });

  /** Opens a WebSocket once no other tab has one. */
  function open(connection: Connection): Transport {
    let transport: Transport | undefined;
    let isOver = false;
    latest = connection;
    const late = setTimeout(() => {
      connection.closed({ cause: 'not-reachable', platformCode: 'ANOTHER_TAB', retryAfter: AGAIN });
      tab.enter(() => client.resume());
    }, PATIENCE);
    tab.enter(() => {
      clearTimeout(late);
      if (isOver) return;
      try {
        transport = dial(connection);
      } catch (error) {
        connection.closed(cannotOpen(error));
      }
    });
    return {
      write: (data) => transport?.write(data),
      unsent: () => transport?.unsent?.() ?? 0,
      close(code) {
        isOver = true;
        clearTimeout(late);
        transport?.close(code);
      },
    };
  }

  function dial(connection: Connection): Transport {
    let isOpen = false;
    let waited = 0; // with the last ping, in bytes
    let written = 0; // since then
    /** A browser does not say why there is no connection, so that a page learns nothing of its network. */
    const end = (closing?: { code: number; reason: string }): void =>
      connection.closed(isOpen ? closing : { cause: 'not-reachable', platformCode });
    let platformCode: string | undefined;
    /** Only the page itself hears what its policy has blocked, before the connection fails, and what it would block. */
    const heard = ({ effectiveDirective, disposition, blockedURI }: SecurityPolicyViolationEvent): void => {
      if (effectiveDirective !== 'connect-src' || disposition !== 'enforce' || isOpen) return;
      if (blockedURI.startsWith(place.scheme)) platformCode = 'CONNECT_SRC';
    };
    globalThis.document?.addEventListener?.('securitypolicyviolation', heard);
    const socket = new WebSocket(authorized);
    socket.binaryType = 'arraybuffer';
    const pings = setInterval(() => {
      // The hub does not read, if nothing has left since the last ping.
      if (waited > 0 && socket.bufferedAmount >= waited + written) return connection.closed('timeout');
      connection.send(PING);
      waited = socket.bufferedAmount;
      written = 0;
    }, pingEvery);
    socket.onmessage = ({ data }) =>
      connection.received(typeof data === 'string' ? data : new Uint8Array(data));
    socket.onopen = () => {
      isOpen = true;
    };
    socket.onerror = () => end(); // nothing follows if the page's Content-Security-Policy blocks the connection
    socket.onclose = ({ code, reason }) => end({ code, reason });
    return {
      write(data) {
        written += data.length;
        socket.send(data as Uint8Array<ArrayBuffer>);
      },
      unsent: () => socket.bufferedAmount,
      close() {
        clearInterval(pings);
        globalThis.document?.removeEventListener?.('securitypolicyviolation', heard);
        socket.close(); // browsers do not accept the session's codes
      },
    };
  }

  const place = placeOf(url);
  const client = new Client(options, {
    crypto,
    randomBytes,
    readBinary: binaryReader(budgetOf(options)),
    derive,
    keyring,
    open,
    place,
    isBlind: true,
    advise: ({ code, platformCode = '' }: Failure) =>
      code === 'not-reachable' ? (CAUSES[platformCode]?.(place) ?? unknownCause(place)) : undefined,
  });
  return client.on('end', () => tab.leave());
}
