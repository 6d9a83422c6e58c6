/** ClientSession over `ws`, recording everything that it sees. */
import { WebSocket } from 'ws';
import type { ReadBinary } from '../../src/binary.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { derivePsk, type Identity, type JsonObject, type Pattern, type Suite } from '../../src/index.ts';
import { ClientSession, type KeyringFields, type SessionEvent } from '../../src/parts.ts';

type EventOf<Type> = SessionEvent & { type: Type };

/** One client of a hub: where it connects, as whom, and what it has stored. A connection updates `pin` and `psk`. */
export interface Account {
  url: string;
  /** The certificate authority of the hub's certificate, as PEM. */
  ca: string;
  identity: Identity;
  staticKey: Uint8Array;
  /** Whether no hub has accepted it yet (default false). */
  staticKeyIsFresh?: boolean;
  /** The only suite that its crypto supports. */
  suite: Suite;
  patterns?: Pattern[];
  /** Whether it asks for binary messages. */
  readBinary?: ReadBinary;
  /** Further fields of its HELLO. */
  hello?: JsonObject;
  /** Of the hub, once it is known. */
  nodeId?: string | undefined;
  pin?: Uint8Array | undefined;
  isSuspect?: boolean;
  psk?: Uint8Array | undefined;
}

/** What the account has stored. */
function keyringOf(account: Account): KeyringFields {
  const { staticKey, staticKeyIsFresh, nodeId = '', pin, isSuspect = false, psk } = account;
  return {
    staticKey,
    staticKeyIsFresh,
    pins: pin === undefined ? [] : [{ nodeId, key: pin, isSuspect }],
    psks: psk === undefined ? [] : [{ nodeId, key: psk }],
  };
}

/** The longest time for a connection, in milliseconds. */
const DEADLINE = 30_000;

export class Connection {
  /** All events of the session. */
  readonly events: SessionEvent[] = [];
  /** All text messages from the hub. */
  readonly cleartext: string[] = [];
  readonly #account: Account;
  readonly #session: ClientSession;
  readonly #socket: WebSocket;
  #wake: () => void = () => {};

  constructor(account: Account) {
    this.#account = account;
    this.#session = new ClientSession({
      crypto: { ...nodeCrypto, ciphers: ciphersOf(account.suite) },
      siteId: account.identity.siteId,
      randomBytes,
      keyring: keyringOf(account),
      patterns: account.patterns,
      hello: account.hello,
      binarize: account.readBinary !== undefined,
      readBinary: account.readBinary,
    });
    this.#socket = new WebSocket(account.url, { ca: account.ca });
    this.#socket.on('error', () => {}); // `close` follows
    this.#socket.on('message', (data, isBinary) => {
      if (!isBinary) this.cleartext.push(String(data));
      this.#handle(this.#session.receive(isBinary ? (data as Buffer) : String(data)));
    });
    const deadline = setTimeout(() => {
      this.#handle(this.#session.closed('timeout'));
      this.#socket.terminate();
    }, DEADLINE);
    this.#socket.on('close', (code) => {
      clearTimeout(deadline);
      this.#handle(this.#session.closed(code));
    });
  }

  /** Waits for the first event of a type. Rejects if the connection ends without one. */
  async first<Type extends SessionEvent['type']>(type: Type): Promise<EventOf<Type>> {
    for (;;) {
      const found = this.events.find((event) => event.type === type);
      if (found !== undefined) return found as EventOf<Type>;
      const ended = this.events.find((event) => event.type === 'ended');
      if (ended !== undefined) throw new Error(`no ${type}: ${ended.error}`);
      await this.#next();
    }
  }

  /** Waits for a message, and returns all that have arrived since the last call. */
  async messages(): Promise<EventOf<'message'>[]> {
    for (;;) {
      const found = this.events.filter((event) => event.type === 'message');
      if (found.length > 0) {
        this.events.splice(0, this.events.length, ...this.events.filter((event) => event.type !== 'message'));
        return found;
      }
      if (this.events.some((event) => event.type === 'ended')) throw new Error('ended without a message');
      await this.#next();
    }
  }

  sendJson(value: Parameters<ClientSession['sendJson']>[0]): void {
    for (const message of this.#session.sendJson(value)) this.#socket.send(message);
  }

  sendBinary(bytes: Uint8Array): void {
    for (const message of this.#session.sendBinary(bytes)) this.#socket.send(message);
  }

  async close(): Promise<EventOf<'ended'>> {
    this.#socket.close(1000);
    return this.first('ended');
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #handle(events: SessionEvent[]): void {
    for (const event of events) {
      this.events.push(event);
      if (event.type === 'transmit') this.#socket.send(event.data);
      if (event.type === 'pin') Object.assign(this.#account, { pin: event.key, isSuspect: false });
      if (event.type === 'pin-suspect') this.#account.isSuspect = true;
      if (event.type === 'psk') this.#account.psk = event.key;
      if (event.type === 'psk-suspect') this.#account.psk = undefined;
      if (event.type === 'close') this.#socket.close(event.code);
      if (event.type === 'psk-needed') {
        this.#account.nodeId = event.nodeId;
        const { password } = this.#account.identity;
        const psk = derivePsk({ crypto: nodeCrypto, password, nodeId: event.nodeId });
        this.#handle(this.#session.providePsk(psk));
      }
    }
    this.#wake();
  }
}

function ciphersOf(suite: Suite) {
  const { ChaChaPoly, AESGCM } = nodeCrypto.ciphers;
  return suite === '25519_AESGCM_SHA256' ? { AESGCM: AESGCM! } : { ChaChaPoly: ChaChaPoly! };
}
