/** Our client over `ws`: what a device keeps, and its connections with all that they saw. */
import { WebSocket } from 'ws';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  ClientSession,
  derivePsk,
  type Identity,
  type Pattern,
  type SessionEvent,
  type Suite,
} from '../../src/index.ts';

type EventOf<Type> = SessionEvent & { type: Type };

export interface Device {
  url: string;
  /** PEM of who signed the hub's certificate. */
  ca: string;
  identity: Identity;
  staticKey: Uint8Array;
  /** The only suite that its cryptography can do. */
  suite: Suite;
  patterns?: Pattern[];
  pin?: Uint8Array | undefined;
  psk?: Uint8Array | undefined;
}

/** Milliseconds; whatever takes longer has failed. */
const DEADLINE = 30_000;

export class Connection {
  /** What the session said, and what the hub sent in clear. */
  readonly events: SessionEvent[] = [];
  readonly cleartext: string[] = [];
  readonly #device: Device;
  readonly #session: ClientSession;
  readonly #socket: WebSocket;
  #wake: () => void = () => {};

  constructor(device: Device) {
    this.#device = device;
    this.#session = new ClientSession({
      crypto: { ...nodeCrypto, ciphers: ciphersOf(device.suite) },
      siteId: device.identity.siteId,
      staticKey: device.staticKey,
      randomBytes,
      pin: () => device.pin,
      psk: () => device.psk,
      patterns: device.patterns,
    });
    this.#socket = new WebSocket(device.url, { ca: device.ca });
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

  /** The first event of a type, once it came; rejected when the connection ended without it. */
  async first<Type extends SessionEvent['type']>(type: Type): Promise<EventOf<Type>> {
    for (;;) {
      const found = this.events.find((event) => event.type === type);
      if (found !== undefined) return found as EventOf<Type>;
      const ended = this.events.find((event) => event.type === 'ended');
      if (ended !== undefined) throw new Error(`no ${type}: ${ended.error}`);
      await this.#next();
    }
  }

  /** The messages that came since the last call, as soon as there is one. */
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
      if (event.type === 'pin') this.#device.pin = event.key;
      if (event.type === 'unpin') this.#device.pin = undefined;
      if (event.type === 'psk-suspect') this.#device.psk = undefined;
      if (event.type === 'close') this.#socket.close(event.code);
      if (event.type === 'psk-needed') {
        const { password } = this.#device.identity;
        this.#device.psk = derivePsk({ crypto: nodeCrypto, password, nodeId: event.nodeId });
        this.#handle(this.#session.providePsk(this.#device.psk));
      }
    }
    this.#wake();
  }
}

function ciphersOf(suite: Suite) {
  const { ChaChaPoly, AESGCM } = nodeCrypto.ciphers;
  return suite === '25519_AESGCM_SHA256' ? { AESGCM: AESGCM! } : { ChaChaPoly: ChaChaPoly! };
}
