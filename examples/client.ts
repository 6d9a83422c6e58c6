/** A client over `ws`: ClientSession between the socket and an application that sends requests. */
import {
  authorizedUrl,
  ClientSession,
  type Identity,
  keyringOptions,
  type Pattern,
  type SessionEvent,
  storePsk,
  updateKeyring,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import WebSocket from 'ws';
import type { Store } from './store.ts';

export interface ClientOptions {
  url: string;
  /** The certificate authority of the hub's certificate, as PEM. */
  ca: string;
  identity: Identity;
  /** Keeps the keyring. */
  store: Pick<Store, 'load' | 'update'>;
  derivePsk: (salt: Uint8Array) => Promise<Uint8Array>;
  patterns?: Pattern[];
  onKkFailure?: 'unpin' | 'keep-pin';
  /** Is told of every event and of everything that arrives, for a log or a timeline. */
  observe?: (what: SessionEvent | { type: 'received'; data: string | Uint8Array }) => void;
}

export type Message = SessionEvent & { type: 'message' };

export class Client {
  readonly #session: ClientSession;
  readonly #socket: WebSocket;
  readonly #options: ClientOptions;
  /** A PSK that was derived for this connection. It is stored once the hub has proved that it knows the password. */
  #derivedPsk: Uint8Array | undefined;
  readonly #waiting: { resolve: (message: Message) => void; reject: (error: unknown) => void }[] = [];
  /** Resolves when messages may be sent; rejects, with the fields of the `ended` event, if the connection ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<SessionEvent & { type: 'ended' }>;
  #onReady!: () => void;
  #onEnded!: (event: SessionEvent & { type: 'ended' }) => void;

  constructor(options: ClientOptions) {
    const { url, ca, identity, store } = options;
    this.#options = options;
    this.#session = new ClientSession({
      crypto: nodeCrypto,
      siteId: identity.siteId,
      randomBytes,
      ...keyringOptions(store.load()),
      patterns: options.patterns,
      onKkFailure: options.onKkFailure,
    });
    this.ended = new Promise((resolve) => {
      this.#onEnded = resolve;
    });
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      this.ended.then((event) => reject(failure(event)));
    });
    this.ready.catch(() => {}); // callers that do not wait for it need not handle it

    // This URL is a secret: it is not logged, and redirects are not followed.
    this.#socket = new WebSocket(authorizedUrl(url, 'example', identity.accessKey), {
      ca,
      handshakeTimeout: 10_000,
      maxPayload: 256 * 1024,
    });
    this.#socket.on('error', () => {}); // its message may contain the URL; `close` follows
    this.#socket.on('unexpected-response', (_, { statusCode }) => {
      this.#handle(this.#session.closed({ status: statusCode }));
      this.#socket.terminate();
    });
    this.#socket.on('message', (data, isBinary) => {
      const received = isBinary ? (data as Buffer) : data.toString();
      options.observe?.({ type: 'received', data: received });
      this.#handle(this.#session.receive(received));
    });
    this.#socket.on('close', (code, reason) =>
      this.#handle(this.#session.closed({ code, reason: reason.toString() })),
    );
  }

  /** Sends JSON or bytes, and returns the next message that arrives. */
  request(value: Parameters<ClientSession['sendJson']>[0] | Uint8Array): Promise<Message> {
    const messages =
      value instanceof Uint8Array ? this.#session.sendBinary(value) : this.#session.sendJson(value);
    for (const data of messages) this.#handle([{ type: 'transmit', data }]);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  close(): Promise<SessionEvent & { type: 'ended' }> {
    this.#socket.close(1000);
    return this.ended;
  }

  #becomeReady(nodeId: string): void {
    const psk = this.#derivedPsk;
    if (psk !== undefined) this.#options.store.update((keyring) => storePsk(keyring, nodeId, psk));
    this.#onReady();
  }

  #handle(events: SessionEvent[]): void {
    const { derivePsk, observe, store } = this.#options;
    for (const event of events) {
      observe?.(event);
      store.update((keyring) => updateKeyring(keyring, event)); // before anything more is sent
      if (event.type === 'transmit') this.#socket.send(event.data);
      else if (event.type === 'ready') this.#becomeReady(event.nodeId);
      else if (event.type === 'message') this.#waiting.shift()?.resolve(event);
      else if (event.type === 'close') this.#socket.close(event.code);
      else if (event.type === 'psk-needed') {
        derivePsk(event.salt).then(
          (psk) => {
            this.#derivedPsk = psk;
            this.#handle(this.#session.providePsk(psk));
          },
          () => this.#socket.close(1000), // without a PSK there is nothing to wait for
        );
      } else if (event.type === 'ended') {
        for (const { reject } of this.#waiting) reject(failure(event)); // requests in flight will not be answered
        this.#onEnded(event);
      }
    }
  }
}

/** An Error with the fields of the event. */
function failure(event: SessionEvent & { type: 'ended' }): Error {
  return Object.assign(new Error(event.error.message), event);
}
