/** The hub that the client in client.js talks to. */

import { nodeCrypto } from '../../dist/crypto/node.js';
import { HubSession } from '../../dist/index.js';
import { ClientSession } from '../../dist/parts.js';

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (value: number): Uint8Array => new Uint8Array(32).fill(value);
/** Always the same keys, so that the same is computed each time. */
const keys = { staticKey: bytes(1), ephemeralKey: bytes(2), psk: bytes(3) };
const hubKeys = { staticKey: bytes(4), ephemeralKey: bytes(5) };

/** What an engine runs for a handshake, in this order. */
export interface Handshake {
  /** Makes the options, which is not the library's work. */
  readonly prepare: string;
  readonly 'new ClientSession': string;
  readonly HELLO: string;
  /** Answered with message 1. */
  readonly offer: string;
  /** Answered with message 3 under XXpsk2. The session is ready then. */
  readonly 'message 2': string;
}

/** What a client needs for a handshake, its keys and the envelopes of the hub, as an object that can be written as JSON. */
export interface Transcript {
  readonly keys: {
    readonly privateKey: string;
    readonly publicKey: string;
    readonly ephemeralKey: string;
    readonly psk: string;
    readonly pin: string | undefined;
  };
  readonly hello: string;
  readonly offer: string;
  readonly message2: string;
}

/** Talks to a client in Node that has the same keys as the one in the engine, and so sends the same. */
export class Peer {
  readonly #crypto = { ...nodeCrypto, ciphers: { ChaChaPoly: nodeCrypto.ciphers.ChaChaPoly! } };
  readonly #knows: boolean;
  readonly #client: ClientSession;
  readonly #hub: HubSession;

  constructor(pattern: 'XXpsk2' | 'KKpsk0' = 'XXpsk2') {
    const { x25519 } = this.#crypto;
    const knows = pattern === 'KKpsk0';
    this.#knows = knows;
    this.#client = new ClientSession({
      ...{ crypto: this.#crypto, siteId: 'lobby' },
      randomBytes: () => new Uint8Array(keys.ephemeralKey),
      keyring: {
        staticKey: keys.staticKey,
        pins: knows ? [{ nodeId: 'hub-1', key: x25519.publicKey(hubKeys.staticKey) }] : [],
        psks: [{ nodeId: 'hub-1', key: keys.psk }],
      },
    });
    this.#hub = new HubSession({
      ...{ crypto: this.#crypto, nodeId: 'hub-1', staticKey: hubKeys.staticKey, psk: keys.psk },
      randomBytes: () => new Uint8Array(hubKeys.ephemeralKey),
      clientKey: knows ? x25519.publicKey(keys.staticKey) : undefined,
    });
  }

  /** Opens a session. */
  transcript(): Transcript {
    const sent: string[] = [];
    const toClient = (events: ReturnType<HubSession['start']>): void => {
      for (const event of events) {
        if (event.type !== 'transmit') continue;
        sent.push(event.data as string);
        for (const reply of this.#client.receive(event.data)) {
          if (reply.type === 'transmit') toClient(this.#hub.receive(reply.data));
        }
      }
    };
    toClient(this.#hub.start());
    const { staticKey, ephemeralKey, psk } = keys;
    return {
      keys: {
        privateKey: hex(staticKey),
        publicKey: hex(nodeCrypto.x25519.publicKey(staticKey)),
        ephemeralKey: hex(ephemeralKey),
        psk: hex(psk),
        pin: this.#knows ? hex(nodeCrypto.x25519.publicKey(hubKeys.staticKey)) : undefined,
      },
      hello: sent[0]!,
      offer: sent[1]!,
      message2: sent[2]!,
    };
  }

  /** Returns statements that open a session in the engine, by what happens in each. */
  handshake(options: object = {}): Handshake {
    const { keys, hello, offer, message2 } = this.transcript();
    const receive = (text: string, expected?: string): string =>
      `incoming = [${JSON.stringify(text)}]; receive(${expected === undefined ? '' : `'${expected}'`}); 0`;
    return {
      prepare: `prepare(${JSON.stringify({ ...keys, ...options })}); 0`,
      'new ClientSession': 'open(); 0',
      HELLO: receive(hello),
      offer: receive(offer, 'transmit'),
      'message 2': receive(message2, 'ready'),
    };
  }

  /** Returns the transport messages of a binary message of `length` bytes. */
  binary(length: number): Uint8Array[] {
    return this.#hub.sendBinary(new Uint8Array(length));
  }

  /** Returns the transport messages of `count` JSON messages of `length` bytes each. */
  json(count: number, length: number): Uint8Array[] {
    const text = textOf(length);
    return Array.from({ length: count }, () => this.#hub.sendJson(text)).flat();
  }
}

/** Returns JSON text of `length` bytes. */
export const textOf = (length: number): string => JSON.stringify('x'.repeat(length - 2));
