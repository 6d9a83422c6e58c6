/** A client over `ws`: ClientSession between the socket and an application that asks. */
import {
  authorizedUrl,
  ClientSession,
  type Identity,
  type Keyring,
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
  /** PEM of who signed the hub's certificate. */
  ca: string;
  identity: Identity;
  /** Where the keyring record is kept. */
  store: Pick<Store, 'load' | 'save'>;
  derivePsk: (salt: Uint8Array) => Promise<Uint8Array>;
  patterns?: Pattern[];
  onKkFailure?: 'unpin' | 'keep-pin';
  /** Sees every event, and what came from the socket, for a log or a timeline. */
  observe?: (what: SessionEvent | { type: 'received'; data: string | Uint8Array }) => void;
}

export type Message = SessionEvent & { type: 'message' };

export class Client {
  readonly #session: ClientSession;
  readonly #socket: WebSocket;
  readonly #options: ClientOptions;
  #keyring: Keyring;
  readonly #waiting: { resolve: (message: Message) => void; reject: (error: unknown) => void }[] = [];
  /** Fulfilled when messages may be sent; rejected, with the fields of the `ended` event, when that will never be. */
  readonly ready: Promise<void>;
  /** Fulfilled when the connection is gone. */
  readonly ended: Promise<SessionEvent & { type: 'ended' }>;
  #onReady!: () => void;
  #onEnded!: (event: SessionEvent & { type: 'ended' }) => void;

  constructor(options: ClientOptions) {
    const { url, ca, identity, store } = options;
    this.#options = options;
    this.#keyring = store.load();
    this.#session = new ClientSession({
      crypto: nodeCrypto,
      siteId: identity.siteId,
      randomBytes,
      ...keyringOptions(this.#keyring),
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
    this.ready.catch(() => {}); // who does not wait for it need not handle it

    // This URL is a secret, so it goes nowhere else, and redirects are not followed.
    this.#socket = new WebSocket(authorizedUrl(url, 'example', identity.accessKey), {
      ca,
      handshakeTimeout: 10_000,
      maxPayload: 256 * 1024,
    });
    this.#socket.on('error', () => {}); // `close` follows, with nothing secret in it
    this.#socket.on('message', (data, isBinary) => {
      const received = isBinary ? (data as Buffer) : data.toString();
      options.observe?.({ type: 'received', data: received });
      this.#handle(this.#session.receive(received));
    });
    this.#socket.on('close', (code) => this.#handle(this.#session.closed(code)));
  }

  /** Sends JSON or bytes and answers the next message that comes. */
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

  #keep(keyring: Keyring): void {
    if (keyring === this.#keyring) return;
    this.#keyring = keyring;
    this.#options.store.save(keyring);
  }

  #handle(events: SessionEvent[]): void {
    const { derivePsk, observe } = this.#options;
    for (const event of events) {
      observe?.(event);
      this.#keep(updateKeyring(this.#keyring, event)); // pins and all, before anything is sent
      if (event.type === 'transmit') this.#socket.send(event.data);
      else if (event.type === 'ready') this.#onReady();
      else if (event.type === 'message') this.#waiting.shift()?.resolve(event);
      else if (event.type === 'close') this.#socket.close(event.code);
      else if (event.type === 'psk-needed') {
        derivePsk(event.salt).then(
          (psk) => {
            this.#keep(storePsk(this.#keyring, event.nodeId, psk));
            this.#handle(this.#session.providePsk(psk));
          },
          () => this.#socket.close(1000), // without a key there is nothing to wait for
        );
      } else if (event.type === 'ended') {
        for (const { reject } of this.#waiting) reject(failure(event)); // what was in flight will not be answered
        this.#onEnded(event);
      }
    }
  }
}

/** An Error with the fields of the event: what is thrown should be one. */
function failure(event: SessionEvent & { type: 'ended' }): Error {
  return Object.assign(new Error(event.error.message), event);
}
